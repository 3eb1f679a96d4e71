"""Rows: targets, networks that lag behind those that learn."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np

from rlgraph.agents.agent import Agent
from rlgraph.agents.conformance.batches import as_batch, sample_steps
from rlgraph.agents.conformance.subject import AgentUnderTest, NotApplicable, differing, expect_same
from rlgraph.agents.conformance.table import row
from rlgraph.components import Target
from rlgraph.spaces import IntBox

#: Options with the target's share of its source, and with the updates between two moves of targets.
SHARES, DELAYS = ("tau", "sync_tau"), ("target_delay", "policy_delay")
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


def _below(weights: Weights, scope: str) -> Weights:
    """The weights below a scope, by the rest of their names."""
    return {name.removeprefix(f"{scope}/"): x for name, x in weights.items() if name.startswith(f"{scope}/")}


@row("targets")
def lag(subject: AgentUnderTest) -> None:
    """Targets move by tau towards what they follow: from 0.25 to 1 of the way, and only when they are due."""
    share = next((name for name in SHARES if name in subject.option_names), None)
    delay = next((name for name in DELAYS if name in subject.option_names), None)
    for tau in (1.0, 0.25) if share else (None,):
        every = 3 if delay else 1
        options = {share: tau} if share else {}
        agent = subject.make(**{**PLAIN, **options, **({delay: every} if delay else {})})
        targets = targets_of(agent)
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
                continue
            if tau is None:
                continue
            for target in targets:
                _expect_moved(target, tau, before, after, f"after update {update}, with {share}: {tau:g}")


def _expect_held(targets: list[Target], before: Weights, after: Weights, why: str) -> None:
    for target in targets:
        scope = target.followed.scope_path
        moved = differing(_below(before, scope), _below(after, scope))
        assert not moved, (
            f"{target.scope} has moved {why}: {moved[0]}; expected no change. Usual causes: targets are updated with "
            "every update of the critics; the condition is on another counter"
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
def the_smallest_of_several(subject: AgentUnderTest) -> None:
    """Of several target critics the smallest value counts; a larger one changes no bit of an update."""
    agent = subject.make(**PLAIN)
    alike = defaultdict(list)
    for target in targets_of(agent):
        alike[type(target.source)].append(target)
    critics = next((found for found in alike.values() if len(found) > 1), None)
    if critics is None:
        raise NotApplicable("the algorithm has no two targets of the same kind")
    subject.need_learning()
    columns, start = sample_steps(agent), agent.get_weights()

    def learned(target: Target, added: float) -> Weights:
        learner = subject.make(**PLAIN)
        raised = {
            name: x + added
            for name, x in start.items()
            if name.startswith(f"{target.followed.scope_path}/") and x.ndim == 1 and x.size in (1, 3)
        }
        learner.set_weights({**start, **raised})
        learner.update(as_batch(learner, columns))
        return dict(learner.executor.get_weights(trainable_only=True))

    for target in critics:
        changed = differing(learned(target, 100.0), learned(target, 200.0))
        assert not changed, (
            f"the update depends on the value of {target.scope} where it is much larger than that of the others "
            f"({changed[0]} differs); expected the smallest value as target. Usual causes: the largest or the mean is "
            "taken; each critic learns from its own target"
        )
        assert differing(learned(target, -100.0), learned(target, -200.0)), (
            f"the update does not depend on the value of {target.scope} where it is much smaller than that of the "
            "others; expected the smallest value as target. Usual causes: the largest is taken; only one of the "
            "targets is used"
        )
