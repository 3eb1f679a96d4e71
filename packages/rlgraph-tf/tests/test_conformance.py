import pytest

from rlgraph.testing import BackendConformance

pytestmark = pytest.mark.slow


class TestTensorFlow(BackendConformance):
    backend = "tf"
