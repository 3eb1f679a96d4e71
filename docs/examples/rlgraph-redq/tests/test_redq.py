"""The loss against numbers by hand, when the policy learns, and the conformance suite."""

import numpy as np
import pytest

from rlgraph.agents import Agent
from rlgraph.agents.conformance import AgentConformance
from rlgraph.core import SpecError
from rlgraph.spaces import BoolBox, FloatBox, Tuple
from rlgraph.testing import ComponentTest, on_all_backends
from rlgraph_redq import REDQ, REDQLoss

ITEM = FloatBox(add_batch_rank=True)
CRITICS = Tuple(ITEM, ITEM, ITEM)
STATES, ACTIONS = FloatBox(shape=(3,)), FloatBox(-1.0, 1.0, shape=(2,))


@on_all_backends("gradients")
def test_the_target_is_the_smallest_of_a_random_pair(backend):
    spaces = {
        "alpha": FloatBox(),
        "log_probs_next_sampled": ITEM,
        "q_values_next_sampled": CRITICS,
        "q_values": CRITICS,
        "rewards": ITEM,
        "terminals": BoolBox(add_batch_rank=True),
    }
    loss = REDQLoss(subset=2, discount=0.5, num_q_functions=3)
    test = ComponentTest(loss, spaces, backend=backend)
    following = [np.float32([value]) for value in (1.0, 2.0, 4.0)]
    given = [
        0.1,
        np.float32([-3.0]),
        following,
        [np.float32([0.0])] * 3,
        np.float32([1.0]),
        [False],
    ]
    # The pairs have the smallest values 1, 1 and 2: r + discount (min Q - alpha log pi), three critics that are 0.
    expected = {1.5 * (1.0 + 0.5 * (least + 0.3)) ** 2 for least in (1.0, 2.0)}
    drawn = {float(test.test("critic_loss_per_item", *given)[0]) for _ in range(40)}
    assert sorted(drawn) == pytest.approx(sorted(expected), rel=1e-6)


@on_all_backends("gradients")
def test_the_policy_climbs_the_mean(backend):
    spaces = {
        "alpha": FloatBox(),
        "log_probs_sampled": ITEM,
        "q_values_sampled": CRITICS,
    }
    test = ComponentTest(REDQLoss(num_q_functions=3), spaces, backend=backend)
    values = [np.float32([value]) for value in (1.0, 2.0, 6.0)]
    losses = test.test("actor_loss_per_item", 0.1, np.float32([-3.0]), values)
    np.testing.assert_allclose(losses, [-0.3 - 3.0], rtol=1e-6)


def test_the_policy_learns_at_every_third_update():
    agent = Agent.of(REDQ)(
        STATES,
        ACTIONS,
        backend="torch",
        seed=1,
        policy_delay=3,
        update_spec={"do_updates": False},
    )
    rng = np.random.default_rng(0)
    for _ in range(64):
        action = agent.get_actions(rng.normal(size=3))
        agent.observe(rng.normal(size=3), action, 1.0, False, rng.normal(size=3))
    changed, before = [], agent.get_policy_weights()
    for _ in range(6):
        agent.update()
        after = agent.get_policy_weights()
        changed.append(any((before[name] != after[name]).any() for name in after))
        before = after
    assert changed == [False, False, True] * 2


def test_a_subset_is_part_of_the_critics():
    with pytest.raises(
        SpecError, match="subset: expected 1 to num_critics, 3, given 4"
    ):
        Agent.of(REDQ)(STATES, ACTIONS, num_critics=3, subset=4, backend="torch")


class TestREDQ(AgentConformance):
    agent, backend = "redq", "torch"
