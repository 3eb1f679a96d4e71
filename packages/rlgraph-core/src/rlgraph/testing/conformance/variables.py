"""Section ``variables``: starting values, order, groups, reads and writes in program order, shared memory, threads.

A value that was read, passed in or returned must not change when the variable is written later, and writing into it
must not change the variable.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from rlgraph.components import NeuralNetwork
from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.spaces import BoolBox, FloatBox, IntBox
from rlgraph.testing.conformance.checks import Subject, check
from rlgraph.testing.conformance.comparison import assert_same
from rlgraph.testing.conformance.probes import probe

VECTOR = FloatBox(shape=(3,))
START = np.array([1.0, 2.0, 3.0], np.float32)
NEXT = np.array([10.0, 20.0, 30.0], np.float32)
for _array in (START, NEXT):
    _array.flags.writeable = (
        False  # no backend shall spoil them for later checks; what it may keep is given as a copy
    )

#: Variables of every kind: name -> (Space, initializer).
KINDS: dict[str, tuple[Any, Any]] = {
    "z_float": (FloatBox(shape=(2, 3)), "glorot_uniform"),
    "scalar": (FloatBox(), 0.5),
    "flag": (BoolBox(shape=(2,)), True),
    "count": (IntBox(shape=(2,)), 7),
    "a_float": (VECTOR, {"type": "normal", "stddev": 1.0}),
}


def look(self: Any, ops: Any) -> Any:
    return {name: ops.read(getattr(self, name)) for name in KINDS}


@check("variables")
def initial_values(subject: Subject) -> None:
    """They are those of the reference, to the bit, for every seed and dtype; graph functions see them as well."""
    for seed, dtype in ((0, "float32"), (7, "float64")):
        executor = subject.executor(probe(look, variables=KINDS), seed=seed, dtype=dtype)
        reference = subject.reference(probe(look, variables=KINDS), seed=seed, dtype=dtype)
        assert_same(executor.get_weights(), reference.get_weights(), path="get_weights()")
        assert_same(executor.execute("look"), reference.execute("look"))


@check("variables")
def order(subject: Subject) -> None:
    """Sorted by scoped name wherever they are listed."""
    executor = subject.executor(probe(look, variables=KINDS))
    names = [*executor.get_weights()]
    assert names == sorted(f"probe/{name}" for name in KINDS), f"get_weights() has the order {names}"


class Joined(Component):
    """All variables below a network, one after the other, as a graph function gets them."""

    def __init__(self) -> None:
        self.network = NeuralNetwork([{"type": "dense", "units": 2}, {"type": "dense", "units": 3}])
        super().__init__(self.network, scope="joined")

    @rlgraph_api
    def call(self, inputs: Any) -> Any:
        return self.network.call(inputs)

    @rlgraph_api
    def join(self) -> Any:
        return self._join(self.network.variables())

    @graph_fn
    def _join(self, ops: Any, variables: Any) -> Any:
        return ops.concat([variable * 1.0 for variable in variables])


@check("variables")
def lists_of_variables(subject: Subject) -> None:
    """``component.variables()`` reaches a graph function as flat blocks, sorted by scoped name."""
    executor = subject.executor(Joined(), {"inputs": FloatBox(shape=(2,), add_batch_rank=True)})
    weights = executor.get_weights()
    expected = np.concatenate([weights[name].reshape(-1) for name in sorted(weights)])
    assert_same(executor.execute("join"), expected)


@check("variables")
def get_and_set(subject: Subject) -> None:
    """What is set is got, to the bit; what is not named stays."""
    executor = subject.executor(probe(look, variables=KINDS))
    before = executor.get_weights()
    new = {
        "probe/z_float": np.arange(6, dtype=np.float32).reshape(2, 3) / 3,
        "probe/flag": np.array([False, True]),
        "probe/count": np.array([-(2**53) - 1, 2**62 + 1]),
    }
    executor.set_weights(new)
    expected = {**before, **new}
    assert_same(executor.get_weights(), expected, path="get_weights()")
    seen = executor.execute("look")
    assert_same(seen, {name: expected[f"probe/{name}"] for name in KINDS}, path="what a graph function reads")


@check("variables")
def groups(subject: Subject) -> None:
    """A storage keeps each group in one flat buffer. `borrow_group` gives that buffer or None; all else are copies."""
    executor = subject.executor(probe(look, variables=KINDS))
    storage, layout = executor.storage, executor.built.layout
    for name, group in layout.groups.items():
        flat = storage.read_group(name)
        assert (flat.shape, str(flat.dtype)) == ((group.size,), group.dtype), f"group {name}"
        for variable in group.variables:
            start = group.offsets[variable.name]
            part = flat[start : start + variable.size].reshape(variable.shape)
            assert_same(part, storage.read(variable.name), path=variable.name)
        new = flat[::-1].copy()
        borrowed, fetched = storage.borrow_group(name), storage.fetch_groups([name])
        storage.write_group(name, new)
        assert_same(fetched()[name], flat, path=f"group {name}, fetched before it was written")
        assert_same(storage.read_group(name), new, path=f"group {name} after it was written")
        if borrowed is not None:
            assert_same(borrowed, new, path=f"borrowed memory of group {name}")
        for array, origin in (
            (storage.read_group(name), "read_group returned"),
            (new, "write_group was given"),
        ):
            before = storage.read_group(name).copy()
            if array.flags.writeable:
                array[...] = 0
            assert_same(
                storage.read_group(name), before, path=f"group {name}, after writing into what {origin}"
            )


def add_to_all(self: Any, ops: Any) -> Any:
    for name in ("z_float", "scalar", "a_float", "own"):
        ops.assign_add(getattr(self, name), ops.ones_like(getattr(self, name)))
    return ops.read(self.own)


@check("variables")
def shared_variables(subject: Subject) -> None:
    """Of two executors with variables in common (``shares=``), each reads what the other wrote, also where it acts."""
    first = subject.executor(probe(look, variables=KINDS), seed=3, acting_methods=("look",))
    executors = [
        first,
        *(
            subject.executor(
                probe(look, add_to_all, variables={**KINDS, "own": (VECTOR, 0.0)}), shares=first, seed=seed
            )
            for seed in (4, 5)
        ),
    ]
    expected = dict(first.get_weights())
    added = [name for name in expected if not name.endswith(("flag", "count"))]
    for number, second in enumerate(executors[1:]):
        for times in (1.0, 2.0):
            assert_same(second.execute("add_to_all"), np.full(3, times, np.float32), path="its own variable")
            expected |= {name: expected[name] + 1 for name in added}
            for reader in executors:
                seen = {f"probe/{name}": value for name, value in reader.execute("look").items()}
                assert_same(seen, expected, path=f"what executor {number + 1} wrote")
        first.set_weights({name: expected[name] / 2 for name in added})
        expected |= {name: expected[name] / 2 for name in added}
        seen = second.get_weights()
        assert_same({name: seen[name] for name in expected}, expected, path="what was set in the first")


def write_and_look(self: Any, ops: Any, x: Any) -> Any:
    before = self.a * 1.0
    ops.assign(self.a, x)
    between = self.a * 1.0
    ops.assign_add(self.a, x)
    ops.assign_add(self.b, self.a[0])
    return before, between, self.a * 1.0, self.b * 1.0


PAIR: dict[str, tuple[Any, Any]] = {"a": (VECTOR, START.tolist()), "b": (FloatBox(), 0.5)}


@check("variables")
def program_order(subject: Subject) -> None:
    """Within a graph function, reads and writes take effect where they stand."""
    executor = subject.executor(probe(write_and_look, variables=PAIR), {"x": VECTOR})
    b = np.float32(20.5)
    assert_same(executor.execute("write_and_look", NEXT.copy()), (START, NEXT, 2 * NEXT, np.asarray(b)))
    assert_same(executor.get_weights(), {"probe/a": 2 * NEXT, "probe/b": np.asarray(b)}, path="get_weights()")


class Steps(Component):
    """Reads and writes by graph functions of their own."""

    def create_variables(self, input_spaces: Any, action_space: Any = None) -> None:
        self.a: Any = self.get_variable("a", VECTOR, initializer=START.tolist())

    @rlgraph_api
    def run(self, x: Any) -> Any:
        before = self._double()
        self._write(x)
        between = self._double()
        self._write(between)
        return before, between, self._double()

    @graph_fn
    def _double(self, ops: Any) -> Any:
        return self.a * 2.0

    @graph_fn(returns=0)
    def _write(self, ops: Any, x: Any) -> None:
        ops.assign(self.a, x)


@check("variables")
def order_of_graph_functions(subject: Subject) -> None:
    """Writes happen between the reads they stand between, though nothing is passed from one to the other."""
    executor = subject.executor(Steps(scope="steps"), {"x": VECTOR})
    assert_same(executor.execute("run", NEXT), (2 * START, 2 * NEXT, 4 * NEXT))
    assert_same(executor.execute("run", START), (4 * NEXT, 2 * START, 4 * START), path="second call")


def mixed(self: Any, ops: Any, x: Any) -> Any:
    alias = self.a
    seen = [alias[0] * 1.0]
    ops.assign_add(self.a, x)
    seen.append(alias[0] * 1.0)
    ops.scatter_update(self.a, ops.astype(ops.zeros((1,)), "int64"), x[1:2])
    seen.extend([alias[0] * 1.0, ops.sum(alias), self.b * 1.0])
    return ops.stack(seen)


class Whole(Component):
    """Reads variables by name, and writes all of them as a list."""

    def __init__(self) -> None:
        self.part = probe(see_both, variables=PAIR, scope="part")
        super().__init__(self.part, scope="whole")

    @rlgraph_api
    def run(self, factor: Any) -> Any:
        before = self.part.see_both()  # type: ignore[attr-defined]
        self._scale(self.part.variables(), factor)
        return before, self.part.see_both()  # type: ignore[attr-defined]

    @graph_fn(returns=0)
    def _scale(self, ops: Any, variables: Any, factor: Any) -> None:
        for variable in variables:
            ops.assign(variable, variable * factor)


def see_both(self: Any, ops: Any) -> Any:
    return ops.concat([self.a * 1.0, ops.reshape(self.b, (1,))])


@check("variables")
def reads_are_current(subject: Subject) -> None:
    """A read sees the last write: of another method, of `set_weights`, of a part of the variable, of a list."""
    executor = subject.executor(
        probe(look_at_a, write_a, mixed, variables=PAIR), {"write_a.x": VECTOR, "mixed.x": VECTOR}
    )
    for number, value in enumerate((START, NEXT, 2 * NEXT)):  # each method runs before and after each write
        executor.execute("write_a", value)
        assert_same(executor.execute("look_at_a")[0], value, path=f"after write {number} by another method")
        executor.set_weights({"probe/a": value + 1})
        assert_same(executor.execute("look_at_a")[0], value + 1, path=f"after set_weights {number}")
        given, x = executor.execute("mixed", value), 2 * value + 1
        after = np.array([value[0] + 1, x[0], value[1], value[1] + x[1:].sum(), 0.5], np.float32)
        assert_same(given, after, path="reads before and after assign_add and scatter_update")
    executor = subject.executor(Whole(), {"factor": FloatBox()})
    both = np.append(START, np.float32(0.5))
    for power in (0, 1):
        expected = (both * 2**power, both * 2 ** (power + 1))
        assert_same(executor.execute("run", 2.0), expected, path="before and after a write of the list")


@check("variables", operations=("scatter_update", "scatter_add"))
def rows(subject: Subject) -> None:
    """Rows of variables are written in place and in order; of several additions to a row none is lost."""

    def run(self: Any, ops: Any, indices: Any, values: Any) -> Any:
        ops.scatter_update(self.table, indices, values)
        between = self.table * 1.0
        ops.scatter_add(self.table, indices[:1], values[:1])
        ops.scatter_add(self.counts, ops.concat([indices, indices]), ops.ones((4,), "int64"))
        return between, self.table * 1.0

    kinds = {"table": (FloatBox(shape=(4, 3)), 1.0), "counts": (IntBox(shape=(4,)), 0)}
    spaces = {"indices": IntBox(4, shape=(2,)), "values": FloatBox(shape=(2, 3))}
    executor = subject.executor(probe(run, variables=kinds), spaces)
    between, after = np.ones((4, 3), np.float32), np.ones((4, 3), np.float32)
    between[2], between[0] = START, NEXT
    after[2], after[0] = 2 * START, NEXT
    given = executor.execute("run", np.array([2, 0]), np.stack([START, NEXT]))
    assert_same(given, (between, after))
    expected = {"probe/table": after, "probe/counts": np.array([2, 0, 2, 0])}
    assert_same(executor.get_weights(), expected, path="get_weights()")


def keep_and_write(self: Any, ops: Any, x: Any) -> Any:
    kept = ops.read(self.a)
    ops.assign(self.a, x)
    return kept * 1.0


def look_at_a(self: Any, ops: Any) -> Any:
    return ops.read(self.a), ops.reshape(ops.read(self.a), (1, 3)), ops.reshape(self.a, (3, 1)), self.a[1:]


def write_a(self: Any, ops: Any, x: Any) -> Any:
    ops.assign(self.a, x)
    return x * 1.0


@check("variables")
def reads_are_kept(subject: Subject) -> None:
    """What `ops.read` gave does not change with a later write: neither in the same graph function nor once returned."""
    executor = subject.executor(probe(keep_and_write, look_at_a, write_a, variables=PAIR), {"x": VECTOR})
    assert_same(executor.execute("keep_and_write", NEXT.copy()), START, path="a read before a write")
    outputs = executor.execute("look_at_a")
    executor.execute("write_a", START.copy())
    expected = (NEXT, NEXT[None], NEXT[:, None], NEXT[1:])
    assert_same(outputs, expected, path="what was returned before a write")


#: Variables that share a group, and one that has a group of its own: a backend may treat whole groups in another way.
SHARED_AND_ALONE = {"a group of two variables": PAIR, "a group of one variable": {"a": PAIR["a"]}}


@check("variables")
def outputs_belong_to_the_caller(subject: Subject) -> None:
    """What a method returned can be written, and that changes no variable."""
    for group, variables in SHARED_AND_ALONE.items():
        executor = subject.executor(probe(look_at_a, variables=variables))
        for number, output in enumerate(executor.execute("look_at_a")):
            assert output.flags.writeable, f"{group}: output {number} is read-only"
            output[...] = 0.0
            after = executor.execute("look_at_a")[0]
            assert_same(
                after, START, path=f"{group}: the variable, after the caller wrote into output {number}"
            )


@check("variables")
def weights_are_copies(subject: Subject) -> None:
    """What `get_weights` returned belongs to the caller: nothing changes it, and it changes no variable."""
    executor = subject.executor(probe(look_at_a, write_a, variables=PAIR), {"x": VECTOR})
    weights = executor.get_weights()
    executor.execute("write_a", NEXT.copy())
    assert_same(weights["probe/a"], START, path="get_weights() before a write")
    weights = executor.get_weights()
    weights["probe/a"][...] = 0.0
    assert_same(
        executor.execute("look_at_a")[0], NEXT, path="the variable, after the caller wrote into a copy"
    )


@check("variables")
def given_arrays_are_copied(subject: Subject) -> None:
    """An array that was written into a variable still belongs to the caller."""
    for group, variables in SHARED_AND_ALONE.items():
        executor = subject.executor(probe(look_at_a, write_a, variables=variables), {"x": VECTOR})
        for origin, write in (
            ("a method", lambda array, executor=executor: executor.execute("write_a", array)),
            ("set_weights", lambda array, executor=executor: executor.set_weights({"probe/a": array})),
        ):
            mine = NEXT.copy()
            write(mine)
            mine[...] = 0.0
            place = f"{group}, written by {origin}"
            assert_same(
                executor.execute("look_at_a")[0],
                NEXT,
                path=f"{place}: the variable, after the caller's array changed",
            )
            executor.set_weights({"probe/a": START})
            assert_same(
                mine, np.zeros(3, np.float32), path=f"{place}: the caller's array, after the variable changed"
            )


class Late(Component):
    """Keeps what it is given, when a long computation is over."""

    def create_variables(self, input_spaces: Any, action_space: Any = None) -> None:
        self.kept: Any = self.get_variable("kept", FloatBox(shape=(64,)))
        self.large: Any = self.get_variable("large", FloatBox(shape=(500, 500)), initializer=1.0)

    @rlgraph_api
    @graph_fn(returns=0)
    def keep(self, ops: Any, x: Any) -> None:
        zero = ops.sum(ops.tanh(ops.matmul(self.large, self.large))) * 0.0
        ops.assign(self.kept, x + zero)


@check("variables")
def given_arrays_are_read_in_time(subject: Subject) -> None:
    """An array may be written again as soon as the call is over, though a framework may go on computing."""
    executor = subject.executor(Late(scope="late"), {"x": FloatBox(shape=(64,))})
    memory = np.zeros(64 * 5, np.uint8)
    start = -memory.ctypes.data % 64  # frameworks share memory with arrays that begin where theirs do
    mine = memory[start : start + 64 * 4].view(np.float32)
    for _ in range(2):  # in the first call a framework may compile, and wait for that
        mine[...] = 1.0
        executor.execute("keep", mine)
        mine[...] = 0.0
        kept = executor.get_weights()["late/kept"]
        assert_same(kept, np.ones(64, np.float32), path="the variable, after the caller's array changed")


def double(self: Any, ops: Any, x: Any) -> Any:
    return x * 2.0


@check("variables")
def outputs_are_kept(subject: Subject) -> None:
    """What a method returned is not overwritten by the next call."""
    executor = subject.executor(probe(double), {"x": FloatBox(shape=(3,), add_batch_rank=True)})
    first = executor.execute("double", START[None])
    executor.execute("double", NEXT[None])
    assert_same(first, 2 * START[None], path="the first call's output, after the second")


@check("variables")
def inputs_are_left_alone(subject: Subject) -> None:
    """A call changes none of its arguments."""
    executor = subject.executor(
        probe(double, write_a, variables=PAIR), {"double.x": VECTOR, "write_a.x": VECTOR}
    )
    for method in ("double", "write_a"):
        mine = START.copy()
        executor.execute(method, mine)
        assert_same(mine, START, path=f"the argument of {method}")


class Meeting:
    """Lets a call wait in the middle of a graph function; only where graph functions run at every call."""

    def __init__(self) -> None:
        self.armed = False
        self.entered, self.left = threading.Event(), threading.Event()

    def wait(self) -> None:
        """Wait for the other call, the first time after it was armed."""
        if self.armed:
            self.armed = False
            self.entered.set()
            self.left.wait(0.5)  # a backend that runs one call at a time cannot let the other one in


@check("variables")
def calls_in_threads(subject: Subject) -> None:
    """A call sees its own inputs and the variables, though another one runs and ends in the meantime."""
    meeting = Meeting()

    def scale(self: Any, ops: Any, x: Any) -> Any:
        before = x * self.a
        meeting.wait()
        return before + x * self.a

    executor = subject.executor(probe(scale, variables=PAIR), {"x": VECTOR})
    for x in (START, NEXT):
        executor.execute("scale", x)
    meeting.armed = True
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(executor.execute, "scale", START)
        first.add_done_callback(lambda _: meeting.entered.set())
        meeting.entered.wait()
        second = executor.execute("scale", NEXT)
        meeting.left.set()
        assert_same(first.result(), 2 * START * START, path="the call that began first and ended last")
    assert_same(second, 2 * NEXT * START, path="the call that ran in the meantime")
    with ThreadPoolExecutor(4) as pool:
        inputs = [START * number for number in range(40)]
        results = list(pool.map(lambda x: executor.execute("scale", x), inputs))
    assert_same(results, [2 * x * START for x in inputs], path="calls in four threads")
