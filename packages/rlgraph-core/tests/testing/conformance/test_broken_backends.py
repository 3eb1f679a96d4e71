"""Deliberately broken backends: each fails exactly the checks that are there for its fault."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from rlgraph.core.graph.emission import Dialect, Linker, emit_segment
from rlgraph.core.handle import HandleState, takes_handles, value_of
from rlgraph.core.numpy.backend import DIALECT, NumpyBackend, NumpyStorage
from rlgraph.core.numpy.ops import NumpyOps
from rlgraph.testing.conformance import load_checks

pytestmark = pytest.mark.slow

#: Sections that grow with the library: tables of operations, components and functions.
TABLES = {"operations", "operators", "components", "derivatives", "kernels"}
TABLES |= {"functional", "functional derivatives"}
#: The others, for faults that tables cannot show.
NO_TABLES = sorted({check.section for check in load_checks()} - TABLES)


def with_ops(**operations):
    """A backend with some operations replaced."""
    ops_class = type("BrokenOps", (NumpyOps,), {k: staticmethod(v) for k, v in operations.items()})

    class Broken(NumpyBackend):
        def __init__(self, execution):
            super().__init__(execution)
            self.ops = ops_class(execution.dtype)

    return Broken


def with_storage(storage_class):
    class Broken(NumpyBackend):
        def create_storage(self, layout, variables):
            return storage_class(layout, variables, self.execution.seed)

    return Broken


def with_linker(linker_class, ops=NumpyOps, kernels=None):
    """A backend that links graph functions in its own way."""
    own_kernels = kernels or {}

    class Broken(NumpyBackend):
        kernels, linker_type = own_kernels, linker_class

        def __init__(self, execution):
            super().__init__(execution)
            self.ops = ops(execution.dtype)

    return Broken


def around_programs(wrap):
    """A backend whose programs ``f`` are ``wrap(f, storage)``."""

    class Broken(NumpyBackend):
        def lower(self, plan, segment, storage):
            return wrap(super().lower(plan, segment, storage), storage)

    return Broken


def test_a_sound_backend_fails_nothing(failures):
    assert failures(NumpyBackend, only=["contract", "variables", "graphs", "budget"]) == {}


def test_wrong_axis(failures):
    broken = with_ops(log_softmax=lambda x, axis=-1: NumpyOps.log_softmax(x, 0))
    found = failures(broken, only=["operations"])
    assert set(found) == {"operations/log_softmax-float32", "operations/log_softmax-float64"}
    message = found["operations/log_softmax-float32"]
    assert message.startswith("ops.log_softmax(float32[")
    assert "values differ" in message


def test_promotion(failures):
    found = failures(with_ops(exp=lambda x: np.exp(np.asarray(x, np.float64))), only=["operations"])
    assert set(found) == {"operations/exp-float32"}
    assert found["operations/exp-float32"].endswith("expected dtype float32, given float64")


def test_promotion_by_a_python_scalar(failures):
    def where(condition, x, y):
        return np.where(condition, np.asarray(x), np.asarray(y))

    only = [f"operations/where-{dtype}" for dtype in ("float32", "float64")]
    assert set(failures(with_ops(where=where), only)) == {"operations/where-float32"}


def test_a_missing_operation(failures):
    found = failures(with_ops(softplus=None), only=["contract", "operations"])
    assert set(found) == {"contract/names", "operations/softplus-float32", "operations/softplus-float64"}
    assert found["contract/names"].startswith("missing operations: softplus (")


def test_another_signature(failures):
    def total(x, axis=None, keep=False):
        return np.sum(x, axis=axis, keepdims=keep, dtype=x.dtype)

    found = failures(with_ops(sum=total), only=["contract"])
    assert set(found) == {"contract/signatures"}
    assert found["contract/signatures"].startswith("ops.sum(x, axis=None, keep=False) does not take what ")


def test_an_option_of_another_name(failures):
    found = failures(with_ops(clip=lambda x, least, most: np.clip(x, least, most)), only=["contract"])
    assert set(found) == {"contract/signatures"}
    assert "ops.clip(x, least, most) does not take what " in found["contract/signatures"]
    assert found["contract/signatures"].endswith("takes: missing a required argument: 'least'")


def test_reads_that_are_no_copies(failures):
    found = failures(with_ops(read=lambda variable: variable), only=NO_TABLES)
    assert set(found) == {"variables/reads_are_kept"}
    assert found["variables/reads_are_kept"].startswith("a read before a write: 3 of 3 values")


def test_writes_that_come_late(failures):
    """They are done when the graph function is over."""
    pending = []

    class LateOps(NumpyOps):
        @staticmethod
        def assign(variable, value):
            pending.append(partial(NumpyOps.assign, variable, value))

        @staticmethod
        def assign_add(variable, value):
            pending.append(partial(NumpyOps.assign_add, variable, value))

    class LateLinker(Linker):
        def link(self, function, view, *draws):
            bound = super().link(function, view, *draws)

            def run(*args, **kwargs):
                result = bound(*args, **kwargs)
                while pending:
                    pending.pop(0)()
                return result

            return run

    assert set(failures(with_linker(LateLinker, ops=LateOps), NO_TABLES)) == {
        "variables/one_variable_from_another",
        "variables/program_order",
        "variables/reads_are_current",
        "variables/shared_variables",
        "variables/writes_of_every_dtype",
    }


def test_an_array_of_the_caller_that_is_kept(failures):
    """A variable that follows the array it was written from."""
    written = []

    class KeepingOps(NumpyOps):
        @staticmethod
        def assign(variable, value):
            variable[...] = value
            written.append((variable, value, np.array(value)))

    def following(program, storage):
        def run(*args):
            for variable, value, before in written:
                if not np.array_equal(value, before):
                    variable[...] = value
            written.clear()
            return program(*args)

        return run

    class Broken(around_programs(following)):
        def __init__(self, execution):
            super().__init__(execution)
            self.ops = KeepingOps(execution.dtype)

    assert set(failures(Broken, NO_TABLES)) == {
        "variables/given_arrays_are_copied",
        "variables/one_variable_from_another",
    }


def test_programs_that_run_when_the_call_is_over(failures):
    class LateStorage(NumpyStorage):
        pending = ()

        def finish(self):
            programs, self.pending = self.pending, ()
            for program in programs:
                program()

        def read_group(self, name):
            self.finish()
            return super().read_group(name)

    class Late(with_storage(LateStorage)):
        def lower(self, plan, segment, storage):
            program = super().lower(plan, segment, storage)

            def run(*args):
                storage.finish()
                if segment.outputs:
                    return program(*args)
                storage.pending = (partial(program, *args),)
                return ()

            return run

    assert set(failures(Late, only=["variables"])) == {"variables/given_arrays_are_read_in_time"}


def test_outputs_that_are_used_again(failures):
    def reusing(program, storage):
        buffers = []

        def run(*args):
            outputs = program(*args)
            if [o.shape for o in outputs] != [b.shape for b in buffers]:
                buffers[:] = [output.copy() for output in outputs]
            for buffer, output in zip(buffers, outputs, strict=True):
                buffer[...] = output
            return tuple(buffers)

        return run

    found = set(failures(around_programs(reusing), NO_TABLES))
    # Around a host function it is the loop that calls again.
    assert found >= {"variables/outputs_are_kept", "loops/host_functions"}
    threads = {"loops/threads", "variables/calls_in_threads", "groups/sums"}
    assert found <= {"variables/outputs_are_kept", "loops/host_functions", *threads}


def test_an_argument_that_is_written_to(failures):
    def scribbling(program, storage):
        def run(*args):
            outputs = tuple(np.array(output) for output in program(*args))
            for array in args:
                if array.shape == (3,) and array.flags.writeable:
                    array[...] = 0
            return outputs

        return run

    found = failures(around_programs(scribbling), only=["variables"])
    assert "variables/inputs_are_left_alone" in found


def test_variables_out_of_order(failures):
    class Unordered(NumpyStorage):
        def read_all(self):
            return dict(reversed(super().read_all().items()))

    assert set(failures(with_storage(Unordered), NO_TABLES)) == {"variables/order"}


def test_memory_that_is_not_its_own(failures):
    class Lending(NumpyStorage):
        def borrow_group(self, name):
            return self.groups[name].copy()

    expected = {"variables/groups", "variables/shared_variables", "graphs/numpy_actor"}
    assert set(failures(with_storage(Lending), NO_TABLES)) == expected


def test_copies_that_begin_too_late(failures):
    class Late(NumpyStorage):
        def fetch_groups(self, names):
            return lambda: {name: self.read_group(name) for name in names}

    assert set(failures(with_storage(Late), NO_TABLES)) == {"variables/groups"}


def test_a_kernel_that_computes_something_else(failures):
    def dense(view, ops):
        def call(inputs):
            outputs = inputs @ view.weights
            outputs = outputs if view.biases is None else outputs + view.biases
            return outputs if view.activation is None else getattr(ops, view.activation)(np.abs(outputs))

        return call

    kernels = {"rlgraph.components.layers.dense:Dense._call": dense}
    wrong = {f"kernels/{case}" for case in ("dense_relu", "network", "q_policy", "synchronizer")}
    right = {"components/dense_relu", "kernels/dense", "kernels/conv2d_relu"}
    found = failures(with_linker(Linker, kernels=kernels), only=[*wrong, *right])
    assert set(found) == wrong


def test_a_kernel_that_nothing_tries(failures):
    kernels = {"rlgraph.components.layers.none:None._call": None, "elsewhere:Thing._call": None}
    found = failures(with_linker(Linker, kernels=kernels), only=["kernels"])
    assert found == {
        "kernels/all_are_tried": "no case runs the kernels ['rlgraph.components.layers.none:None._call']"
    }


def nothing():
    pass


def test_calls_around_a_program(failures):
    def slow(program, storage):
        def run(*args):
            for _ in range(50):
                nothing()
            return program(*args)

        return run

    found = failures(around_programs(slow), NO_TABLES)
    assert set(found) == {"budget/fixed"}
    assert "at most 44" in found["budget/fixed"]


def test_calls_around_a_graph_function(failures):
    class SlowLinker(Linker):
        def link(self, function, view, *draws):
            bound = super().link(function, view, *draws)

            def run(*args, **kwargs):
                for _ in range(6):
                    nothing()
                return bound(*args, **kwargs)

            return run

    assert set(failures(with_linker(SlowLinker), NO_TABLES)) == {"budget/per_node"}


def test_components_that_are_still_there_at_run_time(failures):
    from rlgraph.core.specs.specifiable import plain_copy

    class AskingLinker(Linker):
        def link(self, function, view, *draws):
            bound = super().link(function, view, *draws)
            return lambda *args, **kwargs: plain_copy(bound(*args, **kwargs))

    found = failures(with_linker(AskingLinker), ["budget"])
    assert found == {"budget/no_machinery": "an execution runs functions of rlgraph.core.specs.specifiable"}


def test_draws_that_come_again(failures):
    """Every call starts from the state in which the stream was made."""

    def repeating(program, storage):
        first = {name: rng.bit_generator.state for name, rng in storage.streams.items()}

        def run(*args):
            for name, state in first.items():
                storage.streams[name].bit_generator.state = state
            return program(*args)

        return run

    found = set(failures(around_programs(repeating), only=["random"]))
    assert found >= {"random/draws_differ", "random/streams_are_saved"}
    also = {"random/permutation", "random/streams_restart"}
    assert found <= {"random/draws_differ", "random/streams_are_saved", *also}


# Arrays that never change: a write replaces the array of a group.


class Arrays(HandleState):
    """The arrays of the groups; they are replaced, not written."""

    def __init__(self, storage):
        super().__init__(storage.layout)
        self.groups = storage.groups

    def read(self, handle):
        return self.groups[handle.group][handle.start : handle.stop].reshape(handle.shape)

    def write(self, handle, value):
        flat = self.groups[handle.group].copy()
        flat[handle.start : handle.stop] = np.broadcast_to(value, handle.shape).reshape(-1)
        self.groups[handle.group] = flat

    def change(self, handle, function, *args):
        value = handle.value.copy()
        function(value, *args)
        self.write(handle, value)


@takes_handles
class ReplacingOps(NumpyOps):
    """NumPy's operations on such arrays."""

    @staticmethod
    def read(variable):
        return variable.value

    @staticmethod
    def assign(variable, value):
        variable.state.write(variable, value_of(value))

    @staticmethod
    def assign_add(variable, value):
        variable.state.write(variable, variable.value + value_of(value))

    @staticmethod
    def scatter_update(variable, *rows):
        variable.state.change(variable, NumpyOps.scatter_update, *map(value_of, rows))

    @staticmethod
    def scatter_add(variable, *rows):
        variable.state.change(variable, NumpyOps.scatter_add, *map(value_of, rows))


class SharedGroups(dict):
    """Arrays by group; `homes` has the dicts of those that are in another storage."""

    def __init__(self):
        super().__init__()
        self.homes = {}

    def __getitem__(self, name):
        return dict.__getitem__(self.homes.get(name, self), name)

    def __setitem__(self, name, values):
        dict.__setitem__(self.homes.get(name, self), name, values)


class ReplacingStorage(NumpyStorage):
    def __init__(self, *args):
        super().__init__(*args)
        self.groups = SharedGroups()

    def share_group(self, name, other):
        self.groups.homes[name] = other.groups

    def write_group(self, name, values):
        self.groups[name] = values.copy()

    def borrow_group(self, name):
        return None


def replacing(state_class=Arrays, give="array({})"):
    """A sound backend of this kind; with another state or another way out, an unsound one."""
    dialect = Dialect(
        receive="{}".format,
        give=give.format,
        copy="value_of({})".format,
        index="array({})".format,
        namespace={"array": lambda x: np.array(value_of(x)), "value_of": value_of, "asarray": np.asarray},
    )

    class Broken(NumpyBackend):
        def __init__(self, execution):
            super().__init__(execution)
            self.ops = ReplacingOps(execution.dtype)

        def create_storage(self, layout, variables):
            return ReplacingStorage(layout, variables, self.execution.seed)

        def lower(self, plan, segment, storage):
            state = state_class(storage)
            linker = self.linker(storage, state.handle, state.block)
            program = emit_segment(plan, segment, dialect, linker).compile()
            return state.around(program) if hasattr(state, "around") else program

    return Broken


def test_a_sound_backend_of_handles_fails_nothing(failures):
    only = ["contract", "variables", "loops", "edges", "operations/where-float32"]
    assert failures(replacing(), only) == {}


def test_an_array_of_the_caller_that_becomes_the_variable(failures):
    """Where a variable is alone in its group, an array of that size is taken as it is."""

    class Keeping(Arrays):
        def write(self, handle, value):
            if handle.size == self.groups[handle.group].size == np.size(value):
                self.groups[handle.group] = np.reshape(value, -1)
            else:
                super().write(handle, value)

    found = failures(replacing(Keeping), ["variables"])
    assert set(found) == {"variables/given_arrays_are_copied"}
    assert found["variables/given_arrays_are_copied"].startswith(
        "a group of one variable, written by a method: the variable, after the caller's array changed: 3 of 3"
    )


def test_returned_arrays_that_are_the_variables_memory(failures):
    found = failures(replacing(give="asarray(value_of({}))"), ["variables"])
    assert set(found) == {"variables/outputs_belong_to_the_caller"}
    message = found["variables/outputs_belong_to_the_caller"]
    assert "the variable, after the caller wrote into output 0: 3 of 3 values differ; the largest" in message


def test_a_state_that_threads_share(failures):
    """It is empty between two calls, whoever made them."""

    class Shared(Arrays):
        def around(self, program):
            groups, self.groups = self.groups, {}

            def run(*args):
                self.groups = groups
                try:
                    return program(*args)
                finally:
                    self.groups = {}

            return run

    found = failures(replacing(Shared), ["variables/calls_in_threads", "variables/program_order"])
    assert set(found) == {"variables/calls_in_threads"}


class Remembering(Arrays):
    """Reads a place once; a write to that very place, and to no other, makes it read again."""

    def __init__(self, storage):
        super().__init__(storage)
        self.known = {}

    def read(self, handle):
        return self.known.setdefault((handle.group, handle.start, handle.shape), super().read(handle))

    def write(self, handle, value):
        super().write(handle, value)
        self.known.pop((handle.group, handle.start, handle.shape), None)


class RememberingWhileItRuns(Remembering):
    def around(self, program):
        def run(*args):
            self.known.clear()
            return program(*args)

        return run


def test_reads_of_an_earlier_call(failures):
    found = failures(replacing(Remembering), ["variables/reads_are_current"])
    assert "after set_weights 0: 3 of 3 values" in found["variables/reads_are_current"]


def test_reads_from_before_a_write_of_the_list(failures):
    found = failures(replacing(RememberingWhileItRuns), ["variables"])
    assert set(found) == {"variables/reads_are_current"}
    assert found["variables/reads_are_current"].startswith("before and after a write of the list[1]")


# Operations that are right for most arguments.


def _take(x, indices, axis=0):
    last = x.shape[axis] - 1
    return np.take(x, indices if axis == 0 else np.minimum(indices, max(last - 1, 0)), axis)


def _empty_sum(x, axis=None, keepdims=False):
    return NumpyOps.sum(x, axis, keepdims) if x.size else np.full((), np.nan, x.dtype)


def _relu(x):
    return np.maximum(x, 0, out=x)


def _whole_sum(x, axis=None, keepdims=False):
    return NumpyOps.sum(x, -1 if axis is None and x.ndim else axis, keepdims)


def _front_mean(x, axis=None, keepdims=False):
    several = isinstance(axis, tuple)
    return NumpyOps.mean(x, tuple(abs(a) for a in axis) if several else axis, keepdims)


def _last_argmax(x, axis):
    return np.asarray(x.shape[axis] - 1 - np.argmax(np.flip(x, axis), axis), np.int64)


def _recurrence(x, d, initial=None, reverse=False, axis=0):
    return NumpyOps.linear_recurrence(x, d, None if reverse else initial, reverse, axis)


@pytest.mark.parametrize(
    ("operations", "check", "message"),
    [
        ({"take": _take}, "operations/take-float32", "ops.take(float32[B, T], int64[3], axis=-2) with sizes"),
        (
            {"argmax": lambda x, axis: np.argmax(x, axis).astype(np.int32)},
            "operations/argmax-float32",
            "expected dtype int64",
        ),
        (
            {"argmax": _last_argmax},
            "edges/argmax_of_equal_elements",
            "ops.argmax of equal elements, given [[1.0, 3.0, 3.0]",
        ),
        (
            {"expand_dims": lambda x, axis: np.expand_dims(x, axis if axis >= 0 else axis % max(x.ndim, 1))},
            "operations/expand_dims-float32",
            "ops.expand_dims(int32[1, 2, 4], axis=-4) with sizes",
        ),
        (
            {"sum": _empty_sum},
            "edges/empty_batches",
            "0 rows, 0 steps.ops.sum over the rows: expected shape (3,)",
        ),
        (
            {
                "where": lambda c, x, y: np.where(np.broadcast_to(c, np.shape(x)), x, y).astype(
                    np.asarray(x).dtype
                )
            },
            "operations/where-float32",
            "in the call [bool[",
        ),
        (
            {"clip": lambda x, low, high: np.minimum(x, high)},
            "edges/clip_at_its_bounds",
            "ops.clip at its bounds, given [-2.0",
        ),
        ({"relu": _relu}, "edges/arguments_are_left_alone", "the arguments of ops.relu(float32["),
        ({"sum": _whole_sum}, "operations/sum-float32", "axis=None"),
        ({"mean": _front_mean}, "operations/mean-float32", "axis=(-"),
        (
            {"max": lambda x, axis=None, keepdims=False: np.fmax.reduce(x, axis, keepdims=keepdims)},
            "edges/max_of_a_NaN",
            "ops.max of a NaN, given [1.0, nan, 2.0]: 1 of 1",
        ),
        (
            {"log_softmax": lambda x, axis=-1: np.log(np.exp(x) / np.exp(x).sum(axis, keepdims=True))},
            "edges/log_softmax_of_large_numbers",
            "ops.log_softmax of large numbers, given [10000.0, 0.0, -10000.0]: 3 of 3 values differ",
        ),
        (
            {"round": lambda x: np.floor(x + 0.5)},
            "edges/round_of_halves",
            "ops.round of halves, given [0.5, 1.5, 2.5, -1.5]: 3 of 4",
        ),
        ({"linear_recurrence": _recurrence}, "operations/linear_recurrence-float32", "reverse=True"),
    ],
    ids=lambda value: value if isinstance(value, str) else next(iter(value)),
)
def test_operations_that_are_right_for_most_arguments(failures, operations, check, message):
    with np.errstate(all="ignore"):
        found = failures(with_ops(**operations), only=[check])
    assert message in found[check]


class Truncating(np.ndarray):
    """Divides integers as C does."""

    def __floordiv__(self, other):
        return np.trunc(np.true_divide(self, other)).astype(self.dtype)


def test_division_that_rounds_to_zero(failures):
    dialect = replace(
        DIALECT,
        receive="own({})".format,
        namespace={**DIALECT.namespace, "own": lambda array: array.view(Truncating)},
    )

    class Broken(NumpyBackend):
        def lower(self, plan, segment, storage):
            linker = self.linker(storage, storage.handle, storage.block)
            return emit_segment(plan, segment, dialect, linker).compile()

    found = failures(Broken, ["edges"])
    negative = {f"edges/floor_division_of_negative_{kind}" for kind in ("integers", "floats")}
    assert set(found) == {*negative, "edges/integers_are_exact"}
    assert found["edges/floor_division_of_negative_integers"].startswith(
        "// of negative integers, given [-7, 7, 7], [2, -2, 2]"
    )


def test_integers_that_include_the_upper_bound(failures):
    def random_integers(self, shape, low, high, dtype="int64"):
        return self.stream.integers(low, high, shape, endpoint=True).astype(dtype)

    class Broken(NumpyBackend):
        def __init__(self, execution):
            super().__init__(execution)
            self.ops = type("Ops", (NumpyOps,), {"random_integers": random_integers})(execution.dtype)

    assert set(failures(Broken, ["random"])) == {"random/integers"}
