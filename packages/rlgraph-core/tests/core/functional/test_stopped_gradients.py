"""Into what is fixed no gradient flows, whatever it was made of."""

import numpy as np
import pytest

from rlgraph.components import CategoricalDQNLoss, QuantileDQNLoss
from rlgraph.core import Component, GraphExecutor, gradients, graph_fn, rlgraph_api
from rlgraph.core.functional import off_policy, policy_gradient, q_learning, soft_actor_critic, td3
from rlgraph.spaces import FloatBox

ITEMS, ALL, ALPHA = np.array([-1.0, -2.0]), np.array([[-1.0, -2.0], [-0.5, -0.1]]), np.array(0.5)
PPO = {"log_probs": ITEMS, "prev_log_probs": ITEMS, "advantages": ITEMS, "clip_ratio": 0.2}
#: One item whose clipped value counts, and one whose own does.
CLIPPED = {"targets": np.array([-1.0, -9.0]), "values": ITEMS, "prev_values": ITEMS, "clip_range": 0.1}


class Moved(Component):
    """The sum of what a function returns, where a variable is added to one argument, or to its first part."""

    def __init__(self, function, arguments, name):
        self.function, self.arguments, self.name = function, arguments, name
        super().__init__(scope="moved")

    def create_variables(self, input_spaces, action_space=None):
        self.change = self.get_variable("change", FloatBox())

    @rlgraph_api
    def get(self, zero):
        return self._plain(gradients(self._sum(zero), self.variables()))

    @graph_fn
    def _sum(self, ops, zero):
        def tensor(value, change):
            if isinstance(value, list):
                return [tensor(value[0], change), *(tensor(each, 0.0) for each in value[1:])]
            if not isinstance(value, np.ndarray):
                return value
            rows = [[float(x) for x in row] for row in np.atleast_2d(value)]
            columns = [ops.stack([zero + x for x in row]) for row in rows]
            made = (
                ops.stack(columns) if value.ndim == 2 else (columns[0] if value.ndim else zero + float(value))
            )
            return made + change

        given = {
            name: tensor(_scaled(value, 1.0 + 0.3 * number), self.change if name == self.name else 0.0)
            for number, (name, value) in enumerate(self.arguments.items())
        }
        # So that it always depends on the variable.
        return ops.sum(self.function(ops, **given)) + 0.0 * self.change

    @graph_fn
    def _plain(self, ops, derivatives):
        return ops.sum(derivatives[0])


def q_learning_target(ops, rewards, next_values):
    return q_learning.q_learning_target(ops, rewards, rewards > 0.0, next_values, 0.9)


def v_trace(ops, **arguments):
    targets, advantages = off_policy.v_trace(ops, **arguments)
    return targets + 2.0 * advantages


def categorical_targets(ops, rewards, next_logits):
    return _targets_of(CategoricalDQNLoss(low=-3.0, high=3.0), ops, rewards, next_logits)


def quantile_targets(ops, rewards, next_quantiles):
    return _targets_of(QuantileDQNLoss(), ops, rewards, next_quantiles)


def _targets_of(loss, ops, rewards, following):
    """Weighted, as what a distribution sums up to has no derivative."""
    rewards = ops.expand_dims(rewards, 1)
    targets = loss.targets(ops, ops.expand_dims(following, 1), rewards, rewards > 0.0, 0.9)
    return targets[..., 0] + 2.0 * targets[..., 1]


def _scaled(value, factor):
    """Other numbers for every argument: between equal ones there is no gradient at all."""
    if isinstance(value, list):
        return [_scaled(each, factor) for each in value]
    return np.asarray(value * factor) if isinstance(value, np.ndarray) else value


@pytest.mark.parametrize(
    ("function", "arguments", "fixed"),
    [
        (policy_gradient.policy_gradient_loss, {"log_probs": ITEMS, "advantages": ITEMS}, {"advantages"}),
        (policy_gradient.ppo_clipped_surrogate, PPO, {"prev_log_probs", "advantages"}),
        (policy_gradient.value_loss, {"values": ITEMS, "targets": ITEMS}, {"targets"}),
        (policy_gradient.ppo_clipped_value_loss, CLIPPED, {"prev_values", "targets"}),
        (td3.critic_loss, {"q_values": [ITEMS, ITEMS], "targets": ITEMS}, {"targets"}),
        (soft_actor_critic.sac_critic_loss, {"q_values": [ITEMS, ITEMS], "targets": ITEMS}, {"targets"}),
        (
            soft_actor_critic.sac_actor_loss,
            {"q_values": [ITEMS, ITEMS], "log_probs": ITEMS, "alpha": ALPHA},
            {"alpha"},
        ),
        (
            soft_actor_critic.discrete_sac_actor_loss,
            {"q_values": [ALL, ALL], "log_probs": ALL, "alpha": ALPHA},
            {"q_values", "alpha"},
        ),
        (
            soft_actor_critic.sac_alpha_loss,
            {"alpha": ALPHA, "log_probs": ITEMS, "target_entropy": 1.0},
            {"log_probs"},
        ),
        (
            soft_actor_critic.discrete_sac_alpha_loss,
            {"alpha": ALPHA, "log_probs": ALL, "target_entropy": 1.0},
            {"log_probs"},
        ),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_fixed_arguments(function, arguments, fixed, trainer):
    for name, value in arguments.items():
        if isinstance(value, float):
            continue
        executor = GraphExecutor(Moved(function, arguments, name), {"zero": FloatBox()}, backend=trainer)
        assert (executor.execute("get", 0.0) == 0.0) == (name in fixed), name


STEPS = dict.fromkeys(("discounts", "rewards", "next_values"), ITEMS)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (q_learning_target, {"rewards": ITEMS, "next_values": ITEMS}),
        (v_trace, {"ratios": -ITEMS, **STEPS, "values": ITEMS}),
        (off_policy.retrace, {"ratios": -ITEMS, **STEPS, "q_values": ITEMS}),
        (categorical_targets, {"rewards": ITEMS, "next_logits": ALL}),
        (quantile_targets, {"rewards": ITEMS, "next_quantiles": ALL}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_targets(function, arguments, trainer):
    """Whatever they are made of, they stay where they are."""
    for name in arguments:
        executor = GraphExecutor(Moved(function, arguments, name), {"zero": FloatBox()}, backend=trainer)
        assert executor.execute("get", 0.0) == 0.0, name
