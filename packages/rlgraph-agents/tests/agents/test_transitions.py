"""From steps to transitions, one after the other and in batches.

Against numbers by hand, and against a loop that looks at a whole episode at once.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlgraph.agents.transitions import Step, TransitionBuffers, Window, n_step_transitions
from rlgraph.core import InputError

G = 0.5


class Sink(list):
    """Remembers inserted columns as rows."""

    def __call__(self, *columns):
        self.extend(zip(*(column.tolist() for column in columns), strict=True))


def observed(steps, n_step, flush=False, env_ids=None, discount=G):
    sink = Sink()
    buffers = TransitionBuffers(sink, n_step, discount, "float64")
    for index, step in enumerate(steps):
        buffers.add([step], [env_ids[index] if env_ids else "env_0"])
    if flush:
        buffers.flush()
    return sink, buffers


def step(state, reward, next_state, terminal=False, truncated=False):
    as_array = None if next_state is None else np.array(float(next_state))
    return Step(np.array(float(state)), np.array(state * 10), float(reward), terminal, truncated, as_array)


def naive(states, rewards, next_states, terminal, n, discount=G):
    """Records of one episode that ended behind its last step, terminal or cut."""
    records = []
    for t in range(len(states)):
        k = min(n, len(states) - t)
        last = t + k - 1
        total = sum(discount**j * rewards[t + j] for j in range(k))
        records.append(
            (states[t], total, terminal and last == len(states) - 1, next_states[last], discount**k)
        )
    return records


def test_three_steps_by_hand():
    steps = [step(1, 4, 2), step(2, 8, 3), step(3, 16, 4, terminal=True)]
    records, buffers = observed(steps, 2)
    # state, action, r + g r', terminal, next state, g^k
    assert records == [
        (1.0, 10, 4 + 0.5 * 8, False, 3.0, 0.25),
        (2.0, 20, 8 + 0.5 * 16, True, 4.0, 0.25),
        (3.0, 30, 16.0, True, 4.0, 0.5),
    ]
    assert not buffers.windows


def test_one_step_has_no_discounts():
    records, _ = observed([step(1, 4, 2)], 1)
    assert records == [(1.0, 10, 4.0, False, 2.0)]


@pytest.mark.parametrize("n_step", [1, 2, 3, 7])
@pytest.mark.parametrize("length", [1, 2, 3, 6])
@pytest.mark.parametrize("end", ["terminal", "truncated", "flushed"])
@pytest.mark.parametrize("waits", [False, True])
def test_episodes_against_a_loop_over_the_whole(n_step, length, end, waits):
    """With and without next states; the second episode shows that nothing of the first is left."""
    rng = np.random.default_rng(n_step * 100 + length)
    records, expected = Sink(), []
    buffers = TransitionBuffers(records, n_step, 0.9, "float64")
    for episode in range(2):
        states = [float(100 * episode + t) for t in range(length + 1)]
        rewards = rng.normal(size=length).tolist()
        for t in range(length):
            last = t == length - 1
            next_state = None if waits and not (last and end == "truncated") else states[t + 1]
            step_ = Step(
                np.array(states[t]),
                np.array(0),
                rewards[t],
                last and end == "terminal",
                last and end == "truncated",
                None if next_state is None else np.array(next_state),
            )
            buffers.add([step_], ["env_0"])
        buffers.flush()
        known = list(states[1:])
        if waits and end == "terminal":
            known[-1] = states[-2]  # any will do: its value is never used
        if waits and end == "flushed":  # where the last step led nobody knows
            states, rewards = states[:-1], rewards[:-1]
        expected += naive(states[:-1], rewards, known, end == "terminal", n_step, 0.9)
    got = [(r[0], *r[2:], *([0.9] if n_step == 1 else [])) for r in records]
    key = lambda record: record[0]  # noqa: E731
    for record, wanted in zip(sorted(got, key=key), sorted(expected, key=key), strict=True):
        assert record == pytest.approx(wanted)


def test_environments_are_kept_apart():
    ids = ["a", "b", "a", "b", "a", "b"]
    steps = [step(1, 1, 2), step(5, 10, 6), step(2, 2, 3), step(6, 20, 7), step(3, 4, 4), step(7, 40, 8)]
    records, _ = observed(steps, 2, env_ids=ids)
    assert [record[:3] for record in records] == [
        (1.0, 10, 1 + 0.5 * 2),
        (5.0, 50, 10 + 0.5 * 20),
        (2.0, 20, 2 + 0.5 * 4),
        (6.0, 60, 20 + 0.5 * 40),
    ]


def test_what_is_dropped_of_one_environment_stays_of_the_others():
    sink = Sink()
    buffers = TransitionBuffers(sink, 3, G, "float64")
    buffers.add([step(1, 1, 2), step(5, 1, 6)], ["a", "b"])
    buffers.drop(["a", "unheard of"])
    buffers.add([step(8, 1, 9, terminal=True), step(6, 1, 7, terminal=True)], ["a", "b"])
    assert sorted(record[0] for record in sink) == [5.0, 6.0, 8.0]


def test_a_cut_behind_a_waiting_step_bootstraps_from_its_state():
    """The reward of the waiting step is not part of what came before it."""
    records, buffers = observed([step(1, 4, None), step(2, 8, None), step(3, 16, None)], 3, flush=True)
    assert records == [(1.0, 10, 4 + 0.5 * 8, False, 3.0, 0.25), (2.0, 20, 8.0, False, 3.0, 0.5)]
    assert not buffers.windows


def test_nothing_is_left_in_a_window_that_was_cut():
    window = Window(2, G)
    assert [window.add(step(1, 4, 2)), window.add(step(2, 8, None))] == [[], []]
    assert [record.state for record in window.flush()] == [1.0]
    assert not window
    assert window.add(step(5, 16, None)) == [] and window.flush() == []


def test_a_cut_without_the_state_behind_it():
    """The next step is of another episode: its state is not where this one led."""
    window = Window(2, G)
    with pytest.raises(InputError, match="a truncated step needs its next_state"):
        window.add(step(1, 4, None, truncated=True))


# Batches of fragments.


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


@settings(max_examples=80, deadline=None, derandomize=True)
@given(st.lists(STEPS, min_size=1, max_size=3), st.integers(1, 5))
def test_both_forms_follow_one_rule(environments, n_step):
    """Steps of several environments in turn; the same steps as fragments one behind the other."""
    sink, columns, last = Sink(), [], []
    buffers = TransitionBuffers(sink, n_step, 0.9, "float64")
    for env, events in enumerate(environments):
        for t, event in enumerate(events):
            columns.append(
                (100.0 * env + t, 10 * env + t, 0.1 * t - env, event == "terminal", 100.0 * env + t + 0.5)
            )
            last.append(event == "truncated" or t == len(events) - 1)
    starts = np.cumsum([0, *map(len, environments)])
    for t in range(max(map(len, environments))):
        for env, events in enumerate(environments):
            if t < len(events):
                state, action, reward, terminal, following = columns[starts[env] + t]
                cut = events[t] == "truncated"
                one = Step(np.array(state), np.array(action), reward, terminal, cut, np.array(following))
                buffers.add([one], [f"env_{env}"])
    buffers.flush()
    names = ("states", "actions", "rewards", "terminals", "next_states")
    given = {name: np.array(values) for name, values in zip(names, zip(*columns, strict=True), strict=True)}
    got = n_step_transitions(given, np.array(last), n_step, 0.9)
    batched = sorted(zip(*(values.tolist() for values in got.values()), strict=True))
    order = [list(got).index(name) for name in (*names, "discounts")[: len(got)]]
    streamed = sorted(sink)
    assert len(streamed) == len(batched) == len(columns)
    for one, other in zip(streamed, sorted(tuple(row[i] for i in order) for row in batched), strict=True):
        assert one == pytest.approx(other)


@pytest.mark.parametrize("n_step", [0, -1, 1.5])
def test_a_number_of_steps_that_is_none(n_step):
    with pytest.raises(InputError, match="n_step: expected an integer >= 1, given"):
        TransitionBuffers(print, n_step, 0.9, "float32")


def test_steps_and_environments_that_do_not_pair():
    buffers, step = TransitionBuffers(print, 1, 0.9, "float32"), Step(0, 0, 1.0, False, False, 1)
    for steps, env_ids in ((step, ["a"]), ([step], "a"), ([step], ["a", "b"])):
        with pytest.raises(
            InputError, match="add: expected a list of steps and one with the environment of each"
        ):
            buffers.add(steps, env_ids)
    assert not buffers.windows
