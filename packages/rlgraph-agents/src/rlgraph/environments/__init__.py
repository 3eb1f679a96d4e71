"""Environments: the contract, adapters, built-in environments and vector environments."""

from rlgraph.core.moved_modules import forward_modules
from rlgraph.environments.adapter import EnvironmentAdapter
from rlgraph.environments.adapters.atari import AtariEnv
from rlgraph.environments.adapters.dm_env import DmEnv
from rlgraph.environments.adapters.envpool_vector_env import EnvPoolVectorEnv
from rlgraph.environments.adapters.gym_env import OpenAIGymEnv
from rlgraph.environments.adapters.minigrid import MiniGrid
from rlgraph.environments.adapters.native_vector_env import NativeVectorEnv
from rlgraph.environments.adapters.protocol_env import ProtocolEnv
from rlgraph.environments.check_environment import Finding, check_environment
from rlgraph.environments.environment import Environment, environment_seed
from rlgraph.environments.errors import EnvironmentFault
from rlgraph.environments.factory import make_environment, make_environments, make_vector_env
from rlgraph.environments.state_bounds import StateBoundsWarning
from rlgraph.environments.step_checks import check_finite
from rlgraph.environments.vector.process_vector_env import ProcessVectorEnv
from rlgraph.environments.vector.sequential_vector_env import SequentialVectorEnv
from rlgraph.environments.vector_env import VectorEnv
from rlgraph.environments.worlds.bit_flip import BitFlip
from rlgraph.environments.worlds.deterministic_env import DeterministicEnv
from rlgraph.environments.worlds.faulty_env import FaultyEnv
from rlgraph.environments.worlds.grid_world import GridWorld
from rlgraph.environments.worlds.legal_moves import LegalMoves
from rlgraph.environments.worlds.partially_observed_env import PartiallyObservedEnv
from rlgraph.environments.worlds.random_env import RandomEnv
from rlgraph.environments.worlds.t_maze import TMaze
from rlgraph.environments.worlds.target_quadrant import TargetQuadrant

forward_modules(__name__, *(f"{__name__}.{folder}" for folder in ("adapters", "vector", "worlds")))

__all__ = [
    "AtariEnv",
    "BitFlip",
    "DeterministicEnv",
    "DmEnv",
    "EnvPoolVectorEnv",
    "Environment",
    "EnvironmentAdapter",
    "EnvironmentFault",
    "FaultyEnv",
    "Finding",
    "GridWorld",
    "LegalMoves",
    "MiniGrid",
    "NativeVectorEnv",
    "OpenAIGymEnv",
    "PartiallyObservedEnv",
    "ProcessVectorEnv",
    "ProtocolEnv",
    "RandomEnv",
    "SequentialVectorEnv",
    "StateBoundsWarning",
    "TMaze",
    "TargetQuadrant",
    "VectorEnv",
    "check_environment",
    "check_finite",
    "environment_seed",
    "make_environment",
    "make_environments",
    "make_vector_env",
]
