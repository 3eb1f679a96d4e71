"""Helpers: values of trajectories, sequences, limits."""
