"""Rows: what becomes of steps."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from rlgraph.agents.conformance.probes import PROBE, joined_episodes
from rlgraph.agents.conformance.subject import AgentUnderTest, acted, differing, expect_same
from rlgraph.agents.conformance.table import row
from rlgraph.agents.conformance.tasks import CueTask, CueVectorEnv
from rlgraph.experience.nested_arrays import map_arrays
from rlgraph.workers.callbacks import Callback


class _Counting(Callback):
    """Sums the probe over all updates."""

    def __init__(self) -> None:
        self.joined, self.updates = 0.0, 0

    def on_update(self, worker: Any, results: Mapping[str, Any]) -> None:
        self.joined += results[PROBE]
        self.updates += 1


def _never_join(subject: AgentUnderTest, options: Mapping[str, Any]) -> None:
    subject.need_own_steps()
    make = partial(CueTask, subject.action_space)
    for n_step in (3, 1) if "n_step" in subject.option_names else (1,):
        agent = subject.make(kind=joined_episodes(subject.kind), n_step=n_step, **options)
        counting = _Counting()
        learn = partial(agent.learn, callbacks=counting)
        for steps in (22, 10, 14):  # an odd number of each environment's steps, within rollouts
            learn(steps, env=partial(CueTask, subject.action_space), num_envs=2)
        for lost in ((), ((3, 0), (4, 1), (9, 0))):
            learn(34, env=CueVectorEnv(make, 2, lost), num_envs=2)
        assert counting.updates > 0, "no update"
        assert counting.joined == 0, (
            f"{counting.joined:g} of the records of {counting.updates} updates join two episodes (n_step {n_step})"
        )


@row("experience")
def cut_episodes_never_join(subject: AgentUnderTest) -> None:
    """No record joins two episodes: at ends, between calls of learn, where environments get lost or reset late."""
    _never_join(subject, {})


@row("experience")
def cut_episodes_never_join_with_memory(subject: AgentUnderTest) -> None:
    """The same with a recurrent network, of rollouts or sequences."""
    _never_join(subject, subject.recurrent_options)


def _with_garbage(
    subject: AgentUnderTest, garbage: float, options: Mapping[str, Any], dead_from: int | None
) -> Any:
    agent = subject.make(**options)
    make = partial(CueTask, subject.action_space)
    env = CueVectorEnv(make, 2, ((5, 1), (12, 0)), garbage, dead_from)
    env.reset(seed=3)
    sampler = agent.make_sampler(env)
    sampler.reset(3)
    for _ in range(24):
        agent.observe_step(sampler.step())
        agent.update_if_due()
    return agent


def _ignores_garbage(subject: AgentUnderTest, options: Mapping[str, Any]) -> None:
    subject.need_learning()
    for dead_from in (None, 13):
        clean, dirty = (_with_garbage(subject, x, options, dead_from) for x in (0.5, -40.0))
        assert clean.updates == dirty.updates > 0, "no update, or another number of them"
        expect_same(
            clean.get_weights(), dirty.get_weights(), "weights after other garbage in rows that are no steps"
        )


@row("experience")
def garbage_changes_nothing(subject: AgentUnderTest) -> None:
    """States and rewards in rows that are no steps change no bit of an update, and what follows them none before."""
    _ignores_garbage(subject, {})


@row("experience")
def garbage_changes_nothing_with_memory(subject: AgentUnderTest) -> None:
    """The same with a recurrent network, for which the internal states before the first step count."""
    _ignores_garbage(subject, subject.recurrent_options)
    if not subject.is_taught:
        assert differing(
            _with_other_internal_states(subject, 0.0), _with_other_internal_states(subject, 0.5)
        ), (
            "an update of a recurrent network does not depend on the internal states with which the first step was "
            "made; expected another one. Usual cause: rollouts or sequences are unrolled from states of 0"
        )
    algorithm = subject.make(**subject.recurrent_options).learner.graph.algorithm
    _expect_own_internal_states(subject, algorithm)
    _expect_forgetting(subject, algorithm)


def _expect_forgetting(subject: AgentUnderTest, algorithm: Any) -> None:
    """Of rollouts: what a policy learns of an episode does not depend on the states of the one before."""
    policy = getattr(algorithm, "policy", None)
    if policy is None or not algorithm.experience.kind.is_sequential:
        return
    if "get_state_values" in policy.api_methods():
        return  # the loss of its values depends on all states
    one, other = (_learned_after_an_episode(subject, added) for added in (0.0, 2.0))
    moved = differing(one, other, 1e-9)
    assert not moved, (
        f"what the policy learns of an episode depends on the states of the one before, which had no rewards, in the "
        f"same rollout ({moved[0]} differs); expected no change, as acting began it with fresh internal states. Usual "
        "cause: an update unrolls the network over ends of episodes, since it is not told of the resets"
    )


def _learned_after_an_episode(subject: AgentUnderTest, added: float) -> dict[str, np.ndarray]:
    """Weights of the policy after a rollout of two episodes: an update on the second, where values are 0.

    Args:
        added: to the states of the first one.
    """
    options: dict[str, Any] = {"optimizer_spec": {"type": "sgd", "learning_rate": 0.1}, "rollout_length": 8}
    options |= {"num_epochs": 1, "num_minibatches": 1, "weight_entropy": 0.0, "normalize_states": False}
    agent = subject.make(**options, standardize_advantages=False, **subject.recurrent_options)
    scope = f"{agent.learner.graph.algorithm.policy.scope_path}/"
    weights = agent.executor.get_weights(trainable_only=True)
    agent.set_weights({name: np.zeros_like(x) for name, x in weights.items() if not name.startswith(scope)})
    rng, step = np.random.default_rng(0), 0
    while not agent.updates:
        states, reached = rng.normal(size=(2, 1, 4))
        rewards, is_first = rng.normal(size=1), step < 4
        actions, extras = acted(agent, states + added * is_first)
        ends = np.array([step == 3])
        agent.observe(
            states + added * is_first,
            actions,
            rewards * (not is_first),
            ends,
            reached,
            batched=True,
            **extras,
        )
        if ends:
            agent.reset("env_0")
        agent.update_if_due()
        step += 1
    return {name: x for name, x in agent.get_weights().items() if name.startswith(scope)}


def _expect_own_internal_states(subject: AgentUnderTest, algorithm: Any) -> None:
    """What a value function learns of rollouts does not depend on what the policy remembers."""
    parts = set(algorithm.internal_states_space or ())
    if algorithm.behaviour_outputs or not {"policy", "value_function"} <= parts:
        return
    value_function = next(x for x in algorithm.recurrent_parts if "value_function" in x.internal_states_space)
    one, other = (_with_other_internal_states(subject, added, "policy") for added in (0.0, 0.5))
    scope = value_function.scope_path
    changed = [name for name in differing(one, other) if name.startswith(f"{scope}/")]
    assert not changed, (
        f"what the value function learns depends on the internal states of the policy ({changed[0]} differs); expected "
        "no change. Usual cause: each is unrolled from the states of the other"
    )


def _with_other_internal_states(subject: AgentUnderTest, added: float, part: str | None = None) -> Any:
    """The weights after two updates on steps whose internal states are others by a number; an episode begins once.

    Args:
        part: whose internal states are others; None: those of all.
    """
    options = {"n_step": 1, "optimizer_spec": {"learning_rate": 0.01}, **subject.recurrent_options}
    agent, rng = subject.make(**options), np.random.default_rng(0)
    states = rng.normal(size=(2, 4))
    while agent.updates < 2:
        actions, extras = acted(agent, states)
        moved = map_arrays(lambda x: x + added, extras["internals"])
        extras["internals"] = moved if part is None else {**extras["internals"], part: moved[part]}
        rewards, ends, reached = rng.normal(size=2), np.zeros(2, bool), rng.normal(size=(2, 4))
        agent.observe(states, actions, rewards, ends, reached, batched=True, **extras)
        agent.update_if_due()
        states = reached
    return agent.get_weights()
