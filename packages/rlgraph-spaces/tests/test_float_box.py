import math

import numpy as np
import pytest

from rlgraph.spaces import FloatBox, IntBox, SpaceError


def test_default_is_an_unbounded_float32_scalar():
    space = FloatBox()
    assert (space.shape, space.rank, space.dtype, space.low, space.high) == ((), 0, "float32", None, None)
    assert (space.bounded, space.global_bounds, space.flat_dim, space.num_categories) == (
        False,
        None,
        1,
        None,
    )


def test_one_number_is_the_upper_bound():
    assert FloatBox(2.0).global_bounds == (0.0, 2.0)
    assert FloatBox(2) == FloatBox(0.0, 2.0) == FloatBox(low=0, high=2)


@pytest.mark.parametrize(
    ("space", "low", "high"),
    [
        (FloatBox(1.0, None), 1.0, None),
        (FloatBox(high=1.0), None, 1.0),
        (FloatBox(-np.inf, 1.0), None, 1.0),
        (FloatBox(1.0, np.inf), 1.0, None),
    ],
)
def test_one_sided(space, low, high):
    assert (space.low, space.high) == (low, high)
    assert (space.bounded_below, space.bounded_above) == (low is not None, high is not None)
    assert (space.bounded, space.unbounded, space.global_bounds) == (False, False, None)
    assert space.bounds == (low, high)


def test_unbounded_is_without_any_bound():
    assert FloatBox(shape=(2,)).unbounded
    assert not FloatBox([0.0, None], None).unbounded
    assert not FloatBox(1.0).unbounded


@pytest.mark.parametrize(
    ("space", "expected"),
    [
        (FloatBox(0.0, None), True),
        (FloatBox(high=3.0, shape=(2,)), True),
        (FloatBox([0.0, None], [None, 1.0]), True),
        (FloatBox([0.0, None], None), False),
        (FloatBox([0.0, None], [1.0, 1.0]), False),
        (FloatBox(1.0), False),
        (FloatBox(shape=(2,)), False),
    ],
)
def test_half_bounded_is_with_one_bound_in_every_element(space, expected):
    assert space.half_bounded is expected


def test_bounds_beyond_64_bits():
    assert FloatBox(0, 10**30) == FloatBox(0.0, 1e30)


def test_arrays_give_the_shape_and_are_kept_read_only():
    given = np.array([[0.0, -np.inf], [1.0, 2.0]])
    space = FloatBox(given, 5.0)
    given[0, 0] = 3.0
    assert space.shape == (2, 2)
    assert space.low.dtype == np.float32
    assert space.low[0, 0] == 0.0  # a copy
    assert space.high == 5.0
    assert (space.bounded_below, space.bounded_above, space.global_bounds) == (False, True, None)
    with pytest.raises(ValueError, match="read-only"):
        space.low[0, 0] = 1.0


def test_uniform_arrays_become_numbers():
    assert FloatBox([0.0, 0.0], [1.0, 1.0]) == FloatBox(0.0, 1.0, shape=(2,))
    assert FloatBox([-np.inf, -np.inf], [np.inf, np.inf]) == FloatBox(shape=2)
    assert FloatBox(-0.0, 1.0) == FloatBox(0.0, 1.0)
    assert repr(FloatBox(-0.0, 1.0)) == "FloatBox(low=0.0, high=1.0)"


def test_bounds_are_rounded_to_the_dtype_and_read_short():
    space = FloatBox(0.1, 0.3)
    assert (space.low, space.high) == (0.1, 0.3)
    assert space == FloatBox(np.float32(0.1), np.float32(0.3))
    assert space.contains(np.float32(0.1))
    assert space.contains(0.1)  # what is stored, float32(0.1), is what is checked
    top = FloatBox(float(np.finfo("float32").max))
    assert top.contains(np.finfo("float32").max)
    assert not top.contains(np.float32(np.inf))


def test_equality_sees_bounds_dtype_shape_and_class():
    space = FloatBox(0.0, 1.0, shape=(2,))
    others = [
        FloatBox(0.0, 2.0, shape=(2,)),
        FloatBox(0.0, None, shape=(2,)),
        FloatBox([0.0, 0.5], 1.0),
        FloatBox(0.0, 1.0, shape=(3,)),
        FloatBox(0.0, 1.0, shape=(2,), dtype="float64"),
        FloatBox(0.0, 1.0, shape=(2,), add_batch_rank=True),
        IntBox(0, 1, shape=(2,)),
    ]
    assert len({space, *others}) == 8
    assert space != "FloatBox(low=0.0, high=1.0, shape=(2,))"


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_extreme_bounds_can_be_sampled(dtype):
    info = np.finfo(dtype)
    with np.errstate(all="raise", under="ignore"):
        samples = FloatBox(info.min, info.max, dtype=dtype).sample(1000, rng=np.random.default_rng(1))
        tails = FloatBox(info.max, None, dtype=dtype).sample(10, rng=np.random.default_rng(1))
    assert samples.dtype == dtype
    assert np.all(np.isfinite(samples))
    assert samples.min() < 0.0 < samples.max()
    assert np.all(tails == info.max)


def test_distributions():
    rng = np.random.default_rng(2)
    uniform = FloatBox(2.0, 6.0).sample(20000, rng=rng)
    assert abs(uniform.mean() - 4.0) < 0.05
    assert abs(uniform.std() - 4.0 / math.sqrt(12)) < 0.03
    normal = FloatBox().sample(20000, rng=rng)
    assert abs(normal.mean()) < 0.03
    assert abs(normal.std() - 1.0) < 0.03
    above, below = FloatBox(3.0, None).sample(20000, rng=rng), FloatBox(high=3.0).sample(20000, rng=rng)
    assert above.min() >= 3.0
    assert abs(above.mean() - 4.0) < 0.05
    assert below.max() <= 3.0
    assert abs(below.mean() - 2.0) < 0.05
    mixed = FloatBox([0.0, -np.inf, 5.0, -np.inf], [1.0, 0.0, np.inf, np.inf]).sample(20000, rng=rng)
    assert np.allclose(mixed.mean(axis=0), [0.5, -1.0, 6.0, 0.0], atol=0.05)


@pytest.mark.parametrize(
    ("space", "sample", "contained"),
    [
        (FloatBox(1.0), 0.0, True),
        (FloatBox(1.0), 1.0, True),
        (FloatBox(1.0), 1.5, False),
        (FloatBox(1.0), 1, False),
        (FloatBox(1.0), True, False),
        (FloatBox(1.0), np.float64(0.5), True),
        (FloatBox(1.0), np.array(0.5), True),
        (FloatBox(1.0), np.array([0.5]), False),
        (FloatBox(), math.nan, False),
        (FloatBox(), math.inf, True),
        (FloatBox(0.0, None), math.inf, True),
        (FloatBox(0.0, None), -math.inf, False),
        (FloatBox(shape=(2,)), [0.0, 0.0], False),
        (FloatBox(shape=(2,)), np.array([0.0, math.nan]), False),
        (FloatBox(shape=(2,)), np.zeros(2, "float64"), True),
        (FloatBox(shape=(2,)), np.zeros(2, "int64"), False),
        (FloatBox(shape=(0,)), np.zeros(0, "float32"), True),
        (FloatBox(add_batch_rank=True), np.zeros(7), True),
        (FloatBox(add_batch_rank=True), np.zeros(0), True),
        (FloatBox(add_batch_rank=True), np.zeros(()), False),
        (FloatBox(add_batch_rank=3), np.zeros(7), False),
        (FloatBox(), None, False),
    ],
)
def test_contains(space, sample, contained):
    assert space.contains(sample) is contained


@pytest.mark.parametrize(
    ("space", "sample", "message"),
    [
        (FloatBox(1.0), 1.5, "sample: expected float32 values in [0.0, 1.0], given 1.5 at index ()"),
        (
            FloatBox([0.0, 0.0], [1.0, 2.0]).with_batch_rank(),
            np.array([[0.5, 2.0], [0.5, 2.5]]),
            "sample: expected float32 values in [0.0, 2.0], given 2.5 at index (1, 1)",
        ),
        (
            FloatBox(0.0, None),
            math.nan,
            "sample: expected float32 values in [0.0, inf], given nan at index ()",
        ),
        (FloatBox(), math.nan, "sample: expected finite float32 values, given nan at index ()"),
        (
            FloatBox(shape=(3,), add_batch_rank=True),
            np.zeros((2, 3), int),
            "sample: expected float32 of shape (None, 3), given int64 of shape (2, 3)",
        ),
        (
            FloatBox(shape=(3,)),
            np.zeros((4,)),
            "sample: expected float32 of shape (3,), given float64 of shape (4,)",
        ),
        (FloatBox(), [1.0], "sample: expected float32 of shape (), given a list"),
    ],
)
def test_explain(space, sample, message):
    assert space.explain(sample) == message
    assert space.explain(sample, "state") == message.replace("sample", "state", 1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FloatBox(2.0, 1.0), "low: expected FloatBox low <= high, given 2.0 > 1.0 at index ()"),
        (
            lambda: FloatBox([0.0, 3.0], [1.0, 2.0]),
            "low: expected FloatBox low <= high, given 3.0 > 2.0 at index (1,)",
        ),
        (
            lambda: FloatBox(-1.0),
            "low: expected FloatBox(x) to be 0..x with x > 0, given -1.0; "
            "for a lower bound alone: FloatBox(low, None)",
        ),
        (
            lambda: FloatBox(0.0, 1e9, dtype="float16"),
            "high: expected numbers that fit float16, given 1000000000.0",
        ),
        (lambda: FloatBox(0.0, math.nan), "high: expected numbers that are not NaN, given nan"),
        (lambda: FloatBox(math.inf, None), "low: expected -inf or numbers, given inf"),
        (lambda: FloatBox(None, -math.inf), "high: expected inf or numbers, given -inf"),
        (
            lambda: FloatBox("0", 1.0),
            "low: expected numbers (a number, an array or nested lists), given '0'",
        ),
        (
            lambda: FloatBox(0.0, [[1.0], [1.0, 2.0]]),
            "high: expected numbers (a number, an array or nested lists), given [[1.0], [1.0, 2.0]]",
        ),
        (
            lambda: FloatBox([0.0, 1.0], 2.0, shape=(3,)),
            "low: expected a number or an array of shape (3,), given shape (2,)",
        ),
        (
            lambda: FloatBox([0.0, 1.0], [1.0, 2.0, 3.0]),
            "high: expected a number or an array of shape (2,), given shape (3,)",
        ),
        (lambda: FloatBox(shape=(2, -1)), "shape: expected a tuple of ints of 0 or more, given (2, -1)"),
        (lambda: FloatBox(shape="ab"), "shape: expected a tuple of ints of 0 or more, given 'ab'"),
        (lambda: FloatBox(dtype="int32"), "dtype: expected one of float16, float32, float64, given 'int32'"),
        (
            lambda: FloatBox(dtype="nonsense"),
            "dtype: expected one of float16, float32, float64, given 'nonsense'",
        ),
    ],
)
def test_errors(make, message):
    with pytest.raises(SpaceError) as caught:
        make()
    assert str(caught.value) == message


def test_dtypes_in_all_spellings():
    assert FloatBox(dtype=float) == FloatBox(dtype="float") == FloatBox(dtype=np.float32) == FloatBox()
    assert FloatBox(dtype=np.float64).dtype == FloatBox(dtype=np.dtype("float64")).dtype == "float64"
    assert FloatBox(dtype="float16").numpy_dtype == np.dtype("float16")


def test_repr():
    assert repr(FloatBox()) == "FloatBox()"
    space = FloatBox([0.1, -np.inf], 3.0, dtype="float16", add_batch_rank="demo", add_time_rank=2)
    assert repr(space) == (
        "FloatBox(low=[0.1, None], high=3.0, dtype='float16', add_batch_rank='demo', add_time_rank=2)"
    )
