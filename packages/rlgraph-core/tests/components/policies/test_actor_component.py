"""Preprocessing, policy and exploration together."""

import numpy as np
import pytest

from rlgraph.components import ActorComponent, EpsilonGreedy, Policy, QPolicy
from rlgraph.core import AssemblyError, Component, RLGraphError, SpecError, rlgraph_api
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, SpaceError, Tuple
from rlgraph.testing import ComponentTest

RNG = np.random.default_rng(0)
STATES = IntBox(256, shape=(3,), dtype="uint8", add_batch_rank=True)
HALVES = [{"type": "divide", "divisor": 255}]
LAYERS = [{"type": "dense", "units": 4, "activation": "tanh"}]
ACTIONS = IntBox(3)
GIVEN = RNG.integers(0, 256, (5, 3)).astype("uint8")
METHOD = "get_preprocessed_state_and_action"
WITH_PROBS = "get_preprocessed_state_action_and_action_probs"


def dense(x, values, scope):
    return x @ values[f"{scope}/weights"] + values[f"{scope}/biases"]


def logits_of(test, x, policy="policy", last="action-adapter/action-layer"):
    values = test.read_variable_values()
    return dense(np.tanh(dense(x, values, f"{policy}/network/dense-0")), values, f"{policy}/{last}")


def softmax(logits):
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def test_a_policy_without_exploration(backend):
    actor = ActorComponent(HALVES, {"network_spec": LAYERS, "action_space": ACTIONS})
    test = ComponentTest(actor, {"observations": STATES}, backend=backend)
    logits = logits_of(test, GIVEN / np.float32(255))
    expected = {"preprocessed_state": GIVEN / np.float32(255), "action": logits.argmax(-1)}
    test.test((METHOD, [GIVEN]), expected_outputs=expected, decimals=5)
    test.test(
        (WITH_PROBS, [GIVEN]), expected_outputs={**expected, "action_probs": softmax(logits)}, decimals=5
    )


def test_a_policy_that_samples(backend):
    """Frequencies are the probabilities; without exploration it is the mode."""
    actor = ActorComponent(HALVES, Policy(LAYERS, ACTIONS, deterministic=False))
    test = ComponentTest(actor, {"observations": STATES, "use_exploration": bool}, backend=backend)
    many = np.repeat(GIVEN[:1], 4000, axis=0)
    found = test.test((WITH_PROBS, {"observations": many, "use_exploration": True}))
    frequencies = np.bincount(found["action"], minlength=3) / 4000
    np.testing.assert_allclose(frequencies, found["action_probs"][0], atol=0.03)
    calm = test.test((METHOD, {"observations": many, "use_exploration": False}))["action"]
    np.testing.assert_array_equal(calm, found["action_probs"][0].argmax())


@pytest.mark.parametrize("use_exploration", [True, False])
def test_a_policy_that_does_not_sample_needs_no_switch(use_exploration, backend):
    """The switch is about explorations and samples; this policy has neither."""
    actor = ActorComponent(HALVES, Policy(LAYERS, ACTIONS, deterministic=True))
    test = ComponentTest(actor, {"observations": STATES, "use_exploration": bool}, backend=backend)
    many = np.repeat(GIVEN, 40, axis=0)
    found = test.test((METHOD, {"observations": many, "use_exploration": use_exploration}))["action"]
    np.testing.assert_array_equal(found, logits_of(test, many / np.float32(255)).argmax(-1))


@pytest.mark.parametrize(
    "exploration", [{"epsilon_spec": [1.0, 0.0]}, {"noise_spec": {"type": "gumbel", "scale": [1e3, 0.0]}}]
)
def test_an_exploration(exploration, backend):
    """All actions at first, the best in the end, and whenever exploration is off."""
    spec = {"type": "q_policy", "network_spec": LAYERS}
    actor = ActorComponent(HALVES, spec, exploration, action_space=ACTIONS)
    spaces = {"observations": STATES, "progress": float, "use_exploration": bool}
    test = ComponentTest(actor, spaces, backend=backend)
    many = np.repeat(GIVEN[:1], 300, axis=0)
    best = logits_of(test, many[:1] / np.float32(255), last="q-values").argmax()

    def acted(time, use):
        return test.test((METHOD, {"observations": many, "progress": time, "use_exploration": use}))["action"]

    assert np.bincount(acted(0.0, True), minlength=3).min() > 60
    np.testing.assert_array_equal(acted(1.0, True), best)
    np.testing.assert_array_equal(acted(0.0, False), best)


@pytest.mark.parametrize("kind", ["epsilon", "gumbel"])
def test_an_exploration_that_is_switched_off_waits(kind, backend):
    """It draws nothing, whatever number of states comes meanwhile."""
    q_policy = {"type": "q_policy", "network_spec": LAYERS}
    exploration = {"epsilon": {"epsilon_spec": 0.5}, "gumbel": {"noise_spec": {"type": "gumbel"}}}[kind]
    runs = []
    for interrupted in (False, True):
        actor = ActorComponent(HALVES, q_policy, exploration, action_space=ACTIONS)
        test = ComponentTest(
            actor, {"observations": STATES, "use_exploration": bool}, backend=backend, seed=3
        )
        act = test.executor.program(METHOD)
        runs.append([])
        for _ in range(6):
            runs[-1].append(act(GIVEN, use_exploration=np.array(True))["action"])
            if interrupted:
                many = np.repeat(GIVEN, 4, axis=0)
                calm = act(many, use_exploration=np.array(False))["action"]
                expected = logits_of(test, many / np.float32(255), last="q-values").argmax(-1)
                np.testing.assert_array_equal(calm, expected)
    np.testing.assert_array_equal(*runs)
    assert not all((run == runs[0][0]).all() for run in runs[0])


def test_what_is_impossible_is_neither_explored_nor_likely(backend):
    allowed = np.tile([True, False, True], (60, 1))
    many = np.repeat(GIVEN, 12, axis=0)
    spaces = {"observations": Dict(states=STATES, action_mask=BoolBox(shape=(3,)))}
    for policy, exploration, method in (
        (Policy(LAYERS, ACTIONS, deterministic=False), None, WITH_PROBS),
        (Policy(LAYERS, ACTIONS), {"epsilon_spec": 1.0}, WITH_PROBS),
        (QPolicy(LAYERS, ACTIONS), {"epsilon_spec": 1.0}, METHOD),
    ):
        test = ComponentTest(ActorComponent(HALVES, policy, exploration), spaces, backend=backend)
        found = test.test((method, {"observations": {"states": many, "action_mask": allowed}}))
        assert set(found["action"].tolist()) == {0, 2}
        if method == WITH_PROBS:
            expected = softmax(np.where(allowed, logits_of(test, many / np.float32(255)), -np.inf))
            np.testing.assert_allclose(found["action_probs"], expected, atol=1e-5)


def test_internal_states(backend):
    layers = [{"type": "lstm", "units": 2, "scope": "core"}]
    actor = ActorComponent(None, Policy(layers, ACTIONS))
    state = FloatBox(shape=(2,))
    states = Dict(policy=Dict(core=Tuple(state, state)), add_batch_rank=True)
    assert actor.get_internal_states_space(FloatBox(shape=(3,))) == states
    spaces = {"observations": Dict(states=FloatBox(shape=(3,)), internal_states=states)}
    test = ComponentTest(actor, spaces, backend=backend)
    x, (c, h) = (
        RNG.standard_normal((5, 3)).astype("float32"),
        RNG.standard_normal((2, 5, 2)).astype("float32"),
    )
    found = test.test(
        (WITH_PROBS, {"observations": {"states": x, "internal_states": {"policy": {"core": (c, h)}}}})
    )
    values = test.read_variable_values()
    core = {
        name: values[f"policy/network/core/{name}"] for name in ("weights", "recurrent_weights", "biases")
    }
    i, f, g, o = np.split(x @ core["weights"] + h @ core["recurrent_weights"] + core["biases"], 4, axis=1)
    i, f, o = (1.0 / (1.0 + np.exp(-gate)) for gate in (i, f, o))
    c = f * c + i * np.tanh(g)
    h = o * np.tanh(c)
    probabilities = softmax(dense(h, values, "policy/action-adapter/action-layer"))
    np.testing.assert_allclose(found["internal_states"]["policy"]["core"], (c, h), atol=1e-5)
    np.testing.assert_allclose(found["action_probs"], probabilities, atol=1e-5)


def test_parts_and_other_inputs(backend):
    """A Dict whose image is preprocessed, and the previous action beside it."""
    network = {
        "type": "multi_input_stream_network",
        "input_network_specs": {"pixels": None, "previous_action": [{"type": "reshape", "flatten": True}]},
    }
    actions = Dict(jump=IntBox(2), move=IntBox(3))
    actor = ActorComponent({"pixels": HALVES}, {"network_spec": network}, action_space=actions)
    spaces = {
        "observations": Dict(pixels=STATES),
        "other_nn_inputs": Dict(previous_action=IntBox(3, add_batch_rank=True)),
    }
    test = ComponentTest(actor, spaces, backend=backend)
    previous = np.array([0, 1, 2, 1, 0])
    found = test.test((WITH_PROBS, [{"pixels": GIVEN}, {"previous_action": previous}]))
    features = np.concatenate([GIVEN / np.float32(255), np.eye(3, dtype="float32")[previous]], axis=-1)
    values = test.read_variable_values()
    for part in actions:
        probabilities = softmax(dense(features, values, f"policy/action-adapter/{part}/action-layer"))
        np.testing.assert_allclose(found["action_probs"][part], probabilities, atol=1e-5)
        np.testing.assert_array_equal(found["action"][part], probabilities.argmax(-1))


def test_frame_stacks_and_noise_are_internal_states(backend):
    """Rows of two episodes; noise without random steps shrinks by theta, and both are 0 where an episode begins."""
    preprocessing = [{"type": "sequence", "sequence_length": 2, "add_rank": False}]
    noise = {"type": "ornstein_uhlenbeck", "sigma": 0.0, "theta": 0.5, "mu": 0.25}
    policy = Policy(LAYERS, FloatBox(), deterministic=True)
    actor = ActorComponent(preprocessing, policy, {"noise_spec": noise})
    state = FloatBox(shape=(2,), add_batch_rank=True)
    space = actor.get_internal_states_space(state)
    stack = {"stack": FloatBox(shape=(4,)), "is_filled": BoolBox()}
    assert space == Dict(
        preprocessor={"sequence_0": stack}, exploration=Tuple(FloatBox()), add_batch_rank=True
    )
    observations = Dict(states=state, internal_states=space)
    test = ComponentTest(actor, {"observations": observations, "use_exploration": bool}, backend=backend)

    def acted(x, states, use=True):
        found = test.test(
            (METHOD, {"observations": {"states": x, "internal_states": states}, "use_exploration": use})
        )
        preferred = logits_of(test, found["preprocessed_state"])[:, 0]
        return found["preprocessed_state"].tolist(), found["action"] - preferred, found["internal_states"]

    states = space.zeros(2)
    states["exploration"] = (np.float32([0.0, 4.0]),)
    one = np.ones((2, 2), "float32")
    seen, added, states = acted(one, states)
    assert seen == [[1.0] * 4] * 2
    np.testing.assert_allclose(added, [0.25, 4.25], atol=1e-5)
    states["preprocessor"]["sequence_0"]["is_filled"] = np.array([True, False])
    seen, added, states = acted(2 * one, states)
    assert seen == [[1.0, 1.0, 2.0, 2.0], [2.0] * 4]
    np.testing.assert_allclose(added, [0.25, 2.25], atol=1e-5)
    seen, added, states = acted(3 * one, states, use=False)
    np.testing.assert_allclose(added, [0.0, 0.0], atol=1e-5)
    np.testing.assert_allclose(states["exploration"][0], [0.0, 1.0])
    assert seen == [[2.0, 2.0, 3.0, 3.0]] * 2


def test_probabilities_of_what_has_none():
    spaces = {"observations": FloatBox(shape=(3,), add_batch_rank=True)}
    for policy in (QPolicy(LAYERS, ACTIONS), Policy(LAYERS, FloatBox(-1.0, 1.0))):
        actor = ActorComponent(None, policy)
        test = ComponentTest(actor, spaces, backend="numpy")
        assert test.test((METHOD, [np.zeros((2, 3), "float32")]))["action"].shape == (2,)
        with pytest.raises(RLGraphError, match=WITH_PROBS):
            test.test((WITH_PROBS, [np.zeros((2, 3), "float32")]))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"policy_spec": {"network_spec": LAYERS}}, "policy_spec.action_space: missing"),
        (
            {"policy_spec": {"type": "dense", "units": 2}},
            "policy_spec: expected a policy, with the API method get_action",
        ),
        (
            {"exploration_spec": {"noise_spec": {"type": "gumbel"}}},
            "exploration_spec: <NoisyGreedy exploration> explores action values, which <Policy policy> does not have",
        ),
        (
            {"preprocessor_spec": [{"type": "divide", "diviser": 2}]},
            r"preprocessor_spec\[0\].diviser: Divide has no",
        ),
    ],
)
def test_wrong_specs(spec, message):
    policy = {"network_spec": LAYERS, "action_space": {"type": "int", "low": 0, "high": 3}}
    with pytest.raises(SpecError, match=message):
        Component.from_spec(
            {"type": "actor_component", "preprocessor_spec": None, "policy_spec": policy, **spec},
            path="actor",
        )


def test_wrong_inputs():
    floats = FloatBox(shape=(3,), add_batch_rank=True)
    actor = ActorComponent(None, QPolicy(LAYERS, ACTIONS), EpsilonGreedy(ACTIONS))
    with pytest.raises(AssemblyError, match="progress"):
        ComponentTest(actor, {"observations": floats}, backend="numpy")
    for states, others in ((floats, Dict(a=floats)), (Dict(a=floats), Dict(a=floats))):
        actor = ActorComponent(None, Policy(LAYERS, ACTIONS))
        with pytest.raises(
            (RLGraphError, SpaceError), match="other_nn_inputs: expected a Dict, and preprocessed"
        ):
            ComponentTest(actor, {"observations": states, "other_nn_inputs": others}, backend="numpy")


class Calm(Component):
    """An actor that never explores."""

    def __init__(self, actor):
        self.actor = actor
        super().__init__(actor, scope="calm")

    @rlgraph_api
    def act(self, states):
        return self.actor.get_preprocessed_state_and_action(states, use_exploration=False)


@pytest.mark.filterwarnings("ignore::rlgraph.core.BuildWarning")
def test_exploration_switched_off_in_the_wiring():
    """No draws are left, and no fraction of training is asked for."""
    states = {"states": FloatBox(shape=(3,), add_batch_rank=True)}
    many = np.ones((200, 3), "float32")
    for policy, exploration in (
        (Policy(LAYERS, ACTIONS, deterministic=False), None),
        (QPolicy(LAYERS, ACTIONS), {"epsilon_spec": 1.0}),
    ):
        test = ComponentTest(Calm(ActorComponent(None, policy, exploration)), states, backend="numpy")
        assert len(set(test.test(("act", [many]))["action"])) == 1
