"""Synchronous batches, on actors of this process."""

from unittest.mock import patch

import numpy as np
import pytest

from rlgraph.agents import Agent
from rlgraph.core import RLGraphError
from rlgraph.execution import SyncBatchExecutor
from rlgraph.learning.actor_spec import ActorSpec

LAYERS = [{"type": "dense", "units": 8, "activation": "tanh"}]
PPO = {"type": "ppo", "network_spec": LAYERS, "rollout_length": 16, "clip_ratio": [0.2, 0.0]}
DQN = {
    "type": "dqn",
    "network_spec": LAYERS,
    "n_step": 2,
    "memory_spec": {"type": "prioritized_replay", "capacity": 200},
    "update_spec": {"update_interval": 4, "batch_size": 8, "steps_before_update": 16},
    "exploration_spec": {"epsilon_spec": [1.0, 0.1]},
}
DQFD = {**DQN, "type": "dqfd", "memory_spec": {"capacity": 1000}}
HINDSIGHT = {**DQN, "n_step": 1, "hindsight_spec": {}}
BITS = {"type": "bit_flip", "bits": 4}


def make(spec, acting="numpy", env="CartPole-v1"):
    return Agent.from_spec(
        spec, env=env, backend="torch", execution_spec={"threads": 1}, seed=7, acting=acting
    )


def demonstrations():
    """Two steps of an episode."""
    states = np.zeros((2, 4), np.float32)
    return [
        {"states": states[0], "actions": 1, "rewards": 1.0, "terminals": False, "next_states": states[1]},
        {"states": states[1], "actions": 0, "rewards": 1.0, "terminals": True, "next_states": states[1]},
    ]


def test_steps_of_an_agent_that_does_not_learn_are_counted():
    executor = SyncBatchExecutor("random", "CartPole-v1", backend="numpy", actors=2, num_envs=2, seed=1)
    result = executor.execute(steps=128)
    assert (result.timesteps, result.updates, executor.local_agent.timesteps) == (128, 0, 128)
    assert sum(executor.episodes.recent_lengths) <= 128 and result.episodes > 0


def test_an_executor_leaves_its_agent_in_use_and_trains_no_terminated_one():
    agent = make(PPO)
    executor = SyncBatchExecutor(agent, "CartPole-v1", actors=1, num_envs=2)
    executor.execute(steps=32)
    assert not agent.is_terminated and agent.get_actions(np.zeros(4), use_exploration=False) in (0, 1)
    agent.terminate()
    with pytest.raises(RLGraphError, match="PPOAgent.learn: the agent was terminated"):
        executor.execute_workload({"num_timesteps": 32})
    assert not executor.is_started and agent.timesteps == 32


@pytest.mark.parametrize(
    ("spec", "acting", "length", "env"),
    [
        (PPO, "numpy", None, "CartPole-v1"),
        (PPO, "backend", None, "CartPole-v1"),
        (DQN, "numpy", 1, "CartPole-v1"),
        (DQFD, "numpy", 1, "CartPole-v1"),
        (HINDSIGHT, "numpy", 1, BITS),
    ],
    ids=["ppo", "ppo-acts-on-torch", "dqn", "dqfd", "hindsight"],
)
def test_one_actor_equals_local_learning(spec, acting, length, env):
    local, remote = make(spec, acting, env), make(spec, acting, env)
    if spec is DQFD:
        for agent in (local, remote):
            agent.import_observations(demonstrations())
    result = local.learn(320, num_envs=4)
    executor = SyncBatchExecutor(remote, env, actors=1, num_envs=4, fragment_length=length)
    with patch.object(ActorSpec, "make_executor", autospec=True, side_effect=ActorSpec.make_executor) as made:
        assert executor.execute(steps=320).returns == result.returns
    assert [call.args[0].backend for call in made.call_args_list] == [
        {"backend": "torch"}.get(acting, acting)
    ]
    assert remote.updates == local.updates > 0
    weights = local.get_weights()
    for name, value in remote.get_weights().items():
        np.testing.assert_array_equal(value, weights[name], err_msg=name)


def test_actors_that_are_started_anew_are_learned_from():
    """Their fragments are numbered from 0 again; they are not those of before."""
    agent = make(DQN)
    executor = SyncBatchExecutor(agent, "CartPole-v1", actors=2, num_envs=4, fragment_length=4)
    updates = [executor.execute(steps=160).updates for _ in range(2)]
    assert updates == [40 - 3, 40]
    assert agent.timesteps == 320


def test_episodes_in_fragments_of_several_actors_get_other_goals():
    """An episode begins in one fragment and ends in the next; each of its steps is kept five times then."""
    env = {"type": "bit_flip", "bits": 8}
    spec = {**HINDSIGHT, "memory_spec": {"capacity": 2000}, "update_spec": {"do_updates": False}}
    agent = make(spec, env=env)
    executor = SyncBatchExecutor(agent, env, actors=2, num_envs=2, fragment_length=5)
    executor.execute(steps=160)
    records = {name: x for name, x in agent.executor.storage.host.items() if "/rows/" in name}
    size = int(agent.call_api_method("get_memory_size"))
    assert size == 160 + 4 * sum(executor.recent_lengths)
    goals = {
        name: next(x[:size] for path, x in records.items() if path.endswith(f"next_states/{name}"))
        for name in ("achieved_goal", "desired_goal")
    }
    reached = (goals["achieved_goal"] == goals["desired_goal"]).all(axis=1)
    rewards = next(x[:size] for path, x in records.items() if path.endswith("rewards"))
    np.testing.assert_array_equal(rewards, reached - 1.0)
    assert reached.mean() > 0.2
