"""Resumes runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from rlgraph.core import ExecutionSpec, SpecError, data_specs
from rlgraph.core.checkpoint.manifest import read_manifest
from rlgraph.core.collectives.place import place_from_environment
from rlgraph.core.specs.documents import check_limits
from rlgraph.core.specs.policy import only_compared
from rlgraph.environments.adapters.component_env import environment_component
from rlgraph.environments.interrupts import interruptible
from rlgraph.experience.specs import parse_spec
from rlgraph.learning.base_agent import BaseAgent
from rlgraph.learning.stored_meaning import changed_layers, meaning_of
from rlgraph.runs.checkpoints import RunCheckpoints
from rlgraph.runs.config_file import CONFIG, read_config, run_of, without_learners
from rlgraph.runs.configuration import apply_overrides
from rlgraph.runs.errors import RunFolderError
from rlgraph.runs.provenance import installed_versions
from rlgraph.runs.result_file import read_result
from rlgraph.runs.run_lock import run_lock
from rlgraph.runs.run_spec import RunSpec
from rlgraph.runs.run_state import RunState
from rlgraph.runs.training import Run, RunSummary, complete
from rlgraph.workers.callbacks import Callback


@interruptible()
@data_specs()
def resume(
    folder: str | Path,
    *,
    steps: int | None = None,
    overrides: Iterable[str] = (),
    spec: RunSpec | Mapping[str, Any] | None = None,
    callbacks: Sequence[Callback] = (),
) -> RunSummary:
    """Resume a run from its newest valid checkpoint.

    From a scheduled checkpoint the run equals the uninterrupted one bit for bit: weights, memory, random numbers, and
    metrics except times. A run that ended by Ctrl-C or an error resumes without this guarantee
    (`RunSummary.departures`).

    Args:
        folder: the run's folder.
        steps: more environment steps than before; schedules then follow the new length.
        overrides: ``path=value``, as for `rlgraph.runs.configuration.apply_overrides`: other actors, ``executor_spec``,
            or another number of learners, ``agent.execution_spec.learners``.
        spec: the expected document, compared with that of the folder.
        callbacks: additional callbacks.

    Raises:
        RunFolderError: the folder has no run, a file is damaged, another process trains there, or the run is a fork
            that was cut off before its first checkpoint.
        SpecError: keys other than a larger ``steps``, ``executor_spec`` and the learners differ; names the keys.
        CheckpointError: no valid checkpoint.
        StorageError: see `train`.
    """
    folder = Path(folder).absolute()  # an environment may change the working directory
    place = place_from_environment()
    with nullcontext() if place is not None and place.rank else run_lock(folder):
        return _resume(folder, steps, overrides, spec, callbacks)


def _resume(
    folder: Path,
    steps: int | None,
    overrides: Iterable[str],
    spec: RunSpec | Mapping[str, Any] | None,
    callbacks: Sequence[Callback],
) -> RunSummary:
    config = read_config(folder)
    run = run_of(config, "")
    check_layers(folder, config)
    overrides = list(overrides)
    # Another version of RLgraph may have left out defaults that this one writes out.
    with only_compared():  # it may have been where this one does not go
        before = run if spec is None and not overrides else complete(run)
    wanted = before if spec is None else complete(spec)
    if overrides:
        wanted = complete(apply_overrides(wanted.model_dump(), overrides))
    if steps is not None:
        wanted = _with_steps(wanted, steps)
    _check_same(before, wanted)
    read_result(folder)  # it will be replaced, but report damage before hours of training
    stored = RunCheckpoints(folder / "checkpoints", run.checkpoints.keep_last, run.checkpoints.memory)
    stored.evaluation_of_best()  # it may be evaluated at the end: report damage before hours of training
    found = stored.newest()
    if found is not None:
        check_state(*found, run)
    elif origin := (config.get("history") or [{}])[-1].get("forked_from"):
        raise RunFolderError(
            f"{folder} is a fork of {origin} that was cut off before its first checkpoint: there is nothing to resume, "
            "fork again"
        )
    agent = agent_of(wanted, config, found)
    state = None  # if it ended before its first checkpoint
    if found is not None:
        agent.load_model(found[0])
        others = departures_from(found[1], config.get("versions") or {}, wanted, run)
        state = found[1].model_copy(update={"departures": [*found[1].departures, *others]})
    else:  # as `train` begins: the backend's choices about updates are part of the record
        agent.learner.check_can_learn()
    with Run(folder, wanted, agent, callbacks, state) as rest:
        return rest.follow() if rest.is_of_another_learner else rest.execute()


def check_layers(folder: Path, config: Mapping[str, Any]) -> None:
    """Raise `RunFolderError` if layers of a run mean another thing now, so that its training cannot continue."""
    if changed := changed_layers(config["run"]["agent"], meaning_of(config)):
        raise RunFolderError(f"{folder} cannot be trained further. {changed}")


def _with_steps(run: RunSpec, steps: Any) -> RunSpec:
    """The run with other steps.

    Raises:
        SpecError: it is no number of steps.
    """
    document = {**run.model_dump(), "steps": int(steps) if isinstance(steps, np.integer) else steps}
    check_limits(document, "")
    return parse_spec(RunSpec, document, "")


def check_state(path: Path, state: RunState, run: RunSpec) -> None:
    """Check that the state in the checkpoint `path` fits the run.

    Raises:
        RunFolderError: it does not.
    """
    number, problem = run.worker.num_envs, ""
    in_group = (run.agent.get("execution_spec") or {}).get("collective") is not None
    if state.steps > run.steps:
        problem = f"steps: {state.steps} there, {run.steps} in {CONFIG}; they may only increase"
    elif (
        run.executor_spec is None and not _may_be_in_graph(run) and state.worker.done >= state.steps + number
    ):
        problem = f"worker.done: {state.worker.done} of {state.steps} steps"
    elif state.worker.environments is not None and not in_group and len(state.worker.environments) != number:
        problem = f"worker.environments: {len(state.worker.environments)} there, {number} in {CONFIG}"
    if problem:
        raise RunFolderError(f"{path} is not a checkpoint of this run: {problem}")


def _may_be_in_graph(run: RunSpec) -> bool:
    """Whether a call of a program may have made many steps more than were wanted."""
    return run.worker.in_graph is not False and environment_component(run.environment) is not None


def agent_of(run: RunSpec, config: Mapping[str, Any], found: tuple[Path, Any] | None) -> BaseAgent:
    """The agent of a run, with its backend and choices."""
    spec = dict(run.agent)
    if found is not None and (choices := read_manifest(found[0]).choices):
        spec["execution_spec"] = {**spec.get("execution_spec", {}), "choices": dict(choices)}
    return BaseAgent.from_spec(spec, env=run.environment, backend=config["chosen"]["backend"], seed=run.seed)


def departures_from(
    state: RunState, versions: Mapping[str, str], wanted: RunSpec, before: RunSpec | None = None
) -> list[str]:
    """Why a run that is resumed from `state` will differ from the uninterrupted one.

    Args:
        state: of the checkpoint.
        versions: with which the run began.
        wanted: the run as it will be.
        before: the run as it was; None: as it will be.
    """
    present, steps = installed_versions(), wanted.steps
    reasons = []
    if wanted.executor_spec is not None:
        reasons.append("its actors began new episodes")
        if before is not None:
            reasons += _differences(before.executor_spec, wanted.executor_spec, "executor_spec")
    if learners_of(wanted) > 1:
        reasons.append("its other learners began new episodes")
    if before is not None and learners_of(before) != learners_of(wanted):
        reasons.append(f"{learners_of(wanted)} learners, it had {learners_of(before)}")
    if not state.scheduled:
        reasons.append("it resumed where training was ended, at a step without a reset point")
    if not state.memory:
        reasons.append("the checkpoint has no memory")
    if steps != state.steps:
        reasons.append(f"schedules follow {steps} steps, they followed {state.steps}")
    changed = [name for name in {**versions, **present} if versions.get(name) != present.get(name)]
    if changed:
        reasons.append(f"other versions of {', '.join(changed)}")
    return [f"step {state.worker.done}: {reason}" for reason in reasons]


def learners_of(run: RunSpec) -> int:
    """How many learners a run has."""
    return ExecutionSpec.from_spec(run.agent.get("execution_spec") or {}).number_of_learners


def _check_same(before: RunSpec, wanted: RunSpec) -> None:
    """Check that only ``steps``, which increases, ``executor_spec`` and the number of learners differ.

    Raises:
        SpecError: names the keys that differ.
    """
    changing = {"steps", "executor_spec"}
    first, second = (without_learners(run.model_dump(exclude=changing)) for run in (before, wanted))
    problems = _differences(first, second)
    if (before.executor_spec is None) != (wanted.executor_spec is None):
        problems += _differences(before.executor_spec, wanted.executor_spec, "executor_spec")
    if wanted.steps < before.steps:
        problems.append(f"steps: {before.steps} in the run, {wanted.steps} given; it may only increase")
    if problems:
        kept = "a run keeps its options; fork it (resume --fork NEW_FOLDER) to change these:"
        raise SpecError("\n".join([kept, *problems]))


def _differences(before: Any, wanted: Any, path: str = "") -> list[str]:
    if not (isinstance(before, Mapping) and isinstance(wanted, Mapping)):
        return [] if before == wanted else [f"{path}: {before!r} in the run, {wanted!r} given"]
    keys = [*before, *(key for key in wanted if key not in before)]
    return [
        line
        for key in keys
        for line in _differences(before.get(key), wanted.get(key), f"{path}.{key}" if path else str(key))
    ]
