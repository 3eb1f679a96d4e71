"""Agents: what people name. An agent learns, acts, evaluates and loads; found by name in ``rlgraph.agents``."""

from rlgraph.agents.agent import Agent
from rlgraph.agents.serving import ActorHandle
from rlgraph.agents.shipped import (
    A2CAgent,
    ApexAgent,
    BehaviourCloningAgent,
    C51Agent,
    DQFDAgent,
    DQNAgent,
    IMPALAAgent,
    IQLAgent,
    PPOAgent,
    QRDQNAgent,
    RainbowAgent,
    RandomAgent,
    SACAgent,
    TD3Agent,
)
from rlgraph.algorithms.algorithm import Algorithm
from rlgraph.algorithms.metric import Metric
from rlgraph.core.moved_modules import forward_modules
from rlgraph.experience.experience import Experience
from rlgraph.experience.replay import Replay
from rlgraph.experience.rollouts import Rollouts
from rlgraph.learning.actor_spec import ActorSpec

forward_modules(__name__, "rlgraph.algorithms", "rlgraph.learning", "rlgraph.experience")

__all__ = [
    "A2CAgent",
    "ActorHandle",
    "ActorSpec",
    "Agent",
    "Algorithm",
    "ApexAgent",
    "BehaviourCloningAgent",
    "C51Agent",
    "DQFDAgent",
    "DQNAgent",
    "Experience",
    "IMPALAAgent",
    "IQLAgent",
    "Metric",
    "PPOAgent",
    "QRDQNAgent",
    "RainbowAgent",
    "RandomAgent",
    "Replay",
    "Rollouts",
    "SACAgent",
    "TD3Agent",
]
