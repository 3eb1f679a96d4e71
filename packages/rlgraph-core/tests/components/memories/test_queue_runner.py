"""Producers meet at barriers and events; nothing sleeps. Who waits longer than LONG seconds has failed a test."""

import threading

import numpy as np
import pytest

from rlgraph.components import FIFOQueue, QueueRunner
from rlgraph.core import GraphExecutor, QueueClosedError, QueueTimeoutError, RLGraphError
from rlgraph.spaces import Dict, IntBox

LONG = 30


@pytest.fixture
def queue():
    spaces = {"records": Dict(number=IntBox(), add_batch_rank=True), "num_records": IntBox()}
    return GraphExecutor(FIFOQueue(4, timeout=LONG), spaces, backend="numpy")


def record(number):
    return {"number": np.array([number])}


def take(queue, number):
    return queue.execute("get_records", number)["number"].tolist()


def runner(queue, *producers):
    return QueueRunner(producers, queue.program("insert_records"), queue.program("close"))


def counting(start, stop=10**9):
    return map(record, range(start, stop)).__next__


def test_usage(queue):
    with runner(queue, counting(0), counting(1000)) as running:
        taken = [number for _ in range(20) for number in take(queue, 2)]
        assert running.is_running
    assert not running.is_running
    for start in (0, 1000):  # each producer's in their order
        mine = [number for number in taken if start <= number < start + 1000]
        assert mine == list(range(start, start + len(mine)))
    assert len(taken) == 40


def test_the_first_error_is_the_one_that_counts(queue):
    """The other producer fails when the queue was closed because of it."""
    produces, closed = threading.Event(), threading.Event()

    def first():
        produces.wait(LONG)
        raise ValueError("first")

    def second():
        produces.set()
        closed.wait(LONG)
        raise KeyError("second")

    running = QueueRunner([first, second], queue.program("insert_records"), closed.set)
    running.start()
    assert closed.wait(LONG)
    with pytest.raises(ValueError, match="first"):
        running.stop()


def test_producers_run_at_the_same_time(queue):
    barrier = threading.Barrier(3)

    def producer(number):
        def produce():
            barrier.wait(LONG)  # nobody goes on before all are here
            return record(number)

        return produce

    running = runner(queue, *map(producer, range(3)))
    running.start()
    assert sorted(take(queue, 3)) == [0, 1, 2]
    barrier.abort()
    running._stopping.wait(LONG)  # a producer that is told to stop before it comes back has no error
    with pytest.raises(threading.BrokenBarrierError):
        running.stop()


def test_stopping_wakes_a_producer_that_waits_for_room(queue):
    produced, counted = threading.Semaphore(0), counting(0)

    def produce():
        produced.release()
        return counted()

    running = runner(queue, produce)
    running.start()
    for _ in range(5):  # the fifth finds no room
        assert produced.acquire(timeout=LONG)
    running.stop()
    assert not running.is_running
    assert take(queue, 4) == [0, 1, 2, 3]


def test_what_a_producer_raises_comes_out(queue):
    def broken():
        raise ValueError("no such game")

    running = runner(queue, broken, counting(0))
    running.start()
    running._stopping.wait(LONG)
    with pytest.raises(ValueError, match="no such game"):
        running.stop()
    running.stop()  # said once
    with pytest.raises(QueueClosedError):
        queue.execute("insert_records", record(1))


def test_a_block_that_waits_learns_why_nothing_comes(queue):
    def broken():
        raise ValueError("no such game")

    with pytest.raises(ValueError, match="no such game") as raised, runner(queue, broken):
        take(queue, 1)
    assert isinstance(raised.value.__context__, QueueClosedError)


def test_what_the_block_raises_counts_more(queue):
    def broken():
        raise ValueError("no such game")

    with pytest.raises(KeyError) as raised, runner(queue, broken) as running:
        running._stopping.wait(LONG)
        raise KeyError("loss")
    assert raised.value.__notes__ == [
        "A producer of a QueueRunner has failed, too: ValueError('no such game')"
    ]


def test_what_does_not_fit_is_a_failure_of_the_producer(queue):
    with pytest.raises(RLGraphError, match="insert_records: .*number"), runner(queue, lambda: {"numbers": 1}):
        take(queue, 1)


def test_an_insert_that_waits_too_long(queue):
    spaces = {"records": Dict(number=IntBox(), add_batch_rank=True), "num_records": IntBox()}
    small = GraphExecutor(FIFOQueue(1, timeout=0), spaces, backend="numpy")
    running = runner(small, counting(0))
    running.start()
    running._stopping.wait(LONG)
    with pytest.raises(QueueTimeoutError):
        running.stop()


def test_the_last_producer_that_ends_closes_the_queue(queue):
    with runner(queue, counting(0, 3), counting(3, 5)):
        taken = take(queue, 1) + take(queue, 4)
        assert sorted(taken) == [0, 1, 2, 3, 4]
        with pytest.raises(QueueClosedError):
            take(queue, 1)


def test_it_runs_once(queue):
    running = runner(queue, counting(0))
    running.start()
    with pytest.raises(RLGraphError, match="it was started before"):
        running.start()
    running.stop()
    with pytest.raises(RLGraphError, match="it was started before"):
        running.start()


def test_one_that_never_ran_can_be_stopped(queue):
    running = runner(queue, counting(0))
    running.stop()
    assert not running.is_running


def test_without_producers(queue):
    with pytest.raises(RLGraphError, match="producers: expected at least one function, given none"):
        runner(queue)


@pytest.mark.parametrize(
    ("producers", "insert", "message"),
    [
        (print, print, "producers: expected a list of functions, given one"),
        (
            [print, iter([])],
            print,
            r"producers\[1\]: expected a function, given .*; pass __next__ of an iterator",
        ),
        ([print], 3, r"insert: expected a function, given 3; .*program\(method\) of an executor"),
    ],
)
def test_what_is_no_function(producers, insert, message):
    with pytest.raises(RLGraphError, match=message):
        QueueRunner(producers, insert, print)
