"""What executors report besides the metrics of every worker."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rlgraph.workers.metrics import define_metric

_METRICS = {
    "sampling_wait": (
        "Share of time since the last report in which the learner waited for samples.",
        "share",
    ),
    "batch_wait": (
        "Share of time since the last report in which the learner waited for batches of replay shards.",
        "share",
    ),
    "replay_ratio": ("Records learned from since the last report, per environment step.", "records per step"),
    "weights_age": ("Mean age of the weights that acted, of the fragments learned from.", "updates"),
    "bytes_per_step": ("Size of the messages of actors, per environment step.", "bytes"),
    "dropped_fragments": (
        "Fragments since the last report whose weights were too old to learn from.",
        "fragments",
    ),
    "lost_fragments": (
        "Fragments that were asked for and did not come, since their actor failed.",
        "fragments",
    ),
    "actor_restarts": ("Actors started again because they died, hung or failed.", "restarts"),
    "shard_restarts": ("Replay shards started again because they died, hung or failed.", "restarts"),
}


class Monitor:
    """Collects the numbers of an executor between two reports."""

    def __init__(self) -> None:
        for name, (description, unit) in _METRICS.items():
            define_metric(name, description, unit)
        self._begin()

    def _begin(self) -> None:
        self._began, self._waited = time.perf_counter(), {"sampling_wait": 0.0}
        self._fragments, self._age, self._steps, self._bytes, self._dropped = 0, 0, 0, 0, 0
        self._learned = 0

    @contextmanager
    def waiting(self, metric: str = "sampling_wait") -> Iterator[None]:
        """Measure the time inside as time that the learner waits, for this metric."""
        began = time.perf_counter()
        try:
            yield
        finally:
            waited = self._waited.get(metric, 0.0) + time.perf_counter() - began
            self._waited[metric] = waited

    def add(self, age: int, steps: int, num_bytes: int) -> None:
        """A fragment arrived.

        Args:
            age: updates since the weights that acted.
            steps: environment steps.
            num_bytes: of its message.
        """
        self._fragments += 1
        self._age += age
        self._steps += steps
        self._bytes += num_bytes

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
        passed = max(time.perf_counter() - self._began, 1e-9)
        metrics |= {name: waited / passed for name, waited in self._waited.items()}
        if self._dropped:
            metrics["dropped_fragments"] = float(self._dropped)
        if self._fragments:
            metrics["weights_age"] = self._age / self._fragments
            metrics["bytes_per_step"] = self._bytes / max(self._steps, 1)
        if self._learned:
            metrics["replay_ratio"] = self._learned / max(self._steps, 1)
        self._begin()
        return metrics
