import numpy as np
import pytest

from rlgraph.components import LayerNorm
from rlgraph.core import SpecError
from rlgraph.spaces import FloatBox, IntBox, SpaceError
from rlgraph.testing import ComponentTest


def test_given_numbers(backend):
    """Mean 4, variance (9 + 1 + 16) / 3."""
    test = ComponentTest(
        LayerNorm(epsilon=1.0 / 3.0), {"inputs": FloatBox(shape=(3,), add_batch_rank=True)}, backend=backend
    )
    test.test("call", [[1.0, 3.0, 8.0]], expected_outputs=[[-1.0, -1.0 / 3.0, 4.0 / 3.0]])
    test.variable_test({"layer-norm/scale": np.ones(3), "layer-norm/offset": np.zeros(3)})


@pytest.mark.parametrize("ranks", [{}, {"add_time_rank": True}, {"add_time_rank": True, "time_major": True}])
def test_every_item_on_its_own(ranks, backend):
    layer = LayerNorm(scale_spec=[1.0, 2.0, 3.0, 4.0], offset_spec=[0.1, 0.2, 0.3, 0.4])
    space = FloatBox(shape=(2, 4), add_batch_rank=True, **ranks)
    x = (
        np.random.default_rng(0)
        .normal(3.0, 2.0, size=(3, 5, 2, 4) if ranks else (3, 2, 4))
        .astype(np.float32)
    )
    expected = np.empty_like(x)
    for index in np.ndindex(x.shape[:-1]):
        row = [float(v) for v in x[index]]
        mean = sum(row) / 4
        deviation = (sum((v - mean) ** 2 for v in row) / 4 + 1e-5) ** 0.5
        expected[index] = [(v - mean) / deviation * (j + 1) + 0.1 * (j + 1) for j, v in enumerate(row)]
    ComponentTest(layer, {"inputs": space}, backend=backend).test(
        "call", x, expected_outputs=expected, decimals=4
    )


@pytest.mark.parametrize("left", [("scale",), ("offset",), ("offset", "scale"), ()])
def test_what_is_left_out(left, backend):
    options = {f"{name}_spec": 2.0 if name in left else False for name in ("scale", "offset")}
    test = ComponentTest(
        LayerNorm(**options, scope="n"),
        {"inputs": FloatBox(shape=(2,), add_batch_rank=True)},
        backend=backend,
    )
    assert sorted(test.read_variable_values()) == [f"n/{name}" for name in left]
    expected = np.array([[-1.0, 1.0]]) * (2.0 if "scale" in left else 1.0) + (
        2.0 if "offset" in left else 0.0
    )
    test.test("call", [[-100.0, 100.0]], expected_outputs=expected, decimals=5)


def test_mistakes():
    for epsilon in (0.0, -1.0, "small", True):
        with pytest.raises(SpecError, match="layer-norm.epsilon: expected a number"):
            LayerNorm(epsilon)
    with pytest.raises(SpaceError, match='layer-norm/inputs: .*"flatten_categories": true'):
        ComponentTest(LayerNorm(), {"inputs": IntBox(3, add_batch_rank=True)}, backend="numpy")
