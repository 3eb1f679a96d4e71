"""What a subclass of a shipped algorithm may override has its effect everywhere, and is given all options."""

from functools import partial

import numpy as np
import pytest

from rlgraph.agents import Agent
from rlgraph.algorithms.a2c import A2C
from rlgraph.algorithms.behaviour_cloning import BehaviourCloning
from rlgraph.algorithms.c51 import C51
from rlgraph.algorithms.dqfd import DQFD
from rlgraph.algorithms.dqn import DQN
from rlgraph.algorithms.impala import IMPALA
from rlgraph.algorithms.iql import IQL
from rlgraph.algorithms.ppo import PPO
from rlgraph.algorithms.qr_dqn import QRDQN
from rlgraph.algorithms.sac import SAC
from rlgraph.algorithms.td3 import TD3
from rlgraph.components import DQNLoss, SACLoss
from rlgraph.spaces import BoolBox, FloatBox, IntBox, Tuple
from rlgraph.testing import ComponentTest

STATES, CATEGORY, FLOATS = FloatBox(shape=(3,)), IntBox(4), FloatBox(-1.0, 1.0, shape=(2,))
#: Algorithm -> an action Space, an option that concerns the loss, and what the loss calls it.
OPTIONS = {
    A2C: (CATEGORY, {"weight_vf": 0.25}, {"weight_vf": 0.25}),
    BehaviourCloning: (CATEGORY, {}, {}),
    C51: (CATEGORY, {"low": -3.0}, {"low": -3.0}),
    DQFD: (CATEGORY, {"expert_margin": 0.3}, {"expert_margin": 0.3}),
    DQN: (CATEGORY, {"huber_loss": True}, {"huber_loss": True, "double_q": True}),
    IMPALA: (CATEGORY, {"weight_vf": 0.25}, {"weight_baseline": 0.25}),
    IQL: (CATEGORY, {"expectile": 0.8}, {"expectile": 0.8}),
    PPO: (CATEGORY, {"value_clipping": 0.5}, {"value_function_clipping": 0.5}),
    QRDQN: (CATEGORY, {"huber_delta": 2.0}, {"huber_delta": 2.0}),
    SAC: (FLOATS, {"num_critics": 3}, {"num_q_functions": 3}),
    TD3: (FLOATS, {"num_critics": 3}, {"num_q_functions": 3}),
}


@pytest.mark.parametrize("algorithm", OPTIONS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("way", ["class", "method", "instance"])
def test_a_loss_of_a_subclass(algorithm, way):
    actions, options, of_loss = OPTIONS[algorithm]
    given = []

    class OtherLoss(algorithm.make_loss):
        def __init__(self, **options):
            given.append(options)
            super().__init__(**options)

    class Other(algorithm):
        def __init__(self, *spaces, **options):
            if way == "instance":
                self.make_loss = partial(OtherLoss)
            super().__init__(*spaces, **options)

    if way == "class":
        Other.make_loss = OtherLoss
    elif way == "method":
        Other.make_loss = lambda self, **options: OtherLoss(**options)
    made = Other(STATES, actions, **options)
    assert isinstance(made.loss, OtherLoss)
    assert {name: given[0][name] for name in of_loss} == of_loss


class ZeroAfterwards(DQNLoss):
    """Errors that are those of rewards alone."""

    def next_values(self, ops, q_next, q_next_target):
        return ops.zeros(ops.shape(q_next_target)[:1])


def test_other_values_in_the_loss_of_q_learning():
    class Rewards(DQN):
        make_loss = ZeroAfterwards

        def loss_inputs(self, records):
            values = super().loss_inputs(records)
            return {**values, "rewards": values["discounts"]}

    agent = Agent.of(Rewards)(STATES, CATEGORY, discount=0.75, backend="numpy", seed=1)
    rng = np.random.default_rng(0)
    states, following = rng.normal(size=(2, 3, 3)).astype("float32")
    actions, ends = np.array([0, 3, 1]), np.zeros(3, bool)
    batch = {"states": states, "actions": actions, "rewards": [9.0] * 3, "terminals": ends}
    batch["next_states"] = following
    errors = 0.75 - agent.call_api_method("get_q_values", states)[np.arange(3), actions]
    np.testing.assert_allclose(agent.post_process(batch)["priorities"], np.abs(errors), rtol=1e-5)
    loss, per_item = agent.get_td_loss(batch)
    np.testing.assert_allclose(per_item, 0.5 * errors**2, rtol=1e-4)
    assert loss == pytest.approx(np.mean(0.5 * errors**2), rel=1e-4)


def test_other_values_of_several_critics():
    class Largest(SACLoss):
        def target_value(self, ops, q_values):
            return ops.maximum(*q_values)

        def policy_value(self, ops, q_values):
            return q_values[1]

    item = FloatBox(add_batch_rank=True)
    spaces = dict.fromkeys(("q_values_next_sampled", "q_values", "q_values_sampled"), Tuple(item, item))
    spaces |= dict.fromkeys(("log_probs_next_sampled", "log_probs_sampled", "rewards"), item)
    spaces |= {"alpha": FloatBox(), "terminals": BoolBox(add_batch_rank=True)}
    test = ComponentTest(Largest(discount=0.5), spaces, backend="numpy")
    two, one = [np.float32([2.0]), np.float32([5.0])], np.float32([1.0])
    of_critics = test.test("critic_loss_per_item", 0.1, -one, two, [0 * one, 0 * one], one, [False])
    np.testing.assert_allclose(of_critics, [(1.0 + 0.5 * (5.0 + 0.1)) ** 2], rtol=1e-6)
    np.testing.assert_allclose(test.test("actor_loss_per_item", 0.1, -one, two), [-0.1 - 5.0], rtol=1e-6)
