"""Loops and branches as PyTorch runs them: what leaves a gradient slice keeps no record of how it was made."""

import pytest

from rlgraph.core import (
    Component,
    ExecutionSpec,
    GraphExecutor,
    branch,
    gradients,
    graph_fn,
    loop,
    rlgraph_api,
)
from rlgraph.spaces import FloatBox
from rlgraph.torch.backend import TorchBackend


class Weight(Component):
    def create_variables(self, input_spaces, action_space=None):
        self.w = self.get_variable("w", float, initializer=1.0)

    @rlgraph_api(must_be_complete=False)
    @graph_fn
    def loss(self, ops, x):
        return x * self.w

    @rlgraph_api(must_be_complete=False)
    def step(self, loss):
        return self._step(self.variables(), gradients(loss, self.variables()))

    @graph_fn(returns=0)
    def _step(self, ops, variables, derivatives):
        ops.assign(variables[0], variables[0] - 0.1 * derivatives[0])


def segment_source(wiring):
    """The one segment of a root ``run(self, flag, x)`` made of ``wiring(weight, flag, x)``."""
    weight = Weight(scope="weight")

    class Root(Component):
        @rlgraph_api
        def run(self, flag, x):
            return wiring(weight, flag, x)

    made = GraphExecutor(Root(weight, scope="root"), {"flag": bool, "x": FloatBox()}, backend="torch")
    made.execute("run", True, 2.0)
    (segment,) = made.plan("run").segments
    return TorchBackend(ExecutionSpec()).lower(made.plan("run"), segment, made.storage).__source__


def update(weight, x):
    loss = weight.loss(x)
    weight.step(loss)
    return loss


def test_carried_and_collected_losses_are_detached():
    source = segment_source(
        lambda weight, flag, x: loop(
            2, lambda i, v: (update(weight, x), update(weight, x)), 0.0, collect=True
        )
    )
    first, second = [line.split(" = ")[0].strip() for line in source.splitlines() if "= weight__loss" in line]
    assert f".append({second}.detach())" in source
    assert f"c1_0 = {first}.detach()\n" in source


def test_the_loss_that_a_side_returns_is_detached():
    source = segment_source(lambda weight, flag, x: branch(flag, lambda: update(weight, x), lambda: 0.0))
    (loss,) = [line.split(" = ")[0].strip() for line in source.splitlines() if "= weight__loss" in line]
    assert f"= {loss}.detach()\n" in source


def test_gradients_are_recorded_inside_an_iteration_only():
    source = segment_source(lambda weight, flag, x: loop(2, lambda i, v: update(weight, x), 0.0))
    lines = [line.strip() for line in source.splitlines()]
    on, off = (
        lines.index("set_grad_enabled(True)"),
        len(lines) - lines[::-1].index("set_grad_enabled(False)") - 1,
    )
    assert [line.partition(" = ")[2].partition("(")[0] for line in lines[on + 1 : off]] == [
        "weight__loss",
        lines[off - 1].partition(" = ")[2].partition("(")[0],
    ]
    assert lines[off + 1].startswith("weight__step(")
    assert lines.index("for n1 in range(2):") == on - 1


def test_gradients_are_recorded_around_a_loop_that_is_differentiated():
    def wiring(weight, flag, x):
        loss = loop(2, lambda i, v: weight.loss(v), x)
        weight.step(loss)
        return loss

    source = segment_source(wiring)
    lines = [line.strip() for line in source.splitlines()]
    assert lines.count("set_grad_enabled(True)") == 1
    assert lines.index("set_grad_enabled(True)") < lines.index("for n1 in range(2):")
    assert "return c1_0.detach().numpy()," in lines


def test_the_derivative_by_what_was_not_used_is_zero():
    weight = Weight(scope="weight")

    class Root(Component):
        @rlgraph_api
        def run(self, flag, x):
            return update_through(weight, flag, x)

    def update_through(weight, flag, x):
        loss = branch(flag, lambda: weight.loss(x), lambda: x)
        weight.step(loss)
        return loss

    made = GraphExecutor(Root(weight, scope="root"), {"flag": bool, "x": FloatBox()}, backend="torch")
    made.execute("run", False, 2.0)
    assert made.get_weights()["weight/w"] == 1.0
    made.execute("run", True, 2.0)
    assert made.get_weights()["weight/w"] == pytest.approx(0.8)
