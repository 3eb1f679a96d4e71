"""The extensions of DQN that Rainbow puts together, on every loss."""

import numpy as np
import pytest

from rlgraph.agents import Agent, C51Agent
from rlgraph.algorithms.c51 import Rainbow
from rlgraph.components import DuelingPolicy, PrioritizedReplay

EXTENSIONS = {
    "double_q": True,
    "dueling_q": True,
    "n_step": 3,
    "memory_spec": {"type": "prioritized_replay", "capacity": 200},
    "policy_spec": {"noisy": True},
    "exploration_spec": {"epsilon_spec": 0.0},
}
SMALL = {"network_spec": [8], "update_spec": {"steps_before_update": 20, "batch_size": 8}}


def made(**spec):
    return Agent.from_spec({**SMALL, **spec}, env="CartPole-v1", backend="torch", seed=3)


@pytest.mark.parametrize("kind", ["dqn", "qr_dqn"])
def test_they_combine(kind):
    agent = made(type=kind, **EXTENSIONS)
    before = agent.get_weights()
    agent.learn(100)
    assert agent.updates > 0
    after = agent.get_weights()
    learned = {name for name in before if not np.array_equal(before[name], after[name])}
    assert any(name.endswith("weights_sigma") for name in learned)


NOISY = {"type": "noisy_dense", "units": 8, "activation": "relu", "sigma": 3.0}


@pytest.mark.parametrize(
    "layers",
    [
        [NOISY],
        [{"type": "repeater_stack", "sub_component": NOISY, "repeats": 2}],
        [NOISY, {"type": "lstm", "units": 4}],
    ],
    ids=["dense", "stack", "recurrent"],
)
def test_greedy_values_have_no_noise_in_any_layer(layers):
    agent = made(type="dqn", network_spec=layers, update_spec={"do_updates": False})
    states = np.ones((2, 4), np.float32)

    def values(use_exploration):
        actor = agent.new_actor(2)
        for _ in range(2):  # the second step depends on what a recurrent layer remembers
            _, extras = actor.act_with_extras(actor.preprocess(states), use_exploration)
        return extras["q_values"]

    assert np.array_equal(values(False), values(False))
    assert not np.array_equal(values(True), values(True))


def test_noise_explores_and_greedy_actions_have_none():
    agent = made(type="rainbow", low=0.0, high=100.0)
    state = np.zeros(4, np.float32)
    assert len({int(agent.get_actions(state, use_exploration=False)) for _ in range(30)}) == 1
    assert len({int(agent.get_actions(state)) for _ in range(30)}) == 2


def test_rainbow_is_c51_with_these_defaults():
    agent = made(type="rainbow", low=0.0, high=100.0)
    rainbow, memory = agent.learner.graph.algorithm, agent.learner.experience.memory
    assert isinstance(rainbow, Rainbow) and isinstance(rainbow.policy, DuelingPolicy) and rainbow.double_q
    assert isinstance(memory, PrioritizedReplay) and agent.learner.experience.n_step == 3
    given = {**EXTENSIONS, "memory_spec": {**EXTENSIONS["memory_spec"], "capacity": 10**5}}
    c51 = C51Agent({**SMALL, **given, "low": 0.0, "high": 100.0}, env="CartPole-v1", backend="torch", seed=3)
    one, other = agent.get_weights(), c51.get_weights()
    assert [x.shape for x in one.values()] == [x.shape for x in other.values()]


def test_a_rainbow_without_noise():
    agent = made(type="rainbow", policy_spec={"noisy": False}, exploration_spec={"epsilon_spec": 1.0})
    assert not any("sigma" in name for name in agent.get_weights())
    state = np.zeros(4, np.float32)
    assert len({int(agent.get_actions(state)) for _ in range(30)}) == 2
