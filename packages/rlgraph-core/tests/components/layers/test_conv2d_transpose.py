import numpy as np
import pytest

from rlgraph.components import Conv2DTranspose
from rlgraph.core import SpecError
from rlgraph.spaces import FloatBox, SpaceError
from rlgraph.testing import ComponentTest


def images(*shape):
    return {"inputs": FloatBox(shape=shape, add_batch_rank=True)}


def by_hand(x, weights, biases, strides, padding):
    """Every pixel times the filters, put where it belongs; what "same" cuts off is `kernel - stride`, less in front."""
    count, height, width, channels = x.shape
    h, w, filters, _ = weights.shape
    full = np.zeros((count, (height - 1) * strides[0] + h, (width - 1) * strides[1] + w, filters))
    for n, i, j, a, b, f, c in np.ndindex(count, height, width, h, w, filters, channels):
        full[n, i * strides[0] + a, j * strides[1] + b, f] += float(x[n, i, j, c]) * float(
            weights[a, b, f, c]
        )
    if padding == "same":
        sizes = height * strides[0], width * strides[1]
        missing = [max(size - there, 0) for size, there in zip(sizes, full.shape[1:3], strict=True)]
        full = np.pad(full, [(0, 0), (0, missing[0]), (0, missing[1]), (0, 0)])
        top, left = (max(kernel - step, 0) // 2 for kernel, step in zip((h, w), strides, strict=True))
        full = full[:, top : top + sizes[0], left : left + sizes[1]]
    return full + biases


def test_given_numbers(backend):
    layer = Conv2DTranspose(1, 2, 2, weights_spec=[[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]]], biases_spec=[0.5])
    expected = [[1.0, 2.0, 10.0, 20.0], [3.0, 4.0, 30.0, 40.0]]
    ComponentTest(layer, images(1, 2, 1), backend=backend).test(
        "call", [[[[1.0], [10.0]]]], expected_outputs=np.array(expected)[None, ..., None] + 0.5
    )


@pytest.mark.parametrize("padding", ["valid", "same"])
@pytest.mark.parametrize(("kernel_size", "strides"), [(3, 1), ((2, 3), (2, 1)), (3, 2), ((1, 4), (3, 3))])
def test_products(kernel_size, strides, padding, backend):
    layer = Conv2DTranspose(3, kernel_size, strides, padding, biases_spec=[0.1, 0.2, 0.3], scope="t")
    test = ComponentTest(layer, images(3, 2, 2), backend=backend)
    weights = test.read_variable_values("t/weights")["t/weights"]
    assert weights.shape == (*layer.kernel_size, 3, 2)
    x = np.random.default_rng(0).normal(size=(2, 3, 2, 2)).astype(np.float32)
    expected = by_hand(x, weights, [0.1, 0.2, 0.3], layer.strides, padding)
    test.test("call", x, expected_outputs=expected, decimals=5)


@pytest.mark.parametrize("biases", [0.25, False])
def test_activation_and_biases(biases, backend):
    layer = Conv2DTranspose(2, 2, activation="tanh", biases_spec=biases, scope="t")
    test = ComponentTest(layer, images(2, 2, 1), backend=backend)
    values = test.read_variable_values()
    assert sorted(values) == (["t/weights"] if biases is False else ["t/biases", "t/weights"])
    x = np.random.default_rng(0).normal(size=(2, 2, 2, 1)).astype(np.float32)
    linear = by_hand(x, values["t/weights"], float(biases), (1, 1), "valid")
    test.test("call", x, expected_outputs=np.tanh(linear), decimals=5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"filters": 0, "kernel_size": 3}, "conv2d-transpose.filters: expected an integer >= 1, given 0"),
        ({"filters": 8, "kernel_size": (3,)}, "conv2d-transpose.kernel_size"),
        ({"filters": 8, "kernel_size": 3, "strides": 0}, "conv2d-transpose.strides"),
        ({"filters": 8, "kernel_size": 3, "padding": "sam"}, "Did you mean 'same'?"),
        ({"filters": 8, "kernel_size": 3, "activation": "rleu"}, "Did you mean 'relu'?"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(SpecError) as error:
        Conv2DTranspose(**arguments)
    assert message in str(error.value)


def test_wrong_inputs():
    with pytest.raises(
        SpaceError, match="conv2d-transpose/inputs: expected a FloatBox of rank 3 with batch rank"
    ):
        ComponentTest(Conv2DTranspose(4, 3), images(8), backend="numpy")
