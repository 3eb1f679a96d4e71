"""Threads meet at barriers and at the condition itself; nothing sleeps."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rlgraph.components import FIFOQueue
from rlgraph.core import (
    Component,
    GraphExecutor,
    InputError,
    QueueClosedError,
    QueueTimeoutError,
    RLGraphError,
    SpecError,
    graph_fn,
    rlgraph_api,
)
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, SpaceError, Tuple
from rlgraph.testing import ComponentTest

NUMBERS = Dict(number=IntBox(), add_batch_rank=True)
#: Nobody waits longer for another thread; only a test that fails takes so long.
LONG = 30


def queue(capacity, backend="numpy", space=NUMBERS, timeout=0):
    spaces = {"records": space, "num_records": IntBox()}
    return ComponentTest(FIFOQueue(capacity, timeout=timeout), spaces, backend=backend)


def put(test, numbers):
    test.executor.execute("insert_records", {"number": np.asarray(numbers, np.int64)})


def take(test, number):
    return test.executor.execute("get_records", number)["number"].tolist()


class Waiters:
    """Lets a test wait until so many threads wait at the queue's condition."""

    def __init__(self, test):
        self.condition = test.executor.guarded.host_view("fifo-queue").condition
        self.arrived = threading.Semaphore(0)
        wait = self.condition.wait

        def announced(timeout=None):
            self.arrived.release()  # the lock is still held: who takes it next finds this thread waiting
            return wait(timeout)

        self.condition.wait = announced

    def expect(self, number):
        for _ in range(number):
            assert self.arrived.acquire(timeout=LONG)
        with self.condition:
            pass


def test_usage(backend):
    test = queue(4, backend)
    put(test, [1, 2, 3])
    assert (int(test.executor.execute("get_size")), take(test, 2)) == (3, [1, 2])
    put(test, [4, 5, 6])
    assert take(test, 4) == [3, 4, 5, 6]
    assert int(test.executor.execute("get_size")) == 0


def test_who_does_not_wait_is_told():
    test = queue(3)
    with pytest.raises(QueueTimeoutError, match="fifo-queue: no 1 records within 0 s"):
        take(test, 1)
    put(test, [1, 2])
    with pytest.raises(QueueTimeoutError, match="fifo-queue: no room for 2 records within 0 s"):
        put(test, [3, 4])
    # All or nothing: neither has changed anything.
    put(test, [3])
    assert take(test, 3) == [1, 2, 3]


def test_a_time_to_wait():
    with pytest.raises(QueueTimeoutError, match=r"no 1 records within 0.01 s"):
        take(queue(3, timeout=0.01), 1)


def test_more_than_it_can_ever_hold():
    test = queue(3, timeout=None)
    with pytest.raises(
        InputError, match="fifo-queue: expected 0 to 3 records at a time, its capacity, given 4"
    ):
        put(test, range(4))
    with pytest.raises(InputError, match="expected 0 to 3 records at a time, its capacity, given 4"):
        take(test, 4)
    with pytest.raises(InputError, match="given -1"):
        take(test, -1)


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.integers(1, 6), st.lists(st.tuples(st.booleans(), st.integers(0, 7)), max_size=20))
def test_it_is_a_list(capacity, actions):
    test, model, number = queue(capacity), [], 0
    for inserts, count in actions:
        if inserts:
            fits, fails = len(model) + count <= capacity, RLGraphError
            numbers = list(range(number, number + count))
            if fits:
                put(test, numbers)
                model, number = model + numbers, number + count
            else:
                with pytest.raises(fails):
                    put(test, numbers)
        elif count <= len(model):
            assert take(test, count) == model[:count]
            model = model[count:]
        else:
            with pytest.raises(RLGraphError):
                take(test, count)
        assert int(test.executor.execute("get_size")) == len(model)


def test_a_blocked_get_does_not_hold_up_an_insert(backend):
    test = queue(4, backend, timeout=LONG)
    waiters = Waiters(test)
    with ThreadPoolExecutor(1) as pool:
        taken = pool.submit(take, test, 3)
        waiters.expect(1)
        put(test, [1, 2])
        assert int(test.executor.execute("get_size")) == 2  # not enough
        put(test, [3])
        assert taken.result(LONG) == [1, 2, 3]


def test_a_blocked_insert_does_not_hold_up_a_get(backend):
    test = queue(2, backend, timeout=LONG)
    waiters = Waiters(test)
    put(test, [1, 2])
    with ThreadPoolExecutor(1) as pool:
        inserted = pool.submit(put, test, [3, 4])
        waiters.expect(1)
        assert take(test, 1) == [1]
        assert not inserted.done()
        assert take(test, 1) == [2]
        inserted.result(LONG)
    assert take(test, 2) == [3, 4]


def test_a_blocked_get_holds_up_no_checkpoint(tmp_path):
    test = queue(2, timeout=LONG)
    waiters = Waiters(test)
    with ThreadPoolExecutor(1) as pool:
        taken = pool.submit(take, test, 2)
        waiters.expect(1)
        put(test, [7])
        test.executor.save(tmp_path / "one")
        put(test, [8])
        assert taken.result(LONG) == [7, 8]


def test_what_is_loaded_wakes_who_waits(tmp_path):
    full, test = queue(2), queue(2, timeout=LONG)
    put(full, [5, 6])
    full.executor.save(tmp_path / "full")
    waiters = Waiters(test)
    with ThreadPoolExecutor(1) as pool:
        taken = pool.submit(take, test, 2)
        waiters.expect(1)
        test.executor.load(tmp_path / "full")
        assert taken.result(LONG) == [5, 6]


@pytest.mark.parametrize("waiting", ["get", "insert"])
def test_closing_wakes_who_waits(waiting):
    test = queue(1, timeout=LONG)
    waiters = Waiters(test)
    if waiting == "insert":
        put(test, [1])
    with ThreadPoolExecutor(2) as pool:
        blocked = [
            pool.submit(*((put, test, [2]) if waiting == "insert" else (take, test, 1))) for _ in range(2)
        ]
        waiters.expect(2)
        test.executor.execute("close")
        for future in blocked:
            with pytest.raises(QueueClosedError, match="fifo-queue is closed, there will be no"):
                future.result(LONG)


def test_a_closed_queue_gives_what_it_has():
    test = queue(4, timeout=LONG)
    put(test, [1, 2, 3])
    test.executor.execute("close")
    with pytest.raises(QueueClosedError, match="there will be no room for 1 records"):
        put(test, [4])
    assert take(test, 2) == [1, 2]
    with pytest.raises(QueueClosedError, match="there will be no 2 records"):
        take(test, 2)
    assert take(test, 1) == [3]
    test.executor.execute("reopen")
    put(test, [5])
    assert take(test, 1) == [5]


def test_many_threads_at_once():
    """Nothing is lost, nothing comes twice, batches stay together and in the order of whoever put them in."""
    test, threads, rounds = queue(7, timeout=LONG), 4, 60
    barrier = threading.Barrier(2 * threads)

    def producer(name):
        barrier.wait(LONG)
        for i in range(rounds):
            put(test, [1000 * name + 2 * i, 1000 * name + 2 * i + 1])

    def consumer(_):
        barrier.wait(LONG)
        return [take(test, 2) for _ in range(rounds)]

    with ThreadPoolExecutor(2 * threads) as pool:
        for future in [pool.submit(producer, name) for name in range(threads)]:
            future.add_done_callback(lambda done: done.exception() and barrier.abort())
        batches = [batch for batches in pool.map(consumer, range(threads)) for batch in batches]
    assert all(second == first + 1 for first, second in batches)
    numbers = sorted(number for batch in batches for number in batch)
    assert numbers == sorted(1000 * n + i for n in range(threads) for i in range(2 * rounds))


def test_fragments_of_nested_records(backend):
    """A time rank of a fixed size; also a tuple, bools and bytes."""
    space = Dict(
        state=Dict(image=IntBox(0, 256, shape=(2,), dtype="uint8"), pair=Tuple(FloatBox(), BoolBox())),
        reward=FloatBox(),
        add_batch_rank=True,
        add_time_rank=3,
    )
    test = queue(3, backend, space)
    given = {
        "state": {
            "image": np.arange(12, dtype=np.uint8).reshape(2, 3, 2),
            "pair": (np.arange(6, dtype=np.float32).reshape(2, 3), np.eye(2, 3, dtype=bool)),
        },
        "reward": -np.arange(6, dtype=np.float32).reshape(2, 3),
    }
    for _ in range(3):  # around the ring
        test.test(("insert_records", [given]))
        test.test(("get_records", [2]), expected_outputs=given)


def test_in_front_of_a_tensor_program(backend):
    class Learner(Component):
        """What it takes out goes into a graph function of the same plan."""

        def __init__(self):
            self.queue = FIFOQueue(4, timeout=LONG)
            super().__init__(self.queue, scope="learner")

        @rlgraph_api
        def insert(self, records):
            self.queue.insert_records(records)

        @rlgraph_api
        def learn(self, num_records):
            return self._sum(self.queue.get_records(num_records))

        @graph_fn
        def _sum(self, ops, records):
            return ops.sum(records["reward"])

    space = Dict(reward=FloatBox(), add_batch_rank=True, add_time_rank=2)
    executor = GraphExecutor(Learner(), {"records": space, "num_records": IntBox()}, backend=backend)
    reward = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
    with ThreadPoolExecutor(1) as pool:
        learned = pool.submit(executor.execute, "learn", 2)
        executor.execute("insert", {"reward": reward[:1]})
        executor.execute("insert", {"reward": reward[1:]})
        assert float(learned.result(LONG)) == 10.0


def test_it_is_saved_and_loaded(backend, tmp_path):
    first, second = queue(3, backend), queue(3, backend)
    put(first, [1, 2, 3])
    take(first, 2)
    put(first, [4])
    first.executor.save(tmp_path / "checkpoint")
    second.executor.load(tmp_path / "checkpoint")
    assert take(second, 2) == [3, 4]


def test_specs():
    made = Component.from_spec({"type": "fifo_queue", "capacity": 10, "timeout": 2.5})
    assert (type(made), made.capacity, made.timeout) == (FIFOQueue, 10, 2.5)
    for timeout in (-1, float("nan"), float("inf"), "long", True):
        with pytest.raises(SpecError, match=r"fifo-queue.timeout: expected seconds >= 0, or None"):
            FIFOQueue(timeout=timeout)
    with pytest.raises(SpecError, match=r"fifo-queue.capacity: expected an integer >= 1, given 0"):
        FIFOQueue(0)


@pytest.mark.parametrize(
    ("space", "said"),
    [
        (FloatBox(add_batch_rank=True), "records must be a Dict with batch rank"),
        (Dict(number=IntBox()), "records must be a Dict with batch rank"),
        (NUMBERS.with_time_rank(), "records: expected fragments .* of one length, add_time_rank=20"),
        (Dict(number=IntBox(), add_batch_rank=True, add_time_rank=4, time_major=True), "of one length"),
    ],
)
def test_spaces_it_cannot_take(space, said):
    with pytest.raises(SpaceError, match=said):
        queue(3, space=space)
