"""check_environment finds what is wrong, one fault at a time, and nothing in what is right."""

import numpy as np
import pytest

from rlgraph.environments import Environment, Finding, GridWorld, check_environment
from rlgraph.spaces import Dict, FloatBox, IntBox


class Walk(Environment):
    """A random walk on a line; right in every way."""

    def __init__(self, state_space=None, length=20):
        super().__init__(state_space or FloatBox(shape=(2,)), IntBox(2))
        self.length, self.rng, self.steps = length, np.random.default_rng(), None

    def reset(self, seed=None):
        if seed is not None:
            self.rng = np.random.default_rng(seed)
        self.steps, self.at = 0, np.zeros(2, np.float32)
        return self.at.copy()

    def step(self, action):
        if self.steps is None:
            raise RuntimeError("reset first")
        self.at += self.rng.normal(size=2).astype(np.float32)
        self.steps += 1
        ended = self.steps >= self.length
        if ended:
            self.steps = None
        return self.at.copy(), 1.0, False, ended, {}


def worst(env, **arguments):
    """The findings that are no notes."""
    return [finding for finding in check_environment(env, **arguments) if finding.level != "note"]


@pytest.mark.parametrize(
    "env",
    [
        Walk(),
        GridWorld("2x2"),
        "CartPole-v1",
        {"type": "random", "state_space": float, "action_space": IntBox(2)},
    ],
)
def test_nothing_is_found_in_what_is_right(env):
    assert worst(env) == []
    notes = [finding.check for finding in check_environment(env)]
    assert "speed" in notes and ("state" in notes) == isinstance(env, Walk)


def test_notes():
    notes = {finding.check: str(finding) for finding in check_environment(GridWorld("2x2"))}
    assert "nothing is random" in notes["seed"]
    assert notes["speed"].startswith("note: speed: GridWorld('2x2'): ")
    notes = {finding.check: str(finding) for finding in check_environment(Walk())}
    assert "begins new episodes" in notes["state"] and "seed" not in notes


def changed(**methods):
    return type("Changed", (Walk,), methods)


def step_with(**changes):
    """`Walk.step` with parts of its outcome replaced."""
    names = ("state", "reward", "terminated", "truncated", "info")

    def step(self, action):
        outcome = dict(zip(names, Walk.step(self, action), strict=True))
        return tuple((outcome | changes).values())

    return step


def forget_the_seed(self, seed=None):
    return Walk.reset(self)


def hand_out_the_same_array(self, action):
    Walk.step(self, action)
    return self.at, 0.0, False, False, {}


def go_on(self, action):
    self.steps = self.steps or 0
    return Walk.step(self, action)


def wrong_state(self, state):
    return Walk.reset(self, seed=3)


@pytest.mark.parametrize(
    ("methods", "level", "check", "message"),
    [
        ({"step": step_with(state=np.zeros(3, np.float32))}, "error", "step", "Changed, step 1: state"),
        ({"step": step_with(state=np.zeros(2))}, "warning", "step", "float64, its Space is float32"),
        ({"step": step_with(state=np.full(2, np.nan, np.float32))}, "error", "step", "nan"),
        ({"step": step_with(reward=np.inf)}, "error", "step", "step 1: the reward is inf"),
        ({"step": step_with(terminated=0)}, "error", "step", "terminated is a bool, got 0"),
        ({"step": step_with(info=None)}, "error", "step", "info is a dict"),
        ({"step": lambda self, action: (0, 0, False, {})}, "error", "step", "got a tuple of 4"),
        ({"reset": lambda self, seed=None: (np.zeros(2, np.float32), {})}, "error", "step", "step 0: state"),
        ({"reset": lambda self: None}, "error", "step", "raised TypeError"),
        ({"step": hand_out_the_same_array}, "error", "step", "changed a state that an earlier step returned"),
        ({"reset": forget_the_seed}, "error", "seed", "equal actions differ at step"),
        ({"step": go_on}, "warning", "ends", "step() after the end of an episode succeeds"),
        ({"get_state": lambda self: {}, "set_state": wrong_state}, "error", "state", "continues differently"),
    ],
)
def test_one_fault_at_a_time(methods, level, check, message):
    found = worst(changed(**methods)())
    assert [(finding.level, finding.check) for finding in found if message in finding.message] == [
        (level, check)
    ]


def test_an_episode_that_never_ends():
    (found,) = worst(Walk(length=10**9), max_steps=50)
    assert found.check == "ends" and "no episode ended within 50 steps" in found.message


def test_spaces():
    def found(space):
        env = Walk()
        env.state_space = space
        return worst(env)

    assert found(None) == [Finding("error", "spaces", found(None)[0].message)]
    assert (
        "state_space is a Space, got None; call super().__init__(state_space, action_space)"
        in found(None)[0].message
    )
    assert "without batch and time rank" in found(FloatBox(shape=(2,), add_batch_rank=True))[0].message


def test_a_leaf_is_named():
    class Parts(Walk):
        def __init__(self):
            super().__init__(Dict(place=FloatBox(shape=(2,)), speed=float))

        def reset(self, seed=None):
            return {"place": super().reset(seed), "speed": np.float32(np.nan)}

    (found,) = worst(Parts())
    assert "Parts, step 0: state" in found.message and "speed" in found.message


def test_what_a_spec_makes_is_terminated():
    ended = []
    check_environment(changed(terminate=lambda self: ended.append(1)))
    assert ended == [1]
    check_environment(changed(terminate=lambda self: ended.append(2))())
    assert ended == [1]
