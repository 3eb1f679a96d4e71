import pytest

from rlgraph.testing import BackendConformance


# The example on Autograd runs the same suite in seconds.
@pytest.mark.repetition
# Two checks ask for what JAX cannot compile; it runs operation by operation, and says so.
@pytest.mark.filterwarnings("ignore:.*cannot be compiled by JAX:rlgraph.core.PerformanceWarning")
class TestJax(BackendConformance):
    backend = "jax"
