"""Commands for trained agents: ``evaluate``, ``export``."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from rlgraph.cli.command import command
from rlgraph.cli.options import RunArgument, names_of
from rlgraph.cli.output import output

CheckpointOption = Annotated[
    str | None,
    typer.Option(
        help="A checkpoint of the run; default: the best or last policy, as evaluation.policy says."
    ),
]
RunBackendOption = Annotated[
    str | None,
    typer.Option(
        "--backend",
        help="Backend; default: that of the run.",
        autocompletion=names_of("rlgraph.backends"),
    ),
]

PANEL = "Use trained agents"


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    for function in (evaluate, export):
        command(app, PANEL, json=True, specs=True)(function)


def evaluate(
    folder: RunArgument,
    episodes: Annotated[int, typer.Option(help="Number of episodes.")] = 20,
    num_envs: Annotated[
        int | None, typer.Option(help="Environments that are stepped together; default: 10.")
    ] = None,
    backend: RunBackendOption = None,
    seed: Annotated[
        int | None, typer.Option(help="Root seed of the environments; default: from the agent's.")
    ] = None,
    checkpoint: CheckpointOption = None,
    stochastic: Annotated[
        bool, typer.Option("--stochastic", help="Draw actions as in training; default: greedy actions.")
    ] = False,
    video: Annotated[
        Path | None, typer.Option(help="Record the first episodes: a .gif, or an .mp4 (extra 'video').")
    ] = None,
    video_episodes: Annotated[int, typer.Option(help="Number of recorded episodes.")] = 1,
) -> None:
    """Evaluate the policy of a run, on any installed backend."""
    from rlgraph.environments.stepped_env import stepped
    from rlgraph.runs.loading import load_agent
    from rlgraph.workers.recording import Recorder

    agent, run, source = load_agent(folder, backend=backend, checkpoint=checkpoint)
    env: Any = run.environment
    film = ""
    with ExitStack() as stack:
        if video is not None:
            recorder = stack.enter_context(Recorder(env, video, video_episodes))
            env = recorder.make_environment
        env = stepped(env, run.worker.frameskip, run.worker.max_timesteps_per_episode)
        with output.status(f"{episodes} episodes of {folder}"):
            result = agent.evaluate(episodes, env=env, num_envs=num_envs, seed=seed, stochastic=stochastic)
        if video is not None:
            film = f"\nwrote {video}" + (f", {recorder.frames:,} frames, no more" if recorder.is_full else "")
    data = {
        "folder": folder,
        "checkpoint": source.name,
        "backend": agent.executor.backend.name,
        "timesteps": result.timesteps,
        "episodes": len(result.returns),
        "mean_return": result.mean,
        "std_return": result.std,
        "returns": result.returns,
        "lengths": result.lengths,
        "stochastic": stochastic,
        "video": video,
    }
    number = f"{len(result.returns)} episode" + "s" * (len(result.returns) > 1)
    text = f"mean return {result.mean:.1f} +- {result.std:.1f} over {number}{film}"
    output.result(text, data, wrap=False)


def export(
    folder: RunArgument,
    to: Annotated[
        Path | None,
        typer.Option(help="Directory; default: export/ in the run's folder. Replaces an earlier export."),
    ] = None,
    method: Annotated[
        list[str] | None, typer.Option(help="An API method; may be repeated. Default: greedy acting.")
    ] = None,
    backend: RunBackendOption = None,
    checkpoint: CheckpointOption = None,
    format: Annotated[
        str | None,
        typer.Option(help="'onnx', which PyTorch writes; default: the format of the backend."),
    ] = None,
) -> None:
    """Write the trained policy for use without RLgraph, in the format of its backend or as ONNX."""
    from rlgraph.runs.loading import load_agent

    if format == "onnx":
        backend = backend or "torch"
    agent, _, source = load_agent(folder, backend=backend, checkpoint=checkpoint)
    with output.status("exporting"):
        directory = to or folder / "export"
        written = agent.export_graph(directory, method, format=format)
    files = sorted(str(file.relative_to(written)) for file in written.rglob("*") if file.is_file())
    data = {
        "directory": directory,
        "checkpoint": source.name,
        "backend": agent.executor.backend.name,
        "methods": method or [agent.greedy_method],
        "files": files,
    }
    text = "\n".join([f"wrote {directory}:", *(f"  {file}" for file in files)])
    output.result(text, data, wrap=False)
