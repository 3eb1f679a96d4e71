"""The checkpoints of a run: the best policy, the last full ones, and which of them a run is resumed from."""

from __future__ import annotations

import re
import shutil
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rlgraph.agents.agent import Agent
from rlgraph.core import CheckpointError
from rlgraph.core.checkpoint.finding import find_checkpoint, problem_with
from rlgraph.core.checkpoint.manifest import read_manifest
from rlgraph.core.errors import CheckpointWarning
from rlgraph.runs.errors import RunFolderError, StorageError
from rlgraph.runs.finite_weights import check_finite_weights, non_finite_problem
from rlgraph.runs.run_state import RunState, read_state
from rlgraph.runs.state_json import to_json

#: The best policy; where training ended; where a number was not finite. The last is for looking at: nothing is read
#: from it unless it is named, and it alone may hold weights that are not finite.
BEST, LAST, FAILED = "best", "last", "failed"
#: The name of the state of a run among a checkpoint's facts.
RUN = "run"
_STEP = re.compile(r"step-(\d+)")


class RunCheckpoints:
    """The folder ``checkpoints`` of a run.

    Args:
        folder: where.
        keep_last: full checkpoints that are kept.
        memory: full checkpoints hold the replay memory.
    """

    def __init__(self, folder: Path, keep_last: int, memory: bool):
        self.folder, self.keep_last, self.memory = folder, keep_last, memory

    def store_best(self, agent: Agent) -> Path:
        """Keep the policy as the best one; weights without memory.

        Raises:
            NumericalError: they are not finite.
            StorageError: it cannot be written; the one before it is intact.
        """
        check_finite_weights(agent, BEST)
        with _storing():
            return agent.store_model(self.folder / BEST, memory=False)

    def store_step(self, agent: Agent, timesteps: int, state: Mapping[str, Any]) -> Path:
        """A full checkpoint by its step; older ones than the last few are removed."""
        folder = self.store(agent, f"step-{timesteps:09d}", state)
        for number, old in sorted(self._steps(), reverse=True)[self.keep_last :]:
            if number < timesteps:
                shutil.rmtree(old, ignore_errors=True)
        return folder

    def store(self, agent: Agent, name: str, state: Mapping[str, Any]) -> Path:
        """A full checkpoint, with the state of the run.

        Raises:
            NumericalError: the weights are not finite, and `name` is not "failed".
            StorageError: it cannot be written; the one before it is intact.
        """
        if name != FAILED:
            check_finite_weights(agent, name)
        facts = {**agent.progress_facts(), RUN: to_json(state)}
        with _storing():
            return agent.executor.save(self.folder / name, facts=facts, host=self.memory)

    def newest(self) -> tuple[Path, RunState] | None:
        """The whole full checkpoint with the most steps, and the state of its run; None: there is none yet.

        Raises:
            CheckpointError: all that are there are damaged, or the run failed before the first; says how.

        Warns:
            CheckpointWarning: about each with more steps that is damaged, and why.
        """
        problems: list[str] = []
        found: list[tuple[int, Path, RunState]] = []
        for path in self._full():
            if problem := problem_of(path):
                problems.append(problem)
                continue
            facts = read_manifest(path).facts
            if RUN not in facts:
                continue
            try:
                state = read_state(facts[RUN], path)
            except RunFolderError as error:
                problems.append(str(error))
                continue
            found.append((state.worker.done, path, state))
        if not found and (failed := find_checkpoint(self.folder / FAILED)).exists():
            problems.append(problem_of(failed))
        if not found and not problems:
            return None
        if not found:
            raise CheckpointError(
                "\n".join([f"there is no checkpoint to resume from in {self.folder}", *problems])
            )
        for problem in problems:
            warnings.warn(f"{problem}; skipped", CheckpointWarning, stacklevel=3)
        _, path, state = max(found, key=lambda each: each[0])
        return path, state

    def _full(self) -> Iterator[Path]:
        yield from (path for _, path in self._steps())
        # One whose save was cut off between two renames is found beside its place.
        last = find_checkpoint(self.folder / LAST)
        if last.exists():
            yield last

    def _steps(self) -> list[tuple[int, Path]]:
        if not self.folder.is_dir():
            return []
        matches = ((_STEP.fullmatch(path.name), path) for path in self.folder.iterdir())
        return [(int(match[1]), path) for match, path in matches if match]


@contextmanager
def _storing() -> Iterator[None]:
    """Turn the `CheckpointError` of a disk that is full into a `StorageError`."""
    try:
        yield
    except CheckpointError as error:
        if isinstance(error.__cause__, OSError):
            raise StorageError(str(error)) from error
        raise


def problem_of(checkpoint: Path) -> str:
    """Why neither a run is resumed from a checkpoint nor its policy evaluated; empty: nothing is wrong with it."""
    if checkpoint.name == FAILED or checkpoint.name.startswith(f".{FAILED}."):
        return (
            f"{checkpoint} is where the run failed and is kept for looking at; train again with a lower learning rate, "
            "clip_grad_norm or non_finite"
        )
    return problem_with(checkpoint) or non_finite_problem(checkpoint)
