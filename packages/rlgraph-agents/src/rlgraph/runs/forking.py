"""Forks runs: a new run that begins with the checkpoint of another, with changed options."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from rlgraph.core import CheckpointError, SpecError, data_specs
from rlgraph.core.errors import Fault
from rlgraph.core.specs.policy import only_compared
from rlgraph.core.specs.spec_paths import parts_of
from rlgraph.environments.interrupts import interruptible
from rlgraph.learning.base_agent import BaseAgent
from rlgraph.runs.checkpoints import RunCheckpoints
from rlgraph.runs.config_file import read_config, run_of
from rlgraph.runs.configuration import apply_overrides
from rlgraph.runs.configuration_differences import differences
from rlgraph.runs.records import NAMES
from rlgraph.runs.resuming import agent_of, check_layers, check_state, departures_from
from rlgraph.runs.run_folder import new_run_in
from rlgraph.runs.run_spec import RunSpec
from rlgraph.runs.run_state import RunState
from rlgraph.runs.training import Run, RunSummary, complete
from rlgraph.workers.callbacks import Callback

#: What a fork has in common with its origin, and what to do where it should not.
KEPT = {
    "agent.type": "the checkpoint is of another agent; start a new run",
    "backend": "the checkpoint has the random numbers of its backend; start a new run",
    "environment": "start a new run with the weights, which Agent.load_weights takes over",
    "seed": "random numbers continue from the checkpoint; start a new run",
}


@interruptible()
@data_specs()
def fork(
    folder: str | Path,
    new_folder: str | Path,
    overrides: Iterable[str] = (),
    *,
    steps: int | None = None,
    callbacks: Sequence[Callback] = (),
) -> RunSummary:
    """Begin a new run from the newest valid checkpoint of another, with changed options.

    The new run continues weights, optimizer state, memory, counters and metrics. It begins new episodes, and its best
    policy is one of its own evaluations. The other run does not change. `RunSummary.departures` and ``config.json`` say
    where the run comes from.

    Args:
        folder: the folder of the other run.
        new_folder: the folder of the new run; an earlier run there is moved, as by `train`.
        overrides: ``path=value``, as for `rlgraph.runs.configuration.apply_overrides`.
        steps: environment steps, those of the other run included; default: as many as the other run was to do.
        callbacks: additional callbacks.

    Raises:
        RunFolderError: `folder` has no run, or a file is damaged.
        SpecError: an option does not exist, may not change, or does not fit the checkpoint; no steps are left.
        CheckpointError: there is no valid checkpoint.
        StorageError: see `train`.
    """
    origin, new = Path(folder).absolute(), Path(new_folder).absolute()
    if new.resolve().is_relative_to(origin.resolve()):
        raise SpecError(f"expected a folder outside of {origin}, which a fork does not change", path="fork")
    config = read_config(origin)
    check_layers(origin, config)
    with only_compared():
        run = complete(run_of(config, ""))  # as far as the new one will be
    changed = apply_overrides(run.model_dump(), [*overrides, *([] if steps is None else [f"steps={steps}"])])
    wanted = complete(changed)
    stored = RunCheckpoints(origin / "checkpoints", run.checkpoints.keep_last, run.checkpoints.memory)
    found = stored.newest()
    if found is None:
        raise CheckpointError(f"{origin} has no checkpoint yet to fork from")
    path, state = found
    check_state(path, state, run)
    changes = _changes(run, wanted, state)
    agent = agent_of(wanted, config, found)
    _load(agent, path, changes)
    reason = (
        f"step {state.worker.done}: forked from {origin}: {', '.join(changes.values()) or 'nothing changed'}"
    )
    others = departures_from(state, config.get("versions") or {}, wanted)
    begun = _begun(state, [*state.departures, reason, *others])
    with Run(new, wanted, agent, callbacks, begun, forked_from=path) as rest, new_run_in(new) as earlier:
        for name in NAMES:
            shutil.copyfile(origin / name, new / name)
        return replace(rest.execute(), earlier_run=earlier)


def _changes(run: RunSpec, wanted: RunSpec, state: RunState) -> dict[str, str]:
    """Path -> ``path: before -> after`` of what changes.

    Raises:
        SpecError: something may not, or there are no steps left.
    """
    before, after = differences([run.model_dump(mode="json"), wanted.model_dump(mode="json")])
    kinds = run.agent.get("type"), wanted.agent.get("type")
    if kinds[0] != kinds[1]:
        raise SpecError(f"expected {kinds[0]!r}, given {kinds[1]!r}: {KEPT['agent.type']}", path="agent.type")
    paths = dict.fromkeys([*before, *after])
    kept = [
        Fault(f"expected {before[path]!r}, given {after[path]!r}: {advice}", path)
        for path in paths
        for place, advice in KEPT.items()
        if parts_of(path)[0] == place
    ]
    if kept:
        raise SpecError(*kept)
    if wanted.steps <= state.worker.done:
        raise SpecError(
            f"expected an integer > {state.worker.done}, the steps that are done, given {wanted.steps}",
            path="steps",
        )
    return {path: f"{path} {before.get(path)!r} -> {after.get(path)!r}" for path in paths}


def _load(agent: BaseAgent, checkpoint: Path, changes: dict[str, str]) -> None:
    """Restore the checkpoint.

    Raises:
        SpecError: an option of the agent does not fit it.
    """
    try:
        agent.load_model(checkpoint)
    except CheckpointError as error:
        options = [path for path in changes if path.startswith("agent")]
        if not options:
            raise
        raise SpecError(
            f"{error}. Leave {'this option' if len(options) == 1 else 'the option that it depends on'} as it was; or "
            "train a new agent, and give it the weights that fit with Agent.load_weights(..., only=...)",
            path=", ".join(options),
        ) from None
    agent.flush_buffers()


def _begun(state: RunState, departures: list[str]) -> RunState:
    """The state of the new run, without running episodes and without a best policy."""
    worker = state.worker.model_copy(update={"environments": None, "running": None})
    return state.model_copy(update={"worker": worker, "best": None, "departures": departures})
