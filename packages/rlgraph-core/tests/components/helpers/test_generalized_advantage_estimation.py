import re

import numpy as np
import pytest

from rlgraph.components import Dense, GeneralizedAdvantageEstimation
from rlgraph.core import Component, SpecError, gradients, graph_fn, rlgraph_api
from rlgraph.spaces import BoolBox, FloatBox, IntBox, SpaceError
from rlgraph.testing import ComponentTest

FLOATS, BOOLS = FloatBox(add_batch_rank=True), BoolBox(add_batch_rank=True)
STEPS = {"baseline_values": FLOATS, "rewards": FLOATS, "terminals": BOOLS}
FRAGMENTS = {**STEPS, "sequence_indices": BOOLS, "bootstrap_values": FLOATS}


def both(test, arguments, errors, advantages):
    test.test(("calc_td_errors", arguments), expected_outputs=errors, decimals=5)
    test.test(("calc_gae_values", arguments), expected_outputs=advantages, decimals=5)


def test_fragments_one_after_the_other(backend):
    """Two fragments: the first is cut by a time limit behind its second step, the second falls off a cliff."""
    test = ComponentTest(GeneralizedAdvantageEstimation(0.5, 0.5), FRAGMENTS, backend=backend)
    arguments = {
        "baseline_values": [3.0, 5.0, 6.0, 1.0],
        "rewards": [1.0, 2.0, 4.0, 8.0],
        "terminals": [False, False, False, True],
        "sequence_indices": [False, True, False, False],
        "bootstrap_values": [99.0, 2.0, 99.0, 99.0],
    }
    # 1 + 5/2 - 3, 2 + 2/2 - 5 | 4 + 1/2 - 6, 8 - 1; a quarter of the next is added within a fragment.
    both(test, arguments, [0.5, -2.0, -1.5, 7.0], [0.0, -2.0, 0.25, 7.0])


@pytest.mark.parametrize("kind", [BoolBox, IntBox])
def test_ends_may_be_integers_and_terminals_end_a_fragment_unmarked(kind, backend):
    marks = kind(add_batch_rank=True)
    spaces = {**FRAGMENTS, "terminals": marks, "sequence_indices": marks}
    test = ComponentTest(GeneralizedAdvantageEstimation(1.0, 0.5), spaces, backend=backend)
    arguments = {
        "baseline_values": [1.0, 2.0, 4.0],
        "rewards": [0.0, 0.0, 0.0],
        "terminals": np.array([1, 0, 0], marks.dtype),
        "sequence_indices": np.array([0, 0, 1], marks.dtype),
        "bootstrap_values": [9.0, 9.0, 6.0],
    }
    # -1 | 4/2 - 2, 6/2 - 4.
    both(test, arguments, [-1.0, 0.0, -1.0], [-1.0, -0.5, -1.0])


def test_fragments_side_by_side(backend):
    ranks = {"add_batch_rank": True, "add_time_rank": True, "time_major": True}
    spaces = {
        "baseline_values": FloatBox(**ranks),
        "rewards": FloatBox(**ranks),
        "terminals": BoolBox(**ranks),
        "bootstrap_values": FLOATS,
    }
    test = ComponentTest(GeneralizedAdvantageEstimation(0.5, 0.5), spaces, backend=backend)
    arguments = {
        "baseline_values": [[3.0, 6.0], [5.0, 1.0]],
        "rewards": [[1.0, 4.0], [2.0, 8.0]],
        "terminals": [[False, False], [False, True]],
        "bootstrap_values": [2.0, 99.0],
    }
    both(test, arguments, [[0.5, -1.5], [-2.0, 7.0]], [[0.0, 0.25], [-2.0, 7.0]])


def test_one_fragment(backend):
    test = ComponentTest(
        GeneralizedAdvantageEstimation(1.0, 1.0), {**STEPS, "bootstrap_values": FloatBox()}, backend=backend
    )
    arguments = {
        "baseline_values": [1.0, 2.0],
        "rewards": [1.0, 1.0],
        "terminals": [False, False],
        "bootstrap_values": 5.0,
    }
    both(test, arguments, [2.0, 4.0], [6.0, 4.0])


def test_published_by_rlgraph(backend):
    """Its test with lambda 0.5; it bootstraps with the value of the last state."""
    gae = GeneralizedAdvantageEstimation(gae_lambda=0.5, discount=0.99, bootstrap="last_value")
    test = ComponentTest(gae, {**STEPS, "sequence_indices": BOOLS}, backend=backend)
    arguments = ([1.0, 2.0, 3.0], [0.1, 0.2, 0.3], [False, False, False], [False, False, True])
    first, second, third = 1.08, 1.17, 0.27
    second_advantage = second + 0.495 * third
    both(
        test,
        arguments,
        [first, second, third],
        [first + 0.495 * second_advantage, second_advantage, third],
    )


def test_last_value_of_every_fragment_that_does_not_terminate(backend):
    gae = GeneralizedAdvantageEstimation(gae_lambda=0.0, discount=0.5, bootstrap="last_value")
    test = ComponentTest(gae, {**STEPS, "sequence_indices": BOOLS}, backend=backend)
    arguments = ([2.0, 4.0, 8.0], [0.0, 0.0, 0.0], [False, True, False], [True, True, False])
    # 2/2 - 2 | -4 | 8/2 - 8.
    both(test, arguments, [-1.0, -4.0, -4.0], [-1.0, -4.0, -4.0])


def test_rewards_are_clipped(backend):
    gae = GeneralizedAdvantageEstimation(clip_rewards=1.0)
    test = ComponentTest(gae, {**STEPS, "bootstrap_values": FloatBox()}, backend=backend)
    arguments = {
        "baseline_values": [0.0, 0.0],
        "rewards": [5.0, -7.0],
        "terminals": [False, True],
        "bootstrap_values": 0.0,
    }
    both(test, arguments, [1.0, -1.0], [0.0, -1.0])


class Critic(Component):
    """A loss that multiplies values with advantages made of them."""

    def __init__(self):
        self.layer = Dense(1, weights_spec=0.5, biases_spec=False)
        self.gae = GeneralizedAdvantageEstimation(1.0, 0.5)
        super().__init__(self.layer, self.gae, scope="critic")

    @rlgraph_api
    def derivatives(self, states, rewards, terminals, bootstrap_values):
        values = self._column(self.layer.call(states))
        steps = (values, rewards, terminals)
        advantages = self.gae.calc_gae_values(*steps, bootstrap_values=bootstrap_values)
        errors = self.gae.calc_td_errors(*steps, bootstrap_values=bootstrap_values)
        return self._derivative(values, advantages), self._derivative(values, errors)

    def _derivative(self, values, factors):
        return self._sum(gradients(self._loss(values, factors), self.layer.variables()))

    @graph_fn
    def _column(self, ops, values):
        return values[:, 0]

    @graph_fn
    def _sum(self, ops, blocks):
        return ops.sum(blocks[0])

    @graph_fn
    def _loss(self, ops, values, factors):
        return ops.sum(values * factors)


def test_no_gradient_flows_through_advantages(trainer):
    spaces = {
        "states": FloatBox(shape=(1,), add_batch_rank=True),
        "rewards": FLOATS,
        "terminals": BOOLS,
        "bootstrap_values": FloatBox(),
    }
    test = ComponentTest(Critic(), spaces, backend=trainer)
    # Values 1 and 2; errors 1 + 2/2 - 1 and 1 + 8/2 - 2, advantages 1 + 3/2 and 3; times the states, 2 and 4.
    test.test("derivatives", [[2.0], [4.0]], [1.0, 1.0], [False, False], 8.0, expected_outputs=(17.0, 14.0))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gae_lambda": 1.1}, r"estimation.gae_lambda: expected a number in \[0, 1\], given 1.1"),
        ({"discount": "0.9"}, r"estimation.discount: expected a number in \[0, 1\], given '0.9'"),
        ({"bootstrap": "last"}, "estimation.bootstrap: unknown 'last'.*last_value"),
        ({"clip_rewards": -1.0}, "clip_value: expected a number >= 0, given -1.0"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(SpecError, match=message):
        GeneralizedAdvantageEstimation(**options)


BOTH = {"add_batch_rank": True, "add_time_rank": True, "time_major": True}
BATCH_MAJOR = FloatBox(add_batch_rank=True, add_time_rank=True)


@pytest.mark.parametrize(
    ("spaces", "message"),
    [
        ({"bootstrap_values": None}, 'bootstrap_values: .* given none; bootstrap="last_value" uses'),
        (
            {"bootstrap_values": FloatBox()},
            "bootstrap_values: with sequence_indices expected the value of the state",
        ),
        (
            {"bootstrap_values": IntBox(add_batch_rank=True)},
            'one float per step.*"convert_type", "to_dtype": "float"',
        ),
        (
            {"baseline_values": FloatBox(shape=(1,), add_batch_rank=True)},
            r'baseline_values: expected a FloatBox of rank 0.*{"type": "reshape", "new_shape": \[\]}',
        ),
        ({"rewards": IntBox(add_batch_rank=True)}, 'rewards: .*"convert_type", "to_dtype": "float"'),
        ({"terminals": FLOATS}, 'terminals: expected a BoolBox.*"to_dtype": "bool"'),
        ({"rewards": FloatBox()}, r"rewards: .* given FloatBox\(\)\n"),
        *(
            (
                {name: space},
                f"{name}: expected the ranks of baseline_values, FloatBox.*, given {type(space).__name__}",
            )
            for name, space in {
                "rewards": FloatBox(**BOTH),
                "terminals": BoolBox(**BOTH),
                "sequence_indices": BoolBox(**BOTH),
            }.items()
        ),
        ({"rewards": BATCH_MAJOR}, 'rewards: .*put in front: {"type": "transpose"}'),
    ],
)
def test_wrong_spaces(spaces, message):
    spaces = {name: space for name, space in {**FRAGMENTS, **spaces}.items() if space is not None}
    with pytest.raises(SpaceError, match=message) as caught:
        ComponentTest(GeneralizedAdvantageEstimation(), spaces, backend="numpy")
    assert re.match("generalized-advantage-estimation: ", str(caught.value))
