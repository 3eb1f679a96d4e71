"""The component library. Components are found by name through the entry-point group ``rlgraph.components``."""

from rlgraph.components.common.schedules import Schedule
from rlgraph.components.common.synchronizer import Synchronizer
from rlgraph.components.explorations.epsilon_greedy import EpsilonGreedy
from rlgraph.components.explorations.exploration import Exploration
from rlgraph.components.explorations.noisy_greedy import NoisyGreedy
from rlgraph.components.layers.dense import Dense
from rlgraph.components.losses.dqn_loss import DQNLoss
from rlgraph.components.memories.prioritized_replay import PrioritizedReplay
from rlgraph.components.memories.replay_memory import ReplayMemory
from rlgraph.components.networks.neural_network import NeuralNetwork
from rlgraph.components.optimizers.adam import Adam
from rlgraph.components.policies.dueling_policy import DuelingPolicy
from rlgraph.components.policies.q_policy import QPolicy

__all__ = [
    "Adam",
    "DQNLoss",
    "Dense",
    "DuelingPolicy",
    "EpsilonGreedy",
    "Exploration",
    "NeuralNetwork",
    "NoisyGreedy",
    "PrioritizedReplay",
    "QPolicy",
    "ReplayMemory",
    "Schedule",
    "Synchronizer",
]
