"""Checkpoints of agents: variables, counters, experience, and the spec that makes the agent."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlgraph.learning.agent_spec import stored_spec
from rlgraph.experience.nested_arrays import flatten_arrays, unflatten_arrays
from rlgraph.learning.stored_meaning import MEANING, MEANING_KEY, check_scales, meaning_of
from rlgraph.components.common.argument_checks import check_flag
from rlgraph.core import CheckpointError, SpecError
from rlgraph.core.checkpoint import find_checkpoint, read_beside, read_manifest
from rlgraph.core.specs.documents import check_limits

if TYPE_CHECKING:
    from rlgraph.agents.agent import Agent

#: The key of the spec in a checkpoint's facts.
AGENT = "agent"


def store_agent(agent: Agent, directory: str | Path, memory: bool, facts: Mapping[str, Any]) -> Path:
    """Write a checkpoint; see `Agent.store_model`."""
    memory = check_flag(memory, "store_model.memory")
    return agent.executor.save(
        directory,
        facts={**agent.progress_facts(), AGENT: _readable_spec(agent), MEANING_KEY: MEANING, **facts},
        host=memory and agent.learner.keeps_memory,
        beside=flatten_arrays(agent.experience_state()) if memory else None,
    )


def _readable_spec(agent: Agent) -> dict[str, Any] | None:
    """The spec of an agent; None if it has no JSON form, or is larger than what `Agent.load` reads."""
    spec = stored_spec(type(agent), agent._arguments)
    try:
        check_limits(spec, AGENT)
    except SpecError:
        return None
    return spec


def load_agent(agent: Agent, directory: str | Path) -> None:
    """Restore a checkpoint; see `Agent.load_model`."""
    source = find_checkpoint(directory)
    there = read_manifest(source).facts
    check_scales(agent, there, source)
    beside = read_beside(source)
    try:
        facts = agent.executor.load(directory, required_facts=agent.progress_facts())
    except CheckpointError as error:
        if "/~stream" in str(error) and meaning_of(there) < MEANING:
            raise CheckpointError(
                f"{error}. Version 0.2 or older stored it, whose dropout dropped nothing: use Agent.load, or give it "
                "rate 0"
            ) from None
        if "lacks the facts learner" not in str(error):
            raise
        raise CheckpointError(
            f"{error}: agents of rlgraph-agents 0.2 and older kept other variables and counters; train anew, or use "
            "that version"
        ) from None
    agent.learner.progress[()] = facts["time_percentage"]
    agent.learner.set_counters(facts["learner"])
    agent._user.set_facts(facts["observer"])
    agent.reset_env_buffers()
    state = unflatten_arrays(beside or {})  # without what is empty
    agent.learner.set_state(state.get("learner", {}))
    observed = state.get("observer", {})
    agent._observer.set_state(observed)
    if "actor" in observed:
        agent._user.set_state(observed["actor"])
    is_own = agent.learner.continues_exactly and (agent.group is None or agent.group.rank == 0)
    agent._sampler, agent._resumed = None, state.get("sampler") if is_own else None
