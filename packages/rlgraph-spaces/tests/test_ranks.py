import numpy as np
import pytest

from rlgraph.spaces import Dict, FloatBox, IntBox, SpaceError, Tuple


def test_defaults():
    space = FloatBox()
    assert (space.batch_rank, space.time_rank, space.time_major) == (False, False, False)
    assert (space.has_batch_rank, space.has_time_rank) == (False, False)


def test_only_a_time_rank_is_time_major_and_none_is_not():
    assert FloatBox(add_time_rank=True).time_major is True
    assert FloatBox(add_batch_rank=True, time_major=True).time_major is False
    assert FloatBox(add_batch_rank=True, time_major=True) == FloatBox(add_batch_rank=True)


@pytest.mark.parametrize(
    ("ranks", "shape"),
    [
        ({}, (2,)),
        ({"add_batch_rank": True}, (None, 2)),
        ({"add_batch_rank": "demo"}, (None, 2)),
        ({"add_batch_rank": 1}, (1, 2)),
        ({"add_time_rank": 4}, (4, 2)),
        ({"add_batch_rank": True, "add_time_rank": 4}, (None, 4, 2)),
        ({"add_batch_rank": True, "add_time_rank": 4, "time_major": True}, (4, None, 2)),
    ],
)
def test_get_shape(ranks, shape):
    space = FloatBox(shape=(2,), **ranks)
    assert space.get_shape(with_batch_rank=True, with_time_rank=True) == shape
    assert space.get_shape() == space.shape == (2,)


def test_get_shape_with_one_of_two_ranks():
    space = FloatBox(shape=(2,), add_batch_rank=3, add_time_rank=4)
    assert space.get_shape(with_batch_rank=True) == (3, 2)
    assert space.get_shape(with_time_rank=True) == (4, 2)


def test_get_shape_in_the_order_that_is_asked_for():
    space = FloatBox(shape=(2,), add_batch_rank=True, add_time_rank=4)
    assert space.get_shape(True, True, time_major=True) == (4, None, 2)
    major = space.with_extra_ranks(True, 4, time_major=True)
    assert major.get_shape(True, True, time_major=False) == (None, 4, 2)
    assert major.get_shape(True, False, time_major=False) == (None, 2)
    assert Dict(a=space).get_shape(True, True, time_major=True) == ((4, None, 2),)


def test_a_number_stands_for_a_rank():
    space = FloatBox(shape=(2,), add_batch_rank=True, add_time_rank=4)
    assert space.get_shape(with_batch_rank=-1) == (-1, 2)
    assert space.get_shape(-1, np.int64(7), time_major=True) == (7, -1, 2)
    assert Dict(a=space.without_ranks(), b=float).get_shape(with_batch_rank=-1) == ((2,), ())
    with pytest.raises(SpaceError, match="with_time_rank: expected a bool, or a number .*, given 'all'"):
        space.get_shape(with_time_rank="all")


def test_a_fixed_rank_of_one_is_not_an_unknown_one():
    one, unknown = FloatBox(add_batch_rank=1), FloatBox(add_batch_rank=True)
    assert one != unknown
    assert unknown.with_batch_rank(1) == one
    assert type(one.batch_rank) is int
    assert len({one, unknown, FloatBox(add_batch_rank="demo")}) == 3


def test_with_ranks():
    space = FloatBox(0.0, [1.0, 2.0])
    assert space.with_batch_rank() == FloatBox(0.0, [1.0, 2.0], add_batch_rank=True)
    assert space.with_time_rank(5) == FloatBox(0.0, [1.0, 2.0], add_time_rank=5)
    both = space.with_extra_ranks()
    assert both == FloatBox(0.0, [1.0, 2.0], add_batch_rank=True, add_time_rank=True)
    assert both.with_extra_ranks(time_major=True).time_major is True
    assert both.with_extra_ranks(time_major=True).with_batch_rank(3).time_major is True
    assert both.with_batch_rank(False) == space.with_time_rank()
    assert both.without_ranks() == space


def test_unchanged_is_the_same_object():
    for space in (FloatBox(add_batch_rank=True), Dict(a=float, add_batch_rank=True)):
        assert space.with_batch_rank() is space
        assert space.with_extra_ranks(True, False) is space
        assert space.with_batch_rank(1) is not space


@pytest.mark.parametrize(
    ("ranks", "size", "dims"),
    [
        ((False, False), None, ()),
        ((False, False), 3, (3,)),
        ((False, False), (3, 4), (3, 4)),
        ((True, False), None, (1,)),
        ((True, False), 3, (3,)),
        ((True, False), np.int64(3), (3,)),
        ((True, False), 0, (0,)),
        ((True, False), (3,), (3,)),
        ((5, False), None, (5,)),
        ((5, False), 5, (5,)),
        ((True, True), None, (1, 1)),
        ((True, True), 3, (3, 1)),
        ((True, True), (3, 4), (3, 4)),
        ((True, 7), 3, (3, 7)),
        ((5, True), 3, (5, 3)),
        ((5, 7), None, (5, 7)),
    ],
)
def test_sizes(ranks, size, dims):
    space = IntBox(9, shape=(2,)).with_extra_ranks(*ranks)
    assert space.sample(size).shape == space.zeros(size).shape == (*dims, 2)
    container = Dict(a=space, b=(space,))
    assert container.sample(size)["b"][0].shape == (*dims, 2)
    if all(ranks):
        order = size[::-1] if isinstance(size, tuple) else size
        major = space.with_extra_ranks(*ranks, time_major=True)
        assert major.sample(order).shape == (*dims[::-1], 2)


@pytest.mark.parametrize(
    ("ranks", "size", "message"),
    [
        ((True, False), (3, 4), "size: expected leading dimensions (None,), given (3, 4)"),
        ((True, 7), (3, 4), "size: expected leading dimensions (None, 7), given (3, 4)"),
        ((5, 7), 3, "size: expected leading dimensions (5, 7), given 3"),
        ((True, False), -1, "size: expected sizes of 0 or more, given -1"),
        ((True, False), True, "size: expected None, an int or a tuple of ints, given True"),
        ((True, False), "a", "size: expected None, an int or a tuple of ints, given 'a'"),
    ],
)
def test_sizes_that_do_not_fit(ranks, size, message):
    for space in (FloatBox(), Dict(), Tuple(float)):
        for method in ("sample", "zeros"):
            with pytest.raises(SpaceError) as caught:
                getattr(space.with_extra_ranks(*ranks), method)(size)
            assert str(caught.value) == message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"add_batch_rank": 0},
            "add_batch_rank: expected False, True, a size of 1 or more, or a name (an identifier), given 0",
        ),
        (
            {"add_time_rank": None},
            "add_time_rank: expected False, True, a size of 1 or more, or a name (an identifier), given None",
        ),
        (
            {"add_time_rank": "a b"},
            "add_time_rank: expected False, True, a size of 1 or more, or a name (an identifier), "
            "given 'a b'",
        ),
        ({"time_major": 1}, "time_major: expected a bool, given 1"),
    ],
)
def test_invalid_ranks(options, message):
    for cls in (FloatBox, IntBox, Dict, Tuple):
        with pytest.raises(SpaceError) as caught:
            cls(**options)
        assert str(caught.value) == message


def test_containers_give_their_ranks_to_all_children():
    space = Dict(a=float, b=(int, {"c": bool}), add_batch_rank=True, add_time_rank=5, time_major=True)
    for leaf in space.flatten().values():
        assert leaf.get_shape(True, True) == (5, None)
    assert space["b"].batch_rank is True


def test_a_container_has_the_ranks_that_its_children_have():
    space = Dict(a=FloatBox(add_batch_rank=True), b=float)
    assert space.batch_rank is True
    assert space["b"] == FloatBox(add_batch_rank=True)
    both = FloatBox(add_batch_rank=True, add_time_rank=True, time_major=True)
    assert Tuple(both, int)[1] == IntBox(add_batch_rank=True, add_time_rank=True, time_major=True)
    # A child with a time rank alone has no order of axes to insist upon.
    assert Dict(a=FloatBox(add_time_rank=True), add_batch_rank=True).time_major is False
    assert Dict(a=FloatBox(add_batch_rank=True), add_time_rank=True, time_major=True).time_major is True


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Dict(a=FloatBox(add_batch_rank=True), b=FloatBox(add_batch_rank=3)),
            "b: expected add_batch_rank=True as 'a' has, given 3",
        ),
        (
            lambda: Dict(a=FloatBox(add_batch_rank=True), b=FloatBox(add_batch_rank=1)),
            "b: expected add_batch_rank=True as 'a' has, given 1",
        ),
        (
            lambda: Dict(a=FloatBox(add_time_rank=True), add_time_rank="demo"),
            "a: expected add_time_rank='demo' as the container has, given True",
        ),
        (
            lambda: Tuple(float, {"x": (FloatBox(add_batch_rank=2), FloatBox(add_batch_rank=3))}),
            "1/x/1: expected add_batch_rank=2 as '0' has, given 3",
        ),
        (
            lambda: Tuple(FloatBox().with_extra_ranks(), FloatBox().with_extra_ranks(time_major=True)),
            "1: expected time_major=False as '0' has, given True",
        ),
        (
            lambda: Dict(a=FloatBox().with_extra_ranks(), time_major=True),
            "a: expected time_major=True as the container has, given False",
        ),
    ],
)
def test_differing_ranks(make, message):
    with pytest.raises(SpaceError) as caught:
        make()
    assert str(caught.value) == message
