"""The registry's entry of the NumPy backend."""

from rlgraph.core.backend import BackendDescriptor
from rlgraph.core.ops.contract import CONTRACT_VERSION

BACKEND = BackendDescriptor(
    name="numpy",
    framework="",
    factory="rlgraph.core.numpy.backend:NumpyBackend",
    contract_version=CONTRACT_VERSION,
    capabilities=frozenset(),
    aliases=("np", "python"),
)
