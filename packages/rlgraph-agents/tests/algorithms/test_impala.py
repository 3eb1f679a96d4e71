"""IMPALA: what acting remembers reaches the update, fragments of older weights are corrected by V-trace."""

import numpy as np
import pytest

from rlgraph.agents import Agent
from rlgraph.core import InputError

SMALL = {
    "type": "impala",
    "network_spec": [{"type": "dense", "units": 8, "activation": "tanh"}],
    "optimizer_spec": {"type": "gradient_descent", "learning_rate": 0.1},
    "rollout_length": 4,
    "weight_entropy": 0.0,
}


def make(backend, **options):
    execution = {"threads": 1, "dtype": "float64"} if backend == "torch" else {"dtype": "float64"}
    return Agent.from_spec(
        {**SMALL, **options}, env="CartPole-v1", backend=backend, execution_spec=execution, seed=2
    )


def rollout(agent, log_likelihood):
    """Four steps of three environments; an episode ends in a terminal state, another one is cut."""
    rng = np.random.default_rng(0)
    states = rng.normal(size=(4, 3, 4))
    truncations, terminals = np.zeros((2, 4, 3), bool)
    terminals[1, 0] = truncations[2, 1] = True
    reached = rng.normal(size=(4, 3, 4))
    goes_on = ~(terminals | truncations)[:3]
    reached[:3][goes_on] = states[1:][goes_on]
    return {
        "states": states,
        "next_states": reached,
        "actions": rng.integers(0, 2, (4, 3)),
        "rewards": rng.normal(size=(4, 3)),
        "terminals": terminals,
        "truncations": truncations,
        "remembered": {"log_likelihood": log_likelihood},
    }


def test_the_loss_of_values_is_that_of_the_paper(one_backend):
    """Section 4.1: v_s = V(s) + sum of traces; for old log-probabilities that make ratios 2 and 1/2, by a loop."""
    agent = make(one_backend, weight_pg=0.0, weight_vf=1.0, discount=0.9)
    batch = rollout(agent, None)
    flat = batch["states"].reshape(12, 4)
    logits = _log_probabilities(agent, flat).reshape(4, 3, 2)
    new = np.take_along_axis(logits, batch["actions"][..., None], -1)[..., 0]
    ratios = np.where(np.arange(12).reshape(4, 3) % 2, 2.0, 0.5)
    batch["remembered"]["log_likelihood"] = new - np.log(ratios)
    values, reached = (_values(agent, batch[name]) for name in ("states", "next_states"))
    clipped = np.minimum(ratios, 1.0)
    ends = batch["terminals"] | batch["truncations"]
    targets, after = np.zeros((4, 3)), np.zeros(3)
    for t in reversed(range(4)):
        discount = 0.9 * ~batch["terminals"][t]
        error = clipped[t] * (batch["rewards"][t] + discount * reached[t] - values[t])
        # The state after the last step, or after a cut, is not continued.
        goes_on = (~ends[t]) & (t < 3)
        after = error + np.where(goes_on, discount * clipped[t] * after, 0.0)
        targets[t] = values[t] + after
    results = agent.update(batch)
    np.testing.assert_allclose(results["value_loss"], np.mean((targets - values) ** 2) / 2, rtol=1e-6)


def _values(agent, states):
    """A hidden layer with tanh, and a linear one."""
    weights = {
        name.rsplit("/", 2)[-2] + "/" + name.rsplit("/", 1)[-1]: value
        for name, value in agent.get_weights().items()
        if "value-function" in name
    }
    hidden = np.tanh(states @ weights["dense-0/weights"] + weights["dense-0/biases"])
    return (hidden @ weights["value-layer/weights"] + weights["value-layer/biases"])[..., 0]


def _log_probabilities(agent, states):
    actor = agent.new_actor(len(states), seed=5)
    found = np.full((len(states), 2), np.nan)
    while np.isnan(found).any():
        actions, extras = actor.act_with_extras(states)
        found[np.arange(len(states)), actions] = extras["log_likelihood"]
    return found


@pytest.mark.parametrize(
    ("remembered", "message"),
    [
        (None, "remembered: expected log_likelihood, as get_actions"),
        ({"log_prob": np.zeros(2)}, "remembered: expected log_likelihood, .* given log_prob"),
        ({"log_likelihood": np.zeros(3)}, r"remembered\.log_likelihood: expected finite numbers \[2\]"),
        ({"log_likelihood": np.array([0.0, np.nan])}, r"remembered\.log_likelihood: expected finite"),
    ],
)
def test_what_is_remembered_is_checked(one_backend, remembered, message):
    agent = make(one_backend)
    states = np.zeros((2, 4))
    actions = agent.get_actions(states)
    with pytest.raises(InputError, match=f"observe: {message}"):
        agent.observe(
            states, actions, np.ones(2), np.zeros(2, bool), states, remembered=remembered, batched=True
        )
    assert agent.timesteps == 0


def test_a_loop_of_ones_own_equals_an_update_on_its_rollout(one_backend):
    agent, other = make(one_backend), make(one_backend)
    states, acted = np.zeros((2, 4)), []
    for _ in range(4):
        actions, remembered = agent.get_actions(states, extra_returns="remembered")
        # As of other weights, with importance ratios below 1, so that the update has to use it.
        remembered["log_likelihood"] = remembered["log_likelihood"] + 0.5
        acted.append((actions, remembered["log_likelihood"]))
        agent.observe(
            states, actions, np.ones(2), np.zeros(2, bool), states, remembered=remembered, batched=True
        )
    actions, log_likelihood = map(np.stack, zip(*acted, strict=True))
    rollout = {
        "states": np.zeros((4, 2, 4)),
        "next_states": np.zeros((4, 2, 4)),
        "actions": actions,
        "rewards": np.ones((4, 2)),
        "terminals": np.zeros((4, 2), bool),
        "truncations": np.zeros((4, 2), bool),
    }
    results = agent.update_if_due()
    given = other.update({**rollout, "remembered": {"log_likelihood": log_likelihood}})
    fresh = make(one_backend).update({**rollout, "remembered": {"log_likelihood": log_likelihood - 0.5}})
    assert results["policy_loss"] == pytest.approx(given["policy_loss"], rel=1e-9)
    assert results["policy_loss"] != pytest.approx(fresh["policy_loss"], rel=1e-3)
