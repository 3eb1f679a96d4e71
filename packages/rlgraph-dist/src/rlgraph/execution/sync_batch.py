"""Synchronous batches: fragments of all actors, one update, new weights to all."""

from __future__ import annotations

from rlgraph.execution.executor import Executor
from rlgraph.execution.sampling import Sample
from rlgraph.workers.run_schedule import RunSchedule


class SyncBatchExecutor(Executor):
    """Every round, each actor sends one fragment of the newest weights; the agent learns from all of them.

    With one actor in this process, it does bit for bit what an agent's `learn` does.
    """

    def _learn(self, schedule: RunSchedule) -> None:
        agent = self.agent
        agent.set_progress(schedule.fraction)
        with self._monitor.waiting():
            samples = self._round()
        for sample in samples:
            self._count(sample, schedule)
        # As far as a single process is when it acts last before its update.
        agent.set_progress(schedule.fraction_at(schedule.done - self.num_envs))
        self._update([sample.fragment for sample in samples], schedule)

    def _round(self) -> list[Sample]:
        """A sample of every actor, in their order."""
        requests = self._start()
        self._send_weights()
        for number in range(self.actors):
            requests.ask(number)
        samples: list[Sample] = []
        while len(samples) < self.actors:
            samples += requests.receive()
        return sorted(samples, key=lambda sample: sample.fragment.origin.actor)
