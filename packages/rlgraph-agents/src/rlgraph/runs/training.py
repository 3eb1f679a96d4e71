"""Executes runs: build the agent, train it, save the results, evaluate its policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Any, Self

from rlgraph.core import (
    NumericalError,
    RLGraphError,
    SpecError,
    allow_clusters,
    allow_network,
    allow_paths,
    data_specs,
)
from rlgraph.core.errors import text_of, type_and_text
from rlgraph.core.specs.connections import texts_in
from rlgraph.core.specs.documents import MAX_TEXT, is_json
from rlgraph.environments.data_paths import paths_of
from rlgraph.environments.interrupts import interruptible
from rlgraph.environments.stepped_env import stepped
from rlgraph.experience.specs import parse_spec
from rlgraph.learning.agent_spec import BY_PATH, first_object, stored_spec
from rlgraph.learning.base_agent import BaseAgent
from rlgraph.runs.checkpoints import BEST, FAILED, LAST
from rlgraph.runs.configuration import resolve
from rlgraph.runs.errors import StorageError
from rlgraph.runs.executors import PLACES, options_placed, worker_class
from rlgraph.runs.records import read_episodes, read_evaluations
from rlgraph.runs.run_files import without
from rlgraph.runs.run_folder import RunFolder, new_run_in
from rlgraph.runs.run_spec import RunSpec
from rlgraph.runs.run_state import RunState
from rlgraph.runs.wandb_log import check_wandb
from rlgraph.workers.callbacks import Callback
from rlgraph.workers.evaluation import Evaluation, evaluate
from rlgraph.workers.listeners import as_list
from rlgraph.workers.offline import train_on_memory
from rlgraph.workers.results import TrainingResult
from rlgraph.workers.short_repr import short_repr
from rlgraph.workers.stopping import StopAfterEpisodes, StopAfterSeconds, StopAtEvaluation, StopAtReturn
from rlgraph.workers.worker import Worker, check_learns_in_environments

#: Offset from the seeds of evaluations during training.
FINAL_EVALUATION_SEED = 777_000_777


@dataclass(frozen=True)
class RunSummary:
    """The outcome of a run.

    Attributes:
        folder: the run folder, an absolute path.
        training: result of the training.
        evaluation: final evaluation, on new episodes, of the best or the last policy, as configured; None after Ctrl-C.
        earlier_run: new place of an earlier run in the folder; None if there was none.
        departures: why the run differs from the one that its seed determines: it resumed after Ctrl-C or an error,
            without its memory, with more steps or with other versions. Empty: it does not differ.
    """

    folder: Path
    training: TrainingResult
    evaluation: Evaluation | None
    departures: tuple[str, ...] = ()
    earlier_run: Path | None = None

    def __repr__(self) -> str:
        done, final = self.training, None if self.evaluation is None else self.evaluation.mean
        return short_repr(self, "folder", timesteps=done.timesteps, updates=done.updates, evaluation=final)


@interruptible()
@data_specs()
def train(
    spec: RunSpec | Mapping[str, Any], folder: str | Path, callbacks: Sequence[Callback] = ()
) -> RunSummary:
    """Execute a run.

    Args:
        spec: a `RunSpec` or a mapping of its fields.
        folder: the run folder (see `RunFolder`).
        callbacks: additional callbacks.

    Raises:
        SpecError: the spec is wrong, or names a module that may not be imported (`rlgraph.core.allow_imports`).
        CapabilityError: the backend cannot learn, but the agent should; nothing is written.
        EnvironmentFault, NumericalError: training failed; a last checkpoint is written first.
        RunFolderError: another process trains in the folder.
        StorageError: a write failed, e.g. the disk is full; earlier checkpoints are intact.
    """
    run = complete(spec)
    agent = BaseAgent.from_spec(run.agent, env=run.environment, backend=run.backend, seed=run.seed)
    return _train_in(folder, run, agent, callbacks)


@interruptible()
@data_specs()
def record(
    agent: BaseAgent,
    environment: Any,
    steps: int,
    folder: str | Path,
    options: Mapping[str, Any],
    callbacks: Sequence[Callback] = (),
) -> RunSummary:
    """Train an agent as `train` does; the run ends with its last policy.

    Args:
        agent: the agent; it may have learned before.
        environment: environment spec, as data.
        steps: environment steps.
        folder: the run folder.
        options: arguments of the worker, and ``wandb``; default: those of a run's document.
        callbacks: additional callbacks.

    Raises:
        SpecError: a document cannot describe the agent or the environment, or an option is wrong.
    """
    spec = stored_spec(type(agent), agent._arguments)
    if spec is None or not is_json(environment):
        what, way = f"the environment {environment!r}", "give names and mappings instead of objects"
        if spec is None:
            what = f"the agent ({first_object(type(agent), agent._arguments)})"
            way = f"{way} ({BY_PATH})"
        raise SpecError(
            f"{what} has no JSON form, which the run's document needs: {way}, or leave out folder=",
            path="folder",
        )
    # The environment gives the Spaces.
    spec = without(spec, "env", "state_space", "action_space")
    spec["execution_spec"] = {
        "threads": agent.executor.execution.threads,
        **(spec.get("execution_spec") or {}),
    }
    document: dict[str, Any] = {
        "agent": spec,
        "environment": environment,
        "backend": agent.executor.backend.name,
        "steps": steps,
        "seed": agent.seed,
        "evaluation": {"policy": LAST},
    }
    places = {**PLACES, "wandb": ("logging", "wandb")}
    for name, value in options.items():
        if name not in places:
            raise SpecError(
                "a run's document has no such option: leave it out, or folder=", path=f"learn.{name}"
            )
        section, key = places[name]
        document.setdefault(section, {})[key] = value
    # What the program itself has said, the data policy must not refuse.
    said = [text for _, text in paths_of(environment)]
    clusters = texts_in(spec["execution_spec"].get("collective"))
    with allow_network(), allow_clusters(*clusters), allow_paths(*said):
        return _train_in(folder, complete(document), agent, callbacks)


def _train_in(
    folder: str | Path, run: RunSpec, agent: BaseAgent, callbacks: Sequence[Callback]
) -> RunSummary:
    folder = Path(folder).absolute()  # an environment may change the working directory
    agent.learner.check_can_learn()
    with Run(folder, run, agent, callbacks) as begun:
        if begun.is_of_another_learner:
            return begun.follow()
        with new_run_in(folder) as earlier:
            return replace(begun.execute(), earlier_run=earlier)


def complete(spec: RunSpec | Mapping[str, Any]) -> RunSpec:
    """The description of a run with all defaults.

    Raises:
        SpecError: the description is wrong; reports all faults.
    """
    document = spec.model_dump() if isinstance(spec, RunSpec) else spec
    return parse_spec(RunSpec, resolve(document), "")


def stop_conditions(spec: RunSpec) -> list[Callback]:
    """The conditions that end a run before all its steps are done."""
    stop, at_evaluation = spec.stop, spec.evaluation.stop_at_return
    conditions: list[Callback] = []
    if stop.mean_return is not None:
        conditions.append(StopAtReturn(stop.mean_return))
    if stop.episodes is not None:
        conditions.append(StopAfterEpisodes(stop.episodes))
    if stop.seconds is not None:
        conditions.append(StopAfterSeconds(stop.seconds))
    if at_evaluation is not None:
        conditions.append(StopAtEvaluation(at_evaluation))
    return conditions


def _outcome(summary: RunSummary, best: Evaluation | None, steps: int) -> dict[str, Any]:
    """The content of ``result.json``; unknown values are null."""
    training = summary.training
    outcome = (
        "interrupted" if training.interrupted else "finished" if training.timesteps >= steps else "stopped"
    )
    numbers = {**training.statistics, "mean_return": training.mean_return, "updates": training.updates}
    return {
        "outcome": outcome,
        "departures": list(summary.departures),
        "hint": training.hint,
        **{name: value if isfinite(value) else None for name, value in numbers.items()},
        "best": None if best is None else {"timesteps": best.timesteps, "mean_return": best.mean},
        "evaluation": None if summary.evaluation is None else vars(summary.evaluation),
    }


class Run:
    """A run, or the rest of a resumed one; a context manager that releases its environments.

    Args:
        folder: the run folder; the caller holds its lock.
        spec: the description.
        agent: the agent.
        callbacks: additional callbacks.
        state: state in the checkpoint that the run resumes from; None: a new run.
        forked_from: that checkpoint, where it is of another run.

    Raises:
        SpecError, InputError, PluginError: something is wrong or not installed; nothing was written.
    """

    def __init__(
        self,
        folder: Path,
        spec: RunSpec,
        agent: BaseAgent,
        callbacks: Sequence[Callback],
        state: RunState | None = None,
        forked_from: Path | None = None,
    ):
        self.path, self.spec, self.agent, self.state = folder, spec, agent, state
        self.forked_from, self.callbacks = forked_from, as_list(callbacks)
        check_wandb(spec.logging.wandb)
        if spec.data.file is not None:
            self._take_in(spec.data.file)
            if spec.steps:
                check_learns_in_environments(agent)
        kind, self._options = worker_class(spec.executor_spec, spec.agent)
        general = {name: getattr(getattr(spec, section), key) for name, (section, key) in PLACES.items()}
        if spec.executor_spec is not None and general.pop("in_graph"):
            raise SpecError(
                "expected false beside an executor, whose actors step environments", path="worker.in_graph"
            )
        with options_placed(self._options):
            self.worker = kind(
                agent,
                spec.environment,
                **general,
                **self._options,
                store_checkpoint=self._store_checkpoint,
            )
        self.worker.folder, self.worker.keeps_memory = folder, spec.checkpoints.memory
        if spec.data.file is not None and not agent.learner.keeps_memory:
            raise SpecError(
                f"expected none, since {kind.__name__} keeps records in other places, given {spec.data.file!r}: take "
                "the executor sync_batch, or none",
                path="data.file",
            )

    def _take_in(self, file: str) -> None:
        """Put the data set into the agent's memory, unless a checkpoint had it there.

        Raises:
            SpecError: there are several learners.
            InputError: the data set is wrong: names file, episode and step.
        """
        if self.agent.group.size > 1:
            raise SpecError(
                f"expected none with several learners, which have steps of their own, given {file!r}: give one learner",
                path="data.file",
            )
        if self.state is None or not self.state.memory:
            self.agent.import_observations(file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.worker.terminate()

    def _store_checkpoint(self, worker: Worker) -> Path:
        """Checkpoints go into the folder, which is opened when training begins."""
        return self.folder.store_checkpoint(worker)

    @property
    def is_of_another_learner(self) -> bool:
        """Whether learner 0 of a group has the folder of the run, in another process."""
        return self.agent.group.rank > 0

    def follow(self) -> RunSummary:
        """Train as learner 0 does, without a record."""
        self.worker.continue_at(0 if self.state is None else self.state.worker.done)
        return RunSummary(self.path, self.worker.execute_timesteps(self.spec.steps), None)

    def execute(self) -> RunSummary:
        """Train, and evaluate the policy that the run ends with."""
        with RunFolder(self.path, self.spec, self.agent, self.state, self.forked_from) as self.folder:
            if self.state is not None:
                returns, lengths = read_episodes(self.path)
                state = self.state.worker.model_dump()
                if (
                    len(state["environments"] or ()) != self.worker.num_envs
                ):  # the number of learners was another
                    state["environments"] = state["running"] = None
                self.worker.set_state(state, returns, lengths, read_evaluations(self.path))
                if self.forked_from is not None:  # it can be resumed from now on
                    self.folder.store_checkpoint(self.worker)
            elif self.agent.timesteps or self.agent.updates:  # a document cannot make this agent
                self.folder.departures.append(
                    f"step 0: the agent had observed {self.agent.timesteps} steps and done {self.agent.updates} updates"
                )
                self.agent.flush_buffers()
                self.folder.store_checkpoint(self.worker)
            with options_placed(self._options):
                result = self._train([self.folder, *self.callbacks])
            final = None
            if not result.interrupted:
                try:
                    final = self._evaluate()
                except KeyboardInterrupt:  # training is done; a resumed run evaluates its policy again
                    result = replace(result, interrupted=True)
            summary = RunSummary(self.path, result, final, tuple(self.folder.departures))
            self._write_outcome(summary)
        return summary

    def _write_outcome(self, summary: RunSummary) -> None:
        try:
            self.folder.write_result(_outcome(summary, self.folder.best, self.spec.steps))
        except StorageError as error:
            error.add_note(
                f"The training is kept in {self.folder.checkpoints.folder / LAST}. Free some space, then resume the "
                "run: only its end is done again"
            )
            raise

    def _train(self, callbacks: list[Callback]) -> TrainingResult:
        worker, folder, steps = self.worker, self.folder, self.spec.steps
        before = self._learn_from_data()
        if before is not None and before.interrupted:
            return before
        try:
            result = worker.execute_timesteps(steps, callbacks=callbacks, stop=stop_conditions(self.spec))
            folder.store_end(worker, LAST, finished=result.timesteps >= steps)
        except Exception as error:
            self._keep(error)
            raise
        return result if steps else replace(before or result, updates=self.agent.updates)

    def _learn_from_data(self) -> TrainingResult | None:
        """Do the updates on the data set; a run that ends among them is resumed from its beginning."""
        if self.state is not None or self.spec.data.file is None:
            return None
        try:
            interval = self.spec.logging.report_interval
            return train_on_memory(self.agent, self.spec.data.updates, self.folder.write, interval)
        except NumericalError as error:
            self._keep(error)
            raise

    def _keep(self, error: Exception) -> None:
        """Save the training after an error: a checkpoint and ``result.json``, if they can be written."""
        outcome = {"outcome": "failed", "error": type_and_text(error)[:MAX_TEXT]}
        for write in (lambda: self._store_failure(error), lambda: self.folder.write_result(outcome)):
            try:
                write()
            except RLGraphError as other:  # what failed, such as a memory, may fail again
                if not isinstance(error, StorageError) and str(other) != text_of(error):
                    error.add_note(str(other))
        if isinstance(error, StorageError):
            error.add_note(
                f"{self.worker.timesteps_of_run:,} of {self.spec.steps:,} steps are done, and the checkpoints written "
                "before are intact. Free some space, then resume the run"
            )

    def _store_failure(self, error: Exception) -> None:
        """Write a checkpoint after an error: ``last``, or ``failed`` if a number was not finite."""
        name = FAILED if isinstance(error, NumericalError) else LAST
        try:
            folder = self.folder.store_end(self.worker, name, finished=False)
            if getattr(error, "is_resumable", False):
                error.add_note(
                    f"A checkpoint was written at step {self.worker.timesteps_of_run:,}: {folder}\n"
                    f"Go on with it: rlgraph resume {self.path}"
                )
        except NumericalError:  # the weights are not finite either
            self.folder.store_end(self.worker, FAILED, finished=False)

    def _evaluate(self) -> Evaluation:
        spec, agent = self.spec, self.agent
        if spec.evaluation.policy == BEST and self.folder.best is not None:
            agent.load_model(self.folder.best_policy())
        env = stepped(spec.environment, spec.worker.frameskip, spec.worker.max_timesteps_per_episode)
        episodes, seed = spec.evaluation.final_episodes, FINAL_EVALUATION_SEED + spec.seed
        return evaluate(agent, env, episodes, seed, validate_states=spec.worker.validate_states)
