"""Components one after the other."""

import numpy as np
import pytest

from rlgraph.components import NeuralNetwork, RepeaterStack, Stack
from rlgraph.core import Component, SpecError, graph_fn, rlgraph_api
from rlgraph.spaces import FloatBox
from rlgraph.testing import ComponentTest


class Plus(Component):
    """Adds a number; its method `two` also returns the negative."""

    def __init__(self, number, scope="plus", **kwargs):
        self.number = number
        super().__init__(scope=scope, **kwargs)

    @rlgraph_api
    def call(self, x):
        return self._add(x)

    @rlgraph_api
    def two(self, x, y):
        return self._add(x), self._add(y)

    @graph_fn
    def _add(self, ops, x):
        return x + self.number


class Rows(Component):
    """Takes a batch without time only."""

    @rlgraph_api
    @graph_fn
    def call(self, ops, x):
        return ops.matmul(x, ops.ones((2, 1)))


BATCH = FloatBox(shape=(2,), add_batch_rank=True)
X = np.array([[1.0, 2.0]], np.float32)


def plus():
    return [Plus(1.0, scope="one"), Plus(10.0, scope="ten")]


def test_in_order(backend):
    ComponentTest(Stack(*plus()), {"x": BATCH}, backend=backend).test(("call", X), expected_outputs=X + 11)


def test_several_arguments_under_another_name(backend):
    test = ComponentTest(
        Stack(*plus(), api_methods=[("both", "two")]), {"x": BATCH, "y": BATCH}, backend=backend
    )
    test.test(("both", [X, -X]), expected_outputs=(X + 11, 11 - X))


def test_wired_by_a_function(backend):
    def backwards(self, x):
        for component in reversed(self.stacked):
            x = component.call(x)
        return x

    test = ComponentTest(
        Stack(*plus(), api_methods=[("backwards", backwards), "call"]), {"x": BATCH}, backend=backend
    )
    test.test(("backwards", X), expected_outputs=X + 11)
    test.test(("call", X), expected_outputs=X + 11)


def test_time_folded(backend):
    space = FloatBox(shape=(2,), add_batch_rank=True, add_time_rank=True)
    x = np.arange(12.0, dtype=np.float32).reshape(2, 3, 2)
    folded = {"api": "call", "fold_time_rank": True, "unfold_time_rank": True}
    ComponentTest(Stack(Rows(scope="rows"), api_methods=[folded]), {"x": space}, backend=backend).test(
        ("call", x), expected_outputs=x.sum(-1, keepdims=True)
    )


def test_time_is_folded_of_the_arguments_that_are_given(backend):
    """A network has arguments for states and training, which may be left out."""
    space = FloatBox(shape=(2,), add_batch_rank=True, add_time_rank=True)
    x = np.arange(12.0, dtype=np.float32).reshape(2, 3, 2)
    network = NeuralNetwork([{"type": "dense", "units": 1, "weights_spec": 1.0}])
    folded = {"api": "call", "fold_time_rank": True, "unfold_time_rank": True}
    ComponentTest(Stack(network, api_methods=[folded]), {"inputs": space}, backend=backend).test(
        ("call", x), expected_outputs=x.sum(-1, keepdims=True)
    )


def test_copies_have_variables_of_their_own(backend):
    layer = {"type": "dense", "units": 2, "weights_spec": 0.5, "biases_spec": 1.0}
    test = ComponentTest(RepeaterStack(layer, 3), {"inputs": BATCH}, backend=backend)
    assert [name for name in test.read_variable_values() if name.endswith("weights")] == [
        f"dense-{i}/weights" for i in range(3)
    ]
    # (1, 2) -> 2.5 -> 3.5 -> 4.5
    test.test(("call", X), expected_outputs=[[4.5, 4.5]])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Stack(), "stack: expected components or their specs, given none"),
        (
            lambda: Stack(Plus(1.0), api_methods=["cal"]),
            "stack.api_methods: plus has no API method 'cal'.*'call'",
        ),
        (lambda: Stack(Plus(1.0), api_methods=[3]), "stack.api_methods: expected .* given 3"),
        (
            lambda: Stack(Plus(1.0), api_methods=[{"api": "call", "unfold_time_rank": True}]),
            "call: unfold_time_rank without fold_time_rank",
        ),
        (
            lambda: RepeaterStack(Plus(1.0), 0),
            r"repeater.repeats: expected an integer in \[1, 1000\], given 0",
        ),
    ],
)
def test_mistakes(make, message):
    with pytest.raises(SpecError, match=message):
        make()


def test_api_methods_that_are_one_name():
    with pytest.raises(
        SpecError, match=r"stack.api_methods: expected a list .* given 'call': write \['call'\]"
    ):
        Stack(Plus(1.0), api_methods="call")
