"""The checkpoints of a run: the best policy, the latest full checkpoints, and the choice of one to resume from."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rlgraph.core import CheckpointError
from rlgraph.core.checkpoint.finding import (
    find_checkpoint,
    interrupted_saves,
    problem_with,
    remove_checkpoint,
    remove_leftovers,
)
from rlgraph.core.checkpoint.manifest import read_manifest
from rlgraph.core.checkpoint.strict_json import from_json as from_json_text
from rlgraph.core.checkpoint.strict_json import to_json as to_json_text
from rlgraph.core.errors import CheckpointWarning
from rlgraph.learning.base_agent import BaseAgent
from rlgraph.runs.config_file import CONFIG, config_digest, read_config
from rlgraph.runs.errors import RunFolderError, StorageError
from rlgraph.runs.finite_weights import check_finite_weights, non_finite_problem
from rlgraph.runs.records import evaluation_of
from rlgraph.runs.run_files import parse
from rlgraph.runs.run_state import EvaluationState, RunState, read_state
from rlgraph.runs.state_json import to_json
from rlgraph.workers.evaluation import Evaluation

#: Checkpoint of the best policy, of the end of training, and of a non-finite number. The last one is for inspection; it
#: is read only if named, and only it may hold weights that are not finite.
BEST, LAST, FAILED = "best", "last", "failed"
#: Keys of a checkpoint's facts: the state of a run, with the digest of its configuration; of the best policy this
#: digest, and the evaluation that it is the best of.
RUN, DIGEST, EVALUATION = "run", "config", "evaluation"
_STEP = re.compile(r"step-(\d+)")


class RunCheckpoints:
    """The folder ``checkpoints`` of a run.

    Args:
        folder: the run folder.
        keep_last: number of full checkpoints to keep.
        memory: full checkpoints hold the replay memory.
    """

    def __init__(self, folder: Path, keep_last: int, memory: bool):
        self.folder, self.keep_last, self.memory = folder, keep_last, memory

    def store_best(self, agent: BaseAgent, evaluation: Evaluation, digest: str) -> Path:
        """Save the policy, of which this is the evaluation, as the best one: weights without memory.

        Args:
            agent: has the policy.
            evaluation: its evaluation.
            digest: of the run's configuration, by which `check_own` knows the checkpoint.

        Raises:
            NumericalError: the weights are not finite.
            StorageError: it cannot be written; the earlier one is intact.
        """
        check_finite_weights(agent, BEST)
        with _storing():
            facts = {EVALUATION: to_json(vars(evaluation)), DIGEST: digest}
            return agent.store_model(self.folder / BEST, memory=False, facts=facts)

    def evaluation_of_best(self) -> Evaluation | None:
        """The evaluation of the policy that is saved as the best; None: it does not say, or there is none.

        Raises:
            RunFolderError: it is the best policy of another run, or a type or range is wrong.
        """
        path = find_checkpoint(self.folder / BEST)
        if not path.exists() or problem_of(path):
            return None
        check_own(path, read_config(self.folder.parent))
        facts = read_manifest(path).facts
        if EVALUATION not in facts:
            return None  # of an older version
        where = f"{path / 'manifest.json'}, facts.{EVALUATION}"
        return evaluation_of(parse(EvaluationState, facts[EVALUATION], where))

    def store_step(self, agent: BaseAgent, timesteps: int, state: Mapping[str, Any]) -> Path:
        """Write a full checkpoint named after its step, and remove the oldest ones."""
        folder = self.store(agent, f"step-{timesteps:09d}", state)
        self.remove_oldest(timesteps)
        return folder

    def remove_oldest(self, timesteps: int) -> None:
        """Remove checkpoints of earlier steps that are more than the number to keep, and what saves left."""
        for number, old in sorted(self._steps(), reverse=True)[self.keep_last :]:
            if number < timesteps and old.is_dir():  # rmtree waits for the writer of a pipe
                remove_checkpoint(old, old)
        self.remove_interrupted()

    def remove_interrupted(self) -> None:
        """Remove what interrupted saves left; of `BEST` and `LAST` the only copy stays."""
        for name in interrupted_saves(self.folder):
            if _STEP.fullmatch(name) or (self.folder / name).exists():
                remove_leftovers(self.folder / name)

    def store(self, agent: BaseAgent, name: str, state: Mapping[str, Any]) -> Path:
        """Write a full checkpoint with the state of the run.

        Raises:
            NumericalError: the weights are not finite, and `name` is not "failed".
            RunFolderError, CheckpointError: the state could not be read again; the earlier one is intact.
            StorageError: it cannot be written; the earlier one is intact.
        """
        if name != FAILED:
            check_finite_weights(agent, name)
        content = to_json(state)
        where = self.folder / name
        read_state(from_json_text(where, to_json_text(where, content)), where)
        with _storing():
            return agent.store_model(where, memory=self.memory, facts={RUN: content})

    def newest(self) -> tuple[Path, RunState] | None:
        """The valid full checkpoint with the most steps, and the state of its run; None before the first one.

        Raises:
            RunFolderError: this checkpoint is of another run.
            CheckpointError: all checkpoints are damaged, or the run failed before the first one.

        Warns:
            CheckpointWarning: for each damaged checkpoint with more steps, with the reason.
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
        return check_own(path, read_config(self.folder.parent)), state

    def _full(self) -> Iterator[Path]:
        yield from (path for _, path in self._steps())
        # If a save was cut off between its two renames, the checkpoint has a temporary name.
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
    """Turn the `CheckpointError` of a full disk into a `StorageError`."""
    try:
        yield
    except CheckpointError as error:
        if isinstance(error.__cause__, OSError):
            raise StorageError(str(error)) from error
        raise


def check_own(checkpoint: Path, config: Mapping[str, Any]) -> Path:
    """Check that a checkpoint in a run's folder is of this run: it has the digest of ``config.json``.

    A copied or renamed folder keeps both. A fork has an identity of its own, and so another digest. Version 0.1 wrote
    no digests, version 0.2 none into ``best``: these checkpoints pass.

    Args:
        checkpoint: its path.
        config: the content of the run's ``config.json``.

    Returns:
        The path.

    Raises:
        RunFolderError: it is of another run.
        CheckpointError: its manifest is damaged.
    """
    facts = read_manifest(checkpoint).facts
    state = facts.get(RUN)
    given = facts.get(DIGEST, state.get("config") if isinstance(state, Mapping) else None)
    # Version 0.2 had no other actors in a resumed run.
    known = (config_digest(config), config_digest(config, ["steps"]))
    if given is not None and given not in known:
        raise RunFolderError(
            f"{checkpoint} is not a checkpoint of this run: it belongs to another {CONFIG}. Expected the digest "
            f"{known[0]:.12} of {checkpoint.parent.parent / CONFIG}, given {given!s:.12}. Move the checkpoint away, or "
            f"restore the {CONFIG} that it was written with. Agent.load reads it alone, by its path"
        )
    return checkpoint


def problem_of(checkpoint: Path) -> str:
    """Why a checkpoint is neither resumed nor evaluated; empty if it is valid."""
    if checkpoint.name == FAILED or checkpoint.name.startswith(f".{FAILED}."):
        return (
            f"{checkpoint} is where the run failed and is kept for looking at; train again with a lower learning rate, "
            "clip_grad_norm or non_finite"
        )
    return problem_with(checkpoint) or non_finite_problem(checkpoint)
