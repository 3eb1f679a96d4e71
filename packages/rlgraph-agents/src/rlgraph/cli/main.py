"""The commands of ``rlgraph``.

Exit codes: 0 done, 2 wrong input (the message says what and where), 130 interrupted by Ctrl-C.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from rlgraph.core import RLGraphError, SpecError, last_valid_checkpoint, registry
from rlgraph.core.registry import GROUPS
from rlgraph.spaces import SpaceError


class Form(StrEnum):
    """How a drawing is printed."""

    TEXT, MERMAID, DOT, SVG = "text", "mermaid", "dot", "svg"


app = typer.Typer(
    help="RLgraph: reinforcement learning on any backend.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
console = Console()

AgentOption = Annotated[str, typer.Option(help="A registered agent, or a JSON file with its spec.")]
EnvOption = Annotated[str, typer.Option(help="A gymnasium id or a registered environment.")]
BackendOption = Annotated[str | None, typer.Option(help="Backend; default: the only one installed.")]
#: On small networks a second thread costs more than it brings, and very much more where it must share its core.
ThreadsOption = Annotated[
    int | None, typer.Option(help="Threads of the backend; default: the agent spec's, else 1.")
]
SeedOption = Annotated[
    int | None, typer.Option(help="Root of all random numbers; default: the agent spec's, else 1.")
]


def main() -> int:
    """Run the command line and return the exit code."""
    try:
        result = app(standalone_mode=False)
        return result if isinstance(result, int) else 0
    except (RLGraphError, SpaceError) as error:
        text = "\n".join([str(error), *getattr(error, "__notes__", ())])
        message = f"[red]{type(error).__name__}:[/] {escape(text)}"
        Console(stderr=True).print(message, highlight=False, soft_wrap=True)
        return 2
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except Exception as error:
        # Errors of the command line itself: unknown option, missing value.
        show = getattr(error, "show", None)
        if show is None:
            raise
        show()
        return int(getattr(error, "exit_code", 2))


@app.command()
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


@app.command()
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


@app.command()
def evaluate(
    folder: Annotated[Path, typer.Argument(help="A run's folder.")],
    episodes: Annotated[int, typer.Option(help="How many episodes.")] = 20,
    backend: BackendOption = None,
    seed: SeedOption = None,
) -> None:
    """Evaluate the best policy of a run, on any backend that is installed."""
    from rlgraph.agents import Agent

    try:
        config = json.loads((folder / "config.json").read_text())
        run, chosen = config["run"], config["chosen"]
    except (OSError, ValueError, KeyError) as error:
        raise SpecError(f"{folder} is no run folder: config.json cannot be read ({error})") from None
    agent = Agent.from_spec(run["agent"], env=run["environment"], backend=backend or chosen["backend"])
    # A run that was interrupted before its first evaluation has no best policy.
    agent.load_model(last_valid_checkpoint(folder / "checkpoints", prefer="best"))
    result = agent.evaluate(episodes, seed=seed)
    console.print(f"mean return {result.mean:.1f} +- {result.std:.1f} over {len(result.returns)} episodes")


@app.command()
def plugins() -> None:
    """List what is installed: backends, agents, environments, components. Imports no framework."""
    table = Table("kind", "name", "from", Column("target", overflow="fold"))
    for group, kind in GROUPS.items():
        for plugin in registry(group).plugins():
            table.add_row(kind, plugin.name, plugin.origin, plugin.target)
    console.print(table)


@app.command()
def plan(
    method: Annotated[str, typer.Argument(help="An API method, e.g. get_actions or update_from_memory.")],
    agent: AgentOption = "dqn",
    env: EnvOption = "CartPole-v1",
) -> None:
    """Print the plan of an API method: what is left of the components at run time."""
    from rlgraph.core.draw import plan_text

    text = plan_text(_numpy_agent(agent, env).executor.built, method)
    console.print(text, highlight=False, markup=False, soft_wrap=True)


@app.command()
def graph(
    agent: AgentOption = "dqn",
    env: EnvOption = "CartPole-v1",
    scope: Annotated[str | None, typer.Option(help="Only this component, e.g. policy/network.")] = None,
    depth: Annotated[int | None, typer.Option(help="How deep components are opened.")] = None,
    method: Annotated[str | None, typer.Option(help="Only what this API method touches.")] = None,
    form: Annotated[Form, typer.Option("--format", help="What is printed.")] = Form.TEXT,
    file: Annotated[
        Path | None, typer.Option(help="Write an .svg, .png, .dot, .mmd or .txt instead of printing.")
    ] = None,
) -> None:
    """Draw an agent's component graph, or a part of it."""
    from rlgraph.core.draw import draw

    drawing = draw(_numpy_agent(agent, env).executor.built, scope=scope, depth=depth, method=method)
    if file is None:
        console.print(getattr(drawing, form)(), highlight=False, markup=False, soft_wrap=True)
    else:
        drawing.save(file)
        console.print(f"wrote {file}")


def _agent_spec(agent: str, env: str) -> dict[str, Any]:
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


def _numpy_agent(agent: str, env: str) -> Any:
    """An agent for looking at: the graph and its plans are the same on every backend."""
    from rlgraph.agents import Agent

    return Agent.from_spec(_agent_spec(agent, env), env=env, backend="numpy", seed=0)


def _run_spec(
    agent: str, env: str, backend: str | None, steps: int, seed: int | None, threads: int | None
) -> dict[str, Any]:
    spec = _agent_spec(agent, env)
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
    from rlgraph.cli.report import print_summary
    from rlgraph.core import default_backend
    from rlgraph.runs.training import train as run_training

    spec["backend"] = spec["backend"] or default_backend()
    agent, environment, name = (
        escape(str(part))
        for part in (spec["agent"].get("type", "agent"), spec["environment"], spec["backend"])
    )
    console.print(f"[bold]{agent}[/] learns [bold]{environment}[/] on [bold]{name}[/], seed {spec['seed']}")
    summary = run_training(spec, folder, [LiveProgress(console)])
    print_summary(
        console,
        summary,
        [
            f"{_command('rlgraph')} evaluate {folder} --episodes 100",
            f"{_command('tensorboard')} --logdir {folder / 'tensorboard'}",
            f"{_command('rlgraph')} plan update_from_memory",
        ],
    )
    return 130 if summary.training.interrupted else 0


def _command(name: str) -> str:
    """How to call an installed command: by its name where that is found, else by its place in this environment."""
    return name if shutil.which(name) else os.path.relpath(Path(sys.executable).parent / name)


if __name__ == "__main__":
    sys.exit(main())
