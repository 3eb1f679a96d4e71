"""IMPALA's flow, on actors of this process."""

import json
from types import SimpleNamespace

import pytest
from doubles import told

from rlgraph.core import SpecError
from rlgraph.execution import ApexExecutor, ImpalaExecutor
from rlgraph.execution.engine import ActorDied
from rlgraph.execution.in_process import InProcessEngine
from rlgraph.experience.fragment import Origin

LAYERS = [{"type": "dense", "units": 8, "activation": "tanh"}]
IMPALA = {
    "type": "impala",
    "network_spec": LAYERS,
    "rollout_length": 5,
    "execution_spec": {"threads": 1},
}


def make(spec=IMPALA, **options):
    options = {"backend": "torch", "actors": 2, "num_envs": 4, "seed": 1, "report_interval": 10**6, **options}
    return ImpalaExecutor(spec, "CartPole-v1", **options)


def test_actors_are_asked_ahead_and_their_weights_are_old():
    """Two actors with two requests each, an update of two fragments: every fragment but the first was acted earlier."""
    executor, ages = make(), []
    result = executor.execute(steps=10 * 2 * 5 * 4, callbacks=lambda worker, row: ages.append(row))
    assert (result.timesteps, result.updates) == (400, 10)
    # Four fragments come at once, for two updates; each is asked for when one is taken, two updates ahead.
    (metrics,) = ages
    assert metrics["weights_age"] == pytest.approx(((0 + 1) + 8 * 2) / 10)
    assert "dropped_fragments" not in metrics


def test_fragments_that_are_too_old_are_dropped_and_counted():
    executor, ages = make({**IMPALA, "max_age": 1}, requests_per_actor=4), []
    result = executor.execute(steps=200, callbacks=lambda worker, row: ages.append(row))
    assert result.updates == 5
    (metrics,) = ages
    assert metrics["weights_age"] <= 1.0
    assert metrics["dropped_fragments"] > 0


DQN = {
    "type": "dqn",
    "network_spec": LAYERS,
    "update_spec": {"steps_before_update": 40, "update_interval": 4, "batch_size": 8},
    "execution_spec": {"threads": 1},
}


@pytest.mark.parametrize("interval", [1, 8])
def test_a_memory_takes_steps_of_all_ages(interval):
    executor, reports = make(DQN, weights_interval=interval), []
    result = executor.execute(steps=640, callbacks=lambda worker, row: reports.append(row))
    assert (result.timesteps, result.updates) == (640, (640 - 40) // 4 + 1)
    assert "dropped_fragments" not in reports[0]


def test_an_actor_whose_fragment_is_too_old_gets_newer_weights():
    """Else weights that are sent rarely would never do, and training would not go on."""
    executor = make({**IMPALA, "max_age": 1}, weights_interval=5)
    assert executor.execute(steps=400).updates == 10


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


class SlowClock(InProcessEngine):
    """Each fragment takes 40 seconds of an actor, which does one after the other."""

    def __init__(self):
        super().__init__()
        self.time, self.free = 0.0, {}

    def now(self):
        return self.time

    def call(self, actor, method, *arguments):
        call = super().call(actor, method, *arguments)
        self.free[actor] = call.at = max(self.time, self.free.get(actor, 0.0)) + 40.0
        return call

    def wait(self, calls, timeout):
        self.time = min(self.time + timeout, max(self.time, min(call.at for call in calls)))
        return [call for call in calls if call.at <= self.time]


def test_an_actor_is_late_by_the_time_since_its_last_fragment():
    executor = make(engine=SlowClock(), requests_per_actor=3, sample_timeout=60.0, start_timeout=60.0)
    executor.execute(steps=400)
    assert executor.actor_restarts == 0


class Lying(InProcessEngine):
    """The fifth sample says something else than is true.

    Args:
        changes: fact -> what it says.
    """

    def __init__(self, changes):
        super().__init__()
        self.changes, self.results = changes, 0

    def result(self, call):
        facts, body = super().result(call)
        if b'"origin"' in facts:
            self.results += 1
            if self.results == 5:
                facts = json.dumps({**json.loads(facts), **self.changes}).encode()
        return facts, body


@pytest.mark.parametrize("changes", [{"origin": [99, 0, 1]}, {"origin": [0, 0, 9]}, {"steps": 10**6}])
def test_an_actor_that_says_something_else_than_is_true_is_started_again(changes):
    agent = {"type": "apex", "network_spec": LAYERS, "update_spec": DQN["update_spec"]}
    executor = ApexExecutor(agent, "CartPole-v1", backend="torch", num_envs=4, engine=Lying(changes), seed=1)
    result = executor.execute(steps=640)
    assert (result.timesteps, executor.actor_restarts) == (640, 1)
    assert executor.lost_fragments >= 1


def test_training_goes_on_after_an_interruption():
    executor = make()

    def interrupt(worker, results):
        if worker.agent.updates == 3:
            raise KeyboardInterrupt

    assert executor.execute_timesteps(400, callbacks=told(on_update=interrupt)).interrupted
    updates = executor.agent.updates
    assert executor.execute(steps=400).updates == executor.agent.updates - updates == 10


def test_steps_dropped_with_environments_add_up_over_incarnations():
    executor, totals = make(), []
    for incarnation, dropped in ((0, 3), (0, 5), (1, 0), (1, 2)):
        executor._count_replaced(
            SimpleNamespace(origin=Origin(0, incarnation, 0), restarts=dropped, dropped_steps=dropped)
        )
        totals.append((executor.dropped_steps, executor.restarts))
    assert totals == [(3, 3), (5, 5), (5, 5), (7, 7)]


def test_pictures_and_instructions():
    """The paper's network sees a picture, a text, and the previous action and reward; actors send all of them."""
    states = {
        "type": "dict",
        "image": {"type": "int_box", "low": 0, "high": 256, "shape": [20, 20, 1], "dtype": "uint8"},
        "instruction": {"type": "text_box", "max_length": 6},
    }
    environment = {
        "type": "random",
        "state_space": states,
        "action_space": {"type": "int_box", "low": 0, "high": 3},
    }
    network = {"type": "small_impala_network", "units": 4, "image_units": 5}
    spec = {
        "type": "impala",
        "network_spec": network,
        "value_network_spec": "shared",
        "previous_action_and_reward": True,
        "rollout_length": 5,
    }
    executor = ImpalaExecutor(
        spec, environment, engine="in_process", backend="torch", actors=1, num_envs=2, seed=1
    )
    assert executor.execute(steps=40).updates > 0
