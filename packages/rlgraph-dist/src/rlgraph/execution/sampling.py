"""What samples in another process: an actor, its environments, and the fragments that they give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rlgraph.agents.actor_spec import ActorSpec
from rlgraph.agents.agent_graph import AgentGraph
from rlgraph.agents.experience.fragment import Fragment
from rlgraph.agents.experience.messages import pack_message, unpack_message
from rlgraph.agents.experience.step import VectorStep
from rlgraph.agents.sampler import FragmentSampler
from rlgraph.core import InputError
from rlgraph.environments import environment_seed
from rlgraph.environments.factory import make_vector_env
from rlgraph.environments.stepped_env import stepped
from rlgraph.execution.values import VALUES, ValuingActor
from rlgraph.workers.episodes import Episodes


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
        incarnation: how often it was started again.
        begun: steps that the agent had observed before.
        keeps_values: whether fragments have the values that acting knew; see `rlgraph.execution.values`.
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
    incarnation: int = 0
    begun: int = 0
    keeps_values: bool = False

    def __call__(self) -> RemoteSampler:
        return RemoteSampler(self)

    @property
    def is_first(self) -> bool:
        """Whether it acts as the agent of a single process does: with the same environments and draws."""
        return self.number == self.incarnation == self.begun == 0


@dataclass(frozen=True)
class Sample:
    """What one call of a sampler gives.

    Attributes:
        fragment: the steps.
        episodes: return and length of each episode that ended in them.
        restarts: environments that were replaced since the sampler was started.
        dropped_steps: rows that are no steps since their environment was replaced.
        message: what it was read of.
    """

    fragment: Fragment
    episodes: list[tuple[float, int]]
    restarts: int
    dropped_steps: int
    message: bytes


class SampleFormat:
    """How samples become bytes, and what they are checked against when they arrive.

    Args:
        actor: what acts.
        graph: its root component.
        internal_state_interval: of the learner's experience.
        keeps_values: see `SamplerSpec`.
    """

    def __init__(
        self,
        actor: ActorSpec,
        graph: AgentGraph,
        internal_state_interval: int | None = None,
        keeps_values: bool = False,
    ):
        kept = VALUES if keeps_values else None
        self._fragments = actor.fragment_format(graph, internal_state_interval, kept)

    def to_bytes(self, fragment: Fragment, facts: Mapping[str, Any]) -> bytes:
        message = self._fragments.to_bytes(fragment)
        return pack_message(facts, {"fragment": np.frombuffer(message, np.uint8)})

    def num_bytes(self, steps: int, slots: int) -> int:
        """About the size of a message with so many steps."""
        return self._fragments.num_bytes(steps, slots)

    def from_bytes(self, message: bytes) -> Sample:
        """The sample of a message.

        Raises:
            InputError: the message is not a sample; says what is wrong.
        """
        header, arrays = unpack_message(message)
        try:
            episodes = [(float(value), int(length)) for value, length in header["episodes"]]
            restarts, dropped = int(header["restarts"]), int(header["dropped_steps"])
            packed = arrays["fragment"].tobytes()
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"expected the message of a sampler, given {header!r} ({error})") from None
        return Sample(self._fragments.from_bytes(packed), episodes, restarts, dropped, message)


class RemoteSampler(FragmentSampler):
    """Steps environments with an actor on NumPy, where no framework is imported."""

    def __init__(self, spec: SamplerSpec):
        environments = make_vector_env(
            stepped(spec.environment, spec.frameskip, spec.max_timesteps_per_episode),
            spec.num_envs,
            spec.vectorization,
            **spec.options,
        )
        root = spec.actor.seed
        draws = None if spec.is_first else [root, spec.number, spec.incarnation, spec.begun]
        actor = (
            spec.actor.build(draw_seed=draws) if not spec.keeps_values else ValuingActor(spec.actor, draws)
        )
        super().__init__(
            actor, environments, spec.length, spec.number, spec.incarnation, spec.internal_state_interval
        )
        self._format = SampleFormat(spec.actor, actor.graph, spec.internal_state_interval, spec.keeps_values)
        self._episodes = Episodes(environments.num_environments)
        self._ended: list[tuple[float, int]] = []
        self._dropped_steps = 0
        index = (spec.number << 16) + spec.incarnation
        self.reset(root if spec.is_first else environment_seed(root, index, spec.begun))

    def sample(self, weights: bytes) -> bytes:
        """The next fragment that these weights act in, a message of `SampleFormat`."""
        self.actor.set_weights(weights)
        self._ended = []
        fragment = self.collect()
        facts = {
            "episodes": self._ended,
            "restarts": self.environments.restarts,
            "dropped_steps": self._dropped_steps,
        }
        return self._format.to_bytes(fragment, facts)

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
