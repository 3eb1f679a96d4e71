from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, SpaceError, TextBox, Tuple

SPACE = Dict(b={"d": (int, {"x": IntBox(3)}), "c": BoolBox((2,))}, a=float)


def test_dict_is_a_mapping_with_sorted_keys():
    assert isinstance(SPACE, Mapping)
    assert list(SPACE) == ["a", "b"]
    assert list(SPACE["b"]) == ["c", "d"]
    assert (len(SPACE), "a" in SPACE, "c" in SPACE, SPACE.get("z")) == (2, True, False, None)
    assert dict(SPACE.items())["a"] == FloatBox()
    with pytest.raises(KeyError, match="z"):
        SPACE["z"]


def test_tuple_is_a_sequence():
    space = Tuple(float, IntBox(3), float)
    assert isinstance(space, Sequence)
    assert (len(space), space[1], space[-1], space[:2]) == (3, IntBox(3), FloatBox(), (FloatBox(), IntBox(3)))
    assert (space.index(IntBox(3)), space.count(FloatBox())) == (1, 2)
    assert list(space) == [FloatBox(), IntBox(3), FloatBox()]
    assert Tuple([float, int]) == Tuple((float, int)) == Tuple(float, int)
    assert Tuple([[float, int]]) == Tuple(Tuple(float, int))
    assert Tuple([]) == Tuple()


def test_equality_of_containers():
    assert Dict(a=float, b=int) == Dict({"b": int, "a": float})
    different = [
        Dict(a=float),
        Dict(b=float),
        Dict(a=int),
        Dict(a=FloatBox(1.0)),
        Dict(a=float, add_batch_rank=True),
        Tuple(float),
        Dict(),
        Tuple(),
    ]
    assert len(set(different)) == len(different)
    assert Dict(a=float) != {"a": FloatBox()}


def test_keys_named_like_arguments():
    keys = ["self", "mapping", "add_batch_rank", "time_major", "spaces", "type", "ranks"]
    space = Dict({key: IntBox(index + 1) for index, key in enumerate(keys)})
    assert [space[key].num_categories for key in keys] == [1, 2, 3, 4, 5, 6, 7]
    assert space.batch_rank is False
    assert Dict(self=float, mapping=int, spaces=bool)["mapping"] == IntBox()
    assert Dict({"a": float}, b=int) == Dict(a=float, b=int)


def test_flatten():
    assert SPACE.flatten() == {
        "a": FloatBox(),
        "b/c": BoolBox((2,)),
        "b/d/0": IntBox(),
        "b/d/1/x": IntBox(3),
    }
    assert list(SPACE.flatten()) == ["a", "b/c", "b/d/0", "b/d/1/x"]
    # In the order of the structure: 10 comes after 9, not after 1.
    assert list(Tuple([float] * 12).flatten()) == [str(index) for index in range(12)]
    assert FloatBox().flatten() == {"": FloatBox()}
    assert Dict(a={}).flatten() == {}


def test_flatten_and_unflatten_samples():
    sample = {"a": 1.0, "b": {"c": 2, "d": (3, {"x": 4})}}
    flat = {"a": 1.0, "b/c": 2, "b/d/0": 3, "b/d/1/x": 4}
    assert SPACE.flatten_sample(sample) == flat
    assert SPACE.unflatten_sample(dict(reversed(flat.items()))) == sample
    assert SPACE.flatten_sample({"a": 1.0, "b": {"c": 2, "d": [3, {"x": 4}]}}) == flat
    assert Dict(a={}, b=()).unflatten_sample({}) == {"a": {}, "b": ()}
    assert FloatBox().flatten_sample(3.0) == {"": 3.0}


def test_map_leaves():
    assert SPACE.map_leaves(lambda path, leaf: f"{path} {leaf.dtype}") == {
        "a": "a float32",
        "b": {"c": "b/c bool", "d": ("b/d/0 int64", {"x": "b/d/1/x int64"})},
    }
    assert IntBox(3).map_leaves(lambda path, leaf: (path, leaf.high)) == ("", 3)


def test_map_makes_a_space_of_the_same_structure():
    space = Dict(a=IntBox(3), b=(IntBox(2, shape=(4,)),), add_batch_rank=True)
    one_hot = space.map(lambda path, leaf: leaf.as_one_hot_float_space())
    assert one_hot == Dict(a=FloatBox(0.0, 1.0, (3,)), b=(FloatBox(0.0, 1.0, (4, 2)),), add_batch_rank=True)
    assert space.map(lambda path, leaf: {"x": "float"}) == Dict(a={"x": float}, b=({"x": float},))
    assert Dict({"type": int}).map(lambda path, leaf: bool) == Dict({"type": bool})
    assert Dict(add_batch_rank=True).map(lambda path, leaf: int) == Dict(add_batch_rank=True)
    with pytest.raises(SpaceError) as caught:
        space.map(lambda path, leaf: 3 if path == "b/0" else leaf)
    assert str(caught.value).startswith("b/0: expected a Space, ")


def test_lookup_by_path():
    assert SPACE.flat_key_lookup("b/d/1/x") == IntBox(3)
    assert SPACE.flat_key_lookup("b/d") is SPACE["b"]["d"]
    assert SPACE.flat_key_lookup("") is SPACE


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("c", "expected one of the keys ['a', 'b'], given 'c'"),
        ("b/d/2", "b/d: expected one of the keys ['0', '1'], given '2'"),
        ("b/d/1/x/y", "b/d/1/x: expected the end of the path (a leaf has no keys), given 'y'"),
    ],
)
def test_lookup_errors(path, message):
    with pytest.raises(SpaceError) as caught:
        SPACE.flat_key_lookup(path)
    assert str(caught.value) == message


def test_lookup_offers_the_nearest_key():
    with pytest.raises(SpaceError, match="given 'positoin'; did you mean 'position'\\?"):
        Dict(position=float, speed=float).flat_key_lookup("positoin")


def test_fill_values():
    space = Dict(a=FloatBox(shape=(2,)), b=(IntBox(3), TextBox()), add_batch_rank=True)
    filled = space.sample(2, fill_value={"a": 0, "b": (2, "x")})
    assert filled["a"].tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert filled["a"].dtype == np.float32
    assert filled["b"][0].tolist() == [2, 2]
    assert filled["b"][1].tolist() == ["x", "x"]
    assert Tuple(float, int).sample(fill_value=1) == (1.0, 1)
    assert FloatBox(shape=(2,)).sample(2, [1.0, 2.0]).tolist() == [[1.0, 2.0], [1.0, 2.0]]
    # None: that child is drawn, from the generator as always.
    drawn = Dict(a=float, b=int).sample(fill_value={"a": None, "b": 1}, rng=np.random.default_rng(3))
    assert drawn == {"a": FloatBox().sample(rng=np.random.default_rng(3)), "b": 1}


@pytest.mark.parametrize(
    ("space", "value", "message"),
    [
        (
            Dict(a=(IntBox(3),)),
            3,
            "a/0/fill_value: expected int64 values from 0 to 2 (inclusive), given 3 at index ()",
        ),
        (IntBox(3), 1.0, "fill_value: expected int64 values, given 1.0"),
        (BoolBox(), 1, "fill_value: expected bool values, given 1"),
        (
            FloatBox(shape=(2,)),
            [[1.0], [1.0, 2.0]],
            "fill_value: expected float32 values, given [[1.0], [1.0, 2.0]]",
        ),
        (
            FloatBox(shape=(2,)),
            [1.0, 2.0, 3.0],
            "fill_value: expected one value or an array that broadcasts to shape (2,), given shape (3,)",
        ),
        (
            Dict(a={"b": float}),
            {"a": {"c": 1.0}},
            "a/fill_value: expected a dict with the keys ['b'], given missing ['b'], extra ['c']",
        ),
    ],
)
def test_fill_values_outside_of_the_space(space, value, message):
    with pytest.raises(SpaceError) as caught:
        space.sample(fill_value=value)
    assert str(caught.value) == message


def test_shapes_in_order():
    space = SPACE.with_batch_rank()
    assert space.shape == ((), ((2,), ((), ((),))))
    assert space.get_shape(with_batch_rank=True) == ((None,), ((None, 2), ((None,), ((None,),))))
    assert space.rank == (0, (1, (0, (0,))))
    assert space.dtype == ("float32", ("bool", ("int64", ("int64",))))
    assert space.flat_dim == 1 + 2 + 1 + 1
    assert Dict(a=IntBox(4), b=FloatBox(shape=(3,))).flat_dim_with_categories == 4 + 3


def test_samples_have_the_structure():
    sample = Dict(a=float, b=(IntBox(3), TextBox()), add_batch_rank=True).sample(4)
    assert type(sample) is dict
    assert type(sample["b"]) is tuple
    assert sample["a"].shape == sample["b"][0].shape == sample["b"][1].shape == (4,)
    zeros = Dict(a=float, b=(IntBox(3),), add_batch_rank=True).zeros(2)
    assert zeros["a"].tolist() == [0.0, 0.0]
    assert zeros["b"][0].tolist() == [0, 0]


def test_children_draw_from_one_generator_in_order():
    rng = np.random.default_rng(5)
    expected = [FloatBox().sample(rng=rng), IntBox(1000).sample(rng=rng)]
    sample = Dict(b=IntBox(1000), a=float).sample(rng=np.random.default_rng(5))
    assert [sample["a"], sample["b"]] == expected


GOOD = {"a": 1.0, "b": {"c": np.array([True, False]), "d": (3, {"x": 2})}}


def test_contains():
    assert SPACE.contains(GOOD)
    assert SPACE.contains({**GOOD, "b": {**GOOD["b"], "d": [3, {"x": 2}]}})


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        ({**GOOD, "a": 1}, "a: expected float32 of shape (), given int64 of shape ()"),
        (
            {**GOOD, "b": {**GOOD["b"], "d": (3, {"x": 3})}},
            "b/d/1/x: expected int64 values from 0 to 2 (inclusive), given 3 at index ()",
        ),
        ({"a": 1.0}, "sample: expected a dict with the keys ['a', 'b'], given missing ['b'], extra []"),
        (
            {**GOOD, "b": {"c": 1, "d": 2, "e": 3}},
            "b: expected a dict with the keys ['c', 'd'], given missing [], extra ['e']",
        ),
        ({**GOOD, "b": 3}, "b: expected a dict with the keys ['c', 'd'], given a int"),
        ({**GOOD, "b": {**GOOD["b"], "d": (3,)}}, "b/d: expected a tuple of 2, given one of 1"),
        ({**GOOD, "b": {**GOOD["b"], "d": np.zeros(2)}}, "b/d: expected a tuple of 2, given a ndarray"),
    ],
)
def test_explain(sample, message):
    assert SPACE.explain(sample) == message
    assert not SPACE.contains(sample)
    named = message.replace("sample: ", "state: ") if message.startswith("sample") else f"state/{message}"
    assert SPACE.explain(sample, "state") == named


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        ({"a": 1.0}, "expected a dict with the keys ['a', 'b'], given missing ['b'], extra []"),
        (
            {**GOOD, "b": {"c": 1, "d": (1, (2,))}},
            "b/d/1: expected a dict with the keys ['x'], given a tuple",
        ),
        ({**GOOD, "b": {"c": 1, "d": 5}}, "b/d: expected a tuple of 2, given a int"),
    ],
)
def test_flatten_sample_errors(sample, message):
    with pytest.raises(SpaceError) as caught:
        SPACE.flatten_sample(sample)
    assert str(caught.value) == message


def test_unflatten_sample_errors():
    with pytest.raises(SpaceError) as caught:
        Dict(a=float, b=int).unflatten_sample({"a": 1, "c": 2})
    assert str(caught.value) == "expected the paths ['a', 'b'], given missing ['b'], unknown ['c']"
    with pytest.raises(SpaceError) as caught:
        FloatBox().unflatten_sample({"a": 1})
    assert str(caught.value) == "expected the one path '', given ['a']"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Dict({"a/b": float}),
            "expected keys of a Dict to be Python identifiers, given 'a/b'; did you mean 'a_b'?",
        ),
        (lambda: Dict({1: float}), "expected keys of a Dict to be Python identifiers, given 1; did you mean '_1'?"),
        (lambda: Dict(a={"": float}), "a: expected keys of a Dict to be Python identifiers, given ''"),
        (lambda: Dict([float]), "expected a mapping of Space specs, given [<class 'float'>]; give specs by key: Dict(a=float)"),  # noqa: E501
        (lambda: Dict({"a": float}, a=int), "expected each key once, given ['a']"),
        (lambda: Dict(a=(float, FloatBox), b=[{"c": "flaot"}]), None),
    ],
)  # fmt: skip
def test_errors(make, message):
    with pytest.raises(SpaceError) as caught:
        make()
    if message is None:
        assert str(caught.value).startswith("b/0/c: expected a Space name (one of float_box, ")
        assert str(caught.value).endswith(", given 'flaot'; did you mean 'float'?")
    else:
        assert str(caught.value) == message


class TestForceBatch:
    def test_leaves(self):
        batched, added = FloatBox(shape=(2,)).force_batch(np.array([1.0, 2.0], np.float32))
        assert (batched.tolist(), batched.dtype, added) == ([[1.0, 2.0]], np.float32, True)
        same, added = FloatBox(shape=(2,), add_batch_rank=True).force_batch(batched)
        assert same is batched
        assert not added
        array, added = IntBox(3).force_batch(2)
        assert (array.tolist(), array.dtype, added) == ([2], np.int64, True)
        array, _ = FloatBox(shape=(2,)).force_batch([0.5, 1.5])
        assert (array.tolist(), array.dtype) == ([[0.5, 1.5]], np.float32)

    def test_a_wrong_kind_is_not_hidden_by_a_conversion(self):
        array, _ = IntBox(3, shape=(1,)).force_batch([1.5])
        assert array.tolist() == [[1.5]]

    def test_with_a_time_rank(self):
        space = FloatBox(shape=(2,), add_batch_rank=True, add_time_rank=True)
        assert space.force_batch(np.zeros((5, 2)))[0].shape == (1, 5, 2)
        assert space.with_extra_ranks(time_major=True).force_batch(np.zeros((5, 2)))[0].shape == (5, 1, 2)
        assert space.force_batch(np.zeros((3, 5, 2)))[1] is False

    def test_nested_containers_keep_all_elements_and_give_one_flag(self):
        space = Dict(a=float, b=(int, FloatBox(shape=(2,))), c=Tuple())
        single = {"a": 1.0, "b": (2, np.array([3.0, 4.0])), "c": ()}
        batched, added = space.force_batch(single)
        assert added is True
        assert batched["a"].tolist() == [1.0]
        assert [item.tolist() for item in batched["b"]] == [[2], [[3.0, 4.0]]]
        assert batched["c"] == ()
        again, added = space.force_batch(batched)
        assert added is False
        assert [item.tolist() for item in again["b"]] == [[2], [[3.0, 4.0]]]

    @pytest.mark.parametrize(
        ("space", "sample", "message"),
        [
            (
                Dict(a=float, b=float),
                {"a": 1.0, "b": np.zeros(3)},
                "b: expected no batch rank as in 'a', given a batch rank",
            ),
            (
                Dict(a=float, b=(float,)),
                {"a": np.zeros(3), "b": (1.0,)},
                "b/0: expected a batch rank as in 'a', given no batch rank",
            ),
            (
                Dict(a=FloatBox(shape=(2,))),
                {"a": np.zeros(())},
                "a: expected 1 axes, or 2 with a batch rank, given an array of shape ()",
            ),
            (
                FloatBox(),
                np.zeros((1, 1)),
                "expected 0 axes, or 1 with a batch rank, given an array of shape (1, 1)",
            ),
            (
                Dict(a=FloatBox()),
                {"a": [[1.0], [1.0, 2.0]]},
                "a: expected an array, given [[1.0], [1.0, 2.0]]",
            ),
        ],
    )
    def test_errors(self, space, sample, message):
        with pytest.raises(SpaceError) as caught:
            space.force_batch(sample)
        assert str(caught.value) == message


def test_repr_says_the_ranks_once():
    space = Dict(a=float, b=(IntBox(3),), add_batch_rank=True, add_time_rank=4, time_major=True)
    assert repr(space) == (
        "Dict({'a': FloatBox(), 'b': Tuple((IntBox(low=0, high=3),))}, "
        "add_batch_rank=True, add_time_rank=4, time_major=True)"
    )


def test_horizontal_samples_are_separate():
    space = Dict(a=FloatBox(0.0, 1.0), b=Tuple(IntBox(3), bool), add_batch_rank=True)
    samples = space.sample(3, horizontal=True, rng=np.random.default_rng(1))
    assert isinstance(samples, list) and len(samples) == 3
    assert all(space.without_ranks().contains(sample) for sample in samples)
    assert len({float(sample["a"]) for sample in samples}) == 3
    assert IntBox(5).sample(2, 4, horizontal=True) == [4, 4]
    assert len(space.sample(horizontal=True)) == 1
    assert all(map(TextBox().contains, TextBox().sample(2, horizontal=True)))
    with pytest.raises(SpaceError, match=r"size: expected leading dimensions \(None,\), given \(2, 3\)"):
        space.sample((2, 3), horizontal=True)
