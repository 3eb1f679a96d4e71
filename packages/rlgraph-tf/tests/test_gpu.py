"""The conformance suite on a GPU."""

import pytest
import tensorflow as tf

from rlgraph.testing import BackendConformance

if not tf.config.list_physical_devices("GPU"):
    pytest.skip("there is no GPU that TensorFlow can use", allow_module_level=True)


class TestTfOnGpu(BackendConformance):
    backend = "tf"
    device = "gpu:0"
