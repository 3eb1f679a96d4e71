"""Who waits, and how each actor is."""

import pytest

from rlgraph.execution.executors.live_view import MOST_LINES, lines_of
from rlgraph.execution.executors.monitor import Monitor
from rlgraph.execution.remote.sampling import Sample
from rlgraph.execution.remote.work_times import WorkTimes, timed
from rlgraph.experience.fragment import Origin


class Clock:
    """Shows what it was set to."""

    def __init__(self):
        self.time = 100.0

    def __call__(self):
        return self.time


def sample(actor, steps, waited, worked):
    return Sample(Origin(actor, 0, 0), 0, steps, [], 0, 0, 10 * steps, (waited, worked))


def test_metrics_of_two_reports():
    monitor = Monitor(clock := Clock())
    monitor.add(sample(0, 30, 1.0, 3.0), 0)
    with monitor.waiting():
        clock.time += 2.0
    monitor.add(sample(1, 10, 2.0, 2.0), 2)
    clock.time += 2.0
    metrics = monitor.take(1, 4)
    assert metrics == {
        "actor_restarts": 1,
        "lost_fragments": 4,
        "sampling_wait": 0.5,
        "actor_wait": pytest.approx(3 / 8),
        "weights_age": 1,
        "bytes_per_step": 10,
    }
    assert monitor.silent_seconds(0) == 4.0 and monitor.silent_seconds(2) is None
    assert monitor.take(1, 4) == {"actor_restarts": 1, "lost_fragments": 4, "sampling_wait": 0}


def test_lines():
    monitor = Monitor(clock := Clock())
    monitor.add(sample(0, 300, 1.0, 3.0), 0)
    clock.time += 4.0
    monitor.take(0, 0)
    monitor.add(sample(1, 1000, 1.0, 3.0), 1)
    clock.time += 1.0
    metrics = monitor.take(2, 0)
    assert lines_of(metrics, monitor, [0, 2, 0]) == [
        "waiting: learner for samples 0%, actors 25%",
        "weights 1.0 updates old, 10 bytes per step, 2 restarts of actors",
        "actor 0: sent nothing for 5 s",
        "actor 1: 1,000 steps/s, waits 25%, restarts 2",
        "actor 2: starts",
    ]


def test_of_many_actors_those_that_send_least_are_shown():
    monitor = Monitor(clock := Clock())
    for actor in range(100):
        monitor.add(sample(actor, 50 + abs(actor - 40), 0.0, 1.0), 0)
    clock.time += 1.0
    lines = lines_of(monitor.take(0, 0), monitor, [0] * 100)
    assert [line.partition(":")[0] for line in lines[2:]] == [
        *(f"actor {number}" for number in range(36, 36 + MOST_LINES)),
        "92 further actors send more",
    ]


def test_times_of_a_hosted_object(monkeypatch):
    clock = Clock()
    monkeypatch.setattr("time.perf_counter", clock)

    class Hosted:
        def __init__(self):
            self.times = WorkTimes()

        @timed
        def work(self, seconds):
            clock.time += seconds
            if seconds > 5.0:
                raise ValueError
            return seconds

    hosted = Hosted()
    clock.time += 1.0
    assert hosted.work(3.0) == 3.0
    clock.time += 4.0
    with pytest.raises(ValueError):
        hosted.work(6.0)
    assert hosted.times.take() == (5.0, 9.0)
    assert hosted.times.take() == (0.0, 0.0)
