import builtins

import numpy as np
import pytest

from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, SpaceError, TextBox
from rlgraph.spaces.gymnasium import from_gymnasium, to_gymnasium

gym_spaces = pytest.importorskip("gymnasium").spaces


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (gym_spaces.Discrete(3), IntBox(3)),
        (gym_spaces.Discrete(3, start=-1), IntBox(-1, 2)),
        (gym_spaces.MultiDiscrete([3, 5]), IntBox([3, 5])),
        (gym_spaces.MultiDiscrete([[3, 3], [3, 3]], dtype=np.int32), IntBox(3, shape=(2, 2), dtype="int32")),
        (gym_spaces.MultiDiscrete([3, 5], start=[-1, 2]), IntBox([-1, 2], [2, 7])),
        (gym_spaces.MultiBinary(4), BoolBox((4,))),
        (gym_spaces.MultiBinary([2, 3]), BoolBox((2, 3))),
        (gym_spaces.Box(-1.0, 1.0, (2,)), FloatBox(-1.0, 1.0, (2,))),
        (gym_spaces.Box(-np.inf, np.inf, (2,), np.float64), FloatBox(shape=(2,), dtype="float64")),
        (gym_spaces.Box(0.1, np.inf, ()), FloatBox(0.1, None)),
        (
            gym_spaces.Box(np.array([0.0, -np.inf]), np.array([np.inf, 2.0]), dtype=np.float64),
            FloatBox([0.0, -np.inf], [np.inf, 2.0], dtype="float64"),
        ),
        (gym_spaces.Box(0, 255, (84, 84, 3), np.uint8), IntBox(256, shape=(84, 84, 3), dtype="uint8")),
        (gym_spaces.Box(-np.inf, np.inf, (2,), np.int32), IntBox(shape=(2,), dtype="int32")),
        (gym_spaces.Box(0, np.inf, (2,), np.int64), IntBox(0, None, shape=(2,))),
        (gym_spaces.Box(0, 2**63 - 1, (2,), np.int64), IntBox(2**63, shape=(2,))),
        (gym_spaces.Text(5, min_length=0, charset="abc"), TextBox(max_length=5, charset="abc")),
        (
            gym_spaces.Dict(b=gym_spaces.Discrete(2), a=gym_spaces.Tuple([gym_spaces.Box(0.0, 1.0, ())])),
            Dict(a=(FloatBox(1.0),), b=IntBox(2)),
        ),
    ],
)
def test_there_and_back(theirs, ours):
    assert from_gymnasium(theirs) == ours
    assert to_gymnasium(ours) == theirs


def test_integer_boxes_become_exclusive():
    box = gym_spaces.Box(np.array([0, -3]), np.array([4, 5]), dtype=np.int64)
    assert from_gymnasium(box) == IntBox([0, -3], [5, 6])
    assert from_gymnasium(gym_spaces.Box(0, 1, (2,), np.bool_)) == BoolBox((2,))


def test_what_gymnasium_can_say_otherwise_only():
    assert to_gymnasium(BoolBox()) == gym_spaces.Discrete(2)
    assert to_gymnasium(BoolBox((0, 2))) == gym_spaces.Box(0, 1, (0, 2), np.bool_)
    assert to_gymnasium(IntBox(dtype="uint8")) == gym_spaces.Box(0, 255, (), np.uint8)
    assert to_gymnasium(IntBox(256, dtype="uint8")) == gym_spaces.Box(0, 255, (), np.uint8)
    assert to_gymnasium(IntBox(3, shape=(0,))) == gym_spaces.Box(-np.inf, np.inf, (0,), np.int64)


class Strange(gym_spaces.Space):
    def __repr__(self):
        return "Strange()"


@pytest.mark.parametrize(
    ("space", "message"),
    [
        (
            gym_spaces.Dict(a=gym_spaces.Tuple([gym_spaces.Discrete(2), Strange()])),
            "a/1: expected a gymnasium space with a counterpart (Box, Discrete, MultiDiscrete, MultiBinary, "
            "Text, Dict and Tuple), given Strange() (a Strange)",
        ),
        (
            gym_spaces.Dict({"a b": gym_spaces.Discrete(2)}),
            "expected keys of a Dict to be Python identifiers, given 'a b'",
        ),
        (
            gym_spaces.Dict(a=gym_spaces.Box(0, 100, (2,), np.int8)),
            "a/dtype: expected one of uint8, int16, int32, int64, given dtype('int8')",
        ),
        (
            gym_spaces.Box(np.array([0, 0]), np.array([1, 2**63 - 1]), dtype=np.int64),
            "high: expected a high below 2**63 - 1 where it differs between elements, "
            "given [1, 9223372036854775807]",
        ),
    ],
)
def test_from_errors(space, message):
    with pytest.raises(SpaceError) as caught:
        from_gymnasium(space)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("space", "message"),
    [
        (
            FloatBox(add_batch_rank=True),
            "expected a Space without batch and time rank, given FloatBox(add_batch_rank=True); "
            "gymnasium has no ranks: use space.without_ranks()",
        ),
        (
            Dict(a=(TextBox(),)),
            "a/0: expected a TextBox of shape () with max_length and charset, given TextBox()",
        ),
    ],
)
def test_to_errors(space, message):
    with pytest.raises(SpaceError) as caught:
        to_gymnasium(space)
    assert str(caught.value) == message


def test_without_gymnasium_the_message_says_what_to_install(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name == "gymnasium":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"pip install 'rlgraph-spaces\[gymnasium\]'"):
        to_gymnasium(FloatBox())


def test_their_samples_are_ours():
    for space in (
        gym_spaces.Dict(a=gym_spaces.Discrete(3), b=gym_spaces.Box(-1.0, np.inf, (2,))),
        gym_spaces.Tuple([gym_spaces.MultiDiscrete([2, 3]), gym_spaces.Text(4)]),
    ):
        space.seed(3)
        ours = from_gymnasium(space)
        for _ in range(20):
            assert ours.explain(space.sample()) is None


def test_translation_of_any_space():
    pytest.importorskip("hypothesis")
    from hypothesis import HealthCheck, assume, given, settings

    from rlgraph.spaces.testing import spaces

    def exact(leaf):
        """Whether a leaf comes back as it went; the others are those gymnasium can only say otherwise."""
        if isinstance(leaf, BoolBox):
            return leaf.shape != ()
        uint8 = isinstance(leaf, IntBox) and leaf.dtype == "uint8"
        return leaf.flat_dim > 0 and not (uint8 and (leaf.low is None or leaf.high is None))

    @settings(max_examples=80, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(spaces(with_ranks=False, text=False))
    def check(space):
        assume(all(exact(leaf) for leaf in space.flatten().values()))
        theirs = to_gymnasium(space)
        assert from_gymnasium(theirs) == space
        theirs.seed(0)
        sample = space.flatten_sample(theirs.sample())
        for path, leaf in space.flatten().items():
            if not isinstance(leaf, BoolBox):  # a MultiBinary draws int8
                assert leaf.explain(sample[path], path) is None

    check()
