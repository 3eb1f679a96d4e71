"""Synchronous batches: fragments of all actors, one update, new weights to all."""

from __future__ import annotations

from rlgraph.execution.executors.executor import Executor
from rlgraph.execution.remote.sampling import Sample
from rlgraph.workers.run_schedule import RunSchedule


class SyncBatchExecutor(Executor):
    """Every round, each actor sends one fragment of the newest weights; the agent learns from all of them.

    With one actor in this process, results equal those of `Agent.learn` on NumPy bit for bit; those of agents with a
    memory if `fragment_length` is 1.
    """

    def training_step(self, schedule: RunSchedule) -> None:
        agent = self.agent
        agent.set_progress(schedule.fraction)
        with self.monitor.waiting():
            samples = self._round()
        for sample in samples:
            self.count(sample, schedule)
        # The progress at which a single process takes its last step before the update.
        agent.set_progress(schedule.fraction_at(schedule.done - self.num_envs * self.learners))
        self.learn_from(samples, schedule)

    def _round(self) -> list[Sample]:
        """A sample of every actor, in their order."""
        requests = self.start_actors()
        self.send_weights()
        for number in range(self.actors):
            requests.ask(number)
        samples: list[Sample] = []
        while len(samples) < self.actors:
            samples += requests.receive()
        return sorted(samples, key=lambda sample: sample.origin.actor)
