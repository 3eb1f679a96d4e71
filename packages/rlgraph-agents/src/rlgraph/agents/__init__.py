"""Agents: an algorithm as a root component, and the object that uses it. Found by name in ``rlgraph.agents``."""

from rlgraph.agents.agent import Agent
from rlgraph.agents.dqn import DQNAgent
from rlgraph.agents.memory_agent import MemoryAgent

__all__ = ["Agent", "DQNAgent", "MemoryAgent"]
