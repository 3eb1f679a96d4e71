"""Environments: the contract, an adapter for Gymnasium, small worlds of our own, several at once."""

from rlgraph.environments.checks import check_finite
from rlgraph.environments.deterministic_env import DeterministicEnv
from rlgraph.environments.environment import Environment, environment_seed
from rlgraph.environments.errors import EnvironmentFault
from rlgraph.environments.factory import make_environment, make_environments, make_vector_env
from rlgraph.environments.grid_world import GridWorld
from rlgraph.environments.gym_env import OpenAIGymEnv
from rlgraph.environments.random_env import RandomEnv
from rlgraph.environments.sequential_vector_env import SequentialVectorEnv
from rlgraph.environments.vector_env import VectorEnv

__all__ = [
    "DeterministicEnv",
    "Environment",
    "EnvironmentFault",
    "GridWorld",
    "OpenAIGymEnv",
    "RandomEnv",
    "SequentialVectorEnv",
    "VectorEnv",
    "check_finite",
    "environment_seed",
    "make_environment",
    "make_environments",
    "make_vector_env",
]
