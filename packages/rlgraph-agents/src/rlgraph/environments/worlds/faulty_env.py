"""An environment that fails on request, for tests."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

from rlgraph.core import SpecError
from rlgraph.environments.environment import StepResult
from rlgraph.environments.worlds.deterministic_env import DeterministicEnv

FAULTS = ("raise", "exit", "kill", "hang")


class FaultyEnv(DeterministicEnv):
    """A `DeterministicEnv` that fails in a step of one of its episodes.

    Use it to test that a program survives crashes of its environments. Every new object has the same fault.

    Args:
        fault: "raise" (a RuntimeError), "exit" (the process ends), "kill" (it is killed, as by lack of memory) or
            "hang" (the step takes an hour). The last three are for environment processes.
        fault_step: the step of the episode that fails, from 1.
        fault_episode: the episode that fails, from 0.
        arguments: of `DeterministicEnv`.
    """

    def __init__(
        self, fault: str = "raise", fault_step: int = 1, fault_episode: int = 1, **arguments: Any
    ) -> None:
        if fault not in FAULTS:
            raise SpecError(f"fault is one of {', '.join(FAULTS)}, given {fault!r}.", path="FaultyEnv")
        super().__init__(**arguments)
        self.fault, self.fault_step, self.fault_episode = fault, fault_step, fault_episode
        self._episode = -1

    def reset(self, seed: int | None = None) -> Any:
        """Begins the next episode."""
        self._episode += 1
        return super().reset(seed)

    def step(self, action: Any) -> StepResult:
        """Counts one step, or fails."""
        result = super().step(action)
        step = result[0][0] - self.state_start
        if self._episode == self.fault_episode and step == self.fault_step:
            self._fail()
        return result

    def _fail(self) -> None:
        if self.fault == "raise":
            raise RuntimeError("a fault that was asked for")
        if self.fault == "exit":
            os._exit(3)
        if self.fault == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(3600)
