"""Ape-X (Horgan et al., 2018): actors fill a memory in several places, the learner learns from batches drawn there."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

from rlgraph.core import SpecError
from rlgraph.core.specs.spec_types import Count
from rlgraph.core.specs.specifiable import check_values
from rlgraph.execution.engine import ActorFailed, ClusterLost, Demand
from rlgraph.execution.executors.executor import Executor
from rlgraph.execution.remote.actors import TooManyRestarts
from rlgraph.execution.remote.replay_shard import BatchFormat, ShardSpec
from rlgraph.execution.remote.sampling import Sample
from rlgraph.execution.remote.shards import Shards
from rlgraph.execution.remote.work_times import share_waited
from rlgraph.experience.fragment import Origin
from rlgraph.experience.replay import Replay
from rlgraph.experience.sequences import Sequences
from rlgraph.runs.config_file import CONFIG, config_digest, read_config
from rlgraph.workers.run_schedule import RunSchedule

_log = logging.getLogger(__name__)


class ApexExecutor(Executor):
    """Every actor is always asked for its next fragments; these go to replay shards, of which batches are drawn ahead.

    Sampling and learning keep the rate of the agent's ``update_spec``: an update waits for the steps that make it due,
    and an actor whose fragments were not taken in yet waits for the updates.

    Args:
        replay_shards: parts of the memory, each in a place of its own; not more than there are actors.
        batches_ahead: batches that are drawn before the learner needs them.
        requests_per_actor: fragments that each actor is asked for ahead.
        weights_interval: updates between two messages of weights, at least.
        options: see `Executor`.

    Raises:
        SpecError: an option is wrong, or the agent has no prioritized memory of transitions.
    """

    takes_old_weights = keeps_values = True

    def __init__(
        self,
        agent: Any = None,
        env_spec: Any = None,
        *,
        replay_shards: Count = 4,
        batches_ahead: Count = 2,
        requests_per_actor: Count = 2,
        weights_interval: Count = 1,
        **options: Any,
    ):
        check_values(ApexExecutor, locals())
        super().__init__(agent, env_spec, **options)
        experience = self.agent.learner.experience
        if isinstance(experience, Sequences):
            raise SpecError(
                "expected a network without memory, since replay shards keep transitions, given "
                f"{type(self.agent).__name__} with recurrent layers: take 'sync_batch'",
                path="executor_spec.type",
            )
        if type(experience) is not Replay or not experience.is_prioritized:
            raise SpecError(
                f"expected an agent with a prioritized memory of transitions, given {type(self.agent).__name__} with "
                "another experience: set its memory_spec.type to 'prioritized_replay', or take 'sync_batch'",
                path="executor_spec.type",
            )
        self.replay_shards, self.batches_ahead = min(replay_shards, self.actors), batches_ahead
        self.requests_per_actor, self.weights_interval = requests_per_actor, weights_interval
        self._experience = experience
        # Only the statistics of states need the steps themselves here.
        self.reads_fragments = self.agent.learner.statistics is not None
        self._shard_options = experience.options_of_shard(self.replay_shards)
        self.agent.learner.keeps_memory = False
        self._shards: Shards | None = None
        #: Restarts of shards that were ended.
        self._earlier_shard_restarts = 0
        #: Samples that were received and not taken in yet.
        self._queue: list[Sample] = []
        #: Steps that the shards were sent.
        self._sent_steps = 0

    @property
    def shard_restarts(self) -> int:
        """How often shards were started again."""
        return self._earlier_shard_restarts + (0 if self._shards is None else self._shards.restarts)

    def metrics(self) -> dict[str, float]:
        metrics = {**super().metrics(), "shard_restarts": float(self.shard_restarts)}
        if self._shards is not None:
            metrics["shard_wait"] = share_waited(*self._shards.times.take())
            room = self._shard_options["memory_spec"]["capacity"]
            metrics["replay_size"] = float(
                sum(min(number, room) for number in self._shards.inserted.values())
            )
        return metrics

    def terminate(self) -> None:
        self._earlier_shard_restarts = self.shard_restarts
        shards, self._shards, self._queue = self._shards, None, []
        if shards is not None:
            shards.close()
        super().terminate()

    def training_step(self, schedule: RunSchedule) -> None:
        agent = self.agent
        agent.set_progress(schedule.fraction)
        shards = self._started()
        with self.monitor.waiting():
            sample = self._take()
        self.count(sample, schedule)
        if sample.fragment is None:
            agent.learner.steps += sample.steps
        else:
            agent.learner.count(sample.fragment)
        shards.insert(sample)
        self._sent_steps += sample.steps
        if (results := self._do_due(shards)) is not None:
            schedule.stop_if(self._listeners.tell("on_update", self, results))

    def _take(self) -> Sample:
        """The next sample; its actor is asked for another one."""
        requests = self.start_actors()
        while not self._queue:
            self._queue = requests.receive()
        sample = self._queue.pop(0)
        if self.agent.updates - self.sent_version >= self.weights_interval:
            self.send_weights()
        requests.ask(sample.origin.actor)
        return sample

    def _do_due(self, shards: Shards) -> dict[str, float] | None:
        """The updates that the steps so far have made due; the results of the last one."""
        learner, least, results = self.agent.learner, self._experience.updates.steps_before_update, None
        while number := self._experience.take_due(learner.steps):
            # Shards of a resumed run begin empty where they have no snapshots.
            for _ in range(number if self._sent_steps >= least else 0):
                with self.monitor.waiting("batch_wait"):
                    drawn = shards.take(float(learner.progress))
                if drawn is None:
                    break
                results, items = learner.update_from_batch(drawn.batch.records)
                priorities = items["priorities"]
                shards.update(drawn, priorities)
                self.monitor.learned(self._experience.batch_size)
        return results

    def _started(self) -> Shards:
        """The shards; they and the actors are started unless they run."""
        if self._shards is None:
            learner, requests = self.agent.learner, self.start_actors()
            self._shards = Shards(
                self.engine,
                self._shard_spec,
                self.replay_shards,
                self.max_actor_restarts,
                BatchFormat(self._experience, learner.spec),
                self.batches_ahead,
                *self._timeouts,
                self._refuse,
                self._log_folder,
            )
            is_filled = bool(self._snapshot(0)) and self._shards.begin()
            self._sent_steps = self._experience.updates.steps_before_update if is_filled else 0
            self.send_weights()
            for number in [*range(self.actors)] * self.requests_per_actor:
                requests.ask(number)
        return self._shards

    def _refuse(self, origin: Origin, cause: str) -> None:
        """A shard found that what an actor sent is no fragment."""
        fault = ActorFailed(f"actor {origin.actor}: expected the message of an answer to 'sample': {cause}")
        requests = self.start_actors()
        requests.lost += 1
        requests.fail(origin.actor, origin.incarnation, fault)

    def _shard_spec(self, number: int, incarnation: int) -> ShardSpec:
        return ShardSpec(
            self.agent.learner.spec,
            self._shard_options,
            self._experience.batch_size,
            number,
            incarnation,
            self.agent.timesteps,
            self._sampler_spec["keeps_values"],
            self._snapshot(number),
            self._run_digest(),
        )

    def _snapshot(self, number: int) -> str:
        """The folder of a shard's snapshot, which fits this number of shards; empty: it writes none."""
        if self.folder is None or not self.keeps_memory:
            return ""
        return str(self.folder / "shards" / f"{number}-of-{self.replay_shards}")

    def _run_digest(self) -> str:
        """What tells the run from others; empty: it has no folder."""
        if self.folder is None or not (self.folder / CONFIG).exists():
            return ""
        return config_digest(read_config(self.folder))

    def save_elsewhere(self, patience: float = 0.0) -> None:
        if self._shards is None or not self._snapshot(0):
            return
        try:
            self._shards.snapshot(patience)
        except (TooManyRestarts, ClusterLost) as error:
            _log.warning("no new snapshots of the replay shards: %s", error)

    def _demand(self) -> Demand:
        return replace(super()._demand(), shards=self.replay_shards)
