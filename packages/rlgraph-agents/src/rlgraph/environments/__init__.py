"""Environments: the contract, an adapter for Gymnasium, small worlds of our own, several at once."""

from rlgraph.environments.checks import check_finite
from rlgraph.environments.deterministic_env import DeterministicEnv
from rlgraph.environments.environment import Environment, environment_seed
from rlgraph.environments.envpool_vector_env import EnvPoolVectorEnv
from rlgraph.environments.errors import EnvironmentFault
from rlgraph.environments.factory import make_environment, make_environments, make_vector_env
from rlgraph.environments.faulty_env import FaultyEnv
from rlgraph.environments.grid_world import GridWorld
from rlgraph.environments.gym_env import OpenAIGymEnv
from rlgraph.environments.native_vector_env import NativeVectorEnv
from rlgraph.environments.process_vector_env import ProcessVectorEnv
from rlgraph.environments.random_env import RandomEnv
from rlgraph.environments.sequential_vector_env import SequentialVectorEnv
from rlgraph.environments.vector_env import VectorEnv

__all__ = [
    "DeterministicEnv",
    "EnvPoolVectorEnv",
    "Environment",
    "EnvironmentFault",
    "FaultyEnv",
    "GridWorld",
    "NativeVectorEnv",
    "OpenAIGymEnv",
    "ProcessVectorEnv",
    "RandomEnv",
    "SequentialVectorEnv",
    "VectorEnv",
    "check_finite",
    "environment_seed",
    "make_environment",
    "make_environments",
    "make_vector_env",
]
