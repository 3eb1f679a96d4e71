"""IMPALA's flow, on actors of this process."""

import pytest

from rlgraph.core import SpecError
from rlgraph.execution import ImpalaExecutor
from rlgraph.execution.engine import ActorDied
from rlgraph.execution.in_process import InProcessEngine
from rlgraph.workers import Callback

LAYERS = [{"type": "dense", "units": 8, "activation": "tanh"}]
IMPALA = {
    "type": "impala",
    "network_spec": LAYERS,
    "rollout_length": 5,
    "execution_spec": {"threads": 1},
}


class Ages(Callback):
    """The metrics of all reports."""

    def __init__(self):
        self.metrics = []

    def on_report(self, worker, metrics):
        self.metrics.append(metrics)


def make(spec=IMPALA, **options):
    options = {"backend": "torch", "actors": 2, "num_envs": 4, "seed": 1, "report_interval": 10**6, **options}
    return ImpalaExecutor(spec, "CartPole-v1", **options)


def test_actors_are_asked_ahead_and_their_weights_are_old():
    """Two actors with two requests each, an update of two fragments: every fragment but the first was acted earlier."""
    executor, ages = make(), Ages()
    result = executor.execute(steps=10 * 2 * 5 * 4, callbacks=ages)
    assert (result.timesteps, result.updates) == (400, 10)
    # Four fragments come at once, for two updates; each is asked for when one is taken, two updates ahead.
    (metrics,) = ages.metrics
    assert metrics["weights_age"] == pytest.approx(((0 + 1) + 8 * 2) / 10)
    assert "dropped_fragments" not in metrics


def test_fragments_that_are_too_old_are_dropped_and_counted():
    executor, ages = make({**IMPALA, "max_age": 1}, requests_per_actor=4), Ages()
    result = executor.execute(steps=200, callbacks=ages)
    assert result.updates == 5
    (metrics,) = ages.metrics
    assert metrics["weights_age"] <= 1.0
    assert metrics["dropped_fragments"] > 0


class Dying(InProcessEngine):
    """All calls of the first actor fail."""

    first = None

    def call(self, actor, method, *arguments):
        call = super().call(actor, method, *arguments)
        self.first = self.first or actor
        if actor is self.first:
            call.fault = ActorDied("killed")
        return call


def test_an_actor_that_dies_is_started_again_once_for_all_its_requests():
    executor = make(engine=Dying())
    result = executor.execute_timesteps(400)
    assert result.updates == 10
    assert (executor.actor_restarts, executor.lost_fragments) == (1, 2)
    assert len(executor._requests) + len(executor._queue) == 2 * 2


class Overtaking(InProcessEngine):
    """Of two calls that are done, only the later one is seen at first."""

    def __init__(self):
        super().__init__()
        self.late = None

    def wait(self, calls, timeout):
        done = super().wait(calls, timeout)
        if len(done) == 4 and self.late is None:
            self.late = done[0]
            return done[1:]
        return done


def test_fragments_of_an_actor_are_taken_in_in_their_order():
    """Else windows of several steps would join others than those that followed each other."""
    executor, taken = make(engine=Overtaking()), []
    count = executor.count
    executor.count = lambda sample, schedule: (taken.append(sample.origin), count(sample, schedule))
    executor.execute_timesteps(400)
    for actor in (0, 1):
        assert [origin.number for origin in taken if origin.actor == actor] == [*range(10)]


def test_an_agent_that_needs_the_newest_weights_is_refused():
    with pytest.raises(
        SpecError, match=r"PPOAgent learns only from fragments of the newest weights: take 'sync_batch'"
    ):
        make({"type": "ppo", "network_spec": LAYERS, "execution_spec": {"threads": 1}})
