"""`get_policy_weights` gives exactly what acting reads; `set_policy_weights` takes it."""

import numpy as np
import pytest

from rlgraph.agents import Agent
from rlgraph.core import InputError
from rlgraph.experience.messages import unpack_message
from rlgraph.spaces import FloatBox, IntBox

STATES = np.random.default_rng(0).normal(size=(64, 3)).astype("float32")
ONE_LAYER = [{"type": "dense", "units": 4, "activation": "tanh"}]
ACTION_LAYER = "action-adapter/action-layer"
NORMALIZER = ("normalizer/mean", "normalizer/scale")
#: Agent -> layers of its policy that acting reads, and options.
AGENTS = {
    "dqn": ("policy", ("network/dense-0", "advantages"), {}),
    "c51": ("policy", ("network/dense-0", "advantages", "value"), {"dueling_q": True}),
    "sac": ("policy", ("network/dense-0", ACTION_LAYER), {}),
    "td3": ("policy", ("network/dense-0", "action"), {}),
    "ppo": ("policy", ("network/dense-0", ACTION_LAYER), {}),
    "a2c": ("policy", ("network/dense-0", ACTION_LAYER), {"value_network_spec": "shared"}),
    "iql": ("policy", ("network/dense-0", ACTION_LAYER), {}),
    "bc": ("policy", ("network/dense-0", ACTION_LAYER), {}),
}


def made(kind, backend="numpy", seed=1, **options):
    continuous = kind in ("sac", "td3", "iql")
    actions = FloatBox(low=-1.0, high=1.0, shape=(2,)) if continuous else IntBox(3)
    spec = {"type": kind, **({} if kind == "random" else {"network_spec": ONE_LAYER}), **options}
    return Agent.from_spec(
        spec, state_space=FloatBox(shape=(3,)), action_space=actions, backend=backend, seed=seed
    )


@pytest.mark.parametrize("kind", AGENTS)
def test_exactly_what_acting_reads(kind, reference):
    policy, layers, options = AGENTS[kind]
    first = made(kind, normalize_states=True, **options)
    second = made(kind, seed=2, normalize_states=True, **options)
    first.set_weights(reference.randomised(first.get_weights(), seed=4))
    weights = first.get_policy_weights()
    named = {f"{kind}/{policy}/{layer}/{part}" for layer in layers for part in ("weights", "biases")}
    assert weights.keys() == {*named, *NORMALIZER}

    floats = {n: v for n, v in second.get_weights().items() if v.dtype.kind == "f"}
    second.set_weights({name: np.full_like(value, np.nan) for name, value in floats.items()})
    second.set_policy_weights(weights)
    np.testing.assert_equal(
        second.get_actions(STATES, use_exploration=False), first.get_actions(STATES, use_exploration=False)
    )
    others = {name: value for name, value in second.get_weights().items() if name not in weights}
    assert all(np.isnan(value).all() for name, value in others.items() if name in floats)


def test_they_are_what_actors_are_sent(backend):
    agent = made("dqn", backend, normalize_states=True)
    weights = agent.get_policy_weights()
    _, sent = unpack_message(agent.learner.weights_message())
    for dtype, values in sent.items():
        own = [weights[name].ravel() for name in sorted(weights) if weights[name].dtype == dtype]
        np.testing.assert_array_equal(np.concatenate(own), values)
    assert sum(values.size for values in sent.values()) == sum(value.size for value in weights.values())
    assert {*NORMALIZER} < weights.keys()
    assert not any("optimizer" in name or "target" in name for name in weights)


def test_the_statistics_of_a_layer_that_learns_are_no_weights():
    agent = made("dqn", preprocessing_spec=[{"type": "moving_standardize"}])
    assert not any(
        name.startswith("preprocessor/") for name in agent.get_weights() | agent.get_policy_weights()
    )


def test_they_are_copies_in_the_form_of_get_weights():
    agent = made("ppo")
    weights = agent.get_policy_weights()
    everything = agent.get_weights()
    assert all(np.array_equal(everything[name], value) for name, value in weights.items())
    for value in weights.values():
        value += 1.0
    np.testing.assert_equal(agent.get_weights(), everything)
    agent.set_weights(weights)  # either name takes some of the variables
    assert all(np.array_equal(agent.get_weights()[name], value) for name, value in weights.items())


def test_others_do_not_fit():
    assert made("random").get_policy_weights() == {}
    with pytest.raises(InputError, match="ppo/policy"):
        made("dqn").set_policy_weights(made("ppo").get_policy_weights())
