"""What is peculiar to this backend; all that every backend must do is in the conformance suite."""

import subprocess
import sys

import jax
import numpy as np
import pytest
from jax import numpy as jnp

from rlgraph.core import (
    Component,
    GraphExecutor,
    PerformanceWarning,
    SpecError,
    gradients,
    graph_fn,
    loop,
    rlgraph_api,
)
from rlgraph.spaces import FloatBox, IntBox
from rlgraph.testing import record_draws, replay_draws
from rlgraph_jax.ops import JaxOps
from rlgraph_jax.state import SegmentState

ROWS = FloatBox(shape=(2,), add_batch_rank=True)


def built(root, spaces=None, **execution):
    return GraphExecutor(root, spaces or {}, backend="jax", execution_spec=execution)


class Scale(Component):
    """``inputs * w``; counts how often JAX traces it."""

    traces = 0

    def create_variables(self, input_spaces, action_space=None):
        self.w = self.get_variable("w", FloatBox(shape=(2,)), initializer=3.0)

    @rlgraph_api
    def call(self, inputs):
        return self._call(inputs)

    @graph_fn
    def _call(self, ops, inputs):
        self.traces_of.append(inputs.shape[1])
        return inputs * self.w

    def __init__(self):
        self.traces_of = []
        super().__init__(scope="scale")


def test_nothing_is_imported_with_the_descriptor():
    code = "import sys, rlgraph_jax.descriptor; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_one_program_per_shape():
    root = Scale()
    executor = built(root, {"inputs": ROWS})
    before = len(root.traces_of)
    for size in (1, 5, 1, 5, 5):
        np.testing.assert_array_equal(
            executor.execute("call", np.ones((size, 2), "float32")), 3.0
        )
    assert len(root.traces_of) - before == 2


def test_64_bits_do_not_leak():
    """float64 and int64 inside, JAX's own default outside, also in a program that the application jits itself."""

    class Wide(Component):
        @rlgraph_api
        def call(self, inputs):
            return self._call(inputs)

        @graph_fn(returns=2)
        def _call(self, ops, inputs):
            return inputs + 1e-12, ops.argmax(inputs, 1) + 2**40

    executor = built(Wide(scope="wide"), {"inputs": ROWS}, dtype="float64")
    floats, integers = executor.execute("call", np.zeros((1, 2)))
    assert (floats.dtype, integers.dtype) == (np.float64, np.int64)
    assert floats.tolist() == [[1e-12, 1e-12]]
    assert integers.tolist() == [2**40]
    assert jnp.ones(()).dtype == np.float32
    assert jax.jit(lambda x: x * 2)(np.ones(3)).dtype == np.float32


def test_outputs_belong_to_the_caller():
    executor = built(Scale(), {"inputs": ROWS})
    outputs = executor.execute("call", np.ones((1, 2), "float32"))
    outputs += 1.0  # JAX's own arrays cannot be written
    assert outputs.tolist() == [[4.0, 4.0]]


def test_threads():
    executor = built(Scale(), {"inputs": ROWS}, threads=1)
    assert executor.execute("call", np.ones((1, 2), "float32")).tolist() == [[3.0, 3.0]]
    with pytest.raises(
        SpecError,
        match=r"threads: JAX computes with one thread .* expected 1 or null, given 3",
    ):
        built(Scale(), {"inputs": ROWS}, threads=3)


# Handles.


class Two(Component):
    """Variables to look at."""

    def create_variables(self, input_spaces, action_space=None):
        self.v = self.get_variable(
            "v", FloatBox(shape=(2, 2)), initializer=[[1.0, 2.0], [3.0, 4.0]]
        )
        self.n = self.get_variable("n", IntBox(shape=(2,)), initializer=5)

    @rlgraph_api
    def call(self):
        return self._call()

    @graph_fn
    def _call(self, ops):
        return ops.read(self.v), ops.read(self.n)


def test_handles_are_what_they_stand_for():
    executor = built(Two(scope="two"))
    state, ops = SegmentState(executor.built.layout), JaxOps()
    v, n = (state.handle(executor.built.variables[f"two/{name}"]) for name in "vn")
    x, constant = (
        np.array([[1.0, 2.0], [3.0, 4.0]], "float32"),
        np.full((2, 2), 2.0, "float32"),
    )
    with jax.enable_x64(True), state.holding(executor.storage.values):
        assert (v.shape, v.ndim, v.size, v.dtype) == ((2, 2), 2, 4, np.float32)
        assert repr(n).endswith("[0:2] (2,)>")
        for given, expected in (
            (v * v + 1.0 - v[0], x * x + 1 - x[0]),
            (1.0 - v, 1 - x),
            (constant * v, 2 * x),
            (jnp.asarray(constant) / v, 2 / x),
            (v @ v, x @ x),
            (n // 2, [2, 2]),
            (n % 2, [1, 1]),
            (-n, [-5, -5]),
            (n > 4, [True, True]),
            (ops.concat([v, v]), np.concatenate([x, x])),
            (ops.where(v > 2.0, v, 0.0), np.where(x > 2, x, 0)),
            (ops.linear(v, v, v[0]), x @ x + x[0]),
        ):
            np.testing.assert_allclose(given, expected, rtol=1e-6)


class Native(Component):
    """A graph function that has a kernel for JAX."""

    def create_variables(self, input_spaces, action_space=None):
        self.w = self.get_variable("w", FloatBox(shape=(2,)), initializer=2.0)

    @rlgraph_api
    def call(self, inputs):
        return self._call(inputs)

    @graph_fn
    def _call(self, ops, inputs):
        return ops.sum(inputs * self.w, -1)

    @_call.kernel("jax")
    def _call_jax(self, ops, inputs):
        return (
            jnp.dot(inputs, jnp.asarray(self.w)) + 100.0
        )  # so that the test sees which of them ran


@pytest.mark.parametrize(("use_kernels", "expected"), [(True, 106.0), (False, 6.0)])
def test_declared_kernels(use_kernels, expected):
    executor = built(Native(scope="native"), {"inputs": ROWS}, use_kernels=use_kernels)
    assert executor.execute("call", np.array([[1.0, 2.0]], "float32")).tolist() == [
        expected
    ]


# What cannot be compiled.


class Masked(Component):
    @rlgraph_api
    def call(self, inputs):
        return self._call(inputs)

    @graph_fn
    def _call(self, ops, inputs):
        return ops.sum(ops.boolean_mask(inputs, inputs > 0.0))

    @rlgraph_api
    def decay(self, inputs):
        return self._decay(inputs)

    @graph_fn
    def _decay(self, ops, inputs):
        kept = ops.boolean_mask(inputs, inputs > 0.0)
        return ops.sum(kept) + ops.sum(ops.linear_recurrence(inputs, 0.5))


def test_what_depends_on_values_runs_by_operations():
    executor = built(Masked(scope="masked"), {"inputs": ROWS})
    inputs = np.array([[1.0, -2.0], [3.0, 4.0]], "float32")
    with pytest.warns(
        PerformanceWarning,
        match=r"^call__segment_0 cannot be compiled by JAX: .*boolean_mask",
    ):
        assert executor.execute("call", inputs) == 8.0
    assert executor.execute("call", -inputs) == 2.0  # with no other warning


def test_a_recurrence_over_no_steps_runs_by_operations():
    executor = built(Masked(scope="masked"), {"inputs": ROWS})
    with pytest.warns(PerformanceWarning, match="boolean_mask"):
        assert executor.execute("decay", np.zeros((0, 2), "float32")) == 0.0


class Powers(Component):
    """``w**n`` by loops of every kind, and its derivative."""

    def __init__(self, power):
        self.power = power
        super().__init__(scope="powers")

    def create_variables(self, input_spaces, action_space=None):
        self.w = self.get_variable("w", FloatBox(), initializer=2.0)

    @rlgraph_api
    def derive(self, n):
        return self._first(gradients(self.power(self, n), self.variables()))

    @graph_fn
    def _times(self, ops, x):
        return x * self.w

    @graph_fn
    def _while(self, ops, n, limit=None):
        def body(carry):
            return carry[0] + 1, carry[1] * self.w

        start = (ops.zeros((), "int64"), ops.ones(()))
        return ops.while_loop(lambda carry: carry[0] < n, body, start, limit)[1]

    @graph_fn
    def _first(self, ops, derivatives):
        return ops.sum(derivatives[0])


def fixed_loop(self, n):
    return loop(3, lambda i, x: self._times(x), 1.0)


def loop_of_given_count(self, n):
    return loop(n, lambda i, x: self._times(x), 1.0)


def while_loop_with_limit(self, n):
    return self._while(n, limit=10)


def while_loop_without_limit(self, n):
    return self._while(n)


@pytest.mark.parametrize("power", [fixed_loop, while_loop_with_limit])
def test_derivatives_of_bounded_loops_are_compiled(power):
    executor = built(Powers(power), {"n": IntBox()}, dtype="float64")
    assert executor.execute("derive", 3) == 3 * 2.0**2


@pytest.mark.parametrize("power", [loop_of_given_count, while_loop_without_limit])
def test_derivatives_of_other_loops_run_by_operations(power):
    executor = built(Powers(power), {"n": IntBox()}, dtype="float64")
    with pytest.warns(PerformanceWarning, match="Loops of a fixed count"):
        assert executor.execute("derive", 3) == 3 * 2.0**2
    assert executor.execute("derive", 5) == 5 * 2.0**4


# Random streams.


class Noise(Component):
    @rlgraph_api
    def draw(self):
        return loop(3, lambda i: (None, self._draw()), collect=True)[1]

    @graph_fn
    def _draw(self, ops):
        return ops.random_normal((2,))


def test_draws_of_a_loop_continue_from_call_to_call():
    """The counter goes on inside of the loop and behind it: six draws, one after the other."""
    executor = built(Noise(scope="noise"), seed=1)
    values = np.concatenate([executor.execute("draw"), executor.execute("draw")])
    assert len(np.unique(values)) == 12
    (state,) = executor.storage.read_tensor_streams().values()
    assert (state.dtype, state[2]) == (np.uint32, 6)


def test_draws_can_be_recorded_and_replayed():
    one, other = (built(Noise(scope="noise"), seed=seed) for seed in (1, 2))
    draws = record_draws(one)
    expected = one.execute("draw")
    np.testing.assert_array_equal(np.stack(draws), expected)
    replay_draws(other, draws)
    np.testing.assert_array_equal(other.execute("draw"), expected)
