"""Control flow in graph functions: values against plain loops, derivatives by hand, what a build refuses."""

import numpy as np
import pytest

from rlgraph.core import BuildError, Component, GraphExecutor, gradients, graph_fn, rlgraph_api
from rlgraph.core.errors import InferenceError
from rlgraph.core.ops import (
    EffectRecorder,
    SymbolicDim,
    SymbolicOps,
    SymbolicTensor,
    SymbolicVariable,
    TensorSpec,
)
from rlgraph.spaces import FloatBox, IntBox
from rlgraph.testing import ComponentTest

B, T = SymbolicDim.symbol("B"), SymbolicDim.symbol("T")


class Called(Component):
    """A graph function `compute`, which may use the weight `w` [], which starts at 2."""

    def __init__(self, compute):
        self.compute = compute
        super().__init__(scope="flow")

    def create_variables(self, input_spaces, action_space=None):
        self.w = self.get_variable("w", FloatBox(), initializer=2.0)

    @rlgraph_api
    @graph_fn
    def call(self, ops, x):
        return self.compute(self, ops, x)


class Flow(Called):
    """And the derivative of its sum by the weight."""

    @rlgraph_api
    def derive(self, x):
        return self._first(gradients(self._sum(x), self.variables()))

    @graph_fn
    def _sum(self, ops, x):
        return ops.sum(self.compute(self, ops, x))

    @graph_fn
    def _first(self, ops, found):
        return found[0][0]


VECTOR = FloatBox(add_batch_rank=True)


def run(compute, x, backend, space=VECTOR):
    return ComponentTest(Called(compute), {"x": space}, backend=backend).test(("call", [x]))


def derivative(compute, x, trainer, space=VECTOR):
    return ComponentTest(Flow(compute), {"x": space}, backend=trainer).test(("derive", [x]))


# cond.


def chosen(self, ops, x):
    return ops.cond(
        ops.sum(x) > 0.0,
        lambda: (x * self.w, ops.ones((), "bool")),
        lambda: (x - self.w, ops.zeros((), "bool")),
    )


def test_cond(backend):
    test = ComponentTest(Called(chosen), {"x": VECTOR}, backend=backend)
    test.test(("call", [[1.0, 2.0]]), expected_outputs=([2.0, 4.0], True))
    test.test(("call", [[1.0, -2.0]]), expected_outputs=([-1.0, -4.0], False))


def test_only_one_branch_is_computed():
    """Where Python decides, the other function is not even called."""
    from rlgraph.core.numpy.ops import NumpyOps

    assert NumpyOps().cond(np.bool_(True), lambda: 1, lambda: 1 / 0) == 1


def test_derivative_of_cond(trainer):
    test = ComponentTest(Flow(lambda self, ops, x: chosen(self, ops, x)[0]), {"x": VECTOR}, backend=trainer)
    test.test(("derive", [[1.0, 2.0]]), expected_outputs=3.0)
    test.test(("derive", [[1.0, -2.0]]), expected_outputs=-2.0)


# while_loop.


def collatz(self, ops, x):
    def step(carry):
        n, steps = carry
        return ops.where(n % 2 == 0, n // 2, 3 * n + 1), steps + 1

    start = (ops.sum(x), ops.zeros((), "int64"))
    return ops.while_loop(lambda carry: carry[0] > 1, step, start)[1]


def test_while_loop(backend):
    space = IntBox(add_batch_rank=True)
    assert run(collatz, [3, 4], backend, space) == 16  # 7 22 11 34 17 52 26 13 40 20 10 5 16 8 4 2 1
    assert run(collatz, [1], backend, space) == 0


def powers(self, ops, x, limit=None):
    return ops.while_loop(lambda c: ops.max(c) < 100.0, lambda c: c * self.w, x, limit)


def test_while_loop_ends_at_its_limit(backend):
    np.testing.assert_array_equal(run(powers, [1.0, 3.0], backend), [64.0, 192.0])
    limited = run(lambda self, ops, x: powers(self, ops, x, 3), [1.0, 3.0], backend)
    np.testing.assert_array_equal(limited, [8.0, 24.0])
    sized = run(lambda self, ops, x: powers(self, ops, x, ops.shape(x)[0]), [1.0, 3.0], backend)
    np.testing.assert_array_equal(sized, [4.0, 12.0])


def test_derivative_of_while_loop(trainer):
    # (1 + 3) w^6 at w = 2.
    assert derivative(powers, [1.0, 3.0], trainer) == 4 * 6 * 2**5


# scan.


def discounted(self, ops, x, reverse=True):
    """Discounted sums by hand: y_t = x_t + w y_{t+1}."""

    def step(carry, reward):
        total = reward + self.w * carry
        return total, {"total": total, "before": carry}

    return ops.scan(step, ops.zeros(()), x, reverse)


def test_scan(backend):
    last, ys = run(discounted, [1.0, 2.0, 3.0], backend)
    assert last == 17.0
    np.testing.assert_array_equal(ys["total"], [17.0, 8.0, 3.0])
    np.testing.assert_array_equal(ys["before"], [8.0, 3.0, 0.0])
    last, ys = run(lambda s, ops, x: discounted(s, ops, x, False), [1.0, 2.0, 3.0], backend)
    assert last == 11.0
    np.testing.assert_array_equal(ys["total"], [1.0, 4.0, 11.0])


def test_scan_over_nothing(backend):
    last, ys = run(discounted, np.zeros(0), backend)
    assert (last, ys["total"].shape, ys["total"].dtype) == (0.0, (0,), np.float32)


def test_scan_along_another_axis(backend):
    """A recurrent cell over [B, T, 2], with everything nested."""
    x = np.random.default_rng(0).normal(size=(3, 4, 2)).astype(np.float32)

    def cell(self, ops, x):
        def step(carry, item):
            state = ops.tanh(self.w * carry["h"] + item["x"])
            return {"h": state, "n": carry["n"] + 1}, (state, item["y"] * 2)

        start = {"h": ops.zeros_like(x[:, 0]), "n": ops.zeros((), "int64")}
        xs = {"x": x, "y": ops.astype(x[..., 0] > 0.0, "int64")}
        return ops.scan(step, start, xs, axis=1)

    space = FloatBox(shape=(2,), add_batch_rank=True, add_time_rank=True)
    last, (states, doubled) = run(cell, x, backend, space)
    h, expected = np.zeros((3, 2), np.float32), np.zeros((3, 4, 2), np.float32)
    for t in range(4):
        h = expected[:, t] = np.tanh(2 * h + x[:, t])
    assert last["n"] == 4
    np.testing.assert_allclose(last["h"], h, rtol=1e-5)
    np.testing.assert_allclose(states, expected, rtol=1e-5)
    np.testing.assert_array_equal(doubled, 2 * (x[..., 0] > 0))


def test_scan_that_collects_nothing(backend):
    last, ys = run(
        lambda s, ops, x: ops.scan(lambda c, v: (c + v, ()), ops.zeros(()), x), [1.0, 2.0], backend
    )
    assert (last, ys) == (3.0, ())


def test_derivative_of_scan(trainer):
    # y_2 = 3, y_1 = 2 + 3 w, y_0 = 1 + 2 w + 3 w^2; the derivative of y_0 + y_1 + y_2 is 5 + 6 w.
    found = derivative(lambda s, ops, x: discounted(s, ops, x)[1]["total"], [1.0, 2.0, 3.0], trainer)
    assert found == 17.0
    found = derivative(lambda s, ops, x: discounted(s, ops, x)[0], [1.0, 2.0, 3.0], trainer)
    assert found == 14.0


def test_derivative_through_every_operation_inside_a_scan(trainer):
    """Also those whose derivative a backend has rewritten: means, sums, picked elements."""

    def compute(self, ops, x):
        def step(carry, row):
            picked = ops.take_along_axis(row * self.w, ops.zeros((1,), "int64"))
            return carry * ops.mean(row * self.w) + ops.sum(picked), ops.cond(
                carry > 1.0, lambda: carry * self.w, lambda: carry
            )

        last, ys = ops.scan(step, ops.zeros(()), x)
        return last + ops.sum(ys)

    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    space = FloatBox(shape=(2,), add_batch_rank=True)
    # c1 = w; c2 = w * 3.5 w + 3 w; ys = [0, c1 * w]: c2 + w^2 has the derivative 7 w + 3 + 2 w.
    assert derivative(compute, x, trainer, space) == pytest.approx(21.0)


# map.


def test_map(backend):
    out = run(
        lambda s, ops, x: ops.map(lambda v: {"sum": v["a"] + s.w, "a": v["a"]}, {"a": x}), [1.0, 5.0], backend
    )
    np.testing.assert_array_equal(out["sum"], [3.0, 7.0])
    space = FloatBox(shape=(3,), add_batch_rank=True)
    x = np.arange(6.0).reshape(2, 3)
    out = run(lambda s, ops, x: ops.map(lambda column: ops.sum(column), x), x, backend, space)
    np.testing.assert_array_equal(out, [3.0, 12.0])
    out = run(lambda s, ops, x: ops.map(lambda column: column * 2.0, x, axis=1), x, backend, space)
    np.testing.assert_array_equal(out, 2 * x)
    assert run(lambda s, ops, x: ops.map(lambda v: v[None], x), [], backend).shape == (0, 1)


def test_derivative_of_map(trainer):
    found = derivative(lambda s, ops, x: ops.map(lambda v: ops.square(v * s.w), x), [1.0, 2.0], trainer)
    assert found == 2 * 2.0 * (1.0 + 4.0)


def test_variables_read_inside_and_behind(backend):
    """A variable may be used for the first time in a body and again outside of it."""

    def compute(self, ops, x):
        inside = ops.map(lambda v: ops.cond(v > 0.0, lambda: v * self.w, lambda: v), x)
        return inside + self.w

    np.testing.assert_array_equal(run(compute, [1.0, -1.0], backend), [4.0, 1.0])


# Rules.


def tensor(*shape, dtype="float32", carries=()):
    return SymbolicTensor(TensorSpec(shape, dtype), carries=frozenset(carries))


OPS = SymbolicOps(EffectRecorder(), "float32")


def test_specs():
    carry, ys = OPS.scan(lambda c, x: (c + x, (c, x > 0.0)), tensor(B, 3), tensor(T, B, 3))
    assert [repr(t) for t in (carry, *ys)] == ["float32[B, 3]", "float32[T, B, 3]", "bool[T, B, 3]"]
    ys = OPS.map(lambda x: OPS.argmax(x, 0), tensor(B, T, 3), axis=1)
    assert repr(ys) == "int64[3, T]"


def test_bounds_do_not_survive_a_loop():
    count = OPS.while_loop(lambda n: n < 5, lambda n: n + 1, OPS.zeros((), "int64"))
    assert (count.spec.low, count.spec.high) == (None, None)
    either = OPS.cond(tensor(dtype="bool"), lambda: OPS.zeros((2,)), lambda: tensor(2))
    assert (either.spec.low, either.spec.high) == (None, None)


def test_what_results_can_be_differentiated_by():
    a, b, c = (tensor(B, carries=[name]) for name in "abc")
    flag = tensor(dtype="bool")
    assert OPS.cond(flag, lambda: a, lambda: b).carries == {"a", "b"}
    # b reaches the first carried value only in the second round, c is never used as a number.
    first, second = OPS.while_loop(
        lambda x: OPS.sum(c) > 0.0, lambda x: (x[0] + x[1], x[1] * b), (a, tensor(B))
    )
    assert (first.carries, second.carries) == ({"a", "b"}, {"b"})
    carry, y = OPS.scan(lambda x, item: (x * 1.0, x + OPS.stop_gradient(item)), tensor(carries=["a"]), b)
    assert (carry.carries, y.carries) == ({"a"}, {"a"})
    assert OPS.map(lambda x: OPS.argmax(x[None], 0), b).carries == frozenset()


def test_what_results_share_memory_with():
    ours, theirs = SymbolicTensor(TensorSpec((B,), "float32"), frozenset("a")), tensor(B)
    assert OPS.cond(tensor(dtype="bool"), lambda: ours, lambda: theirs).aliases == {"a"}
    assert OPS.while_loop(lambda c: OPS.sum(c) > 0.0, lambda c: c * 2.0, ours).aliases == {"a"}
    carry, y = OPS.scan(lambda c, x: (x, x), tensor(), ours)
    assert (carry.aliases, y.aliases) == ({"a"}, frozenset())


@pytest.mark.parametrize("sides", [("view", "new"), ("new", "view")])
def test_what_may_be_a_view_is_worth_nothing_after_a_write(sides):
    recorder = EffectRecorder()
    ops, variable = (
        SymbolicOps(recorder, "float32"),
        SymbolicVariable("v", TensorSpec((2,), "float32"), recorder),
    )
    values = {"view": ops.flip(variable), "new": ops.zeros((2,))}
    then, otherwise = (values[side] for side in sides)
    either = ops.cond(FLAG, lambda: then, lambda: otherwise)
    ops.assign(variable, 1.0)
    with pytest.raises(InferenceError, match="view of variable v is used after the variable was written"):
        either + 1.0


def test_reads_are_recorded():
    test = ComponentTest(Called(chosen), {"x": VECTOR}, backend="numpy")
    (effects,) = test.executor.built.effects.values()
    assert (effects.reads, effects.writes, effects.pure) == ({"flow/w"}, frozenset(), True)


FLAG = tensor(dtype="bool")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda o, x: o.cond(True, lambda: x, lambda: x),
            "pred must be a bool tensor without axes, given True",
        ),
        (lambda o, x: o.cond(x > 0.0, lambda: x, lambda: x), "pred must be .* given bool.B."),
        (
            lambda o, x: o.cond(o.sum(x) > 0.0, lambda: x, lambda: o.sum(x)),
            r"both branches .* `then` returns float32\[B\], `otherwise` float32\[\]",
        ),
        (
            lambda o, x: o.cond(o.sum(x) > 0.0, lambda: x, lambda: 0.0),
            "result of `otherwise` must be a tensor.*0.0",
        ),
        (
            lambda o, x: o.while_loop(lambda c: o.sum(c) > 0.0, lambda c: o.sum(c), x),
            r"must keep its shape and dtype; it enters the body as float32\[B\] and leaves it as float32\[\]",
        ),
        (
            lambda o, x: o.while_loop(lambda c: o.sum(c[0]) > 0.0, lambda c: c[0], (x,)),
            r"enters the body as \(float32\[B\],\) and leaves it as float32\[B\]",
        ),
        (lambda o, x: o.while_loop(lambda c: c, lambda c: c, x), "the result of `cond` must be a bool"),
        (
            lambda o, x: o.while_loop(lambda c: 1 < 2, lambda c: c, x),
            "the result of `cond` must be .* given True",
        ),
        (
            lambda o, x: o.while_loop(lambda c: FLAG, lambda c: c, 0.0),
            "init must be a tensor, .* given float 0.0",
        ),
        (
            lambda o, x: o.while_loop(lambda c: FLAG, lambda c: c, x, 1.5),
            "max_iterations must be .* given 1.5",
        ),
        (lambda o, x: o.scan(lambda c, v: c, o.sum(x), x), "body must return .carry, y."),
        (
            lambda o, x: o.scan(lambda c, v: (c, None), o.sum(x), x),
            "the output of body must be a tensor.* NoneType None",
        ),
        (lambda o, x: o.scan(lambda c, v: (c, v), o.sum(x), o.sum(x)), "xs must be tensors with an axis 0"),
        (lambda o, x: o.scan(lambda c, v: (c, v), o.sum(x), ()), "xs must be tensors with an axis 0"),
        (
            lambda o, x: o.scan(lambda c, v: (c, v[0]), o.sum(x), (x, o.zeros((3,)))),
            r"xs differ in size along axis 0: \(float32\[B\], float32\[3\]\)",
        ),
        (lambda o, x: o.map(lambda v: v, x, axis=-1), "axis must be an integer >= 0, given -1"),
        (
            lambda o, x: o.map(lambda v: o.sum(v), x[None, None], axis=2),
            r"float32\[\] cannot be stacked along axis 2",
        ),
        (lambda o, x: o.map(x), "missing a required argument: 'xs'"),
        (lambda o, x: o.fold(x), "no operation ops.fold"),
    ],
)
def test_wrong_control_flow(call, message):
    with pytest.raises(BuildError, match=message):
        ComponentTest(Called(lambda self, ops, x: call(ops, x)), {"x": VECTOR}, backend="numpy")


class Writes(Component):
    """Uses `operation` inside `flow`."""

    def __init__(self, use):
        self.use = use
        super().__init__(scope="writes")

    def create_variables(self, input_spaces, action_space=None):
        self.total = self.get_variable("total", FloatBox(shape=(2,)))

    @rlgraph_api
    @graph_fn
    def call(self, ops, x):
        def inside(*_):
            return self.use(ops, self.total) or x

        return ops.cond(ops.sum(x) > 0.0, inside, lambda: x)


@pytest.mark.parametrize(
    ("name", "use"),
    [
        ("assign", lambda ops, v: ops.assign(v, 1.0)),
        ("assign_add", lambda ops, v: ops.assign_add(v, 1.0)),
        ("scatter_update", lambda ops, v: ops.scatter_update(v, ops.zeros((1,), "int64"), ops.ones((1,)))),
        ("random_uniform", lambda ops, v: ops.random_uniform((2,))),
        (
            "assign",
            lambda ops, v: ops.map(lambda y: (ops.assign(v, 1.0), y)[1], ops.ones((2,))),
        ),
    ],
)
def test_writes_and_draws_inside_are_refused(name, use):
    with pytest.raises(
        BuildError, match=rf"ops.{name} inside ops.(cond|map): .*`loop` or `branch` of an API method"
    ):
        GraphExecutor(Writes(use), {"x": VECTOR}, backend="numpy")
    # Behind it they are welcome.
    assert OPS.cond(FLAG, lambda: tensor(2), lambda: tensor(2)).spec.shape == (2,)
    assert OPS.random_uniform((2,)).spec.shape == (2,)


def test_the_bounds_of_a_condition_are_those_of_both_sides():
    ops = SymbolicOps(EffectRecorder("stream"), "float32")
    flag = SymbolicTensor(TensorSpec((), "bool"))
    small, large = (SymbolicTensor(TensorSpec((), "int64", low, low + 3)) for low in (0, 2))
    found = ops.cond(flag, lambda: small, lambda: large).spec
    assert (found.low, found.high) == (0, 5)
