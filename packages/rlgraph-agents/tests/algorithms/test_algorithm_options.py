"""Options of PPO, A2C and SAC: each does what it says, against expectations in NumPy; none is ignored."""

import inspect

import numpy as np
import pytest

from rlgraph.agents import A2CAgent, PPOAgent, SACAgent
from rlgraph.algorithms.a2c import A2C
from rlgraph.algorithms.ppo import PPO
from rlgraph.algorithms.sac import SAC
from rlgraph.components import Adam, IterativeOptimization, Optimizer, RMSProp
from rlgraph.core import SpecError, registry
from rlgraph.core.specs.parameters import parameters_of
from rlgraph.spaces import FloatBox, IntBox

STATES, MOVES = FloatBox(shape=(3,)), FloatBox(-1.0, 1.0, shape=(2,))
#: Agent -> its algorithm, and the type of its optimizers without a spec.
KINDS = {PPOAgent: (PPO, Adam), A2CAgent: (A2C, RMSProp), SACAgent: (SAC, Adam)}


def optimizers_of(algorithm):
    return [part for part in algorithm.sub_components.values() if isinstance(part, Optimizer)]


# Optimizers.


@pytest.mark.parametrize("kind", KINDS)
def test_every_registered_optimizer(kind):
    algorithm, default = KINDS[kind]
    names = ("adadelta", "adagrad", "adam", "adamw", "nadam", "rmsprop", "sgd")
    expected = {None: default, **{name: registry("rlgraph.components").load(name) for name in names}}
    for name, wanted in expected.items():
        spec = {"learning_rate": 0.25, **({} if name is None else {"type": name})}
        found = optimizers_of(algorithm(STATES, MOVES, optimizer_spec=spec))
        assert {type(optimizer) for optimizer in found} == {wanted}
        assert {optimizer.learning_rate.value(0.0) for optimizer in found} == {0.25}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"type": "rmsprob"}, r"^agent.optimizer_spec.type: .*'rmsprob'.* Did you mean 'rmsprop'"),
        ({"type": "dense"}, r"^agent.optimizer_spec.type: 'dense' is .*Dense, expected a Optimizer"),
        ({"type": "sgd", "beta1": 0.5}, r"^agent.optimizer_spec.beta1: SGD has no such key"),
        ({"lr": 0.5}, r"^agent.optimizer_spec.lr: .* has no such key. .*learning_rate"),
    ],
)
def test_wrong_optimizers(kind, spec, message):
    with pytest.raises(SpecError, match=message):
        kind.from_spec({"type": kind, "optimizer_spec": spec}, state_space=STATES, action_space=MOVES)


@pytest.mark.parametrize("limit", [float("nan"), -1.0, 0.0])
def test_wrong_kl_limits(limit):
    """NaN would stop no epoch, and 0 each one after its first minibatch."""
    with pytest.raises(SpecError, match=r"kl_limit: expected .* > 0"):
        PPOAgent.from_spec({"type": "ppo", "kl_limit": limit}, state_space=STATES, action_space=MOVES)


# PPO and A2C on a rollout of 4 steps and 2 environments.

T, N, CATEGORIES = 4, 2, 3
LAYERS = [{"type": "dense", "units": 4, "activation": "tanh"}]
#: Few numbers move far enough that every limit is reached.
RATE, PROGRESS = 0.5, 0.25
BASE = {
    "network_spec": LAYERS,
    "optimizer_spec": {"type": "sgd", "learning_rate": RATE},
    "weight_entropy": 0.1,
}
PPO_BASE = {**BASE, "num_epochs": 3, "num_minibatches": 1}


def make_rollout():
    rng = np.random.default_rng(3)
    ends = np.zeros((T, N), bool)
    ends[[1, 2], [0, 1]] = True
    terminals = ends.copy()
    terminals[2, 1] = False  # truncated
    weights = np.ones((T, N))
    weights[3, 0] = 0.0
    states, reached = rng.normal(size=(T + 1, N, 3)), rng.normal(size=(T, N, 3))
    return {
        "states": states[:-1],
        "next_states": np.where(ends[..., np.newaxis], reached, states[1:]),
        "actions": rng.integers(0, CATEGORIES, (T, N)),
        "rewards": rng.normal(scale=2.0, size=(T, N)),
        "terminals": terminals,
        "ends": ends | (weights == 0.0),
        "weights": weights,
    }


class Reference:
    """One update, step by step in NumPy, with gradients by central differences."""

    def __init__(self, kind, rollout, options):
        parameters = parameters_of(kind.algorithm_class).named
        self.is_ppo = kind is PPOAgent
        self.options = {name: parameter.default for name, parameter in parameters.items()} | options
        self.rollout = rollout

    def option(self, name):
        """The value of an option at `PROGRESS`; a schedule is linear from its first to its second number."""
        value = self.options[name]
        return value[0] + PROGRESS * (value[1] - value[0]) if isinstance(value, list) else value

    @staticmethod
    def network(weights, scope, head, x, activation=np.tanh):
        layer = f"{scope}/network/dense-0"
        hidden = activation(x @ weights[f"{layer}/weights"] + weights[f"{layer}/biases"])
        return hidden @ weights[f"{scope}/{head}/weights"] + weights[f"{scope}/{head}/biases"]

    def values(self, weights, states):
        spec = self.options["value_network_spec"] or LAYERS
        if spec == "shared":
            return self.network(weights, "policy", "value-layer", states)[..., 0]
        activation = np.tanh if spec[0]["activation"] == "tanh" else lambda x: np.maximum(x, 0.0)
        return self.network(weights, "value-function", "value-layer", states, activation)[..., 0]

    def log_probs(self, weights, states):
        logits = self.network(weights, "policy", "action-adapter/action-layer", states)
        return logits - np.log(np.exp(logits).sum(-1, keepdims=True))

    def advantages(self, values, next_values):
        """Schulman et al. (2016), eq. 16, as a sum over the steps that follow within the episode."""
        given, discount, decay = self.rollout, self.options["discount"], self.options["gae_lambda"]
        errors = given["rewards"] + discount * np.where(given["terminals"], 0.0, next_values) - values
        found = np.zeros((T, N))
        for t, i in np.ndindex(T, N):
            for k in range(t, T):
                found[t, i] += (discount * decay) ** (k - t) * errors[k, i]
                if given["ends"][k, i]:
                    break
        return found

    def standardized(self, advantages, weights):
        counted = advantages[weights > 0.0]
        return (advantages - counted.mean()) / (counted.std() + 1e-8)

    def losses(self, weights, rows, old):
        """The loss of a minibatch, and its divergence."""
        given = {name: x.reshape(T * N, *x.shape[2:])[rows] for name, x in {**self.rollout, **old}.items()}
        log_probs, counts = self.log_probs(weights, given["states"]), given["weights"] > 0.0
        taken = log_probs[np.arange(len(rows)), given["actions"]]
        values, entropy = self.values(weights, given["states"]), -(np.exp(log_probs) * log_probs).sum(-1)
        targets = given["old_values"] + given["advantages"]
        errors = (values - targets) ** 2
        if not self.is_ppo:
            policy_loss, divergence = -taken * given["advantages"], 0.0
        else:
            advantages = given["scaled"]
            if self.options["standardize_advantages"] == "minibatch":
                advantages = self.standardized(advantages, given["weights"])
            ratios, clip = np.exp(taken - given["old"]), self.option("clip_ratio")
            policy_loss = -np.minimum(ratios * advantages, np.clip(ratios, 1 - clip, 1 + clip) * advantages)
            divergence = (ratios - 1 - np.log(ratios))[counts].mean()
            if (limit := self.option("value_clipping")) is not None:
                near = given["old_values"] + np.clip(values - given["old_values"], -limit, limit)
                errors = np.maximum(errors, (near - targets) ** 2)
        loss = policy_loss + self.option("weight_vf") * errors - self.option("weight_entropy") * entropy
        return loss[counts].mean(), divergence

    def gradient(self, weights, name, rows, old, step=1e-6):
        gradient = np.zeros_like(weights[name])
        for place in np.ndindex(gradient.shape):
            ends = []
            for sign in (1, -1):
                changed = weights[name].copy()
                changed[place] += sign * step
                ends.append(self.losses({**weights, name: changed}, rows, old)[0])
            gradient[place] = (ends[0] - ends[1]) / (2 * step)
        return gradient

    def updated(self, weights):
        """The weights after the update, and the number of its steps."""
        given, options = self.rollout, self.options
        values = self.values(weights, given["states"])
        advantages = self.advantages(values, self.values(weights, given["next_states"]))
        log_probs = self.log_probs(weights, given["states"])
        old = {
            "old": np.take_along_axis(log_probs, given["actions"][..., np.newaxis], -1)[..., 0],
            "old_values": values,
            "advantages": advantages,
            "scaled": self.standardized(advantages, given["weights"])
            if options.get("standardize_advantages") == "batch"
            else advantages,
        }
        rate = options["optimizer_spec"]["learning_rate"]
        rate = rate[0] + PROGRESS * (rate[1] - rate[0]) if isinstance(rate, list) else rate
        parts = np.arange(T * N).reshape(options.get("num_minibatches", 1), -1)
        number = 0
        for rows in [part for _ in range(options.get("num_epochs", 1)) for part in parts]:
            divergence = self.losses(weights, rows, old)[1]
            gradients = {name: self.gradient(weights, name, rows, old) for name in weights}
            weights = {name: x - rate * gradients[name] for name, x in weights.items()}
            number += 1
            if options.get("kl_limit") is not None and divergence > options["kl_limit"]:
                break
        return weights, number


class InOrder:
    """Random numbers that leave records in their order."""

    permutation = staticmethod(np.arange)


@pytest.fixture
def update(execution, monkeypatch):
    """The weights of policy and value function before and after one update, and its results."""
    monkeypatch.setattr(
        IterativeOptimization, "rng", property(lambda _: InOrder, lambda *_: None), raising=False
    )

    def run(kind, options, backend):
        execution_spec = execution(backend, dtype="float64")
        agent = kind(
            STATES, IntBox(CATEGORIES), backend=backend, execution_spec=execution_spec, seed=3, **options
        )
        head = f"{kind.algorithm_class.__name__.lower()}/"
        names = [name for name in agent.get_weights() if name.startswith((f"{head}policy", f"{head}value"))]
        rng = np.random.default_rng(5)
        before = {name: rng.normal(scale=0.7, size=agent.get_weights()[name].shape) for name in names}
        agent.set_weights(before)
        times = {"progress": np.array(PROGRESS)}
        results = agent.learner.executor.execute("update", make_rollout(), **times)
        weights = agent.get_weights()
        after = {name.removeprefix(head): weights[name] for name in names}
        return {name.removeprefix(head): x for name, x in before.items()}, after, results

    return run


RELU = [{"type": "dense", "units": 3, "activation": "relu"}]
#: Every option, with a value that changes the update, in the presence of others that it needs.
OPTIONS = {
    A2CAgent: {
        "discount": {"discount": 0.5},
        "gae_lambda": {"gae_lambda": 0.5},
        "weight_entropy": {"weight_entropy": [0.0, 2.0]},
        "weight_vf": {"weight_vf": [2.0, 0.0]},
        "network_spec": {"network_spec": [{**LAYERS[0], "units": 5}]},
        "value_network_spec": {"value_network_spec": RELU},
        "optimizer_spec": {"optimizer_spec": {"type": "sgd", "learning_rate": [0.1, 0.0]}},
    },
    PPOAgent: {
        "clip_ratio": {"clip_ratio": [0.02, 0.0]},
        "value_clipping": {"value_clipping": [0.1, 0.0]},
        "num_epochs": {"num_epochs": 2},
        "num_minibatches": {"num_minibatches": 2},
        "kl_limit": {"kl_limit": 1e-3},
        "standardize_advantages": {"standardize_advantages": False},
    },
}
OPTIONS[PPOAgent] = {**OPTIONS[A2CAgent], **OPTIONS[PPOAgent]}
CASES = [
    *((kind, {}) for kind in OPTIONS),
    *((kind, changes) for kind, table in OPTIONS.items() for changes in table.values()),
    *((kind, {"value_network_spec": "shared"}) for kind in OPTIONS),
    (PPOAgent, {"standardize_advantages": "batch"}),
    (PPOAgent, {"standardize_advantages": "batch", "num_minibatches": 2}),
]


def name_of(value):
    return value.__name__ if isinstance(value, type) else "-".join(map(str, value.values())) or "base"


@pytest.mark.parametrize(("kind", "changes"), CASES, ids=name_of)
def test_one_update_by_hand(kind, changes, update, one_backend):
    options = {**(PPO_BASE if kind is PPOAgent else BASE), **changes}
    before, after, results = update(kind, options, one_backend)
    expected, number = Reference(kind, make_rollout(), options).updated(before)
    for name, value in after.items():
        np.testing.assert_allclose(value, expected[name], rtol=1e-5, atol=1e-7, err_msg=name)
    assert results.get("num_updates", 1) == number


@pytest.mark.parametrize("kind", OPTIONS)
def test_no_option_is_ignored(kind, update, one_backend):
    options = parameters_of(kind.algorithm_class).named
    elsewhere = {"state_space", "action_space", "intrinsic_reward"}
    assert set(OPTIONS[kind]) == set(options) - elsewhere
    base = PPO_BASE if kind is PPOAgent else BASE
    _, plain, _ = update(kind, base, one_backend)
    for name, changes in OPTIONS[kind].items():
        _, changed, _ = update(kind, {**base, **changes}, one_backend)
        assert any(
            x.shape != plain[key].shape or not np.allclose(x, plain[key]) for key, x in changed.items()
        ), name


@pytest.mark.parametrize("kind", OPTIONS)
@pytest.mark.parametrize("reward", ["rnd", "icm"])
def test_rewards_for_exploration_reach_the_policy_alone(kind, reward, update, one_backend):
    base = PPO_BASE if kind is PPOAgent else BASE
    _, plain, _ = update(kind, base, one_backend)
    _, ignored, results = update(
        kind, {**base, "intrinsic_reward": {"type": reward, "weight": 0.0}}, one_backend
    )
    _, explored, _ = update(kind, {**base, "intrinsic_reward": reward}, one_backend)
    for name, value in plain.items():
        np.testing.assert_allclose(ignored[name], value, rtol=1e-9, err_msg=name)
        assert np.allclose(explored[name], value) == name.startswith("value-function")
    assert {"intrinsic_reward", "predictor_loss", "intrinsic_value_loss"} <= results.keys()


def test_optimizers_of_rewards_for_exploration_are_those_of_the_agent():
    for spec in (None, {"learning_rate": 0.25}, RMSProp(learning_rate=0.25)):
        intrinsic = A2C(STATES, MOVES, optimizer_spec=spec, intrinsic_reward="rnd").intrinsic
        for optimizer in (intrinsic.optimizer, intrinsic.module.optimizer):
            assert type(optimizer) is RMSProp
            assert optimizer.learning_rate.value(0.0) == (0.01 if spec is None else 0.25)


# An algorithm's defaults of its experience's options.


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, (1, 256, 100_000)),
        ({"update_spec": {"batch_size": 4}}, (1, 4, 100_000)),
        ({"memory_spec": {"type": "prioritized_replay", "capacity": 7}}, (1, 256, 7)),
        ({"memory_spec": {"type": "prioritized_replay"}, "update_spec": None}, (1, 256, 100_000)),
    ],
)
def test_defaults_of_sac(options, expected):
    experience = SAC.experience.make(options).suited_to(False)
    updates = experience.updates
    assert (updates.update_interval, updates.batch_size, experience.memory.capacity) == expected
    parameters = inspect.signature(SACAgent.__init__).parameters
    assert parameters["update_spec"].default == {"update_interval": 1, "batch_size": 256}
    assert "default of SAC: {'capacity': 100000}" in SACAgent.__doc__
