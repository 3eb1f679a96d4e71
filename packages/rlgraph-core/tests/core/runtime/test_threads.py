"""One graph executor in several threads."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from rlgraph.core import Component, GraphExecutor, graph_fn, rlgraph_api
from rlgraph.core.ops import stream_name
from rlgraph.core.runtime.locks import Locks
from rlgraph.spaces import FloatBox, IntBox

SIZE, ROUNDS, THREADS = 1000, 50, 4
STEP = FloatBox(shape=(SIZE,))


class Counter(Component):
    """Counts in a tensor variable and in a host variable, neither of which is atomic."""

    def create_variables(self, input_spaces, action_space=None):
        self.values = self.get_variable("values", STEP)
        self.number = self.get_variable("number", IntBox(), initializer=0, host=True)

    @rlgraph_api
    @graph_fn
    def add(self, ops, step):
        # Read and written apart: two threads at a time would lose one of their steps.
        ops.assign(self.values, ops.read(self.values) + step)
        return ops.read(self.values)

    @rlgraph_api
    @graph_fn
    def look(self, ops, step):
        return self.values + step

    @rlgraph_api
    @graph_fn(host=True, spaces=IntBox())
    def count(self):
        number = int(self.number)
        time.sleep(0)  # another thread's turn, if it may enter
        self.number[...] = number + 1
        return self.number


def together(function):
    """Runs `function` ROUNDS times in each of THREADS threads, all starting at once; gives all results."""
    barrier = threading.Barrier(THREADS)

    def many(_):
        barrier.wait()
        return [function() for _ in range(ROUNDS)]

    with ThreadPoolExecutor(THREADS) as pool:
        return [value for values in pool.map(many, range(THREADS)) for value in values]


@pytest.fixture
def executor(backend):
    return GraphExecutor(Counter(scope="counter"), {"step": STEP}, backend=backend)


def test_no_write_is_lost(executor):
    one = np.ones(SIZE, np.float32)
    seen = together(lambda: executor.execute("add", one))
    assert all(np.ptp(values) == 0 for values in seen)  # nobody saw half a write
    assert sorted(values[0] for values in seen) == list(range(1, THREADS * ROUNDS + 1))
    np.testing.assert_array_equal(executor.get_weights()["counter/values"], THREADS * ROUNDS)


def test_no_host_call_is_lost(executor):
    assert sorted(together(lambda: int(executor.execute("count")))) == list(range(1, THREADS * ROUNDS + 1))


def test_fused_programs_keep_the_same_locks(executor):
    one = np.ones(SIZE, np.float32)
    together(lambda: executor.execute([("add", one), ("count",), ("add", one)]))
    np.testing.assert_array_equal(executor.get_weights()["counter/values"], 2 * THREADS * ROUNDS)
    assert int(executor.execute("count")) == THREADS * ROUNDS + 1


def test_weights_are_taken_and_given_between_writes(executor):
    one, zeros = np.ones(SIZE, np.float32), {"counter/values": np.zeros(SIZE, np.float32)}

    def step():
        executor.execute("add", one)
        executor.set_weights(zeros)
        return executor.get_weights()["counter/values"]

    assert all(np.ptp(values) == 0 for values in together(step))


def test_what_only_reads_waits_for_nobody(executor):
    one = np.ones(SIZE, np.float32)
    executor.execute("look", one)
    with executor.guarded.everything(), ThreadPoolExecutor(1) as pool:
        np.testing.assert_array_equal(pool.submit(executor.execute, "look", one).result(timeout=30), 1.0)


class Copying(Component):
    """Writes one variable from another one of another group, and from a draw."""

    def create_variables(self, input_spaces, action_space=None):
        self.target = self.get_variable("target", STEP)
        self.source = self.get_variable("source", IntBox(), initializer=7)

    @rlgraph_api
    @graph_fn
    def copy(self, ops):
        ops.assign(self.target, ops.zeros((SIZE,)) + ops.astype(ops.read(self.source), "float"))
        return ops.read(self.target)

    @rlgraph_api
    @graph_fn
    def draw(self, ops):
        return ops.random_uniform((SIZE,))


@pytest.mark.parametrize(("method", "taken"), [("copy", "copying/source"), ("draw", stream_name("copying"))])
def test_a_write_waits_for_what_it_reads_and_a_draw_for_its_stream(backend, method, taken):
    executor = GraphExecutor(Copying(scope="copying"), {}, backend=backend)
    group_of = executor.built.layout.group_of
    assert group_of["copying/source"] != group_of["copying/target"]
    executor.execute(method)
    with ThreadPoolExecutor(1) as pool:
        with executor.guarded.locks.holding([group_of.get(taken, taken)]):
            result = pool.submit(executor.execute, method)
            with pytest.raises(TimeoutError):
                result.result(timeout=0.2)
        assert result.result(timeout=30).shape == (SIZE,)


def test_the_numpy_program_sees_every_write(executor):
    look, one = executor.numpy_program("look"), np.ones(SIZE, np.float32)

    def step():
        written = executor.execute("add", one)[0]
        return look(one)[0] > written  # at least this thread's own write

    assert all(together(step))


def test_programs_are_made_once(executor, monkeypatch):
    made = []
    lower = executor.backend.lower
    monkeypatch.setattr(executor.backend, "lower", lambda *args: made.append(args) or lower(*args))
    together(lambda: executor.execute("look", np.ones(SIZE, np.float32)))
    assert len(made) == 1


def test_locks_are_taken_in_the_order_of_their_names_and_given_back():
    locks, log = Locks(), []
    with locks.holding(["b", "a"], lambda: log.append("done")):
        with locks.holding(["a"]), locks.holding(["a", "b"]):
            log.append("again")  # a thread may take its own locks again
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(locks.holding(["a"]).acquire, False).result() is False
            assert pool.submit(locks.holding(["c"]).acquire, False).result() is True
    assert log == ["again", "done"]
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(locks.holding(["b"]).acquire, False).result() is True


def test_locks_are_acquired_in_the_order_of_their_names(monkeypatch):
    """Else two threads that need the same ones could wait for each other."""
    acquired = []

    class Logged:
        def acquire(self):
            acquired.append(self)

        def release(self):
            pass

    monkeypatch.setattr("rlgraph.core.runtime.locks.threading.RLock", Logged)
    locks, names = Locks(), [f"group {i:02}" for i in range(20)]
    by_name = {name: locks.holding([name]) for name in names}
    with locks.holding(reversed(names)):
        assert acquired == [by_name[name] for name in names]


def test_locks_are_given_back_after_an_error():
    locks = Locks()
    with pytest.raises(ZeroDivisionError), locks.holding(["a", "b"], lambda: 1 / 0):
        pass
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(locks.holding(["a"]).acquire, False).result() is True
