"""Loads trained agents, of runs and of checkpoints."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from rlgraph.core import CheckpointError, GraphExecutor, SpecError, data_specs, last_valid_checkpoint
from rlgraph.core.checkpoint import MANIFEST, Checkpoint, Manifest, find_checkpoint, read_manifest
from rlgraph.core.errors import nearest
from rlgraph.core.specs.documents import check_limits
from rlgraph.learning.actor import Actor
from rlgraph.learning.actor_spec import ActorSpec
from rlgraph.learning.agent_spec import BY_PATH
from rlgraph.learning.agent_storage import AGENT
from rlgraph.learning.base_agent import BaseAgent
from rlgraph.learning.stored_meaning import as_it_meant, changed_layers, meaning_of
from rlgraph.runs.checkpoints import FAILED, check_own, problem_of
from rlgraph.runs.config_file import CONFIG, LEARNERS, read_config, run_of
from rlgraph.runs.run_files import without
from rlgraph.runs.run_spec import RunSpec

A = TypeVar("A", bound=BaseAgent)


def load(path: str | Path, backend: str | None, kind: type[A]) -> A:
    """The agent of a run folder or a checkpoint; see `rlgraph.agents.Agent.load`."""
    path = Path(path)
    if (path / CONFIG).exists():
        agent, _, _ = load_agent(path, backend=backend)
    else:
        agent = _of_checkpoint(path, backend)
    if not isinstance(agent, kind):
        raise SpecError(f"{path}: expected a {kind.__name__}, found a {type(agent).__name__}")
    return agent


@data_specs()
def _of_checkpoint(path: Path, backend: str | None) -> BaseAgent:
    source, manifest, spec = _stored(path)
    agent = BaseAgent.from_spec(
        for_any_machine(spec), backend=backend or manifest.backend, seed=manifest.seed
    )
    agent.load_model(source)
    return agent


def for_any_machine(spec: Any) -> Any:
    """The spec of an agent, for machines and backends without the devices on which it learned."""
    execution = spec.get("execution_spec") if isinstance(spec, Mapping) else None
    if not isinstance(execution, Mapping):
        return spec
    kept = without(execution, *LEARNERS)  # it acts alone
    if devices := execution.get("devices"):
        kept["device"] = devices[0]
    if {"device", "device_map"} & kept.keys():
        kept["soft_placement"] = True
    return spec if kept == execution else {**spec, "execution_spec": kept}


def agent_spec_of_run(folder: Path) -> tuple[Any, Any]:
    """The spec of a run's agent, for any machine, and that of its environment."""
    run = run_of(read_config(folder))
    return for_any_machine(run.agent), run.environment


def policy_checkpoint(path: Path) -> Path:
    """The checkpoint of a run folder's policy, or a checkpoint itself."""
    if not (path / CONFIG).exists():
        return _found(path)
    config = read_config(path)
    return _checkpoint(path, config, run_of(config))


def stored_policy(path: Path) -> tuple[Path, ActorSpec]:
    """The checkpoint of a run folder's policy, or a checkpoint itself, and the spec of its actors."""
    source, manifest, spec = _stored(policy_checkpoint(path))
    # The Spaces are in the spec: no environment is made.
    return source, BaseAgent.check_spec({**spec, "env": None}, seed=manifest.seed)


def read_policy(source: Path, executor: GraphExecutor, actor: Actor) -> None:
    """Read the variables of an actor's executor from a checkpoint that may hold more.

    Raises:
        CheckpointError: the checkpoint is damaged, or lacks something.
    """
    names = [name for name, variable in executor.built.variables.items() if not variable.host]
    with Checkpoint(source) as checkpoint:
        checkpoint.require_facts({"updates": 0, "time_percentage": 0.0})
        checkpoint.verify(["variables"])
        file, facts = checkpoint.file("variables"), checkpoint.manifest.facts
        if lacking := [name for name in names if name not in file.entries]:
            raise CheckpointError(f"checkpoint {source} lacks the variables {', '.join(lacking)}")
        executor.set_weights({name: file.read(name) for name in names})
    actor.version = facts["updates"]
    actor.progress[()] = facts["time_percentage"]


def _found(path: Path) -> Path:
    """The folder of the checkpoint at `path`.

    Raises:
        CheckpointError: there is no checkpoint.
    """
    source = find_checkpoint(path)
    if not (source / MANIFEST).exists():
        raise CheckpointError(
            f"expected a run folder, which has a {CONFIG}, or a checkpoint, which has a {MANIFEST}; {path} "
            f"{'has neither' if path.exists() else 'does not exist'}"
        )
    return source


def _stored(path: Path) -> tuple[Path, Manifest, dict[str, Any]]:
    """A checkpoint with its manifest and the spec of its agent.

    Raises:
        CheckpointError: there is no checkpoint, or it does not contain its agent's spec.
    """
    source = _found(path)
    manifest = read_manifest(source)
    spec = manifest.facts.get(AGENT)
    if not isinstance(spec, dict):
        raise CheckpointError(
            f"{source} does not know its agent's spec: an older version wrote it, or an argument of the agent has no "
            "JSON form or is too large for a document; make the agent as it was made, and call its load_model. So that "
            f"another one can be loaded, {BY_PATH}"
        )
    check_limits(spec, AGENT)
    meaning = meaning_of(manifest.facts)
    if changed := changed_layers(spec, meaning):
        warnings.warn(f"{source} can act. {changed}", RuntimeWarning, stacklevel=3)
    return source, manifest, as_it_meant(BaseAgent, spec, meaning)


@data_specs()
def load_agent(
    folder: str | Path, *, backend: str | None = None, checkpoint: str | None = None
) -> tuple[BaseAgent, RunSpec, Path]:
    """The agent of a run with its trained weights.

    Args:
        folder: the run folder.
        backend: the backend; default: that of the run.
        checkpoint: a name in ``checkpoints/``; default: the best or the last policy, as the run's ``evaluation.policy``
            says, or else the newest (a run that was interrupted before its first evaluation has no best policy).
            ``failed`` is loaded only if named.

    Returns:
        The agent, the document of the run, and the path of the loaded checkpoint.

    Raises:
        SpecError: not a run folder, or an unknown checkpoint.
        RunFolderError: a file is damaged, or the checkpoint is of another run.
        CheckpointError: no valid checkpoint, or the named one is damaged or has weights that are not finite.
    """
    folder = Path(folder)
    config = read_config(folder)
    run = run_of(config)
    # Absolute, since an environment may change the working directory.
    source = _checkpoint(folder, config, run, checkpoint).absolute()
    agent = BaseAgent.from_spec(
        for_any_machine(run.agent),
        env=run.environment,
        backend=backend or config["chosen"]["backend"],
        seed=run.seed,
    )
    agent.load_model(source)
    return agent, run, source


def _checkpoint(run_folder: Path, config: Mapping[str, Any], run: RunSpec, name: str | None = None) -> Path:
    """The checkpoint of a run, by its name in ``checkpoints/`` or as the run's ``evaluation.policy`` says."""
    folder = run_folder / "checkpoints"
    if name is None:
        preferred = run.evaluation.policy
        return check_own(last_valid_checkpoint(folder, prefer=preferred, find_problem=problem_of), config)
    if not (folder / name).is_dir():
        there = [inner.name for inner in folder.iterdir() if inner.is_dir()] if folder.is_dir() else []
        raise SpecError(f"{folder} has no checkpoint {name!r}. {nearest(name, there)}")
    if name != FAILED and (problem := problem_of(folder / name)):
        raise CheckpointError(problem)
    return check_own(folder / name, config)
