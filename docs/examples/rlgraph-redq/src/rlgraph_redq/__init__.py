"""Randomized ensembled double Q-learning, an agent for RLgraph."""

from rlgraph_redq.redq import REDQ, REDQLoss

__all__ = ["REDQ", "REDQLoss"]
