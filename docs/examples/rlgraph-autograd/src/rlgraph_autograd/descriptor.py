"""What RLgraph's registry knows of this backend; it imports no Autograd."""

from rlgraph.core.backend import BackendDescriptor

BACKEND = BackendDescriptor(
    name="autograd",
    framework="autograd",
    factory="rlgraph_autograd.backend:AutogradBackend",
    contract_version="0.2",
    capabilities=frozenset({"gradients"}),
)
