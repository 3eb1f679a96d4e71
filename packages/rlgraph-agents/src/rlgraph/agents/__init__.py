"""Agents: an algorithm as a component, and the object that uses it. Found by name in ``rlgraph.agents``."""

from rlgraph.algorithms.a2c import A2CAgent
from rlgraph.learning.actor_spec import ActorSpec
from rlgraph.agents.agent import Agent
from rlgraph.algorithms.algorithm import Algorithm
from rlgraph.algorithms.apex import ApexAgent
from rlgraph.algorithms.behaviour_cloning import BehaviourCloningAgent
from rlgraph.algorithms.c51 import C51Agent, RainbowAgent
from rlgraph.algorithms.dqfd import DQFDAgent
from rlgraph.algorithms.dqn import DQNAgent
from rlgraph.experience.experience import Experience
from rlgraph.experience.replay import Replay
from rlgraph.experience.rollouts import Rollouts
from rlgraph.algorithms.impala import IMPALAAgent
from rlgraph.algorithms.iql import IQLAgent
from rlgraph.algorithms.metric import Metric
from rlgraph.algorithms.ppo import PPOAgent
from rlgraph.algorithms.qr_dqn import QRDQNAgent
from rlgraph.algorithms.random import RandomAgent
from rlgraph.algorithms.sac import SACAgent
from rlgraph.agents.serving import ActorHandle
from rlgraph.algorithms.td3 import TD3Agent

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
