"""Rounds that do not wait for late actors."""

import pytest

from rlgraph.core import SpecError
from rlgraph.execution import InProcessEngine
from rlgraph.workers import Callback
from rlgraph_processes import BackupExecutor

PPO = {
    "type": "ppo",
    "network_spec": [{"type": "dense", "units": 8, "activation": "tanh"}],
    "rollout_length": 8,
    "execution_spec": {"threads": 1},
}


class SlowEngine(InProcessEngine):
    """Calls of the first actor are done when they were waited for three times."""

    def call(self, actor, method, *arguments):
        call = super().call(actor, method, *arguments)
        call.is_slow, call.waited = "actor 0" in actor.name, 0
        return call

    def wait(self, calls, timeout):
        for call in calls:
            call.waited += 1
        return [call for call in calls if not call.is_slow or call.waited > 3]


class Metrics(Callback):
    def on_report(self, worker, metrics):
        self.metrics = metrics


def make(**options):
    options = {"backend": "torch", "seed": 1, "actors": 3, "num_envs": 2, **options}
    return BackupExecutor(PPO, "CartPole-v1", report_interval=10**6, **options)


def test_a_late_actor_is_not_waited_for():
    executor, metrics = make(engine=SlowEngine()), Metrics()
    result = executor.execute(steps=8 * 2 * 2 * 8, callbacks=metrics)
    # Two fragments for each of eight updates; in the fourth and eighth round the late one comes, and is dropped.
    assert (result.timesteps, result.updates) == (256, 8)
    assert metrics.metrics["dropped_fragments"] == 2
    assert metrics.metrics["weights_age"] == 0


def test_fragments_that_come_together_are_dropped_beyond_the_number_of_a_round():
    executor, metrics = make(), Metrics()
    assert executor.execute(steps=8 * 2 * 2 * 4, callbacks=metrics).updates == 4
    assert metrics.metrics["dropped_fragments"] == 4


@pytest.mark.parametrize("given", [3, -1, 0.5, "a"])
def test_spare_actors_are_fewer_than_actors(given):
    with pytest.raises(
        SpecError,
        match=f"spare_actors: expected an integer from 0 to 2, .* given {given!r}",
    ):
        make(spare_actors=given)
