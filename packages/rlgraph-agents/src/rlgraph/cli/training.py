"""Commands that train: ``quickstart``, ``train``, ``resume``."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from rlgraph.cli.command import command
from rlgraph.cli.exit_codes import ExitCode
from rlgraph.cli.options import (
    BackendOption,
    OverridesOption,
    RunArgument,
    SeedOption,
    ThreadsOption,
    names_of,
    parsed_spec,
)
from rlgraph.cli.output import output
from rlgraph.core import SpecError
from rlgraph.core.errors import Fault
from rlgraph.core.execution_spec import DEFAULT_SEED

PANEL = "Train"


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    command(app, PANEL, json=True)(quickstart)
    for function in (train, resume):
        command(app, PANEL, json=True, specs=True, connects=True)(function)


def quickstart(
    backend: BackendOption = None,
    folder: Annotated[Path, typer.Option(help="The run's folder.")] = Path("runs/quickstart"),
    steps: Annotated[int | None, typer.Option(help="Environment steps; default: the preset's.")] = None,
    seed: SeedOption = None,
    threads: ThreadsOption = None,
) -> int:
    """Train PPO on CartPole-v1 for 100,000 steps, which solve it; writes curve, drawing, metrics and checkpoints."""
    given = {"backend": backend, "steps": steps, "seed": seed}
    return _train(run_document(None, "ppo", "CartPole-v1", given, (), threads), folder)


def train(
    config: Annotated[
        Path | None,
        typer.Argument(help="A run's document: .yaml, .json or .toml; options override what it says."),
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(
            help="A registered agent, which stands for its preset if there is one; its spec as JSON; or a file with "
            "it. Default: the document's, else dqn.",
            autocompletion=names_of("rlgraph.agents"),
        ),
    ] = None,
    env: Annotated[
        str | None,
        typer.Option(
            help="A Gymnasium id, a registered environment, or its spec as JSON; default: the document's, else "
            "CartPole-v1.",
            autocompletion=names_of("rlgraph.environments"),
        ),
    ] = None,
    backend: BackendOption = None,
    steps: Annotated[
        int | None,
        typer.Option(help="Environment steps; default: those of the document or the preset, else 50,000."),
    ] = None,
    seed: SeedOption = None,
    threads: ThreadsOption = None,
    num_envs: Annotated[int | None, typer.Option(help="Number of environments.")] = None,
    executor: Annotated[
        str | None,
        typer.Option(
            help="Where actors are: an engine, such as ray (rlgraph-dist); an executor; or its spec as JSON.",
            autocompletion=names_of("rlgraph.engines", "rlgraph.executors"),
        ),
    ] = None,
    actors: Annotated[int | None, typer.Option(help="Number of actors of the executor.")] = None,
    validate_states: Annotated[
        bool,
        typer.Option(
            "--validate-states",
            help="Floats of states outside their bounds are errors, not warnings.",
        ),
    ] = False,
    overrides: OverridesOption = None,
    folder: Annotated[
        Path | None, typer.Option(help="The run's folder; default: runs/AGENT-ENV-BACKEND-SEED.")
    ] = None,
) -> int:
    """Train an agent in an environment."""
    given: dict[str, Any] = {"backend": backend, "steps": steps, "seed": seed}
    worker = {"num_envs": num_envs, "validate_states": validate_states or None}
    given["worker"] = {key: value for key, value in worker.items() if value is not None} or None
    given["executor_spec"] = _executor_spec(executor, actors)
    document = run_document(config, agent, env, given, overrides or (), threads)
    spec = document.get("executor_spec")
    if actors is not None and isinstance(spec, Mapping) and not spec.keys() & {"type", "engine"}:
        raise SpecError(
            f"expected --executor beside it, given --actors {actors} alone: --executor ray runs actors in processes, "
            "--executor in_process in this one, to debug",
            path="executor_spec.engine",
        )
    return _train(document, folder or Path("runs") / _folder_name(document, config, agent))


def _executor_spec(executor: str | None, actors: int | None) -> Any:
    """The run's `executor_spec`; None: the document's."""
    spec = None if executor is None else parsed_spec(executor, "executor_spec")
    if actors is None:
        return spec
    return {**({"type": spec} if isinstance(spec, str) else spec or {}), "actors": actors}


def resume(
    folder: RunArgument,
    steps: Annotated[
        int | None,
        typer.Option(help="Total environment steps, to extend the run."),
    ] = None,
    fork: Annotated[
        Path | None,
        typer.Option(
            help="Begin a new run in this folder with the checkpoint; the run itself stays as it is."
        ),
    ] = None,
    overrides: OverridesOption = None,
) -> int:
    """Resume a run from its newest valid checkpoint, or fork it: begin a new run there with changed options.

    A run keeps its options but executor_spec: --set executor_spec.actors=4 resumes it with other actors.
    """
    if fork is not None:
        return _fork(folder, fork, overrides or (), steps)
    from rlgraph.runs import resume as resume_run
    from rlgraph.runs.run_folder import finished_steps
    from rlgraph.workers import LiveProgress

    done = finished_steps(folder)
    if done is not None and steps in (None, done) and not overrides:
        longer = f" To extend it:\n  {_command('rlgraph')} resume {folder} --steps {2 * done}" if done else ""
        output.result(
            f"{folder} is finished: all {done:,} steps are done.{longer}",
            {"folder": folder, "finished": True, "timesteps": done},
            wrap=False,
        )
        return ExitCode.DONE
    output.notes.print(f"resuming {escape(str(folder))}", highlight=False)
    with LiveProgress(output.notes) as progress:
        summary = resume_run(folder, steps=steps, overrides=overrides or (), callbacks=[progress])
    return _report(summary, folder)


def _fork(folder: Path, new: Path, overrides: Iterable[str], steps: int | None) -> int:
    from rlgraph.runs import fork as fork_run
    from rlgraph.workers import LiveProgress

    output.notes.print(f"forking {escape(str(folder))} into {escape(str(new))}", highlight=False)
    with LiveProgress(output.notes) as progress:
        summary = fork_run(folder, new, overrides, steps=steps, callbacks=[progress])
    return _report(summary, new)


def run_document(
    config: Path | None,
    agent: str | None,
    env: str | None,
    given: Mapping[str, Any],
    overrides: Iterable[str],
    threads: int | None,
) -> dict[str, Any]:
    """The checked document of a run, from a file and command-line options.

    Args:
        config: the file; None: `agent` (or dqn) in `env` (or CartPole-v1).
        agent, env: the agent and the environment.
        given: further values; None means not given, mappings are merged.
        overrides: ``key=value``.
        threads: of the backend.

    Raises:
        SpecError: the document is wrong; reports all faults.
    """
    from rlgraph.core import default_backend, find_backend
    from rlgraph.runs.configuration import apply_overrides, check, read_document
    from rlgraph.runs.template import STEPS

    if config is None:
        agent, env = agent or "dqn", env or "CartPole-v1"
    document = read_document(
        {} if config is None else config,
        agent=None if agent is None else agent_spec(agent),
        environment=None if env is None else parsed_spec(env, "environment"),
    )
    if config is None:
        document.setdefault("steps", STEPS)
    for key, value in given.items():
        if isinstance(value, Mapping):
            before = document.get(key) or {}
            before = {"type": before} if isinstance(before, str) else before
            document[key] = (
                {**before, **value} if isinstance(before, Mapping) else before
            )  # refused by the check
        elif value is not None:
            document[key] = value
    document = apply_overrides(document, overrides)
    moved = _say_once(document, threads)
    if document.get("backend") is None:
        document["backend"] = default_backend()
    try:
        check(document)
    except SpecError as error:
        raise SpecError(*(_as_written(fault, moved) for fault in error.faults)) from None
    document["backend"] = find_backend(document["backend"]).name  # an alias of it
    return document


def _as_written(fault: Fault, moved: Iterable[str]) -> Fault:
    """A fault with the place of the value in the agent's spec, if it came from there."""
    return Fault(fault.text, f"agent.{fault.path}") if fault.path in moved else fault


def _say_once(document: dict[str, Any], threads: int | None) -> list[str]:
    """Move backend and seed from the agent's spec to the run, and set the threads.

    Returns:
        The values that were moved from the agent's spec.
    """
    spec, moved = document.get("agent"), list[str]()
    if not isinstance(spec, dict):
        return moved  # the check reports the fault
    for key in ("backend", "seed"):
        given = spec.pop(key, None)
        if document.get(key) is None and given is not None:
            document[key] = given
            moved.append(key)
    execution = spec.get("execution_spec") or {}
    if threads is not None and isinstance(execution, dict):
        spec["execution_spec"] = {**execution, "threads": threads}
    return moved


def agent_spec(agent: str) -> Any:
    """The name of an agent, or the spec in a file or in JSON."""
    from rlgraph.core.specs.documents import is_spec_file, read_spec_file

    if not is_spec_file(agent):
        return parsed_spec(agent, "agent")
    spec = read_spec_file(agent, "agent")
    if not isinstance(spec, dict):
        raise SpecError(f"{agent}: expected a mapping with 'type', given {spec!r}", path="agent")
    return spec


def _folder_name(document: Mapping[str, Any], config: Path | None, agent: str | None) -> str:
    from rlgraph.core.specs.documents import is_spec_file
    from rlgraph.runs.recorded_run import environment_name

    source = agent or config or ""
    what = Path(source).stem if is_spec_file(source) else document["agent"]["type"]
    parts = (what, environment_name(document["environment"]), document["backend"])
    seed = document.get("seed", DEFAULT_SEED)
    return re.sub(r"[^\w.+-]+", "-", "-".join(map(str, (*parts, seed))))


def _train(spec: dict[str, Any], folder: Path) -> int:
    from rlgraph.experience.specs import parse_spec
    from rlgraph.runs.recorded_run import environment_name
    from rlgraph.runs.run_spec import DataSpec
    from rlgraph.runs.training import train as run_training
    from rlgraph.workers import LiveProgress

    agent, environment, backend = (
        spec["agent"]["type"],
        environment_name(spec["environment"]),
        spec["backend"],
    )
    words = [f"[bold]{escape(str(word))}[/]" for word in (agent, environment, backend)]
    output.notes.print("{} learns {} on {}, seed {}".format(*words, spec.get("seed", DEFAULT_SEED)))
    if (data := parse_spec(DataSpec, spec.get("data"), "data")).file is not None:
        output.notes.print(f"first {data.updates:,} updates on {escape(data.file)}", highlight=False)
    with LiveProgress(output.notes) as progress:
        summary = run_training(spec, folder, [progress])
    return _report(summary, folder)


def _report(summary: Any, folder: Path) -> int:
    from rlgraph.cli.report import summary_data, summary_report

    goes_on = [f"{_command('rlgraph')} resume {folder}"] if summary.training.interrupted else []
    next_steps = [
        *goes_on,
        f"{_command('rlgraph')} evaluate {folder} --episodes 100",
        f"{_command('tensorboard')} --logdir {folder / 'tensorboard'}",
    ]
    output.result(
        summary_report(summary, folder, [] if output.quiet else next_steps), summary_data(summary, folder)
    )
    return ExitCode.INTERRUPTED if summary.training.interrupted else ExitCode.DONE


def _command(name: str) -> str:
    """How to call an installed command: its name if it is on the PATH, else its path in this environment."""
    return name if shutil.which(name) else os.path.relpath(Path(sys.executable).parent / name)
