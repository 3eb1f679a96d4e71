"""The NumPy backend: forward only, needs no framework, the reference all others are held against."""
