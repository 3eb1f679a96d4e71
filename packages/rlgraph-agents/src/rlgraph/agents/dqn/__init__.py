"""Deep Q-learning (Mnih et al., 2015)."""

from rlgraph.agents.dqn.agent import DQNAgent
from rlgraph.agents.dqn.algorithm import DQN

__all__ = ["DQN", "DQNAgent"]
