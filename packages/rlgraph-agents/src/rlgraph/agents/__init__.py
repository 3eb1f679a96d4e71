"""Agents: an algorithm as a component, and the object that uses it. Found by name in ``rlgraph.agents``."""

from rlgraph.agents.a2c import A2CAgent
from rlgraph.agents.actor_spec import ActorSpec
from rlgraph.agents.agent import Agent
from rlgraph.agents.algorithm import Algorithm
from rlgraph.agents.apex import ApexAgent
from rlgraph.agents.behaviour_cloning import BehaviourCloningAgent
from rlgraph.agents.c51 import C51Agent, RainbowAgent
from rlgraph.agents.dqfd import DQFDAgent
from rlgraph.agents.dqn import DQNAgent
from rlgraph.agents.experience.experience import Experience
from rlgraph.agents.experience.replay import Replay
from rlgraph.agents.experience.rollouts import Rollouts
from rlgraph.agents.impala import IMPALAAgent
from rlgraph.agents.iql import IQLAgent
from rlgraph.agents.metric import Metric
from rlgraph.agents.ppo import PPOAgent
from rlgraph.agents.qr_dqn import QRDQNAgent
from rlgraph.agents.random import RandomAgent
from rlgraph.agents.sac import SACAgent
from rlgraph.agents.serving import ActorHandle
from rlgraph.agents.td3 import TD3Agent

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
