"""Fragments of episodes in one batch: which row belongs to which, and what becomes of the last one."""

import numpy as np
import pytest

from rlgraph.agents.sequences import fragment_ends, n_step_transitions
from rlgraph.core import InputError


def batch(rewards, terminals=(), states=None, **more):
    rows = len(rewards)
    return {
        "states": np.arange(rows, dtype=np.float32) if states is None else states,
        "actions": np.arange(rows) * 10,
        "rewards": np.array(rewards, np.float32),
        "terminals": np.isin(np.arange(rows), terminals),
        **more,
    }


def ends(rows, *last):
    return np.isin(np.arange(rows), [*last, rows - 1])


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


def test_the_next_row_is_the_next_state():
    # Fragments 0-2 (goes on), 3-4 (terminal), 5 (goes on).
    got = n_step_transitions(batch([1, 2, 3, 4, 5, 6], terminals=[4]), ends(6, 2, 4), 1, 0.9)
    assert got["states"].tolist() == [0, 1, 3, 4]
    assert got["actions"].tolist() == [0, 10, 30, 40]
    assert got["next_states"].tolist() == [1, 2, 4, 4]  # the last is not used: terminal
    assert got["rewards"].tolist() == [1, 2, 4, 5]
    assert got["terminals"].tolist() == [False, False, False, True]
    assert "discounts" not in got


def test_next_states_that_are_given_keep_the_last_rows():
    given = batch([1, 2, 3], next_states=np.array([11.0, 12.0, 13.0], np.float32))
    got = n_step_transitions(given, ends(3, 0), 1, 0.9)
    for name, values in given.items():
        np.testing.assert_array_equal(got[name], values)


def test_a_terminal_row_ends_a_fragment_by_itself():
    got = n_step_transitions(batch([1, 2, 4, 8], terminals=[1]), ends(4), 3, 0.5)
    # Row 3 is not followed by anything; row 2 has one step.
    assert got["states"].tolist() == [0, 1, 2]
    assert got["rewards"].tolist() == [1 + 0.5 * 2, 2, 4]
    assert got["terminals"].tolist() == [True, True, False]
    assert got["discounts"].tolist() == [0.25, 0.5, 0.5]
    assert got["next_states"][2] == 3


@pytest.mark.parametrize("n_step", [1, 2, 3, 5])
@pytest.mark.parametrize("with_next", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_against_a_loop(n_step, with_next, seed):
    rng = np.random.default_rng(seed)
    rows, discount = 40, 0.9
    given = batch(rng.normal(size=rows))
    given["terminals"] = rng.random(rows) < 0.15
    last = rng.random(rows) < 0.2
    last[-1] = True
    if with_next:
        given["next_states"] = given["states"] + 0.5
    got = n_step_transitions(given, last, n_step, discount)
    row = 0
    for t in range(rows):
        total, k, i = 0.0, 0, t
        while True:
            stops = given["terminals"][i] or last[i]
            if stops and not given["terminals"][i] and not with_next:
                break  # nobody knows where this step led
            total += discount**k * given["rewards"][i]
            k += 1
            if k == n_step or stops:
                break
            i += 1
        if k == 0:
            continue
        final = t + k - 1
        assert got["states"][row] == given["states"][t]
        assert got["rewards"][row] == pytest.approx(total, rel=1e-5, abs=1e-6)
        assert got["terminals"][row] == given["terminals"][final]
        if not got["terminals"][row]:
            assert (
                got["next_states"][row]
                == given["next_states" if with_next else "states"][final if with_next else final + 1]
            )
        if n_step > 1:
            assert got["discounts"][row] == pytest.approx(discount**k)
        row += 1
    assert row == len(got["states"])


def test_container_states():
    states = {"a": np.arange(3.0), "b": (np.arange(6).reshape(3, 2),)}
    got = n_step_transitions(batch([1, 2, 3], states=states), ends(3), 1, 0.9)
    np.testing.assert_array_equal(got["next_states"]["b"][0], [[2, 3], [4, 5]])
    np.testing.assert_array_equal(got["states"]["a"], [0, 1])
