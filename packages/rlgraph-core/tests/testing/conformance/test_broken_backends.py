"""Deliberately broken backends: each fails exactly the checks that are there for its fault."""

from functools import partial

import numpy as np

from rlgraph.core.graph.emission import Linker, emit_segment
from rlgraph.core.numpy.backend import DIALECT, NumpyBackend, NumpyStorage
from rlgraph.core.numpy.ops import NumpyOps
from rlgraph.testing.conformance import load_checks

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


def with_linker(linker_class, **options):
    """A backend that links graph functions in its own way."""

    class Broken(NumpyBackend):
        kernels = options.get("kernels", {})

        def __init__(self, execution):
            super().__init__(execution)
            self.ops = options.get("ops", NumpyOps)(execution.dtype)

        def lower(self, plan, segment, storage):
            places = {"handle": storage.handle, "block": storage.block}
            if hasattr(storage, "tensor_stream"):
                places["stream"] = storage.tensor_stream
            use = self.execution.use_kernels
            linker = linker_class(self.name, self.ops, self.kernels, **places, use_kernels=use)
            return emit_segment(plan, segment, DIALECT, linker).compile()

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

    found = failures(with_ops(where=where), only=["operations"])
    assert set(found) == {"operations/where-float32"}


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

    assert set(failures(with_linker(LateLinker, ops=LateOps), NO_TABLES)) == {"variables/program_order"}


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

    assert set(failures(Broken, NO_TABLES)) == {"variables/given_arrays_are_copied"}


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
    assert found <= {"variables/outputs_are_kept", "loops/host_functions", "loops/threads"}


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

    assert set(failures(with_storage(Lending), NO_TABLES)) == {"variables/groups", "graphs/numpy_actor"}


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
    from rlgraph.core.component.specifiable import plain_copy

    class AskingLinker(Linker):
        def link(self, function, view, *draws):
            bound = super().link(function, view, *draws)
            return lambda *args, **kwargs: plain_copy(bound(*args, **kwargs))

    found = failures(with_linker(AskingLinker), NO_TABLES)
    assert found == {
        "budget/no_machinery": "an execution runs functions of rlgraph.core.component.specifiable"
    }


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
    assert found <= {"random/draws_differ", "random/streams_are_saved", "random/permutation"}
