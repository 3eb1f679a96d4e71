"""Probability distributions, mostly of actions."""
