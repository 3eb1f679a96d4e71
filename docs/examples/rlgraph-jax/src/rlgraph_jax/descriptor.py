"""What RLgraph's registry knows of this backend. It is read whenever backends are listed, so it imports no JAX."""

from rlgraph.core.backend import BackendDescriptor

BACKEND = BackendDescriptor(
    name="jax",
    framework="jax",
    factory="rlgraph_jax.backend:JaxBackend",
    contract_version="0.2",
    capabilities=frozenset({"gradients"}),
)
