"""The glossary of metrics: names and meanings of all values that are reported, logged or drawn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rlgraph.algorithms.metric import Metric as Metric
from rlgraph.core.errors import InputError, SpecError, nearest

_STEPS, _EPISODES, _RETURN = "steps", "episodes", "return"

#: Name -> meaning, in the order of the columns of ``metrics.csv``.
METRICS: dict[str, Metric] = {
    "timesteps": Metric("Environment steps that the agent has observed, all environments together.", _STEPS),
    "episodes": Metric("Episodes that ended.", _EPISODES),
    "updates": Metric("Updates the agent has done.", "updates"),
    "mean_return": Metric("Mean undiscounted return of the last 100 training episodes.", _RETURN),
    "mean_length": Metric("Mean length of the last 100 training episodes.", _STEPS),
    "loss": Metric("Mean loss of the updates since the last report.", "loss"),
    "epsilon": Metric("Probability of a random action.", "probability"),
    "noise_scale": Metric("Scale of the noise on action values.", "action value"),
    "learning_rate": Metric("Learning rate of the optimizer now.", "1"),
    "replay_size": Metric("Records in the replay memory.", "records"),
    "evaluation_return": Metric("Mean return of the greedy episodes of an evaluation.", _RETURN),
    "evaluation_return_std": Metric("Standard deviation of these returns.", _RETURN),
    "evaluation_length": Metric("Mean length of these episodes.", _STEPS),
    "restarts": Metric(
        "Environments replaced because they crashed or hung; reported after the first restart.", "restarts"
    ),
    "dropped_steps": Metric("Steps left out of learning and statistics because of restarts.", _STEPS),
    "learner_wait": Metric(
        "Share of time since the last report in which the learners of a group, without the slowest, waited for others.",
        "share",
    ),
    "slowest_learner": Metric(
        "The learner of a group that waited least, which all others wait for.", "number"
    ),
    "steps_per_second": Metric(
        "Speed since the last report, without evaluations and checkpoints.", "steps/s"
    ),
    "updates_per_second": Metric("Updates since the last report, in the same time.", "updates/s"),
    "seconds": Metric("Time of training so far, without evaluations and checkpoints.", "s"),
}

#: Those that every worker has; programs and executors define others.
_OF_EVERY_WORKER = tuple(METRICS)

#: Metrics of time, which differ between runs that are equal otherwise.
TIMES = ("learner_wait", "slowest_learner", "steps_per_second", "updates_per_second", "seconds")


def define_metric(name: str, description: str, unit: str) -> None:
    """Add a metric of a custom agent, before its first run.

    Raises:
        SpecError: the name has another meaning already.
    """
    metric = Metric(description, unit)
    if METRICS.setdefault(name, metric) != metric:
        raise SpecError(f"metric {name!r} already means: {METRICS[name].description}")


def check_metrics(names: Iterable[str]) -> None:
    """Raise an `InputError` for a name that is not in the glossary."""
    for name in names:
        if name not in METRICS:
            raise InputError(
                f"metric {name!r} is not in the glossary; add it with rlgraph.workers.metrics.define_metric. "
                f"{nearest(name, METRICS)}"
            )


def glossary_table(metrics: Mapping[str, Metric] | None = None) -> str:
    """Metrics as a Markdown table; default: those of every worker."""
    if metrics is None:
        metrics = {name: METRICS[name] for name in _OF_EVERY_WORKER}
    rows = [f"| `{name}` | {metric.unit} | {metric.description} |" for name, metric in metrics.items()]
    return "\n".join(["| name | unit | meaning |", "| --- | --- | --- |", *rows])
