"""A whole run: build the agent, train it, keep everything, evaluate the best policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rlgraph.agents.agent import Agent
from rlgraph.agents.specs import parse_spec
from rlgraph.core import SpecError
from rlgraph.runs.run_folder import RunFolder
from rlgraph.runs.run_spec import RunSpec
from rlgraph.workers.callbacks import Callback
from rlgraph.workers.evaluation import Evaluation, evaluate
from rlgraph.workers.single_threaded_worker import SingleThreadedWorker, TrainingResult

#: Far from the seeds of evaluations during training.
FINAL_EVALUATION_SEED = 777_000_777


@dataclass(frozen=True)
class RunSummary:
    """The outcome of a run.

    Attributes:
        folder: where everything is.
        training: what the training did.
        evaluation: closing evaluation of the best policy, on episodes never used before; None after Ctrl-C.
    """

    folder: Path
    training: TrainingResult
    evaluation: Evaluation | None


def train(
    spec: RunSpec | Mapping[str, Any], folder: str | Path, callbacks: Sequence[Callback] = ()
) -> RunSummary:
    """Do a run.

    Args:
        spec: a `RunSpec` or a mapping of its fields.
        folder: the run's folder (see `RunFolder`).
        callbacks: told what happens, besides the folder's own.

    Raises:
        SpecError: the spec is wrong.
        EnvironmentFault, NumericalError: training cannot go on; the last checkpoint is written first.
    """
    run = parse_spec(RunSpec, spec, "run")
    for key in ("backend", "seed"):
        if key in run.agent:
            raise SpecError(f"run.agent.{key}: say it once, as run.{key}")
    agent = Agent.from_spec(run.agent, env=run.environment, backend=run.backend, seed=run.seed)
    worker = SingleThreadedWorker(
        agent,
        run.environment,
        num_envs=run.worker.num_envs,
        validate=run.worker.validate_states,
        report_interval=run.logging.report_interval,
        evaluation_interval=run.evaluation.interval,
        evaluation_episodes=run.evaluation.episodes,
    )
    try:
        run_folder = RunFolder(Path(folder), run, agent)
        result = worker.execute_timesteps(run.steps, callbacks=[run_folder, *callbacks])
    finally:
        worker.terminate()
    if result.interrupted:
        return RunSummary(run_folder.folder, result, None)
    if run_folder.best is not None:
        agent.load_model(run_folder.folder / "checkpoints" / "best")
    final = evaluate(agent, run.environment, run.evaluation.final_episodes, FINAL_EVALUATION_SEED + run.seed)
    return RunSummary(run_folder.folder, result, final)
