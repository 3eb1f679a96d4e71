"""Formulas from the literature as pure functions ``f(ops, ...)``, with shapes and papers."""
