"""The adapter for EnvPool, against a stand-in that resets as EnvPool does: in the step after an end.

EnvPool's wheel needs libraries of the machine that a test cannot count on.
"""

import sys
import types

import gymnasium
import numpy as np
import pytest

from rlgraph.agents import Agent
from rlgraph.core.errors import SpecError
from rlgraph.environments import EnvironmentFault, EnvPoolVectorEnv, make_environment, make_vector_env
from rlgraph.spaces import FloatBox, IntBox
from rlgraph.workers import evaluate


class Pool:
    """Counts; environment i is terminated after 2 + i steps. One array for all steps, as in C++."""

    observation_space = gymnasium.spaces.Box(-20.0, 20.0, (1,), np.float64)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, task_id, num_envs, seed=None, **options):
        self.task_id, self.seed, self.options, self.closed = task_id, seed, options, False
        self.lengths = 2 + np.arange(num_envs)
        self.counts = np.zeros(num_envs)

    def _infos(self):
        return {
            "env_id": np.arange(len(self.counts), dtype=np.int32),
            "players": {"env_id": np.arange(len(self.counts))},
        }

    def reset(self):
        self.counts[:] = 0
        return self.counts[:, None], self._infos()

    def step(self, actions):
        assert actions.dtype == np.int64
        over = self.counts == self.lengths
        self.counts += 1
        self.counts[over] = 0
        rewards = np.where(over, 0.0, 1.0)
        ends = self.counts == self.lengths
        return self.counts[:, None], rewards, ends, np.zeros_like(ends), self._infos()

    def close(self):
        self.closed = True


@pytest.fixture
def envpool(monkeypatch):
    module = types.ModuleType("envpool")
    module.make_gymnasium = Pool
    monkeypatch.setitem(sys.modules, "envpool", module)


def test_no_row_leads_from_one_episode_into_another(envpool):
    env = make_vector_env({"type": "envpool", "task_id": "Count-v0", "max_num_players": 1}, 2)
    assert isinstance(env, EnvPoolVectorEnv)
    states, seen = env.reset(), []
    for _ in range(5):
        before = states
        states, _, terminated, *_ = env.step(np.zeros(2, np.int64))
        assert not np.shares_memory(before, states) and states.dtype == np.float32
        kept = [i for i in range(2) if i not in env.dropped]
        seen.append([(i, before[i, 0], env.final_states[i, 0], bool(terminated[i])) for i in kept])
    assert seen == [
        [(0, 0, 1, False), (1, 0, 1, False)],
        [(0, 1, 2, True), (1, 1, 2, False)],
        [(1, 2, 3, True)],
        [(0, 0, 1, False)],
        [(0, 1, 2, True), (1, 0, 1, False)],
    ]
    assert env.restarts == 0 and list(env.idle) == []


def test_seeds_and_mistakes(envpool, monkeypatch):
    env = make_vector_env("Count-v0", 2, "envpool")
    with pytest.raises(EnvironmentFault, match=r"call reset\(\)"):
        env.step(np.zeros(2, np.int64))
    first = env._pool
    env.reset(seed=7)
    assert first.closed and env._pool.seed == 7
    with pytest.raises(SpecError, match="task_id"):
        make_vector_env({"type": "envpool"}, 2)
    monkeypatch.setitem(sys.modules, "envpool", None)
    with pytest.raises(SpecError, match=r'pip install "rlgraph-agents\[envpool\]"'):
        make_vector_env("Count-v0", 2, "envpool")


def test_an_evaluation_leaves_out_the_steps_that_reset(envpool):
    """Environment i plays episodes of 2 + i steps, reward 1 each; a step that resets is part of none."""
    agent = Agent.from_spec(
        {"type": "dqn", "network_spec": [{"type": "dense", "units": 2}]},
        state_space=FloatBox(-20.0, 20.0, shape=(1,)),
        action_space=IntBox(2),
        backend="numpy",
    )
    evaluation = evaluate(agent, {"type": "envpool", "task_id": "Count-v0"}, 13, seed=1)
    lengths = [2, 2, 3, 3, 4, 4, *range(5, 12)]
    assert evaluation.lengths == tuple(lengths) and evaluation.returns == tuple(map(float, lengths))


def test_single_environments_are_no_pool():
    with pytest.raises(SpecError, match="environment: EnvPool makes several environments at once"):
        make_environment({"type": "envpool", "task_id": "Pong-v5"})
