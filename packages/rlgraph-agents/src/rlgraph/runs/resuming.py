"""Going on with a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rlgraph.agents.agent import Agent
from rlgraph.agents.specs import parse_spec
from rlgraph.core import SpecError, data_specs
from rlgraph.core.checkpoint.manifest import read_manifest
from rlgraph.runs.checkpoints import RunCheckpoints
from rlgraph.runs.provenance import installed_versions
from rlgraph.runs.run_folder import read_config
from rlgraph.runs.run_spec import RunSpec
from rlgraph.runs.training import Run, RunSummary, complete
from rlgraph.workers.callbacks import Callback


@data_specs()
def resume(
    folder: str | Path,
    *,
    steps: int | None = None,
    spec: RunSpec | Mapping[str, Any] | None = None,
    callbacks: Sequence[Callback] = (),
) -> RunSummary:
    """Go on with a run from its newest whole checkpoint, however it ended.

    From a checkpoint that was written on schedule the run equals the uninterrupted one bit for bit: weights, memory,
    random numbers, metrics but times. From where Ctrl-C or an error ended it, it goes on without that promise
    (`RunSummary.departures`).

    Args:
        folder: the run's folder.
        steps: more environment steps than before; schedules follow the new length from here on.
        spec: the document the run is meant to have, to be held against that of the folder.
        callbacks: told what happens, besides the folder's own.

    Raises:
        SpecError: the folder has no run, or something but a larger ``steps`` differs; names the keys.
        CheckpointError: there is no whole checkpoint.
    """
    folder = Path(folder)
    config = read_config(folder)
    run = parse_spec(RunSpec, config["run"], "")
    wanted = run if spec is None else complete(spec)
    if steps is not None:
        wanted = wanted.model_copy(update={"steps": steps})
    _check_same(run, wanted)
    found = RunCheckpoints(folder / "checkpoints", run.checkpoints.keep_last, run.checkpoints.memory).newest()
    agent = _agent(run, config, found)
    if found is None:  # it ended before its first checkpoint
        return Run(folder, wanted, agent, None).execute(callbacks)
    path, state = found
    agent.load_model(path)
    departures = [*state["departures"], *_departures(state, config["versions"], wanted.steps)]
    return Run(folder, wanted, agent, {**state, "departures": departures}).execute(callbacks)


def _agent(run: RunSpec, config: Mapping[str, Any], found: tuple[Path, Any] | None) -> Agent:
    """The agent of a run, on the backend and with the choices that it had."""
    spec = dict(run.agent)
    if found is not None and (choices := read_manifest(found[0]).choices):
        spec["execution_spec"] = {**spec.get("execution_spec", {}), "choices": dict(choices)}
    return Agent.from_spec(spec, env=run.environment, backend=config["chosen"]["backend"], seed=run.seed)


def _departures(state: Mapping[str, Any], versions: Mapping[str, str], steps: int) -> list[str]:
    """Why a run that goes on from `state` will not be the one that was never left."""
    done, present = state["worker"]["done"], installed_versions()
    reasons = []
    if not state["scheduled"]:
        reasons.append("it goes on from where training was ended, which no other run comes by")
    if not state["memory"]:
        reasons.append("the checkpoint has no memory")
    if steps != state["steps"]:
        reasons.append(f"schedules follow {steps} steps, they followed {state['steps']}")
    changed = [name for name in {**versions, **present} if versions.get(name) != present.get(name)]
    if changed:
        reasons.append(f"other versions of {', '.join(changed)}")
    return [f"step {done}: {reason}" for reason in reasons]


def _check_same(before: RunSpec, wanted: RunSpec) -> None:
    """Only ``steps`` may differ, and grow.

    Raises:
        SpecError: names the keys that differ.
    """
    problems = _differences(before.model_dump(exclude={"steps"}), wanted.model_dump(exclude={"steps"}))
    if wanted.steps < before.steps:
        problems.append(f"steps: {before.steps} in the run, {wanted.steps} given; it may only grow")
    if problems:
        raise SpecError("\n".join(["a run goes on as it began:", *problems]))


def _differences(before: Any, wanted: Any, path: str = "") -> list[str]:
    if not (isinstance(before, Mapping) and isinstance(wanted, Mapping)):
        return [] if before == wanted else [f"{path}: {before!r} in the run, {wanted!r} given"]
    keys = [*before, *(key for key in wanted if key not in before)]
    return [
        line
        for key in keys
        for line in _differences(before.get(key), wanted.get(key), f"{path}.{key}" if path else str(key))
    ]
