import numpy as np
import pytest

from rlgraph.components import SequenceHelper
from rlgraph.core import Component, SpecError, rlgraph_api
from rlgraph.spaces import BoolBox, FloatBox, IntBox, SpaceError
from rlgraph.testing import ComponentTest

FLOATS, MARKS = FloatBox(add_batch_rank=True), IntBox(2, add_batch_rank=True)
SPACES = {
    "sequence_indices": MARKS,
    "values": FLOATS,
    "rewards": FLOATS,
    "terminals": BoolBox(add_batch_rank=True),
    "decay": float,
    "discount": float,
}


def helper(backend, **spaces):
    return ComponentTest(SequenceHelper("last_value"), {**SPACES, **spaces}, backend=backend)


@pytest.mark.parametrize(
    ("marks", "lengths", "decays"),
    [
        ([0, 0, 0, 0], [4], [1.0, 0.5, 0.25, 0.125]),
        ([0, 0, 1, 0], [3, 1], [1.0, 0.5, 0.25, 1.0]),
        ([1, 1, 1, 1], [1, 1, 1, 1], [1.0, 1.0, 1.0, 1.0]),
        ([0, 0, 1, 0, 1], [3, 2], [1.0, 0.5, 0.25, 1.0, 0.5]),
    ],
)
def test_published_by_rlgraph(marks, lengths, decays, backend):
    """The examples of its tests and its documentation."""
    test = helper(backend)
    test.test("calc_sequence_lengths", marks, expected_outputs=lengths)
    test.test("calc_sequence_decays", marks, 0.5, expected_outputs=(lengths, decays))
    ends = ComponentTest(
        SequenceHelper("last_value"), {**SPACES, "sequence_indices": SPACES["terminals"]}, backend=backend
    )
    ends.test("calc_sequence_lengths", np.array(marks, bool), expected_outputs=lengths)


def test_defaults_of_the_numbers(backend):
    test = helper(backend)
    test.test("calc_sequence_decays", [0, 0], expected_outputs=([2], [1.0, 0.9]))
    test.test("reverse_apply_decays_to_sequence", [1.0, 1.0], [0, 0], expected_outputs=[1.9, 1.0])
    test.test("bootstrap_values", [0.0], [1.0], [False], [1], expected_outputs=[-0.01])


def test_decays_applied_in_reverse(backend):
    # 1 + 2/2 | 2 || 3 + 4/2 | 4.
    test = helper(backend)
    values = [1.0, 2.0, 3.0, 4.0]
    test.test(
        "reverse_apply_decays_to_sequence", values, [0, 1, 0, 0], 0.5, expected_outputs=[2.0, 2.0, 5.0, 4.0]
    )


def test_last_values_behind_sequences(backend):
    # 1 + 4/2 - 2, 1 + 4/2 - 4 | 1 - 6: its own last value, nothing behind a terminal.
    arguments = ([1.0, 1.0, 1.0], [2.0, 4.0, 6.0], [False, False, True], [0, 1, 1], 0.5)
    helper(backend).test("bootstrap_values", *arguments, expected_outputs=[1.0, -1.0, -5.0])


def test_values_of_the_states_behind_sequences(backend):
    test = ComponentTest(SequenceHelper(), {**SPACES, "next_values": FLOATS}, backend=backend)
    arguments = (
        [1.0, 1.0, 1.0],
        [2.0, 4.0, 6.0],
        [False, False, True],
        [0, 1, 1],
        0.5,
        [99.0, 10.0, 99.0],
    )
    test.test("bootstrap_values", *arguments, expected_outputs=[1.0, 2.0, -5.0])


class Returns(Component):
    """Calls one method of the helper and no other."""

    def __init__(self):
        self.helper = SequenceHelper()
        super().__init__(self.helper, scope="returns")

    @rlgraph_api
    def call(self, values, sequence_indices, decay):
        return self.helper.reverse_apply_decays_to_sequence(values, sequence_indices, decay)


def test_rows_of_sequences(backend):
    ranks = {"add_batch_rank": True, "add_time_rank": True, "time_major": True}
    spaces = {"values": FloatBox(**ranks), "sequence_indices": BoolBox(**ranks), "decay": float}
    test = ComponentTest(Returns(), spaces, backend=backend)
    values, ends = [[1.0, 1.0], [2.0, 2.0]], [[False, True], [False, False]]
    test.test("call", values, ends, 0.5, expected_outputs=[[2.0, 1.0], [2.0, 2.0]])


def test_wrong_bootstrap():
    with pytest.raises(SpecError, match="sequence-helper.bootstrap: unknown 'lastvalue'.*last_value"):
        SequenceHelper("lastvalue")


@pytest.mark.parametrize(
    ("spaces", "message"),
    [
        ({}, 'next_values: .* given none; bootstrap="last_value" uses'),
        ({"next_values": FLOATS, "sequence_indices": FLOATS}, 'sequence_indices: .*"to_dtype": "bool"'),
        (
            {
                "next_values": FLOATS,
                "rewards": FloatBox(add_batch_rank=True, add_time_rank=True, time_major=True),
            },
            "rewards: expected the ranks of sequence_indices",
        ),
        ({"next_values": FloatBox()}, "next_values: with sequence_indices expected the value of the state"),
    ],
)
def test_wrong_spaces(spaces, message):
    with pytest.raises(SpaceError, match=f"sequence-helper: {message}"):
        ComponentTest(SequenceHelper(), {**SPACES, **spaces}, backend="numpy")
