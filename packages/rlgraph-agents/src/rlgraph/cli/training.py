"""Commands that train: ``quickstart``, ``train``, ``resume``."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from rlgraph.cli.command import command
from rlgraph.cli.exit_codes import ExitCode
from rlgraph.cli.options import AgentOption, BackendOption, EnvOption, RunArgument, SeedOption, ThreadsOption
from rlgraph.cli.output import output
from rlgraph.core import SpecError

PANEL = "Train"


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    for function in (quickstart, train, resume):
        command(app, PANEL, json=True)(function)


def quickstart(
    backend: BackendOption = None,
    folder: Annotated[Path, typer.Option(help="The run's folder.")] = Path("runs/quickstart"),
    steps: Annotated[int, typer.Option(help="Environment steps at most.")] = 50_000,
    seed: SeedOption = None,
    threads: ThreadsOption = None,
) -> int:
    """Train DQN on CartPole-v1 until it is solved; leaves curve, drawing, metrics and checkpoints."""
    spec = _run_spec("dqn", "CartPole-v1", backend, steps, seed, threads)
    spec["evaluation"] = {"interval": 1000, "episodes": 20, "stop_at_return": 490.0}
    return _train(spec, folder)


def train(
    agent: AgentOption = "dqn",
    env: EnvOption = "CartPole-v1",
    backend: BackendOption = None,
    steps: Annotated[int, typer.Option(help="Environment steps.")] = 50_000,
    seed: SeedOption = None,
    threads: ThreadsOption = None,
    num_envs: Annotated[int, typer.Option(help="Environments stepped in turn.")] = 1,
    validate: Annotated[
        bool, typer.Option(help="Check every state, not only those of first episodes.")
    ] = False,
    folder: Annotated[
        Path | None, typer.Option(help="The run's folder; default: runs/AGENT-ENV-BACKEND-SEED.")
    ] = None,
) -> int:
    """Train an agent in an environment."""
    spec = _run_spec(agent, env, backend, steps, seed, threads)
    spec["worker"] = {"num_envs": num_envs, "validate_states": validate}
    name = f"{Path(agent).stem}-{env}-{spec['backend'] or 'default'}-{spec['seed']}".replace("/", "-")
    return _train(spec, folder or Path("runs") / name)


def resume(
    folder: RunArgument,
    steps: Annotated[
        int | None,
        typer.Option(help="Environment steps in all, if the run shall be longer than it was to be."),
    ] = None,
) -> int:
    """Go on with a run from its newest whole checkpoint, however it ended."""
    from rlgraph.cli.progress import LiveProgress
    from rlgraph.runs.training import resume as resume_run

    output.notes.print(f"{escape(str(folder))} goes on", highlight=False)
    with LiveProgress(output.notes) as progress:
        summary = resume_run(folder, steps=steps, callbacks=[progress])
    return _report(summary)


def agent_spec(agent: str, env: str) -> dict[str, Any]:
    """The tuned preset for a named agent and environment, else the agent's defaults, else a JSON file."""
    from rlgraph.agents.presets import preset

    if agent.endswith(".json"):
        try:
            spec = json.loads(Path(agent).read_text())
        except (OSError, ValueError) as error:
            raise SpecError(f"agent: {agent} cannot be read as JSON: {error}") from None
        if not isinstance(spec, dict):
            raise SpecError(f"agent: {agent}: expected a mapping with 'type', given {spec!r}")
        return spec
    return preset(agent, env) or {"type": agent}


def _run_spec(
    agent: str, env: str, backend: str | None, steps: int, seed: int | None, threads: int | None
) -> dict[str, Any]:
    spec = agent_spec(agent, env)
    backend = backend or spec.pop("backend", None)
    seed = spec.pop("seed", 1) if seed is None else seed
    execution = spec.get("execution_spec") or {}
    if isinstance(execution, dict):  # else the agent says what is wrong with it
        spec["execution_spec"] = {**execution, "threads": threads or execution.get("threads", 1)}
    return {
        "agent": spec,
        "environment": env,
        "backend": backend,
        "steps": steps,
        "seed": seed,
    }


def _train(spec: dict[str, Any], folder: Path) -> int:
    from rlgraph.cli.progress import LiveProgress
    from rlgraph.core import default_backend
    from rlgraph.runs.training import train as run_training

    spec["backend"] = spec["backend"] or default_backend()
    agent, environment, name = (
        escape(str(part))
        for part in (spec["agent"].get("type", "agent"), spec["environment"], spec["backend"])
    )
    output.notes.print(
        f"[bold]{agent}[/] learns [bold]{environment}[/] on [bold]{name}[/], seed {spec['seed']}"
    )
    with LiveProgress(output.notes) as progress:
        summary = run_training(spec, folder, [progress])
    return _report(summary)


def _report(summary: Any) -> int:
    from rlgraph.cli.report import summary_data, summary_table

    next_steps = [
        f"{_command('rlgraph')} evaluate {summary.folder} --episodes 100",
        f"{_command('tensorboard')} --logdir {summary.folder / 'tensorboard'}",
        f"{_command('rlgraph')} plan update_from_memory --full",
    ]
    output.result(summary_table(summary, [] if output.quiet else next_steps), summary_data(summary))
    return ExitCode.INTERRUPTED if summary.training.interrupted else ExitCode.DONE


def _command(name: str) -> str:
    """How to call an installed command: by its name where that is found, else by its place in this environment."""
    return name if shutil.which(name) else os.path.relpath(Path(sys.executable).parent / name)
