"""Synchronous batches that do not wait for the slowest actors."""

from __future__ import annotations

from typing import Any

from rlgraph.core import SpecError
from rlgraph.execution import Executor, Sample
from rlgraph.workers import RunSchedule


class BackupExecutor(Executor):
    """Every round, the agent learns from the first fragments of the newest weights.

    Fragments that come later are dropped: Chen et al. (2016),
    https://arxiv.org/abs/1604.00981, section 3.

    Args:
        spare_actors: number of fragments that a round does not wait for.
        options: see `rlgraph.execution.Executor`.

    Raises:
        SpecError: an option is wrong.
    """

    def __init__(
        self,
        agent: Any = None,
        env_spec: Any = None,
        *,
        spare_actors: int = 1,
        **options: Any,
    ):
        super().__init__(agent, env_spec, **options)
        if not isinstance(spare_actors, int) or not 0 <= spare_actors < self.actors:
            raise SpecError(
                f"expected an integer from 0 to {self.actors - 1}, one less than "
                f"actors, given {spare_actors!r}",
                path="spare_actors",
            )
        self.spare_actors, self._busy = spare_actors, set[int]()

    def training_step(self, schedule: RunSchedule) -> None:
        self.agent.set_progress(schedule.fraction)
        with self.monitor.waiting():
            samples = self._first_samples(self.actors - self.spare_actors)
        for sample in samples:
            self.count(sample, schedule)
        self.learn_from(samples, schedule)

    def _first_samples(self, number: int) -> list[Sample]:
        """The first samples of the newest weights; late actors are asked again then."""
        if not self.is_started:
            self._busy = set()
        requests = self.start_actors()
        self.send_weights()
        everyone = set(range(self.actors))
        for actor in everyone - self._busy:
            requests.ask(actor)
        self._busy = everyone
        samples: list[Sample] = []
        while len(samples) < number:
            for sample in requests.receive():
                actor = sample.origin.actor
                if sample.version == self.agent.updates:
                    samples.append(sample)
                    self._busy.remove(actor)
                else:
                    self.monitor.drop()
                    requests.ask(actor)
        for _ in samples[number:]:
            self.monitor.drop()
        return samples[:number]
