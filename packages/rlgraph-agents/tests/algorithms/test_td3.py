"""TD3 against a second implementation in NumPy, which uses no component."""

import numpy as np
import pytest

from rlgraph.agents import TD3Agent
from rlgraph.core import SpecError
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, Tuple

LAYERS = [{"type": "dense", "units": 3, "activation": "tanh"}]
STATES, MOVES = FloatBox(shape=(3,)), FloatBox(-1.0, 2.0, shape=(2,))
ROWS, RATE, TAU = 4, 0.01, 0.1


@pytest.fixture
def make_td3(execution):
    def make(backend, action_space, **options):
        options = {"network_spec": LAYERS, **options}
        spaces = (options.pop("state_space", STATES), action_space)
        execution_spec = execution(backend, dtype="float64")
        return TD3Agent(*spaces, backend=backend, seed=3, execution_spec=execution_spec, **options)

    return make


def weights_of(agent):
    """The weights by name, without the optimizers and what only counts."""
    named = {name.removeprefix("td3/"): value for name, value in agent.get_weights().items()}
    return {
        name: x for name, x in named.items() if name.startswith(("policy", "critic-0", "critic-1", "target-"))
    }


def dense(x, weights, scope):
    return x @ weights[f"{scope}/weights"] + weights[f"{scope}/biases"]


def action(weights, states, scope="policy"):
    hidden = np.tanh(dense(states, weights, f"{scope}/network/dense-0"))
    return -1.0 + (np.tanh(dense(hidden, weights, f"{scope}/action")) + 1.0) * 1.5


def value(weights, states, actions, scope):
    scaled = (actions - 0.5) / 1.5
    hidden = np.tanh(dense(np.concatenate([states, scaled], axis=1), weights, f"{scope}/network/dense-0"))
    return dense(hidden, weights, f"{scope}/value-layer")[:, 0]


def critic_losses(weights, records, critics):
    """Per item: Algorithm 1 without noise."""
    following = action(weights, records["next_states"], "target-policy/policy")
    values = [value(weights, records["next_states"], following, f"target-{c}/{c}") for c in critics]
    continues = np.where(records["terminals"], 0.0, records["discounts"])
    targets = records["rewards"] + continues * np.min(values, axis=0)
    errors = [targets - value(weights, records["states"], records["actions"], c) for c in critics]
    return np.sum(np.square(errors), axis=0)


def actor_losses(weights, records):
    return -value(weights, records["states"], action(weights, records["states"]), "critic-0")


def descended(weights, scopes, loss, step=1e-6):
    """The weights after a step of plain gradient descent on those of `scopes`, by central differences."""
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


@pytest.mark.parametrize("critics", [("critic-0", "critic-1"), ("critic-0",)], ids=["two critics", "one"])
def test_two_updates_by_hand(critics, backend, make_td3):
    agent = make_td3(
        backend,
        MOVES,
        num_critics=len(critics),
        target_noise=0.0,
        tau=TAU,
        n_step=2,
        memory_spec={"type": "prioritized_replay", "capacity": 10},
        optimizer_spec={"type": "sgd", "learning_rate": RATE},
    )
    rng = np.random.default_rng(1)
    weights = {name: rng.normal(scale=0.5, size=x.shape) for name, x in weights_of(agent).items()}
    agent.set_weights({f"td3/{name}": x for name, x in weights.items()})
    records = {
        "states": rng.normal(size=(ROWS, 3)),
        "actions": MOVES.with_batch_rank().sample(ROWS, rng=rng),
        "rewards": rng.normal(size=ROWS),
        "terminals": np.arange(ROWS) % 3 == 0,
        "next_states": rng.normal(size=(ROWS, 3)),
        "discounts": rng.uniform(0.5, 1.0, ROWS),
    }
    item_weights = np.linspace(0.2, 1.0, ROWS)
    actor_loss = 0.0
    for is_due in (False, True, False):
        per_item = critic_losses(weights, records, critics)
        weights = descended(
            weights, critics, lambda w: np.mean(item_weights * critic_losses(w, records, critics))
        )
        if is_due:
            actor_loss = np.mean(item_weights * actor_losses(weights, records))
            weights = descended(
                weights, ("policy",), lambda w: np.mean(item_weights * actor_losses(w, records))
            )
            for name in weights:
                if name.startswith("target-"):
                    weights[name] += TAU * (weights[name.partition("/")[2]] - weights[name])
        numbers = agent.learner.executor.execute("update", records, importance_weights=item_weights)
        assert set(numbers) == {"loss", "critic_loss", "actor_loss", "priorities"}
        for name in ("loss", "critic_loss"):
            np.testing.assert_allclose(numbers[name], np.mean(item_weights * per_item), rtol=1e-7)
        np.testing.assert_allclose(numbers["priorities"], np.sqrt(per_item / len(critics)), rtol=1e-7)
        np.testing.assert_allclose(numbers["actor_loss"], actor_loss, rtol=1e-7)
        found = weights_of(agent)
        assert found.keys() == weights.keys()
        for name, expected in weights.items():
            np.testing.assert_allclose(found[name], expected, rtol=1e-6, atol=1e-8, err_msg=name)


def test_acting(backend, make_td3):
    agent = make_td3(backend, Dict(a=FloatBox(-1.0, 1.0), b=FloatBox(0.0, 20.0, shape=(500,))))
    states = np.random.default_rng(0).normal(size=(4, 3))
    greedy, explored = agent.get_actions(states, False), agent.get_actions(states, True)
    noise = explored["b"] - greedy["b"]
    assert 0.8 < noise.std() < 1.05  # a tenth of half the range, cut at the bounds
    assert explored["a"].min() >= -1.0 and explored["a"].max() <= 1.0
    np.testing.assert_array_equal(agent.get_actions(states, False)["b"], greedy["b"])


def test_states_of_other_kinds(one_backend, make_td3):
    state_space = Tuple(IntBox(256, shape=(36, 36, 1), dtype="uint8"), FloatBox(shape=(2,)))
    agent = make_td3(
        one_backend, MOVES, state_space=state_space, network_spec=None, update_spec={"batch_size": 4}
    )
    states = state_space.with_batch_rank().sample(3, rng=np.random.default_rng(0))
    actions = agent.get_actions(states)
    agent.observe(states, actions, np.ones(3), np.zeros(3, bool), states, batched=True)
    assert np.isfinite([*agent.update().values(), *agent.update().values()]).all()


def test_bounds_of_each_element(one_backend, make_td3):
    """They are not trained."""
    moves = FloatBox(np.array([-1.0, 0.0]), np.array([1.0, 5.0]))
    agent = make_td3(one_backend, moves, update_spec={"batch_size": 4})
    states = np.random.default_rng(0).normal(size=(3, 3))
    agent.observe(states, agent.get_actions(states), np.ones(3), np.zeros(3, bool), states, batched=True)
    before = agent.get_weights()
    assert np.isfinite([*agent.update().values(), *agent.update().values()]).all()
    after = agent.get_weights()
    changed = {name for name in after if not np.array_equal(before[name], after[name])}
    assert "td3/policy/action/biases" in changed
    assert not changed & {f"td3/policy/{bound}" for bound in ("low", "high")}


@pytest.mark.parametrize(
    "action_space", [FloatBox(shape=(2,)), IntBox(3), BoolBox(), Dict(a=FloatBox(-1.0, 1.0), b=IntBox(2))]
)
def test_actions_that_do_not_fit(action_space, make_td3):
    with pytest.raises(SpecError, match=r"action_space: expected floats with both bounds.* PPO takes other"):
        make_td3("numpy", action_space)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"policy_delay": 0}, "policy_delay: expected an integer >= 1, given 0"),
        ({"num_critics": 0}, "num_critics: expected an integer >= 1, given 0"),
        ({"target_noise": -1.0}, "target_noise: expected a number >= 0"),
    ],
)
def test_wrong_options(options, message, make_td3):
    with pytest.raises(SpecError, match=message):
        make_td3("numpy", MOVES, **options)
