import subprocess
import sys

import pytest

from rlgraph.spaces import (
    BoolBox,
    BoxSpace,
    ContainerSpace,
    Dict,
    FloatBox,
    IntBox,
    SpaceError,
    Tuple,
    check_space_equivalence,
    is_bounded_space,
    sanity_check_space,
)

BATCH = FloatBox(add_batch_rank=True)


@pytest.mark.parametrize(
    ("a", "b", "result"),
    [
        (FloatBox(), FloatBox(), "a"),
        (FloatBox(1.0), FloatBox(2.0), "a"),
        (BATCH, FloatBox(shape=(64,)), "a"),
        (FloatBox(shape=(64,)), BATCH, "b"),
        (FloatBox(add_batch_rank=64), BATCH, "b"),
        (FloatBox(add_batch_rank="demo"), BATCH, "a"),
        (FloatBox(shape=(2,)), FloatBox(shape=(3,)), None),
        (FloatBox(), FloatBox(dtype="float64"), None),
        (FloatBox(), IntBox(), None),
        (BATCH, FloatBox(), None),
        (BATCH.with_time_rank(), BATCH.with_extra_ranks(time_major=True), None),
        (BATCH.with_time_rank(), FloatBox(shape=(3, 4)), "a"),
        (FloatBox().with_extra_ranks(True, 4), FloatBox().with_extra_ranks(3, True), None),
        (Dict(a=BATCH, b=(int,)), Dict(a=FloatBox(shape=(3,)), b=(IntBox(shape=(3,)),)), "a"),
        (Dict(a=float), Dict(b=float), None),
        (Dict(a=float), Dict(a=float, b=float), None),
        (Dict(a=float), Tuple(float), None),
        (Tuple(float), Tuple(float, float), None),
    ],
)
def test_equivalence(a, b, result):
    assert check_space_equivalence(a, b) is {"a": a, "b": b, None: None}[result]


def test_specs_are_checked_too():
    assert check_space_equivalence(float, {"type": "float"}) == FloatBox()
    assert sanity_check_space({"a": float}, allowed_types=Dict) is None


def test_is_bounded():
    assert is_bounded_space(FloatBox(1.0)) is True
    assert is_bounded_space(IntBox([3, 5])) is True
    assert is_bounded_space(FloatBox(shape=(2,))) is False


@pytest.mark.parametrize(
    ("space", "message"),
    [
        (
            FloatBox([0.0, None], [1.0, 1.0]),
            "expected a Space that is bounded on both sides or on none, "
            "given FloatBox(low=[0.0, None], high=1.0); give both bounds in every element, or none",
        ),
        (Dict(), "expected a BoxSpace, given Dict({}); ask for each leaf of space.flatten()"),
    ],
)
def test_is_bounded_errors(space, message):
    with pytest.raises(SpaceError) as caught:
        is_bounded_space(space)
    assert str(caught.value) == message


SPACE = Dict(a=FloatBox(1.0, None, shape=(2,)), b=(IntBox(3, shape=(2,)),), add_batch_rank=True)


@pytest.mark.parametrize(
    "checks",
    [
        {},
        {"allowed_types": Dict, "non_allowed_types": (Tuple, BoxSpace)},
        {"allowed_types": [BoxSpace, ContainerSpace]},
        {"allowed_sub_types": (FloatBox, IntBox), "non_allowed_sub_types": BoolBox},
        {"must_have_batch_rank": True, "must_have_time_rank": False},
        {"must_have_batch_or_time_rank": True},
        {"must_have_lower_limit": True, "rank": 1, "shape": (2,)},
        {"rank": (0, 1), "shape": [2]},
    ],
)
def test_sanity_checks_that_pass(checks):
    assert sanity_check_space(SPACE, **checks) is None


def test_sanity_checks_of_categories_that_pass():
    for checks in ({"must_have_categories": True}, {"num_categories": 3}, {"num_categories": (2, 3)}):
        assert sanity_check_space(SPACE["b"], **checks) is None
    assert sanity_check_space(SPACE["a"], must_have_categories=False, must_have_upper_limit=False) is None


@pytest.mark.parametrize(
    ("space", "checks", "message"),
    [
        (FloatBox(), {"allowed_types": IntBox}, "expected IntBox, given FloatBox()"),
        (FloatBox(), {"allowed_types": (IntBox, BoolBox)}, "expected IntBox or BoolBox, given FloatBox()"),
        (FloatBox(), {"non_allowed_types": BoxSpace}, "expected no BoxSpace, given FloatBox()"),
        (Dict(a=(float,)), {"allowed_sub_types": IntBox}, "a/0: expected IntBox, given FloatBox()"),
        (
            Dict(a=(float,)),
            {"non_allowed_sub_types": [IntBox, FloatBox]},
            "a/0: expected no IntBox and no FloatBox, given FloatBox()",
        ),
        (FloatBox(), {"must_have_batch_rank": True}, "expected a Space with batch rank, given FloatBox()"),
        (
            FloatBox(),
            {"must_have_batch_or_time_rank": True},
            "expected a Space with batch or time rank, given FloatBox()",
        ),
        (
            FloatBox(add_time_rank=3),
            {"must_have_batch_or_time_rank": False},
            "expected a Space without batch or time rank, given FloatBox(add_time_rank=3)",
        ),
        (
            FloatBox(),
            {"allowed_types": "FloatBox"},
            "expected classes to check for, such as FloatBox, given 'FloatBox'",
        ),
        (
            FloatBox(add_time_rank=3),
            {"must_have_time_rank": False},
            "expected a Space without time rank, given FloatBox(add_time_rank=3)",
        ),
        (
            Dict(a=float, b=IntBox(3)),
            {"must_have_categories": True},
            "a: expected a Space with a number of categories, given FloatBox()",
        ),
        (
            IntBox(3),
            {"must_have_categories": False},
            "expected a Space without a number of categories, given IntBox(low=0, high=3)",
        ),
        (
            IntBox(3),
            {"num_categories": 4},
            "expected a Space with num_categories 4, given 3 in IntBox(low=0, high=3)",
        ),
        (
            FloatBox(),
            {"num_categories": (4, 5)},
            "expected a Space with num_categories from 4 to 5, given None in FloatBox()",
        ),
        (
            FloatBox([0.0, None], None),
            {"must_have_lower_limit": True},
            "expected a Space with a lower limit in every element, "
            "given FloatBox(low=[0.0, None], high=None)",
        ),
        (
            FloatBox(1.0),
            {"must_have_upper_limit": False},
            "expected a Space without an upper limit in every element, given FloatBox(low=0.0, high=1.0)",
        ),
        (
            Dict(a=FloatBox(shape=(2,))),
            {"rank": 2},
            "a: expected a Space with rank 2, given 1 in FloatBox(shape=(2,))",
        ),
        (
            FloatBox(shape=(2,)),
            {"rank": (2, 3)},
            "expected a Space with rank from 2 to 3, given 1 in FloatBox(shape=(2,))",
        ),
        (
            FloatBox(shape=(2,)),
            {"shape": (3,)},
            "expected a Space with shape (3,), given FloatBox(shape=(2,))",
        ),
    ],
)
def test_sanity_checks_that_fail(space, checks, message):
    with pytest.raises(SpaceError) as caught:
        sanity_check_space(space, **checks)
    assert str(caught.value) == message


def test_importing_brings_in_numpy_alone():
    code = """
import sys
import rlgraph.spaces, rlgraph.spaces.gymnasium
assert not {"gymnasium", "hypothesis", "torch", "tensorflow"} & sys.modules.keys(), sys.modules.keys()
assert not hasattr(sys.modules["rlgraph"], "__file__") or sys.modules["rlgraph"].__file__ is None
print("done")
"""
    paths = [path for path in sys.path if path]
    prefix = f"import sys; sys.path[:0] = {paths!r}\n"
    run = subprocess.run([sys.executable, "-c", prefix + code], capture_output=True, text=True, check=False)
    assert run.stdout == "done\n", run.stderr
