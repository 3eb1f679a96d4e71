"""REINFORCE with a baseline, an agent for RLgraph."""

from rlgraph_reinforce.reinforce import Reinforce, ReinforceAgent

__all__ = ["Reinforce", "ReinforceAgent"]
