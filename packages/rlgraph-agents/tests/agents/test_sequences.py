"""Fragments of episodes in one batch: which row belongs to which."""

import numpy as np
import pytest

from rlgraph.agents.sequences import fragment_ends
from rlgraph.core import InputError


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([1, 3], [1, 3, 4]),
        (np.array([False, True, False, True, False]), [1, 3, 4]),
        ([4], [4]),
        ([], [4]),
        (None, [4]),
    ],
)
def test_both_ways_to_mark_the_ends(given, expected):
    assert np.flatnonzero(fragment_ends("update", given, 5)).tolist() == expected


@pytest.mark.parametrize("given", [[5], [-1], [True, False], [[1]], [0.5], "ab"])
def test_indices_that_are_no_rows(given):
    with pytest.raises(InputError, match=r"update: sequence_indices: expected bool\[5\]"):
        fragment_ends("update", given, 5)
