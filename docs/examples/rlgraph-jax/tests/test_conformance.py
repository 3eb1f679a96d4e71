import pytest

from rlgraph.testing import BackendConformance
from rlgraph.testing.conformance import run_conformance

# Two checks ask for what JAX cannot compile; it runs operation by operation, and says so.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*cannot be compiled by JAX:rlgraph.core.PerformanceWarning"
)


# The operations and components take JAX minutes to compile; the example on Autograd runs them in seconds.
@pytest.mark.repetition
class TestJax(BackendConformance):
    backend = "jax"


@pytest.mark.parametrize(
    "section",
    ["contract", "variables", "random", "control", "loops", "gradients", "graphs"],
)
def test_a_section(section):
    outcomes = run_conformance("jax", only=[section])
    assert [
        f"{o.check.id}: {o.message}" for o in outcomes if o.status == "failed"
    ] == []
    assert len(outcomes) > 3
