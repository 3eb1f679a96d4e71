"""Registry entry of the PyTorch backend; imports no framework."""

from rlgraph.core.backend import BackendDescriptor

BACKEND = BackendDescriptor(
    name="torch",
    framework="torch",
    factory="rlgraph.torch.backend:TorchBackend",
    contract_version="0.2",
    capabilities=frozenset({"gradients"}),
    aliases=("pytorch",),
    executor="rlgraph.torch.executor:PyTorchExecutor",
)
