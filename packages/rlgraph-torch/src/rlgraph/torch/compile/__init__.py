"""Compiled segments: traced with gradients and writes, compiled ahead of time, cached on disk."""
