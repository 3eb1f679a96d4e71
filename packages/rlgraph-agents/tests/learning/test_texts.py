"""States with texts: every agent acts and learns, and the texts are kept as they are."""

import gymnasium
import numpy as np
import pytest

from rlgraph.agents import Agent
from rlgraph.core import InputError
from rlgraph.environments import RandomEnv
from rlgraph.environments.rows import write_row
from rlgraph.spaces import Dict, FloatBox, IntBox, TextBox, Tuple

ROLLOUTS = {"rollout_length": 8}
REPLAY = {
    "memory_spec": {"capacity": 40},
    "update_spec": {"batch_size": 4, "steps_before_update": 8, "update_interval": 8},
}
KINDS = {
    "ppo": {**ROLLOUTS, "num_epochs": 1, "num_minibatches": 2},
    "a2c": ROLLOUTS,
    "impala": ROLLOUTS,
    "dqn": REPLAY,
    "sac": REPLAY,
}
TEXT = TextBox(max_length=12)
STATES = Dict(instruction=TEXT, speed=FloatBox(shape=(2,)))


class Instructions(gymnasium.Env):
    """A text says which of two actions is worth 1."""

    observation_space = gymnasium.spaces.Dict(
        order=gymnasium.spaces.Text(8), place=gymnasium.spaces.Box(0, 1, (1,))
    )
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self._next(), {}

    def step(self, action):
        reward = float(action == (self.order == "right"))
        return self._next(), reward, False, False, {}

    def _next(self):
        self.order = ("left", "right")[self.np_random.integers(2)]
        return {"order": self.order, "place": np.zeros(1, np.float32)}


def made(kind, backend, states=STATES, **options):
    return Agent.from_spec(
        {"type": kind, **KINDS[kind], **options},
        env=lambda: RandomEnv(states, IntBox(2), seed=1),
        backend=backend,
        seed=1,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_every_agent_learns(kind, one_backend, tmp_path):
    agent = made(kind, one_backend)
    agent.learn(44, num_envs=2)
    assert agent.updates > 0
    agent.store_model(tmp_path, memory=True)
    again = made(kind, one_backend)
    again.load_model(tmp_path)
    states = STATES.with_batch_rank().sample(4, rng=np.random.default_rng(0))
    for one, other in zip(*(x.get_weights().values() for x in (agent, again)), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(
        agent.get_actions(states, use_exploration=False), again.get_actions(states, use_exploration=False)
    )
    again.learn(20, num_envs=2)


@pytest.mark.parametrize("states", [TEXT, Tuple(TEXT, FloatBox(shape=(4, 4, 1)))], ids=["text", "tuple"])
def test_on_every_backend(states, backend):
    agent = made("ppo", backend, states)
    agent.learn(20, num_envs=2)
    assert agent.updates == 1


def test_instructions_of_gymnasium_are_followed(one_backend):
    agent = Agent.from_spec(
        {"type": "ppo", "rollout_length": 32, "num_minibatches": 4, "num_epochs": 4, "discount": 0.0},
        optimizer_spec={"type": "adam", "learning_rate": 1e-2},
        env=Instructions,
        backend=one_backend,
        seed=1,
    )
    agent.learn(1024, num_envs=4)
    states = {"order": np.array(["left", "right"], object), "place": np.zeros((2, 1), np.float32)}
    assert agent.get_actions(states, use_exploration=False).tolist() == [0, 1]


def test_texts_are_kept_whole():
    agent = made("dqn", "numpy", TEXT)
    texts = np.array(["", "go", "to the door!"], object)
    codes = agent.preprocess_states(texts)
    assert ["".join(map(chr, row[row > 0])) for row in codes] == texts.tolist()
    for wrong, said in (("to the doors!", "at most 12 characters"), ("a\0b", "character 0")):
        with pytest.raises(InputError, match=said):
            agent.get_action(wrong)


def test_rows_hold_texts():
    rows = TextBox().zeros(2)
    write_row(rows, 1, np.str_("go"))
    assert rows.tolist() == ["", "go"] and type(rows[1]) is str
