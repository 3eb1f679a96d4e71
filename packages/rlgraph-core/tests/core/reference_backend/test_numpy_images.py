"""Convolution, pooling and resizing on the NumPy backend, against loops over windows."""

import itertools
import math

import numpy as np
import pytest

from rlgraph.core.numpy.ops import NumpyOps
from rlgraph.core.ops import EffectRecorder, SymbolicOps, SymbolicTensor, TensorSpec

OPS = NumpyOps("float64")
RNG = np.random.default_rng(0)
SETTINGS = list(
    itertools.product([(5, 6), (4, 3)], [(2, 3), (1, 1), (3, 2)], [1, 2, (3, 1)], ["valid", "same"])
)


def windows(size, window, stride, padding):
    """For each place of the window along one axis: pairs (index within the window, index within the image)."""
    if padding == "same":
        count = math.ceil(size / stride)
        front = max((count - 1) * stride + window - size, 0) // 2
    else:
        count, front = (size - window) // stride + 1, 0
    starts = [i * stride - front for i in range(count)]
    return [[(k, start + k) for k in range(window) if 0 <= start + k < size] for start in starts]


def places(sizes, window, strides, padding):
    """For each place (row, column) of the window: its pairs of positions."""
    strides = strides if isinstance(strides, tuple) else (strides, strides)
    rows = windows(sizes[0], window[0], strides[0], padding)
    columns = windows(sizes[1], window[1], strides[1], padding)
    for (r, row), (c, column) in itertools.product(enumerate(rows), enumerate(columns)):
        yield (r, c), [((i, j), (y, x)) for (i, y), (j, x) in itertools.product(row, column)]


def shape_of(sizes, window, strides, padding):
    *_, ((r, c), _) = places(sizes, window, strides, padding)
    return r + 1, c + 1


def test_a_window_wider_than_the_padded_image():
    """Only without padding must it fit: with "same" it sees what there is of the image."""
    spec = TensorSpec((1, 2, 2, 1), "float64")
    pooled = SymbolicOps(EffectRecorder(), "float64").max_pool2d(SymbolicTensor(spec), 5, 1, "same")
    assert pooled.spec.shape == (1, 2, 2, 1)
    x = np.array([[1.0, 2.0], [3.0, 4.0]]).reshape(1, 2, 2, 1)
    np.testing.assert_array_equal(OPS.max_pool2d(x, 5, 1, "same"), np.full((1, 2, 2, 1), 4.0))


@pytest.mark.parametrize(("sizes", "window", "strides", "padding"), SETTINGS)
def test_conv2d_and_its_transpose(sizes, window, strides, padding):
    x, filters = RNG.normal(size=(2, *sizes, 3)), RNG.normal(size=(*window, 3, 4))
    out = shape_of(sizes, window, strides, padding)
    expected = np.zeros((2, *out, 4))
    dy, dx = RNG.normal(size=expected.shape), np.zeros_like(x)
    for (r, c), pairs in places(sizes, window, strides, padding):
        for (i, j), (row, column) in pairs:
            expected[:, r, c] += x[:, row, column] @ filters[i, j]
            dx[:, row, column] += dy[:, r, c] @ filters[i, j].T
    np.testing.assert_allclose(OPS.conv2d(x, filters, strides, padding), expected, atol=1e-12)
    # The transpose spreads what the convolution gathered; it gives the size that fits exactly.
    spread = OPS.conv2d_transpose(dy, filters, strides, padding)
    fits = tuple(
        n * s for n, s in zip(out, strides if isinstance(strides, tuple) else (strides,) * 2, strict=True)
    )
    if padding == "valid":
        fits = tuple((n - s) + w for n, s, w in zip(fits, np.broadcast_to(strides, 2), window, strict=True))
    assert spread.shape == (2, *fits, 3)
    if fits == sizes:
        np.testing.assert_allclose(spread, dx, atol=1e-12)


def test_a_transpose_with_gaps():
    """Strides larger than the window leave zeros between."""
    x, filters = np.array([[1.0, 2.0]]).reshape(1, 1, 2, 1), np.array([10.0]).reshape(1, 1, 1, 1)
    assert OPS.conv2d_transpose(x, filters, (1, 3))[0, 0, :, 0].tolist() == [10, 0, 0, 20]
    assert OPS.conv2d_transpose(x, filters, (1, 3), "same")[0, 0, :, 0].tolist() == [10, 0, 0, 20, 0, 0]


@pytest.mark.parametrize(("sizes", "window", "strides", "padding"), SETTINGS)
def test_pooling(sizes, window, strides, padding):
    x = RNG.normal(size=(2, *sizes, 3)) - 5.0
    largest, means = (np.zeros((2, *shape_of(sizes, window, strides, padding), 3)) for _ in range(2))
    for (r, c), pairs in places(sizes, window, strides, padding):
        inside = np.stack([x[:, row, column] for _, (row, column) in pairs])
        largest[:, r, c], means[:, r, c] = inside.max(0), inside.mean(0)
    np.testing.assert_array_equal(OPS.max_pool2d(x, window, strides, padding), largest)
    np.testing.assert_allclose(OPS.avg_pool2d(x, window, strides, padding), means, rtol=1e-12)


def test_pooling_strides_by_its_window():
    x = np.arange(16.0).reshape(1, 4, 4, 1)
    assert OPS.max_pool2d(x, 2)[0, :, :, 0].tolist() == [[5, 7], [13, 15]]
    assert OPS.avg_pool2d(x, (2, 4))[0, :, :, 0].tolist() == [[3.5], [11.5]]


def row(values, size, method):
    image = np.array(values, np.float64).reshape(1, 1, -1, 1)
    return OPS.resize(image, (1, size), method)[0, 0, :, 0].tolist()


def test_resizing_a_row():
    assert row([0, 6], 4, "bilinear") == [0.0, 1.5, 4.5, 6.0]
    assert row([0, 1, 2, 3], 2, "bilinear") == [0.5, 2.5]
    assert row([5, 7, 9], 3, "bilinear") == [5.0, 7.0, 9.0]
    assert row([0, 6], 4, "nearest") == [0.0, 0.0, 6.0, 6.0]
    assert row([0, 1, 2, 3, 4], 2, "nearest") == [1.0, 3.0]
    np.testing.assert_allclose(
        row([3, 6, 9], 2, "area"), [(3 + 0.5 * 6) / 1.5, (0.5 * 6 + 9) / 1.5], rtol=1e-15
    )
    assert row([0, 2, 4, 6], 2, "area") == [1.0, 5.0]
    assert row([2, 6], 3, "area") == pytest.approx([2.0, 4.0, 6.0])


@pytest.mark.parametrize("method", ["bilinear", "nearest", "area"])
def test_resizing_treats_both_axes_alike(method):
    x = RNG.normal(size=(2, 5, 4, 3))
    resized = OPS.resize(x, (3, 7), method)
    turned = OPS.resize(x.swapaxes(1, 2), (7, 3), method).swapaxes(1, 2)
    np.testing.assert_allclose(resized, turned, rtol=1e-12)
    rows = np.stack([[row(x[0, i, :, c], 7, method) for c in range(3)] for i in range(5)])
    first = np.stack([[row(rows[:, c, j], 3, method) for c in range(3)] for j in range(7)])
    np.testing.assert_allclose(resized[0], first.transpose(2, 0, 1), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(OPS.resize(np.ones((1, 5, 4, 1)), (3, 7), method), 1.0, rtol=1e-14)
