"""What executors report besides the metrics of every worker."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rlgraph.algorithms.metric import Metric
from rlgraph.execution.remote.sampling import Sample
from rlgraph.execution.remote.work_times import share_waited
from rlgraph.workers.metrics import define_metric

#: Name -> meaning.
METRICS = {
    "sampling_wait": Metric(
        "Share of time since the last report in which the learner waited for samples.",
        "share",
    ),
    "batch_wait": Metric(
        "Share of time since the last report in which the learner waited for batches of replay shards.",
        "share",
    ),
    "actor_wait": Metric(
        "Share of time in which actors waited to be asked, of the samples that came.", "share"
    ),
    "shard_wait": Metric(
        "Share of time since the last report in which replay shards waited for calls.", "share"
    ),
    "replay_ratio": Metric(
        "Records learned from since the last report, per environment step.", "records per step"
    ),
    "weights_age": Metric("Mean age of the weights that acted, of the fragments learned from.", "updates"),
    "bytes_per_step": Metric("Size of the messages of actors, per environment step.", "bytes"),
    "dropped_fragments": Metric(
        "Fragments since the last report whose weights were too old to learn from.",
        "fragments",
    ),
    "lost_fragments": Metric(
        "Fragments that were asked for and did not come, since their actor failed.",
        "fragments",
    ),
    "actor_restarts": Metric("Actors started again because they died, hung or failed.", "restarts"),
    "shard_restarts": Metric("Replay shards started again because they died, hung or failed.", "restarts"),
}


@dataclass
class ActorActivity:
    """What came of an actor between two reports.

    Attributes:
        steps: environment steps.
        waited, worked: seconds.
    """

    steps: int = 0
    waited: float = 0.0
    worked: float = 0.0


class Monitor:
    """Collects the numbers of an executor between two reports.

    Args:
        now: returns the time in seconds.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        for name, metric in METRICS.items():
            define_metric(name, metric.description, metric.unit)
        self._now = now
        #: Actor -> when its last sample came.
        self.last_samples: dict[int, float] = {}
        #: Of each actor that sent samples before the last report, and the seconds before it.
        self.activities: dict[int, ActorActivity] = {}
        self.seconds = 0.0
        self._begin()

    def _begin(self) -> None:
        self._began, self._waited = self._now(), {"sampling_wait": 0.0}
        self._fragments, self._age, self._steps, self._bytes, self._dropped = 0, 0, 0, 0, 0
        self._learned = 0
        self._active: dict[int, ActorActivity] = {}

    @contextmanager
    def waiting(self, metric: str = "sampling_wait") -> Iterator[None]:
        """Measure the time inside as time that the learner waits, for this metric."""
        began = self._now()
        try:
            yield
        finally:
            waited = self._waited.get(metric, 0.0) + self._now() - began
            self._waited[metric] = waited

    def add(self, sample: Sample, age: int) -> None:
        """A sample arrived whose weights were `age` updates old."""
        waited, worked = sample.times
        actor = self._active.setdefault(sample.origin.actor, ActorActivity())
        actor.steps += sample.steps
        actor.waited += waited
        actor.worked += worked
        self.last_samples[sample.origin.actor] = self._now()
        self._fragments += 1
        self._age += age
        self._steps += sample.steps
        self._bytes += sample.size

    def learned(self, records: int) -> None:
        """An update on records that were drawn from a memory."""
        self._learned += records

    def drop(self) -> None:
        """A fragment was too old."""
        self._dropped += 1

    def take(self, restarts: int, lost: int) -> dict[str, float]:
        """The metrics since the last call.

        Args:
            restarts: of actors, in the whole run.
            lost: fragments lost with them, likewise.
        """
        metrics = {"actor_restarts": float(restarts), "lost_fragments": float(lost)}
        passed = max(self._now() - self._began, 1e-9)
        metrics |= {name: waited / passed for name, waited in self._waited.items()}
        if self._dropped:
            metrics["dropped_fragments"] = float(self._dropped)
        if self._fragments:
            metrics["weights_age"] = self._age / self._fragments
            metrics["bytes_per_step"] = self._bytes / max(self._steps, 1)
            actors = self._active.values()
            metrics["actor_wait"] = share_waited(sum(a.waited for a in actors), sum(a.worked for a in actors))
        if self._learned:
            metrics["replay_ratio"] = self._learned / max(self._steps, 1)
        self.activities, self.seconds = self._active, passed
        self._begin()
        return metrics

    def silent_seconds(self, actor: int) -> float | None:
        """Seconds since the last sample of an actor; None if there was none."""
        last = self.last_samples.get(actor)
        return None if last is None else self._now() - last
