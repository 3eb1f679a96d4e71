"""Implicit Q-learning against a second implementation in NumPy, which uses no component."""

import numpy as np
import pytest

from rlgraph.agents import Agent, IQLAgent
from rlgraph.experience.data_sets import RecordedEpisode, write_data_set
from rlgraph.spaces import FloatBox, IntBox

LAYERS = [{"type": "dense", "units": 3, "activation": "tanh"}]
STATES, CATEGORY, MOVES = FloatBox(shape=(3,)), IntBox(3), FloatBox(shape=(2,))
ROWS, RATE, TAU, EXPECTILE, PREFERENCE = 6, 0.01, 0.1, 0.8, 5.0
CRITICS = ("critic-0", "critic-1")
PARTS = ("policy", "value-function", *CRITICS, "target-")


def weights_of(agent):
    named = {name.removeprefix("iql/"): value for name, value in agent.get_weights().items()}
    return {name: x for name, x in named.items() if name.startswith(PARTS)}


def network(weights, scope, head, x):
    hidden = np.tanh(
        x @ weights[f"{scope}/network/dense-0/weights"] + weights[f"{scope}/network/dense-0/biases"]
    )
    return hidden @ weights[f"{scope}/{head}/weights"] + weights[f"{scope}/{head}/biases"]


def q_value(weights, records, scope):
    actions = records["actions"] if records["actions"].ndim > 1 else np.eye(3)[records["actions"]]
    x = np.concatenate([records["states"], actions], axis=1)
    return network(weights, scope, "value-layer", x)[:, 0]


def state_value(weights, states):
    return network(weights, "value-function", "value-layer", states)[:, 0]


def log_likelihood(weights, records):
    outputs = network(weights, "policy", "action-adapter/action-layer", records["states"])
    if records["actions"].ndim == 1:
        logs = outputs - np.log(np.exp(outputs).sum(axis=1, keepdims=True))
        return logs[np.arange(ROWS), records["actions"]]
    mean, deviation = outputs[:, :2], np.exp(outputs[:, 2:])
    squares = ((records["actions"] - mean) / deviation) ** 2
    return -(squares / 2 + np.log(deviation * np.sqrt(2 * np.pi))).sum(axis=1)


def losses(weights, records, before):
    """Eq. 5 to 7, per item; `before`: the weights of what no gradient goes through."""
    smallest = np.minimum(*(q_value(before, records, f"target-{scope}/{scope}") for scope in CRITICS))
    better = smallest - state_value(weights, records["states"])
    following = np.where(records["terminals"], 0.0, records["discounts"]) * state_value(
        before, records["next_states"]
    )
    errors = [records["rewards"] + following - q_value(weights, records, scope) for scope in CRITICS]
    preference = np.minimum(np.exp(PREFERENCE * (smallest - state_value(before, records["states"]))), 100.0)
    return {
        "critic_loss": errors[0] ** 2 + errors[1] ** 2,
        "value_loss": np.where(better < 0.0, 1.0 - EXPECTILE, EXPECTILE) * better**2,
        "actor_loss": -preference * log_likelihood(weights, records),
    }


def descended(weights, scopes, loss, step=1e-6):
    """The weights after a step of gradient descent on those of `scopes`, by central differences."""
    changed = {name: x.copy() for name, x in weights.items()}
    for name in weights:
        for place in np.ndindex(weights[name].shape) if name.startswith(scopes) else ():
            ends = []
            for sign in (1, -1):
                moved = weights[name].copy()
                moved[place] += sign * step
                ends.append(loss({**weights, name: moved}))
            changed[name][place] -= RATE * (ends[0] - ends[1]) / (2 * step)
    return changed


@pytest.mark.parametrize("actions", [CATEGORY, MOVES], ids=["category", "floats"])
def test_two_updates_by_hand(actions, backend, execution):
    agent = IQLAgent(
        STATES,
        actions,
        network_spec=LAYERS,
        expectile=EXPECTILE,
        inverse_temperature=PREFERENCE,
        tau=TAU,
        n_step=2,
        memory_spec={"type": "prioritized_replay", "capacity": 10},
        optimizer_spec={"type": "sgd", "learning_rate": RATE},
        backend=backend,
        seed=3,
        execution_spec=execution(backend, dtype="float64"),
    )
    rng = np.random.default_rng(0)
    weights = {name: rng.normal(size=x.shape) for name, x in weights_of(agent).items()}
    # Logarithms of standard deviations above 2 would be clipped.
    weights |= {name: 0.3 * x for name, x in weights.items() if name.startswith("policy")}
    agent.set_weights({f"iql/{name}": x for name, x in weights.items()})
    records = {
        "states": rng.normal(size=(ROWS, 3)),
        "actions": actions.with_batch_rank().sample(ROWS, rng=rng),
        "rewards": rng.normal(size=ROWS),
        "terminals": np.arange(ROWS) % 3 == 0,
        "next_states": rng.normal(size=(ROWS, 3)),
        "discounts": rng.uniform(0.5, 1.0, ROWS),
    }
    smallest = np.minimum(*(q_value(weights, records, f"target-{scope}/{scope}") for scope in CRITICS))
    better = smallest - state_value(weights, records["states"])
    # Both sides of the expectile occur, and both of the limit of weights.
    assert better.min() < 0.0 and better.max() > np.log(100.0) / PREFERENCE > better.min()
    item_weights = np.linspace(0.2, 1.0, ROWS)
    stepped = {"critic_loss": CRITICS, "value_loss": ("value-function",), "actor_loss": ("policy",)}
    for _ in range(2):
        numbers = agent.executor.execute("update", records, importance_weights=item_weights)
        items = losses(weights, records, weights)
        np.testing.assert_allclose(numbers["priorities"], np.sqrt(items["critic_loss"] / 2), rtol=1e-7)
        after = dict(weights)
        for name, scopes in stepped.items():
            np.testing.assert_allclose(numbers[name], np.mean(item_weights * items[name]), rtol=1e-7)
            moved = descended(
                weights, scopes, lambda w, n=name, b=weights: np.mean(item_weights * losses(w, records, b)[n])
            )
            after |= {key: x for key, x in moved.items() if key.startswith(scopes)}
        assert numbers["loss"] == numbers["critic_loss"]
        for name in after:
            if name.startswith("target-"):
                after[name] = weights[name] + TAU * (after[name.partition("/")[2]] - weights[name])
        weights, found = after, weights_of(agent)
        assert found.keys() == weights.keys()
        for name, expected in weights.items():
            np.testing.assert_allclose(found[name], expected, rtol=1e-6, atol=1e-8, err_msg=name)


@pytest.mark.parametrize("agent", ["bc", "iql"])
def test_actions_at_their_bounds_are_imitated(agent, one_backend, execution, tmp_path):
    """A controller that switches between both ends, where densities of the default are infinite."""
    states, actions, rng = FloatBox(shape=(2,)), FloatBox(-2.0, 2.0, shape=(1,)), np.random.default_rng(0)
    seen = rng.normal(size=(301, 2)).astype(np.float32)
    switched = 2.0 * np.sign(seen[:-1, :1])
    flags = np.zeros(300, bool)
    data = write_data_set(
        tmp_path / "switched.npz",
        [RecordedEpisode(seen, switched, np.ones(300), flags, flags)],
        states,
        actions,
    )
    spec = {
        "type": agent,
        "network_spec": [{"type": "dense", "units": 32, "activation": "tanh"}],
        "distributions_spec": {"bounded_distribution_type": "clipped_normal"},
        "optimizer_spec": {"learning_rate": 0.01},
        "execution_spec": execution(one_backend),
    }
    made = Agent.from_spec(spec, state_space=states, action_space=actions, backend=one_backend, seed=1)
    made.learn(updates=400, data=data)
    clear = np.array([[1.0, 0.5], [2.0, -1.0], [-1.0, 0.5], [-2.0, 1.0]], np.float32)
    greedy = made.get_actions(clear, use_exploration=False)
    np.testing.assert_allclose(greedy, 2.0 * np.sign(clear[:, :1]), atol=0.1)
