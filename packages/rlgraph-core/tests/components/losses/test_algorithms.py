"""Losses where algorithms call them: once, for all numbers."""

import numpy as np
import pytest

from rlgraph.components import (
    Adam,
    EntropyTemperature,
    IterativeOptimization,
    Policy,
    PPOLoss,
    QPolicy,
    SACLoss,
    SACValueNetwork,
    Target,
    ValueFunction,
    default_target_entropy,
)
from rlgraph.core import Component, GraphExecutor, rlgraph_api
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox

LAYERS = [{"type": "dense", "units": 8, "activation": "tanh"}]
STATES = FloatBox(shape=(3,), add_batch_rank=True)
ITEMS, FLAGS = FloatBox(add_batch_rank=True), BoolBox(add_batch_rank=True)


class SAC(Component):
    """Soft actor-critic: Haarnoja et al. (2018); of categories: Christodoulou (2019)."""

    def __init__(self, action_space):
        self.discrete = isinstance(action_space, IntBox)
        squashed = {"bounded_distribution_type": "squashed_normal"}
        self.policy = Policy(LAYERS, action_space, distributions_spec=None if self.discrete else squashed)
        self.critics = [
            QPolicy(LAYERS, action_space, scope=f"critic-{i}")
            if self.discrete
            else SACValueNetwork(LAYERS, scope=f"critic-{i}")
            for i in range(2)
        ]
        self.targets = [Target(critic, 0.1) for critic in self.critics]
        self.temperature = EntropyTemperature()
        self.loss = SACLoss(default_target_entropy(action_space), discrete=self.discrete)
        self.optimizers = {
            part: Adam(0.03, scope=f"{part}-optimizer") for part in ("critic", "actor", "alpha")
        }
        parts = (*self.critics, *self.targets, self.temperature, self.loss, *self.optimizers.values())
        super().__init__(self.policy, *parts, scope="sac")

    def drawn(self, states):
        if not self.discrete:
            return self.policy.get_action_and_log_likelihood(states, False)
        logits = self.policy.get_adapter_outputs_and_parameters(states)["parameters"]
        return {"action": None, "log_likelihood": logits}

    def values(self, critics, states, actions):
        if self.discrete:
            return tuple(critic.get_q_values(states)["q_values"] for critic in critics)
        return tuple(critic.state_action_value(states, actions) for critic in critics)

    @rlgraph_api
    def act(self, states):
        return self.policy.get_stochastic_action(states)["action"]

    @rlgraph_api
    def update(self, states, actions, rewards, terminals, next_states, weights):
        now, later = self.drawn(states), self.drawn(next_states)
        losses = self.loss.loss(
            self.temperature.get_alpha(),
            later["log_likelihood"],
            self.values(self.targets, next_states, later["action"]),
            self.values(self.critics, states, actions),
            now["log_likelihood"],
            self.values(self.critics, states, now["action"]),
            rewards,
            terminals,
            actions,
            weights=weights,
        )
        critics = self.critics[0].variables() + self.critics[1].variables()
        self.optimizers["actor"].step(self.policy.variables(), losses["actor_loss"])
        self.optimizers["critic"].step(critics, losses["critic_loss"])
        self.optimizers["alpha"].step(self.temperature.variables(), losses["alpha_loss"])
        for target in self.targets:
            target.sync()
        return losses


@pytest.mark.parametrize(
    "action_space", [FloatBox(-1.0, 1.0, shape=(2,)), IntBox(4)], ids=["floats", "categories"]
)
def test_sac(action_space, trainer):
    """Of one step episodes the values become the rewards; the entropy goes to its target."""
    spaces = {
        "states": STATES,
        "next_states": STATES,
        "actions": action_space.with_batch_rank(),
        "rewards": ITEMS,
        "terminals": FLAGS,
        "weights": FLAGS,
    }
    sac = GraphExecutor(SAC(action_space), spaces, backend=trainer, execution_spec={"seed": 1})
    rng = np.random.default_rng(0)
    batch = {name: space.sample(32, rng=rng) for name, space in spaces.items()}
    batch |= {
        "rewards": batch["states"][:, 0].copy(),
        "terminals": np.ones(32, bool),
        "weights": np.arange(32) < 24,
    }
    batch["rewards"][24:] = np.nan
    numbers = [sac.execute("update", **batch) for _ in range(60)]
    assert set(numbers[0]) == {"loss", "loss_per_item", "critic_loss", "actor_loss", "alpha_loss", "entropy"}
    assert numbers[-1]["loss"] < 0.1 * numbers[0]["loss"]
    assert all(np.isfinite(value).all() for value in numbers[-1].values())
    assert all(np.isfinite(value).all() for value in sac.get_weights().values())


class PPO(Component):
    """Epochs of minibatches."""

    def __init__(self):
        self.policy, self.value_function = Policy(LAYERS, IntBox(3)), ValueFunction(LAYERS)
        self.loss = PPOLoss(weight_entropy=0.01, standardize_advantages=True)
        self.optimizer, self.epochs = Adam(0.01), IterativeOptimization(2, 4)
        parts = self.policy, self.value_function, self.loss, self.optimizer, self.epochs
        super().__init__(*parts, scope="ppo")

    @rlgraph_api
    def update(self, records):
        return self.epochs.run(self.step, records)

    def step(self, records):
        states = records["states"]
        losses = self.loss.loss(
            self.policy.get_log_likelihood(states, records["actions"])["log_likelihood"],
            records["log_probs"],
            self.value_function.value_output(states),
            records["values"],
            records["advantages"],
            self.policy.get_entropy(states)["entropy"],
            weights=records["valid"],
        )
        self.optimizer.step(self.policy.variables() + self.value_function.variables(), losses["loss"])
        return losses


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_invalid_rows_change_no_bit_of_an_update(bad, trainer):
    records = Dict(
        states=FloatBox(shape=(3,)),
        actions=IntBox(3),
        **dict.fromkeys(("log_probs", "values", "advantages"), FloatBox()),
        valid=BoolBox(),
        add_batch_rank=True,
    )
    names = ("loss", "policy_loss", "value_loss", "entropy", "kl", "clip_fraction")
    rng = np.random.default_rng(0)
    batch = records.sample(40, rng=rng)
    outcomes = []
    for garbage in (0.0, bad):
        for name in ("log_probs", "values", "advantages"):
            batch[name][~batch["valid"]] = garbage
        ppo = GraphExecutor(PPO(), {"records": records}, backend=trainer, execution_spec={"seed": 1})
        outcomes.append((ppo.execute("update", batch), ppo.get_weights()))
    (numbers, weights), (others, other_weights) = outcomes
    assert set(numbers) == {*names, "num_updates"}
    for first, second in ((numbers, others), (weights, other_weights)):
        for name, value in first.items():
            assert np.isfinite(value).all()
            np.testing.assert_array_equal(second[name], value, err_msg=name)
