"""The NumPy backend: forward only, needs no framework, the reference for all others."""
