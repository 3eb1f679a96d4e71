"""Agents: an algorithm as a root component, and the object that uses it. Found by name in ``rlgraph.agents``."""

from rlgraph.agents.agent import Agent
from rlgraph.agents.algorithm import Algorithm
from rlgraph.agents.algorithm_agent import AlgorithmAgent
from rlgraph.agents.dqn import DQNAgent
from rlgraph.agents.experience.replay import Replay
from rlgraph.agents.experience.rollouts import Rollouts
from rlgraph.agents.memory_agent import MemoryAgent

__all__ = [
    "Agent",
    "Algorithm",
    "AlgorithmAgent",
    "DQNAgent",
    "MemoryAgent",
    "Replay",
    "Rollouts",
]
