"""Preprocessors that remember states: each state passes once, and evaluations have room of their own."""

import numpy as np
import pytest

from rlgraph.core import InputError
from rlgraph.environments import Environment
from rlgraph.spaces import FloatBox, IntBox

SEQUENCE = {"type": "sequence", "sequence_length": 2, "add_rank": False}


class Numbered(Environment):
    """No two states are alike, over all environments and episodes; ends are terminal and truncated in turn."""

    next_state = 0.0

    def __init__(self):
        super().__init__(FloatBox(shape=(1,)), IntBox(2))
        self.seen, self.episodes = [], 0

    def _state(self):
        Numbered.next_state += 1.0
        self.seen.append(Numbered.next_state)
        return np.array([Numbered.next_state], np.float32)

    def reset(self, seed=None):
        self.steps, self.episodes = 0, self.episodes + 1
        return self._state()

    def step(self, action):
        self.steps += 1
        end = self.steps == 4
        return self._state(), 1.0, end and self.episodes % 2 == 0, end and self.episodes % 2 == 1, {}


def rows_of(agent):
    host, size = agent.executor.storage.host, int(agent.call_api_method("get_memory_size"))
    return {name.removeprefix("memory/rows/"): v[:size] for name, v in host.items() if "memory/rows/" in name}


@pytest.mark.parametrize("num_envs", [1, 3])
def test_each_state_is_preprocessed_once_and_in_order(make_agent, num_envs):
    made = []

    def factory():
        made.append(Numbered())
        return made[-1]

    agent = make_agent(
        "numpy",
        state_space=FloatBox(shape=(1,)),
        action_space=IntBox(2),
        preprocessing_spec=[SEQUENCE],
        update_spec={"do_updates": False},
    )
    passed, preprocess = {}, agent.preprocessing._preprocess

    def counting(states, slots):
        for state, slot in zip(states, slots, strict=True):
            passed.setdefault(int(slot), []).append(float(state[0]))
        return preprocess(states, slots)

    agent.preprocessing._preprocess = counting
    agent.learn(13 * num_envs, env=factory, num_envs=num_envs)
    environments = [environment for environment in made if environment.seen]
    assert [passed[i] for i in range(num_envs)] == [environment.seen for environment in environments]
    rows = rows_of(agent)
    # A first state fills its sequence; a final one, terminal or truncated, has the state before it beside it.
    states, reached = rows["states"], rows["next_states"]
    np.testing.assert_array_equal(reached[:, 0], states[:, 1])
    firsts = [environment.seen[5 * k] for environment in environments for k in range(4)]
    for state in states:
        assert (state[0] == state[1]) == (state[1] in firsts)


@pytest.mark.parametrize("num_envs", [1, 3])
def test_an_evaluation_needs_no_room_of_training(make_agent, num_envs):
    """As many environments as the layer has room for, and ten of an evaluation beside them."""
    agent = make_agent(
        "numpy",
        state_space=FloatBox(shape=(1,)),
        action_space=IntBox(2),
        preprocessing_spec={"layers": [{**SEQUENCE, "num_environments": num_envs}]},
        update_spec={"do_updates": False},
    )
    result = agent.learn(
        12 * num_envs,
        env=Numbered,
        num_envs=num_envs,
        evaluation_interval=5 * num_envs,
        evaluation_episodes=12,
    )
    assert [evaluation.lengths for evaluation in result.evaluations] == [(4,) * 12] * 2


def test_an_evaluation_teaches_the_preprocessor_nothing(make_agent):
    agent = make_agent(
        "numpy",
        state_space=FloatBox(shape=(1,)),
        action_space=IntBox(2),
        preprocessing_spec=[{"type": "moving_standardize"}],
        update_spec={"do_updates": False},
    )
    agent.learn(20, env=Numbered)
    (name,) = (name for name in agent.executor.storage.host if "/count" in name)
    seen = int(agent.executor.storage.host[name])
    assert seen > 20
    agent.evaluate(episodes=12, env=Numbered)
    assert int(agent.executor.storage.host[name]) == seen
    agent.learn(1, env=Numbered)
    assert int(agent.executor.storage.host[name]) > seen


def test_more_environments_than_there_is_room_for(make_agent):
    agent = make_agent(
        "numpy",
        state_space=FloatBox(shape=(1,)),
        action_space=IntBox(2),
        preprocessing_spec=[{**SEQUENCE, "num_environments": 2}],
        update_spec={"do_updates": False},
    )
    with pytest.raises(
        InputError,
        match="no room for environment 'env_12': preprocessor/sequence-0 remembers what it was shown by 2 "
        "environments, and 10 of evaluations; num_environments= in the layer's spec makes it more",
    ):
        agent.learn(26, env=Numbered, num_envs=13)
    assert len(agent.preprocessing.slots) == 12
