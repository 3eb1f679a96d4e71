"""Checks an environment against the contract of `Environment`, for its author.

Workers check environments too, and stop at the first mistake; this reports all of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from rlgraph.components.common.action_masks import NAME
from rlgraph.core import SpecError
from rlgraph.core.execution_spec import DEFAULT_SEED
from rlgraph.core.ops import map_nested
from rlgraph.environments.environment import Environment
from rlgraph.environments.errors import EnvironmentFault, last_line
from rlgraph.environments.factory import make_environment
from rlgraph.environments.interrupts import interruptible, raise_interruption
from rlgraph.environments.masked_states import NEEDS_ACTION, MaskedStates, masked_states
from rlgraph.environments.rows import leaves_of, write_row
from rlgraph.environments.state_bounds import StateBounds
from rlgraph.environments.step_checks import CheckedStep, check_finite
from rlgraph.spaces import Space, SpaceError

SEED = 20_000


@dataclass(frozen=True)
class Finding:
    """One thing `check_environment` found.

    Attributes:
        level: "error": the contract is broken; "warning": possibly a mistake; "note": information.
        check: the kind of check: "spaces", "masks", "reset", "step", "seed", "ends", "state", "speed", "terminate".
        message: what was found, where, and what to do.
    """

    level: str
    check: str
    message: str

    def __str__(self) -> str:
        return f"{self.level}: {self.check}: {self.message}"


def check_environment(
    env: Any, episodes: int = 3, max_steps: int = 1000, seed: int = DEFAULT_SEED
) -> list[Finding]:
    """Plays with random actions and reports violations of the contract of `Environment`.

    Args:
        env: an environment, or a spec as `make_environment` takes it. An environment is left in any state; one that
            was made from a spec is terminated.
        episodes: number of episodes to play.
        max_steps: steps after which an episode is abandoned.
        seed: the seed of resets and random actions.

    Returns:
        Errors, warnings and notes in the order they were found. Without errors workers can use the environment.

    Raises:
        SpecError, EnvironmentFault: no environment can be made from `env`, see `make_environment`.
    """
    environment = make_environment(env)
    check = _Check(environment, max_steps, seed)
    with interruptible():
        check.play(episodes)
        if not isinstance(env, Environment):
            check.guarded("terminate", environment.terminate)
    return check.found


class _Check:
    """The state of one check: an environment and the findings so far."""

    def __init__(self, environment: Environment, max_steps: int, seed: int) -> None:
        self.env = environment
        self.max_steps = max_steps
        self.seed = seed
        self.rng = np.random.default_rng(seed)
        self.found: list[Finding] = []
        self.steps = 0
        self.seconds = 0.0
        #: The states, if a part of them is a mask.
        self.masked: MaskedStates | None = None
        self.ends = {"terminated": 0, "truncated": 0, "neither": 0}

    def play(self, episodes: int) -> None:
        """Runs all checks, up to an episode that fails."""
        if not self._spaces() or not self._masks() or not self.guarded("reset", self._step_before_reset):
            return
        self.step = CheckedStep(self.env, self.env.name, validate_states=False)
        self.bounds = StateBounds(
            self.env.state_space, lambda _: self.env.name, lambda _: self.step.steps, self._outside
        )
        #: The present state, as agents get it, and the dtypes of its leaves.
        self.rows = self.env.state_space.zeros(1)
        self.dtypes = {path: leaf.dtype for path, leaf in leaves_of(self.rows)}
        for episode in range(episodes):
            seed = self.seed if episode == 0 else None
            if not self.guarded("step", partial(self._episode, seed)):
                return
        self._ends()
        self.guarded("seed", self._seeds)
        self.guarded("state", self._inner_state)
        self._speed()

    def add(self, level: str, check: str, message: str) -> None:
        self.found.append(Finding(level, check, f"{self.env.name}: {message}"))

    def guarded(self, check: str, look: Callable[[], None]) -> bool:
        """Runs a check and turns an exception into a finding; returns whether there was none."""
        try:
            look()
        except EnvironmentFault as fault:
            self.found.append(Finding("error", check, str(fault)))
            return False
        except BaseException as error:
            raise_interruption(error)
            self.add("error", check, f"raised {last_line(error)}")
            return False
        return True

    def _spaces(self) -> bool:
        """Checks that both are Spaces of one state and one action, and can be sampled."""
        sound = True
        for name in ("state_space", "action_space"):
            space = getattr(self.env, name, None)
            if not isinstance(space, Space):
                call = "super().__init__(state_space, action_space)"
                self.add("error", "spaces", f"{name} is a Space, got {space!r}; call {call}")
                sound = False
            elif space.has_batch_rank or space.has_time_rank:
                self.add("error", "spaces", f"{name} is the Space of one value, without batch and time rank")
                sound = False
            else:
                sound &= self._samples(name, space)
        return sound

    def _samples(self, name: str, space: Space) -> bool:
        try:
            sample = space.sample(rng=self.rng)
            fault = space.explain(sample, name)
        except (SpaceError, ValueError) as error:
            fault = str(error)
        if fault is not None:
            self.add("error", "spaces", f"{name} cannot be sampled: {fault}")
        return fault is None

    def _masks(self) -> bool:
        """Checks that a part of the states that agents take for a mask of the actions is one."""
        try:
            self.masked = masked_states(self.env.state_space, self.env.action_space, NAME)
        except SpecError as error:
            for fault in error.faults:
                self.add("error", "masks", fault.text)
            return False
        return True

    def _action(self, state: Any, rng: np.random.Generator) -> Any:
        """A random action, as an agent may do in a state: a legal one."""
        if self.masked is None:
            return self.env.action_space.sample(rng=rng)
        return self.masked.sample(state, self.env.action_space, rng)

    def _check_mask(self, terminated: bool = False, truncated: bool = False) -> None:
        """Checks that the mask of a state that somebody acts on, or whose value is learned, allows an action."""
        if self.masked is None or terminated or self.masked.row_without_actions(self.rows) is None:
            return
        fault = f"step {self.step.steps}: the action mask allows no action"
        if not truncated:
            raise EnvironmentFault(f"{self.env.name}, {fault}: {NEEDS_ACTION}")
        if not any(finding.check == "masks" for finding in self.found):
            where = f"{self.env.name}, {fault} in a state that a truncation ends"
            self.found.append(
                Finding("warning", "masks", f"{where}: agents that learn from its value refuse it")
            )

    def _step_before_reset(self) -> None:
        self._refused("before the first reset()")

    def _refused(self, when: str) -> None:
        """Checks that a step is refused."""
        try:
            self.env.step(self.env.action_space.sample(rng=self.rng))
        except BaseException as error:
            raise_interruption(error)
            return
        self.add("warning", "ends", f"step() {when} succeeds; raise EnvironmentFault('call reset()')")

    def _episode(self, seed: int | None) -> None:
        """Plays and checks one episode."""
        state = self.env.reset(seed=seed)
        self.step.begin(state)
        self._check_state(state)
        kept, copied = state, map_nested(np.array, state)
        for _ in range(self.max_steps):
            action = self._action(state, self.rng)
            started = time.perf_counter()
            state, reward, terminated, truncated, _ = self.step(action)
            self.seconds += time.perf_counter() - started
            self.steps += 1
            self._check_state(state, bool(terminated), bool(truncated))
            if not np.isfinite(float(reward)):
                raise EnvironmentFault(
                    f"{self.env.name}, step {self.step.steps}: the reward is {reward}; it must be finite."
                )
            if copied is not None and not _same(kept, copied):
                self.add(
                    "error",
                    "step",
                    f"step {self.step.steps} changed a state that an earlier step returned; return copies",
                )
                copied = None
            if copied is not None:
                kept, copied = state, map_nested(np.array, state)
            if terminated or truncated:
                self.ends["terminated"] += bool(terminated)
                self.ends["truncated"] += bool(truncated)
                if self.ends["terminated"] + self.ends["truncated"] == 1:
                    self._refused("after the end of an episode")
                return
        self.ends["neither"] += 1

    def _outside(self, _: str, message: str) -> None:
        """Reports a float outside its bounds, which is no fault for agents."""
        self.found.append(
            Finding("warning", "step", f"{message}; agents warn of it: declare wider bounds if it is right")
        )

    def _check_state(self, state: Any, terminated: bool = False, truncated: bool = False) -> None:
        """Checks that floats are finite and that a mask allows an action, and reports floats outside their bounds."""
        for path, leaf in leaves_of(state):
            if isinstance(leaf, np.ndarray) and leaf.dtype != self.dtypes.get(path, leaf.dtype):
                expected = self.dtypes.pop(path)  # reported once
                self.add(
                    "warning", "step", f"state{path} is {leaf.dtype}, its Space is {expected}; it is cast"
                )
        with np.errstate(over="ignore"):
            write_row(self.rows, 0, state)
        for path, rows in leaves_of(self.rows, "state"):
            check_finite(rows, lambda _: f"{self.env.name}, step {self.step.steps}", path)
        self.bounds.look(self.rows, slice(1))
        self._check_mask(terminated, truncated)

    def _ends(self) -> None:
        if not self.ends["terminated"] and not self.ends["truncated"]:
            self.add(
                "warning",
                "ends",
                f"no episode ended within {self.max_steps} steps of random actions; set a worker's "
                "max_timesteps_per_episode, or truncate episodes in the environment",
            )

    def _seeds(self) -> None:
        """Checks that equal seeds give equal episodes; different seeds should give different ones."""
        seeds = (SEED, SEED, SEED + 1)
        first, again, other = (self._played(self.env.reset(seed=seed), one_episode=True) for seed in seeds)
        for at, (one, two) in enumerate(zip(first, again, strict=False)):
            if not _same(one, two):
                self.add(
                    "error",
                    "seed",
                    f"two episodes with reset(seed={SEED}) and equal actions differ at step {at}; draw all random "
                    "numbers from a generator that reset(seed) creates",
                )
                return
        if len(first) != len(again):
            self.add("error", "seed", "two episodes with one seed and equal actions differ in length")
        elif len(first) == len(other) and all(map(_same, first, other)):
            self.add("note", "seed", "episodes with different seeds are equal: nothing is random")

    def _inner_state(self) -> None:
        """Checks that `set_state` restores the state of `get_state`, if it is supported."""
        begun = self.env.reset(seed=SEED)
        state = self.env.get_state()
        if state is None:
            self.add(
                "note",
                "state",
                "get_state() is None: a resumed run begins new episodes, and checkpoints cut running ones",
            )
            return
        begun = map_nested(np.array, begun)
        ahead = self._played(begun)
        self.env.set_state(state)
        if not all(map(_same, ahead, self._played(begun))):
            self.add("error", "state", "after set_state(get_state()) an episode continues differently")

    def _played(self, state: Any, one_episode: bool = False) -> list[Any]:
        """`state`, and the states and outcomes of up to 100 steps that follow it."""
        rng = np.random.default_rng(1)
        outcomes: list[Any] = [map_nested(np.array, state)]
        for _ in range(min(self.max_steps, 100)):
            state, reward, terminated, truncated, _ = self.env.step(self._action(state, rng))
            outcomes.append((map_nested(np.array, state), float(reward), bool(terminated), bool(truncated)))
            if terminated or truncated:
                if one_episode:
                    break
                state = self.env.reset()
                outcomes.append(map_nested(np.array, state))
        return outcomes

    def _speed(self) -> None:
        if self.steps:
            rate = self.steps / max(self.seconds, 1e-9)
            self.add("note", "speed", f"{rate:,.0f} steps per second, checks included")


def _same(one: Any, two: Any) -> bool:
    """Whether two states, or outcomes, are equal in every bit."""
    if isinstance(one, dict):
        return one.keys() == two.keys() and all(_same(one[key], two[key]) for key in one)
    if isinstance(one, (tuple, list)):
        return len(one) == len(two) and all(map(_same, one, two))
    return np.array_equal(one, two)
