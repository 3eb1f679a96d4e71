"""The glossary of metrics: whatever is reported, logged or drawn has its name and its meaning here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rlgraph.core.errors import InputError, SpecError, nearest


@dataclass(frozen=True)
class Metric:
    """What a name stands for.

    Attributes:
        description: one sentence.
        unit: of the number.
    """

    description: str
    unit: str


_STEPS, _EPISODES, _RETURN = "steps", "episodes", "return"

#: Name -> meaning, in the order of the columns of ``metrics.csv``.
METRICS: dict[str, Metric] = {
    "timesteps": Metric("Environment steps of the run, all environments together.", _STEPS),
    "episodes": Metric("Episodes that ended.", _EPISODES),
    "updates": Metric("Updates the agent has done.", "updates"),
    "mean_return": Metric("Mean undiscounted return of the last 100 training episodes.", _RETURN),
    "mean_length": Metric("Mean length of the last 100 training episodes.", _STEPS),
    "loss": Metric("Mean loss of the updates since the report before.", "loss"),
    "epsilon": Metric("Probability of a random action.", "probability"),
    "noise_scale": Metric("Scale of the noise on action values.", "action value"),
    "learning_rate": Metric("Learning rate of the optimizer.", "1"),
    "evaluation_return": Metric("Mean return of the episodes of an evaluation, played greedily.", _RETURN),
    "evaluation_return_std": Metric("Standard deviation of these returns.", _RETURN),
    "evaluation_length": Metric("Mean length of these episodes.", _STEPS),
    "restarts": Metric(
        "Environments replaced because they crashed or hung; reported once there is one.", "restarts"
    ),
    "dropped_steps": Metric("Steps left out of learning and statistics because of restarts.", _STEPS),
    "steps_per_second": Metric(
        "Speed since the report before; evaluations and checkpoints left out.", "steps/s"
    ),
    "seconds": Metric("Time of training so far; evaluations and checkpoints left out.", "s"),
}

#: Those that tell the time, and differ between two runs that are equal otherwise.
TIMES = ("steps_per_second", "seconds")


def define_metric(name: str, description: str, unit: str) -> None:
    """Enter a metric of an agent of your own, before its first run.

    Raises:
        SpecError: the name stands for something else already.
    """
    metric = Metric(description, unit)
    if METRICS.setdefault(name, metric) != metric:
        raise SpecError(f"metric {name!r} stands for something else: {METRICS[name].description}")


def check_metrics(names: Iterable[str]) -> None:
    """Raise an `InputError` for a name that is not in the glossary."""
    for name in names:
        if name not in METRICS:
            raise InputError(
                f"metric {name!r} is not in the glossary: rlgraph.workers.metrics.define_metric says what it is. "
                f"{nearest(name, METRICS)}"
            )


def glossary_table() -> str:
    """The glossary as a Markdown table."""
    rows = [f"| `{name}` | {metric.unit} | {metric.description} |" for name, metric in METRICS.items()]
    return "\n".join(["| name | unit | meaning |", "| --- | --- | --- |", *rows])
