"""Registry entry of the TensorFlow backend; imports no framework."""

from rlgraph.core.backend import BackendDescriptor

BACKEND = BackendDescriptor(
    name="tf",
    framework="tensorflow",
    factory="rlgraph.tf.backend:TfBackend",
    contract_version="0.2",
    capabilities=frozenset({"gradients"}),
    aliases=("tensorflow",),
    executor="rlgraph.tf.executor:TensorFlowExecutor",
)
