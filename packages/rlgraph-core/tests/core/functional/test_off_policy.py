"""V-trace and Retrace: the sums of the papers written out, published numbers, limits that are known."""

import numpy as np
import pytest

from rlgraph.core import Component, gradients, graph_fn, rlgraph_api
from rlgraph.core.functional.off_policy import importance_ratios, retrace, truncated_ratios, v_trace
from rlgraph.core.functional.returns import discounted_returns, lambda_returns
from rlgraph.core.functional.sequences import values_of_next_states
from rlgraph.core.numpy.ops import NumpyOps
from rlgraph.spaces import FloatBox
from rlgraph.testing import ComponentTest

OPS = NumpyOps("float64")
STEPS = 12


def trajectory(seed=0):
    """Ratios, discounts, rewards, values, next values ``[T]``; one step in five ends the episode."""
    rng = np.random.default_rng(seed)
    ratios = np.exp(rng.normal(size=STEPS))
    discounts = np.where(rng.random(STEPS) < 0.2, 0.0, 0.9)
    return ratios, discounts, *rng.normal(size=(3, STEPS))


def test_ratios():
    ratios = importance_ratios(OPS, np.log([0.5, 0.1]), np.log([0.25, 0.4]))
    np.testing.assert_allclose(ratios, [2.0, 0.25])
    np.testing.assert_allclose(truncated_ratios(OPS, ratios, 1.5), [1.5, 0.25])
    np.testing.assert_allclose(truncated_ratios(OPS, ratios, None), [2.0, 0.25])


def test_ratios_are_finite():
    logs = np.array([100.0, 1e4, 20.0, -200.0], np.float32)
    ratios = importance_ratios(OPS, logs, np.zeros(4, np.float32))
    np.testing.assert_allclose(ratios, [np.exp(20.0)] * 3 + [0.0], rtol=1e-5)


def test_published_by_rlgraph():
    """Its test: three steps, two trajectories, all limits 1, with the numbers in its comment."""
    values = np.array([[2.3, -1.1], [1.563, -2.0], [0.9, -0.3]])
    targets, advantages = v_trace(
        OPS,
        np.exp([[1.0, 0.65], [-0.4, 0.2], [1.5, -1.0]]),
        np.array([[0.99, 0.98], [0.97, 0.96], [0.5, 0.4]]),
        np.array([[1.0, 0.0], [2.0, 1.0], [-5.0, 2.0]]),
        values,
        values_of_next_states(OPS, values, np.array([2.3, -1.0])),
    )
    expected = [[0.35909343, 1.35535192], [-0.64738037, 1.38301216], [-3.85, 0.398971]]
    np.testing.assert_allclose(targets, expected, atol=1e-6)
    expected = [[-1.94090657, 2.45535192], [-2.21038035, 3.38301216], [-4.75, 0.69897094]]
    np.testing.assert_allclose(advantages, expected, atol=1e-6)


def by_the_paper(ratios, discounts, rewards, values, next_values, rho_bar, c_bar, rho_bar_pg, lambda_, ends):
    """Espeholt et al. (2018), eq. 1: for every step the sum over those behind it."""
    cut = [discounts[t] == 0.0 or ends[t] for t in range(STEPS)]
    targets = np.zeros(STEPS)
    for s in range(STEPS):
        total, product = values[s], 1.0
        for t in range(s, STEPS):
            error = rewards[t] + discounts[t] * next_values[t] - values[t]
            total += product * min(ratios[t], rho_bar) * error
            product *= discounts[t] * lambda_ * min(ratios[t], c_bar)
            if cut[t]:
                break
        targets[s] = total
    advantages = np.zeros(STEPS)
    for s in range(STEPS):
        behind = next_values[s] if cut[s] or s == STEPS - 1 else targets[s + 1]
        advantages[s] = min(ratios[s], rho_bar_pg) * (rewards[s] + discounts[s] * behind - values[s])
    return targets, advantages


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(
    ("rho_bar", "c_bar", "rho_bar_pg", "lambda_"), [(1.0, 1.0, 1.0, 1.0), (1.3, 0.7, 2.0, 0.9)]
)
def test_v_trace_is_the_sum_of_the_paper(seed, rho_bar, c_bar, rho_bar_pg, lambda_):
    ratios, discounts, rewards, values, behind = trajectory(seed)
    ends = np.random.default_rng(seed).random(STEPS) < 0.2
    next_values = values_of_next_states(OPS, values, behind, ends)
    arguments = ratios, discounts, rewards, values, next_values
    expected = by_the_paper(*arguments, rho_bar, c_bar, rho_bar_pg, lambda_, ends)
    limits = {"rho_bar": rho_bar, "c_bar": c_bar, "rho_bar_pg": rho_bar_pg}
    for given, one in zip(
        v_trace(OPS, *arguments, **limits, lambda_=lambda_, ends=ends), expected, strict=True
    ):
        np.testing.assert_allclose(given, one)


def test_on_policy_v_trace_is_the_return():
    """Espeholt et al. (2018), section 4.1: with equal policies the n-step Bellman target."""
    _, discounts, rewards, values, behind = trajectory()
    next_values = values_of_next_states(OPS, values, behind)
    targets, advantages = v_trace(OPS, np.ones(STEPS), discounts, rewards, values, next_values)
    returns = discounted_returns(OPS, rewards, next_values, discounts == 0.0, 0.9)
    np.testing.assert_allclose(targets, returns)
    np.testing.assert_allclose(advantages, returns - values)


def test_without_limits_v_trace_is_importance_sampling():
    ratios, discounts, rewards, values, behind = trajectory()
    next_values = values_of_next_states(OPS, values, behind)
    targets, _ = v_trace(
        OPS, ratios, discounts, rewards, values, next_values, rho_bar=None, c_bar=None, rho_bar_pg=None
    )
    expected, following = np.zeros(STEPS), next_values[-1]
    for t in reversed(range(STEPS)):
        following = expected[t] = values[t] + ratios[t] * (rewards[t] + discounts[t] * following - values[t])
    np.testing.assert_allclose(targets, expected)


@pytest.mark.parametrize("cut", [False, True])
def test_retrace_is_the_sum_of_the_paper(cut):
    """Munos et al. (2016), eq. 3: the trace of a step begins with the ratio of the one behind it."""
    ratios, discounts, rewards, q_values, next_values = trajectory()
    ends = np.zeros(STEPS, bool)
    ends[5] = cut
    expected = np.zeros(STEPS)
    for t in range(STEPS):
        total, product = q_values[t], 1.0
        for s in range(t, STEPS):
            if s > t:
                product *= discounts[s - 1] * 0.9 * min(1.0, ratios[s]) * (not ends[s - 1])
            total += product * (rewards[s] + discounts[s] * next_values[s] - q_values[s])
        expected[t] = total
    given = retrace(OPS, ratios, discounts, rewards, q_values, next_values, lambda_=0.9, ends=ends)
    np.testing.assert_allclose(given, expected)


def test_on_policy_retrace_of_state_values_is_the_lambda_return():
    _, discounts, rewards, values, behind = trajectory()
    next_values = values_of_next_states(OPS, values, behind)
    given = retrace(OPS, np.ones(STEPS), discounts, rewards, values, next_values, lambda_=0.8)
    np.testing.assert_allclose(given, lambda_returns(OPS, rewards, next_values, discounts == 0.0, 0.9, 0.8))


class Targets(Component):
    """What the derivative of the values alone is, and that of the values and targets made of them."""

    def create_variables(self, input_spaces, action_space=None):
        self.values = self.get_variable("values", FloatBox(shape=(STEPS,)), initializer="normal")

    @rlgraph_api
    def derivative(self, steps):
        return self._sum(gradients(self._loss(steps), self.variables()))

    @graph_fn
    def _sum(self, ops, blocks):
        return ops.sum(blocks[0])

    @graph_fn
    def _loss(self, ops, steps):
        arguments = (ops, steps + 1.0, steps + 0.9, steps, self.values * 1.0, self.values * 2.0)
        targets, advantages = v_trace(*arguments)
        return ops.sum(self.values + targets + advantages + retrace(*arguments))


def test_no_gradient_flows_through_targets(trainer):
    test = ComponentTest(Targets(scope="targets"), {"steps": FloatBox(shape=(STEPS,))}, backend=trainer)
    test.test("derivative", np.zeros(STEPS), expected_outputs=float(STEPS))


@pytest.mark.parametrize(
    ("rho_bar", "c_bar", "rho_bar_pg", "lambda_"),
    [
        (1.0, 1.0, 1.0, 1.0),
        (1.0, 1.0, 1.0, 0.9),
        (1.0, 1.0, 2.0, 1.0),
        (2.0, 1.0, 1.0, 1.0),
        (1.0, 2.0, 1.0, 1.0),
    ],
)
def test_limits_that_are_equal_and_not(rho_bar, c_bar, rho_bar_pg, lambda_):
    """Equation 1 and section 4.2 of the paper, step by step from the back."""
    rng = np.random.default_rng(0)
    rewards, values = rng.normal(size=(2, 6))
    ratios, discounts = rng.uniform(0.3, 3.0, 6), rng.uniform(0.5, 1.0, 6)
    following = np.append(values[1:], 0.7)
    limits = {"rho_bar": rho_bar, "c_bar": c_bar, "rho_bar_pg": rho_bar_pg, "lambda_": lambda_}
    targets, advantages = v_trace(OPS, ratios, discounts, rewards, values, following, **limits)
    target, change = 0.7, 0.0
    for t in reversed(range(6)):
        expected = min(rho_bar_pg, ratios[t]) * (rewards[t] + discounts[t] * target - values[t])
        error = min(rho_bar, ratios[t]) * (rewards[t] + discounts[t] * following[t] - values[t])
        change = error + discounts[t] * lambda_ * min(c_bar, ratios[t]) * change
        target = values[t] + change
        assert (advantages[t], targets[t]) == pytest.approx((expected, target))
