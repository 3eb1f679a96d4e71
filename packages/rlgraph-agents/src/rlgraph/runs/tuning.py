"""Searches for options of an agent: trials that train, are stopped early where they fall behind, and are scored.

Optuna (https://optuna.org) chooses the options; an algorithm declares beside its options where to search
(`Algorithm.search_space`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlgraph.components.common.argument_checks import check_whole, is_number
from rlgraph.core import AssemblyError, BuildError, InputError, NumericalError, SpecError
from rlgraph.core.errors import first_line
from rlgraph.core.specs.documents import check_limits, dump_yaml
from rlgraph.environments.extras import import_extra
from rlgraph.learning.base_agent import BaseAgent
from rlgraph.runs.benchmarks.suite import LAST_SEED
from rlgraph.runs.configuration import apply_overrides, check, read_document
from rlgraph.runs.recorded_run import environment_name
from rlgraph.runs.run_files import check_own_folder, digest, replace_file, replace_json
from rlgraph.runs.run_lock import run_lock
from rlgraph.runs.training import train
from rlgraph.workers.callbacks import Callback
from rlgraph.workers.listeners import as_list
from rlgraph.workers.short_repr import short_repr

if TYPE_CHECKING:
    import optuna

#: Trials train with seeds from here on; smaller ones are for what is reported.
FIRST_SEED = LAST_SEED + 1
#: Errors that fail a trial, and not the search: of options that exclude each other, and of training that diverges.
FAILURES = (SpecError, AssemblyError, BuildError, InputError, NumericalError)
#: What a trial remembers: Optuna's own parameters have names in place of lists and mappings.
OPTIONS, REASON = "options", "reason"
#: Of a training, however often its document has them: a trial is stopped at one.
EVALUATIONS = 10
#: Trials that are never stopped early, so that others have something to fall behind.
UNPRUNED = 5
#: Completed trials below which shares of importance are mostly chance: they compare the best tenth with all.
FEW = 30
STUDY, SETTINGS, BEST, IMPORTANCE, TRIALS = (
    "study.log",
    "tuning.json",
    "best.yaml",
    "importance.png",
    "trials",
)

#: Path in the agent's spec -> a list of choices, or a mapping with ``low``, ``high``, and ``log`` or ``step``.
SearchSpace = Mapping[str, Any]


@dataclass(frozen=True)
class Tuning:
    """What a search has found so far.

    Attributes:
        folder: of the search; ``best.yaml`` is the best document, ``importance.png`` says which options matter.
        best: that document; None: no trial has ended.
        best_trial: the one of `trials` that it is from; None: no trial has ended.
        trials: number, options, state (``complete``, ``pruned`` or ``fail``), score (the mean return of its last
            policies), and why it failed, of each.
        interrupted: whether Ctrl-C ended it.
    """

    folder: Path
    best: Mapping[str, Any] | None
    best_trial: Mapping[str, Any] | None
    trials: tuple[Mapping[str, Any], ...]
    interrupted: bool

    def __repr__(self) -> str:
        score = None if self.best_trial is None else self.best_trial["score"]
        return short_repr(self, folder=self.folder, trials=len(self.trials), best_score=score)


def tune(
    document: Mapping[str, Any] | str | Path,
    folder: str | Path,
    trials: int,
    *,
    steps: int | None = None,
    space: SearchSpace | None = None,
    seeds: int = 1,
    progress: Callable[[Mapping[str, Any]], object] = lambda trial: None,
    callbacks: Sequence[Callback] = (),
) -> Tuning:
    """Search for options with which an agent learns well; a search that is there already is continued.

    The score of a trial is the mean return of the final evaluations of the last policy, over `seeds` seeds from 101 on.
    A trial whose evaluations are below the median of the earlier ones is stopped. Options that exclude each other, and
    training that diverges, fail a trial.

    Args:
        document: a run's document; all that is not searched stays as it says.
        folder: of the search.
        trials: their number, earlier ones included.
        steps: environment steps of each training; default: those of the document, which the best one has in any case.
        space: where to search; default: the algorithm's `search_space`.
        seeds: trained for each trial.
        progress: is given each trial that ends, an item of `Tuning.trials`.
        callbacks: of each training.

    Raises:
        SpecError: the document or the search space is wrong, the folder has a search of another one, or Optuna is not
            installed.
        RunFolderError: another process searches in the folder.
        StorageError: a file of the search cannot be written.
    """
    optuna = import_extra("optuna", "a search", "tune")
    trials, seeds = check_whole(trials, "trials", least=1), check_whole(seeds, "seeds", least=1)
    document = read_document(document)
    run, callbacks = check(document), as_list(callbacks)
    if document.get("evaluation", {}).get("policy") == "best":
        raise SpecError(
            "expected 'last', given 'best': the last policy is the score of a trial, and a best one would be chosen by "
            "the same evaluations that stop trials",
            path="evaluation.policy",
        )
    searched = _checked(optuna, space if space is not None else _declared(document))
    _check_options(document, searched)
    length = run.steps if steps is None else check({**document, "steps": steps}).steps
    trained = _watched({**document, "steps": length}, length)
    document = _watched(document, run.steps)
    check_limits(document, "document")  # both are written
    check_limits(searched, "space")
    folder = Path(folder)
    check_own_folder(folder, SETTINGS)
    folder.mkdir(parents=True, exist_ok=True)
    search = _Search(folder, document, trained, searched, seeds, callbacks)
    with run_lock(folder):  # another search would take the trial that runs for one that was cut off
        study = search.open(optuna)
        _run(optuna, study, search, trials, progress)
        return search.result(optuna, study)


def _watched(document: Mapping[str, Any], steps: int) -> dict[str, Any]:
    """The document with the evaluations that watch a training of `steps`."""
    watched = {"interval": max(steps // EVALUATIONS, 1), "policy": "last"}
    return {**document, "evaluation": {**document.get("evaluation", {}), **watched}}


@dataclass
class _Search:
    folder: Path
    #: The document, and as trials train it.
    document: dict[str, Any]
    trained: dict[str, Any]
    space: SearchSpace
    seeds: int
    callbacks: Sequence[Callback]
    interrupted: bool = False

    def open(self, optuna: Any) -> optuna.Study:
        """The study in the folder, whose lock the caller holds; trials that were cut off by a crash have failed.

        Raises:
            SpecError: the folder has a search of another document or other options.
            StorageError: the settings cannot be written.
        """
        settings = {"document": self.trained, "space": self.space, "seeds": self.seeds}
        file = self.folder / SETTINGS
        is_there = any((self.folder / name).exists() for name in (SETTINGS, STUDY))
        if is_there and digest(_settings_in(file)) != digest(settings):
            raise SpecError(
                f"{self.folder} has a search of another document or other options: give another folder",
                path="folder",
            )
        if not is_there:
            replace_json(file, settings)
        self._mend_study()
        optuna.logging.set_verbosity(optuna.logging.ERROR)  # else a traceback for each trial that fails
        from optuna.storages import JournalStorage
        from optuna.storages.journal import JournalFileBackend

        study: optuna.Study = optuna.create_study(
            study_name="tuning",
            storage=JournalStorage(JournalFileBackend(str(self.folder / STUDY))),
            direction="maximize",
            pruner=optuna.pruners.MedianPruner(n_startup_trials=UNPRUNED, n_warmup_steps=1),
            load_if_exists=True,
        )
        for trial in study.get_trials(states=(optuna.trial.TrialState.RUNNING,)):
            study.tell(trial.number, state=optuna.trial.TrialState.FAIL)
        # A search that is continued does not draw what it drew at first.
        study.sampler = optuna.samplers.TPESampler(seed=len(study.get_trials()))
        return study

    def _mend_study(self) -> None:
        """Remove what a process left that was killed in the middle of a write: Optuna's lock, and half a line."""
        for lock in self.folder.glob(f"{STUDY}.lock*"):
            lock.unlink()
        study = self.folder / STUDY
        if study.exists() and (text := study.read_bytes()) and not text.endswith(b"\n"):
            replace_file(study, text[: text.rfind(b"\n") + 1])

    def score(self, optuna: Any, trial: optuna.Trial) -> float:
        """Train with the trial's options.

        Raises:
            Exception: it failed; the trial says why.
        """
        chosen = {path: _suggest(trial, path, where) for path, where in self.space.items()}
        trial.set_user_attr(OPTIONS, chosen)
        try:
            return self._trained(optuna, trial, chosen)
        except FAILURES as error:
            trial.set_user_attr(REASON, first_line(error))
            raise

    def _trained(self, optuna: Any, trial: optuna.Trial, chosen: Mapping[str, Any]) -> float:
        document = _with_options(self.trained, chosen)
        check(document)
        returns = []
        for seed in range(FIRST_SEED, FIRST_SEED + self.seeds):
            stop = _StopIfBehind(trial)
            place = self.folder / TRIALS / str(trial.number) / f"seed-{seed}"
            # The first seed decides whether the others are trained.
            watching = [stop] if seed == FIRST_SEED else []
            summary = train({**document, "seed": seed}, place, [*watching, *self.callbacks])
            if summary.evaluation is None:  # Ctrl-C
                self.interrupted = True
                trial.study.stop()
                raise _InterruptedTrial
            if stop.stopped:
                raise optuna.TrialPruned
            returns.append(summary.evaluation.mean)
        return math.fsum(returns) / len(returns)

    def result(self, optuna: Any, study: optuna.Study) -> Tuning:
        """What was found; writes the best document, and the picture where enough trials have ended."""
        trials = tuple(_described(trial) for trial in study.get_trials())
        ended = study.get_trials(states=(optuna.trial.TrialState.COMPLETE,))
        if not ended:
            return Tuning(self.folder, None, None, trials, self.interrupted)
        best_trial = _described(study.best_trial)
        best = _with_options(self.document, best_trial["options"])
        text = dump_yaml(best)
        after = f" after {self.trained['steps']:,} steps" if self.trained["steps"] != best["steps"] else ""
        score = f"{best_trial['score']:g}{after} on seeds from {FIRST_SEED} on"
        head = f"# The best of {len(trials)} trials: {score}.\n"
        replace_file(self.folder / BEST, head + text)
        if len(ended) > 1 and len({trial.value for trial in ended}) > 1:
            title = f"{best['agent']['type']} in {environment_name(best['environment'])}, {len(ended)} trials"
            _draw_importance(optuna, study, self.folder / IMPORTANCE, title, len(ended))
        return Tuning(self.folder, best, best_trial, trials, self.interrupted)


class _InterruptedTrial(Exception):
    """Ctrl-C ended a trial."""


class _StopIfBehind(Callback):
    """Ends a training whose evaluations are below the median of earlier trials."""

    def __init__(self, trial: optuna.Trial):
        self.trial, self.evaluations, self.stopped = trial, 0, False

    def on_evaluation(self, worker: Any, evaluation: Any) -> bool:
        self.trial.report(evaluation.mean, self.evaluations)
        self.evaluations += 1
        self.stopped = self.trial.should_prune()
        return self.stopped


def _run(optuna: Any, study: Any, search: _Search, trials: int, progress: Callable[..., object]) -> None:
    done = study.get_trials(states=(optuna.trial.TrialState.COMPLETE, optuna.trial.TrialState.PRUNED))
    if len(done) < trials:
        study.optimize(
            lambda trial: search.score(optuna, trial),
            n_trials=trials - len(done),
            catch=(*FAILURES, _InterruptedTrial),
            callbacks=[lambda study, trial: progress(_described(trial))],
        )


def _described(trial: Any) -> dict[str, Any]:
    score = math.nan if trial.value is None else float(trial.value)
    return {
        "number": trial.number,
        "options": trial.user_attrs.get(OPTIONS, {}),
        "state": trial.state.name.lower(),
        "score": score,
        "reason": trial.user_attrs.get(REASON, ""),
    }


def _settings_in(file: Path) -> Any:
    """Those of the search in a folder; None: they are missing or damaged."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _declared(document: Mapping[str, Any]) -> SearchSpace:
    """The search space of the document's algorithm."""
    agent = document.get("agent")
    kind: Any = BaseAgent._lookup(agent.get("type") if isinstance(agent, Mapping) else None, "agent")
    space: SearchSpace = kind.algorithm_class.search_space
    if not space:
        raise SpecError(
            f"{kind.__name__} declares no search space: give one, such as "
            '{"optimizer_spec.learning_rate": {"low": 1e-5, "high": 1e-2, "log": true}}',
            path="space",
        )
    return space


def _checked(optuna: Any, space: SearchSpace) -> dict[str, Any]:
    """The search space, each of whose items is a list of choices or a range that Optuna takes."""
    if not space:
        raise SpecError("expected at least one option to search, given none", path="space")
    for path, where in space.items():
        is_list = isinstance(where, Sequence) and not isinstance(where, str) and len(where) > 0
        if is_list:
            continue
        known = isinstance(where, Mapping) and {"low", "high"} <= where.keys() <= {
            "low",
            "high",
            "log",
            "step",
        }
        numbers = [where[key] for key in ("low", "high")] if known else []
        if not known or not all(map(is_number, numbers)) or numbers[0] > numbers[1]:
            raise SpecError(
                'expected a list of choices, or {"low": 1e-5, "high": 1e-2} with "log" or "step", given '
                f"{where!r}",
                path=f"space[{path!r}]",
            )
        try:
            _suggest(optuna.trial.FixedTrial({path: where["low"]}), path, where)
        except (TypeError, ValueError) as error:
            raise SpecError(f"given {where!r}: {error}", path=f"space[{path!r}]") from None
    return dict(space)


def _check_options(document: Mapping[str, Any], space: SearchSpace) -> None:
    """Find out whether the agent takes at least one value of each option.

    Raises:
        SpecError: it takes none, such as of an unknown option.
    """
    for path, where in space.items():
        values = [where["low"], where["high"]] if isinstance(where, Mapping) else where
        errors = []
        for value in values:
            try:
                check(_with_options(document, {path: value}))
                break
            except SpecError as error:
                errors.append(error)
        else:
            raise errors[0]


def _with_options(document: Mapping[str, Any], chosen: Mapping[str, Any]) -> dict[str, Any]:
    return apply_overrides(document, [f"{path}={json.dumps(x)}" for path, x in chosen.items()])


def _suggest(trial: Any, path: str, where: Any) -> Any:
    if not isinstance(where, Mapping):
        choices = {_name(choice): choice for choice in where}
        return choices[trial.suggest_categorical(path, list(choices))]
    whole = all(isinstance(where.get(key, 1), int) for key in ("low", "high", "step"))
    suggest = trial.suggest_int if whole else trial.suggest_float
    step = {"step": where["step"]} if "step" in where else {}
    return suggest(path, where["low"], where["high"], log=bool(where.get("log")), **step)


def _name(choice: Any) -> Any:
    """A choice as Optuna stores it, which has no lists and mappings."""
    return choice if choice is None or isinstance(choice, bool | int | float | str) else json.dumps(choice)


def _draw_importance(optuna: Any, study: Any, file: Path, title: str, ended: int) -> None:
    """Bars: how much each option matters (Watanabe et al., 2023, https://arxiv.org/abs/2304.10255)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from rlgraph.runs.curve import EVALUATION

    evaluator = optuna.importance.PedAnovaImportanceEvaluator()
    shares = optuna.importance.get_param_importances(study, evaluator=evaluator)
    figure = Figure(figsize=(8, 0.4 * len(shares) + 1.6), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)  # needs no window system
    axes = figure.add_subplot()
    axes.barh(list(reversed(shares)), list(reversed(shares.values())), height=0.6, color=EVALUATION)
    axes.set(xlabel="share of the differences between good and bad trials", title=title)
    axes.grid(axis="x", alpha=0.3)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    if ended < FEW:
        figure.supxlabel(
            f"{ended} trials are few: the shares may be chance. Trust them from about {FEW} on.",
            fontsize="small",
        )
    figure.savefig(file)
