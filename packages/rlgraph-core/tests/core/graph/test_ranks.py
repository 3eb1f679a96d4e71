"""Calls of one API method that differ in batch and time ranks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlgraph.core import (
    AssemblyError,
    BuildError,
    Component,
    GraphExecutor,
    assemble,
    build,
    graph_fn,
    rlgraph_api,
)
from rlgraph.core.graph.pipeline import make_plan
from rlgraph.spaces import Dict, FloatBox, SpaceError

SIZE = 3
STEP = FloatBox(shape=(SIZE,), add_batch_rank=True)
BATCH_MAJOR = FloatBox(shape=(SIZE,), add_batch_rank=True, add_time_rank=True)
TIME_MAJOR = FloatBox(shape=(SIZE,), add_batch_rank=True, add_time_rank=True, time_major=True)
CONTAINER = Dict(a=FloatBox(shape=(SIZE,)), b=float, add_batch_rank=True, add_time_rank=True, time_major=True)
X = np.random.default_rng(0).normal(size=(4, 5, SIZE)).astype(np.float32)


class Layer(Component):
    """``x @ weights``, summed over time; keeps what it was built with."""

    def __init__(self, scope="layer", **kwargs):
        self.checked, self.created = [], []
        super().__init__(scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces, action_space=None):
        self.checked.append(dict(input_spaces))

    def create_variables(self, input_spaces, action_space=None):
        self.created.append(dict(input_spaces))
        self.weights = self.get_variable(
            "weights", FloatBox(shape=(*input_spaces["x"].shape, 2)), initializer=1.0
        )

    @rlgraph_api
    def call(self, x, scale=None):
        return self._call(x, scale)

    @graph_fn(space_of="x")
    def _call(self, ops, space, x, scale):
        assert len(x.shape) == 2 + space.has_time_rank
        y = ops.matmul(x, self.weights)
        if space.has_time_rank:
            y = ops.sum(y, axis=0 if space.time_major else 1)
        return y if scale is None else y * scale


class Root(Component):
    """Each argument goes into the layer on its own."""

    def __init__(self, layer, methods):
        super().__init__(layer, scope="root")
        for name, argument in methods.items():
            self.add_member(rlgraph_api(name=name)(_calling(layer, argument)))


def _calling(layer, argument):
    namespace = {}
    exec(f"def method(self, {argument}): return self.layer.call({argument})", namespace)
    return namespace["method"]


def root_of(layer, **arguments):
    root = Root(layer, {f"use_{name}": name for name in arguments})
    root.layer = layer
    return root


def test_steps_and_sequences_share_variables(backend):
    root = root_of(Layer(), a=0, b=0, c=0)
    executor = GraphExecutor(root, {"a": STEP, "b": BATCH_MAJOR, "c": TIME_MAJOR}, backend=backend)
    assert list(executor.get_weights()) == ["layer/weights"]
    expected = X.sum(2, keepdims=True).repeat(2, 2)
    np.testing.assert_allclose(executor.execute("use_a", X[0]), expected[0], rtol=1e-5)
    np.testing.assert_allclose(executor.execute("use_b", X), expected.sum(1), rtol=1e-4)
    np.testing.assert_allclose(executor.execute("use_c", X), expected.sum(0), rtol=1e-4)


def test_every_set_of_spaces_is_checked_and_variables_are_made_of_the_first():
    layer = Layer()
    build(
        assemble(root_of(layer, a=0, b=0, c=0, d=0)),
        {"a": STEP, "b": BATCH_MAJOR, "c": TIME_MAJOR, "d": STEP},
    )
    assert [spaces["x"] for spaces in layer.checked] == [STEP, BATCH_MAJOR, TIME_MAJOR]
    assert [spaces["call.x"] for spaces in layer.checked] == [STEP, BATCH_MAJOR, TIME_MAJOR]
    assert [spaces["x"] for spaces in layer.created] == [STEP]


def test_a_set_has_the_arguments_of_its_call_and_variables_know_all():
    layer = Layer()

    class Both(Component):
        @rlgraph_api
        def run(self, x, y, scale):
            return layer.call(x), layer.call(y, scale)

    scale = FloatBox()
    build(assemble(Both(layer, scope="both")), {"x": BATCH_MAJOR, "y": STEP, "scale": scale})
    assert [set(spaces) for spaces in layer.checked] == [
        {"x", "call.x"},
        {"x", "call.x", "scale", "call.scale"},
    ]
    (created,) = layer.created
    assert (created["x"], created["scale"]) == (BATCH_MAJOR, scale)


def test_a_second_method_keeps_its_space_in_every_set():
    class Two(Layer):
        @rlgraph_api
        @graph_fn
        def other(self, ops, x, z):
            return x + z

    layer = Two()

    class Both(Component):
        @rlgraph_api
        def run(self, x, y):
            return layer.call(x), layer.call(y), layer.other(y, y)

    build(assemble(Both(layer, scope="both")), {"x": STEP, "y": TIME_MAJOR})
    assert [(s["x"], s["call.x"], s["other.x"], s["z"]) for s in layer.checked] == [
        (STEP, STEP, TIME_MAJOR, TIME_MAJOR),
        (TIME_MAJOR, TIME_MAJOR, TIME_MAJOR, TIME_MAJOR),
    ]


RANKS = st.tuples(
    st.sampled_from([True, 4, "demo"]),
    st.sampled_from([False, True, 5]),
    st.booleans(),
    st.sampled_from([(3,), (2,)]),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(RANKS, min_size=2, max_size=4))
def test_any_ranks_go_together_and_other_shapes_do_not(several):
    boxes = [
        FloatBox(shape=shape, add_batch_rank=batch, add_time_rank=time, time_major=bool(time and major))
        for batch, time, major, shape in several
    ]
    seen = []

    class Look(Component):
        def check_input_spaces(self, input_spaces, action_space=None):
            pass

        @rlgraph_api
        def call(self, x):
            return self._call(x)

        @graph_fn(space_of="x")
        def _call(self, ops, space, x):
            seen.append((space.shape, space.has_time_rank, bool(space.time_major)))
            return x + 1.0

    names = [f"x{i}" for i in range(len(boxes))]
    root = root_of(Look(scope="look"), **dict.fromkeys(names, 0))
    root.layer = root.sub_components["look"]
    attempt = lambda: build(assemble(root), dict(zip(names, boxes, strict=True)))  # noqa: E731
    if len({box.shape for box in boxes}) > 1:
        with pytest.raises(BuildError, match="two different Spaces"):
            attempt()
    else:
        attempt()
        assert {(box.shape, box.has_time_rank, bool(box.time_major)) for box in boxes} == set(seen)


def test_what_is_made_for_one_set_of_ranks_says_so():
    class Strict(Layer):
        ranks_may_differ = False

    spaces = {"a": BATCH_MAJOR, "b": TIME_MAJOR}
    with pytest.raises(BuildError) as error:
        build(assemble(root_of(Strict(), a=0, b=0)), spaces)
    assert str(error.value) == (
        "layer.call is called with different batch and time ranks for 'x': float32[B, T, 3] and float32[T, B, 3] "
        "(by root.use_a and root.use_b). A Strict is made for the ranks of one: give each caller one of its own"
    )
    build(assemble(root_of(Strict(), a=0, b=0)), {"a": STEP, "b": FloatBox(shape=(3,), add_batch_rank=8)})


def test_a_set_that_does_not_fit_is_refused_with_its_place():
    class OneStep(Layer):
        def check_input_spaces(self, input_spaces, action_space=None):
            if input_spaces["x"].has_time_rank:
                raise SpaceError("x: expected no time rank")

    with pytest.raises(SpaceError, match="layer: x: expected no time rank"):
        build(assemble(root_of(OneStep(), a=0, b=0)), {"a": STEP, "b": TIME_MAJOR})


def test_split_calls_get_the_space_of_their_leaf_and_equal_calls_are_one():
    seen = []

    class Split(Component):
        @rlgraph_api
        def call(self, x):
            return self._call(x), self._call(x)

        @graph_fn(flatten_ops=True, split_ops=True, add_auto_key_as_first_param=True, space_of="x")
        def _call(self, ops, key, space, x):
            seen.append((key, space))
            return x + 1.0

    built = build(assemble(Split(scope="split")), {"x": CONTAINER})
    assert seen == [("a", TIME_MAJOR), ("b", CONTAINER["b"])]
    plan = make_plan(built, "call")
    assert len(plan.nodes) == 2


def test_flat_and_whole_containers_come_with_their_space():
    class Flat(Component):
        @rlgraph_api
        def call(self, x):
            return self._flat(x), self._whole(x)

        @graph_fn(flatten_ops=True, space_of="x")
        def _flat(self, ops, space, x):
            assert space == CONTAINER and list(x) == ["a", "b"]
            return x["a"]

        @graph_fn(space_of="x")
        def _whole(self, ops, space, x):
            assert space == CONTAINER and list(x) == ["a", "b"]
            return x["b"]

    executor = GraphExecutor(Flat(scope="flat"), {"x": CONTAINER}, backend="numpy")
    outputs = executor.execute("call", {"a": X, "b": X[..., 0]})
    np.testing.assert_array_equal(outputs[1], X[..., 0])


def test_the_order_of_axes_of_a_host_function_is_known_to_what_it_goes_to():
    class Source(Component):
        @rlgraph_api
        @graph_fn(host=True, spaces=TIME_MAJOR)
        def get(self):
            return X

    layer, source = Layer(), Source(scope="source")

    class Root(Component):
        @rlgraph_api
        def run(self):
            return layer.call(source.get())

    executor = GraphExecutor(Root(layer, source, scope="root"), {}, backend="numpy")
    assert layer.checked == [{"x": TIME_MAJOR, "call.x": TIME_MAJOR}]
    np.testing.assert_allclose(executor.execute("run")[:, 0], X.sum((0, 2)), rtol=1e-4)


def test_a_host_function_can_ask_for_a_space():
    class Host(Component):
        @rlgraph_api
        def call(self, x):
            return self._call(x)

        @graph_fn(host=True, spaces=lambda self, space, x: x, space_of="x")
        def _call(self, space, x):
            return x.sum(0 if space.time_major else 1, keepdims=True) + 0.0 * x

    executor = GraphExecutor(Host(scope="host"), {"x": TIME_MAJOR}, backend="numpy")
    np.testing.assert_allclose(executor.execute("call", X)[0], X.sum(0), rtol=1e-5)


def test_a_space_that_is_none_and_a_wrong_name():
    class Turned(Component):
        @rlgraph_api
        def call(self, x):
            return self._turn(x)

        @graph_fn(space_of="x")
        def _turn(self, ops, space, x):
            return x

        @rlgraph_api
        def again(self, x):
            return self._turn(self._transpose(x))

        @graph_fn
        def _transpose(self, ops, x):
            return ops.moveaxis(x, 0, 2)

    with pytest.raises(BuildError, match="the Space of 'x' is asked for: .*only the two leading sizes"):
        build(assemble(Turned(scope="turned")), {"x": FloatBox(shape=(2, 3), add_batch_rank=True)})
    with pytest.raises(AssemblyError, match="space_of='y' needs an argument of that name.*Known: x"):

        @graph_fn(space_of="y")
        def _wrong(self, ops, space, x):
            return x

    with pytest.raises(AssemblyError, match="space_of='x' needs an argument of that name"):

        @graph_fn(space_of="x")
        def _no_room(self, ops, x):
            return x
