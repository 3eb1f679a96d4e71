import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from rlgraph.core.ops import SymbolicDim, TensorSpec, to_specs
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, Tuple
from rlgraph.spaces.testing import FLOATS, INTS, box_spaces

B, T, N = map(SymbolicDim.symbol, "BTN")


@pytest.mark.parametrize(
    ("space", "shape", "dtype", "low", "high"),
    [
        (FloatBox(), (), "float32", None, None),
        (FloatBox(-1.0, 2.0, shape=(3, 2)), (3, 2), "float32", -1.0, 2.0),
        (IntBox(5), (), "int64", 0, 5),
        (IntBox(2, 7, shape=(4,), add_batch_rank=True), (B, 4), "int64", 2, 7),
        (BoolBox(add_batch_rank=True, add_time_rank=True), (B, T), "bool", None, None),
        (
            FloatBox(shape=(2,), add_batch_rank=True, add_time_rank=True, time_major=True),
            (T, B, 2),
            "float32",
            None,
            None,
        ),
        (FloatBox(shape=(2,), add_batch_rank=7), (7, 2), "float32", None, None),
        (FloatBox(add_batch_rank="demo"), (SymbolicDim.symbol("demo"),), "float32", None, None),
        (IntBox(0, 256, shape=(2,), dtype="uint8"), (2,), "uint8", 0, 256),
    ],
)
def test_from_space(space, shape, dtype, low, high):
    spec = TensorSpec.from_space(space)
    assert (spec.shape, spec.dtype) == (shape, dtype)
    if dtype != "bool":
        assert (spec.low, spec.high) == (low, high)


def test_floats_take_the_dtype_of_the_execution():
    assert TensorSpec.from_space(FloatBox(dtype="float32"), "float64").dtype == "float64"
    assert TensorSpec.from_space(FloatBox(dtype="float64"), "float32").dtype == "float32"
    assert TensorSpec.from_space(IntBox(3, dtype="int32"), "float64").dtype == "int32"


def test_bounds_per_element_stay_with_the_space():
    spec = TensorSpec.from_space(FloatBox(np.array([0.0, -1.0]), np.array([1.0, 2.0])))
    assert (spec.shape, spec.low, spec.high) == ((2,), None, None)


def test_names_of_the_ranks():
    space = FloatBox(add_batch_rank=True, add_time_rank=True)
    assert repr(TensorSpec.from_space(space, batch="N3", time="T3")) == "float32[N3, T3]"


@settings(max_examples=80, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
# A fixed rank is a size like any other inside a plan, and a name stays with the input it came from.
@given(box_spaces(dtypes=(*FLOATS, *INTS, "bool"), batch_ranks=[False, True], time_ranks=[False, True]))
def test_a_space_survives_the_round_trip(space):
    spec = TensorSpec.from_space(space, float_dtype="float64")
    again = spec.to_space()
    assert TensorSpec.from_space(again, float_dtype="float64") == spec
    assert again.shape == space.shape
    assert (again.has_batch_rank, again.has_time_rank) == (space.has_batch_rank, space.has_time_rank)


def test_unknown_leading_sizes_become_ranks():
    assert TensorSpec((B, 3), "float32").to_space() == FloatBox(shape=(3,), add_batch_rank=True)
    assert TensorSpec((B * T, 3), "float32").to_space() == FloatBox(shape=(3,), add_batch_rank=True)
    assert TensorSpec((B, T), "bool").to_space() == BoolBox(add_batch_rank=True, add_time_rank=True)
    both = TensorSpec((T, B, 2), "float32").to_space()
    assert both == FloatBox(shape=(2,), add_batch_rank=True, add_time_rank=True, time_major=True)
    assert TensorSpec((5, T), "int64", 0, 4).to_space() == IntBox(0, 4, add_batch_rank=5, add_time_rank=True)
    # Steps of the records that a memory has drawn.
    drawn = TensorSpec((5, N), "int64", 0, 4).to_space()
    assert drawn == IntBox(0, 4, add_batch_rank=True, add_time_rank=5, time_major=True)


def test_a_part_of_the_time_rank_is_time():
    """As ``x[:-1]`` of a time-major tensor has it."""
    time_major = {"add_batch_rank": True, "time_major": True}
    assert TensorSpec((T - 1, B), "float32").to_space() == FloatBox(add_time_rank=True, **time_major)
    assert TensorSpec((B, T - 1), "bool").to_space() == BoolBox(add_batch_rank=True, add_time_rank=True)
    assert TensorSpec((19, B, 2), "float32").to_space() == FloatBox(
        shape=(2,), add_time_rank=19, **time_major
    )


def test_sizes_behind_the_first_two_must_be_known():
    with pytest.raises(ValueError, match=r"float32\[2, 3, B\] has no Space"):
        TensorSpec((2, 3, B), "float32").to_space()


def test_repr_and_kinds():
    spec = TensorSpec((B, T + 1, 3), "float32", 0.0, 1.0)
    assert repr(spec) == "float32[B, T + 1, 3]"
    assert (spec.is_float, spec.is_int) == (True, False)
    assert (TensorSpec((), "uint8").is_int, TensorSpec((), "bool").is_int) == (True, False)
    assert spec.with_shape((2,)) == TensorSpec((2,), "float32", 0.0, 1.0)
    assert spec.unbounded() == TensorSpec((B, T + 1, 3), "float32")


def test_containers_mirror_the_space():
    space = Dict(a=IntBox(3), b=Tuple(float, BoolBox()), add_batch_rank=True)
    specs = to_specs(space, "float64")
    assert specs == {
        "a": TensorSpec((B,), "int64", 0, 3),
        "b": (TensorSpec((B,), "float64"), TensorSpec.from_space(BoolBox(add_batch_rank=True))),
    }
