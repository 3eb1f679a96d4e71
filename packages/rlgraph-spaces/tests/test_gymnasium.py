import builtins

import numpy as np
import pytest

from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, Space, SpaceError, TextBox, from_spec
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


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (gym_spaces.Box(-3, 100, (2,), np.int8), IntBox(-3, 101, (2,), "int16")),
        (gym_spaces.Box(-np.inf, np.inf, (2,), np.int8), IntBox(-128, 128, (2,), "int16")),
        (gym_spaces.Box(0, 2**16 - 1, (), np.uint16), IntBox(2**16, dtype="int32")),
        (gym_spaces.Box(0, 2**32 - 1, (1,), np.uint32), IntBox(2**32, shape=(1,))),
        (
            gym_spaces.Box(np.uint64([0, 1]), np.uint64([5, 2**62]), dtype=np.uint64),
            IntBox([0, 1], [6, 2**62 + 1]),
        ),
        (gym_spaces.MultiDiscrete([3, 5], dtype=np.int8), IntBox([3, 5], dtype="int16")),
    ],
)
def test_integers_of_other_dtypes_are_held_by_a_wider_one(theirs, ours):
    assert from_gymnasium(theirs) == ours
    theirs.seed(0)
    assert all(ours.explain(theirs.sample()) is None for _ in range(20))


def test_specs_are_translated_too():
    assert to_gymnasium({"a": float, "b": IntBox(3)}) == to_gymnasium(Dict(a=float, b=IntBox(3)))


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
            "Text, Dict and Tuple), given Strange() (a Strange); wrap the environment and give one of these",
        ),
        (
            gym_spaces.Sequence(gym_spaces.Discrete(2)),
            "expected a gymnasium space with a counterpart (Box, Discrete, MultiDiscrete, MultiBinary, "
            "Text, Dict and Tuple), given Sequence(Discrete(2), stack=False) (a Sequence); "
            "its length differs from value to value: wrap the environment and pad to a Box",
        ),
        (
            gym_spaces.Tuple([gym_spaces.Graph(gym_spaces.Discrete(2), None)]),
            "0: expected a gymnasium space with a counterpart (Box, Discrete, MultiDiscrete, MultiBinary, "
            "Text, Dict and Tuple), given Graph(Discrete(2), None) (a Graph); its shape differs from value "
            "to value: wrap the environment and give a Dict of padded Boxes",
        ),
        (
            gym_spaces.OneOf([gym_spaces.Discrete(2)]),
            "expected a gymnasium space with a counterpart (Box, Discrete, MultiDiscrete, MultiBinary, "
            "Text, Dict and Tuple), given OneOf(Discrete(2)) (a OneOf); its structure differs from value to "
            "value: wrap the environment and give a Dict of all alternatives and a Discrete that selects one",
        ),
        (
            gym_spaces.Dict({"a b": gym_spaces.Discrete(2)}),
            "expected keys of a Dict to be Python identifiers, given 'a b'; did you mean 'a_b'?",
        ),
        (
            gym_spaces.Dict(a=gym_spaces.Box(0, 2**64 - 1, (2,), np.uint64)),
            f"a/high: expected numbers from {-(2**63) + 1} to {2**63} for int64, given {2**64}",
        ),
        pytest.param(
            gym_spaces.Box(0, 1, (2,), np.longdouble),
            f"dtype: expected one of float16, float32, float64, given {np.dtype(np.longdouble)!r}",
            marks=pytest.mark.skipif(np.dtype(np.longdouble).itemsize == 8, reason="it is a float64 here"),
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


def test_a_space_of_the_old_gym():
    old = type("Box", (), {"__module__": "gym.spaces.box"})()
    with pytest.raises(
        SpaceError, match=r"expected a gymnasium space.*; take it from gymnasium\.spaces, not from the old"
    ):
        from_gymnasium(old)


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
            "a/0: expected a TextBox of shape () with max_length and charset, given TextBox(); "
            "gymnasium's Text is one string: give max_length and charset, and a Tuple for several",
        ),
    ],
)
def test_to_errors(space, message):
    with pytest.raises(SpaceError) as caught:
        to_gymnasium(space)
    assert str(caught.value) == message


def test_a_gymnasium_space_is_a_spec():
    theirs = gym_spaces.Dict(
        a=gym_spaces.Discrete(3, start=2), b=gym_spaces.Tuple([gym_spaces.MultiBinary(2)])
    )
    ours = Dict(a=IntBox(2, 5), b=(BoolBox(2),))
    assert from_spec(theirs) == Space.from_spec(theirs) == ours
    assert from_spec({"deep": {"er": theirs}, "type": gym_spaces.Discrete(2)}) == Dict(
        {"deep": {"er": ours}, "type": IntBox(2)}
    )
    assert to_gymnasium(theirs) == theirs
    with pytest.raises(SpaceError, match="^deep/0: expected a gymnasium space with a counterpart"):
        from_spec({"deep": (gym_spaces.Sequence(gym_spaces.Discrete(2)),)})


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
    from hypothesis import HealthCheck, given, settings

    from rlgraph.spaces.testing import spaces

    def exact(leaf):
        """Whether a leaf comes back as it went; the others are those gymnasium can only say otherwise."""
        if isinstance(leaf, BoolBox):
            return leaf.shape != ()
        if isinstance(leaf, TextBox):
            return leaf.shape == () and leaf.max_length is not None and leaf.charset is not None
        uint8 = isinstance(leaf, IntBox) and leaf.dtype == "uint8"
        return leaf.flat_dim > 0 and not (uint8 and (leaf.low is None or leaf.high is None))

    @settings(max_examples=80, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(spaces(batch_ranks=[False], time_ranks=[False]))
    def check(space):
        space = space.map(lambda path, leaf: leaf if exact(leaf) else float)
        theirs = to_gymnasium(space)
        assert from_gymnasium(theirs) == space
        theirs.seed(0)
        sample = space.flatten_sample(theirs.sample())
        for path, leaf in space.flatten().items():
            if not isinstance(leaf, BoolBox):  # a MultiBinary draws int8
                assert leaf.explain(sample[path], path) is None

    check()
