"""Numerics that have a name in the literature: pure functions ``f(ops, ...)``, the shapes first, the paper beside."""
