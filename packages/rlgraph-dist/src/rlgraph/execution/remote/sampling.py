"""What samples in another process: an actor, its environments, and the fragments that they give."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import astuple, dataclass, field, replace
from typing import Any

import numpy as np

from rlgraph.core import InputError
from rlgraph.environments import environment_seed
from rlgraph.environments.factory import make_vector_env
from rlgraph.environments.stepped_env import stepped
from rlgraph.execution.engine import Bytes
from rlgraph.execution.remote.values import VALUES, ValuingActor
from rlgraph.execution.remote.work_times import WorkTimes, timed
from rlgraph.experience.fragment import Fragment, FragmentFormat, Origin
from rlgraph.experience.step import VectorStep
from rlgraph.learning.actor_spec import ActorSpec
from rlgraph.learning.sampler import FragmentSampler
from rlgraph.workers.episodes import Episodes

#: Facts of a sample that are whole numbers.
_NUMBERS = ("version", "steps", "restarts", "dropped_steps", "size")


@dataclass(frozen=True)
class SamplerSpec:
    """Describes a sampler; picklable. Called without arguments it makes one.

    Attributes:
        actor: what acts.
        environment: spec of one environment, or a function that makes them.
        length: steps of a fragment.
        internal_state_interval: of the learner's experience.
        num_envs: environments stepped together.
        vectorization, options: see `rlgraph.environments.make_vector_env`.
        frameskip, max_timesteps_per_episode: see `rlgraph.workers.Worker`.
        number: of the actor.
        first: number of the first actor of its learner, among those of all learners of a group.
        incarnation: how often it was started again.
        begun: steps that the agent had observed before.
        keeps_values: whether fragments have the values that acting knew; see `rlgraph.execution.remote.values`.
    """

    actor: ActorSpec
    environment: Any
    length: int
    internal_state_interval: int | None = None
    num_envs: int = 8
    vectorization: str = "auto"
    options: Mapping[str, Any] = field(default_factory=dict)
    frameskip: int = 1
    max_timesteps_per_episode: int | None = None
    number: int = 0
    first: int = 0
    incarnation: int = 0
    begun: int = 0
    keeps_values: bool = False

    def __call__(self) -> RemoteSampler:
        return RemoteSampler(self)

    @property
    def is_first(self) -> bool:
        """Whether it acts as the agent of a single process does: with the same environments and draws."""
        return self.first == self.number == self.incarnation == self.begun == 0


@dataclass(frozen=True)
class Sample:
    """What one call of a sampler gives.

    Attributes:
        origin: where it comes from.
        version: of the weights that acted.
        steps: environment steps.
        episodes: return and length of each episode that ended in them.
        restarts: environments that were replaced since the sampler was started.
        dropped_steps: rows that are no steps since their environment was replaced.
        size: bytes of the fragment's message.
        times: seconds that the actor waited and worked since the last one.
        bounds: floats of states outside their bounds, for `rlgraph.environments.state_bounds.ReportOnce`.
        body: reference to that message.
        fragment: the steps, where the message was read.
    """

    origin: Origin
    version: int
    steps: int
    episodes: list[tuple[float, int]]
    restarts: int
    dropped_steps: int
    size: int
    times: tuple[float, float] = (0.0, 0.0)
    bounds: list[tuple[str, str]] = field(default_factory=list)
    body: Any = None
    fragment: Fragment | None = None

    @classmethod
    def from_facts(cls, facts: bytes, body: Any) -> Sample:
        """The sample of what `RemoteSampler.sample` returned, its fragment not read.

        Raises:
            InputError: these are not the facts of a sample.
        """
        try:
            given = json.loads(facts)
            numbers: dict[str, Any] = {name: int(given[name]) for name in _NUMBERS}
            episodes = [(float(value), int(length)) for value, length in given["episodes"]]
            waited, worked = map(float, given["times"])
            return cls(
                Origin(*map(int, given["origin"])),
                episodes=episodes,
                times=(waited, worked),
                bounds=[(str(bound), str(message)) for bound, message in given["bounds"]],
                body=body,
                **numbers,
            )
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"expected the facts of a sample, given {facts[:200]!r} ({error})") from None

    def facts(self) -> bytes:
        """All but the fragment, for `from_facts`."""
        numbers = {name: getattr(self, name) for name in _NUMBERS}
        given = {"origin": astuple(self.origin), "episodes": self.episodes, "times": self.times, **numbers}
        return json.dumps({**given, "bounds": self.bounds}).encode()

    def read(self, message: Bytes, fragments: FragmentFormat) -> Sample:
        """With the fragment of its message.

        Raises:
            InputError: the message is not a fragment, or that of other facts.
        """
        fragment = fragments.from_bytes(message)
        if (given := (fragment.origin, fragment.version, steps_of(fragment))) != (
            expected := (self.origin, self.version, self.steps)
        ):
            raise InputError(f"expected the fragment (origin, version, steps) {expected}, given {given}")
        return replace(self, fragment=fragment)


def steps_of(fragment: Fragment) -> int:
    """Environment steps of a fragment."""
    return int(np.count_nonzero(fragment.valid))


def fragment_format(
    actor: ActorSpec, internal_state_interval: int | None = None, keeps_values: bool = False
) -> FragmentFormat:
    """How fragments become messages.

    Args:
        actor: what acts.
        internal_state_interval: of the learner's experience.
        keeps_values: see `SamplerSpec`.
    """
    kept = VALUES if keeps_values else None
    return actor.fragment_format(actor.make_graph(), internal_state_interval, kept)


class RemoteSampler(FragmentSampler):
    """Steps environments with an actor; on NumPy no framework is imported."""

    def __init__(self, spec: SamplerSpec):
        environments = make_vector_env(
            stepped(spec.environment, spec.frameskip, spec.max_timesteps_per_episode),
            spec.num_envs,
            spec.vectorization,
            **spec.options,
        )
        root = spec.actor.seed
        draws = None if spec.is_first else [root, spec.first + spec.number, spec.incarnation, spec.begun]
        actor = (
            spec.actor.build(draw_seed=draws) if not spec.keeps_values else ValuingActor(spec.actor, draws)
        )
        self._bounds: list[tuple[str, str]] = []
        actor.graph.report_bounds = lambda *found: self._bounds.append(found)
        super().__init__(
            actor, environments, spec.length, spec.number, spec.incarnation, spec.internal_state_interval
        )
        self._format = fragment_format(spec.actor, spec.internal_state_interval, spec.keeps_values)
        self._episodes = Episodes(environments.num_environments)
        self._ended: list[tuple[float, int]] = []
        self._dropped_steps = 0
        self.times = WorkTimes()
        index = (spec.first + spec.number << 16) + spec.incarnation
        self.reset(root if spec.is_first else environment_seed(root, index, spec.begun))

    @timed
    def sample(self, weights: Bytes) -> tuple[bytes, bytes]:
        """Facts of the next fragment that these weights act in, and its message."""
        self.actor.set_weights(weights)
        self._ended = []
        fragment = self.collect()
        message = self._format.to_bytes(fragment)
        sample = Sample(
            fragment.origin,
            fragment.version,
            steps_of(fragment),
            self._ended,
            self.environments.restarts,
            self._dropped_steps,
            len(message),
            self.times.take(),
            self._bounds,
        )
        self._bounds = []
        return sample.facts(), message

    def step(self, use_exploration: bool = True) -> VectorStep:
        step = super().step(use_exploration)
        environments, episodes = self.environments, self._episodes
        episodes.add(step.rewards)
        for i in environments.dropped:
            episodes.forget(i)
        self._dropped_steps += len(environments.dropped) - len(environments.idle)
        for i in environments.finished:
            if (ended := episodes.end(i, self.infos[i])) is not None:
                self._ended.append(ended)
        return step

    def terminate(self) -> None:
        """Release the environments."""
        self.environments.terminate()
