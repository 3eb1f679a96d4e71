"""IMPALA (Espeholt et al., 2018): actors never wait for updates, updates never wait for a slow actor."""

from __future__ import annotations

from typing import Any

from rlgraph.core.specs.spec_types import Count
from rlgraph.core.specs.specifiable import check_values
from rlgraph.execution.executors.executor import Executor
from rlgraph.execution.remote.sampling import Sample
from rlgraph.workers.run_schedule import RunSchedule


class ImpalaExecutor(Executor):
    """Every actor is always asked for its next fragments; the agent learns from those that come first.

    The weights that act may be some updates old, which the agent has to correct for (`IMPALAAgent`, by V-trace).

    Args:
        fragments_per_update: fragments that an update learns from, side by side.
        requests_per_actor: fragments that each actor is asked for ahead.
        weights_interval: updates between two messages of weights.
        options: see `Executor`.

    Raises:
        SpecError: an option is wrong, or the agent learns only from fragments of the newest weights.
    """

    takes_old_weights = True

    def __init__(
        self,
        agent: Any = None,
        env_spec: Any = None,
        *,
        fragments_per_update: Count = 2,
        requests_per_actor: Count = 2,
        weights_interval: Count = 1,
        **options: Any,
    ):
        check_values(ImpalaExecutor, locals())
        super().__init__(agent, env_spec, **options)
        self.fragments_per_update = fragments_per_update
        self.requests_per_actor, self.weights_interval = requests_per_actor, weights_interval
        self._queue: list[Sample] = []

    def training_step(self, schedule: RunSchedule) -> None:
        self.agent.set_progress(schedule.fraction)
        with self.monitor.waiting():
            samples = self._take()
        for sample in samples:
            self.count(sample, schedule)
        self.learn_from(samples, schedule)
        if self.agent.updates - self.sent_version >= self.weights_interval:
            self.send_weights()

    def _take(self) -> list[Sample]:
        """The next `fragments_per_update` samples that the agent may learn from; their actors are asked again.

        Samples that wait here are not replaced yet: with newer weights they are worth more.
        """
        if not self.is_started:
            self._queue = []
            requests = self.start_actors()
            self.send_weights()
            for number in [*range(self.actors)] * self.requests_per_actor:
                requests.ask(number)
        requests, taken = self.start_actors(), list[Sample]()
        while len(taken) < self.fragments_per_update:
            self._queue = self._queue or requests.receive()
            sample = self._queue.pop(0)
            if self._is_fresh(sample):
                taken.append(sample)
            elif self.sent_version < self.agent.updates:  # else the next one would be as old
                self.send_weights()
            requests.ask(sample.origin.actor)
        return taken

    def _is_fresh(self, sample: Sample) -> bool:
        """Whether the agent may learn from a sample, by the age of its weights; else it is counted as dropped."""
        experience = self.agent.learner.experience
        limit = experience.max_age
        if limit is None or experience.memory is not None or self.agent.updates - sample.version <= limit:
            return True
        self.monitor.drop()
        self.report_bounds(sample)
        return False
