"""Graph functions without a body: native kernels for some backends, declared outputs."""

import re

import numpy as np
import pytest

from rlgraph.core import (
    AssemblyError,
    BuildError,
    CapabilityError,
    Component,
    GraphExecutor,
    gradients,
    graph_fn,
    rlgraph_api,
)
from rlgraph.core.ops import stream_name
from rlgraph.spaces import FloatBox, IntBox

STATES = FloatBox(shape=(2,), add_batch_rank=True)


class Native(Component):
    """Twice its input by what the backend calls `sum`, and its variable."""

    def create_variables(self, input_spaces, action_space=None):
        self.w = self.get_variable("w", FloatBox(shape=(2,)), initializer=3.0)

    @rlgraph_api
    def run(self, x):
        return self._check(self._weigh(x), x)

    @graph_fn(spaces=lambda self, x: x)
    def _weigh(self, ops, x): ...

    @_weigh.kernel("torch")
    def _torch_weigh(self, ops, x):
        import torch

        return torch.mul(x, self.w)

    @graph_fn
    def _check(self, ops, y, x):
        # The batch rank is that of the argument: the shapes are known to fit.
        return y + x


class Learner(Component):
    def __init__(self):
        self.native = Native(scope="native")
        super().__init__(self.native, scope="root")

    @rlgraph_api
    def run(self, x):
        loss = self._loss(self.native.run(x))
        return self._first(gradients(loss, self.native.variables()))

    @graph_fn
    def _loss(self, ops, y):
        return ops.sum(y)

    @graph_fn
    def _first(self, ops, derivatives):
        return derivatives[0] * 1.0


@pytest.mark.parametrize("use_kernels", [True, False])
def test_it_runs_where_it_has_a_kernel(use_kernels):
    pytest.importorskip("torch")
    spec = {"use_kernels": use_kernels}
    executor = GraphExecutor(Native(scope="root"), {"x": STATES}, backend="torch", execution_spec=spec)
    np.testing.assert_array_equal(executor.execute("run", np.ones((3, 2), np.float32)), np.full((3, 2), 4.0))
    assert [str(value) for value in executor.built.values.values()] == ["float32[B, 2]"] * 3
    with pytest.raises(
        CapabilityError, match="root._weigh has kernels for torch only: it cannot run on numpy"
    ):
        executor.numpy_program("run")


def test_gradients_flow_through_it():
    pytest.importorskip("torch")
    executor = GraphExecutor(Learner(), {"x": STATES}, backend="torch")
    # d/dw sum(x w + x) = sum of x over the batch
    x = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
    np.testing.assert_array_equal(executor.execute("run", x), [4.0, 6.0])


def test_the_build_names_the_backends_it_has():
    with pytest.raises(
        BuildError,
        match="native._weigh has no body and no kernel for 'numpy': build with backend='torch', or give it a body",
    ):
        GraphExecutor(Learner(), {"x": STATES}, backend="numpy")


def test_a_kernel_for_the_reference_backend():
    class Ranks(Component):
        @rlgraph_api
        def run(self, x):
            return self._ranks(x)

        @graph_fn(spaces=lambda self, x: IntBox(shape=(2,), add_batch_rank=True))
        def _ranks(self, ops, x):
            """A docstring is no body."""

        @_ranks.kernel("numpy")
        def _numpy_ranks(self, ops, x):
            return np.argsort(np.argsort(x, axis=0), axis=0)

    executor = GraphExecutor(Ranks(scope="root"), {"x": STATES}, backend="numpy")
    assert str(executor.built.value_of(executor.built.graph.results_of("run"))) == "int64[B, 2]"
    x = np.array([[1.0, 5.0], [0.0, 6.0]], np.float32)
    np.testing.assert_array_equal(executor.execute("run", x), [[1, 0], [0, 1]])


def root(spaces, kernels):
    def _f(self, ops, x): ...

    function = graph_fn(spaces=spaces)(_f)
    for backend in kernels:
        function.kernel(backend)(lambda self, ops, x: x)
    members = {"run": rlgraph_api(lambda self, x: self._f(x)), "_f": function}
    return type("Made", (Component,), members)(scope="root")


def test_it_declares_its_outputs():
    with pytest.raises(BuildError, match=r"it has kernels only \(numpy, torch\): declare its outputs"):
        GraphExecutor(root(None, ["torch", "numpy"]), {"x": STATES}, backend="numpy")


def test_neither_body_nor_kernel():
    for spaces, message in ((None, "given None"), (STATES, "neither a body nor a kernel")):
        with pytest.raises(BuildError, match=message):
            GraphExecutor(root(spaces, []), {"x": STATES}, backend="numpy")


@pytest.mark.parametrize(
    ("function", "kernels_only"),
    [
        (lambda self, ops, x: None, True),
        (lambda self, ops, x: 5, False),
        (lambda self, ops, x: x, False),
        (lambda self, ops, x: self.w, False),
        (lambda self, ops, x: ops.exp(x), False),
    ],
)
def test_what_counts_as_a_body(function, kernels_only):
    decorated = graph_fn(function)
    assert not decorated.kernels_only
    decorated.kernel("torch")(lambda self, ops, x: x)
    assert decorated.kernels_only == kernels_only


class Meter(Component):
    """Kernels that write, draw and return what they hold."""

    def __init__(self):
        self.size = 2.0
        super().__init__(scope="meter")

    def create_variables(self, input_spaces, action_space=None):
        self.total = self.get_variable("total", FloatBox(shape=(2,)), trainable=False)
        self.counts = {"calls": self.get_variable("calls", FloatBox(), trainable=False)}
        self.scale = self.get_variable("scale", FloatBox(shape=(2,)), initializer=3.0)
        self.memory = self.get_variable("memory", FloatBox(), host=True)

    @rlgraph_api
    def add(self, x):
        return self._add(x), self._total(x)

    @rlgraph_api
    def draw(self, x):
        return self._draw(x), self._draw(x)

    @graph_fn(spaces=lambda self, x: x, writes={"total", "counts"}, shares=())
    def _add(self, ops, x): ...

    @_add.kernel("numpy")
    def _add_on_numpy(self, ops, x):
        ops.assign_add(self.total, ops.sum(x, axis=0))
        ops.assign_add(self.counts["calls"], 1.0)
        return x * self.scale

    @graph_fn(spaces=FloatBox(shape=(2,)), shares=lambda self, x: [self.total])
    def _total(self, ops, x): ...

    @_total.kernel("numpy")
    def _total_on_numpy(self, ops, x):
        return self.total

    @graph_fn(spaces=lambda self, x: x, draws=True)
    def _draw(self, ops, x): ...

    @_draw.kernel("numpy")
    def _draw_on_numpy(self, ops, x):
        return x + ops.random_uniform(x.shape)


def test_declared_effects():
    executor = GraphExecutor(Meter(), {"x": STATES}, backend="numpy")
    effects = {node.function: executor.built.effects[id_] for id_, node in executor.built.graph.nodes.items()}
    read = {"meter/total", "meter/calls", "meter/scale"}
    assert (effects["_add"].reads, effects["_add"].writes) == (read, {"meter/total", "meter/calls"})
    assert effects["_add"].hazard and effects["_add"].aliases == (frozenset(),)
    assert (effects["_total"].reads, effects["_total"].writes, effects["_total"].aliases) == (
        read,
        frozenset(),
        (frozenset({"meter/total"}),),
    )
    assert effects["_draw"].writes == effects["_draw"].draws == {stream_name("meter")}


def test_declared_writes_and_what_shares_memory():
    executor = GraphExecutor(Meter(), {"x": STATES}, backend="numpy")
    x = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
    y, total = executor.execute("add", x)
    np.testing.assert_array_equal(y, x * 3.0)
    np.testing.assert_array_equal(total, [4.0, 6.0])
    executor.execute("add", x)
    np.testing.assert_array_equal(total, [4.0, 6.0])  # what was returned is a copy
    weights = executor.get_weights()
    np.testing.assert_array_equal(weights["meter/total"], [8.0, 12.0])
    assert weights["meter/calls"] == 2.0


def test_equal_calls_that_draw_are_two():
    first, second = (GraphExecutor(Meter(), {"x": STATES}, backend="numpy") for _ in range(2))
    drawn = first.execute("draw", np.zeros((3, 2), np.float32))
    assert (drawn[0] != drawn[1]).all()
    np.testing.assert_array_equal(drawn, second.execute("draw", np.zeros((3, 2), np.float32)))


def meter(**options):
    class Broken(Meter):
        @graph_fn(spaces=lambda self, x: x, **options)
        def _add(self, ops, x): ...

        @_add.kernel("numpy")
        def _add_on_numpy(self, ops, x):
            return x

    return Broken()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"writes": {"size"}},
            "writes= must name attributes that hold variables of meter, given 'size': 2.0",
        ),
        ({"writes": {"memory"}}, "writes= must name attributes that hold variables of meter, given 'memory'"),
        (
            {"shares": lambda self, x: [3]},
            "shares= must name attributes that hold variables of meter, given 3",
        ),
        ({"writes": {"totl"}}, "has no API method or attribute 'totl'. Did you mean 'total'?"),
    ],
)
def test_effects_name_variables_of_the_component(options, message):
    with pytest.raises(BuildError, match=re.escape(message)):
        GraphExecutor(meter(**options), {"x": STATES}, backend="numpy")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"writes": {"w"}}, "writes= is only for functions without a body"),
        ({"draws": True}, "draws= is only for functions without a body"),
        ({"shares": {"w"}}, "shares= is only for functions without a body"),
        ({"writes": {"w"}, "host": True, "spaces": STATES}, "the effects of this one are inferred"),
    ],
)
def test_effects_of_a_body_are_seen(options, message):
    with pytest.raises(AssemblyError, match=message):
        graph_fn(**options)(lambda self, ops, x: x)


def test_names_of_variables_are_a_collection():
    with pytest.raises(
        AssemblyError, match="writes= is a collection of attribute names or a function, given 'w'"
    ):

        @graph_fn(spaces=STATES, writes="w")
        def _f(self, ops, x): ...


def test_the_ranks_of_its_outputs_are_those_of_its_arguments():
    sequence = FloatBox(shape=(2,), add_batch_rank=True, add_time_rank=True, time_major=True)
    function = root(lambda self, x: sequence, ["numpy"])
    executor = GraphExecutor(function, {"x": sequence}, backend="numpy")
    assert str(executor.built.value_of(executor.built.graph.results_of("run"))) == "float32[T, B, 2]"


def test_a_docstring_says_what_a_function_without_a_body_calls():
    def _f(self, ops, x):
        """a thing of torch's own.

        And more.
        """

    function = graph_fn(spaces=lambda self, x: x)(_f)
    function.kernel("torch")(lambda self, ops, x: x)
    made = type("Made", (Component,), {"run": rlgraph_api(lambda self, x: self._f(x)), "_f": function})
    with pytest.raises(
        BuildError, match=r"root._f \(a thing of torch's own\) has no body and no kernel for 'numpy'"
    ):
        GraphExecutor(made(scope="root"), {"x": STATES}, backend="numpy")


def test_a_plan_without_bodies_can_be_shown():
    executor = GraphExecutor(Meter(), {"x": STATES}, backend="numpy")
    assert "v1 = meter__add(x)" in executor.plan("add").source


def test_a_container_of_different_ranks():
    parts = {"rows": STATES, "pair": (FloatBox(), IntBox(3, add_batch_rank=True))}
    function = root((parts,), ["numpy"])
    executor = GraphExecutor(function, {"x": STATES}, backend="numpy")
    shown = str(executor.built.value_of(executor.built.graph.results_of("run")))
    assert shown == "{'rows': float32[B, 2], 'pair': (float32[], int64[B])}"
    with pytest.raises(BuildError, match=r"spaces= must give 1 Space\(s\)"):
        GraphExecutor(root((STATES, STATES), ["numpy"]), {"x": STATES}, backend="numpy")
