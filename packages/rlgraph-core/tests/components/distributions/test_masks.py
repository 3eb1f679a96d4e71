"""Actions that cannot be: no probability, no entropy, no draw, no gradient, and never a NaN."""

import numpy as np
import pytest

from rlgraph.components import Categorical, choose_adapter
from rlgraph.core import Component, GraphExecutor, gradients, graph_fn, rlgraph_api
from rlgraph.core.functional.distributions.categorical import mask_logits
from rlgraph.spaces import BoolBox, FloatBox, IntBox
from rlgraph.testing import ComponentTest

MASK = BoolBox(shape=(4,), add_batch_rank=True)
VALUES = np.array([[1.0, -2.0, 3.0, 0.5], [0.0, 0.0, 5.0, 1.0], [1.0, 2.0, 3.0, 4.0]], "float32")
ALLOWED = np.array([[True, True, False, True], [False, False, True, False], [True, True, True, True]])


class Masked(Component):
    """A categorical distribution with a mask, and the derivatives of all it says by the logits."""

    def __init__(self, how):
        self.how, self.categorical = how, Categorical()
        super().__init__(self.categorical, scope="masked")

    def create_variables(self, input_spaces, action_space=None):
        self.logits = self.get_variable("logits", FloatBox(shape=VALUES.shape), initializer=VALUES)

    @rlgraph_api
    def say(self, mask, actions):
        parameters = self._masked(mask)
        everything = self._open(mask)
        return {
            "log_prob": self.categorical.log_prob(parameters, actions),
            "entropy": self.categorical.entropy(parameters),
            "kl": self.categorical.kl_divergence(parameters, everything),
            "kl_itself": self.categorical.kl_divergence(parameters, parameters),
            "kl_infinite": self.categorical.kl_divergence(everything, parameters),
            "mode": self.categorical.sample_deterministic(parameters),
            "drawn": self.categorical.sample_stochastic(parameters),
        }

    @rlgraph_api
    def derivatives(self, mask, actions):
        said = self.say(mask, actions)
        total = self._total(said["log_prob"], said["entropy"], said["kl"])
        return self._reshape(gradients(total, self.variables()))

    @graph_fn
    def _masked(self, ops, mask):
        if self.how == "infinite":
            return ops.where(mask, self.logits + 0.0, -float("inf"))
        return mask_logits(ops, self.logits + 0.0, mask)

    @graph_fn
    def _open(self, ops, mask):
        return ops.zeros_like(self.logits)

    @graph_fn
    def _total(self, ops, log_prob, entropy, kl):
        return ops.sum(log_prob + 2.0 * entropy + 3.0 * kl)

    @graph_fn
    def _reshape(self, ops, derivatives):
        return ops.reshape(derivatives[0], VALUES.shape)


def by_hand(b, action):
    """log-prob, entropy and divergence from a uniform distribution, over what is allowed."""
    logits = VALUES[b][ALLOWED[b]].astype("float64")
    p = np.exp(logits) / np.exp(logits).sum()
    log_prob = np.log(p[ALLOWED[b][:action].sum()])
    return log_prob, -(p * np.log(p)).sum(), (p * (np.log(p) - np.log(0.25))).sum()


@pytest.mark.parametrize("how", ["finite", "infinite"])
def test_what_is_masked_does_not_exist(how, backend):
    spaces = {"mask": MASK.with_batch_rank(3), "actions": IntBox(4, add_batch_rank=3)}
    executor = GraphExecutor(Masked(how), spaces, backend=backend)
    actions = np.array([3, 2, 0])
    said = executor.execute("say", ALLOWED, actions)
    expected = np.array([by_hand(b, a) for b, a in enumerate(actions)]).T
    np.testing.assert_allclose(
        [said["log_prob"], said["entropy"], said["kl"]], expected, rtol=1e-5, atol=1e-6
    )
    np.testing.assert_array_equal(said["kl_itself"], np.zeros(3))
    assert (said["kl_infinite"][:2] > 1e28).all()
    assert said["kl_infinite"][2] < 10.0
    np.testing.assert_array_equal(said["mode"], [0, 2, 3])
    assert (executor.execute("say", ALLOWED, np.array([2, 0, 1]))["log_prob"][:2] <= -1e29).all()


@pytest.mark.parametrize("how", ["finite", "infinite"])
def test_derivatives_of_what_is_masked_are_zero(how, trainer):
    spaces = {"mask": MASK.with_batch_rank(3), "actions": IntBox(4, add_batch_rank=3)}
    given = GraphExecutor(Masked(how), spaces, backend=trainer).execute(
        "derivatives", ALLOWED, np.array([3, 2, 0])
    )
    assert (given[~ALLOWED] == 0.0).all()
    for b, action in enumerate([3, 2, 0]):
        logits = VALUES[b][ALLOWED[b]].astype("float64")
        p, position = np.exp(logits) / np.exp(logits).sum(), ALLOWED[b][:action].sum()
        entropy = -(p * np.log(p)).sum()
        # d log_prob = 1 - p, d entropy = -p (log p + H), d KL from uniform = -d entropy.
        expected = np.eye(len(p))[position] - p + (2.0 - 3.0) * -p * (np.log(p) + entropy)
        np.testing.assert_allclose(given[b][ALLOWED[b]], expected, atol=1e-5)


def test_what_is_masked_is_never_drawn(backend):
    adapter = choose_adapter(IntBox(4), action_adapter_spec={"biases_spec": np.array([0.0, 0.0, 9.0, 0.0])})

    class Policy(Component):
        def __init__(self):
            self.adapter, self.distribution = adapter, adapter.make_distribution()
            super().__init__(self.adapter, self.distribution, scope="policy")

        @rlgraph_api
        def act(self, features, mask):
            return self.distribution.draw(self.adapter.get_parameters(features, mask))

    features = FloatBox(shape=(2,), add_batch_rank=True)
    test = ComponentTest(Policy(), {"features": features, "mask": MASK}, backend=backend)
    count = 600
    mask = np.tile([True, False, False, True], (count, 1))
    drawn = test.test("act", np.zeros((count, 2), "float32"), mask)
    assert set(drawn) == {0, 3}
    assert abs((drawn == 0).mean() - 0.5) < 4.0 * 0.5 / np.sqrt(count)
    # Rows that allow nothing are as if they allowed everything.
    drawn = test.test("act", np.zeros((count, 2), "float32"), np.zeros((count, 4), bool))
    assert (drawn == 2).mean() > 0.99
