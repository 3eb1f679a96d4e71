"""Components that are fed with what comes of their own outputs: created of the Spaces that they read, checked later."""

from typing import ClassVar

import numpy as np
import pytest

from rlgraph.core import BuildError, Component, GraphExecutor, assemble, build, graph_fn, loop, rlgraph_api
from rlgraph.spaces import FloatBox, SpaceError

STATES = FloatBox(shape=(3,), add_batch_rank=True)
SERIES = FloatBox(shape=(3,), add_batch_rank=True, add_time_rank=True)


class Layer(Component):
    """``x [B, N] -> [B, units]``; remembers who was created when."""

    order: ClassVar[list[str]] = []

    def __init__(self, units=3, scope="layer"):
        super().__init__(scope=scope)
        self.units = units

    def create_variables(self, input_spaces, action_space=None):
        shape = (input_spaces["x"].shape[0], self.units)
        self.weights = self.get_variable("weights", FloatBox(shape=shape), initializer=0.5)
        self.order.append(self.scope)

    @rlgraph_api
    def call(self, x, offset=None):
        return self._call(x) if offset is None else self._add(self._call(x), offset)

    @rlgraph_api
    def again(self, x):
        return self._call(x)

    @graph_fn
    def _call(self, ops, x):
        return ops.matmul(x, self.weights)

    @graph_fn
    def _add(self, ops, x, y):
        return x + y


@pytest.fixture(autouse=True)
def order():
    Layer.order.clear()
    return Layer.order


def root(run, *components, **members):
    kind = type("Root", (Component,), {"run": rlgraph_api(run), **members})
    return kind(*components, scope="root")


def built(run, *components, **spaces):
    return build(assemble(root(run, *components)), spaces)


def test_a_component_behind_its_own_output(backend):
    class Seeing(Layer):
        def create_variables(self, input_spaces, action_space=None):
            super().create_variables(input_spaces, action_space)
            self.seen = dict(input_spaces)

    layer = Seeing()
    made = GraphExecutor(
        root(lambda self, x: layer.call(layer.call(x)), layer), {"x": STATES}, backend=backend
    )
    x = np.array([[1.0, 2.0, 3.0]], np.float32)
    np.testing.assert_allclose(made.execute("run", x), [[4.5, 4.5, 4.5]])
    assert layer.seen == {"x": STATES, "call.x": STATES}


def test_a_component_in_the_body_of_a_loop_that_starts_with_its_output(backend):
    layer = Layer(1)

    def run(self, x):
        first = layer.call(x)
        return loop(2, lambda i, y: self._mean(layer.call(self._shift(x, y)), y), first)

    @graph_fn
    def _shift(self, ops, x, y):
        return x + y

    @graph_fn
    def _mean(self, ops, x, y):
        return 0.5 * (x + y)

    made = GraphExecutor(root(run, layer, _shift=_shift, _mean=_mean), {"x": STATES}, backend=backend)
    x = np.array([[1.0, 2.0, 3.0]], np.float32)
    expected = 0.5 * x.sum()
    for _ in range(2):
        expected = 0.5 * (0.5 * (x + expected).sum() + expected)
    np.testing.assert_allclose(made.execute("run", x), [[expected]])


def test_what_comes_first_in_the_program_is_created_first_and_nothing_without_need(order):
    one, two, three, behind = (Layer(scope=scope) for scope in ("one", "two", "three", "behind"))

    def run(self, x):
        second = two.call(one.call(x))
        one.call(behind.call(second))
        two.call(three.call(x))
        return two.call(second)

    built(run, behind, two, one, three, x=STATES)
    assert order == ["three", "one", "two", "behind"]


def test_a_later_call_with_another_space_is_refused():
    one, two = Layer(scope="one"), Layer(2, scope="two")

    class Root(Component):
        @rlgraph_api
        def run(self, x):
            return one.call(self.inner(x))

        @rlgraph_api
        def inner(self, x):
            return two.call(one.call(x))

    with pytest.raises(BuildError) as error:
        build(assemble(Root(one, two, scope="root")), {"x": STATES})
    assert str(error.value) == (
        "one.call is called with two different Spaces for 'x': float32[B, 3] and float32[B, 2] (by root.inner and "
        "root.run)"
    )
    assert error.value.failure.scopes == {"one"}


class StepsOnly(Layer):
    def check_input_spaces(self, input_spaces, action_space=None):
        if input_spaces["x"].has_time_rank:
            raise SpaceError(f"{self.scope_path}/x: no sequences, given {input_spaces['x']!r}")


class OneKind(Layer):
    ranks_may_differ = False


class Around(Component):
    """It computes nothing itself."""

    check_input_spaces = StepsOnly.check_input_spaces

    def __init__(self):
        self.inner = Layer(scope="inner")
        super().__init__(self.inner, scope="layer")

    @rlgraph_api
    def call(self, x):
        return self.inner.call(x)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Layer, None),
        (StepsOnly, "^layer/x: no sequences"),
        (Around, "^layer/x: no sequences"),
        (OneKind, "^layer.call is called with different batch and time ranks for 'x': .*B, 3. and .*B, T, 3"),
    ],
)
def test_a_later_call_with_other_ranks_is_checked(kind, message):
    layer = kind()

    def run(self, x, series):
        return layer.call(self._spread(layer.call(x), series))

    @graph_fn
    def _spread(self, ops, x, series):
        return series + ops.mean(x)

    graph, spaces = assemble(root(run, layer, _spread=_spread)), {"x": STATES, "series": SERIES}
    if message is None:
        assert build(graph, spaces).variables["layer/weights"].shape == (3, 3)
    else:
        with pytest.raises((BuildError, SpaceError), match=message):
            build(graph, spaces)


@pytest.mark.parametrize(
    ("wiring", "expected"),
    [
        (lambda layer, x: layer.again(layer.call(x)), 4.5),
        (lambda layer, x: layer.call(x, layer.call(x)), 6.0),
        (lambda layer, x: layer.call(layer.again(layer.call(x))), 6.75),
    ],
    ids=["another method", "another argument", "a circle"],
)
def test_what_is_not_read_need_not_be_known(wiring, expected):
    """Every pass through the layer, whose weights are 0.5, adds the three numbers and halves the sum."""
    layer = Layer()
    made = GraphExecutor(root(lambda self, x: wiring(layer, x), layer), {"x": STATES}, backend="numpy")
    found = made.execute("run", np.array([[1.0, 2.0, 3.0]], np.float32))
    np.testing.assert_allclose(found, np.full((1, 3), expected))


READERS = {
    "a part": lambda spaces: spaces["again.x"],
    "a part that may be missing": lambda spaces: spaces.get("again.x"),
    "whether there is one": lambda spaces: "again.x" in spaces,
    "all": dict,
    "how many": len,
}


@pytest.mark.parametrize("hook", ["check_input_spaces", "create_variables"])
@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_what_is_read_must_be_known(hook, read):
    def reading(self, input_spaces, action_space=None):
        getattr(Layer, hook)(self, input_spaces, action_space)
        read(input_spaces)

    layer = type("Reading", (Layer,), {hook: reading})()
    with pytest.raises(
        BuildError, match="the build cannot go on:\n  layer: argument x of again has no Space"
    ):
        built(lambda self, x: layer.again(layer.call(x)), layer, x=STATES)
    assert not layer.declared_variables


def test_what_a_hook_did_before_it_read_too_much_is_undone(order):
    class Late(Layer):
        def create_variables(self, input_spaces, action_space=None):
            super().create_variables(input_spaces, action_space)
            self.seen = input_spaces["again.x"]

    first, second = Late(scope="first"), Layer(scope="second")

    def run(self, x):
        one = first.call(x)
        return first.again(second.again(second.call(x))), one

    made = built(run, first, second, x=STATES)
    assert order == ["first", "second", "first"]
    assert first.seen == STATES
    assert sorted(made.variables) == ["first/weights", "second/weights"]


def test_a_bare_name_is_that_of_the_first_method():
    """`again` comes first in the program, but its argument waits for the variables."""
    layer = Layer()

    def run(self, x):
        return layer.again(self._two(x, layer.variables())), layer.call(x)

    @graph_fn
    def _two(self, ops, x, variables):
        return x[:, :2]

    with pytest.raises(BuildError) as error:
        build(assemble(root(run, layer, _two=_two)), {"x": STATES})
    assert str(error.value) == (
        "layer was created for 'x' of call, float32[B, 3], and again, which is called earlier, gives 'x' as "
        "float32[B, 2]: read input_spaces['call.x'] in its build hooks"
    )


def test_the_report_of_a_circle():
    class Reading(Layer):
        def create_variables(self, input_spaces, action_space=None):
            self.size = input_spaces["again.x"].shape[0]

    one, two = Reading(scope="one"), Layer(scope="two")
    with pytest.raises(BuildError) as error:
        built(lambda self, x: one.again(two.call(one.call(x))), one, two, x=STATES)
    lines = str(error.value).splitlines()
    assert lines[0] == "the build cannot go on:"
    assert "  one: argument x of again has no Space; it is supplied by output 0 of two._call" in lines
    assert "  two: argument x of call has no Space; it is supplied by output 0 of one._call" in lines
    assert "  one._call waits for its component one" in lines
    assert "the cycle: one waits for two._call waits for one._call waits for one" in lines
