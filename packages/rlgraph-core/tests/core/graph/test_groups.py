"""Sums over the learners of a group in graphs: where they are in plans, and what is refused."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from rlgraph.components import SGD
from rlgraph.core import (
    AssemblyError,
    BuildError,
    CapabilityError,
    Collective,
    CollectiveError,
    Component,
    GraphExecutor,
    all_reduce,
    assemble,
    branch,
    build,
    gradients,
    graph_fn,
    in_group,
    loop,
    memory_group,
    rlgraph_api,
)
from rlgraph.core.graph import make_plan
from rlgraph.core.graph.emission.source import leaf_name
from rlgraph.core.graph.nodes import GraphFunctionCall, Output
from rlgraph.core.graph.passes.kept_tensors import kept_tensors
from rlgraph.core.graph.passes.packing import SMALL
from rlgraph.core.graph.plan import CollectiveStep, Leaf, LoopStep, Segment
from rlgraph.draw import draw
from rlgraph.spaces import FloatBox, IntBox

pytestmark = pytest.mark.filterwarnings("ignore:component (optimizer|line) is part of root")
ROWS = FloatBox(shape=(3,), add_batch_rank=True)
SPACES = {"x": ROWS}
WIDE = {"x": FloatBox(shape=(SMALL + 1,), add_batch_rank=True)}


class Line(Component):
    """A linear map to one number, its sums, and what may decide something."""

    def create_variables(self, input_spaces, action_space=None):
        space = FloatBox(shape=input_spaces["x"].shape)
        self.weights = self.get_variable("weights", space, initializer=0.5)

    @rlgraph_api
    @graph_fn
    def call(self, ops, x):
        return ops.sum(x * self.weights, axis=-1)

    @rlgraph_api
    @graph_fn(returns=2)
    def total(self, ops, y):
        return ops.sum(y), ops.sum(ops.ones_like(y))

    @rlgraph_api
    @graph_fn
    def square(self, ops, y):
        return ops.square(y)

    @rlgraph_api
    @graph_fn
    def is_large(self, ops, y):
        return y > 1.0

    @rlgraph_api
    def write(self, x):
        self._write(x)

    @graph_fn(returns=0)
    def _write(self, ops, x):
        ops.assign(self.weights, ops.max(x, axis=0))


class Root(Component):
    def __init__(self):
        self.line, self.optimizer = Line(scope="line"), SGD(0.1)
        super().__init__(self.line, self.optimizer, scope="root")

    def loss(self, x):
        total, number = self.line.total(self.line.square(self.line.call(x)))
        return all_reduce(total, number) if in_group() else total

    def step(self, x):
        loss = self.loss(x)
        self.optimizer.step(self.line.variables(), loss)
        return loss


def root_of(wiring, **others):
    members = {name: rlgraph_api(method) for name, method in {"run": wiring, **others}.items()}
    return type("Root", (Root,), members)()


def plan_of(wiring, spaces=SPACES, in_group=True):
    return make_plan(build(assemble(root_of(wiring), spaces, in_group=in_group), spaces), "run")


def refused(wiring, match, error=BuildError, spaces=SPACES):
    with pytest.raises(error, match=match):
        plan_of(wiring, spaces)


def twice(self, x):
    return self.step(x), self.step(x)


def epochs(self, x):
    return loop(3, lambda i: (None, self.step(x)), collect=True)[1]


# Where sums are in plans.


def test_derivative_and_loss_are_one_call_between_two_segments():
    plan = plan_of(Root.step)
    assert [type(step) for step in plan.steps] == [Segment, CollectiveStep, Segment]
    (together,) = [step for step in plan.steps if isinstance(step, CollectiveStep)]
    loss, derivatives = together.nodes
    assert loss.number == derivatives.number is not None
    assert "in 2 segments, 0 host calls and 2 sums over all learners between them" in plan.source
    assert f"(v{derivatives.id}, v{loss.id},) = all_reduce({leaf_name(together.packed)})" in plan.source
    assert [leaf for leaf, _ in plan.segments[0].outputs] == [together.packed]


def test_a_large_derivative_is_an_array_beside_the_flat_one():
    class Wide(Root):
        run = rlgraph_api(Root.step)

    plan = make_plan(build(assemble(Wide(), WIDE, in_group=True), WIDE), "run")
    first, together, second = plan.steps
    (derivatives,) = (leaf for leaf, _ in second.inputs)
    assert [leaf for leaf, _ in first.outputs] == [Leaf(Output(derivatives.source.node - 1)), together.packed]
    assert len(together.packed.source.parts) == 2 and not kept_tensors(plan)


def test_drawings_show_sums():
    text = draw(build(assemble(root_of(Root.step), SPACES, in_group=True), SPACES)).text()
    assert "line.total -> all_reduce: float32[]" in text and "(gradients, all_reduce, _apply)" in text


def test_a_loop_around_sums_runs_in_python_and_its_argument_is_converted_once():
    plan = plan_of(epochs)
    (around,) = plan.steps
    assert isinstance(around, LoopStep) and isinstance(around.steps[1], CollectiveStep)
    assert kept_tensors(plan) == {leaf for leaf, _ in plan.inputs}


def test_without_a_group_there_are_no_sums():
    plan = plan_of(epochs, in_group=False)
    assert not plan.collectives and [type(step) for step in plan.steps] == [Segment]
    assert not plan.built.effects[plan.nodes[-1].id].is_border


def test_sums_of_data_are_lifted_ahead_of_what_is_differentiated():
    def wiring(self, x, y):
        called = self.line.call(x)
        largest = all_reduce(self.line.total(self.line.square(y)))[0]
        total, number = self.line.total(self._scaled(called, largest))
        loss = all_reduce(total, number)
        self.optimizer.step(self.line.variables(), loss)
        return loss

    @graph_fn
    def _scaled(self, ops, called, largest):
        return called / largest

    root = type("Root", (Root,), {"run": rlgraph_api(wiring), "_scaled": _scaled})()
    spaces = {"x": ROWS, "y": FloatBox(add_batch_rank="other")}
    plan = make_plan(build(assemble(root, spaces, in_group=True), spaces), "run")
    assert [type(step) for step in plan.steps] == [Segment, CollectiveStep] * 2 + [Segment]
    early, late = (
        [node.function for node in segment.nodes if isinstance(node, GraphFunctionCall)]
        for segment in plan.segments[:2]
    )
    assert early == ["_square", "_total"] and late == ["_call", "_scaled", "_total"]


# What is refused.


def test_a_loss_of_one_learner():
    def wiring(self, x):
        total, _ = self.line.total(self.line.call(x))
        self.optimizer.step(self.line.variables(), total)
        return total

    refused(wiring, r"optimizer.gradients: the loss is of one learner alone: .* all_reduce\(total, number\)")


def test_a_derivative_through_a_sum():
    def wiring(self, x):
        loss = all_reduce(self.line.square(self.loss(x)))
        self.optimizer.step(self.line.variables(), loss)
        return loss

    refused(wiring, r"gradients: root.all_reduce\(...\) lies between a differentiated variable and the loss")


def test_what_cannot_be_added_up():
    refused(
        lambda self, x: all_reduce(x),
        r"root.all_reduce\(value\): learners may differ in a size of float32\[B, 3\]",
    )
    spaces = {"x": IntBox(3)}
    refused(
        lambda self, x: all_reduce({"a": x}), r"root.all_reduce\(value\['a'\]\): only floats", spaces=spaces
    )
    spaces = {"x": FloatBox(shape=(2,))}
    refused(lambda self, x: all_reduce(x, x), "the number must be one float without axes", spaces=spaces)

    def derivatives(self, x):
        return all_reduce({"all": gradients(self.loss(x), self.line.variables())})

    refused(derivatives, "what gradients.* returns is a sum over all learners already")


def test_a_number_needs_a_group():
    def wiring(self, x):
        return all_reduce(*self.line.total(self.line.call(x)))

    with pytest.raises(AssemblyError, match="without one divide yourself"):
        plan_of(wiring, in_group=False)


@pytest.mark.parametrize("kind", ["predicate", "count", "until"])
def test_what_decides_may_differ(kind):
    def wiring(self, x, n):
        total, _ = self.line.total(self.line.call(x))
        if kind == "predicate":
            return branch(self.line.is_large(total), lambda: self.loss(x), lambda: 0.0)
        if kind == "count":
            return loop(n, lambda i, v: self.loss(x), 0.0)
        body = lambda i, v: (self.loss(x), total)[1]  # noqa: E731
        return loop(3, body, 0.0, until=self.line.is_large)

    refused(
        wiring,
        rf"root.\w+: the {kind} may differ from learner to learner, and root.all_reduce\(...\) inside waits",
        spaces={"x": ROWS, "n": IntBox(5)},
    )


def test_what_decides_is_a_sum():
    def wiring(self, x):
        body = lambda i, v: self.step(x)  # noqa: E731
        left = loop(3, body, 0.0, until=self.line.is_large)
        return branch(self.line.is_large(left), lambda: self.loss(x), lambda: 0.0)

    assert len(plan_of(wiring).collectives) == 3


def test_weights_that_would_part():
    def wiring(self, x):
        loss = self.step(x)
        self.line.write(x)
        return loss

    refused(
        wiring, "line._write: it writes line/weights, which optimizer.gradients trains, from what may differ"
    )


# Running.


def group_of(*wirings, backend, **others):
    """A learner for each wiring."""
    return [
        GraphExecutor(root_of(wiring, **others), SPACES, backend=backend, collective=collective)
        for wiring, collective in zip(wirings, memory_group(len(wirings), 10.0), strict=True)
    ]


def together(executors, method, rows):
    with ThreadPoolExecutor(len(executors)) as pool:
        return list(pool.map(lambda executor, x: executor.execute(method, x), executors, rows))


def test_other_collectives_are_refused_before_the_first(trainer):
    executors = group_of(Root.step, twice, backend=trainer)
    with pytest.raises(
        CollectiveError,
        match=r"differ in collective 2 of the API method 'run': learner 0: nothing more; learner 1: all_reduce of",
    ):
        together(executors, "run", [np.ones((2, 3))] * 2)


def test_a_tensor_that_is_added_up_twice_is_two():
    def once(self, x):
        return all_reduce({"a": self.line.total(self.line.call(x))})["a"]

    def twice(self, x):
        total = self.line.total(self.line.call(x))
        return all_reduce({"a": total, "b": total})["a"]

    executors = group_of(once, twice, backend="numpy")
    with pytest.raises(CollectiveError, match=r"differ in collective 1 of the API method 'run'"):
        together(executors, "run", [np.ones((2, 3))] * 2)


def test_another_method_is_refused(trainer):
    executors = group_of(Root.step, Root.step, backend=trainer, other=epochs)
    with ThreadPoolExecutor(2) as pool:
        calls = [
            pool.submit(executor.execute, method, np.ones((2, 3)))
            for executor, method in zip(executors, ("run", "other"), strict=True)
        ]
        for call in calls:
            with pytest.raises(
                CollectiveError, match="differ in the program: learner 0: the API method 'run'; learner 1"
            ):
                call.result()


def test_methods_in_another_order_are_refused(trainer):
    executors = group_of(Root.step, Root.step, backend=trainer, other=twice)
    rows = np.ones((2, 3), np.float32)
    for method in ("run", "other"):
        together(executors, method, [rows, rows])
    with ThreadPoolExecutor(2) as pool:
        calls = [
            pool.submit(executor.execute, method, rows)
            for executor, method in zip(executors, ("run", "other"), strict=True)
        ]
        for call in calls:
            with pytest.raises(
                CollectiveError, match=r"it runs the API method '\w+', .* the same methods in the same order"
            ):
                call.result()


class Rejoining(Collective):
    """A learner that may join others anew."""

    def join(self, inner):
        self.inner, self.session = inner, self.session + 1

    def all_reduce(self, array):
        return self.inner.all_reduce(array)

    def all_gather(self, message):
        return self.inner.all_gather(message)

    def close(self):
        self.inner.close()


def test_a_learner_agrees_anew_with_others(trainer):
    rows = np.ones((2, 3), np.float32)
    remaining = Rejoining(0, 2, "", 10.0)
    executor = GraphExecutor(root_of(Root.step), SPACES, backend=trainer, collective=remaining)
    for _ in range(2):
        first, second = memory_group(2, 10.0)
        remaining.join(first)
        other = GraphExecutor(root_of(Root.step), SPACES, backend=trainer, collective=second)
        assert np.isfinite(together([executor, other], "run", [rows, rows])).all()


def test_threads_of_a_learner_come_one_after_the_other(trainer):
    executors = group_of(epochs, epochs, backend=trainer)
    rows = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
    together(executors, "run", [rows, rows])
    with ThreadPoolExecutor(4) as pool:
        calls = [pool.submit(executor.execute, "run", rows) for _ in range(4) for executor in executors]
        assert all(np.isfinite(call.result()).all() for call in calls)
    first, second = (executor.get_weights()["line/weights"] for executor in executors)
    assert np.array_equal(first, second)


@pytest.mark.parametrize("flat", [False, True])
def test_set_weights_waits_for_the_end_of_an_update(trainer, flat):
    executors = group_of(Root.step, Root.step, backend=trainer)
    rows = np.ones((2, 3), np.float32)
    together(executors, "run", [rows, rows])
    waits, comes = threading.Thread(target=executors[0].execute, args=("run", rows)), threading.Event()

    weights = executors[0].flat_weights(["run"])

    def write():
        if flat:
            weights.set({name: np.full_like(array, 7.0) for name, array in weights.get().items()})
        else:
            executors[0].set_weights({"line/weights": np.full(3, 7.0)})
        comes.set()

    waits.start()  # the other learner is not there yet
    time.sleep(0.05)
    writer = threading.Thread(target=write)
    writer.start()
    assert not comes.wait(0.1)
    executors[1].execute("run", rows)
    assert comes.wait(10.0)
    waits.join(), writer.join()
    assert np.array_equal(executors[0].get_weights()["line/weights"], np.full(3, 7.0))


def test_a_plan_of_a_group_is_not_exported(trainer, tmp_path):
    (alone,) = memory_group(1)
    executor = GraphExecutor(root_of(Root.loss), SPACES, backend=trainer, collective=alone)
    with pytest.raises(CapabilityError):
        executor.export_graph(tmp_path / "out", ["run"])
