"""Helpers: advantages, V-trace, sequences, clipping."""
