"""The masked grid and Catch against naive loops; CartPole and Pendulum are held against Gymnasium beside the agents."""

import numpy as np
import pytest

from rlgraph.components.environments.catch import Catch
from rlgraph.components.environments.masked_grid import MaskedGrid
from rlgraph.core import SpecError
from rlgraph.testing import ComponentTest

NUMBER, STEPS = 5, 200
MOVES = [(-1, 0), (1, 0), (0, -1), (0, 1)]


def stepped(environment, choose, seed=0):
    """Each step of some copies, as (inner before, actions, what `step` gave)."""
    environment = environment.copies(NUMBER)
    spaces = {"task": environment.task_space, "actions": environment.action_space.with_batch_rank(NUMBER)}
    test = ComponentTest(environment, spaces, backend="numpy", seed=seed)
    rng, begun = np.random.default_rng(seed), test.test(("reset", []))
    task, states = begun["task"], begun["states"]
    for _ in range(STEPS):
        actions = choose(rng, states)
        after = test.test(("step", [task, actions]))
        yield task, states, actions, after
        task, states = after["task"], after["states"]


def random_legal(rng, states):
    return np.array([rng.choice(np.flatnonzero(mask)) for mask in states["action_mask"]])


def test_the_grid_is_that_of_a_loop():
    size, ends = 4, 0
    for task, states, actions, after in stepped(MaskedGrid(size=size), random_legal):
        for i in range(NUMBER):
            at, goal = task["inner"]["at"][i], task["inner"]["goal"][i]
            legal = [all(0 <= x < size for x in at + move) for move in MOVES]
            np.testing.assert_array_equal(states["action_mask"][i], legal)
            np.testing.assert_allclose(states["place"][i], np.concatenate([at, goal]) / size)
            there = at + MOVES[actions[i]]
            np.testing.assert_allclose(after["reached"]["place"][i], np.concatenate([there, goal]) / size)
            is_goal = bool((there == goal).all())
            assert after["terminated"][i] == is_goal
            assert after["rewards"][i] == pytest.approx(is_goal - 0.01)
            assert after["truncated"][i] == (not is_goal and task["steps"][i] + 1 == 50)
            ends += is_goal
    assert ends > 20


def test_a_move_against_the_border_stays():
    for task, _, actions, after in stepped(
        MaskedGrid(size=2), lambda rng, states: rng.integers(4, size=NUMBER)
    ):
        there = np.clip(task["inner"]["at"] + np.array(MOVES)[actions], 0, 1)
        np.testing.assert_allclose(after["reached"]["place"][:, :2], there / 2)


def test_catch_is_that_of_a_loop():
    rows, columns, caught = 6, 3, 0
    for task, states, actions, after in stepped(
        Catch(rows, columns), lambda rng, _: rng.integers(3, size=NUMBER)
    ):
        for i in range(NUMBER):
            row, ball, paddle = (int(task["inner"][name][i]) for name in ("row", "ball", "paddle"))
            board = np.zeros((rows, columns))
            board[row, ball] = board[-1, paddle] = 1.0
            np.testing.assert_array_equal(states[i], board)
            paddle, row = min(max(paddle + actions[i] - 1, 0), columns - 1), row + 1
            board = np.zeros((rows, columns))
            board[row, ball] = board[-1, paddle] = 1.0
            np.testing.assert_array_equal(after["reached"][i], board)
            is_last = row == rows - 1
            assert after["terminated"][i] == is_last
            assert after["rewards"][i] == (0.0 if not is_last else 1.0 if ball == paddle else -1.0)
            caught += is_last and ball == paddle
        assert not after["truncated"].any()
    assert caught > 10


def test_sizes_are_checked():
    with pytest.raises(SpecError, match="size"):
        MaskedGrid(size=1)
    with pytest.raises(SpecError, match="rows"):
        Catch(rows=1)
