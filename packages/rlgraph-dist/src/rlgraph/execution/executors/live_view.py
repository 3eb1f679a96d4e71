"""Lines of text about an executor, for people who watch a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rlgraph.execution.executors.monitor import ActorActivity, Monitor
from rlgraph.execution.remote.work_times import share_waited

#: Actors that get a line of their own, at most.
MOST_LINES = 8

_WAITS = {"sampling_wait": "learner for samples", "batch_wait": "learner for batches"}
_WAITS |= {"actor_wait": "actors", "shard_wait": "replay shards"}
_NUMBERS = {
    "weights_age": "weights {:.1f} updates old",
    "bytes_per_step": "{:,.0f} bytes per step",
    "replay_ratio": "{:.2g} records learned from per step",
}
_COUNTS = {
    "dropped_fragments": "dropped fragments",
    "actor_restarts": "restarts of actors",
    "shard_restarts": "restarts of shards",
}


def lines_of(metrics: Mapping[str, float], monitor: Monitor, incarnations: Sequence[int]) -> list[str]:
    """What an executor does: who waits, what flows, how each actor is.

    Args:
        metrics: of the last report.
        monitor: of the executor.
        incarnations: of the actors, by number.
    """
    waits = [f"{name} {metrics[key]:.0%}" for key, name in _WAITS.items() if key in metrics]
    flows = [text.format(metrics[key]) for key, text in _NUMBERS.items() if key in metrics]
    flows += [f"{metrics[key]:.0f} {name}" for key, name in _COUNTS.items() if metrics.get(key)]
    lines = [f"waiting: {', '.join(waits)}", ", ".join(flows)]
    # Those that send least are shown first.
    order = sorted(range(len(incarnations)), key=lambda i: monitor.activities.get(i, ActorActivity()).steps)
    shown = sorted(order[:MOST_LINES])
    lines += [_actor(number, incarnations[number], monitor) for number in shown]
    if further := len(order) - len(shown):
        lines.append(f"{further} further actors send more")
    return [line for line in lines if line]


def _actor(number: int, incarnation: int, monitor: Monitor) -> str:
    activity, silent = monitor.activities.get(number), monitor.silent_seconds(number)
    if activity is not None:
        text = f"{activity.steps / monitor.seconds:,.0f} steps/s"
        text += f", waits {share_waited(activity.waited, activity.worked):.0%}"
    else:
        text = "starts" if silent is None else f"sent nothing for {silent:.0f} s"
    return f"actor {number}: {text}" + (f", restarts {incarnation}" if incarnation else "")
