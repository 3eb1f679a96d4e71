"""Honest mistakes of an author, planted one at a time: a check finds each, and its message names the place."""

import operator
from dataclasses import replace

import numpy as np
import pytest

from rlgraph.core.graph.emission import emit_segment
from rlgraph.core.numpy.backend import DIALECT, NumpyBackend, NumpyStorage
from rlgraph.core.numpy.ops import NumpyOps
from rlgraph.core.random_streams import RandomStreams, stream_seed


def with_ops(**operations):
    """A backend with some operations replaced; those of random numbers and control flow take `self`."""

    class Broken(NumpyBackend):
        def __init__(self, execution):
            super().__init__(execution)
            self.ops = type("BrokenOps", (NumpyOps,), operations)(execution.dtype)

    return Broken


def with_functions(**operations):
    return with_ops(**{name: staticmethod(function) for name, function in operations.items()})


def with_operator(name, function):
    """A backend whose arguments compute an operator in their own way."""

    def compute(x, y):
        return function(*(np.asarray(z) if isinstance(z, np.ndarray) else z for z in (x, y)))

    own = type("Own", (np.ndarray,), {f"__{name}__": compute})
    namespace = {**DIALECT.namespace, "own": lambda array: array.view(own)}
    return with_dialect(replace(DIALECT, receive="own({})".format, namespace=namespace))


def with_dialect(dialect):
    class Broken(NumpyBackend):
        def lower(self, plan, segment, storage):
            linker = self.linker(storage, storage.handle, storage.block)
            return emit_segment(plan, segment, dialect, linker).compile()

    return Broken


def with_storage(**members):
    class Broken(NumpyBackend):
        def create_storage(self, layout, variables):
            storage_class = type("BrokenStorage", (NumpyStorage,), members)
            return storage_class(layout, variables, self.execution.seed)

    return Broken


def by_floats(name, dtype=np.float64):
    """An operation or operator of integers that takes a detour through floats."""
    plain = getattr(NumpyOps, name, None) or getattr(operator, name)

    def run(x, *args, **kwargs):
        rest = [np.asarray(a).astype(dtype) if hasattr(a, "dtype") else a for a in args]
        result = np.asarray(plain(x.astype(dtype), *rest, **kwargs))
        return result if result.dtype == bool else result.astype(x.dtype)

    return run


def of_no_rows_refused(name):
    """An operation that reshapes its argument to ``[n, -1]``."""

    def run(x, *args, **kwargs):
        if x.size == 0:
            raise ValueError("cannot reshape array of size 0")
        return getattr(NumpyOps("float32"), name)(x, *args, **kwargs)

    return {name: run}


def _logsumexp(x, axis=None, keepdims=False):
    top = np.max(x, axis, keepdims=True)
    total = np.log(np.sum(np.exp(x - top), axis, keepdims=True)) + top
    return np.asarray(total if keepdims else np.squeeze(total, axis), x.dtype)


def _logaddexp(x, y):
    return np.maximum(x, y) + np.log1p(np.exp(-np.abs(x - y)))


@pytest.mark.parametrize(
    ("operations", "check"),
    [
        ({"clip": lambda x, low, high: np.where(x > low, np.minimum(x, high), low)}, "clip_of_a_NaN"),
        ({"relu": lambda x: np.where(x > 0, x, np.zeros_like(x))}, "relu_of_a_NaN"),
        ({"isnan": lambda x: np.zeros(x.shape, bool)}, "isnan"),
        ({"isinf": lambda x: x == np.inf}, "isinf"),
        ({"isfinite": lambda x: np.abs(x) != np.inf}, "isfinite"),
        ({"sign": lambda x: np.where(x < 0, -1, 1).astype(x.dtype)}, "sign_of_zeros"),
        (
            {"max": lambda x, axis=None, keepdims=False: np.maximum(np.max(x, axis), np.finfo(x.dtype).min)},
            "max_of_minus_infinity",
        ),
        ({"logsumexp": _logsumexp}, "logsumexp_of_minus_infinity"),
        ({"logaddexp": _logaddexp}, "logaddexp_of_minus_infinity"),
        ({"sum": by_floats("sum")}, "integers_are_exact"),
        ({"max": by_floats("max")}, "integers_are_exact"),
        (
            {"astype": lambda x, dtype: x.view("int8" if x.dtype == "uint8" else x.dtype).astype(dtype)},
            "integers_are_exact",
        ),
        *((of_no_rows_refused(name), "empty_batches") for name in ("conv2d", "max_pool2d", "layer_norm")),
        *((of_no_rows_refused(name), "empty_batches") for name in ("linear", "top_k", "take_along_axis")),
        ({"all": lambda x, axis=None, keepdims=False: np.asarray(x.size > 0 and x.all())}, "empty_batches"),
        ({"prod": lambda x, axis=None, keepdims=False: np.zeros_like(np.sum(x, axis))}, "empty_batches"),
    ],
    ids=lambda value: value if isinstance(value, str) else next(iter(value)),
)
def test_operations(failures, operations, check):
    (name,) = operations
    with np.errstate(all="ignore"):
        found = failures(with_functions(**operations), [f"edges/{check}"])
    message = found[f"edges/{check}"]
    assert f"ops.{name}" in message or "cannot reshape" in message


def _divided(x, y):
    return np.where(np.equal(y, 0), 0, x / np.where(np.equal(y, 0), 1, y)).astype(x.dtype)


def _remainder(x, y):
    rest = np.fmod(x, y)
    return np.where(rest < 0, rest + np.abs(y), rest).astype(x.dtype)


@pytest.mark.parametrize(
    ("name", "function", "check"),
    [
        ("truediv", _divided, "division_by_zero"),
        ("pow", lambda x, y: np.exp(np.log(x) * y), "power_of_negatives"),
        ("mod", _remainder, "remainder_of_negative_floats"),
        ("floordiv", by_floats("floordiv"), "integers_are_exact"),
        ("eq", by_floats("eq"), "integers_are_exact"),
        ("add", by_floats("add"), "integers_are_exact"),
    ],
)
def test_operators(failures, name, function, check):
    with np.errstate(all="ignore"):
        found = failures(with_operator(name, function), [f"edges/{check}"])
    assert ", given " in found[f"edges/{check}"]


def _assign_by_float32(variable, value):
    variable[...] = np.asarray(value).astype(np.float32).astype(variable.dtype)


def _assign_add_by_float32(variable, value):
    variable[...] = (variable.astype(np.float32) + np.float32(value)).astype(variable.dtype)


def _assign_one_number(variable, value):
    flat, single = variable.reshape(-1), np.ndim(value) == 0
    flat[: 1 if single else None] = value if single else value.reshape(-1)


def _join(variable, value):
    variable[...] = np.logical_or(variable, value) if variable.dtype == bool else value


def _update_rows(variable, indices, values):
    first = indices if indices.ndim < 2 else indices[:, 0]
    variable[first] = values if indices.ndim < 2 else values[:, 0]


def _add_rows(variable, indices, values):
    variable[indices] += values


@pytest.mark.parametrize(
    ("operations", "check", "message"),
    [
        ({"assign": _assign_by_float32}, "writes_of_every_dtype", "after ops.assign of tensors.counts"),
        ({"assign_add": _assign_add_by_float32}, "writes_of_every_dtype", "after ops.assign_add.counts"),
        ({"assign": _assign_one_number}, "writes_of_every_dtype", "after ops.assign of numbers"),
        ({"assign": _join}, "writes_of_every_dtype", "after ops.assign of tensors.flags"),
        (
            {"scatter_add": _add_rows},
            "rows_at_any_indices",
            "the sum of rows at an index that comes four times",
        ),
        ({"scatter_update": _update_rows}, "rows_at_any_indices", "at indices with two axes"),
    ],
    ids=lambda value: None if isinstance(value, dict) else value,
)
def test_writes(failures, operations, check, message):
    assert message in failures(with_functions(**operations), [f"variables/{check}"])[f"variables/{check}"]


def test_weights_that_are_set_by_floats(failures):
    def write_group(self, name, values):
        NumpyStorage.write_group(self, name, values.astype(np.float32).astype(values.dtype))

    found = failures(with_storage(write_group=write_group), ["variables/get_and_set"])
    assert "get_weights().probe/count" in found["variables/get_and_set"]


def test_arrays_that_are_read_as_they_lie_in_memory(failures):
    def own(array):
        return array.ravel("K").reshape(array.shape)

    namespace = {**DIALECT.namespace, "own": own}
    dialect = replace(DIALECT, receive="own({})".format, namespace=namespace)
    found = failures(with_dialect(dialect), ["variables/arrays_of_any_layout"])
    assert found["variables/arrays_of_any_layout"].startswith("of an array that is transposed[0]")


def test_variables_that_executors_share(failures):
    known = {}

    def create_group(self, name, values):
        memory = known.setdefault((name, values.size, values.dtype), values)
        memory[...] = values
        self.groups[name] = memory

    found = failures(with_storage(create_group=create_group), ["variables/executors_are_independent"])
    assert found["variables/executors_are_independent"].startswith("executor 1 in step 1.probe/total: ")


def test_a_lock_that_an_error_keeps(failures):
    class Broken(NumpyBackend):
        def lower(self, plan, segment, storage):
            program, running = super().lower(plan, segment, storage), []

            def run(*args):
                if running:
                    raise RuntimeError("it runs already")
                running.append(True)
                outputs = program(*args)
                running.clear()
                return outputs

            return run

    assert failures(Broken, ["loops/empty_collection"]) == {
        "loops/empty_collection": "RuntimeError: it runs already"
    }


# Random numbers.


def _normal_by_rows(self, shape, mean=0.0, stddev=1.0, dtype=None):
    drawn = NumpyOps.random_normal(self, (*shape[:-1], 1), mean, stddev, dtype)
    return np.broadcast_to(drawn, tuple(shape)).copy()


def _uniform_of_24_bits(self, shape, low=0.0, high=1.0, dtype=None):
    return self.stream.uniform(low, high, tuple(shape)).astype(np.float32).astype(self._float(dtype))


def _integers_by_float32(self, shape, low, high, dtype="int64"):
    drawn = self.stream.random(tuple(shape)).astype(np.float32) * (high - low)
    return np.minimum(low + np.floor(drawn), high - 1).astype(dtype)


def _categorical_along_axis_1(self, logits):
    return np.asarray((logits + self.stream.gumbel(size=logits.shape)).argmax(1))


def _bernoulli_by_rows(self, p):
    return np.asarray(self.stream.random((*p.shape[:-1], 1)) < p)


def _normal_of_its_own(self, shape, mean=0.0, stddev=1.0, dtype=None):
    own = self.__dict__.setdefault("own", np.random.default_rng(0))
    return own.normal(mean, stddev, tuple(shape)).astype(self._float(dtype))


def _not_empty(self, shape, low=0.0, high=1.0, dtype=None):
    assert 0 not in shape, "an empty draw"
    return NumpyOps.random_uniform(self, shape, low, high, dtype)


def _permutation_of_two(self, n):
    return np.append(self.stream.permutation(n - 1), n - 1)


@pytest.mark.parametrize(
    ("operations", "check"),
    [
        ({"random_normal": _normal_by_rows}, "elements_are_independent"),
        ({"random_uniform": _uniform_of_24_bits}, "elements_are_independent"),
        ({"random_categorical": _categorical_along_axis_1}, "elements_are_independent"),
        ({"random_bernoulli": _bernoulli_by_rows}, "elements_are_independent"),
        ({"random_integers": _integers_by_float32}, "integers"),
        ({"random_normal": _normal_of_its_own}, "streams_are_saved"),
        ({"random_uniform": _not_empty}, "streams_are_saved"),
        ({"random_permutation": _permutation_of_two}, "permutation"),
    ],
    ids=lambda value: value if isinstance(value, str) else next(iter(value)),
)
def test_draws(failures, operations, check):
    assert set(failures(with_ops(**operations), [f"random/{check}"])) == {f"random/{check}"}


def test_kinds_of_draws_that_begin_alike(failures):
    def normal(self, shape, mean=0.0, stddev=1.0, dtype=None):
        state = self.stream.bit_generator.state
        drawn = self.stream.uniform(-1.7, 1.7, tuple(shape))
        self.stream.bit_generator.state = self.__dict__.get("before", state)
        drawn = self.stream.uniform(-1.7, 1.7, tuple(shape))
        return (mean + stddev * drawn).astype(self._float(dtype))

    def uniform(self, shape, low=0.0, high=1.0, dtype=None):
        self.before = self.stream.bit_generator.state
        return NumpyOps.random_uniform(self, shape, low, high, dtype)

    broken = with_ops(random_normal=normal, random_uniform=uniform)
    found = failures(broken, ["random/kinds_are_independent"])
    assert "uniform and normal numbers correlate by" in found["random/kinds_are_independent"]


@pytest.mark.parametrize("bits", [16, 32])
def test_seeds_that_are_cut_off(failures, bits):
    def __init__(self, layout, variables, seed):
        NumpyStorage.__init__(self, layout, variables, seed)
        self.streams = RandomStreams(seed % 2**bits)

    found = failures(with_storage(__init__=__init__), ["random/same_seed_same_draws"])
    assert found["random/same_seed_same_draws"].startswith(f"seeds 1 and 2**{bits} + 1 both give ")


# Control flow.


def _parts_in_order(function, init):
    """A function of carried values that takes the parts of a dict in the order in which they are written."""
    return lambda carry: dict(zip(init, function(carry).values(), strict=True))


def _while_loop(self, cond, body, init, max_iterations=None):
    return NumpyOps.while_loop(cond, _parts_in_order(body, init), init, max_iterations)


def _cond(self, pred, then, otherwise):
    result = then()
    return result if pred else _parts_in_order(lambda _: otherwise(), result)(None)


def _scan(self, body, init, xs, reverse=False, axis=0):
    return NumpyOps.scan(self, body, init, xs, reverse)


def _map(self, body, xs, axis=0):
    return NumpyOps.map(self, body, xs)


@pytest.mark.parametrize(
    "operations", [{"while_loop": _while_loop}, {"cond": _cond}, {"scan": _scan}, {"map": _map}]
)
def test_control_flow(failures, operations):
    (name,) = operations
    message = failures(with_ops(**operations), ["control/structures"])["control/structures"]
    assert message.startswith(f"ops.{name}")


def test_streams_that_are_not_restored(failures):
    """What a checkpoint says of them is taken for the seed they began with."""

    class Own(NumpyStorage):
        def tensor_stream(self, name):
            return self.owned.setdefault(name, np.random.default_rng(stream_seed(self.seed, name)))

        def __init__(self, *args):
            super().__init__(*args)
            self.owned = {}

        def read_tensor_streams(self):
            return {name: np.zeros(1, np.uint8) for name in self.owned}

        def write_tensor_streams(self, states):
            self.owned.clear()

    class Broken(NumpyBackend):
        def create_storage(self, layout, variables):
            return Own(layout, variables, self.execution.seed)

    found = failures(Broken, ["random"])
    assert set(found) == {"random/streams_are_saved", "random/streams_restart"}
