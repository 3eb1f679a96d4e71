"""Evaluations in actors of their own."""

import pytest
from doubles import told

from rlgraph.agents import Agent
from rlgraph.execution import SyncBatchExecutor
from rlgraph.execution.engine import ActorDied
from rlgraph.execution.in_process import InProcessEngine
from rlgraph.workers import Callback

PPO = {
    "type": "ppo",
    "network_spec": [{"type": "dense", "units": 8, "activation": "tanh"}],
    "rollout_length": 16,
    "normalize_states": True,
}


class Slow(InProcessEngine):
    """Evaluations are done when somebody waits for nothing else; the first one fails."""

    def __init__(self):
        super().__init__()
        self.evaluations = []

    def call(self, actor, method, *arguments):
        call = super().call(actor, method, *arguments)
        if method == "evaluate":
            if not self.evaluations:
                call.fault = ActorDied("killed")
            self.evaluations.append(call)
        return call

    def wait(self, calls, timeout):
        waits = timeout > 0 and all(call in self.evaluations for call in calls)
        return [call for call in calls if waits or call not in self.evaluations]


class Weights(Callback):
    """The weights at each report, and at each evaluation."""

    def __init__(self):
        self.reported, self.evaluated = {}, {}

    def on_report(self, worker, metrics):
        self.reported[int(metrics["timesteps"])] = worker.agent.learner.weights_message()

    def on_evaluation(self, worker, evaluation):
        self.evaluated[evaluation.timesteps] = worker.agent.learner._weights.get()
        self.evaluated_at = worker.timesteps


def evaluations_of(engine, callback=None, **options):
    agent = Agent.from_spec(
        PPO, env="CartPole-v1", backend="torch", execution_spec={"threads": 1}, seed=7, acting="numpy"
    )
    options |= {"report_interval": 128, "evaluation_interval": 128, "evaluation_episodes": 3}
    executor = SyncBatchExecutor(agent, "CartPole-v1", engine=engine, num_envs=4, **options)
    return executor, executor.execute(steps=384, callbacks=callback).evaluations


def test_training_does_not_wait_and_the_result_is_that_of_the_weights_evaluated():
    _, expected = evaluations_of("in_process")
    assert [evaluation.timesteps for evaluation in expected] == [128, 256, 384]
    weights = Weights()
    executor, found = evaluations_of(Slow(), weights, evaluation_actors=1)
    assert sorted(found, key=lambda evaluation: evaluation.timesteps) == list(expected)
    assert weights.evaluated_at == 384
    assert executor.actor_restarts >= 1
    for timesteps, evaluated in weights.evaluated.items():
        assert all(values.tobytes() in weights.reported[timesteps] for values in evaluated.values())
    assert executor.agent.learner.weights_message() == weights.reported[384] != weights.reported[128]


def test_an_evaluation_may_end_training():
    stop = told(on_evaluation=lambda *_: True)
    executor, found = evaluations_of("in_process", stop, evaluation_actors=1)
    assert len(found) == 1
    assert executor.timesteps == pytest.approx(128, abs=128)
