"""Floats of states outside their bounds, found by actors, reach the user once."""

import warnings

import gymnasium
import numpy as np
import pytest

from rlgraph.environments import StateBoundsWarning
from rlgraph.execution import ImpalaExecutor, SyncBatchExecutor
from rlgraph.execution.remote import learners
from rlgraph.execution.remote.actors import TooManyRestarts

AGENTS = {
    SyncBatchExecutor: {"type": "ppo", "network_spec": [2], "rollout_length": 8},
    ImpalaExecutor: {"type": "impala", "network_spec": [2], "rollout_length": 8},
}


class Leaving(gymnasium.Env):
    """Episodes of three steps; from the second one on, the second step leads out of the bounds."""

    observation_space = gymnasium.spaces.Box(-1.0, 1.0, (1,))
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self):
        self.ended = 0

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.at = 0
        return np.zeros(1, np.float32), {}

    def step(self, action):
        self.at += 1
        state = np.full(1, 1.5 if self.ended and self.at == 2 else 0.0, np.float32)
        self.ended += self.at == 3
        return state, 1.0, self.at == 3, False, {}


def message(name):
    bounds = "state[0] is 1.5, outside the bounds [-1.0, 1.0] of its Space. Each bound is reported once"
    return f"{name}, step 2: {bounds}"


@pytest.mark.parametrize("kind", AGENTS)
def test_each_actor_reports_each_bound_once(kind):
    executor = kind(
        AGENTS[kind],
        Leaving,
        backend="torch",
        actors=2,
        num_envs=2,
        evaluation_actors=1,
        evaluation_interval=64,
        evaluation_episodes=12,
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        executor.execute(200)
    found = sorted(str(each.message) for each in caught if each.category is StateBoundsWarning)
    ours = [f"actor {actor}: Leaving, environment {env}" for actor in range(2) for env in range(2)]
    assert [each for each in found if each.startswith("actor")] == [message(name) for name in ours]
    evaluated = [each for each in found if not each.startswith("actor")]
    assert len(evaluated) == len(set(evaluated)) > 0


def test_they_are_faults_where_that_is_asked_for():
    executor = SyncBatchExecutor(
        AGENTS[SyncBatchExecutor],
        Leaving,
        backend="torch",
        actors=1,
        num_envs=1,
        validate_states=True,
        max_actor_restarts=0,
    )
    with pytest.raises(TooManyRestarts, match=r"Leaving, environment 0, step 2: state.* 1\.5"):
        executor.execute(200)


def test_other_learners_of_a_group(monkeypatch):
    """What they print is shown where it is about bounds."""
    launcher = learners.ProcessLauncher()
    launcher._processes[1] = type("Ended", (), {"wait": lambda self, seconds: 0, "returncode": 0})()
    said = message("Leaving, environment 0")
    launcher._log(1).write_text(
        f"state_bounds.py:44: StateBoundsWarning: {said}\n  warnings.warn(message)\nother\n"
    )
    with pytest.warns(StateBoundsWarning, match="^learner 1: Leaving, environment 0, step 2: .* once$"):
        assert launcher.stop() == ""
