import numpy as np
import pytest

from rlgraph.components import LocalResponseNorm
from rlgraph.core import SpecError
from rlgraph.spaces import FloatBox, SpaceError
from rlgraph.testing import ComponentTest


def test_given_numbers(backend):
    """Sums of squares over neighbours: 5, 14, 13."""
    test = ComponentTest(
        LocalResponseNorm(1, bias=3.0, alpha=1.0, beta=1.0),
        {"inputs": FloatBox(shape=(3,), add_batch_rank=True)},
        backend=backend,
    )
    test.test("call", [[1.0, 2.0, 3.0]], expected_outputs=[[1 / 8, 2 / 17, 3 / 16]])


@pytest.mark.parametrize("depth_radius", [0, 1, 2, 7])
@pytest.mark.parametrize("ranks", [{}, {"add_time_rank": True}])
def test_channels_of_images(depth_radius, ranks, backend):
    options = {"depth_radius": depth_radius, "bias": 1.5, "alpha": 0.7, "beta": 0.75}
    space = FloatBox(shape=(2, 3, 5), add_batch_rank=True, **ranks)
    x = np.random.default_rng(0).normal(size=(2, 4, 2, 3, 5) if ranks else (2, 2, 3, 5)).astype(np.float32)
    expected = np.empty_like(x)
    for index in np.ndindex(x.shape):
        *front, c = index
        near = x[(*front, slice(max(0, c - depth_radius), c + depth_radius + 1))].astype(float)
        expected[index] = x[index] / (1.5 + 0.7 * (near**2).sum()) ** 0.75
    ComponentTest(LocalResponseNorm(**options), {"inputs": space}, backend=backend).test(
        "call", x, expected_outputs=expected, decimals=5
    )


def test_mistakes():
    with pytest.raises(
        SpecError, match="local-response-norm.depth_radius: expected an integer >= 0, given -1"
    ):
        LocalResponseNorm(-1)
    with pytest.raises(SpecError, match="local-response-norm.alpha: expected a number, given 'x'"):
        LocalResponseNorm(alpha="x")
    with pytest.raises(SpaceError, match="local-response-norm/inputs"):
        ComponentTest(LocalResponseNorm(), {"inputs": FloatBox(shape=(3,))}, backend="numpy")
