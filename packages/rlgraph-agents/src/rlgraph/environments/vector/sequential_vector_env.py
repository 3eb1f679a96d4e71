"""Environments of this process, stepped one after another.

For environments that need less than 100 us for a step a plain loop is the fastest: no copies between processes, no
deep copies of observations, no dictionaries of arrays. It writes one row per environment, and resets an environment
in the step that ends its episode.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from rlgraph.core.errors import SpecError
from rlgraph.environments.closing import close_deadline, close_within, release
from rlgraph.environments.environment import Environment, StepFunction, environment_seed
from rlgraph.environments.errors import EnvironmentFault, fault_of, last_line, shortened
from rlgraph.environments.interrupts import raise_interruption
from rlgraph.environments.rows import Rows, copy_rows, row_splitter, write_row
from rlgraph.environments.state_bounds import answers_validate
from rlgraph.environments.step_checks import (
    FLAGS,
    LARGEST_REWARD,
    NUMBERS,
    CheckedStep,
    check_result,
    explain_result,
)
from rlgraph.environments.vector.buffers import Buffers
from rlgraph.environments.vector.restarts import MAX_RESTARTS, Restarts
from rlgraph.environments.vector_env import VectorEnv, VectorStepResult

CHECKED_STEPS = 1000
"""Steps after which the checks of values end, even within the first episode."""

PENDING: Any = object()
"""The result of a step that has not returned."""


class SequentialVectorEnv(VectorEnv):
    """Steps environments in turn, in this process; see `VectorEnv` for the contract.

    ```python
    env = SequentialVectorEnv([lambda: OpenAIGymEnv("CartPole-v1")] * 8)
    states = env.reset(seed=1)                                    # [8, 4] float32
    next_states, rewards, terminated, truncated, infos = env.step(actions)
    memory.insert(states, actions, rewards, terminated, env.final_states)
    ```

    **Buffers.** Two sets of arrays alternate: the arrays that `reset` or `step` returned stay unchanged during the next
    `step` and are overwritten by the one after. Copy data that must live longer. Inserting `(s, s')` right after the
    step that returned s' needs no copy.

    **Checks.** Every step is checked for its form: five values, the shape and kind of the state, a finite reward, two
    bools, a dict. In the first episode of each environment (at most its first 1000 steps), the values of actions and
    states are compared with their Spaces as well, except for the bounds of floats in states; with
    `validate_states=True` always, and with these bounds.

    **Restarts.** An environment that raises is replaced by a new one from its function, up to `max_restarts` times
    each; see `VectorEnv`. Three errors are an `EnvironmentFault` instead: a broken contract, which is a mistake and
    not a crash; an error before an environment has ended its first episode (or 1000 steps), since it has not worked
    yet; and any error of an environment that was given as an object. `SystemExit` and a `KeyboardInterrupt` that no
    signal caused are errors like any other.

    Args:
        environments: functions that make the environments, or the environments themselves.
        validate_states: check values in every episode, and the bounds of floats in states too.
        max_restarts: limit of restarts of each environment; 0: no restarts.
        restarts: counts the restarts; default: a new count.
        buffers: two sets of arrays; default: new ones.
        first_index: the index of the first environment, for seeds and messages, if these are a part of a larger batch.
    """

    @answers_validate
    def __init__(
        self,
        environments: Sequence[Environment | Callable[[], Environment]],
        validate_states: bool = False,
        max_restarts: int = MAX_RESTARTS,
        *,
        restarts: Restarts | None = None,
        buffers: tuple[Buffers, Buffers] | None = None,
        first_index: int = 0,
    ) -> None:
        self.environments = _make(environments)
        self._makers = [given if callable(given) else None for given in environments]
        self.num_environments = len(self.environments)
        self.state_space = self.environments[0].state_space
        self.action_space = self.environments[0].action_space
        self.validate_states = validate_states
        self.finished = []
        self._split = row_splitter(self.action_space, self.num_environments, "actions")
        self._restarts = restarts or Restarts(self.num_environments, max_restarts)
        self._first_index = first_index
        self._seed: int | None = None
        self._proven = [False] * self.num_environments
        self._front, self._back = buffers or (
            Buffers.zeros(self.state_space, self.num_environments),
            Buffers.zeros(self.state_space, self.num_environments),
        )
        self.final_states: Rows = self._front.states
        self._checked = [
            CheckedStep(env, self.describe(i), validate_states) for i, env in enumerate(self.environments)
        ]
        self._steps: list[StepFunction] = list(self._checked)
        # The usual states: arrays of this shape and dtype, or numbers of this type. The dtype None: containers.
        flat = isinstance(self._front.states, np.ndarray)
        self._shape = self._front.states.shape[1:] if flat else ()
        self._dtype = self._front.states.dtype if flat else None
        self._scalar = self._dtype.type if self._dtype is not None and not self._shape else None
        self._running = False
        self._clock = 0
        self._began = [0] * self.num_environments

    def reset(self, seed: int | None = None) -> Rows:
        """Begins an episode in every environment, also if one is running.

        Args:
            seed: a root seed; environment `i` gets `environment_seed(seed, i)`. None: random numbers continue.

        Returns:
            The first states: `state_space` with a batch rank, `[N, ...]`.
        """
        self._running = False  # until all are reset
        self._front, self._back = self._back, self._front
        front = self._front
        self._seed = seed
        for index in range(self.num_environments):
            first = self._first_index + index
            self._begin(index, front.states, None if seed is None else environment_seed(seed, first))
        self.finished, self.dropped = [], ()
        self.final_states = front.states
        self._running = True
        return front.states

    def step(self, actions: Any) -> VectorStepResult:
        """Acts once in every environment and resets those whose episode ends.

        Args:
            actions: `action_space` with a batch rank, `[N, ...]`; a container of arrays if the Space is one.

        Returns:
            `(states, rewards, terminated, truncated, infos)`: the states to act on next `[N, ...]`, `[N]`
            float32, `[N]` bool, `[N]` bool, and the N dicts of the environments. See the class for the lifetime
            of the arrays.

        Raises:
            EnvironmentFault: no reset before; actions of the wrong shape or kind (found before any
                environment acts); a broken contract; any error of an environment that is not restarted.

        After an error in an environment the next call must be `reset`.
        """
        if not self._running:
            raise EnvironmentFault("SequentialVectorEnv: call reset() before step().")
        actions = self._split(actions)
        self._running = False  # until this step has succeeded
        self._front, self._back = self._back, self._front
        self._clock += 1
        if self._clock == CHECKED_STEPS and not self.validate_states:
            self._steps = [environment.unchecked_step() for environment in self.environments]
            self._proven = [True] * self.num_environments
        front = self._front
        states, rewards = front.states, front.rewards
        shape, dtype, scalar, array = self._shape, self._dtype, self._scalar, np.ndarray
        if front.ended:
            front.terminated.fill(False)
            front.truncated.fill(False)
        front.ended = True  # until the end of this step says otherwise
        finished: list[int] = []
        infos: list[dict[str, Any]] = []
        dropped: list[int] = []
        index, action, result = 0, None, PENDING
        rows = enumerate(zip(self._steps, actions))  # noqa: B905 - as long as each other
        while True:  # once, and once more after each environment that raised
            try:
                for index, (step, action) in rows:
                    result = PENDING
                    result = step(action)
                    state, reward, terminated, truncated, info = result
                    # The usual types first: these checks must be cheap.
                    if (
                        type(reward) not in NUMBERS
                        or type(info) is not dict
                        or not -LARGEST_REWARD <= reward <= LARGEST_REWARD  # type: ignore[operator]
                    ):
                        check_result(result)
                        info = dict(info)  # a subclass may do anything when it is read later
                    if type(state) is array:
                        usual = state.dtype is dtype and state.shape == shape
                    else:
                        usual = type(state) is scalar
                    if usual:
                        states[index] = state
                    else:
                        write_row(states, index, state)
                    rewards[index] = reward
                    if terminated is not False or truncated is not False:
                        if type(terminated) not in FLAGS or type(truncated) not in FLAGS:
                            check_result(result)
                        if terminated or truncated:
                            front.terminated[index] = terminated
                            front.truncated[index] = truncated
                            finished.append(index)
                    infos.append(info)
                break
            except BaseException as error:
                raise_interruption(error)
                self._replace(index, self._blame(error, action, result), self.place(index), front.states)
                rewards[index] = front.terminated[index] = front.truncated[index] = 0
                infos[index:] = [{}]
                dropped.append(index)
        front.ended = bool(finished)
        self.finished, self.dropped = finished, dropped
        self.final_states = self._restart(finished, front) if finished else states
        self._running = True
        return states, rewards, front.terminated, front.truncated, infos

    def describe(self, index: int) -> str:
        """The name of environment `index` in messages."""
        return f"{self.environments[index].name}, environment {self._first_index + index}"

    @property
    def restarts(self) -> int:  # type: ignore[override]
        """Number of restarts so far."""
        return sum(self._restarts.counts)

    def render(self, index: int = 0) -> Any:
        """Renders one environment."""
        return self.environments[index].render()

    def get_states(self) -> list[Any] | None:
        """The inner state of each environment; None if one does not support this."""
        states = [environment.get_state() for environment in self.environments]
        return None if any(state is None for state in states) else states

    def set_states(self, states: Sequence[Any]) -> Rows:
        """Restores the states from `get_states`; returns the states to act on `[N, ...]`."""
        self._running = False  # until all are restored
        self._front, self._back = self._back, self._front
        for index, (environment, inner) in enumerate(zip(self.environments, states, strict=True)):
            try:
                state = environment.set_state(inner)
                self._checked[index].begin(state)
                write_row(self._front.states, index, state)
            except BaseException as error:
                raise_interruption(error)
                raise fault_of(error, f"{self.describe(index)}, set_state") from error
        self.finished, self.dropped = [], ()
        self.final_states = self._front.states
        self._running = True
        return self._front.states

    def terminate(self) -> None:
        """Terminates all environments; an error of one is a warning."""
        self._running = False
        deadline = close_deadline()
        for index, environment in enumerate(self.environments):
            release(environment.terminate, self.describe(index), deadline)

    def _begin(self, index: int, states: Rows, seed: int | None = None) -> None:
        """Resets environment `index` into its row of `states`; replaces it if that fails."""
        try:
            self._reset(index, states, seed)
        except BaseException as error:
            raise_interruption(error)
            self._replace(index, error, f"{self.describe(index)}, reset", states)

    def _reset(self, index: int, states: Rows, seed: int | None) -> None:
        state = self.environments[index].reset(seed=seed)
        if self._steps[index] is self._checked[index]:
            self._checked[index].begin(state)
        write_row(states, index, state)
        self._began[index] = self._clock

    def _replace(self, index: int, error: BaseException, place: str, states: Rows) -> None:
        """Replaces an environment that raised `error`, and resets the new one into its row of `states`.

        Raises:
            EnvironmentFault: for `error`, if there is no restart; see the class.
        """
        make, given_up = self._makers[index], ""
        while make is not None and self._proven[index] and not isinstance(error, EnvironmentFault):
            if not self._restarts.allows(index):
                if self._restarts.limit:
                    given_up = f"; after {self._restarts.limit} restarts (max_restarts)"
                break
            self._restarts.count(index, self.describe(index), last_line(error))
            with suppress(Exception, SystemExit):  # it is broken already
                close_within(self.environments[index].terminate)
            try:
                self._put(index, make())
                self._reset(index, states, self._seed_of_restart(index))
                return
            except BaseException as next_error:
                raise_interruption(next_error)
                # A crash of a constructor arrives as a fault with the crash as its cause.
                made = isinstance(next_error, EnvironmentFault) and next_error.__cause__
                error, place = made or next_error, f"{self.describe(index)}, reset"
        raise fault_of(error, place, given_up) from error

    def _put(self, index: int, environment: Environment) -> None:
        """Uses `environment` as environment `index`, with the checks of a first episode."""
        if (fault := _other_spaces(self, index, environment)) is not None:
            raise EnvironmentFault(fault)
        self.environments[index] = environment
        self._steps[index] = self._checked[index] = CheckedStep(
            environment, self.describe(index), self.validate_states
        )

    def _seed_of_restart(self, index: int) -> int | None:
        if self._seed is None:
            return None
        return environment_seed(self._seed, self._first_index + index, 0, self._restarts.counts[index])

    def _restart(self, finished: list[int], front: Buffers) -> Rows:
        """Resets the environments whose episode ended; returns the final states of all."""
        copy_rows(front.final_states, front.states)
        for index in finished:
            self._proven[index] = True
            if not self.validate_states:
                self._steps[index] = self.environments[index].unchecked_step()
            self._begin(index, front.states)
        return front.final_states

    def place(self, index: int) -> str:
        """Environment and step, for messages; after an end the number of the step is no longer known."""
        steps = self._clock - self._began[index]
        return f"{self.describe(index)}, step {steps}" if steps else f"{self.describe(index)}, last step"

    def _blame(self, error: BaseException, action: Any, result: Any) -> BaseException:
        """The cause of an error in a step: `error`, or the fault in the step's result or action that led to it."""
        if isinstance(error, EnvironmentFault) and result is not PENDING:
            return error
        if result is PENDING:
            fault = self.action_space.explain(action, "action")
            error.add_note(f"action {shortened(repr(action))}")
        else:
            fault = explain_result(result) or last_line(error)
        return error if fault is None else EnvironmentFault(f"{fault}.")


def _make(environments: Sequence[Environment | Callable[[], Environment]]) -> list[Environment]:
    """The environments, made by the functions among them; checks that they differ and have equal Spaces."""
    if not isinstance(environments, Sequence):
        raise SpecError(
            "environments is a list of environments or of functions that make them, "
            f"got {type(environments).__name__}.",
            path="SequentialVectorEnv",
        )
    made = [given() if callable(given) else given for given in environments]
    if not made:
        raise SpecError("needs at least one environment, got none.", path="SequentialVectorEnv")
    for index, environment in enumerate(made):
        if not isinstance(environment, Environment):
            raise SpecError(
                f"environment {index} is a {type(environment).__name__}, not an "
                "Environment; wrap a gymnasium environment in OpenAIGymEnv.",
                path="SequentialVectorEnv",
            )
        if (fault := _other_spaces(made[0], index, environment)) is not None:
            raise SpecError(f"{fault}", path="SequentialVectorEnv")
    if len({id(environment) for environment in made}) != len(made):
        raise SpecError(
            "one environment object was given more than once, each needs its own; "
            "give functions: [lambda: MyEnv()] * n.",
            path="SequentialVectorEnv",
        )
    return made


def _other_spaces(model: Environment | VectorEnv, index: int, environment: Environment) -> str | None:
    """How the Spaces of `environment` differ from those of environment 0; None if they do not."""
    for space in ("state_space", "action_space"):
        first, other = getattr(model, space), getattr(environment, space)
        if first != other:
            return (
                f"all environments need the same {space}; environment 0 has {first!r}, environment {index} has "
                f"{other!r}."
            )
    return None
