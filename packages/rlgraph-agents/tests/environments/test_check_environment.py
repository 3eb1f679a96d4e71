"""check_environment finds what is wrong, one fault at a time, and nothing in what is right."""

import numpy as np
import pytest

from rlgraph.agents import Agent
from rlgraph.core import SpecError
from rlgraph.environments import Environment, Finding, GridWorld, check_environment
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox


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


@pytest.mark.parametrize("shared", [True, False])
def test_a_float_outside_its_bounds_is_a_warning(shared):
    """One for each bound, in whatever episode; the later checks follow."""
    low = -1.0 if shared else np.float32([-1.0, -np.inf])

    class Leaving(Walk):
        def __init__(self):
            super().__init__(Dict(at=FloatBox(low, None, shape=(2,)), speed=FloatBox(-1.0, 1.0)))

        def reset(self, seed=None):
            return {"at": super().reset(seed), "speed": 0.0}

        def step(self, action):
            count = (self.steps or 0) + 1
            _, *rest = super().step(action)
            return {"at": np.float32([-count, 7 - 2 * count]), "speed": 1.5 if count > 10 else 0.5}, *rest

    told = "declare wider bounds if it is right"
    assert list(map(str, worst(Leaving()))) == [
        "warning: step: Leaving, step 2: state/at[0] is -2.0, outside the bounds [-1.0, inf] of its Space; "
        f"agents warn of it: {told}",
        "warning: step: Leaving, step 11: state/speed is 1.5, outside the bounds [-1.0, 1.0] of its Space; "
        f"agents warn of it: {told}",
    ]
    assert {"seed", "state", "speed"} <= {finding.check for finding in check_environment(Leaving())}


@pytest.mark.parametrize("bound", [None, 1.0])
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e300])
def test_a_float_that_is_not_finite_is_an_error(bound, value):
    """In the dtype of the Space too, which agents read it in."""
    env = changed(step=step_with(state=np.full(2, value)))(FloatBox(bound, bound and 2.0, shape=(2,)))
    assert "error" in {finding.level for finding in worst(env)}


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


class Legal(Walk):
    """Has masks, and refuses what they forbid; `shown` changes them.

    Args:
        shape: of its masks: one for both elements of an action, flat or wide.
        shown: makes the mask of a state from the right one, the steps and whether the episode is over.
    """

    def __init__(self, shape=(5,), shown=lambda mask, steps, over: mask, length=20, terminates=False):
        super().__init__(length=length)
        self.shape, self.shown, self.terminates = shape, shown, terminates
        self.state_space = Dict(observation=FloatBox(shape=(2,)), action_mask=BoolBox(shape=shape))
        self.action_space = IntBox([2, 3])

    def _state(self, place, over=False):
        self.legal = self.rng.integers(2), self.rng.integers(3)
        mask, columns = np.zeros(self.shape, bool), [self.legal[0], 2 + self.legal[1]]
        for element, (column, action) in enumerate(zip(columns, self.legal, strict=True)):
            mask[column if len(self.shape) == 1 else (element, action)] = True
        return {"observation": place, "action_mask": self.shown(mask, self.steps, over)}

    def reset(self, seed=None):
        return self._state(super().reset(seed))

    def step(self, action):
        if tuple(action) != self.legal and self.steps is not None:
            raise RuntimeError("an illegal action")
        place, reward, _, ended, _ = super().step(action)
        return self._state(place, ended), reward, ended and self.terminates, ended and not self.terminates, {}


def none_legal(when):
    return lambda mask, steps, over: mask & (not when(steps, over))


@pytest.mark.parametrize("shape", [(5,), (2, 3)])
def test_only_legal_actions_are_done(shape):
    """As an agent does: in episodes, in those with equal seeds, and after a state is set."""
    assert worst(Legal(shape)) == []
    over = none_legal(lambda steps, over: over)
    assert worst(Legal(shape, over, terminates=True)) == []
    agent = Agent.from_spec("random", env=Legal(shape), backend="numpy")
    assert agent.evaluate(3, env=lambda: Legal(shape)).lengths == (20,) * 3


def test_masks_without_a_legal_action():
    """What agents refuse is an error; what only those refuse that learn from such a state is a warning."""
    for shown, step in (
        (none_legal(lambda steps, over: steps == 0), 0),
        (none_legal(lambda s, _: s == 3), 3),
    ):
        (found,) = worst(Legal(shown=shown))
        assert found.level == "error"
        assert f"Legal, step {step}: the action mask allows no action: expected at least one" in found.message
    partly = [1, 1, 0, 0, 0]
    (found,) = worst(Legal(shown=lambda mask, steps, over: mask & np.array(partly, bool)))
    assert "allows no action" in found.message
    found = worst(Legal(shown=none_legal(lambda steps, over: over)))
    assert [each.level for each in found] == ["warning"]
    assert "step 20: the action mask allows no action in a state that a truncation ends" in found[0].message


@pytest.mark.parametrize(
    "mask", [BoolBox(shape=(4,)), BoolBox(shape=(3, 2)), FloatBox(shape=(2, 3)), IntBox(2)]
)
def test_a_part_that_is_no_mask(mask):
    """In the words of the agents, which refuse it."""
    env = Legal()
    env.state_space = Dict(observation=FloatBox(shape=(2,)), action_mask=mask)
    with pytest.raises(SpecError) as caught:
        Agent.from_spec("random", state_space=env.state_space, action_space=env.action_space, backend="numpy")
    (found,) = worst(env)
    assert (found.level, found.check) == ("error", "masks")
    assert found.message == f"Legal: {caught.value.faults[0].text}"
    assert "expected bools or 0 and 1 of shape [2, 3] or [5]" in found.message


class Forwarding:
    """Has attributes of something inside."""

    def __getattr__(self, name):
        if name == "score":
            return 3
        raise AttributeError(name)


class Scored(Walk, Forwarding):
    @property
    def level(self):
        return self._misspelt + 1


def test_attributes_that_are_not_there_hide_no_others():
    environment = Scored.__new__(Scored)
    assert environment.score == 3
    with pytest.raises(AttributeError, match="_misspelt"):
        _ = environment.level
    with pytest.raises(AttributeError, match="no attribute 'resett'. Did you mean 'reset'"):
        _ = Walk.__new__(Walk).resett
