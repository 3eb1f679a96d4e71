"""Algorithms written with the components there are, for measuring: not tuned, not tested for learning."""
