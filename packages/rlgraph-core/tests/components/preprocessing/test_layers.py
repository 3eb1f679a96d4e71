"""All layers without state: what comes out, and the Space they announce."""

import numpy as np
import pytest

from rlgraph.components import (
    Clip,
    Concat,
    ConvertType,
    Divide,
    GrayScale,
    ImageBinary,
    ImageCrop,
    ImageResize,
    Multiply,
    Normalize,
    Reshape,
)
from rlgraph.core import GraphExecutor, SpecError
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, SpaceError, TextBox
from rlgraph.testing import ComponentTest

BYTES = IntBox(256, shape=(2,), dtype="uint8", add_batch_rank=True)
FLOATS = FloatBox(-4.0, 2.0, shape=(2,), add_batch_rank=True)
PIXELS = IntBox(256, shape=(1, 2, 3), dtype="uint8", add_batch_rank=True)
#: 0 1 2 3 / 4 5 6 7 / 8 9 10 11
RAMP = np.arange(12).reshape(1, 3, 4)
GREY = FloatBox(0.0, 11.0, shape=(3, 4), add_batch_rank=True)


def out(**options):
    return FloatBox(add_batch_rank=True, **options)


#: name -> (layer, Space, input, output, Space of the output)
CASES = {
    "binary": (
        ImageBinary(),
        PIXELS,
        [[[[0, 0, 0], [0, 1, 0]]]],
        [[[0, 1]]],
        IntBox(2, shape=(1, 2), dtype="uint8", add_batch_rank=True),
    ),
    "binary, above the sum of channels": (
        ImageBinary(threshold=300, keep_rank=True),
        PIXELS,
        [[[[100, 100, 100], [100, 101, 100]]]],
        [[[[0], [1]]]],
        IntBox(2, shape=(1, 2, 1), dtype="uint8", add_batch_rank=True),
    ),
    "binary without channels": (
        ImageBinary(4.5, keep_rank=True),
        GREY,
        RAMP,
        RAMP > 4.5,
        IntBox(2, shape=(3, 4), dtype="uint8", add_batch_rank=True),
    ),
    "divide bytes": (Divide(255), BYTES, [[0, 51]], [[0.0, 0.2]], out(low=0.0, high=1.0, shape=(2,))),
    "divide, negative": (
        Divide(-2.0),
        FLOATS,
        [[-4.0, 1.0]],
        [[2.0, -0.5]],
        out(low=-1, high=2, shape=(2,)),
    ),
    "multiply": (Multiply(0.5), FLOATS, [[-4.0, 1.0]], [[-2.0, 0.5]], out(low=-2, high=1, shape=(2,))),
    "multiply without bounds": (Multiply(3), out(shape=(2,)), [[-4.0, 1.0]], [[-12.0, 3.0]], out(shape=(2,))),
    "by bounds": (
        Normalize(by_bounds=True),
        IntBox(2, 11, shape=(2,), add_batch_rank=True),
        [[2, 6]],
        [[0.0, 0.5]],
        out(low=0.0, high=1.0, shape=(2,)),
    ),
    "by bounds of each element; one has one value": (
        Normalize(by_bounds=True),
        FloatBox([0.0, 10.0, 7.0], [255.0, 20.0, 7.0], add_batch_rank=True),
        [[51.0, 12.5, 7.0]],
        [[0.2, 0.25, 0.0]],
        out(low=0.0, high=1.0, shape=(3,)),
    ),
    "by bounds, bytes without bounds": (
        Normalize(by_bounds=True),
        IntBox(shape=(2,), dtype="uint8", add_batch_rank=True),
        [[0, 255]],
        [[0.0, 1.0]],
        out(low=0.0, high=1.0, shape=(2,)),
    ),
    "by bounds, bits": (
        Normalize(by_bounds=True),
        IntBox(2, shape=(2,), dtype="uint8", add_batch_rank=True),
        [[0, 1]],
        [[0.0, 1.0]],
        out(low=0.0, high=1.0, shape=(2,)),
    ),
    "by bounds, floats below 0": (Normalize(by_bounds=True), FLOATS, [[-4.0, 1.0]], [[-4.0, 1.0]], FLOATS),
    "by bounds, none": (
        Normalize(by_bounds=True),
        IntBox(0, None, add_batch_rank=True),
        [300],
        [300.0],
        out(low=0.0, high=None),
    ),
    "by bounds, far apart": (
        Normalize(by_bounds=True),
        FloatBox(0.0, 1e30, add_batch_rank=True),
        [3.0],
        [3.0],
        FloatBox(0.0, 1e30, add_batch_rank=True),
    ),
    "bytes to floats": (
        ConvertType("float"),
        BYTES,
        [[0, 255]],
        [[0.0, 255.0]],
        out(low=0, high=255, shape=(2,)),
    ),
    "floats to ints": (
        ConvertType("int"),
        FLOATS,
        [[-1.5, 1.9]],
        [[-1, 1]],
        IntBox(-4, 3, shape=(2,), add_batch_rank=True),
    ),
    "floats to bytes": (
        ConvertType("uint8"),
        FloatBox(0.0, 255.0, add_batch_rank=True),
        [7.9],
        [7],
        IntBox(0, 256, dtype="uint8", add_batch_rank=True),
    ),
    "bools to floats": (
        ConvertType("float32"),
        BoolBox(add_batch_rank=True),
        [True, False],
        [1.0, 0.0],
        out(low=0.0, high=1.0),
    ),
    "ints to bools": (
        ConvertType("bool"),
        IntBox(3, add_batch_rank=True),
        [0, 2],
        [False, True],
        BoolBox(add_batch_rank=True),
    ),
    "clip floats": (Clip(-1, 1), FLOATS, [[-4.0, 0.5]], [[-1.0, 0.5]], out(low=-1, high=1, shape=(2,))),
    "clip bytes": (
        Clip(10, 20),
        BYTES,
        [[0, 255]],
        [[10, 20]],
        IntBox(10, 21, shape=(2,), dtype="uint8", add_batch_rank=True),
    ),
    # 0.299 * 100 + 0.587 * 50 + 0.114 * 10 = 60.39; 0.299 * 2 + 0.587 * 4 + 0.114 * 5 = 3.516
    "grayscale rounds bytes": (
        GrayScale(),
        PIXELS,
        [[[[100, 50, 10], [2, 4, 5]]]],
        [[[60, 4]]],
        IntBox(256, shape=(1, 2), dtype="uint8", add_batch_rank=True),
    ),
    "grayscale keeps the rank": (
        GrayScale(keep_rank=True),
        PIXELS,
        [[[[255, 255, 255], [0, 0, 0]]]],
        [[[[255], [0]]]],
        IntBox(256, shape=(1, 2, 1), dtype="uint8", add_batch_rank=True),
    ),
    "a sum of channels stays in the range of bytes": (
        GrayScale(weights=[1, 1, 1]),
        PIXELS,
        [[[[200, 200, 200], [10, 20, 30]]]],
        [[[255, 60]]],
        IntBox(shape=(1, 2), dtype="uint8", add_batch_rank=True),
    ),
    "a difference of channels stays in the range of bytes": (
        GrayScale(weights=[1, -1, 0]),
        PIXELS,
        [[[[10, 200, 200], [200, 10, 0]]]],
        [[[0, 190]]],
        IntBox(shape=(1, 2), dtype="uint8", add_batch_rank=True),
    ),
    "a sum of channels stays in the range of 32 bits": (
        GrayScale(weights=[2, 0, 0]),
        IntBox(shape=(1, 3), dtype="int32", add_batch_rank=True),
        [[[2_000_000_000, 0, 0]], [[-2_000_000_000, 0, 0]]],
        [[2_147_483_520], [-2_147_483_648]],  # the largest float below 2^31
        IntBox(shape=(1,), dtype="int32", add_batch_rank=True),
    ),
    "grayscale of floats, own weights": (
        GrayScale(weights=[1.0, -2.0]),
        out(low=0.0, high=1.0, shape=(3, 2)),
        [[[1.0, 0.5], [0.0, 1.0], [0.25, 0.0]]],
        [[0.0, -2.0, 0.25]],
        out(shape=(3,)),
    ),
    "crop": (
        ImageCrop(x=1, y=1, width=2, height=2),
        GREY,
        RAMP,
        [[[5, 6], [9, 10]]],
        out(low=0.0, high=11.0, shape=(2, 2)),
    ),
    "crop with channels": (
        ImageCrop(width=1, height=1, x=1),
        PIXELS,
        [[[[1, 2, 3], [4, 5, 6]]]],
        [[[[4, 5, 6]]]],
        IntBox(256, shape=(1, 1, 3), dtype="uint8", add_batch_rank=True),
    ),
    # Rows of 1.5 old ones: (0 + 4/2) / 1.5 with the means of columns 0.5, 4.5, 8.5.
    "resize, area": (
        ImageResize(width=2, height=2),
        GREY,
        RAMP,
        [[[(0.5 + 4.5 / 2) / 1.5, (2.5 + 6.5 / 2) / 1.5], [(8.5 + 4.5 / 2) / 1.5, (10.5 + 6.5 / 2) / 1.5]]],
        out(low=0.0, high=11.0, shape=(2, 2)),
    ),
    # Centres of columns at 0.5 and 2.5, of rows at 0.25 and 1.75 between old centres.
    "resize, bilinear": (
        ImageResize(width=2, height=2, interpolation="bilinear"),
        GREY,
        RAMP,
        [[[1.5, 3.5], [7.5, 9.5]]],
        out(low=0.0, high=11.0, shape=(2, 2)),
    ),
    "resize, nearest, with channels": (
        ImageResize(width=1, height=2, interpolation="nearest"),
        PIXELS,
        [[[[1, 2, 3], [4, 5, 6]]]],
        [[[[4, 5, 6]], [[4, 5, 6]]]],
        IntBox(256, shape=(2, 1, 3), dtype="uint8", add_batch_rank=True),
    ),
    # (0 + 1 + 2 + 4) / 4 = 1.75 -> 2, (0 + 0 + 1 + 0) / 4 -> 0
    "resize rounds bytes": (
        ImageResize(width=2, height=1),
        IntBox(256, shape=(2, 4), dtype="uint8", add_batch_rank=True),
        [[[0, 1, 0, 0], [2, 4, 1, 0]]],
        [[[2, 0]]],
        IntBox(256, shape=(1, 2), dtype="uint8", add_batch_rank=True),
    ),
    "normalize": (
        Normalize(),
        IntBox(256, shape=(2, 2), dtype="uint8", add_batch_rank=True),
        [[[10, 20], [30, 20]], [[7, 7], [7, 7]]],
        [[[0.0, 0.5], [1.0, 0.5]], [[0.0, 0.0], [0.0, 0.0]]],
        out(low=0.0, high=1.0, shape=(2, 2)),
    ),
    "reshape": (Reshape([2, -1]), GREY, RAMP, RAMP.reshape(1, 2, 6), out(low=0.0, high=11.0, shape=(2, 6))),
    "flatten": (Reshape(flatten=True), GREY, RAMP, RAMP.reshape(1, 12), out(low=0.0, high=11.0, shape=(12,))),
    "flatten bytes": (
        Reshape(flatten=True),
        IntBox(256, shape=(1, 2), dtype="uint8", add_batch_rank=True),
        [[[3, 4]]],
        [[3, 4]],
        BYTES,
    ),
    "flatten a category": (
        Reshape(flatten=True),
        IntBox(3, add_batch_rank=True),
        [2, 0],
        [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]],
        out(low=0.0, high=1.0, shape=(3,)),
    ),
    "flatten several categories": (
        Reshape(flatten=True, flatten_categories=True),
        IntBox(3, shape=(2,), add_batch_rank=True),
        [[2, 0]],
        [[0.0, 0.0, 1.0, 1.0, 0.0, 0.0]],
        out(low=0.0, high=1.0, shape=(6,)),
    ),
    "categories alone": (
        Reshape(flatten_categories=True),
        IntBox(2, shape=(2,), add_batch_rank=True),
        [[1, 0]],
        [[[0.0, 1.0], [1.0, 0.0]]],
        out(low=0.0, high=1.0, shape=(2, 2)),
    ),
    "a category as an integer": (
        Reshape(flatten=True, flatten_categories=False),
        IntBox(3, add_batch_rank=True),
        [2],
        [[2]],
        IntBox(3, shape=(1,), add_batch_rank=True),
    ),
    "concat": (
        Concat(),
        Dict(b=FloatBox(shape=(1,)), a={"c": FloatBox(shape=(2,))}, add_batch_rank=True),
        {"b": [[3.0]], "a": {"c": [[1.0, 2.0]]}},
        [[1.0, 2.0, 3.0]],
        out(shape=(3,)),
    ),
    "every part of a container": (
        Divide(2),
        Dict(a=IntBox(5, dtype="uint8"), b={"c": FloatBox(shape=(2,))}, add_batch_rank=True),
        {"a": [3], "b": {"c": [[1.0, 2.0]]}},
        {"a": [1.5], "b": {"c": [[0.5, 1.0]]}},
        Dict(a=FloatBox(0.0, 2.0), b={"c": FloatBox(shape=(2,))}, add_batch_rank=True),
    ),
}


def in_space(space, value):
    return space.map_leaves(lambda path, box: np.array(_at(value, path), box.numpy_dtype))


def _at(value, path):
    for key in path.split("/") if path else []:
        value = value[key]
    return value


@pytest.mark.parametrize("name", CASES)
def test_what_comes_out(name, backend):
    layer, space, given, expected, expected_space = CASES[name]
    layer = layer.copy()
    assert layer.get_preprocessed_space(space) == expected_space
    test = ComponentTest(layer, {"inputs": space}, backend=backend)
    given = test.test("call", in_space(space, given), expected_outputs=expected, decimals=5)
    # The dtype too, and what the build itself infers.
    assert expected_space.contains(given)


def test_a_time_rank_stays(backend):
    x = np.arange(48, dtype=np.float32).reshape(2, 3, 2, 4)
    space = FloatBox(shape=(2, 4), add_batch_rank=True, add_time_rank=True)
    for layer, expected in (
        (ImageResize(width=2, height=2), x.reshape(2, 3, 2, 2, 2).mean(axis=-1)),
        (Reshape(flatten=True), x.reshape(2, 3, 8)),
        (ImageCrop(width=1, height=2), x[..., :1]),
    ):
        test = ComponentTest(layer, {"inputs": space}, backend=backend)
        given = test.test("call", x, expected_outputs=expected)
        assert layer.get_preprocessed_space(space).contains(given)


def test_resized_as_opencv_has_it(backend):
    """Shares of area, by a loop over a finer grid: 6 x 4 cells of 1/12 x 1/20 each."""
    x = np.random.default_rng(0).integers(0, 256, (1, 4, 5, 1)).astype(np.uint8)
    fine = np.repeat(np.repeat(x[0, :, :, 0].astype(float), 3, axis=0), 2, axis=1)  # 12 x 10
    expected = fine.reshape(3, 4, 2, 5).mean(axis=(1, 3))
    space = IntBox(256, shape=(4, 5, 1), dtype="uint8", add_batch_rank=True)
    test = ComponentTest(ImageResize(width=2, height=3), {"inputs": space}, backend=backend)
    test.test("call", x, expected_outputs=np.round(expected)[None, :, :, None].astype(np.uint8))


def test_the_float_of_the_execution(backend):
    spec = {"dtype": "float64"}
    made = GraphExecutor(ConvertType("float32"), {"inputs": BYTES}, backend=backend, execution_spec=spec)
    assert made.execute("call", np.zeros((1, 2), np.uint8)).dtype == np.float64


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ConvertType.from_spec("convert_type"), "to_dtype: missing"),
        (lambda: ConvertType("flaot"), "convert-type.to_dtype: unknown dtype 'flaot'. Did you mean 'float'?"),
        (lambda: Divide(0), "divide.divisor: expected a number other than 0, given 0"),
        (lambda: Divide("255"), "divide.divisor: expected a number, given '255'"),
        (lambda: Multiply(float("inf")), "multiply.factor: expected a number, given inf"),
        (lambda: Clip(1.0, 1.0), "clip: expected min < max, given 1.0 and 1.0"),
        (lambda: GrayScale(weights="rgb"), "grayscale.weights: expected a list of one number per channel"),
        (lambda: GrayScale(weights=[1.0, None]), "grayscale.weights[1]: expected a number, given None"),
        (lambda: ImageResize(0, 84), "image-resize.width: expected an integer >= 1, given 0"),
        (lambda: ImageResize(84, 84, "cubic"), "image-resize.interpolation: unknown interpolation 'cubic'"),
        (lambda: ImageCrop(x=-1, width=4, height=4), "image-crop.x: expected an integer >= 0, given -1"),
        (lambda: Reshape(), "reshape: expected new_shape, or one of flatten, "),
        (lambda: Reshape([2], flatten=True), "reshape: expected new_shape or flatten=True, given both"),
        (lambda: Reshape([-1, -1]), "reshape.new_shape: expected a list of sizes, at most one of them -1"),
        (lambda: Reshape([0]), "reshape.new_shape[0]: expected an integer >= 1, given 0"),
    ],
)
def test_wrong_arguments(make, message):
    with pytest.raises(SpecError) as error:
        make()
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("layer", "space", "message"),
    [
        (Divide(2), TextBox(), "divide: expected numbers"),
        (Clip(0.5, 1.5), BYTES, "clip: expected integer limits, given 0.5 and 1.5"),
        (Clip(-1, 5), BYTES, "clip/low: expected numbers from 0 to 255 for uint8, given -1"),
        (ConvertType("uint8"), FloatBox(-1.0, 1.0), "convert-type/low: expected numbers from 0 to 255"),
        (Clip(), BoolBox(), "clip: expected numbers"),
        (GrayScale(), FLOATS, "grayscale: expected numbers with a last axis of 3 channels"),
        (ImageResize(2, 2), FLOATS, "image-resize: expected images [H, W] or [H, W, C] of numbers"),
        (
            ImageCrop(2, width=3, height=3),
            GREY,
            "image-crop: rows 0 to 2 and columns 2 to 4 exceed",
        ),
        (Normalize(), float, "normalize: expected a Space with a shape"),
        (Reshape([5, -1]), GREY, "reshape: 12 elements do not fit (5, -1)"),
        (Reshape(flatten_categories=True), FLOATS, "reshape: expected an IntBox with categories"),
        (
            Concat(),
            Dict(a=FloatBox(shape=(2,)), b=IntBox(3)),
            "concat: expected floats with at least one axis",
        ),
        (
            Concat(),
            Dict(a=FloatBox(shape=(2, 2)), b=FloatBox(shape=(3, 2))),
            "concat: the shapes differ in more than the last axis",
        ),
        (ImageResize(2, 2), Dict(a={"b": FloatBox(shape=(2,))}), "a/b"),
    ],
)
def test_wrong_spaces(layer, space, message):
    with pytest.raises(SpaceError) as error:
        layer.get_preprocessed_space(space)
    assert message in str(error.value)


def test_a_single_bool_is_flattened_like_other_numbers(backend):
    layer = Reshape(flatten=True)
    space = BoolBox(add_batch_rank=True)
    assert layer.get_preprocessed_space(space) == BoolBox(shape=(1,), add_batch_rank=True)
    test = ComponentTest(layer, {"inputs": space}, backend=backend)
    test.test(("call", [np.array([True, False])]), expected_outputs=np.array([[True], [False]]))


def test_only_means_of_channels_stay_within_their_bounds():
    colours = FloatBox(0.0, 1.0, shape=(4, 4, 2))
    assert GrayScale([0.25, 0.75]).get_preprocessed_space(colours) == FloatBox(0.0, 1.0, shape=(4, 4))
    for weights in ([2.0, -1.0], [1.0, 1.0]):
        assert GrayScale(weights).get_preprocessed_space(colours) == FloatBox(shape=(4, 4))
