"""Environments: the contract, adapters, built-in environments and vector environments."""

from rlgraph.environments.atari import AtariEnv
from rlgraph.environments.bit_flip import BitFlip
from rlgraph.environments.check_environment import Finding, check_environment
from rlgraph.environments.deterministic_env import DeterministicEnv
from rlgraph.environments.dm_env import DmEnv
from rlgraph.environments.environment import Environment, environment_seed
from rlgraph.environments.envpool_vector_env import EnvPoolVectorEnv
from rlgraph.environments.errors import EnvironmentFault
from rlgraph.environments.factory import make_environment, make_environments, make_vector_env
from rlgraph.environments.faulty_env import FaultyEnv
from rlgraph.environments.grid_world import GridWorld
from rlgraph.environments.gym_env import OpenAIGymEnv
from rlgraph.environments.legal_moves import LegalMoves
from rlgraph.environments.minigrid import MiniGrid
from rlgraph.environments.native_vector_env import NativeVectorEnv
from rlgraph.environments.partially_observed_env import PartiallyObservedEnv
from rlgraph.environments.process_vector_env import ProcessVectorEnv
from rlgraph.environments.protocol_env import ProtocolEnv
from rlgraph.environments.random_env import RandomEnv
from rlgraph.environments.sequential_vector_env import SequentialVectorEnv
from rlgraph.environments.state_bounds import StateBoundsWarning
from rlgraph.environments.step_checks import check_finite
from rlgraph.environments.t_maze import TMaze
from rlgraph.environments.target_quadrant import TargetQuadrant
from rlgraph.environments.vector_env import VectorEnv

__all__ = [
    "AtariEnv",
    "BitFlip",
    "DeterministicEnv",
    "DmEnv",
    "EnvPoolVectorEnv",
    "Environment",
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
