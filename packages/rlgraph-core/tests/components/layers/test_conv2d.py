import math

import numpy as np
import pytest

from rlgraph.components import Conv2D
from rlgraph.core import Component, SpecError
from rlgraph.spaces import FloatBox, IntBox, SpaceError
from rlgraph.testing import ComponentTest


def images(*shape):
    return {"inputs": FloatBox(shape=shape, add_batch_rank=True)}


def by_hand(x, weights, biases, strides, padding):
    """Dumoulin and Visin (2016), https://arxiv.org/abs/1603.07285: one product after the other."""
    count, height, width, channels = x.shape
    h, w, _, filters = weights.shape
    if padding == "same":
        rows, columns = math.ceil(height / strides[0]), math.ceil(width / strides[1])
        top = max((rows - 1) * strides[0] + h - height, 0) // 2
        left = max((columns - 1) * strides[1] + w - width, 0) // 2
    else:
        rows, columns = (height - h) // strides[0] + 1, (width - w) // strides[1] + 1
        top = left = 0
    result = np.zeros((count, rows, columns, filters))
    for n, i, j, f in np.ndindex(result.shape):
        total = 0.0 if biases is None else float(biases[f])
        for a, b, c in np.ndindex(h, w, channels):
            row, column = i * strides[0] + a - top, j * strides[1] + b - left
            if 0 <= row < height and 0 <= column < width:
                total += float(x[n, row, column, c]) * float(weights[a, b, c, f])
        result[n, i, j, f] = total
    return result


def test_given_numbers(backend):
    layer = Conv2D(1, 2, weights_spec=[[[[1.0]], [[10.0]]], [[[100.0]], [[1000.0]]]], biases_spec=[0.5])
    x = np.arange(6.0, dtype=np.float32).reshape(1, 2, 3, 1)  # 0 1 2 / 3 4 5
    ComponentTest(layer, images(2, 3, 1), backend=backend).test(
        "call", x, expected_outputs=[[[[4310.5], [5421.5]]]]
    )


@pytest.mark.parametrize("padding", ["valid", "same"])
@pytest.mark.parametrize(("kernel_size", "strides"), [(3, 1), ((2, 3), (2, 1)), (3, 2), ((1, 4), (3, 3))])
def test_products(kernel_size, strides, padding, backend):
    layer = Conv2D(3, kernel_size, strides, padding, biases_spec={"type": "normal", "stddev": 1.0})
    test = ComponentTest(layer, images(5, 6, 2), backend=backend)
    values = test.read_variable_values()
    x = np.random.default_rng(0).normal(size=(2, 5, 6, 2)).astype(np.float32)
    pair = strides if isinstance(strides, tuple) else (strides, strides)
    expected = by_hand(x, values["conv2d/weights"], values["conv2d/biases"], pair, padding)
    test.test("call", x, expected_outputs=expected, decimals=5)


@pytest.mark.parametrize("biases", [0.25, False])
@pytest.mark.parametrize(
    ("activation", "function"),
    [
        ("relu", lambda v: np.maximum(v, 0.0)),
        ("tanh", np.tanh),
        ("elu", lambda v: np.where(v > 0, v, np.exp(v) - 1.0)),
    ],
)
def test_activations_and_biases(activation, function, biases, backend):
    test = ComponentTest(
        Conv2D(2, 2, activation=activation, biases_spec=biases, scope="c"), images(3, 3, 1), backend=backend
    )
    values = test.read_variable_values()
    assert sorted(values) == (["c/weights"] if biases is False else ["c/biases", "c/weights"])
    x = np.random.default_rng(0).normal(size=(2, 3, 3, 1)).astype(np.float32)
    linear = by_hand(x, values["c/weights"], values.get("c/biases"), (1, 1), "valid")
    test.test("call", x, expected_outputs=function(linear), decimals=5)


def test_starting_values():
    test = ComponentTest(Conv2D(16, 4), images(8, 8, 3), backend="numpy")
    values = test.read_variable_values()
    assert values["conv2d/weights"].shape == (4, 4, 3, 16)
    assert not values["conv2d/biases"].any()
    limit = math.sqrt(6.0 / (16 * (3 + 16)))  # Glorot and Bengio (2010), eq. 16, with the window's area
    assert 0.98 * limit < np.abs(values["conv2d/weights"]).max() <= limit * (1 + 1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"filters": 0, "kernel_size": 3}, "conv2d.filters: expected an integer >= 1, given 0"),
        (
            {"filters": 8, "kernel_size": 0},
            "conv2d.kernel_size: expected an integer >= 1 or a pair of them, given 0",
        ),
        ({"filters": 8, "kernel_size": (3, 3, 3)}, "conv2d.kernel_size"),
        ({"filters": 8, "kernel_size": 3, "strides": 1.5}, "conv2d.strides"),
        (
            {"filters": 8, "kernel_size": 3, "padding": "sama"},
            "conv2d.padding: unknown padding 'sama'. Did you mean 'same'?",
        ),
        (
            {"filters": 8, "kernel_size": 3, "activation": "rleu"},
            "conv2d.activation: unknown activation 'rleu'",
        ),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(SpecError) as error:
        Conv2D(**arguments)
    assert message in str(error.value)


@pytest.mark.parametrize("layer", ["conv2d", "conv2d_transpose"])
def test_what_the_weights_were_called(layer):
    with pytest.raises(SpecError, match="It is 'weights_spec' here"):
        Component.from_spec({"type": layer, "filters": 8, "kernel_size": 3, "kernel_spec": "xavier"})


@pytest.mark.parametrize(
    ("space", "message"),
    [
        (
            FloatBox(shape=(8, 8), add_batch_rank=True),
            "conv2d/inputs: expected a FloatBox of rank 3 with batch rank",
        ),
        (
            IntBox(256, shape=(8, 8, 3), dtype="uint8", add_batch_rank=True),
            'put in front, or into preprocessing_spec: {"type": "convert_type", "to_dtype": "float"}',
        ),
        (FloatBox(shape=(8, 8, 3)), "with batch rank"),
        (FloatBox(shape=(8, 6), add_batch_rank=True), '{"type": "reshape", "new_shape": [8, 6, 1]}'),
        (
            FloatBox(shape=(2, 8, 3), add_batch_rank=True),
            "does not fit into FloatBox(shape=(2, 8, 3), add_batch_rank=True); padding='same'",
        ),
        (FloatBox(shape=(2, 84, 84), add_batch_rank=True), "[H, W, C], and here C seems to come first"),
    ],
)
def test_wrong_inputs(space, message):
    with pytest.raises(SpaceError) as error:
        ComponentTest(Conv2D(4, 3), {"inputs": space}, backend="numpy")
    assert message in str(error.value)


@pytest.mark.parametrize("time_major", [False, True])
def test_a_time_rank_stays(time_major, backend):
    space = FloatBox(shape=(4, 4, 1), add_batch_rank=True, add_time_rank=True, time_major=time_major)
    test = ComponentTest(Conv2D(2, 3, scope="c"), {"inputs": space}, backend=backend)
    values = test.read_variable_values()
    x = np.random.default_rng(0).normal(size=(2, 3, 4, 4, 1)).astype(np.float32)
    weights, biases = values["c/weights"], values["c/biases"]
    test.test(
        "call", x, expected_outputs=[by_hand(y, weights, biases, (1, 1), "valid") for y in x], decimals=5
    )
