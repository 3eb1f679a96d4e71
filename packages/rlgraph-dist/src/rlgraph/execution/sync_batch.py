"""Synchronous batches: fragments of all actors, one update, new weights to all."""

from __future__ import annotations

import time
from typing import Any

from rlgraph.core import SpecError
from rlgraph.execution.engine import ActorDied, ActorFault
from rlgraph.execution.executor import Executor
from rlgraph.execution.sampling import Sample
from rlgraph.workers.run_schedule import RunSchedule


class SyncBatchExecutor(Executor):
    """Every round, each actor sends one fragment of the newest weights; the agent learns from all of them.

    With one actor in this process, it does bit for bit what an agent's `learn` does.
    """

    def _run(self, schedule: RunSchedule, use_exploration: bool) -> None:
        if not use_exploration:
            raise SpecError("actors explore: leave it out", path="use_exploration")
        self._start()
        agent, report, listeners = self.agent, schedule.report, self._listeners
        while not schedule.is_over:
            agent.set_progress(schedule.fraction)
            with self._monitor.waiting():
                samples = self._round()
            for sample in samples:
                self._count(sample, schedule)
            # As far as a single process is when it acts last before its update.
            agent.set_progress(schedule.fraction_at(schedule.done - self.num_envs))
            results = agent.learner.learn_from([sample.fragment for sample in samples])
            if results is not None:
                report.add_update(results)
                schedule.stop_if(listeners.tell("on_update", self, results))
            if schedule.done >= schedule.next_event:
                self._do_what_is_due(schedule)
        if report.is_new(schedule.done):
            listeners.tell("on_report", self, report.take(schedule.done))

    def _round(self) -> list[Sample]:
        """A sample of every actor, in their order; those that fail are started again and asked once more."""
        engine, actors = self._start()
        weights = engine.share(self.agent.learner.weights_message())
        samples: dict[int, Sample] = {}
        asked: dict[Any, tuple[int, float]] = {}

        def ask(number: int) -> None:
            call = actors.call(number, "sample", weights)
            asked[call] = number, time.monotonic() + self._timeout(number)

        for number in range(len(actors)):
            ask(number)
        while asked:
            left = min(until for _, until in asked.values()) - time.monotonic()
            done = engine.wait(list(asked), max(left, 0.0))
            now = time.monotonic()
            late = [call for call, (_, until) in asked.items() if until < now and call not in done]
            for call in [*done, *late]:
                number, _ = asked.pop(call)
                try:
                    if call in late:
                        raise ActorDied(f"actor {number} sent nothing for {self._timeout(number):g} s")
                    samples[number] = self._received(call, number)
                except ActorFault as fault:
                    self._restart(number, fault)
                    ask(number)
        return [samples[number] for number in range(len(actors))]
