"""Soft actor-critic against a second implementation in NumPy, which uses no component."""

import numpy as np
import pytest

from rlgraph.agents import SACAgent
from rlgraph.components.distributions import transformed_normal
from rlgraph.core import SpecError
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, Tuple

LAYERS = [{"type": "dense", "units": 3, "activation": "tanh"}]
STATES, CATEGORY = FloatBox(shape=(3,)), IntBox(4)
LOW, HIGH = -1.0, 2.0
MOVES = FloatBox(LOW, HIGH, shape=(2,))
ROWS, RATE, TAU, TARGET, NOISE = 4, 0.01, 0.1, 0.3, 0.7
#: Optimizer -> the components whose variables it steps.
STEPPED = {"actor": ("policy",), "critic": ("critic-0", "critic-1"), "alpha": ("entropy-temperature",)}


@pytest.fixture
def make_sac(execution):
    def make(backend, action_space, **options):
        options = {"network_spec": LAYERS, "optimizer_spec": {"learning_rate": RATE}, **options}
        spaces = (options.pop("state_space", STATES), action_space)
        execution_spec = execution(backend, dtype="float64")
        return SACAgent(*spaces, backend=backend, seed=3, execution_spec=execution_spec, **options)

    return make


def weights_of(agent):
    """The weights by name, without optimizers and memory."""
    parts = ("policy", "critic-0", "critic-1", "target-", "entropy-temperature")
    weights = {name.removeprefix("sac/"): value for name, value in agent.get_weights().items()}
    return {name: value for name, value in weights.items() if name.startswith(parts)}


def randomised(agent):
    """The weights after each has got its own random value, so that targets differ from critics."""
    rng = np.random.default_rng(1)
    weights = {name: rng.normal(scale=0.5, size=x.shape) for name, x in weights_of(agent).items()}
    agent.set_weights({f"sac/{name}": value for name, value in weights.items()})
    return weights


def make_records(action_space):
    rng = np.random.default_rng(2)
    return {
        "states": rng.normal(size=(ROWS, 3)),
        "actions": action_space.with_batch_rank().sample(ROWS, rng=rng),
        "rewards": rng.normal(size=ROWS),
        "terminals": np.arange(ROWS) % 3 == 0,
        "next_states": rng.normal(size=(ROWS, 3)),
        "discounts": rng.uniform(0.5, 1.0, ROWS),
    }


class Reference:
    """The losses of both papers, row by row."""

    def __init__(self, records, item_weights, discrete, scaled):
        self.records, self.item_weights, self.discrete = records, item_weights, discrete
        #: The middle and the half of the range of actions that critics see as -1..1.
        self.middle, self.half = ((LOW + HIGH) / 2, (HIGH - LOW) / 2) if scaled else (0.0, 1.0)

    @staticmethod
    def network(weights, scope, head, row):
        layer = f"{scope}/network/dense-0"
        hidden = np.tanh(row @ weights[f"{layer}/weights"] + weights[f"{layer}/biases"])
        return hidden @ weights[f"{scope}/{head}/weights"] + weights[f"{scope}/{head}/biases"]

    def drawn(self, weights, state):
        """An action with the noise 0.7 and its log-probability; of categories None and all."""
        outputs = self.network(weights, "policy", "action-adapter/action-layer", state)
        if self.discrete:
            return None, outputs - np.log(np.exp(outputs).sum())
        mean, stddev = outputs[:2], np.exp(outputs[2:])
        x = mean + stddev * NOISE
        density = np.exp(-((x - mean) ** 2) / (2 * stddev**2)) / (stddev * np.sqrt(2 * np.pi))
        slope = (1 - np.tanh(x) ** 2) * (HIGH - LOW) / 2 / self.half
        return LOW + (np.tanh(x) + 1) * (HIGH - LOW) / 2, np.log(density / slope).sum()

    def values(self, weights, scopes, state, action):
        """Of both critics: the value of the action; of categories those of all."""
        if self.discrete:
            return [self.network(weights, scope, "q-values", state) for scope in scopes]
        row = np.concatenate([state, (action - self.middle) / self.half])
        return [self.network(weights, scope, "value-layer", row)[0] for scope in scopes]

    def soft_value(self, weights, scopes, state):
        """``E(min Q - alpha log pi)``: eq. 3, and eq. 10 of Christodoulou."""
        action, log_probs = self.drawn(weights, state)
        alpha = np.exp(weights["entropy-temperature/log-alpha"])
        soft = np.minimum(*self.values(weights, scopes, state, action)) - alpha * log_probs
        return (np.exp(log_probs) * soft).sum() if self.discrete else soft

    def rows(self, weights):
        """One dict of numbers per record."""
        given, alpha = self.records, np.exp(weights["entropy-temperature/log-alpha"])
        for i in range(ROWS):
            next_value = self.soft_value(
                weights, ["target-critic-0/critic-0", "target-critic-1/critic-1"], given["next_states"][i]
            )
            target = given["rewards"][i]
            if not given["terminals"][i]:
                target += given["discounts"][i] * next_value
            taken = given["actions"][i]
            values = self.values(weights, STEPPED["critic"], given["states"][i], taken)
            errors = [target - (value[taken] if self.discrete else value) for value in values]
            _, log_probs = self.drawn(weights, given["states"][i])
            entropy = -(np.exp(log_probs) * log_probs).sum() if self.discrete else -log_probs
            yield {
                "critic_loss": (errors[0] ** 2 + errors[1] ** 2) / 2,
                "actor_loss": -self.soft_value(weights, STEPPED["critic"], given["states"][i]),
                "alpha_loss": alpha * (entropy - TARGET),
                "entropy": entropy,
                "priorities": np.sqrt((errors[0] ** 2 + errors[1] ** 2) / 2),
            }

    def numbers(self, weights):
        """Weighted means, and the priorities ``[B]``."""
        rows = list(self.rows(weights))
        columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
        means = {name: np.mean(self.item_weights * column) for name, column in columns.items()}
        return {**means, "entropy": columns["entropy"].mean(), "priorities": columns["priorities"]}

    def gradient(self, weights, name, loss, step=1e-6):
        """Central differences of a loss by one variable."""
        gradient = np.zeros_like(weights[name])
        for place in np.ndindex(gradient.shape):
            ends = []
            for sign in (1, -1):
                changed = weights[name].copy()
                changed[place] += sign * step
                ends.append(self.numbers({**weights, name: changed})[loss])
            gradient[place] = (ends[0] - ends[1]) / (2 * step)
        return gradient


@pytest.mark.parametrize(
    ("action_space", "scaled"),
    [(MOVES, True), (MOVES, False), (CATEGORY, True)],
    ids=["floats", "floats as they are", "category"],
)
def test_one_update_by_hand(action_space, scaled, backend, make_sac, monkeypatch):
    monkeypatch.setattr(transformed_normal, "_normal", lambda ops, mean, stddev: mean + stddev * NOISE)
    memory = {"type": "prioritized_replay", "capacity": 10}
    options = {"memory_spec": memory, "target_entropy": TARGET, "tau": TAU, "n_step": 2}
    agent = make_sac(backend, action_space, scale_actions=scaled, **options)
    before, records = randomised(agent), make_records(action_space)
    item_weights = np.linspace(0.2, 1.0, ROWS)
    reference = Reference(records, item_weights, action_space is CATEGORY, scaled)
    numbers = agent.learner.executor.execute("update", records, importance_weights=item_weights)
    expected = reference.numbers(before)
    expected |= {"alpha": np.exp(before["entropy-temperature/log-alpha"]), "loss": expected["critic_loss"]}
    assert numbers.keys() == expected.keys()
    for name, number in numbers.items():
        np.testing.assert_allclose(number, expected[name], rtol=1e-9, err_msg=name)

    # Each optimizer steps its own variables, down the gradient of its own loss: Adam's first moment is a tenth of it.
    after, everything = weights_of(agent), agent.get_weights()
    for part, scopes in STEPPED.items():
        head = f"sac/{part}-optimizer/first_moments/sac/"
        moments = {name.removeprefix(head): x for name, x in everything.items() if name.startswith(head)}
        assert set(moments) == {name for name in before if name.startswith(scopes)}
        for name, moment in moments.items():
            gradient = reference.gradient(before, name, f"{part}_loss")
            np.testing.assert_allclose(moment * 10, gradient, rtol=1e-4, atol=1e-8, err_msg=name)
            moving = np.abs(gradient) > 1e-5
            assert moving.any()
            np.testing.assert_allclose(
                (after[name] - before[name])[moving], -RATE * np.sign(gradient[moving]), rtol=1e-2
            )
    targets = [name for name in before if name.startswith("target-")]
    assert targets
    for name in targets:
        followed = after[name.partition("/")[2]]
        np.testing.assert_allclose(after[name], before[name] + TAU * (followed - before[name]), rtol=1e-9)


def test_the_start(backend, make_sac):
    agent = make_sac(backend, MOVES, initial_alpha=0.2)
    weights, states = weights_of(agent), np.zeros((4, 3))
    explored, greedy = (agent.get_actions(states, use_exploration) for use_exploration in (True, False))
    assert np.ptp(explored, axis=0).min() > 0.0
    np.testing.assert_array_equal(greedy, np.full((4, 2), (LOW + HIGH) / 2))
    np.testing.assert_allclose(weights["entropy-temperature/log-alpha"], np.log(0.2))
    for i in range(2):
        name = f"critic-{i}/network/dense-0/weights"
        np.testing.assert_array_equal(weights[f"target-critic-{i}/{name}"], weights[name])
    assert not np.allclose(weights["critic-0/value-layer/weights"], weights["critic-1/value-layer/weights"])


@pytest.mark.parametrize(
    "action_space",
    [
        FloatBox(shape=(2,)),
        FloatBox(0.0, None),
        IntBox(3, shape=(2,)),
        BoolBox(),
        Dict(move=FloatBox(-1.0, 1.0), jump=IntBox(2)),
    ],
)
def test_actions_that_do_not_fit(action_space, make_sac):
    with pytest.raises(
        SpecError, match=r"action_space: expected floats with both bounds.* PPO takes other actions"
    ):
        make_sac("numpy", action_space)


@pytest.mark.parametrize(
    ("state_space", "action_space"),
    [
        (STATES, Dict(a=FloatBox(-1.0, 1.0), b=Tuple(FloatBox(0.0, 2.0, shape=(2,))))),
        (IntBox(256, shape=(36, 36, 1), dtype="uint8"), MOVES),
        (Dict(a=FloatBox(shape=(2,)), b=IntBox(3)), CATEGORY),
    ],
    ids=["container action", "picture", "container state"],
)
def test_states_and_actions_of_other_kinds(state_space, action_space, one_backend, make_sac):
    updates = {"batch_size": 4}
    agent = make_sac(
        one_backend, action_space, state_space=state_space, network_spec=None, update_spec=updates
    )
    states = state_space.with_batch_rank().sample(3, rng=np.random.default_rng(0))
    actions = agent.get_actions(states)
    agent.observe(states, actions, np.ones(3), np.zeros(3, bool), states, batched=True)
    assert np.isfinite(list(agent.update().values())).all()


def test_learning(backend, make_sac):
    """The best action equals the state."""
    agent = make_sac(
        backend,
        FloatBox(-1.0, 1.0),
        state_space=FloatBox(-1.0, 1.0, shape=(1,)),
        network_spec=[{"type": "dense", "units": 32, "activation": "relu"}],
        update_spec={"batch_size": 128},
        initial_alpha=0.1,
    )
    rng = np.random.default_rng(0)
    seen = np.linspace(-1.0, 1.0, 64)[:, np.newaxis]

    def regret(states, use_exploration):
        actions = agent.get_actions(states, use_exploration)
        return actions, (actions - states[:, 0]) ** 2

    before = regret(seen, False)[1].mean()
    for _ in range(150):
        states = rng.uniform(-1.0, 1.0, (8, 1))
        actions, regrets = regret(states, True)
        agent.observe(states, actions, -regrets, np.ones(8, bool), batched=True)
        agent.update()
    assert before > 0.2
    assert regret(seen, False)[1].mean() < 0.03
