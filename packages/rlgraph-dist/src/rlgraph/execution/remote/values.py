"""Values that acting knew: with them actors send what the priorities of new records are computed from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rlgraph.core import RandomStreams
from rlgraph.experience.experience import Writer
from rlgraph.experience.step import VectorStep
from rlgraph.learning.actor import Actor
from rlgraph.learning.actor_spec import ActorSpec
from rlgraph.learning.agent_graph import AgentGraph
from rlgraph.spaces import Dict, FloatBox

#: What is kept of a step: the values of the action taken, and of the best one.
VALUES = Dict({"value": FloatBox(), "best_value": FloatBox()})


def knows_values(graph: AgentGraph) -> bool:
    """Whether acting knows values on the scale of the rewards that are sent, of which all are legal actions'."""
    return bool(graph.algorithm.action_values) and graph.masked is None and graph.scale_rewards is None


class ValuingActor(Actor):
    """An actor that remembers `VALUES` of each step.

    Args:
        spec: describes it; its algorithm has `action_values`.
        draw_seed: see `ActorSpec.build`; None: the seed of `spec`.
    """

    def __init__(self, spec: ActorSpec, draw_seed: Sequence[int] | None):
        graph = spec.make_graph()
        executor = spec.make_executor(graph, (*graph.acting_methods, "act_with_extras"))
        streams = None if draw_seed is None else RandomStreams(draw_seed)
        super().__init__(executor, graph, spec.raw_space, streams=streams)

    def act(self, states: Any, use_exploration: bool = True, slots: Any = None) -> Any:
        actions, extras = self.act_with_extras(states, use_exploration, slots)
        values = extras[self.graph.algorithm.action_values]
        taken = np.take_along_axis(values, np.asarray(actions)[:, None], axis=1)[:, 0]
        self.remembered = {"value": taken, "best_value": values.max(axis=1)}
        return actions


class ValuedWriter:
    """Writes each step when the next one is there, which knows the value of the state that was reached.

    Actions and next states are written as a dict with these values beside them; unknown ones, where an episode was
    truncated, are NaN.

    Args:
        writer: takes the steps.
    """

    def __init__(self, writer: Writer):
        self._writer = writer
        self._held: VectorStep | None = None
        self._begun: Any = ()

    def add(self, step: VectorStep, slots: np.ndarray | None = None) -> None:
        """Take in a step of all slots."""
        if self._held is not None:
            known = ~step.begins if step.valid is None else ~step.begins & step.valid
            reached = np.where(known, step.remembered["best_value"], np.nan)
            actions = {"actions": self._held.actions, "value": self._held.remembered["value"]}
            next_states = {"states": self._held.next_states, "best_value": reached}
            self._writer.add(self._held._replace(actions=actions, next_states=next_states))
        if len(self._begun):
            self._writer.cut(self._begun)
        self._held, self._begun = step, ()

    def cut(self, slots: Any = None) -> None:
        """The episodes of `slots` were cut; the next step begins others there."""
        self._begun = slots


def initial_errors(records: dict[str, Any], discount: float) -> tuple[dict[str, Any], np.ndarray]:
    """Records as a memory keeps them, and their TD errors ``[B]`` by the values that acting knew (Horgan et al., 2018).

    Args:
        records: of a `ValuedWriter`.
        discount: where records have none of their own.
    """
    actions, reached = records["actions"], records["next_states"]
    after = np.where(records["terminals"], 0.0, reached["best_value"])
    errors = records["rewards"] + records.get("discounts", discount) * after - actions["value"]
    return {**records, "actions": actions["actions"], "next_states": reached["states"]}, errors
