"""Rows: actions that are legal in some states only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rlgraph.agents.conformance.acting import check_log_probabilities
from rlgraph.agents.conformance.batches import as_batch
from rlgraph.agents.conformance.subject import (
    CATEGORY,
    AgentUnderTest,
    NotApplicable,
    acted,
    differing,
    perturbed,
)
from rlgraph.agents.conformance.table import row
from rlgraph.agents.conformance.tasks import CueTask
from rlgraph.components import Target
from rlgraph.environments.environment import StepResult
from rlgraph.experience.nested_arrays import map_arrays, stack
from rlgraph.spaces import BoolBox, Dict

STATES = Dict(observation=CueTask.STATES, action_mask=BoolBox(shape=(3,)))


class MaskedCues(CueTask):
    """`CueTask` with masks that forbid one or two of three actions; it raises if an action is illegal."""

    def __init__(self) -> None:
        super().__init__(CATEGORY)
        self.state_space = STATES
        self._mask = np.ones(3, bool)

    def _next_state(self) -> Any:
        self._mask = _masks(self._rng, 1)[0]
        return {"observation": super()._next_state(), "action_mask": self._mask}

    def step(self, action: Any) -> StepResult:
        """As of `CueTask`."""
        assert self._mask[int(action)], f"an illegal action in training: {action}, and the mask {self._mask}"
        return super().step(action)


def _masks(rng: np.random.Generator, number: int) -> np.ndarray:
    """Masks ``[number, 3]`` that forbid one or two actions."""
    masks = rng.random((number, 3)) < 0.5
    rows = np.arange(number)
    masks[rows, rng.integers(3, size=number)] = True
    masks[rows, np.argmax(masks, axis=1) - 1] = False
    return masks


def _states(rng: np.random.Generator, number: int = 4) -> dict[str, np.ndarray]:
    return {"observation": rng.normal(size=(number, 4)), "action_mask": _masks(rng, number)}


def _need_categories(subject: AgentUnderTest) -> None:
    if subject.action_space != CATEGORY:
        raise NotApplicable("the agent takes no categories, and other actions have no masks")


def _expect_legal(actions: Any, states: dict[str, np.ndarray], what: str) -> None:
    masks = states["action_mask"]
    legal = masks[np.arange(len(masks)), actions]
    assert legal.all(), f"{np.count_nonzero(~legal)} of {len(legal)} {what} are illegal"


@row("masks", on_every_backend=True)
def legal_actions(subject: AgentUnderTest) -> None:
    """Explored and greedy actions are legal, in training and of an actor alone; targets value legal ones."""
    _need_categories(subject)
    agent = subject.make(states=STATES)
    agent.set_weights(perturbed(agent))
    alone = agent.learner.spec.build(100)
    alone.set_weights(agent.learner.weights_message())
    states = _states(np.random.default_rng(0), 100)
    for explore in (True, False):
        kind = "drawn actions" if explore else "greedy actions"
        _expect_legal(agent.get_actions(states, explore), states, kind)
        _expect_legal(alone.act(alone.preprocess(states), explore), states, f"{kind} of an actor alone")
    if not subject.cannot_learn:
        subject.train(agent, 32, MaskedCues)
        if any(isinstance(part, Target) for part in agent.learner.graph.algorithm.walk()):
            _expect_masks_of_reached_states(subject)


def _expect_masks_of_reached_states(subject: AgentUnderTest) -> None:
    def learned(mask: Sequence[bool]) -> dict[str, np.ndarray]:
        agent, rng = subject.make(states=STATES, n_step=1), np.random.default_rng(2)
        reached = {**_states(rng, 16), "action_mask": np.repeat([mask], 16, 0)}
        states = {**_states(rng, 16), "action_mask": np.ones((16, 3), bool)}
        batch = {"states": states, "next_states": reached, "actions": rng.integers(3, size=16)}
        agent.update({**batch, "rewards": rng.normal(size=16), "terminals": np.zeros(16, bool)})
        return dict(agent.executor.get_weights(trainable_only=True))

    values_actions = subject.kind.algorithm_class.values_next_actions
    assert not values_actions or differing(learned([True, False, False]), learned([False, False, True])), (
        "an update does not depend on which action was legal in the states that were reached; expected the value of a "
        "legal action in targets. Usual causes: the mask is not handed to the target; the largest value is that of "
        "all actions"
    )


@row("masks")
def log_probabilities_with_masks(subject: AgentUnderTest) -> None:
    """The actor's log-probability of each stored legal action is what the update computes, to 1e-12 in float64."""
    _need_categories(subject)
    rng = np.random.default_rng(1)

    def choose(states: Any) -> Any:
        return np.argmax(states["action_mask"] * rng.random((4, 3)), axis=1)

    check_log_probabilities(subject, "float64", 1e-12, {"states": STATES}, _states, choose)
    _expect_nothing_of_single_actions(subject)


def _expect_nothing_of_single_actions(subject: AgentUnderTest) -> None:
    """Where only the action that was taken is legal, it has the probability 1: there is nothing to learn."""
    options: dict[str, Any] = {"optimizer_spec": {"type": "sgd", "learning_rate": 0.1}, "n_step": 1}
    agent, rng = subject.make(states=STATES, normalize_states=False, **options), np.random.default_rng(3)
    policy = agent.learner.graph.algorithm.policy
    if "get_state_values" in policy.api_methods():
        return  # it learns values besides
    steps = []
    for _ in range(9):
        states = {
            "observation": rng.normal(size=(2, 4)),
            "action_mask": np.eye(3, dtype=bool)[rng.integers(3, size=2)],
        }
        actions, extras = acted(agent, states)
        extras.pop("internals", None)
        steps.append({"states": states, "actions": actions, "rewards": rng.normal(size=2), **extras})
    columns = stack(steps)
    reached = map_arrays(lambda x: x[1:], columns["states"])
    columns = map_arrays(lambda x: x[:-1], columns)
    flags = {name: np.zeros((8, 2), bool) for name in ("terminals", "truncations")}
    before = agent.executor.get_weights(trainable_only=True)
    agent.update(as_batch(agent, {**columns, "next_states": reached, **flags}))
    moved = differing(before, agent.executor.get_weights(trainable_only=True), 1e-9)
    moved = [name for name in moved if name.startswith(f"{policy.scope_path}/")]
    assert not moved, (
        f"where masks leave only the action that was taken, an update changes {moved[0]}; expected no change of the "
        "policy, as no other action is possible. Usual causes: the log-probabilities or the entropy in the loss are of "
        "all actions: update hands states to the policy instead of the observation with its mask"
    )
