"""One optimizer for several components: ``a.variables() + b.variables()``."""

import numpy as np
import pytest

from rlgraph.components import SGD
from rlgraph.core import (
    AssemblyError,
    BuildError,
    Component,
    VariableList,
    assemble,
    build,
    graph_fn,
    loop,
    rlgraph_api,
)
from rlgraph.draw import draw
from rlgraph.spaces import FloatBox
from rlgraph.testing import ComponentTest


class Weights(Component):
    """A variable, and a loss whose derivative by it is the given direction."""

    def create_variables(self, input_spaces, action_space=None):
        self.weights = self.get_variable("weights", FloatBox(shape=(2,)), initializer=1.0)

    @rlgraph_api
    def get_loss(self, direction):
        return self._loss(direction)

    @graph_fn
    def _loss(self, ops, direction):
        return ops.sum(self.weights * direction)


DIRECTION = FloatBox(shape=(2,))
DIRECTIONS = {"x": np.array([3.0, 0.0], "float32"), "y": np.array([0.0, 4.0], "float32")}


class Learner(Component):
    """A policy of two parts and a value function, whose names lie between each other: a, c and b."""

    def __init__(self, join, **limits):
        self.a, self.b, self.c = (Weights(scope=scope) for scope in "abc")
        self.optimizer, self.join = SGD(1.0, momentum=0.5, **limits), join
        super().__init__(self.a, self.b, self.c, self.optimizer, scope="learner")

    @rlgraph_api
    def update(self, x, y):
        loss = self._sum(self._sum(self.a.get_loss(x), self.b.get_loss(y)), self.c.get_loss(y))
        self.optimizer.step(self.join(self), loss)

    @graph_fn
    def _sum(self, ops, one, other):
        return one + other


def built(join, backend, **limits):
    return ComponentTest(Learner(join, **limits), {"x": DIRECTION, "y": DIRECTION}, backend=backend)


def weights(test, where=""):
    return {name: test.executor.get_weights()[f"{where}{name}/weights"] for name in "abc"}


JOINS = {
    "two": lambda self: self.a.variables() + self.b.variables(),
    "the other way round": lambda self: self.b.variables() + self.a.variables(),
    "one of them twice": lambda self: self.b.variables() + self.a.variables() + self.b.variables(),
    "of trainable ones": lambda self: self.a.variables(trainable_only=True) + self.b.variables(),
}


@pytest.mark.parametrize("join", JOINS.values(), ids=JOINS)
def test_one_optimizer_steps_two_components_with_one_limit(trainer, join):
    """The norm of both gradients together is 5 and comes to 1; the momentum makes the second step one half longer."""
    test = built(join, trainer, clip_grad_norm=1.0)
    for steps in (1.0, 2.5):
        test.test("update", DIRECTIONS["x"], DIRECTIONS["y"])
        assert weights(test)["a"] == pytest.approx([1.0 - 0.6 * steps, 1.0])
        assert weights(test)["b"] == pytest.approx([1.0, 1.0 - 0.8 * steps])
        assert weights(test)["c"] == pytest.approx([1.0, 1.0])


def test_a_buffer_with_others_in_between(trainer):
    """`c` belongs to the list and `b` does not: the blocks fall apart where the names do."""
    test = built(lambda self: self.a.variables() + self.c.variables(), trainer)
    test.test("update", DIRECTIONS["x"], DIRECTIONS["y"])
    assert {name: value.tolist() for name, value in weights(test).items()} == {
        "a": [-2.0, 1.0],
        "b": [1.0, 1.0],
        "c": [1.0, -3.0],
    }


def test_the_list_is_sorted_by_scoped_name_and_has_each_variable_once():
    graph = build(assemble(Learner(JOINS["one of them twice"])), {"x": DIRECTION, "y": DIRECTION})
    lists = [value for value in graph.values.values() if isinstance(value, VariableList)]
    names = [[variable.name for variable in variables] for variables in lists]
    assert names[-1] == ["a/weights", "b/weights"]


class Handing(Learner):
    """Joins a list that it was handed with another, in a loop."""

    @rlgraph_api
    def update(self, x, y):
        return self.update_with(self.a.variables(), x, y)

    @rlgraph_api
    def update_with(self, variables, x, y):
        def body(i, _):
            loss = self._sum(self._sum(self.a.get_loss(x), self.b.get_loss(y)), self.c.get_loss(y))
            self.optimizer.step(variables + self.b.variables(), loss)
            return loss

        return loop(2, body, 0.0)


def test_a_list_of_an_argument_in_a_loop(trainer):
    root = Component(scope="root")
    root.add_components(Handing(None), expose_apis=["update"])
    test = ComponentTest(root, {"x": DIRECTION, "y": DIRECTION}, backend=trainer)
    test.test("update", DIRECTIONS["x"], DIRECTIONS["y"])
    assert weights(test, "learner/")["a"] == pytest.approx([1.0 - 3.0 * 2.5, 1.0])
    assert weights(test, "learner/")["b"] == pytest.approx([1.0, 1.0 - 4.0 * 2.5])


def test_other_symbols_are_not_added():
    with pytest.raises(AssemblyError, match="learner.update: an API method only wires"):
        assemble(Learner(lambda self: self.a.variables() + self.a.get_loss(1.0)))
    with pytest.raises(AssemblyError, match="learner.update: an API method only wires"):
        assemble(Learner(lambda self: self.a.variables() + 1.0))


def test_a_container_of_lists_is_refused_with_the_cure():
    with pytest.raises(
        BuildError, match=r"several of these joined by \+, given \(<1 variables>, <1 variables>\)"
    ):
        build(
            assemble(Learner(lambda self: [self.a.variables(), self.b.variables()])),
            {"x": DIRECTION, "y": DIRECTION},
        )


def test_it_is_drawn():
    graph = assemble(Learner(JOINS["two"]))
    assert "joined_variables" in draw(graph).svg()
