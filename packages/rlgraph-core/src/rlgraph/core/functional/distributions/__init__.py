"""Probability distributions as pure functions: densities, entropies, divergences and what makes samples of noise.

Unless a function says otherwise it is elementwise: what it returns has the shape of its arguments, and whoever calls it
sums over the axes of one action.
"""
