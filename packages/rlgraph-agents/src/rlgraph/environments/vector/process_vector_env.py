"""Environments in several processes.

Each step costs one message to every process and one back (20 to 50 us). Processes pay off if the environments
of a process need much longer than that for a step, and if every process has a core. States, rewards, flags and actions
are in shared memory; messages carry infos and errors.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import pairwise
from multiprocessing.connection import wait
from typing import Any

import numpy as np

from rlgraph.core import SpecError
from rlgraph.core.errors import text_of
from rlgraph.environments import closing
from rlgraph.environments.environment import Environment, environment_seed
from rlgraph.environments.errors import EnvironmentFault
from rlgraph.environments.rows import Rows, copy_rows, row_splitter, slice_rows
from rlgraph.environments.state_bounds import answers_validate
from rlgraph.environments.vector import environment_process as commands
from rlgraph.environments.vector.environment_process import Answer, Share
from rlgraph.environments.vector.process_handle import ProcessHandle
from rlgraph.environments.vector.restarts import MAX_RESTARTS, Restarts
from rlgraph.environments.vector.shared_rows import SharedRows
from rlgraph.environments.vector_env import VectorEnv, VectorStepResult

STEP_TIMEOUT = 60.0
START_TIMEOUT = 300.0
"""Seconds after which the start of a process counts as hanging."""


class RemoteTraceback(Exception):
    """The traceback of an error in another process, as text: the cause of the fault that is raised here."""


class ProcessVectorEnv(VectorEnv):
    """Environments in worker processes; see `VectorEnv` for the contract.

    ```python
    env = ProcessVectorEnv(partial(make_environment, "ale_py:ALE/Pong-v5"), 16, processes=4)
    states = env.reset(seed=1)
    env.send(actions)          # returns at once
    ...                        # do something else
    states, rewards, terminated, truncated, infos = env.receive()
    ```

    **Restarts.** An environment that raises is replaced in its process, as by `SequentialVectorEnv`. A process that
    ends (a crash in native code, `kill -9`, lack of memory) or does not answer within `step_timeout` is replaced with
    all its environments; each of them counts as restarted once.

    **The end.** The processes end with `terminate()`, with the interpreter, and with the process that started them,
    even if that is killed. They ignore Ctrl-C.

    One environment is made in the current process, to read its Spaces, and terminated.

    Args:
        environment: a function that makes an environment. It is pickled and sent to the processes: a function at the
            top level of a module, or a `functools.partial` of one.
        num_environments: number of environments.
        processes: number of processes; None: the number of cores minus one, which is left to the agent.
        validate_states: see `SequentialVectorEnv`.
        step_timeout: seconds that a step or reset of the environments of a process may take; None: no limit.
        max_restarts: limit of restarts of each environment; 0: no restarts.
        start_method: "spawn" or "forkserver".
        first_index: the index of the first environment, for seeds and messages, if these are a part of a larger batch.

    Raises:
        SpecError: the function cannot be pickled, a number is out of range, or a Space contains text.
    """

    @answers_validate
    def __init__(
        self,
        environment: Callable[[], Environment],
        num_environments: int,
        processes: int | None = None,
        validate_states: bool = False,
        step_timeout: float | None = STEP_TIMEOUT,
        max_restarts: int = MAX_RESTARTS,
        start_method: str = "spawn",
        first_index: int = 0,
    ) -> None:
        processes = _number_of_processes(processes, num_environments)
        if step_timeout is not None and step_timeout <= 0:
            raise SpecError(f"expected seconds > 0 or None, given {step_timeout!r}", path="step_timeout")
        self._spec = _pickled(environment)
        model = environment()
        self.state_space, self.action_space = model.state_space, model.action_space
        self._name = model.name
        closing.release(model.terminate, model.name)
        self.num_environments, self._first_index = num_environments, first_index
        self.validate_states, self.step_timeout = validate_states, step_timeout
        self.finished, self.dropped = [], ()
        self._restarts = Restarts(num_environments, max_restarts)
        self._context = multiprocessing.get_context(start_method)
        self._shared = SharedRows(self.state_space, self.action_space, num_environments, self._context)
        self._turn = 0
        self._split = row_splitter(self.action_space, num_environments, "actions")
        self._seed: int | None = None
        self.final_states: Rows = self._shared.buffers[0].states
        self._sent = self._running = False
        bounds = np.linspace(0, num_environments, processes + 1).astype(int).tolist()
        self._processes = [ProcessHandle(slice(a, b)) for a, b in pairwise(bounds)]
        try:
            for process in self._processes:
                self._start(process, 1)  # the first set that a reset writes
            self._collect(START_TIMEOUT)
        except BaseException:
            self.terminate()
            raise

    @property
    def processes(self) -> list[int]:
        """The ids of the processes."""
        return [process.id for process in self._processes]

    @property
    def restarts(self) -> int:  # type: ignore[override]
        """Number of restarts so far."""
        return sum(self._restarts.counts)

    def reset(self, seed: int | None = None) -> Rows:
        """Begins an episode in every environment; waits for a step that is running."""
        self._settle()
        self._seed = seed
        return self._begin([commands.RESET + pickle.dumps(seed)] * len(self._processes))

    def send(self, actions: Any) -> None:
        """Makes every environment act and returns at once; `receive` returns the result.

        Raises:
            EnvironmentFault: no reset before, a step not yet received, actions of the wrong shape or kind.
        """
        if not self._running or self._sent:
            what = "call receive() before the next send()" if self._sent else "call reset() before step()"
            raise EnvironmentFault(f"ProcessVectorEnv: {what}.")
        self._split(actions)  # for its checks
        copy_rows(self._shared.actions, actions)
        self._turn = 1 - self._turn
        self._sent = True
        for process in self._processes:
            process.send(commands.STEP)

    def receive(self) -> VectorStepResult:
        """The result of the step that was sent; see `VectorEnv.step`.

        Raises:
            EnvironmentFault: a broken contract, or any error of an environment that is not restarted; its cause has the
                traceback of the process.
        """
        if not self._sent:
            raise EnvironmentFault("ProcessVectorEnv: call send() before receive().")
        self._running = False  # until this step has succeeded
        self._sent = False
        answers = self._collect(self.step_timeout)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_environments)]
        dropped: list[int] = []
        for process, answer in zip(self._processes, answers, strict=True):
            if answer is not None:
                first = process.rows.start
                dropped += [first + i for i in answer.dropped]
                for i, info in answer.infos.items():
                    infos[first + i] = info
        front = self._shared.buffers[self._turn]
        self.dropped = dropped
        self.finished = np.flatnonzero(front.terminated | front.truncated).tolist()
        self.final_states = self._complete_final_states() if self.finished else front.states
        self._running = True
        return front.states, front.rewards, front.terminated, front.truncated, infos

    def step(self, actions: Any) -> VectorStepResult:
        """`send` and `receive`."""
        self.send(actions)
        return self.receive()

    def describe(self, index: int) -> str:
        """The name of environment `index` in messages."""
        return f"{self._name}, environment {self._first_index + index}"

    def render(self, index: int = 0) -> Any:
        """Renders one of the environments; not between `send` and `receive`."""
        self._check_idle("render")
        for process in self._processes:
            if process.rows.start <= index < process.rows.stop:
                process.send(commands.RENDER + pickle.dumps(index - process.rows.start))
        answers = [answer for answer in self._collect(self.step_timeout) if answer is not None]
        return answers[0].value if answers else None

    def get_states(self) -> list[Any] | None:
        """The inner state of each environment; None if one does not support this. Not between `send` and `receive`."""
        self._check_idle("get_states")
        for process in self._processes:
            process.send(commands.GET_STATES)
        states: list[Any] = []
        for answer in self._collect(self.step_timeout):
            if answer is None or answer.value is None:
                return None
            states += answer.value
        return states

    def set_states(self, states: Sequence[Any]) -> Rows:
        """Restores the states from `get_states`; returns the states to act on `[N, ...]`."""
        self._settle()
        parts = [list(states[process.rows]) for process in self._processes]
        return self._begin([commands.SET_STATES + pickle.dumps(part) for part in parts])

    def terminate(self) -> None:
        """Ends the processes.

        Warns:
            RuntimeWarning: environments did not close in time.
        """
        self._running = self._sent = False
        deadline, busy_until = closing.close_deadline(), time.monotonic() + 2.0
        busy = [process.waiting for process in self._processes]
        for process in self._processes:
            process.send(commands.END)
        for process, was_busy in zip(self._processes, busy, strict=True):
            if process.end(busy_until if was_busy else deadline) and not was_busy:
                warnings.warn(
                    f"{self._label(process)}: terminate did not return within {closing.CLOSE_TIMEOUT:g} s; its process "
                    "was ended",
                    RuntimeWarning,
                    stacklevel=2,
                )

    def __del__(self) -> None:
        with suppress(Exception):
            self.terminate()

    def _check_idle(self, what: str) -> None:
        if self._sent:
            raise EnvironmentFault(f"ProcessVectorEnv: call receive() before {what}().")

    def _begin(self, orders: Sequence[bytes]) -> Rows:
        """Sends each process its command to begin; returns the first states."""
        self._running = False  # until all have begun
        self._turn = 1 - self._turn
        for process, order in zip(self._processes, orders, strict=True):
            process.send(order)
        self._collect(self.step_timeout)
        self.finished, self.dropped = [], ()
        self.final_states = self._shared.buffers[self._turn].states
        self._running = True
        return self.final_states

    def _settle(self) -> None:
        """Waits for results not yet received; restarts processes whose answer was interrupted."""
        self._sent = False
        for process in self._processes:
            if process.torn:
                process.kill()
                self._start(process, 1 - self._turn)
        with suppress(Exception):  # the result is not needed
            self._collect(START_TIMEOUT)

    def _complete_final_states(self) -> Rows:
        """Returns the final states of all; a process writes its own only if an episode ended there."""
        front = self._shared.buffers[self._turn]
        for process in self._processes:
            rows = process.rows
            if not (front.terminated[rows].any() or front.truncated[rows].any()):
                copy_rows(slice_rows(front.final_states, rows), slice_rows(front.states, rows))
        return front.final_states

    def _start(self, process: ProcessHandle, turn: int) -> None:
        share = Share(
            self._spec,
            process.rows,
            turn,
            self._restarts.counts[process.rows],
            self._restarts.limit,
            self.validate_states,
            self._first_index + process.rows.start,
        )
        process.start(self._context, share, self._shared)

    def _collect(self, timeout: float | None) -> list[Answer | None]:
        """One answer of each process that has a command; replaces processes that do not answer.

        Raises:
            EnvironmentFault: an error in a process; raised after all others have answered.
        """
        answers: list[Answer | None] = [None] * len(self._processes)
        waiting = {p.connection: i for i, p in enumerate(self._processes) if p.waiting}
        deadline = None if timeout is None else time.monotonic() + timeout
        while waiting:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            ready = wait(list(waiting), left)
            for connection in ready or list(waiting):
                i = waiting.pop(connection)  # type: ignore[call-overload]
                process = self._processes[i]
                try:
                    if not ready:
                        raise TimeoutError(f"no answer within {timeout:g} s")
                    answers[i] = process.receive()
                except (EOFError, OSError, TimeoutError) as error:
                    answers[i] = self._replace(process, str(error) if not ready else None)
                except KeyboardInterrupt:  # an answer may have been read in part
                    process.torn = True
                    raise
        for process, answer in zip(self._processes, answers, strict=True):
            if answer is not None:
                self._take(process, answer)
        return answers

    def _take(self, process: ProcessHandle, answer: Answer) -> None:
        for message in answer.warnings:
            self._restarts.tell(message)
        if answer.error:
            raise EnvironmentFault(answer.error) from RemoteTraceback(answer.trace)
        if answer.counts:
            self._restarts.counts[process.rows] = answer.counts

    def _replace(self, process: ProcessHandle, cause: str | None) -> Answer:
        """Replaces a process that crashed or hangs by a new one, and resets its environments.

        Raises:
            EnvironmentFault: the process never started, or too many restarts.
        """
        while True:
            cause = process.kill() if cause is None else f"{cause}, {process.kill()}"
            indices = list(range(process.rows.start, process.rows.stop))
            label = self._label(process)
            if not process.came_up:
                raise EnvironmentFault(
                    f"{label}: the process could not be started ({cause}); its standard error says why. "
                    "A script that starts processes needs `if __name__ == '__main__':` around its code."
                )
            if not all(self._restarts.allows(i) for i in indices):
                raise EnvironmentFault(
                    f"{label}: crashed or hung ({cause}); max_restarts={self._restarts.limit} are used up."
                )
            for i in indices:
                self._restarts.count(i, self.describe(i), cause)
            self._start(process, self._turn)
            try:
                cause = self._begin_again(process)
            except (EOFError, OSError):
                cause = None
            else:
                if cause is None:
                    front = self._shared.buffers[self._turn].part(process.rows)
                    front.rewards[:] = 0
                    front.terminated[:] = front.truncated[:] = False
                    return Answer(dropped=list(range(len(indices))))

    def _label(self, process: ProcessHandle) -> str:
        """The environments of a process in messages."""
        first, last = process.rows.start, process.rows.stop - 1
        more = f" to {self._first_index + last}" if last > first else ""
        return f"{self.describe(first)}{more}"

    def _begin_again(self, process: ProcessHandle) -> str | None:
        """Resets the environments of a new process; returns the reason if that failed."""
        if not process.connection.poll(START_TIMEOUT):
            return f"not started within {START_TIMEOUT:g} s"
        if (answer := process.receive()) is not None:
            self._take(process, answer)
        first, seed = process.rows.start, self._seed
        if seed is not None:
            seed = environment_seed(seed, self._first_index + first, 0, self._restarts.counts[first])
        process.send(commands.RESET + pickle.dumps(seed))
        if not process.connection.poll(self.step_timeout):
            return f"no answer to a reset within {self.step_timeout:g} s"
        if (answer := process.receive()) is not None:
            self._take(process, answer)
        return None


def _number_of_processes(processes: int | None, num_environments: int) -> int:
    for name, value in (("num_environments", num_environments), ("processes", processes)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            raise SpecError(f"expected an integer >= 1, given {value!r}", path=name)
    if processes is None:
        processes = max(1, (os.cpu_count() or 1) - 1)
    return min(processes, num_environments)


def _pickled(environment: Callable[[], Environment]) -> bytes:
    try:
        return pickle.dumps(environment)
    except Exception as error:
        raise SpecError(
            f"the environment cannot be sent to another process ({text_of(error)}). Give a spec (an id, a name, a "
            "mapping) or a function at the top level of a module, not a lambda, an inner function or an existing "
            "environment; vectorization='sequential' takes them all.",
            path="processes",
        ) from error
