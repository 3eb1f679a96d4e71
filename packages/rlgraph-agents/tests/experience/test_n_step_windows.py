"""N-step transitions of random scripts of ends, invalid rows and cuts, against a loop over single episodes."""

import numpy as np
import pytest

from rlgraph.experience.n_step import NStepWindows
from rlgraph.experience.step import VectorStep

GAMMA = 0.5


def transitions_of(episode, n_step):
    """Transitions of one episode: its steps (state, reward, reached state), and whether it terminated."""
    steps, terminal = episode
    found = []
    for first in range(len(steps)):
        window = steps[first : first + n_step]
        last = first + len(window)
        rewards = sum(GAMMA**k * reward for k, (_, reward, _) in enumerate(window))
        ends = terminal and last == len(steps)
        found.append((steps[first][0], rewards, ends, window[-1][2], GAMMA ** len(window)))
    return found


@pytest.mark.parametrize("n_step", [1, 2, 3, 5])
@pytest.mark.parametrize("seed", range(5))
def test_any_script_of_ends_equals_a_loop_over_episodes(n_step, seed):
    rng, number = np.random.default_rng(seed), 3
    windows, found = NStepWindows(n_step, GAMMA, "float64"), []
    episodes, running = [], [[] for _ in range(number)]
    states = np.arange(number, dtype=float)
    clock = float(number)
    for _ in range(60):
        rewards = rng.normal(size=number)
        terminals = rng.random(number) < 0.1
        truncations = rng.random(number) < 0.1
        valid = rng.random(number) < 0.8
        reached = clock + np.arange(number)
        clock += number
        step = VectorStep(
            states, np.zeros(number), rewards, terminals, truncations, reached, np.zeros(number, bool), valid
        )
        found += windows.add(step)
        cut = [i for i in range(number) if rng.random() < 0.05]
        found += windows.cut(cut)
        for i in range(number):
            ended = False
            if valid[i]:
                running[i].append((states[i], rewards[i], reached[i]))
                ended = terminals[i] or truncations[i]
            if running[i] and (ended or i in cut):
                episodes.append((running[i], bool(ended and terminals[i])))
                running[i] = []
        states = clock + np.arange(number)
        clock += number
    got = sorted(
        tuple(row)
        for t in found
        for row in zip(t.states, t.rewards, t.terminals, t.next_states, t.discounts, strict=True)
    )
    finished = {state for steps, _ in episodes for state, *_ in steps}
    expected = sorted(row for episode in episodes for row in transitions_of(episode, n_step))
    complete = [row for row in got if row[0] in finished]
    assert len(expected) > 50
    np.testing.assert_allclose(np.array(complete, float), np.array(expected, float))
