"""Segments as compiled programs: traced with their gradients and writes, compiled ahead of time, kept on disk."""
