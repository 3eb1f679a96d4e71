"""External batches: fragments of episodes as transitions, against loops; steps of `observe` by the same rule."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlgraph.core import InputError
from rlgraph.experience.external_batches import BatchReader
from rlgraph.experience.n_step import NStepWindows, n_step_transitions
from rlgraph.experience.pending_steps import PendingSteps, rounds
from rlgraph.experience.rollouts import Rollouts
from rlgraph.experience.sequence_indices import fragment_ends
from rlgraph.experience.step import VectorStep
from rlgraph.experience.step_reader import StepReader
from rlgraph.spaces import FloatBox, IntBox

G = 0.5


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


def test_the_last_row_ends_a_fragment_by_itself():
    unmarked, marked = (
        n_step_transitions(batch([1, 2, 3, 4]), np.array([False, True, False, last]), 2, G)
        for last in (False, True)
    )
    np.testing.assert_array_equal(unmarked["states"], [0, 2])
    assert all(np.array_equal(unmarked[name], marked[name]) for name in marked)


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


STEPS = st.lists(st.sampled_from(["goes on", "goes on", "terminal", "truncated"]), min_size=1, max_size=12)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(STEPS, min_size=1, max_size=3), st.integers(1, 5), st.booleans())
def test_observed_steps_follow_the_same_rule(environments, n_step, waits):
    """Steps of several environments in turn, with and without next states; the same steps as fragments in a batch."""
    windows, waiting, columns, last = NStepWindows(n_step, 0.9, "float64"), PendingSteps(), [], []
    for env, events in enumerate(environments):
        for t, event in enumerate(events):
            state = 100.0 * env + t
            # What a step that waits led to is the next state that is observed, also after a terminal one.
            columns.append((state, 10 * env + t, 0.1 * t - env, event == "terminal", state + 1.0))
            last.append(event == "truncated" or t == len(events) - 1)
    starts, found = np.cumsum([0, *map(len, environments)]), []

    def observe(t, envs):
        rows = [columns[starts[env] + t] for env in envs]
        states, actions, rewards, terminals, following = (
            np.array(column) for column in zip(*rows, strict=True)
        )
        truncations = np.array([environments[env][t] == "truncated" for env in envs])
        known = not waits or truncations.any()
        nowhere = np.zeros(len(envs), bool)
        step = VectorStep(
            states, actions, rewards, terminals, truncations, following if known else None, nowhere
        )
        for complete, slots in waiting.add(step, np.array(envs)):
            found.extend(windows.add(complete, slots))

    for t in range(max(map(len, environments))):
        envs = [env for env, events in enumerate(environments) if t < len(events)]
        together = t % 2 and not (waits and any(environments[env][t] == "truncated" for env in envs))
        for group in (envs,) if together else [[env] for env in reversed(envs)]:
            observe(t, group)
    for complete, slots in waiting.cut():
        found.extend(windows.add(complete, slots))
    found.extend(windows.cut())
    names = ("states", "actions", "rewards", "terminals", "next_states")
    given = {name: np.array(values) for name, values in zip(names, zip(*columns, strict=True), strict=True)}
    if waits:  # where the last step of an environment led nobody knows, unless it ended an episode
        final = starts[1:] - 1
        ended = np.array([events[-1] != "goes on" for events in environments])
        kept = np.setdiff1d(np.arange(len(last)), final[~ended])
        given = {name: values[kept] for name, values in given.items()}
        last = np.isin(np.arange(len(columns)), [*np.flatnonzero(last), *(final[~ended] - 1)])[kept]
    got = {} if not len(given["states"]) else n_step_transitions(given, np.array(last), n_step, 0.9)
    expected = sorted(zip(*(got[name].tolist() for name in names), strict=True)) if got else []
    streamed = sorted(
        row for part in found for row in zip(*(getattr(part, name).tolist() for name in names), strict=True)
    )
    assert len(streamed) == len(expected)
    for one, other in zip(streamed, expected, strict=True):
        # The next state of a terminal step is never used.
        assert one[:4] == pytest.approx(other[:4])
        assert one[3] or one[4] == pytest.approx(other[4])


def test_a_step_that_waits_in_one_slot_holds_back_the_others_of_that_step():
    waiting, nowhere = PendingSteps(), np.zeros(2, bool)

    def step(first, next_states=None, number=2):
        rows = np.arange(first, first + number, dtype=float)
        return VectorStep(rows, rows, rows, nowhere[:number], nowhere[:number], next_states, nowhere[:number])

    assert waiting.add(step(0.0), np.array([0, 1])) == []
    assert waiting.add(step(10.0, np.array([11.0]), 1), np.array([0])) == []  # its slot has an older step
    (older, slots), (newer, _) = waiting.add(step(20.0, np.array([21.0]), 1), np.array([1]))[:2]
    assert (older.next_states.tolist(), slots.tolist()) == ([10.0, 20.0], [0, 1])
    assert newer.states.tolist() == [10.0]
    assert len(waiting) == 0


def test_rounds_are_the_first_rows_of_each_slot_then_the_second():
    assert [chosen.tolist() for chosen in rounds(np.array([3, 1, 3, 3, 1]))] == [[0, 1], [2, 4], [3]]
    assert [chosen.tolist() for chosen in rounds(np.array([2, 0]))] == [[0, 1]]


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


def test_fragments_of_one_environment_are_a_rollout():
    """Rows 0 and 1 are cut, 2 ends in a terminal state, 3 goes on: where rows 1 and 3 led is not known.

    A row before one without weight is an end too: what is left out reaches no other row.
    """
    reader = BatchReader(StepReader(FloatBox(), FloatBox(), IntBox(2), "float32"), Rollouts(), "float32")
    fields = {
        "states": np.arange(4.0),
        "actions": [0, 1, 0, 1],
        "rewards": [1.0, 2.0, 3.0, 4.0],
        "terminals": [False, False, True, False],
    }
    records = reader.records("update", fields, [1])
    assert {name: column.shape for name, column in records.items()} == dict.fromkeys(records, (4, 1))
    assert records["ends"].ravel().tolist() == [True, True, True, True]
    assert records["weights"].ravel().tolist() == [1.0, 0.0, 1.0, 0.0]
    assert records["next_states"].ravel().tolist()[0] == 1.0
    known = reader.records("update", {**fields, "next_states": np.arange(10.0, 14.0)}, [1])
    assert known["weights"].ravel().tolist() == [1.0] * 4
    assert known["next_states"].ravel().tolist() == [10.0, 11.0, 12.0, 13.0]
    with pytest.raises(
        InputError, match=r"or \[T, N, ...\] with next_states, given rewards of shape \[4, 1\]"
    ):
        reader.records("update", {name: np.array(v)[:, None] for name, v in fields.items()}, None)


def test_rollouts_of_several_environments_mark_their_ends_themselves():
    reader = BatchReader(StepReader(FloatBox(), FloatBox(), IntBox(2), "float32"), Rollouts(), "float32")
    zeros = np.zeros((3, 2), np.float32)
    fields = {"states": zeros, "actions": zeros.astype(int), "rewards": zeros, "next_states": zeros}
    fields["terminals"] = zeros.astype(bool)
    with pytest.raises(InputError, match=r"rollouts \[T, N\]: mark ends with truncations"):
        reader.records("update", fields, [1])
    assert not reader.records("update", fields, None)["ends"].any()
