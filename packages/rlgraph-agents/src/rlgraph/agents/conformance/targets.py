"""Rows: targets, networks that lag behind those that learn."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from rlgraph.agents.agent import Agent
from rlgraph.agents.conformance.batches import as_batch, sample_steps
from rlgraph.agents.conformance.subject import (
    AgentUnderTest,
    NotApplicable,
    differing,
    expect_same,
)
from rlgraph.agents.conformance.table import row
from rlgraph.components import Target
from rlgraph.spaces import IntBox

#: Options with the target's share of its source.
SHARES = ("tau", "sync_tau")
#: A learning rate, and nothing else that moves weights.
PLAIN: dict[str, Any] = {"optimizer_spec": {"learning_rate": 0.01}, "normalize_states": False, "n_step": 1}
Weights = dict[str, np.ndarray]


def targets_of(agent: Agent) -> list[Target]:
    """The targets of its algorithm.

    Raises:
        NotApplicable: there are none.
    """
    parts: Iterable[Any] = agent.learner.graph.algorithm.walk()
    found: list[Target] = [part for part in parts if isinstance(part, Target)]
    if not found:
        raise NotApplicable("the algorithm has no Target")
    return found


def alike_targets(agent: Agent) -> list[list[Target]]:
    """Targets of critics, those of one kind together; empty if there are none."""
    algorithm, alike = agent.learner.graph.algorithm, defaultdict[type, list[Target]](list)
    for part in algorithm.walk():
        if isinstance(part, Target) and part.source is not algorithm.policy:
            alike[type(part.source)].append(part)
    return [*alike.values()]


def _below(weights: Weights, scope: str) -> Weights:
    """The weights below a scope, by the rest of their names."""
    return {name.removeprefix(f"{scope}/"): x for name, x in weights.items() if name.startswith(f"{scope}/")}


def _delays(subject: AgentUnderTest) -> list[str]:
    """Options with the updates between two moves of targets; the policy's is one where a target follows the policy."""
    agent = subject.make()
    follow_policy = any(x.source is agent.learner.graph.algorithm.policy for x in targets_of(agent))
    return ["target_delay", *["policy_delay"] * follow_policy]


@row("targets")
def lag(subject: AgentUnderTest) -> None:
    """Targets start equal to what they follow, move by tau towards it when they are due, and act nowhere."""
    share = next((name for name in SHARES if name in subject.option_names), None)
    delay = next((name for name in _delays(subject) if name in subject.option_names), None)
    for tau in (1.0, 0.25) if share else (None,):
        every = 3 if delay else 1
        options = {share: tau} if share else {}
        agent = subject.make(**{**PLAIN, **options, **({delay: every} if delay else {})})
        targets = targets_of(agent)
        _expect_beginning(agent, targets)
        subject.need_learning()
        batch = as_batch(agent, sample_steps(agent))
        # What the schedule does is due after some updates; it is asked for here instead.
        schedule = agent.learner.graph.algorithm.schedule
        for update in range(1, 2 * every + 1):
            before = agent.get_weights()
            agent.update(batch)
            if schedule:
                _expect_held(targets, before, agent.get_weights(), "before its schedule is due")
                for method in schedule:
                    agent.call_api_method(method)
            after = agent.get_weights()
            if update % every:
                why = f"after update {update}, with {delay}: {every}"
                _expect_held(targets, before, after, why)
                if delay == "policy_delay":
                    _expect_held_policy(agent, before, after, why)
                continue
            if tau is None:
                continue
            for target in targets:
                _expect_moved(target, tau, before, after, f"after update {update}, with {share}: {tau:g}")


def _expect_beginning(agent: Agent, targets: list[Target]) -> None:
    weights, read = agent.get_weights(), agent.get_policy_weights()
    for target in targets:
        scope = target.followed.scope_path
        apart = differing(_below(weights, scope), _below(weights, target.source.scope_path))
        assert not apart, (
            f"{target.scope} starts with other weights than {target.source.scope}, such as {apart[0]}; expected equal "
            "ones. Usual cause: the target is a component of its own instead of a Target"
        )
        acting = [name for name in read if name.startswith(f"{scope}/")]
        assert not acting, (
            f"acting reads {acting[0]} of {target.scope}; expected what learns: a target lags behind. Usual cause: act "
            "or act_greedily calls the target"
        )


def _expect_held(targets: list[Target], before: Weights, after: Weights, why: str) -> None:
    for target in targets:
        scope = target.followed.scope_path
        moved = differing(_below(before, scope), _below(after, scope))
        assert not moved, (
            f"{target.scope} has moved {why}: {moved[0]}; expected no change. Usual causes: targets are updated with "
            "every update of the critics; the condition is on another counter"
        )


def _expect_held_policy(agent: Agent, before: Weights, after: Weights, why: str) -> None:
    scope = agent.learner.graph.algorithm.policy.scope_path
    moved = differing(_below(before, scope), _below(after, scope))
    assert not moved, (
        f"the policy has moved {why}: {moved[0]}; expected no change. Usual cause: only targets wait, and the policy "
        "learns in every update"
    )


def _expect_moved(target: Target, tau: float, before: Weights, after: Weights, when: str) -> None:
    old, new = (_below(weights, target.followed.scope_path) for weights in (before, after))
    source = _below(after, target.source.scope_path)
    expected = {name: (1.0 - tau) * x + tau * source[name] for name, x in old.items() if x.dtype.kind == "f"}
    try:
        expect_same(
            {name: new[name] for name in expected}, expected, "what it is and what it should be", 1e-6
        )
    except AssertionError as error:
        raise AssertionError(
            f"{target.scope} is not (1 - tau) * target + tau * source {when}: {error}. Usual causes: tau and 1 - tau "
            "are exchanged; the option is not passed on; a target is never updated, or before its source has learned"
        ) from None


@row("targets")
def reached_states_teach_nothing(subject: AgentUnderTest) -> None:
    """What is seen only in states that were reached gets no derivative: targets of values are constants."""
    subject.need_learning()
    options = {**PLAIN, "optimizer_spec": {"learning_rate": 0.01, "l2_penalty": 0.0}}
    agent = subject.make(**options)
    columns = sample_steps(agent)
    columns["states"][..., 1:] = 0.0
    columns["next_states"][..., 0] = 0.0
    columns["truncations"][:] = True
    actions = agent.action_space
    width = (actions.num_categories or 0) if isinstance(actions, IntBox) else 1
    before = agent.executor.get_weights(trainable_only=True)
    agent.update(as_batch(agent, columns))
    after = agent.executor.get_weights(trainable_only=True)
    sizes = {4: 1, 4 + width: 1 + width}
    matrices = {name: x for name, x in before.items() if x.ndim == 2}
    inner = {x.shape[1] for x in matrices.values()}  # what takes the output of another may not take states
    layers = {name: x for name, x in matrices.items() if len(x) in sizes and len(x) not in inner}
    if not layers:
        raise NotApplicable("no trainable matrix takes the 4 numbers of states")
    for name, old in layers.items():
        changed = np.flatnonzero((after[name] != old).any(axis=1)).tolist()
        assert len(changed) <= sizes[len(old)], (
            f"an update changes rows {changed} of {name}; expected at most {sizes[len(old)]}: states have one number "
            "that is not 0, and the other rows take numbers that only next states have. Usual causes: the target of "
            "the values is differentiated: it needs stop_gradient, or a Target; next states are taken for states"
        )


@row("targets")
def values_of_reached_states(subject: AgentUnderTest) -> None:
    """Values of reached states come from targets: of several the smallest, for the actions of the policy there."""
    agent = subject.make(**PLAIN)
    targets, policy = targets_of(agent), agent.learner.graph.algorithm.policy
    subject.need_learning()
    start, columns, learned = agent.get_weights(), sample_steps(agent), _learning(subject, agent)
    if agent.learner.graph.algorithm.values_next_actions:
        _expect_values_of_targets(targets, policy, start, columns, learned)
    alike = alike_targets(agent)
    for several in (found for found in alike if len(found) > 1):
        _expect_smallest(several, start, columns, learned)
    if not alike:
        return
    if agent.learner.graph.algorithm.values_next_actions:
        _expect_policy_of_critics(alike, policy, start, columns, learned)
    for actions in subject.action_spaces:
        agent = subject.make(actions, **PLAIN)
        _expect_actions_of_the_policy(agent, _learning(subject, agent))


#: The trainable weights after an update on columns, from given weights.
Learned = Callable[[Weights, Mapping[str, Any]], Weights]


def _learning(subject: AgentUnderTest, agent: Agent) -> Learned:
    def learned(weights: Weights, columns: Mapping[str, Any]) -> Weights:
        learner = subject.make(agent.action_space, **PLAIN)
        learner.set_weights(weights)
        learner.update(as_batch(learner, columns))
        return dict(learner.executor.get_weights(trainable_only=True))

    return learned


def _expect_values_of_targets(
    targets: list[Target], policy: Any, start: Weights, columns: Mapping[str, Any], learned: Learned
) -> None:
    """Where all targets are 0, it does not matter which states were reached."""
    scopes = [target.followed.scope_path for target in targets]
    if all(target.source is not policy for target in targets):
        scopes.append(policy.scope_path)  # its entropy in reached states may count
    zeros = {
        name: np.zeros_like(x) if any(name.startswith(f"{at}/") for at in scopes) else x
        for name, x in start.items()
    }
    others = {**columns, "next_states": np.random.default_rng(1).normal(size=columns["next_states"].shape)}
    changed = differing(learned(zeros, columns), learned(zeros, others), 1e-9)
    assert not changed, (
        f"where all weights of targets are 0, an update depends on the states that were reached ({changed[0]} "
        "differs); expected no change: targets value them. Usual causes: next states are valued by what learns; the "
        "two networks of double Q-learning are exchanged"
    )


def _expect_smallest(
    critics: list[Target], start: Weights, columns: Mapping[str, Any], learned: Learned
) -> None:
    first, *others = (_below(start, target.source.scope_path) for target in critics)
    for target, other in zip(critics[1:], others, strict=True):
        assert differing(first, other), (
            f"{critics[0].source.scope} and {target.source.scope} start with the same weights; expected others: equal "
            "critics stay equal. Usual causes: one is a copy of the other; they share a seed"
        )

    def with_added(target: Target, number: float) -> Weights:
        scope = f"{target.followed.scope_path}/"
        outputs = {n: x for n, x in start.items() if n.startswith(scope) and x.ndim == 1 and x.size in (1, 3)}
        return learned({**start, **{name: x + number for name, x in outputs.items()}}, columns)

    for target in critics[1:]:  # the first is the smallest where the second is not
        larger = with_added(target, 100.0)
        changed = differing(larger, with_added(target, 200.0))
        assert not changed, (
            f"the update depends on the value of {target.scope} where it is much larger than that of the others "
            f"({changed[0]} differs); expected the smallest value as target. Usual causes: the largest or the mean is "
            "taken; each critic learns from its own target"
        )
        assert differing(larger, with_added(target, -100.0)), (
            f"the update does not depend on the value of {target.scope} where it is much smaller than that of the "
            "others; expected the smallest value as target. Usual causes: the largest is taken; only one of the "
            "targets is used"
        )


def _expect_policy_of_critics(
    alike: list[list[Target]], policy: Any, start: Weights, columns: Mapping[str, Any], learned: Learned
) -> None:
    """Where all steps end their episode, it does not matter to the policy what targets are."""
    ended = {**columns, "terminals": np.ones_like(columns["terminals"])}
    scopes = [f"{target.followed.scope_path}/" for several in alike for target in several]
    halved = {name: x / 2 if name.startswith(tuple(scopes)) else x for name, x in start.items()}
    one, other = (_below(learned(weights, ended), policy.scope_path) for weights in (start, halved))
    changed = differing(one, other, 1e-9)
    assert not changed, (
        f"where all steps end their episode, what the policy learns depends on the weights of targets ({changed[0]} "
        "differs); expected no change: it climbs the critics that learn. Usual cause: its loss takes values of "
        "targets"
    )


def _expect_actions_of_the_policy(agent: Agent, learned: Learned) -> None:
    """Critics do not depend on what the policy does in the states themselves, but in those that were reached."""
    algorithm, targets = agent.learner.graph.algorithm, targets_of(agent)
    columns, weights = sample_steps(agent), agent.get_weights()
    columns["states"][..., 1:] = 0.0
    columns["next_states"][..., 0] = 0.0
    of_policy = [target.followed for target in targets if target.source is algorithm.policy]
    acting = (of_policy or [algorithm.policy])[0].scope_path
    scopes = [target.source.scope_path for target in targets if target.source is not algorithm.policy]

    def of_critics(moved: slice) -> Weights:
        given = {name: x.copy() for name, x in weights.items()}
        for name, x in given.items():
            if name.startswith(f"{acting}/") and x.ndim == 2 and len(x) == 4:
                x[moved] += 1.0
        after = learned(given, columns)
        return {name: x for name, x in after.items() if any(name.startswith(f"{at}/") for at in scopes)}

    usual = of_critics(slice(0))
    changed = differing(usual, of_critics(slice(0, 1)))
    assert not changed, (
        f"what critics learn depends on what the policy does in the states of a batch ({changed[0]} differs); expected "
        "no change: they learn of the actions that were taken. Usual causes: the loss of the policy moves critics; "
        "the actions after a step are those of the policy before it"
    )
    assert not algorithm.values_next_actions or differing(usual, of_critics(slice(1, 4))), (
        "what critics learn does not depend on what the policy does in the states that were reached; expected another "
        "update: targets value its actions there. Usual causes: the actions after a step are those of the policy "
        "before it, or those that were taken"
    )
