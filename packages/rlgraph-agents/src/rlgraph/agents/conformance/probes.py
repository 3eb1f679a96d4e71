"""Algorithms whose update also measures what it is given."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from rlgraph.agents.agent import Agent
from rlgraph.components import Target
from rlgraph.core import executor_class, graph_fn, rlgraph_api
from rlgraph.learning.agent_graph import AgentGraph
from rlgraph.spaces import Dict

#: Name of the metric that a probe adds.
PROBE = "probe"


def with_probe(kind: type[Agent], probe: Callable[[Any, Any], Any], measure: Any) -> type[Agent]:
    """The class of an agent whose updates have the further metric `PROBE`.

    Args:
        kind: the class of the agent.
        probe: ``probe(algorithm, records)`` in an API method, before the update; may call ``algorithm.measure``.
        measure: ``measure(self, ops, ...)``, a graph function.
    """
    algorithm = kind.algorithm_class
    body = algorithm.update.function
    signature = inspect.signature(body)

    @wraps(body)
    def update(self: Any, *args: Any, **kwargs: Any) -> Any:
        records = signature.bind(self, *args, **kwargs).arguments["records"]
        found = probe(self, records)
        results = body(self, *args, **kwargs)
        is_dict = isinstance(results, Mapping)  # else it is of a graph function, which knows what is in it
        return {**results, PROBE: found} if is_dict else self.with_found(results, found)

    def with_found(self: Any, ops: Any, results: Any, found: Any) -> Any:
        return {**results, PROBE: found}

    members = {"update": rlgraph_api(update), "measure": graph_fn(measure)}
    return _with_members(kind, {**members, "with_found": graph_fn(with_found)})


def _with_members(kind: type[Agent], members: dict[str, Any]) -> type[Agent]:
    """The class of an agent whose algorithm has other members."""
    algorithm = kind.algorithm_class
    probed = type(algorithm.__name__, (algorithm,), members)
    agent = type(kind.__name__, (kind,), {"algorithm_class": probed})
    agent.__init__ = kind.__init__  # type: ignore[misc]  # of agents that have one of their own
    return agent


def joined_episodes(kind: type[Agent]) -> type[Agent]:
    """An agent whose probe counts records that join two episodes of `CueTask`."""

    def probe(algorithm: Any, records: Any) -> Any:
        flags = {name: records[name] for name in ("ends", "weights") if name in records}
        states, reached = records["observations"]["states"], records["next_observations"]["states"]
        return algorithm.measure(states, reached, **flags)

    def measure(self: Any, ops: Any, states: Any, reached: Any, ends: Any = None, weights: Any = None) -> Any:
        episodes, others = states[..., 3], reached[..., 3]
        joined = ops.astype(ops.abs(episodes - others) > 0.5, "float")
        if weights is not None:
            joined = joined * ops.astype(weights > 0.0, "float")
        count = ops.sum(joined)
        if ends is not None:
            follows = ops.astype(ops.abs(episodes[1:] - episodes[:-1]) > 0.5, "float")
            goes_on = 1.0 - ops.astype(ends[:-1], "float")
            if weights is not None:
                goes_on = goes_on * ops.astype(weights[:-1] > 0.0, "float")
            count = count + ops.sum(follows * goes_on)
        return count

    return with_probe(kind, probe, measure)


def large_rewards(kind: type[Agent]) -> type[Agent]:
    """An agent whose probe is the share of records with a reward above 1."""

    def probe(algorithm: Any, records: Any) -> Any:
        return algorithm.measure(records["rewards"])

    def measure(self: Any, ops: Any, rewards: Any) -> Any:
        return ops.mean(ops.astype(rewards > 1.0, "float"))

    return with_probe(kind, probe, measure)


def sum_of_priorities(kind: type[Agent]) -> type[Agent]:
    """An agent whose probe is the sum of the priorities that an update returns."""
    body = kind.algorithm_class.update.function

    @wraps(body)
    def update(self: Any, *args: Any, **kwargs: Any) -> Any:
        results = body(self, *args, **kwargs)
        return {**results, PROBE: self.measure(results["priorities"])}

    def measure(self: Any, ops: Any, priorities: Any) -> Any:
        return ops.sum(priorities)

    return _with_members(kind, {"update": rlgraph_api(update), "measure": graph_fn(measure)})


def log_probability_errors(kind: type[Agent]) -> type[Agent]:
    """An agent whose probe compares the log-probabilities of the records' actions with their rewards."""

    def probe(algorithm: Any, records: Any) -> Any:
        found = algorithm.policy.get_log_likelihood(records["observations"], records["actions"])
        return algorithm.measure(found["log_likelihood"], records["rewards"])

    def measure(self: Any, ops: Any, log_likelihood: Any, rewards: Any) -> Any:
        return ops.max(ops.abs(log_likelihood - rewards))

    return with_probe(kind, probe, measure)


def actors_log_probabilities(agent: Agent) -> Callable[..., Any]:
    """``f(states, actions, internal_states=None)``: log-probabilities ``[B]`` as an actor alone on NumPy has them."""

    def log_probabilities(algorithm: Any, observations: Any, actions: Any) -> Any:
        return algorithm.policy.get_log_likelihood(observations, actions)["log_likelihood"]

    return _on_numpy(agent, log_probabilities)


def values_of_parts(agent: Agent) -> dict[str, Callable[..., Any]]:
    """By scope, what values the actions of states: ``f(states, actions)``: ``[B]``; of categories ``[B, A]``.

    Found are parts with an API method ``get_state_values``, ``state_action_value`` or ``get_q_values``; no targets.
    """
    ways: dict[str, Callable[..., Any]] = {
        "get_state_values": lambda part, states, actions: part.get_state_values(states)["state_values"],
        "state_action_value": lambda part, states, actions: part.state_action_value(states, actions),
        "get_q_values": lambda part, states, actions: part.get_q_values(states)["q_values"],
    }
    found: dict[str, Callable[..., Any]] = {}
    for index, part in enumerate(agent.learner.graph.algorithm.sub_components.values()):
        way = next((name for name in ways if name in part.api_methods()), None)
        if way is None or isinstance(part, Target):
            continue

        def values(algorithm: Any, states: Any, actions: Any, i: int = index, name: str = way) -> Any:
            return ways[name]([*algorithm.sub_components.values()][i], states, actions)

        found[part.scope] = _on_numpy(agent, values)
    return found


def _on_numpy(agent: Agent, compute: Callable[[Any, Any, Any], Any]) -> Callable[..., Any]:
    """``compute(algorithm, observations, actions)`` with the agent's weights, built alone on NumPy."""
    spec = agent.learner.spec
    graph = spec.make_graph()
    recurrent = graph.algorithm.internal_states_space

    def computed(self: AgentGraph, states: Any, actions: Any, internal_states: Any = None) -> Any:
        observations = self.observed(states)
        if recurrent is not None:
            observations["internal_states"] = internal_states
        return compute(self.algorithm, observations, actions)

    graph.add_member(rlgraph_api(name="computed")(computed))
    spaces: dict[str, Any] = {
        "states": agent.learner.state_space.with_batch_rank(),
        "actions": agent.action_space.with_batch_rank(),
    }
    if recurrent is not None:
        spaces["internal_states"] = Dict(dict(recurrent), add_batch_rank=True)
    executor = executor_class("numpy")(
        graph,
        spaces,
        action_space=agent.action_space,
        backend="numpy",
        execution_spec={"seed": spec.seed, "dtype": spec.dtype},
        api_methods=("computed",),
    )
    weights = agent.get_weights()
    executor.set_weights({name: weights[name] for name in executor.get_weights()})
    return executor.program("computed")
