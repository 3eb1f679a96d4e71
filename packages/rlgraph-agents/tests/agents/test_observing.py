"""From steps to records, against numbers by hand and against a loop that looks at a whole episode at once."""

import numpy as np
import pytest

from rlgraph.agents.observing import ObserveBuffers, Step

G = 0.5


class Sink(list):
    """Remembers inserted columns as rows."""

    def __call__(self, *columns):
        self.extend(zip(*(column.tolist() for column in columns), strict=True))


def observed(steps, n_step, flush=False, env_ids=None, discount=G):
    sink = Sink()
    buffers = ObserveBuffers(sink, n_step, discount, "float64")
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
    buffers = ObserveBuffers(records, n_step, 0.9, "float64")
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
    buffers = ObserveBuffers(sink, 3, G, "float64")
    buffers.add([step(1, 1, 2), step(5, 1, 6)], ["a", "b"])
    buffers.drop(["a", "unheard of"])
    buffers.add([step(8, 1, 9, terminal=True), step(6, 1, 7, terminal=True)], ["a", "b"])
    assert sorted(record[0] for record in sink) == [5.0, 6.0, 8.0]


def test_a_cut_behind_a_waiting_step_bootstraps_from_its_state():
    """The reward of the waiting step is not part of what came before it."""
    records, buffers = observed([step(1, 4, None), step(2, 8, None), step(3, 16, None)], 3, flush=True)
    assert records == [(1.0, 10, 4 + 0.5 * 8, False, 3.0, 0.25), (2.0, 20, 8.0, False, 3.0, 0.5)]
    assert not buffers.windows
