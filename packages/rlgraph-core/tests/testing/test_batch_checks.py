"""Items of a batch do not depend on each other: broken components, and the shipped ones."""

import inspect

import numpy as np
import pytest

from rlgraph.components import Dense, Dropout, MovingStandardize
from rlgraph.core import Component, RLGraphError, graph_fn, rlgraph_api
from rlgraph.spaces import Dict, FloatBox, Tuple
from rlgraph.testing import ComponentTest, on_all_backends
from rlgraph.testing.conformance.cases import CASES
from rlgraph.testing.conformance.components import samples

ROWS = FloatBox(shape=(3,), add_batch_rank=True)
ITEMS = FloatBox(add_batch_rank=True)
STEPS = FloatBox(add_batch_rank=True, add_time_rank=True, time_major=True)
X = np.arange(12, dtype="float32").reshape(4, 3) ** 2


def component_of(function, **spaces):
    """A component that computes `function` of its arguments, built."""

    class Made(Component):
        @rlgraph_api
        def call(self, x, y=None):
            return self._call(x, y)

        @graph_fn(returns=1)
        def _call(self, ops, x, y):
            return function(ops, x, y)

    return ComponentTest(Made(scope="made"), spaces, backend="numpy")


def columns_in_a_row(ops, x, y):
    """Reshapes where it should swap axes: [T, B] -> [B, T]."""
    return ops.reshape(x, (ops.shape(x)[1], -1))


BROKEN = {
    "an axis too far": (lambda ops, x, y: x - ops.mean(x, axis=0), {"x": (ROWS, X)}),
    "softmax over the batch": (lambda ops, x, y: ops.softmax(x, axis=0), {"x": (ROWS, X)}),
    "[B] beside [B, 1]": (
        lambda ops, x, y: ops.mean(ops.square(ops.expand_dims(x, 1) - y), axis=1),
        {"x": (ITEMS, X[:, 0]), "y": (ITEMS, X[:, 1])},
    ),
    "a reshape for a swap of axes": (columns_in_a_row, {"x": (STEPS, X.T)}),
    "the last item only": (lambda ops, x, y: x * 0.0 + x[-1:], {"x": (ROWS, X)}),
    "the maximum of all": (lambda ops, x, y: x + ops.max(x), {"x": (STEPS, X.T)}),
    "NaN of others": (lambda ops, x, y: x + 0.0 * ops.sum(x), {"x": (ITEMS, np.array([1.0, np.nan, 2.0]))}),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_components(name):
    function, arguments = BROKEN[name]
    test = component_of(function, **{key: space for key, (space, _) in arguments.items()})
    values = {key: value for key, (_, value) in arguments.items()}
    with pytest.raises(
        AssertionError, match=r"call: item \d depends on the other items of the batch; expected is"
    ):
        test.check_batch(("call", values))


def test_the_place_and_the_numbers_are_named():
    test = component_of(lambda ops, x, y: (x, {"a": x - ops.mean(x)}), x=ITEMS)
    with pytest.raises(
        AssertionError, match=r"item 0 .* output\[1\].a: 1 of 1 values .* expected 0.0, given -1.0"
    ):
        test.check_batch("call", [1.0, 3.0])


@on_all_backends()
def test_a_component_that_is_right(backend):
    layer = Dense(2, "tanh", scope="layer")
    test = ComponentTest(layer, {"inputs": ROWS}, backend=backend)
    test.check_batch("call", X)
    test.check_batch(layer.call, X)
    test.check_batch(("call", {"inputs": X}))
    test.check_batch(("call", [X.tolist()]))
    with pytest.raises(TypeError, match="call has 1 arguments, given 2"):
        test.check_batch("call", X, X)


def test_containers_and_results_without_a_batch():
    space = Dict(a=ITEMS, b=Tuple(ITEMS, ROWS))

    def function(ops, x, y):
        return {"sum": x["a"] + x["b"][0], "mean": ops.mean(x["a"])}

    component_of(function, x=space).check_batch("call", {"a": X[:, 0], "b": (X[:, 1], X)})


def test_a_batch_after_the_time():
    test = component_of(lambda ops, x, y: {"sums": ops.cumulative_sum(x, axis=0), "last": x[-1]}, x=STEPS)
    test.check_batch("call", X.T)


@pytest.mark.parametrize("component", [Dropout(0.5), MovingStandardize()])
def test_methods_that_cannot_be_checked(component):
    spaces = {"inputs": ROWS, "training": bool} if isinstance(component, Dropout) else {"inputs": ROWS}
    test = ComponentTest(component, spaces, backend="numpy")
    with pytest.raises(RLGraphError, match="call returns something else at each call"):
        test.check_batch("call", X, *([True] if "training" in spaces else []))


@pytest.mark.parametrize(
    ("space", "x"), [(ITEMS, [1.0]), (FloatBox(add_batch_rank=2), [1.0, 2.0]), (FloatBox(), 1.0)]
)
def test_batches_that_cannot_be_checked(space, x):
    test = component_of(lambda ops, x, y: 2.0 * x, x=space)
    with pytest.raises(
        RLGraphError, match="call: expected at least two items, and arguments and results with a ba"
    ):
        test.check_batch("call", x)


#: Components that standardize over the batch, count it, or take it for one sequence.
TOGETHER = {
    *(
        "moving_standardize",
        "moving_standardize_nested",
        "return_scaling",
        "standardize",
        "standardize_weights",
    ),
    *("ppo_loss_all_options", "ppo_loss_sequences", "sequence_helper", "v_trace_function_flat"),
}


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if not case.trains])
def test_shipped_components(name):
    """In double precision on NumPy; what has no batch is passed over."""
    case = CASES[name]
    test = ComponentTest(case.make(), case.spaces, backend="numpy", execution_spec={"dtype": "float64"})
    given, independent = samples(case, "float64"), True
    for method in case.methods:
        wanted = inspect.signature(test.component.api_methods()[method]).parameters
        try:
            test.check_batch((method, {key: value for key, value in given.items() if key in wanted}))
        except (AssertionError, RLGraphError) as error:
            independent &= "expected at least two items" in str(error)
    assert independent == (name not in TOGETHER)
