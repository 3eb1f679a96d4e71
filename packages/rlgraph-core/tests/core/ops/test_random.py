"""Draws: their distribution on every backend, what they depend on, and what a build makes of them."""

import os
import subprocess
import sys

import numpy as np
import pytest

from rlgraph.core import BuildError, Component, GraphExecutor, gradients, graph_fn, rlgraph_api
from rlgraph.core.ops import stream_name
from rlgraph.core.random_streams import stream_seed
from rlgraph.spaces import FloatBox, IntBox
from rlgraph.testing import ComponentTest

N = 20_000


class Draws(Component):
    """One API method, which calls the function it is given."""

    def __init__(self, draw, returns=1, scope="draws"):
        self.draw_ = draw
        super().__init__(scope=scope)

    @rlgraph_api
    @graph_fn
    def draw(self, ops, x):
        return self.draw_(ops, x)


def made(draw, backend, space=None, **options):
    space = space or FloatBox(add_batch_rank=True)
    return ComponentTest(Draws(draw), {"x": space}, backend=backend, **options)


def drawn(draw, backend, x=None, **options):
    return made(draw, backend, **options).test(("draw", [np.zeros(N) if x is None else x]))


def size(ops, x):
    return ops.shape(x)[0]


def near(sample, mean, deviation):
    """Within five standard errors."""
    sample = np.asarray(sample, np.float64)
    assert abs(sample.mean() - mean) < 5 * deviation / np.sqrt(sample.size)
    assert abs(sample.std() - deviation) < 5 * deviation / np.sqrt(sample.size)


# Distributions: the moments are those of the textbook.


def test_uniform(backend):
    out = drawn(lambda ops, x: ops.random_uniform((size(ops, x), 2), -1.0, 3.0), backend)
    assert (out.shape, out.dtype) == ((N, 2), np.float32)
    assert (out.min() >= -1.0, out.max() <= 3.0) == (True, True)
    near(out, 1.0, 4.0 / np.sqrt(12.0))
    assert abs(np.corrcoef(out.T)[0, 1]) < 5 / np.sqrt(N)


def test_normal(backend):
    out = drawn(lambda ops, x: ops.random_normal((size(ops, x),), 1.0, 2.0), backend)
    assert out.dtype == np.float32
    near(out, 1.0, 2.0)
    assert abs((np.abs(out - 1.0) < 2.0).mean() - 0.6827) < 5 * np.sqrt(0.6827 * 0.3173 / N)


def test_truncated_normal(backend):
    out = drawn(
        lambda ops, x: ops.random_truncated_normal((size(ops, x),), 1.0, 0.5, dtype="float64"), backend
    )
    assert out.dtype == np.float64
    assert np.abs(out - 1.0).max() <= 1.0
    # A standard normal within two deviations has the variance 1 - 4 phi(2) / (2 Phi(2) - 1).
    near(out, 1.0, 0.5 * np.sqrt(1.0 - 4.0 * 0.05399097 / 0.95449974))


def test_integers(backend):
    out = drawn(lambda ops, x: ops.random_integers((size(ops, x),), -1, 3), backend)
    assert out.dtype == np.int64
    counts = np.bincount(out + 1, minlength=4)
    assert (out.min(), out.max()) == (-1, 2)
    assert (np.abs(counts - N / 4) < 5 * np.sqrt(N * 0.25 * 0.75)).all()


def test_integers_below_a_size_and_a_tensor(backend):
    def draw(ops, x):
        n = size(ops, x)
        tensor = ops.sum(ops.ones((2, 3), "int64"))
        return {
            "size": ops.random_integers((2000,), 0, n, dtype="int32"),
            "tensor": ops.random_integers((n, 500), ops.min(ops.ones((1,), "int64")), tensor),
        }

    out = drawn(draw, backend, np.zeros(4))
    assert (out["size"].dtype, sorted(set(out["size"].tolist()))) == (np.int32, [0, 1, 2, 3])
    assert (out["tensor"].shape, sorted(set(out["tensor"].reshape(-1).tolist()))) == (
        (4, 500),
        [1, 2, 3, 4, 5],
    )
    near(out["tensor"], 3.0, np.sqrt(2.0))


def test_permutation(backend):
    out = drawn(lambda ops, x: ops.random_permutation(size(ops, x)), backend, np.zeros(1000))
    assert (out.dtype, sorted(out.tolist())) == (np.int64, list(range(1000)))
    assert abs(np.corrcoef(out, np.arange(1000))[0, 1]) < 5 / np.sqrt(1000)
    test = made(lambda ops, x: ops.random_permutation(3), backend)
    seen = {tuple(test.test(("draw", [[0.0]])).tolist()) for _ in range(60)}
    assert len(seen) == 6


def test_categorical(backend):
    p = np.array([0.5, 0.0, 0.2, 0.3])
    with np.errstate(divide="ignore"):
        logits = np.log(p) + 7.0
    out = drawn(
        lambda ops, x: ops.random_categorical(x),
        backend,
        np.broadcast_to(logits, (N // 2, 2, 4)),
        space=FloatBox(shape=(2, 4), add_batch_rank=True),
    )
    assert (out.shape, out.dtype) == ((N // 2, 2), np.int64)
    counts = np.bincount(out.reshape(-1), minlength=4)
    assert counts[1] == 0
    assert (np.abs(counts - N * p) <= 5 * np.sqrt(N * p * (1 - p))).all()


def test_bernoulli(backend):
    p = np.array([0.0, 0.1, 1.0])
    out = drawn(
        lambda ops, x: ops.random_bernoulli(x),
        backend,
        np.broadcast_to(p, (N, 3)),
        space=FloatBox(shape=(3,), add_batch_rank=True),
    )
    assert out.dtype == np.bool_
    assert (out[:, 0].any(), out[:, 2].all()) == (False, True)
    near(out[:, 1], 0.1, 0.3)


def test_float64_execution(backend):
    out = drawn(lambda ops, x: ops.random_normal((3,)), backend, execution_spec={"dtype": "float64"})
    assert out.dtype == np.float64


# What draws depend on.


class Noise(Component):
    @rlgraph_api
    @graph_fn
    def call(self, ops, x):
        return x + ops.random_normal(ops.shape(x))

    @rlgraph_api
    def twice(self, x):
        return self._call(x), self._call(x)

    @rlgraph_api
    def unused(self, x):
        self._call(x)
        return self._same(x)

    @graph_fn
    def _same(self, ops, x):
        return x * 1.0


class Several(Component):
    """Components that draw; `scopes` in this order."""

    def __init__(self, *scopes):
        self.parts = [Noise(scope=scope) for scope in scopes]
        super().__init__(*self.parts, scope="several")

    @rlgraph_api
    def call(self, x):
        return {part.scope: part.call(x) for part in self.parts}


SPACES = {"x": FloatBox(add_batch_rank=True)}


def several(backend, *scopes, seed=3):
    executor = GraphExecutor(Several(*scopes), SPACES, backend=backend, execution_spec={"seed": seed})
    return [executor.execute("call", np.zeros(4, np.float32)) for _ in range(3)]


def test_streams_depend_on_seed_and_scope_alone(backend):
    ours = several(backend, "a", "b")
    for other in (several(backend, "a", "b"), several(backend, "new", "b", "a")):
        for one, two in zip(ours, other, strict=True):
            np.testing.assert_array_equal(one["a"], two["a"])
            np.testing.assert_array_equal(one["b"], two["b"])
    assert not np.array_equal(ours[0]["a"], ours[0]["b"])
    assert not np.array_equal(ours[0]["a"], ours[1]["a"])
    assert not np.array_equal(ours[0]["a"], several(backend, "a", "b", seed=4)[0]["a"])


PROGRAM = """
import sys
import numpy as np
from rlgraph.core import Component, GraphExecutor, graph_fn, rlgraph_api
from rlgraph.spaces import FloatBox

class Draw(Component):
    @rlgraph_api
    def call(self, x):
        return self._draw(x)

    @graph_fn
    def _draw(self, ops, x):
        logits = x[:, None] + ops.random_normal((ops.shape(x)[0], 5))
        return logits[:, 0] + ops.astype(ops.random_categorical(logits), "float")

executor = GraphExecutor(Draw(), {"x": FloatBox(add_batch_rank=True)}, backend=sys.argv[1])
for _ in range(3):
    print(executor.execute("call", np.ones(4, np.float32)).tobytes().hex())
"""


@pytest.mark.slow
def test_processes_draw_alike():
    """On one backend: what could differ is how a component's seed follows from its scope."""
    runs = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM, "numpy"],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1]
    assert len(set(runs[0].split())) == 3


def test_equal_draws_are_not_merged(backend):
    executor = GraphExecutor(Noise(), SPACES, backend=backend)
    one, two = executor.execute("twice", np.zeros(4, np.float32))
    assert not np.array_equal(one, two)


def test_unused_draws_are_made(backend):
    """So that a change of what a plan returns does not change the numbers that come later."""
    executors = [GraphExecutor(Noise(), SPACES, backend=backend) for _ in range(2)]
    x = np.zeros(4, np.float32)
    executors[0].execute("unused", x)
    executors[1].execute("call", x)
    np.testing.assert_array_equal(*(executor.execute("call", x) for executor in executors))


def test_host_and_tensor_streams_differ():
    class Both(Component):
        @rlgraph_api
        def call(self, x):
            return self._tensor(x), self._host(x)

        @graph_fn
        def _tensor(self, ops, x):
            return ops.random_uniform(ops.shape(x), dtype="float64")

        @graph_fn(host=True, spaces=FloatBox(dtype="float64", add_batch_rank=True))
        def _host(self, x):
            return self.rng.random(len(x))

    executor = GraphExecutor(
        Both(scope="b"), SPACES, backend="numpy", execution_spec={"dtype": "float64", "seed": 5}
    )
    tensor, host = executor.execute("call", np.zeros(3))
    np.testing.assert_array_equal(host, np.random.default_rng(stream_seed(5, "b")).random(3))
    np.testing.assert_array_equal(tensor, np.random.default_rng(stream_seed(5, "b/~stream")).random(3))


def test_checkpoints_go_on_exactly(backend, tmp_path):
    x = np.zeros(4, np.float32)
    first = GraphExecutor(Several("a", "b"), SPACES, backend=backend)
    first.save(tmp_path / "start")
    first.execute("call", x)
    first.save(tmp_path / "later")
    expected = [first.execute("call", x) for _ in range(2)]
    second = GraphExecutor(Several("a", "b"), SPACES, backend=backend, execution_spec={"seed": 99})
    second.load(tmp_path / "later")
    for values in expected:
        given = second.execute("call", x)
        assert all(np.array_equal(given[scope], values[scope]) for scope in ("a", "b"))
    # Also back to where nothing had been drawn.
    second.load(tmp_path / "start")
    again = GraphExecutor(Several("a", "b"), SPACES, backend=backend).execute("call", x)
    np.testing.assert_array_equal(second.execute("call", x)["b"], again["b"])


def test_checkpoints_of_another_backend_load_without_its_streams(backend, tmp_path):
    x = np.zeros(4, np.float32)
    GraphExecutor(Several("a"), SPACES, backend="numpy").save(tmp_path / "c")
    one, two = (GraphExecutor(Several("a"), SPACES, backend=backend) for _ in range(2))
    one.load(tmp_path / "c")
    np.testing.assert_array_equal(one.execute("call", x)["a"], two.execute("call", x)["a"])


def test_acting_on_numpy_draws_from_a_stream_that_is_kept(backend, tmp_path):
    x = np.zeros(4, np.float32)
    executor = GraphExecutor(Several("a"), SPACES, backend=backend)
    act = executor.numpy_program("call")
    act(x)
    executor.save(tmp_path / "c")
    expected = act(x)["a"]
    executor.load(tmp_path / "c")
    np.testing.assert_array_equal(act(x)["a"], expected)


# What a build makes of them.


def test_effects():
    executor = GraphExecutor(Several("a", "quiet"), SPACES, backend="numpy")
    draws = {
        executor.built.graph.nodes[id_].component: effects for id_, effects in executor.built.effects.items()
    }
    name = stream_name("a")
    assert draws["a"].draws == draws["a"].writes == {name}
    assert (draws["a"].pure, draws["a"].hazard) == (False, False)
    plan = executor.plan("call")
    assert (plan.writes, plan.draws) == (frozenset(), {name, stream_name("quiet")})
    assert name not in executor.built.variables


def test_only_components_that_draw_have_streams():
    class Quiet(Component):
        @rlgraph_api
        @graph_fn
        def call(self, ops, x):
            return x + 1.0

    assert GraphExecutor(Quiet(), SPACES, backend="numpy").storage.streams == {}


def test_bounds_of_what_is_drawn():
    def draw(ops, x):
        return {
            "uniform": ops.random_uniform((2,), -1.0, 3.0),
            "integers": ops.random_integers((2,), 1, 4),
            "category": ops.random_categorical(ops.zeros((size(ops, x), 5))),
        }

    space = made(draw, "numpy").executor.built
    specs = space.value_of(space.graph.results_of("draw"))
    assert {key: (spec.low, spec.high) for key, spec in specs.items()} == {
        "uniform": (-1.0, 3.0),
        "integers": (1, 4),
        "category": (0, 5),
    }


def test_gradients_stop_at_draws():
    test = made(lambda ops, x: ops.random_normal(ops.shape(x)) * x, "numpy")
    (effects,) = test.executor.built.effects.values()
    assert effects.carries == {"x"}
    test = made(
        lambda ops, x: ops.astype(ops.random_categorical(x), "float"),
        "numpy",
        FloatBox(shape=(2,), add_batch_rank=True),
    )
    (effects,) = test.executor.built.effects.values()
    assert effects.carries == frozenset()


class Reparameterised(Component):
    """The sum of a scaled draw, with its derivative by the scale."""

    def create_variables(self, input_spaces, action_space=None):
        self.scale = self.get_variable("scale", FloatBox(), initializer=3.0)

    @rlgraph_api
    def call(self, x):
        loss, noise = self._loss(x)
        return loss, noise, self._first(gradients(loss, self.variables()))

    @graph_fn(returns=2)
    def _loss(self, ops, x):
        noise = ops.random_normal(ops.shape(x))
        index = ops.random_categorical(x[:, None] * self.scale)
        chosen = ops.random_bernoulli(ops.sigmoid(self.scale * ops.ones_like(x)))
        noise = noise + ops.astype(index, "float") + ops.where(chosen, 1.0, ops.zeros_like(x))
        return ops.sum(self.scale * noise), noise

    @graph_fn
    def _first(self, ops, found):
        return found[0][0]


def test_derivatives_of_scaled_draws(trainer):
    executor = GraphExecutor(Reparameterised(), SPACES, backend=trainer)
    loss, noise, derivative = executor.execute("call", np.zeros(4, np.float32))
    np.testing.assert_allclose(loss, 3.0 * noise.sum(), rtol=1e-5)
    np.testing.assert_allclose(derivative, noise.sum(), rtol=1e-5)


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (
            lambda ops, x: ops.random_uniform(3),
            "sizes must be integers >= 0 or come from ops.shape.x., given 3",
        ),
        (lambda ops, x: ops.random_uniform((-1,)), "sizes must be integers >= 0"),
        (lambda ops, x: ops.random_uniform((x,)), "sizes must be integers >= 0"),
        (lambda ops, x: ops.random_uniform((2,), 1.0, 1.0), "low must be below high, given 1.0 and 1.0"),
        (lambda ops, x: ops.random_uniform((2,), 0.0, x), "high must be a number, given .*scale and shift"),
        (lambda ops, x: ops.random_normal((2,), x), "mean must be a number"),
        (lambda ops, x: ops.random_normal((2,), stddev=0.0), "stddev must be positive, given 0.0"),
        (lambda ops, x: ops.random_truncated_normal((2,), 0.0, -1), "stddev must be positive, given -1"),
        (lambda ops, x: ops.random_normal((2,), dtype="int64"), "draws floats.*ops.random_integers"),
        (lambda ops, x: ops.random_normal((2,), dtype="float33"), "Did you mean 'float32'"),
        (lambda ops, x: ops.random_integers((2,), 0, 0), "low must be below high, given 0 and 0"),
        (lambda ops, x: ops.random_integers((2,), 0, 2.5), "high must be an integer, a size, or an integer"),
        (lambda ops, x: ops.random_integers((2,), x, 3), "low must be .* given float32.B."),
        (lambda ops, x: ops.random_integers((2,), 0, 3, dtype="uint8"), "draws int32 or int64, given dtype"),
        (lambda ops, x: ops.random_permutation(x), "sizes must be integers"),
        (lambda ops, x: ops.random_categorical(ops.zeros(())), "needs float logits"),
        (lambda ops, x: ops.random_categorical(ops.zeros((2,), "int64")), "needs float logits"),
        (lambda ops, x: ops.random_categorical(ops.zeros((2, 0))), "needs one logit or more"),
        (lambda ops, x: ops.random_bernoulli(0.5), "p must be a tensor, given float 0.5"),
        (lambda ops, x: ops.random_bernoulli(ops.zeros((2,), "int64")), "needs float probabilities"),
        (lambda ops, x: ops.random_choice(x), "no operation ops.random_choice"),
    ],
)
def test_wrong_draws(draw, message):
    with pytest.raises(BuildError, match=message) as raised:
        made(draw, "numpy")
    assert "draws._draw(x: float32[B])" in str(raised.value)


def test_draws_of_int_spaces_belong_to_them(backend):
    space = IntBox(3, add_batch_rank=True)
    test = made(lambda ops, x: ops.random_integers(ops.shape(x), 0, 3), backend, space)
    out = test.test(("draw", [np.zeros(50, np.int64)]))
    assert sorted(set(out.tolist())) == [0, 1, 2]
