"""Sizes of ranks that a Space fixes, and sizes that graph functions ask for."""

import copy
import pickle

import pytest

from rlgraph.core import BuildError, Component, assemble, build, graph_fn, loop, rlgraph_api
from rlgraph.core.functional import sequences
from rlgraph.core.graph.values import space_of
from rlgraph.core.ops import TensorSpec
from rlgraph.core.ops.dims import RankSize
from rlgraph.spaces import Dict, FloatBox


@pytest.mark.parametrize(
    "ranks",
    [
        {"add_batch_rank": 5},
        {"add_batch_rank": 1},
        {"add_batch_rank": 5, "add_time_rank": 7},
        {"add_batch_rank": 5, "add_time_rank": 7, "time_major": True},
        {"add_batch_rank": True, "add_time_rank": 7},
        {"add_batch_rank": 5, "add_time_rank": True},
        {"add_batch_rank": 5, "add_time_rank": True, "time_major": True},
        {},
    ],
)
def test_ranks_survive(ranks):
    space = FloatBox(shape=(3, 4), **ranks)
    assert TensorSpec.from_space(space).to_space() == space


def test_a_rank_size_is_an_integer():
    size = RankSize(5, "time")
    assert (size, repr(size), size + 1, size * 2) == (5, "5", 6, 10)
    assert hash(size) == hash(5)
    for twin in (copy.deepcopy(size), pickle.loads(pickle.dumps(size))):
        assert (twin, twin.rank) == (5, "time")


class Inner(Component):
    def create_variables(self, input_spaces, action_space=None):
        self.seen = input_spaces["x"]

    @rlgraph_api
    def call(self, x):
        return x


def seen(function, space):
    """The Space that a component behind a graph function is given."""
    inner = Inner(scope="inner")
    members = {"run": rlgraph_api(lambda self, x: inner.call(self._f(x))), "_f": graph_fn(function)}
    build(assemble(type("Root", (Component,), members)(inner, scope="root")), {"x": space})
    return inner.seen


@pytest.mark.parametrize("size", [5, 1])
@pytest.mark.parametrize(
    "function",
    [
        lambda self, ops, x: x * 2.0,
        lambda self, ops, x: 1.0 - x,
        lambda self, ops, x: x[:, :3] + x[0],
        lambda self, ops, x: x + ops.zeros((1, 3)),
        lambda self, ops, x: ops.concat([ops.mean(x, axis=-1, keepdims=True)] * 3, axis=-1),
        lambda self, ops, x: ops.reshape(x, (ops.shape(x)[0], 3)),
        lambda self, ops, x: ops.matmul(x, ops.zeros((3, 3))),
        lambda self, ops, x: ops.where(x > 0.0, x, 0.0 * x),
    ],
)
def test_a_fixed_batch_size_reaches_components_behind_graph_functions(function, size):
    space = FloatBox(shape=(3,), add_batch_rank=size)
    assert seen(function, space) == space


def rollout(time, batch=4, shape=(3,)):
    return FloatBox(shape=shape, add_batch_rank=batch, add_time_rank=time, time_major=True)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda self, ops, x: x[1:], rollout(5)),
        (lambda self, ops, x: x[::2], rollout(3)),
        (lambda self, ops, x: ops.reshape(x, (-1, 3)), FloatBox(shape=(3,), add_batch_rank=24)),
        # Time is cut into 2 parts, which are put side by side, and joined again.
        (lambda self, ops, x: sequences.parts_side_by_side(ops, x, 2), rollout(3, 8)),
        (
            lambda self, ops, x: sequences.parts_in_a_row(
                ops, sequences.parts_side_by_side(ops, x, 2), 2, ops.shape(x)[0]
            ),
            rollout(6),
        ),
        (lambda self, ops, x: ops.reshape(x, (6, 4, -1)), FloatBox(shape=(6, 4, 3))),
    ],
)
def test_ranks_of_fixed_sizes_are_kept(function, expected):
    assert seen(function, rollout(6)) == expected


def test_what_a_loop_collects_of_a_fixed_batch_has_a_time_rank():
    inner = Inner(scope="inner")

    class Root(Component):
        @rlgraph_api
        def run(self, x):
            _, collected = loop(7, lambda i, x: (self.next_of(x), self.next_of(x)), x, collect=True)
            return inner.call(collected)

        @graph_fn
        def next_of(self, ops, x):
            return x + 1.0

    build(assemble(Root(inner, scope="root")), {"x": FloatBox(shape=(3,), add_batch_rank=4)})
    assert inner.seen == rollout(7)


def test_parts_of_a_container_may_have_other_fixed_sizes():
    inner = Inner(scope="inner")

    class Root(Component):
        @rlgraph_api
        def run(self, x):
            return inner.call({"all": x, "some": self.some(x)})

        @graph_fn
        def some(self, ops, x):
            return x[::3]

    build(assemble(Root(inner, scope="root")), {"x": rollout(6)})
    assert inner.seen == Dict(all=rollout(True), some=rollout(True))


@pytest.mark.parametrize("batch", [4, 1])
def test_time_folded_into_a_batch_of_any_size_is_a_batch(batch):
    folded = seen(lambda self, ops, x: ops.reshape(x, (-1, 3)), rollout(6, batch))
    assert folded == FloatBox(shape=(3,), add_batch_rank=6 * batch)


@pytest.mark.parametrize("size", [2, 1])
def test_a_fixed_size_beside_an_unknown_one_is_unknown(size):
    one, other = (
        TensorSpec((RankSize(size), 3), "float32"),
        TensorSpec.from_space(FloatBox(add_batch_rank=True)),
    )
    assert space_of({"a": one, "b": other}) == Dict(a=FloatBox(shape=(3,)), b=float).with_batch_rank()


def test_what_is_no_rank_becomes_none():
    assert seen(lambda self, ops, x: x[0], FloatBox(shape=(5,), add_batch_rank=5)) == FloatBox(shape=(5,))
    assert seen(lambda self, ops, x: x + 1.0, FloatBox(shape=(5, 3))) == FloatBox(shape=(5, 3))
    # A rank that came to stand behind another size is a size like any other.
    behind = seen(lambda self, ops, x: ops.expand_dims(x, 0), FloatBox(shape=(3,), add_batch_rank=5))
    assert behind == FloatBox(shape=(1, 5, 3))


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (lambda self, ops, x: x if ops.shape(x)[0] == 1 else -x, "B is not known .*whether it is 1 cannot"),
        (lambda self, ops, x: x if ops.shape(x)[0] != 1 else -x, "whether it is 1"),
        (lambda self, ops, x: x if 2 * ops.shape(x)[0] + 1 == 3 else -x, r"2\*B \+ 1 is not known"),
        (lambda self, ops, x: x if ops.shape(x)[0] // 2 == 3 else -x, "B//2 is not known"),
        (lambda self, ops, x: x if 2 * ops.shape(x)[0] // 2 == 3 else -x, "the size B is not known"),
        (lambda self, ops, x: x if ops.shape(x)[0] > 3 else -x, "the size B is not known"),
        (lambda self, ops, x: x if ops.shape(x)[0] == ops.shape(x[1:])[0] else -x, "whether it is B - 1"),
        (lambda self, ops, x: x if ops.shape(x)[0] else -x, "cannot decide a Python `if`"),
        (lambda self, ops, x: x if ops.shape(x)[0] in (1, 2) else -x, "whether it is 1"),
    ],
)
def test_an_unknown_size_decides_nothing(function, what):
    with pytest.raises(BuildError, match=f"TypeError: .*{what}"):
        seen(function, FloatBox(shape=(3,), add_batch_rank=True))


@pytest.mark.parametrize(
    "function",
    [
        lambda self, ops, x: x if ops.shape(x)[1] == 3 else ops.sum(x),
        lambda self, ops, x: x if ops.shape(x)[0] == ops.shape(x * 2.0)[0] else ops.sum(x),
        lambda self, ops, x: ops.zeros((ops.shape(x)[0], 3)) + x,
        lambda self, ops, x: ops.reshape(ops.reshape(x, (ops.shape(x)[0] * 3,)), ops.shape(x)),
        lambda self, ops, x: x if ops.shape(x) == ops.shape(-x) else ops.sum(x),
    ],
)
def test_what_can_be_said_of_sizes(function):
    space = FloatBox(shape=(3,), add_batch_rank=True)
    assert seen(function, space) == space
