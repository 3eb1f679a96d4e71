"""Section ``random``: streams of random numbers. The numbers themselves are every backend's own."""

from __future__ import annotations

import tempfile
from typing import Any

import numpy as np

from rlgraph.core import Component, GraphExecutor, rlgraph_api
from rlgraph.spaces import FloatBox, IntBox
from rlgraph.testing.conformance.checks import Subject, check
from rlgraph.testing.conformance.comparison import assert_same
from rlgraph.testing.conformance.probes import probe

UNIFORM = ("random_uniform",)
NORMAL = ("random_normal",)
NUMBER = 10_000


def draw(self: Any, ops: Any) -> Any:
    return ops.random_uniform((4,))


def draw_twice(self: Any, ops: Any) -> Any:
    return ops.random_uniform((4,)), ops.random_uniform((4,))


def draw_all(self: Any, ops: Any) -> Any:
    """Numbers of every kind; an empty draw among them."""
    kinds = {
        "nothing": ops.random_uniform((0, 2)),
        "uniform": ops.random_uniform((3,)),
        "normal": ops.random_normal((3,)),
        "truncated": ops.random_truncated_normal((3,)),
        "integers": ops.random_integers((3,), 0, 1000),
        "permutation": ops.random_permutation(10),
        "categorical": ops.random_categorical(ops.zeros((3, 50))),
        "bernoulli": ops.random_bernoulli(ops.full((30,), 0.5)),
    }
    return {name: ops.astype(values, "float") for name, values in kinds.items()}


def several_draws(executor: GraphExecutor, number: int) -> np.ndarray:
    return np.stack([executor.execute("draw") for _ in range(number)])


class Several(Component):
    """Components that draw, each from its own stream."""

    def __init__(self, *scopes: str):
        self.parts = [probe(draw, scope=scope) for scope in scopes]
        super().__init__(*self.parts, scope="several")

    @rlgraph_api
    def draw(self) -> Any:
        return {part.scope: part.draw() for part in self.parts}  # type: ignore[attr-defined]


@check("random", operations=UNIFORM)
def same_seed_same_draws(subject: Subject) -> None:
    """The seed decides; another seed gives other numbers, also one that differs in its high bits only."""
    runs = []
    for seed in (1, 1, 2, 2**16 + 1, 2**32 + 1):
        executor = subject.executor(probe(draw), seed=seed)
        runs.append(several_draws(executor, 3))
    assert_same(runs[1], runs[0], path="the second run of the same seed")
    for other, run in zip(("2", "2**16 + 1", "2**32 + 1"), runs[2:], strict=True):
        assert not np.array_equal(runs[0], run), f"seeds 1 and {other} both give {runs[0]}"


@check("random", operations=UNIFORM)
def draws_differ(subject: Subject) -> None:
    """No number is drawn twice: neither in one call nor in two."""
    executor = subject.executor(probe(draw_twice))
    values = np.concatenate([np.concatenate(executor.execute("draw_twice")) for _ in range(3)])
    assert len(np.unique(values)) == len(values), f"some of these numbers are equal: {values}"


@check("random", operations=(*UNIFORM, *NORMAL))
def kinds_are_independent(subject: Subject) -> None:
    """Neither kind of numbers tells anything about the other."""

    def run(self: Any, ops: Any) -> Any:
        return ops.random_uniform((1000,)), ops.random_normal((1000,))

    executor = subject.executor(probe(run))
    for number in range(2):
        correlation = np.corrcoef(*executor.execute("run"))[0, 1]
        assert abs(correlation) < 5.0 / np.sqrt(1000), (
            f"call {number}: uniform and normal numbers correlate by {correlation}"
        )


@check("random", operations=(*UNIFORM, *NORMAL, "random_bernoulli", "random_categorical"))
def elements_are_independent(subject: Subject) -> None:
    """Along every axis; float64 has 53 random bits."""

    def run(self: Any, ops: Any, logits: Any) -> Any:
        flat = ops.full((100, 8), 0.5)
        return {
            "uniform": ops.random_uniform((20, 5, 4)),
            "normal": ops.random_normal((20, 5, 4)),
            "bernoulli": ops.astype(ops.random_bernoulli(flat), "float"),
            "categorical": ops.astype(ops.random_categorical(logits), "float"),
            "categories": ops.random_categorical(logits[:, :, 0] * 0.0),
            "one": ops.random_categorical(logits[0, 0]),
        }

    logits = np.zeros((100, 8, 2))
    spaces = {"logits": FloatBox(shape=(8, 2), add_batch_rank=True)}
    given = subject.executor(probe(run), spaces, dtype="float64").execute("run", logits)
    for kind in ("uniform", "normal"):
        values = given[kind]
        assert len(np.unique(values)) == values.size, f"random_{kind} gives some numbers twice: {values[0]}"
        assert (values != values.astype(np.float32)).mean() > 0.9, f"random_{kind} has the bits of float32"
    for kind in ("bernoulli", "categorical"):
        values = given[kind]
        _assert_kind(values, (100, 8), "float64")
        for axis in (0, 1):
            same = (np.diff(values, axis=axis) == 0.0).mean()
            assert 0.3 < same < 0.7, (
                f"random_{kind}: neighbours along axis {axis} are equal with frequency {same}"
            )
    _assert_kind(given["categories"], (100,), "int64")
    _assert_frequencies(given["categories"] // 4, np.array([0.5, 0.5]))
    _assert_kind(given["one"], (), "int64")


@check("random", operations=UNIFORM)
def streams_are_independent(subject: Subject) -> None:
    """Every component has a stream of its own, which others do not change."""
    alone = subject.executor(Several("a"), seed=3)
    both = subject.executor(Several("a", "b"), seed=3)
    for _ in range(2):
        given = both.execute("draw")
        assert_same(given["a"], alone.execute("draw")["a"], path="the draws of a, beside b")
        assert not np.array_equal(given["a"], given["b"]), f"a and b both draw {given['a']}"


@check("random", operations=UNIFORM)
def streams_are_saved(subject: Subject) -> None:
    """A loaded checkpoint continues with the same draws of every kind, also where nothing was drawn before."""
    executor = subject.executor(probe(draw_all), seed=4)
    executor.execute("draw_all")
    with tempfile.TemporaryDirectory() as folder:
        executor.save(f"{folder}/checkpoint")
        expected = [executor.execute("draw_all") for _ in range(2)]
        other, unused = (subject.executor(probe(draw_all), seed=5) for _ in range(2))
        other.execute("draw_all")
        for name, restored in (("the same", executor), ("another", other), ("an unused", unused)):
            restored.load(f"{folder}/checkpoint")
            drawn = [restored.execute("draw_all") for _ in range(2)]
            assert_same(drawn, expected, path=f"draws of {name} executor after load()")


@check("random", operations=UNIFORM)
def streams_restart(subject: Subject) -> None:
    """After `Storage.restart_streams` the draws are those of an executor with that seed; nothing is compiled again."""
    executor, other = (subject.executor(Several("a", "b"), seed=seed) for seed in (1, 2))
    for _ in range(2):
        executor.execute("draw")
    executor.storage.restart_streams(2)
    for _ in range(2):
        assert_same(executor.execute("draw"), other.execute("draw"))


@check("random", operations=UNIFORM)
def uniform(subject: Subject) -> None:
    """Dtype, shape, bounds, mean and spread of `ops.random_uniform`."""

    def run(self: Any, ops: Any) -> Any:
        return ops.random_uniform((NUMBER,), -1.0, 3.0), ops.random_uniform((2, 3), dtype="float64")

    values, other = subject.executor(probe(run)).execute("run")
    _assert_kind(values, (NUMBER,), "float32")
    _assert_kind(other, (2, 3), "float64")
    assert values.min() >= -1.0 and values.max() <= 3.0, f"out of bounds: {values.min()}, {values.max()}"
    _assert_moments(values, 1.0, 4.0 / np.sqrt(12.0))


@check("random", operations=NORMAL)
def normal(subject: Subject) -> None:
    """Dtype, shape, mean and spread of `ops.random_normal`."""

    def run(self: Any, ops: Any) -> Any:
        return ops.random_normal((NUMBER // 2, 2), 1.0, 0.5)

    values = subject.executor(probe(run), dtype="float64").execute("run")
    _assert_kind(values, (NUMBER // 2, 2), "float64")
    _assert_moments(values, 1.0, 0.5)


@check("random", operations=("random_truncated_normal",))
def truncated_normal(subject: Subject) -> None:
    """Within two standard deviations, and as spread as that makes it: by the factor 0.87963."""

    def run(self: Any, ops: Any) -> Any:
        return ops.random_truncated_normal((NUMBER,), 1.0, 0.5)

    values = subject.executor(probe(run)).execute("run")
    _assert_kind(values, (NUMBER,), "float32")
    assert np.abs(values - 1.0).max() <= 1.0 + 1e-6, f"out of bounds: {values.min()}, {values.max()}"
    _assert_moments(values, 1.0, 0.5 * 0.87963)


@check("random", operations=("random_integers",))
def integers(subject: Subject) -> None:
    """From the lower bound up to, not including, the upper one, all as often; bounds may be tensors, or far apart."""

    def run(self: Any, ops: Any, low: Any, high: Any) -> Any:
        return (
            ops.random_integers((NUMBER,), -1, 3),
            ops.random_integers((NUMBER,), low, high, dtype="int32"),
            ops.random_integers((NUMBER,), -(2**40), 2**40),
        )

    executor = subject.executor(probe(run), {"low": IntBox(), "high": IntBox()})
    values, others, far = executor.execute("run", -1, 3)
    assert far.min() < -(2**39) and far.max() > 2**39, f"between -2**40 and 2**40: {far.min()} to {far.max()}"
    _assert_frequencies(far % 4, np.full(4, 0.25))
    _assert_kind(values, (NUMBER,), "int64")
    _assert_kind(others, (NUMBER,), "int32")
    for drawn in (values, others):
        _assert_frequencies(drawn + 1, np.full(4, 0.25))


@check("random", operations=("random_permutation",))
def permutation(subject: Subject) -> None:
    """Every integer once; in another order every time. Of one integer, and of none."""

    def run(self: Any, ops: Any) -> Any:
        return ops.random_permutation(100)

    def rows(self: Any, ops: Any, x: Any) -> Any:
        return ops.random_permutation(ops.shape(x)[0])

    executor = subject.executor(probe(run, rows), {"x": FloatBox(add_batch_rank=True)})
    for count in (1, 0):
        assert_same(executor.execute("rows", np.zeros(count, np.float32)), np.arange(count))
    one, other = executor.execute("run").copy(), executor.execute("run")
    assert_same(np.sort(one), np.arange(100), path="the sorted permutation")
    assert not np.array_equal(one, other), "two permutations are equal"


@check("random", operations=("random_categorical",))
def categorical(subject: Subject) -> None:
    """As often as the logits say; never where they say minus infinity."""
    probabilities = np.array([0.5, 0.0, 0.2, 0.3])
    with np.errstate(divide="ignore"):
        logits = np.broadcast_to(np.log(probabilities) + 1.0, (NUMBER, 4)).astype(np.float32)

    def run(self: Any, ops: Any, logits: Any) -> Any:
        return ops.random_categorical(logits)

    values = subject.executor(probe(run), {"logits": FloatBox(shape=(4,), add_batch_rank=True)}).execute(
        "run", logits
    )
    _assert_kind(values, (NUMBER,), "int64")
    _assert_frequencies(values, probabilities)


@check("random", operations=("random_bernoulli",))
def bernoulli(subject: Subject) -> None:
    """True as often as it shall be; always at 1, never at 0."""

    def run(self: Any, ops: Any, p: Any) -> Any:
        return ops.random_bernoulli(p)

    p = np.repeat(np.array([[0.3, 0.0, 1.0]], np.float32), NUMBER, 0)
    values = subject.executor(probe(run), {"p": FloatBox(shape=(3,), add_batch_rank=True)}).execute("run", p)
    _assert_kind(values, (NUMBER, 3), "bool")
    for column, probability in enumerate((0.3, 0.0, 1.0)):
        _assert_frequencies(values[:, column].astype(int), np.array([1 - probability, probability]))


def _assert_kind(values: np.ndarray, shape: tuple[int, ...], dtype: str) -> None:
    given = (values.shape, str(values.dtype))
    assert given == (shape, dtype), f"expected shape and dtype {(shape, dtype)}, given {given}"


# Five standard errors of room: a right stream leaves it with one seed in a million, and the seed is fixed.


def _assert_moments(values: np.ndarray, mean: float, spread: float) -> None:
    room = 5.0 * spread / np.sqrt(values.size)
    assert abs(values.mean() - mean) < room, f"mean {values.mean()}, expected {mean}"
    assert abs(values.std() - spread) < room, f"standard deviation {values.std()}, expected {spread}"


def _assert_frequencies(values: np.ndarray, probabilities: np.ndarray) -> None:
    assert values.min() >= 0 and values.max() < len(probabilities), (
        f"out of bounds: {values.min()}, {values.max()}"
    )
    found = np.bincount(values, minlength=len(probabilities)) / values.size
    room = 5.0 * np.sqrt(probabilities * (1 - probabilities) / values.size)
    assert (np.abs(found - probabilities) <= room).all(), f"frequencies {found}, expected {probabilities}"
