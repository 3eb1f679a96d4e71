"""Vector environments wherever an environment is taken."""

import gymnasium
import numpy as np
import pytest
from doubles import memory, told
from gymnasium.vector import AutoresetMode

from rlgraph.agents import Agent
from rlgraph.core import SpecError
from rlgraph.environments import DeterministicEnv, SequentialVectorEnv, make_vector_env
from rlgraph.environments.factory import environment_spaces
from rlgraph.workers import SingleThreadedWorker

STEPS = [3, 5]
"""Steps of the episodes of the two environments, reward 1 each."""


class Counting(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(0.0, 9.0, (1,))
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, steps):
        self.steps, self.closed = steps, False

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.at = 0
        return np.zeros(1, np.float32), {}

    def step(self, action):
        self.at += 1
        return np.full(1, self.at, np.float32), 1.0, self.at == self.steps, False, {}

    def close(self):
        self.closed = True


def gym_vector(mode=AutoresetMode.NEXT_STEP):
    return gymnasium.vector.SyncVectorEnv(
        [lambda steps=steps: Counting(steps) for steps in STEPS], autoreset_mode=mode
    )


def our_vector():
    return SequentialVectorEnv([DeterministicEnv(steps) for steps in STEPS])


def make(env, **options):
    spec = {"type": "dqn", "network_spec": [2], "update_spec": {"do_updates": False}, **options}
    return Agent.from_spec(spec, env=env, backend="numpy", seed=1)


@pytest.mark.parametrize("mode", AutoresetMode)
def test_usage(mode):
    env = gym_vector(mode)
    agent = make(env)
    result = agent.learn(18)
    # 9 steps of both; or 11, of which the 4th and 8th of one and the 6th of the other reset.
    done, episodes = (19, 5) if mode is AutoresetMode.NEXT_STEP else (18, 4)
    assert (result.timesteps, result.episodes, result.num_envs) == (done, episodes, 2)
    assert agent.timesteps == len(memory(agent)["rewards"]) == done
    assert result.returns == (3.0, 5.0, 3.0, 3.0, 5.0)[:episodes]
    went = memory(agent)["next_states"].ravel() - memory(agent)["states"].ravel()
    assert (went == 1).all()  # no record leads from one episode to the next
    evaluation = agent.evaluate(3)
    assert evaluation.lengths == (3, 3, 5) and evaluation.returns == (3.0, 3.0, 5.0)
    again = agent.learn(4)  # the environments are open, and begin new episodes
    assert again.timesteps == 4 and not any(each.closed for each in env.envs)


def test_one_of_ours():
    env = our_vector()
    agent = make(env)
    assert agent.learn(6).timesteps == 6
    assert agent.evaluate(2, env=our_vector()).lengths == (3, 5)
    assert make("deterministic").learn(5, env=env).timesteps == 6


def test_another_number_of_environments():
    env = gym_vector()
    agent = make(env)
    assert agent.learn(2, num_envs=2).num_envs == 2
    with pytest.raises(SpecError, match="num_envs: expected 2, the number .* of the SyncVectorEnv, given 3"):
        agent.learn(2, num_envs=3)
    with pytest.raises(SpecError, match="num_envs: expected 2, the number .* SequentialVectorEnv, given 1"):
        SingleThreadedWorker(agent, our_vector(), num_envs=1)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("vectorization", "processes"),
        ("validate_states", True),
        ("processes", 2),
        ("frameskip", 2),
        ("max_timesteps_per_episode", 10),
    ],
)
def test_options_of_environments_that_a_worker_makes(option, value):
    with pytest.raises(SpecError, match=rf"^{option}: .* SyncVectorEnv"):
        make(gym_vector()).learn(2, **{option: value})


def test_one_environment_is_not_several():
    with pytest.raises(SpecError, match="num_envs: .* 4 environments .* or a vector environment; given one"):
        make(Counting(3)).learn(4, num_envs=4)


@pytest.mark.parametrize("steps", [1000, 1001, 1008])
def test_the_counters_tell_the_steps_that_were_done(steps):
    """Eight environments step together: 1001 steps are 126 of all, 1008 steps."""
    agent = make("deterministic", memory_spec={"capacity": 2000})
    result = agent.learn(steps, num_envs=8)
    done = -(-steps // 8) * 8
    assert result.timesteps == agent.timesteps == len(memory(agent)["rewards"]) == done


@pytest.mark.parametrize("make_env", [gym_vector, our_vector, lambda: Counting(3)])
def test_no_evaluation_where_the_agent_is_training(make_env):
    env = make_env()
    agent = make(env)

    def evaluating(other):
        return told(on_episode=lambda worker, *_: worker.agent.evaluate(1, env=other))

    agent.learn(6, callbacks=evaluating(make_env()))
    with pytest.raises(
        SpecError, match="evaluation: .* another environment .* the same .*: give a spec or a second"
    ):
        agent.learn(6, callbacks=evaluating(None))
    assert agent.evaluate(1).lengths == (3,)


def test_a_folder_needs_a_spec(tmp_path):
    with pytest.raises(SpecError, match="environment"):
        make(gym_vector()).learn(4, folder=tmp_path)


def test_places_that_need_a_single_environment():
    from rlgraph.environments import check_environment

    with pytest.raises(SpecError, match="expected a single environment, given the vector environment Sync"):
        check_environment(gym_vector())
    with pytest.raises(SpecError, match="given the vector environment SequentialVectorEnv"):
        make_vector_env(our_vector, 2)


def test_spaces():
    for env in (gym_vector(), our_vector(), "deterministic", Counting(3)):
        states, actions = environment_spaces(env)
        assert states.shape == (1,) and actions.shape == ()
