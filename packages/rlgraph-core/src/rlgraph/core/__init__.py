"""RLgraph's compiler: components, component graphs, builds, plans, backends and the graph executor."""

from rlgraph.core.backend import Backend, BackendDescriptor, create_backend, find_backend
from rlgraph.core.checkpoint import last_valid_checkpoint
from rlgraph.core.collectives import Collective, memory_group
from rlgraph.core.component import BoundApiMethod, Component, LayerOutput, Specifiable, graph_fn, rlgraph_api
from rlgraph.core.config import default_backend
from rlgraph.core.errors import (
    AssemblyError,
    BuildError,
    BuildWarning,
    CapabilityError,
    CheckpointError,
    CheckpointWarning,
    CollectiveError,
    InputError,
    NumericalError,
    PerformanceWarning,
    PluginError,
    QueueClosedError,
    QueueTimeoutError,
    RLGraphError,
    SpecError,
)
from rlgraph.core.execution_spec import ExecutionSpec
from rlgraph.core.executor import GraphExecutor, executor_class
from rlgraph.core.graph import (
    Variable,
    VariableList,
    all_reduce,
    assemble,
    branch,
    build,
    gradients,
    in_group,
    loop,
)
from rlgraph.core.random_streams import RandomStreams
from rlgraph.core.registry import Registry, registry
from rlgraph.core.specs.policy import (
    allow_clusters,
    allow_imports,
    allow_network,
    allow_paths,
    data_specs,
)
from rlgraph.core.storage import Storage

__all__ = [
    "AssemblyError",
    "Backend",
    "BackendDescriptor",
    "BoundApiMethod",
    "BuildError",
    "BuildWarning",
    "CapabilityError",
    "CheckpointError",
    "CheckpointWarning",
    "Collective",
    "CollectiveError",
    "Component",
    "ExecutionSpec",
    "GraphExecutor",
    "InputError",
    "LayerOutput",
    "NumericalError",
    "PerformanceWarning",
    "PluginError",
    "QueueClosedError",
    "QueueTimeoutError",
    "RLGraphError",
    "RandomStreams",
    "Registry",
    "SpecError",
    "Specifiable",
    "Storage",
    "Variable",
    "VariableList",
    "all_reduce",
    "allow_clusters",
    "allow_imports",
    "allow_network",
    "allow_paths",
    "assemble",
    "branch",
    "build",
    "create_backend",
    "data_specs",
    "default_backend",
    "executor_class",
    "find_backend",
    "gradients",
    "graph_fn",
    "in_group",
    "last_valid_checkpoint",
    "loop",
    "memory_group",
    "registry",
    "rlgraph_api",
]
