"""PPO as one call of one root: values, advantages and the epochs, against calls of its own for the values."""

import numpy as np
import pytest

from rlgraph.components import (
    Adam,
    GeneralizedAdvantageEstimation,
    IterativeOptimization,
    Policy,
    PPOLoss,
    ValueFunction,
)
from rlgraph.core import Component, GraphExecutor, rlgraph_api
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox

STEPS, LAMBDA, DISCOUNT = 24, 0.9, 0.95
LAYERS = [{"type": "dense", "units": 8, "activation": "tanh"}, {"type": "dense", "units": 8}]
STATE, NUMBER = FloatBox(shape=(3,), add_batch_rank=True), FloatBox(add_batch_rank=True)
FLAG = BoolBox(add_batch_rank=True)
STORED = {"states": STATE, "actions": IntBox(4, add_batch_rank=True), "log_probs": NUMBER}
ROLLOUT = {**STORED, "rewards": NUMBER, "terminals": FLAG, "ends": FLAG, "next_states": STATE}


class Learner(Component):
    """A step on a minibatch."""

    def __init__(self, policy, value_function):
        self.policy, self.value_function = policy, value_function
        self.loss, self.optimizer = PPOLoss(clip_ratio=0.1, weight_entropy=0.01, weight_vf=0.5), Adam(1e-2)
        super().__init__(policy, value_function, self.loss, self.optimizer, scope="learner")

    @rlgraph_api
    def update(self, records):
        states = records["states"]
        losses = self.loss.loss(
            self.policy.get_log_likelihood(states, records["actions"])["log_likelihood"],
            records["log_probs"],
            self.value_function.value_output(states),
            records["values"],
            records["advantages"],
            self.policy.get_entropy(states)["entropy"],
        )
        self.optimizer.step(self.policy.variables() + self.value_function.variables(), losses["loss"])
        return losses


class Parts(Component):
    """What both ways are made of."""

    def __init__(self, *components):
        self.policy, self.value_function = Policy(LAYERS, IntBox(4)), ValueFunction(LAYERS)
        learner = Learner(self.policy, self.value_function)
        self.epochs = IterativeOptimization(learner, num_epochs=3, num_minibatches=4)
        super().__init__(self.policy, self.value_function, self.epochs, *components, scope="ppo")

    @rlgraph_api
    def get_value(self, states):
        return self.value_function.value_output(states)


class OneCall(Parts):
    def __init__(self):
        self.gae = GeneralizedAdvantageEstimation(gae_lambda=LAMBDA, discount=DISCOUNT)
        super().__init__(self.gae)

    @rlgraph_api
    def update(self, states, actions, log_probs, rewards, terminals, ends, next_states):
        values = self.value_function.value_output(states)
        next_values = self.value_function.value_output(next_states)
        advantages = self.gae.calc_gae_values(values, rewards, terminals, ends, next_values)
        records = {"states": states, "actions": actions, "log_probs": log_probs}
        return self.epochs.update({**records, "values": values, "advantages": advantages})


class TwoCalls(Parts):
    @rlgraph_api
    def update(self, records):
        return self.epochs.update(records)


def built(root, spaces, backend, **execution):
    return GraphExecutor(
        root, spaces, backend=backend, execution_spec={"seed": 5, "dtype": "float64", **execution}
    )


def rollout():
    rng = np.random.default_rng(2)
    ends = np.zeros(STEPS, bool)
    ends[[6, 15, STEPS - 1]] = True
    return {
        "states": rng.normal(size=(STEPS, 3)),
        "actions": rng.integers(4, size=STEPS),
        "log_probs": np.log(rng.uniform(0.1, 0.9, STEPS)),
        "rewards": rng.normal(size=STEPS),
        "terminals": ends & (np.arange(STEPS) != STEPS - 1),
        "ends": ends,
        "next_states": rng.normal(size=(STEPS, 3)),
    }


def advantages_by_hand(values, steps, next_values):
    """Schulman et al. (2016), equation 16, step by step."""
    advantages, following = np.zeros(STEPS), 0.0
    for t in reversed(range(STEPS)):
        following = 0.0 if steps["ends"][t] else following
        nothing_follows = 1.0 - steps["terminals"][t]
        behind = next_values[t] if steps["ends"][t] else values[t + 1]
        delta = steps["rewards"][t] + DISCOUNT * nothing_follows * behind - values[t]
        following = advantages[t] = delta + DISCOUNT * LAMBDA * following
    return advantages


@pytest.mark.parametrize("execution", [{}, pytest.param({"compile": True}, marks=pytest.mark.repetition)])
def test_one_call_does_what_two_do(trainer, execution):
    steps = rollout()
    one = built(OneCall(), ROLLOUT, trainer, **execution)
    records = Dict({**STORED, "values": NUMBER, "advantages": NUMBER}, add_batch_rank=True)
    two = built(TwoCalls(), {"states": STATE, "records": records}, trainer)
    start = one.get_weights()
    for name, value in two.get_weights().items():
        np.testing.assert_array_equal(value, start[name])
    for _ in range(2):
        values, next_values = (two.execute("get_value", steps[name]) for name in ("states", "next_states"))
        advantages = advantages_by_hand(values, steps, next_values)
        stored = {name: steps[name] for name in STORED}
        expected = two.execute("update", {**stored, "values": values, "advantages": advantages})
        found = one.execute("update", **steps)
        assert found["num_updates"] == 12
        np.testing.assert_allclose(found["loss"], expected["loss"], rtol=0, atol=1e-6)
    weights = one.get_weights()
    for name, value in two.get_weights().items():
        np.testing.assert_allclose(weights[name], value, rtol=0, atol=1e-6)
    for name in one.get_weights(trainable_only=True):
        assert np.abs(weights[name] - start[name]).max() > 1e-3


def test_acting_without_derivatives():
    """NumPy takes none; everything else of the root runs there."""
    one = built(OneCall(), ROLLOUT, "numpy")
    assert one.execute("get_value", rollout()["states"]).shape == (STEPS,)
