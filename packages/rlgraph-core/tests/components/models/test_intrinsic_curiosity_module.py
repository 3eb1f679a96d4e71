"""Curiosity against the formulas of the paper in NumPy, and on transitions that are seen and that are not."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import log_softmax

from rlgraph.components import SGD, IntrinsicCuriosityModule
from rlgraph.core import Component, SpecError, graph_fn, rlgraph_api
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, SpaceError
from rlgraph.testing import ComponentTest

STATES = FloatBox(shape=(3,), add_batch_rank=True)
ENCODER = [{"type": "dense", "units": 6, "activation": "tanh"}]
SMALL = {"encoder_spec": ENCODER, "num_features": 4, "inverse_spec": ENCODER, "forward_spec": ENCODER}
RNG = np.random.default_rng(0)
X, NEXT = (RNG.normal(size=(5, 3)).astype(np.float32) for _ in range(2))


def built(action_space, backend, states=STATES, actions=None, **options):
    actions = action_space.with_batch_rank() if actions is None else actions
    spaces = {"states": states, "actions": actions, "next_states": states}
    component = IntrinsicCuriosityModule(action_space=action_space, **{**SMALL, **options})
    return ComponentTest(component, spaces, backend=backend, seed=1)


class ByHand:
    """The three networks on given weights."""

    def __init__(self, test):
        self.weights = test.read_variable_values()

    def dense(self, scope, x):
        return x @ self.weights[f"networks/{scope}/weights"] + self.weights[f"networks/{scope}/biases"]

    def features(self, states):
        return self.dense("features", np.tanh(self.dense("encoder/dense-0", states)))

    def inverse(self, states, next_states):
        both = np.concatenate([self.features(states), self.features(next_states)], axis=-1)
        hidden = np.tanh(self.dense("inverse/network/dense-0", both))
        return self.dense("inverse/label-adapter/action-layer", hidden)

    def forward_error(self, states, actions, next_states):
        known = np.concatenate([self.features(states), actions], axis=-1)
        predicted = self.dense("prediction", np.tanh(self.dense("forward/dense-0", known)))
        return 0.5 * np.square(predicted - self.features(next_states)).sum(-1)


def test_categorical_actions(backend):
    actions = np.array([0, 1, 3, 3, 2])
    test = built(IntBox(4), backend, beta=0.3, eta=0.5)
    by_hand = ByHand(test)
    test.test(("get_features", [X]), expected_outputs=by_hand.features(X), decimals=5)
    logits = by_hand.inverse(X, NEXT)
    test.test(("predict_actions", [X, NEXT]), expected_outputs=logits.argmax(-1))
    forward = by_hand.forward_error(X, np.eye(4)[actions], NEXT)
    test.test(("get_intrinsic_rewards", [X, actions, NEXT]), expected_outputs=0.5 * forward, decimals=5)
    inverse = -log_softmax(logits, axis=-1)[np.arange(5), actions].mean()
    expected = {
        "loss": 0.7 * inverse + 0.3 * forward.mean(),
        "inverse_loss": inverse,
        "forward_loss": forward.mean(),
    }
    test.test(("get_loss", [X, actions, NEXT]), expected_outputs=expected, decimals=5)


def test_float_actions_on_their_bounds(backend):
    """Bounded actions get normal distributions: what lies on a bound is as likely as what lies beside it."""
    space = FloatBox(-1.0, 1.0, shape=(2,))
    actions = np.array([[-1, 1], [1, 1], [0, 0.5], [0.1, -0.2], [0, 0]], np.float32)
    test = built(space, backend)
    by_hand = ByHand(test)
    mean, log_stddev = np.split(by_hand.inverse(X, NEXT), 2, axis=-1)
    test.test(("predict_actions", [X, NEXT]), expected_outputs=mean, decimals=5)
    inverse = -stats.norm.logpdf(actions, mean, np.exp(log_stddev)).sum(-1).mean()
    forward = by_hand.forward_error(X, actions, NEXT).mean()
    expected = {
        "loss": 0.8 * inverse + 0.2 * forward,
        "inverse_loss": inverse,
        "forward_loss": forward,
    }
    test.test(("get_loss", [X, actions, NEXT]), expected_outputs=expected, decimals=4)


def test_actions_of_several_parts(backend):
    """They go into the forward model by name: one bool, two of three categories one-hot each, one number."""
    space = Dict(jump=BoolBox(), move=IntBox(3, shape=(2,)), turn=FloatBox())
    actions = {
        "jump": np.array([True, False, True, False, True]),
        "move": np.array([[0, 1], [2, 2], [1, 0], [0, 0], [2, 1]]),
        "turn": np.array([0.5, -0.5, 0.0, 2.0, 1.0], np.float32),
    }
    test = built(space, backend, eta=2.0)
    numbers = [actions["jump"][:, None], np.eye(3)[actions["move"]].reshape(5, 6), actions["turn"][:, None]]
    expected = 2.0 * ByHand(test).forward_error(X, np.concatenate(numbers, axis=-1), NEXT)
    test.test(("get_intrinsic_rewards", [X, actions, NEXT]), expected_outputs=expected, decimals=4)
    assert set(test.test(("predict_actions", [X, NEXT]))) == {"jump", "move", "turn"}


def test_both_losses_shape_the_features(trainer):
    """Of plain gradient descent the step is the sum of those of either loss alone, (1 - beta) and beta of them."""
    actions = np.array([0, 1, 3, 3, 2])
    steps = {}
    for beta in (0.0, 0.25, 1.0):
        test = built(IntBox(4), trainer, beta=beta, optimizer_spec={"type": "sgd", "learning_rate": 0.1})
        before = test.read_variable_values()
        expected = test.test(("get_loss", [X, actions, NEXT]))
        expected["intrinsic_rewards"] = test.test(("get_intrinsic_rewards", [X, actions, NEXT]))
        test.test(("update", [X, actions, NEXT]), expected_outputs=expected)
        after = test.read_variable_values()
        steps[beta] = {name: after[name] - before[name] for name in before}
    encoder = "networks/encoder/dense-0/weights"
    assert np.abs(steps[0.0][encoder]).max() > 1e-4 and np.abs(steps[1.0][encoder]).max() > 1e-4
    assert not steps[0.0]["networks/prediction/weights"].any()
    for name, step in steps[0.25].items():
        expected = 0.75 * steps[0.0][name] + 0.25 * steps[1.0][name]
        np.testing.assert_allclose(step, expected, atol=1e-6, err_msg=name)


def test_the_learning_rate_follows_its_schedule(trainer):
    """Of plain gradient descent: half of the step in the middle, none at the end."""
    spaces = {"states": STATES, "actions": IntBox(4, add_batch_rank=True), "next_states": STATES}
    steps = []
    for time in (0.0, 0.5, 1.0):
        model = IntrinsicCuriosityModule(action_space=IntBox(4), **SMALL, optimizer_spec=SGD([0.1, 0.0]))
        test = ComponentTest(model, {**spaces, "progress": float}, backend=trainer, seed=1)
        before = test.read_variable_values()
        test.test(("update", [X, np.array([0, 1, 3, 3, 2]), NEXT, time]))
        after = test.read_variable_values()
        steps.append({name: after[name] - value for name, value in before.items()})
    for name, step in steps[0].items():
        np.testing.assert_allclose(steps[1][name], 0.5 * step, atol=1e-6, err_msg=name)
        assert not steps[2][name].any()
    assert any(step.any() for step in steps[0].values())


class Ascending(Component):
    """Goes up the features and a share of the rewards."""

    def __init__(self, share):
        self.model = IntrinsicCuriosityModule(action_space=IntBox(4), **SMALL, eta=10.0)
        self.optimizer, self.share = SGD(0.1), share
        super().__init__(self.model, self.optimizer, scope="ascending")

    @rlgraph_api
    def update(self, states, actions, next_states):
        rewards = self.model.get_intrinsic_rewards(states, actions, next_states)
        loss = self._loss(self.model.get_features(states), rewards)
        return self.optimizer.step(self.model.networks.encoder.variables(), loss)

    @graph_fn
    def _loss(self, ops, features, rewards):
        return -ops.mean(features) - self.share * ops.mean(rewards)


@pytest.mark.filterwarnings("ignore::rlgraph.core.BuildWarning")
def test_rewards_have_no_derivatives(trainer):
    spaces = {"states": STATES, "actions": IntBox(4, add_batch_rank=True), "next_states": STATES}
    learned = []
    for share in (0.0, 1.0):
        test = ComponentTest(Ascending(share), spaces, backend=trainer, seed=1)
        before = test.read_variable_values()
        test.test(("update", [X, np.array([0, 1, 3, 3, 2]), NEXT]))
        learned.append(test.read_variable_values())
        assert any((learned[-1][name] != value).any() for name, value in before.items())
    for name, value in learned[0].items():
        np.testing.assert_allclose(learned[1][name], value, atol=1e-7, err_msg=name)


CELLS = 12


def walk(rng, cells, size):
    """Steps to the left or right between neighbouring cells of a corridor, one-hot; half of it is a noisy screen."""
    places, actions = rng.integers(cells[0] + 1, cells[1] - 1, size), rng.integers(2, size=size)

    def seen(where):
        return np.concatenate([np.eye(CELLS)[where], rng.uniform(size=(size, 4))], axis=-1).astype(np.float32)

    return seen(places), actions, seen(places + 2 * actions - 1)


def test_curiosity_goes_where_it_has_not_been(trainer):
    """Transitions of the left half are learned: rewards fall there and not on the right, actions are recognized."""
    test = built(
        IntBox(2),
        trainer,
        states=FloatBox(shape=(CELLS + 4,), add_batch_rank=True),
        eta=1.0,
        num_features=8,
        inverse_spec=[{"type": "dense", "units": 32, "activation": "relu"}],
        forward_spec=[{"type": "dense", "units": 32, "activation": "relu"}],
        encoder_spec=[{"type": "dense", "units": 16, "activation": "elu"}],
        optimizer_spec={"type": "adam", "learning_rate": 3e-3},
    )
    rng = np.random.default_rng(3)
    half = CELLS // 2
    visited, novel = walk(rng, (0, half), 200), walk(rng, (half, CELLS), 200)

    def rewards():
        return [test.test(("get_intrinsic_rewards", list(each))).mean() for each in (visited, novel)]

    known_before, unknown_before = rewards()
    for _ in range(400):
        test.test(("update", list(walk(rng, (0, half), 32))))
    known, unknown = rewards()
    assert known < 0.02 * known_before and unknown > 0.4 * unknown_before
    states, actions, next_states = visited
    assert (test.test(("predict_actions", [states, next_states])) == actions).mean() > 0.99


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"beta": 1.5}, r"beta: expected a number in \[0, 1\], given 1.5"),
        ({"eta": -1.0}, "eta: expected a number >= 0, given -1.0"),
        ({"beta": "0.2"}, r"beta: expected a number in \[0, 1\], given '0.2'"),
        ({"eta": None}, "eta: expected a number >= 0, given None"),
        ({"num_features": 0}, "num_features: expected an integer >= 1, given 0"),
        ({"encoder_spec": [{"type": "dens"}]}, r"module.encoder_spec\[0\].*Did you mean 'dense'"),
        ({"action_space": "an action"}, "module.action_space"),
        ({"action_space": IntBox()}, "action_space"),
    ],
)
def test_mistakes(options, message):
    with pytest.raises(SpecError, match=message):
        IntrinsicCuriosityModule(**{**SMALL, "action_space": IntBox(4), **options})


@pytest.mark.parametrize("wrong", [FloatBox(), IntBox(4, shape=(2,)), Dict(a=IntBox(4)), IntBox(7)])
def test_actions_of_another_space(wrong):
    with pytest.raises(SpaceError, match="actions: expected those of"):
        built(IntBox(4), "numpy", actions=wrong.with_batch_rank())


@pytest.mark.parametrize(
    ("space", "first", "categories"),
    [(IntBox(-2, 2), -2, 4), (IntBox([3, 5]), [0, 0], 5), (IntBox([1, -4], [3, 0]), [1, -4], 4)],
)
def test_integers_that_begin_anywhere(space, first, categories, backend):
    """The forward model is given them one-hot from their lowest value on, as many categories as the largest has."""
    actions = space.with_batch_rank().sample(5, rng=np.random.default_rng(3))
    test = built(space, backend, eta=1.0)
    one_hot = np.eye(categories)[actions - np.array(first)].reshape(5, -1)
    expected = ByHand(test).forward_error(X, one_hot, NEXT)
    test.test(("get_intrinsic_rewards", [X, actions, NEXT]), expected_outputs=expected, decimals=4)
    assert space.with_batch_rank().contains(test.test(("predict_actions", [X, NEXT])))


@pytest.mark.parametrize("far", [FloatBox(1000.0, 1001.0, shape=(2,)), FloatBox([-0.01, -9.0], [0.01, 99.0])])
def test_float_actions_are_scaled_to_minus_1_to_1(far, backend):
    """What is predicted, and how well, does not depend on the bounds; predictions are in those of the environment."""
    unit = FloatBox(-1.0, 1.0, shape=(2,))
    share = np.random.default_rng(0).uniform(0.1, 0.9, (5, 2))
    low, high = (np.asarray(bound, np.float64) for bound in (far.low, far.high))
    found = []
    for space, actions in ((unit, 2.0 * share - 1.0), (far, low + share * (high - low))):
        component = IntrinsicCuriosityModule(action_space=space, **SMALL)
        spaces = {"states": STATES, "actions": space.with_batch_rank(), "next_states": STATES}
        execution = {"dtype": "float64"}
        test = ComponentTest(component, spaces, backend=backend, seed=1, execution_spec=execution)
        losses, rewards, predicted = (
            test.test("get_loss", X, actions, NEXT),
            test.test("get_intrinsic_rewards", X, actions, NEXT),
            test.test("predict_actions", X, NEXT),
        )
        found.append((losses["loss"], losses["inverse_loss"], rewards, predicted))
    for one, other in zip(found[0][:3], found[1][:3], strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-7)
    np.testing.assert_allclose(found[1][3], low + (found[0][3] + 1.0) / 2.0 * (high - low), rtol=1e-7)
