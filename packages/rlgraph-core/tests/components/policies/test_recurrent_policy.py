"""Recurrent policies: acting step by step, learning on sequences, against loops in NumPy."""

import numpy as np
import pytest
from scipy.special import log_softmax

from rlgraph.components import (
    Adam,
    DuelingPolicy,
    Policy,
    PPOLoss,
    QPolicy,
    SharedValueFunctionPolicy,
    ValueFunction,
)
from rlgraph.core import AssemblyError, Component, GraphExecutor, graph_fn, rlgraph_api
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox
from rlgraph.testing import ComponentTest

STEPS, BATCH, SIZE, UNITS, ACTIONS = 4, 3, 2, 5, 3
NETWORK = [{"type": "dense", "units": 4, "activation": "tanh"}, {"type": "lstm", "units": UNITS}]
STATE = FloatBox(shape=(SIZE,), add_batch_rank=True)
ORDERS = pytest.mark.parametrize("time_major", [False, True])
RNG = np.random.default_rng(5)
X = RNG.normal(size=(STEPS, BATCH, SIZE)).astype(np.float32)
TAKEN = RNG.integers(0, ACTIONS, size=(STEPS, BATCH))
RESETS = np.array([[0, 1, 0], [0, 0, 0], [1, 1, 0], [0, 0, 0]], bool)
ALLOWED = RNG.random((STEPS, BATCH, ACTIONS)) < 0.6
ALLOWED[..., 0] = True
MASK = BoolBox(shape=(ACTIONS,), add_batch_rank=True)
ITEM = {"bool": BoolBox(add_batch_rank=True), "int": IntBox(ACTIONS, add_batch_rank=True)}


def in_time(space, time_major):
    return space.with_extra_ranks(True, True, time_major)


def ordered(array, time_major):
    """An array [T, B, ...] as it is given."""
    return array if time_major else array.swapaxes(0, 1)


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def dense(w, scope, x):
    return x @ w[f"{scope}/weights"] + w[f"{scope}/biases"]


def features(w, xs, resets=None, path="policy/network"):
    """What the network puts out, [T, B, UNITS], and its states behind the last step."""
    c = h = np.zeros((xs.shape[1], UNITS))
    outputs = []
    for t, x in enumerate(np.tanh(dense(w, f"{path}/dense-0", xs))):
        if resets is not None:
            c, h = (np.where(resets[t][:, None], 0.0, s) for s in (c, h))
        z = dense(w, f"{path}/lstm-1", x) + h @ w[f"{path}/lstm-1/recurrent_weights"]
        i, f, g, o = np.split(z, 4, axis=1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        outputs.append(h)
    return np.stack(outputs), (c, h)


def log_likelihoods(w, xs, taken, resets=None, allowed=None):
    logits = dense(w, "policy/action-adapter/action-layer", features(w, xs, resets)[0])
    if allowed is not None:
        logits = np.where(allowed, logits, -1e30)
    return np.take_along_axis(log_softmax(logits, -1), taken[..., None], -1)[..., 0]


class Actor(Component):
    """A policy that acts in steps and is judged over sequences."""

    def __init__(self, policy):
        self.policy = policy
        super().__init__(policy, scope="actor")

    @rlgraph_api
    def act(self, state, internal_states, reset, mask):
        observations = {
            "states": state,
            "action_mask": mask,
            "internal_states": internal_states,
            "resets": reset,
        }
        return self.policy.get_action_and_log_likelihood(observations)

    @rlgraph_api
    def judge(self, states, actions, resets, masks):
        judged = self.policy.get_log_likelihood(
            {"states": states, "action_mask": masks, "resets": resets}, actions
        )
        return judged["log_likelihood"], judged["internal_states"]


@ORDERS
def test_one_policy_acts_and_learns(time_major, backend):
    policy = Policy(NETWORK, IntBox(ACTIONS), deterministic=False)
    spaces = {
        "state": STATE,
        "internal_states": policy.internal_states_space,
        "reset": ITEM["bool"],
        "mask": MASK,
        "states": in_time(STATE, time_major),
        "actions": in_time(ITEM["int"], time_major),
        "resets": in_time(ITEM["bool"], time_major),
        "masks": in_time(MASK, time_major),
    }
    internal_states = policy.internal_states_space.zeros(BATCH)
    test = ComponentTest(Actor(policy), spaces, backend=backend)
    assert len([name for name in test.read_variable_values() if "lstm" in name]) == 3
    acted = []
    for t in range(STEPS):
        result = test.test("act", X[t], internal_states, RESETS[t], ALLOWED[t])
        internal_states = result["internal_states"]
        acted.append((result["action"], result["log_likelihood"]))
    actions, log_likelihood = (np.stack(items) for items in zip(*acted, strict=True))
    expected = log_likelihoods(test.read_variable_values(), X, actions, RESETS, ALLOWED)
    np.testing.assert_allclose(log_likelihood, expected, atol=1e-5)
    given = (ordered(array, time_major) for array in (X, actions, RESETS, ALLOWED))
    whole, states = test.test("judge", *given)
    np.testing.assert_allclose(whole, ordered(expected, time_major), atol=1e-5)
    np.testing.assert_allclose(states["policy"]["lstm_1"], internal_states["policy"]["lstm_1"], atol=1e-5)


class Learner(Component):
    """Acts with states, and learns by a policy gradient over sequences."""

    def __init__(self, policy):
        self.policy, self.optimizer = policy, Adam(0.02)
        super().__init__(policy, self.optimizer, scope="learner")

    @rlgraph_api
    def act(self, state, internal_states):
        result = self.policy.get_deterministic_action({"states": state, "internal_states": internal_states})
        return result["action"], result["internal_states"]

    @rlgraph_api
    def update(self, states, actions, resets):
        judged = self.policy.get_log_likelihood({"states": states, "resets": resets}, actions)
        loss = self._loss(judged["log_likelihood"])
        self.optimizer.step(self.policy.variables(), loss)
        return loss

    @graph_fn
    def _loss(self, ops, log_likelihood):
        return -ops.mean(log_likelihood)


@ORDERS
def test_it_learns_what_only_memory_can_know(time_major, trainer):
    """The right action is shown at the first step of an episode only."""
    policy = Policy([{"type": "lstm", "units": 12}], IntBox(2))
    spaces = {
        "state": STATE,
        "internal_states": policy.internal_states_space,
        "states": in_time(STATE, time_major),
        "actions": in_time(IntBox(2, add_batch_rank=True), time_major),
        "resets": in_time(ITEM["bool"], time_major),
    }
    zeros = policy.internal_states_space.zeros(16)
    test = ComponentTest(Learner(policy), spaces, backend=trainer)
    rng = np.random.default_rng(0)

    def episodes():
        shown = rng.integers(0, 2, size=(2, 16))
        states, resets = np.zeros((6, 16, SIZE), np.float32), np.zeros((6, 16), bool)
        states[0, :, 0], states[3, :, 0] = 2 * shown - 1
        resets[3] = True
        return states, np.repeat(shown, 3, axis=0), resets

    losses = [
        float(test.test("update", *(ordered(array, time_major) for array in episodes()))) for _ in range(150)
    ]
    assert losses[-1] < 0.1 < 0.5 < losses[0]
    states, actions, _ = episodes()
    internal_states = zeros
    for t in range(3):
        action, internal_states = test.test("act", states[t], internal_states)
        np.testing.assert_array_equal(action, actions[t])


@ORDERS
@pytest.mark.parametrize("kind", [QPolicy, DuelingPolicy])
def test_action_values_of_steps_and_sequences(kind, time_major, backend):
    space = Dict(
        grid=IntBox(2, shape=(2, 3)), jump=BoolBox(), move=IntBox([2, 3]), turn=IntBox(3, shape=(2,))
    )
    policy = kind(NETWORK, space)

    class Both(Component):
        @rlgraph_api
        def act(self, state, internal_states):
            return policy.get_q_values_and_action({"states": state, "internal_states": internal_states})

        @rlgraph_api
        def judge(self, states, resets):
            return policy.get_q_values_and_action({"states": states, "resets": resets})

        @rlgraph_api
        def plain(self, states):
            return policy.get_q_values(states), policy.get_deterministic_action(states)

    spaces = {
        "state": STATE,
        "internal_states": policy.internal_states_space,
        "states": in_time(STATE, time_major),
        "resets": in_time(ITEM["bool"], time_major),
    }
    internal_states = policy.internal_states_space.zeros(BATCH)
    test = ComponentTest(Both(policy, scope="both"), spaces, backend=backend)
    w = test.read_variable_values()
    judged = test.test("judge", ordered(X, time_major), ordered(RESETS, time_major))
    q_values = {path: ordered(q, time_major) for path, q in judged["q_values"].items()}
    values, _ = features(w, X, RESETS)
    if kind is QPolicy:
        np.testing.assert_allclose(q_values["jump"], dense(w, "policy/q-values-jump", values), atol=1e-5)
        turn = dense(w, "policy/q-values-turn", values).reshape(STEPS, BATCH, 2, 3)
    else:
        state_values = dense(w, "policy/value", values)
        advantages = dense(w, "policy/advantages-turn", values).reshape(STEPS, BATCH, 2, 3)
        grid = dense(w, "policy/advantages-grid", values).reshape(STEPS, BATCH, 2, 3, 2)
        grid = state_values[..., None, None] + grid - grid.mean(-1, keepdims=True)
        np.testing.assert_allclose(q_values["grid"], grid, atol=1e-5)
        turn = state_values[..., None] + advantages - advantages.mean(-1, keepdims=True)
    np.testing.assert_allclose(q_values["turn"], turn, atol=1e-5)
    assert q_values["move"].shape == (STEPS, BATCH, 2, 3) and (q_values["move"][..., 0, 2] == -np.inf).all()
    np.testing.assert_array_equal(ordered(judged["action"]["turn"], time_major), turn.argmax(-1))
    values, best = test.test("plain", ordered(X, time_major))
    for t in range(STEPS):
        acted = test.test("act", X[t], internal_states)
        internal_states = acted["internal_states"]
        turn = ordered(values["q_values"]["turn"], time_major)[t]
        np.testing.assert_allclose(acted["q_values"]["turn"], turn, atol=1e-5)
        np.testing.assert_array_equal(acted["action"]["turn"], ordered(best["action"]["turn"], time_major)[t])
    for result in (values, best):
        np.testing.assert_allclose(
            result["internal_states"]["policy"]["lstm_1"], internal_states["policy"]["lstm_1"], atol=1e-5
        )


def test_samples_begin_anew_where_an_episode_does(backend):
    """Of one step: states of episodes that end are not looked at."""
    policy = Policy(NETWORK, IntBox(ACTIONS))
    policy.switched_off_apis = frozenset({"get_log_likelihood", "get_log_likelihood_per_part"})
    spaces = {"states": STATE, "internal_states": policy.internal_states_space, "resets": ITEM["bool"]}
    test = ComponentTest(policy, {"observations": spaces}, backend=backend)
    before = RNG.normal(size=(2, BATCH, UNITS)).astype(np.float32)
    given = {
        "states": X[0],
        "internal_states": {"policy": {"lstm_1": tuple(before)}},
        "resets": np.ones(BATCH, bool),
    }
    _, behind = features(test.read_variable_values(), X[:1], path="network")
    for method in ("get_stochastic_action", "get_deterministic_action"):
        found = test.test((method, [given]))["internal_states"]["policy"]["lstm_1"]
        np.testing.assert_allclose(found, behind, atol=1e-5)


@ORDERS
def test_state_values(time_major, backend):
    spaces = {"observations": in_time(Dict(states=STATE, resets=ITEM["bool"]), time_major)}
    given = [{"states": ordered(X, time_major), "resets": ordered(RESETS, time_major)}]
    for component, path, methods in (
        (ValueFunction(NETWORK), "network", ["get_state_values"]),
        (
            SharedValueFunctionPolicy(NETWORK, IntBox(2)),
            "network",
            ["get_state_values", "get_state_values_adapter_outputs_and_parameters"],
        ),
    ):
        switched_off = {"get_log_likelihood", "get_log_likelihood_per_part"} & component.api_methods().keys()
        component.switched_off_apis = frozenset(switched_off)
        test = ComponentTest(component, spaces, backend=backend)
        w, key = test.read_variable_values(), component.scope.replace("-", "_")
        outputs, (c, h) = features(w, X, RESETS, path)
        expected = ordered(dense(w, "value-layer", outputs)[..., 0], time_major)
        for method in methods:
            result = test.test((method, given))
            np.testing.assert_allclose(result["state_values"], expected, atol=1e-5)
            np.testing.assert_allclose(result["internal_states"][key]["lstm_1"], (c, h), atol=1e-5)
        if isinstance(component, ValueFunction):
            test.test(
                ("value_output", given),
                expected_outputs=expected,
                decimals=5,
            )


def test_a_policy_without_memory_has_no_states(backend):
    policy = Policy(NETWORK[:1], IntBox(ACTIONS))
    assert policy.internal_states_space is None
    test = ComponentTest(policy, {"observations": STATE, "actions": ITEM["int"]}, backend=backend)
    assert set(test.test("get_action", X[0])) == {"action", "nn_outputs"}


class Parts(Component):
    """PPO with a ratio for each part."""

    def __init__(self, policy):
        self.policy, self.loss = policy, PPOLoss(ratio_of="part")
        super().__init__(policy, self.loss, scope="parts")

    @rlgraph_api
    def run(self, states, actions, advantages):
        judged = self.policy.get_log_likelihood_per_part(states, actions)["log_likelihood_per_part"]
        entropy = self.policy.get_entropy(states)["entropy"]
        together = self.policy.get_log_likelihood(states, actions)["log_likelihood"]
        losses = self.loss.loss_per_item(judged, judged, advantages, advantages, advantages, entropy)["loss"]
        return judged, together, losses


def test_log_likelihoods_of_each_part(backend):
    actions = Dict(jump=BoolBox(), move=IntBox(3), turn=FloatBox(shape=(2,)))
    spaces = {
        "states": STATE,
        "actions": actions.with_batch_rank(),
        "advantages": FloatBox(add_batch_rank=True),
    }
    test = ComponentTest(Parts(Policy(NETWORK[:1], actions)), spaces, backend=backend)
    drawn = actions.with_batch_rank().sample(BATCH, rng=np.random.default_rng(0))
    judged, together, losses = test.test("run", X[0], drawn, np.ones(BATCH, np.float32))
    assert set(judged) == {"jump", "move", "turn"} and losses.shape == (BATCH,)
    np.testing.assert_allclose(sum(judged.values()), together, atol=1e-5)
    w = test.read_variable_values()
    hidden = np.tanh(dense(w, "policy/network/dense-0", X[0]))
    logits = log_softmax(dense(w, "policy/action-adapter/move/action-layer", hidden), -1)
    np.testing.assert_allclose(judged["move"], logits[np.arange(BATCH), drawn["move"]], atol=1e-5)


@pytest.mark.parametrize(
    "space",
    [
        IntBox(2, 5),
        IntBox(-1, 2, shape=(2,)),
        IntBox([3, 5]),
        IntBox([1, 0], [3, 5]),
        IntBox([4, 7], [6, 9]),
        IntBox(250, 256, dtype="uint8"),
    ],
)
def test_integers_of_every_range(space, backend):
    policy = Policy(NETWORK[:1], space, deterministic=False)
    spaces = {"observations": STATE, "actions": space.with_batch_rank()}
    test = ComponentTest(policy, spaces, backend=backend)
    many = np.repeat(X[0, :1], 3000, axis=0)
    drawn = test.test(("get_action_and_log_likelihood", many))
    assert space.with_batch_rank().contains(drawn["action"])
    low, high = (np.broadcast_to(bound, space.shape) for bound in (space.low, space.high))
    every = np.stack(np.meshgrid(*map(np.arange, low.flat, high.flat), indexing="ij"), -1).reshape(
        -1, low.size
    )
    every = every.reshape(-1, *space.shape).astype(space.dtype)
    said = test.test(("get_log_likelihood", [np.repeat(X[0, :1], len(every), axis=0), every]))[
        "log_likelihood"
    ]
    np.testing.assert_allclose(np.exp(said).sum(), 1.0, rtol=1e-5)
    entropy = test.test(("get_entropy", X[0, :1]))["entropy"]
    np.testing.assert_allclose(entropy, -(np.exp(said) * said).sum(), rtol=1e-4)
    best = test.test(("get_deterministic_action", X[0, :1]))["action"]
    np.testing.assert_array_equal(best[0], every[said.argmax()])
    counts = np.array([(drawn["action"] == one).reshape(3000, -1).all(-1).sum() for one in every])
    np.testing.assert_allclose(counts / 3000, np.exp(said), atol=0.04)


def test_masks_of_elements_that_differ(backend):
    space = IntBox([2, 3])
    mask = BoolBox(shape=(2, 3), add_batch_rank=True)
    test = ComponentTest(
        Policy(NETWORK[:1], space, deterministic=False),
        {"observations": Dict(states=STATE, action_mask=mask), "actions": space.with_batch_rank()},
        backend=backend,
    )
    # The first element may do nothing that it has, so everything it has; the second one only the last.
    allowed = np.tile(np.array([[False, False, True], [False, False, True]]), (500, 1, 1))
    drawn = test.test(
        (
            "get_stochastic_action",
            {"observations": {"states": np.repeat(X[0, :1], 500, axis=0), "action_mask": allowed}},
        )
    )["action"]
    assert set(drawn[:, 0]) == {0, 1} and set(drawn[:, 1]) == {2}


def test_a_wrong_key_says_which_there_are():
    policy = Policy(NETWORK, IntBox(2))

    class Root(Component):
        @rlgraph_api
        def run(self, states, actions):
            return policy.get_log_likelihood(states, actions)["log_prob"]

    with pytest.raises(AssemblyError) as error:
        GraphExecutor(Root(policy, scope="root"), {"states": STATE, "actions": ITEM["int"]}, backend="numpy")
    assert str(error.value).startswith(
        "root.run: there is no part 'log_prob'; the parts are ['internal_states', 'log_likelihood', 'nn_outputs']"
    )
