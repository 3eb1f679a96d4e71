"""Probability distributions as pure functions: densities, entropies, divergences and sampling from noise.

Functions are elementwise unless documented otherwise: the result has the shape of the arguments, and the caller sums
over the axes of one action.
"""
