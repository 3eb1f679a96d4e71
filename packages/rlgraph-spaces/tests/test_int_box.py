import numpy as np
import pytest

from rlgraph.spaces import BoolBox, FloatBox, IntBox, SpaceError, TextBox


def test_high_is_exclusive():
    space = IntBox(4)
    assert (space.low, space.high, space.num_categories, space.dtype) == (0, 4, 4, "int64")
    assert [space.contains(value) for value in (-1, 0, 3, 4)] == [False, True, True, False]
    assert set(space.sample(200, rng=np.random.default_rng(0)).tolist()) == {0, 1, 2, 3}


def test_uint8_has_256_categories():
    space = IntBox(256, dtype="uint8")
    assert (space.high, space.num_categories) == (256, 256)
    assert space.contains(np.uint8(255))
    samples = space.sample(5000, rng=np.random.default_rng(0))
    assert samples.dtype == np.uint8
    assert (samples.min(), samples.max()) == (0, 255)


def test_unbounded():
    space = IntBox()
    assert (space.low, space.high, space.num_categories, space.global_bounds) == (None, None, None, None)
    samples = space.sample(1000, rng=np.random.default_rng(0))
    assert -(10**8) <= samples.min() < -(9 * 10**7)
    assert 9 * 10**7 < samples.max() <= 10**8
    assert space.contains(2**62)
    assert not space.contains(2**64)
    small = IntBox(dtype="int16").sample(5000, rng=np.random.default_rng(0))
    assert small.min() < -32000
    assert small.max() > 32000
    assert not IntBox(dtype="uint8").contains(256)
    assert not IntBox(dtype="uint8").contains(-1)
    assert not IntBox().contains(np.uint64(2**63))


@pytest.mark.parametrize(
    ("space", "least", "most"),
    [
        (IntBox(5, None), 5, 5 + 10**8),
        (IntBox(None, 5), 4 - 10**8, 4),
        (IntBox(250, None, dtype="uint8"), 250, 255),
        (IntBox(None, 3, dtype="uint8"), 0, 2),
        (IntBox(2**63 - 3, None), 2**63 - 3, 2**63 - 1),
        (IntBox(None, -(2**63) + 2), -(2**63), -(2**63) + 1),
        (IntBox(2**63), 0, 2**63 - 1),
        (IntBox([7, 250], None, dtype="uint8"), 7, 255),
    ],
)
def test_one_sided_samples_do_not_overflow(space, least, most):
    samples = space.sample(2000, rng=np.random.default_rng(0))
    assert least <= samples.min()
    assert samples.max() <= most
    # The whole range is reached, up to 1 % of it.
    slack = (most - least) // 100
    assert int(samples.min()) <= least + slack
    assert int(samples.max()) >= most - slack


def test_bounds_per_element():
    space = IntBox(low=(0, -2), high=(3, 5), dtype="int32")
    assert space.shape == (2,)
    assert (space.num_categories, space.global_bounds, space.bounded) == (None, None, True)
    assert space.low.tolist() == [0, -2]
    samples = space.sample(500, rng=np.random.default_rng(0))
    assert samples.min(axis=0).tolist() == [0, -2]
    assert samples.max(axis=0).tolist() == [2, 4]
    assert space.explain(np.array([2, 5])) == (
        "sample: expected int32 values from -2 to 4 (inclusive), given 5 at index (1,)"
    )
    assert IntBox([3, 5]) == IntBox([0, 0], [3, 5])
    assert IntBox([3, 3]) == IntBox(3, shape=(2,))
    assert IntBox([3, 3]).num_categories == 3


def test_categories():
    space = IntBox(5, shape=(2, 3), add_batch_rank=True)
    assert space.get_shape(with_category_rank=True) == (2, 3, 5)
    assert space.get_shape(with_batch_rank=True, with_category_rank=True) == (None, 2, 3, 5)
    assert (space.flat_dim, space.flat_dim_with_categories) == (6, 30)
    assert space.as_one_hot_float_space() == FloatBox(0.0, 1.0, (2, 3, 5), add_batch_rank=True)
    assert IntBox(2, 5).get_shape(with_category_rank=True) == ()
    assert IntBox(2, 5).flat_dim_with_categories == 3
    assert IntBox([0, 1], [3, 5]).flat_dim_with_categories == 3 + 4
    assert FloatBox(shape=(2,)).flat_dim_with_categories == 2
    assert BoolBox((2,)).flat_dim_with_categories == 4
    assert BoolBox((2,)).get_shape(with_category_rank=True) == (2, 2)
    assert TextBox((2,)).get_shape(with_category_rank=True) == (2,)


@pytest.mark.parametrize("sample", [1.0, True, "1", np.array([1]), np.array(1.0), None, 10**30])
def test_other_kinds_are_not_contained(sample):
    assert not IntBox(4).contains(sample)


def test_kinds_that_are_contained():
    assert all(IntBox(4).contains(value) for value in (1, np.uint8(1), np.int64(1), np.array(1, np.uint64)))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: IntBox(3, 3), "low: expected IntBox low < high (exclusive), given 3 >= 3 at index ()"),
        (
            lambda: IntBox([0, 4], [1, 2]),
            "low: expected IntBox low < high (exclusive), given 4 >= 2 at index (1,)",
        ),
        (lambda: IntBox(257, dtype="uint8"), "high: expected numbers from 1 to 256 for uint8, given 257"),
        (lambda: IntBox(-1, 3, dtype="uint8"), "low: expected numbers from 0 to 255 for uint8, given -1"),
        (lambda: IntBox(0), "low: expected IntBox low < high (exclusive), given 0 >= 0 at index ()"),
        (lambda: IntBox(1.5), "high: expected integers (a number, an array or nested lists), given 1.5"),
        (
            lambda: IntBox(10**30),
            f"high: expected numbers from {1 - 2**63} to {2**63} for int64, given {10**30}",
        ),
        (lambda: IntBox(True), "high: expected integers (a number, an array or nested lists), given True"),
        (
            lambda: IntBox(0, np.array([1, 2**63], np.uint64)),
            "high: expected numbers below 2**63 where they differ, given [1, 9223372036854775808]",
        ),
        (lambda: IntBox(dtype="int8"), "dtype: expected one of uint8, int16, int32, int64, given 'int8'"),
        (
            lambda: IntBox().flat_dim_with_categories,
            "expected an IntBox with both bounds, to count its values, given IntBox()",
        ),
        (
            lambda: IntBox(2, 5).as_one_hot_float_space(),
            "expected an IntBox with one number of categories, given IntBox(low=2, high=5)",
        ),
    ],
)
def test_errors(make, message):
    with pytest.raises(SpaceError) as caught:
        make()
    assert str(caught.value) == message


def test_bool_box():
    space = BoolBox((2,))
    assert (space.dtype, space.low, space.high, space.global_bounds) == ("bool", False, True, (False, True))
    samples = space.sample(100, rng=np.random.default_rng(0))
    assert samples.dtype == np.bool_
    assert 60 < samples.sum() < 140
    assert BoolBox().contains(True)
    assert BoolBox().contains(np.True_)
    assert not BoolBox().contains(1)
    assert BoolBox().zeros() == np.False_


def test_text_box():
    space = TextBox((2,), max_length=3, charset="cba")
    assert repr(space) == "TextBox(shape=(2,), max_length=3, charset='abc')"
    assert space.contains(np.array(["abc", ""]))
    assert space.contains(np.array(["abc", ""], object))
    assert space.explain(np.array(["a", "abca"])) == (
        "sample: expected str values of at most 3 characters, given 'abca' at index (1,)"
    )
    assert space.explain(np.array(["axa", "a"])) == (
        "sample: expected str values with characters of 'abc', given 'axa' at index (0,)"
    )
    assert space.explain(np.array(["a", 3], object)) == "sample: expected str values, given 3 at index (1,)"
    texts = space.sample(50, rng=np.random.default_rng(0)).ravel().tolist()
    assert {len(text) for text in texts} == {0, 1, 2, 3}
    assert set("".join(texts)) == set("abc")
    assert isinstance(TextBox().sample(), str)
    assert TextBox().contains("any\nthing")
    assert not TextBox().contains(b"bytes")
    assert TextBox((1,)).zeros(2).tolist() == [[""], [""]]
    assert len({TextBox(), TextBox(max_length=3), TextBox(charset="a"), TextBox((1,))}) == 4


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TextBox(max_length=-1), "max_length: expected None or an int of 0 or more, given -1"),
        (lambda: TextBox(max_length=True), "max_length: expected None or an int of 0 or more, given True"),
        (lambda: TextBox(charset=""), "charset: expected None or one character or more, given ''"),
        (lambda: TextBox(charset=["ab"]), r"charset: expected None or one character or more, given ['ab']"),
    ],
)
def test_text_errors(make, message):
    with pytest.raises(SpaceError) as caught:
        make()
    assert str(caught.value) == message
