"""Evaluation over whole episodes."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rlgraph.components.common.argument_checks import check_flag, check_whole
from rlgraph.core import SpecError
from rlgraph.environments.factory import is_instance, is_vector, is_vector_instance, make_vector_env
from rlgraph.environments.interrupts import interruptible
from rlgraph.environments.stepped_env import stepped
from rlgraph.environments.vector_env import VectorEnv
from rlgraph.learning.actor import Actor
from rlgraph.learning.base_agent import BaseAgent
from rlgraph.learning.sampler import Sampler
from rlgraph.workers.compatibility import check_fits
from rlgraph.workers.episodes import Episodes
from rlgraph.workers.recording import Recorder
from rlgraph.workers.short_repr import short_repr

#: Steps after which an episode is cut, since a greedy policy may never end one. Atari games may have 108,000.
LONGEST_EPISODE = 120_000


#: Environments stepped in turn; acting in batches is cheaper than one by one.
EVALUATION_ENVIRONMENTS = 10


class EvaluationWarning(UserWarning):
    """The result of an evaluation may be misleading."""


@dataclass(frozen=True)
class Evaluation:
    """The outcome of an evaluation.

    Attributes:
        returns: undiscounted return of each episode.
        lengths: steps of each episode.
        timesteps: training steps that the agent had observed.
    """

    returns: tuple[float, ...]
    lengths: tuple[int, ...]
    timesteps: int

    @property
    def mean(self) -> float:
        return float(np.mean(self.returns))

    @property
    def std(self) -> float:
        return float(np.std(self.returns))

    def __repr__(self) -> str:
        return short_repr(self, "mean", "std", episodes=len(self.returns), timesteps=self.timesteps)


def evaluate(
    agent: BaseAgent,
    env: Any,
    episodes: int,
    seed: int,
    *,
    num_envs: int | None = None,
    stochastic: bool = False,
    video: str | Path | None = None,
    validate_states: bool = False,
) -> Evaluation:
    """Play `episodes` whole episodes in fresh environments, greedily by default.

    Each environment plays a fixed number of episodes, its share of all; taking the first episodes to end would favour
    short ones.

    Args:
        agent: the agent; it observes nothing, and its preprocessor learns nothing.
        env: environment spec; ``{"type": "envpool", ...}`` uses EnvPool. An existing environment or vector environment
            is reset, played and left open; the next `learn` begins new episodes in it.
        episodes: number of episodes.
        seed: root seed of the environments, and of actions that are drawn.
        num_envs: environments that are stepped together, at most one per episode, which play other episodes than
            another number of them does; None: that of a vector environment, else 10.
        stochastic: draw actions as in training: from the policy, or with the present exploration.
        video: a ``.gif`` or ``.mp4`` to record the first episode in (`rlgraph.workers.recording`).
        validate_states: floats of states outside their bounds are errors, not warnings.

    Raises:
        SpecError: `episodes` or `num_envs` is no integer >= 1, or `stochastic` no bool; several environments of one
            instance; the environment cannot be recorded; the agent is training in this very environment, or was made
            for other states or actions.
        EnvironmentFault: an environment breaks its contract or fails.

    Warns:
        EvaluationWarning: an episode was cut because it did not end.
    """
    check_whole(episodes, "episodes", least=1)
    if num_envs is not None:
        check_whole(num_envs, "num_envs", least=1)
    check_flag(stochastic, "stochastic")
    if is_instance(env) and env is agent.training_env:
        raise SpecError(
            "expected another environment than the one that the agent is training in, whose episodes would be cut; "
            f"given the same {type(env).__name__}: give a spec or a second one",
            path="evaluation",
        )
    if video is not None:
        with Recorder(env, video) as recorder:
            recorded = recorder.make_environment
            env = recorded() if is_instance(env) else recorded
            options: dict[str, Any] = {"stochastic": stochastic, "validate_states": validate_states}
            return evaluate(agent, env, episodes, seed, num_envs=num_envs, **options)
    vector = evaluation_environments(env, episodes, num_envs, validate_states)
    try:
        check_fits(agent, vector)
        # Its own actor has its own internal states and random numbers, so that training is not disturbed.
        returns, lengths = play(agent.new_actor(seed=seed), vector, episodes, seed, stochastic)
    finally:
        if not is_instance(env):
            vector.terminate()
    if any(length >= LONGEST_EPISODE for length in lengths):
        warnings.warn(
            f"episodes of an evaluation did not end within {LONGEST_EPISODE:,} steps and were cut: the environment has "
            "no limit of its own. Set max_timesteps_per_episode of the worker (in a run: worker."
            "max_timesteps_per_episode), for training and evaluation",
            EvaluationWarning,
            stacklevel=1,  # warns once, not once per caller
        )
    return Evaluation(tuple(returns), tuple(lengths), agent.timesteps)


def play(
    actor: Actor, vector: VectorEnv, episodes: int, seed: int, stochastic: bool = False
) -> tuple[list[float], list[int]]:
    """Play whole episodes; the returns and lengths of all.

    Args:
        actor: acts.
        vector: the environments; each plays a fixed number of episodes.
        episodes: how many, all together.
        seed, stochastic: see `evaluate`.
    """
    number = vector.num_environments
    quota = [episodes // number + (i < episodes % number) for i in range(number)]
    ended: list[list[tuple[float, int]]] = [[] for _ in range(number)]
    episodes_of, player = Episodes(number), Sampler(actor, vector, learns=False)
    with interruptible():
        player.reset(seed)
        while any(len(done) < wanted for done, wanted in zip(ended, quota, strict=True)):
            episodes_of.add(player.step(use_exploration=stochastic).rewards)
            for i in vector.dropped:  # reset instead of acting
                episodes_of.forget(i)
            for i in vector.finished:
                episode = episodes_of.end(i, player.infos[i])
                if episode is not None and len(ended[i]) < quota[i]:
                    ended[i].append(episode)
    played = [episode for done in ended for episode in done]
    return [value for value, _ in played], [length for _, length in played]


def evaluation_environments(
    env: Any, episodes: int, num_envs: int | None = None, validate_states: bool = False
) -> VectorEnv:
    """The environments of an evaluation; not more than it has episodes."""
    if is_vector_instance(env):
        return make_vector_env(env, num_envs, validate_states=validate_states)
    number = 1 if is_instance(env) else EVALUATION_ENVIRONMENTS
    # Tasks of vector environments, such as EnvPool's, have their own limits.
    spec = env if is_vector(env) else stepped(env, 1, LONGEST_EPISODE)
    number = min(num_envs or number, episodes)
    # A restart would change what is measured.
    return make_vector_env(spec, number, max_restarts=0, validate_states=validate_states)
