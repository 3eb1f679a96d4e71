"""Rows: mistakes, numbers that are not finite, and what is documented."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from rlgraph.agents.agent import Agent
from rlgraph.agents.conformance.subject import AgentUnderTest, acted, expect_same, sample_states
from rlgraph.agents.conformance.table import row
from rlgraph.core import InputError, NumericalError, SpecError
from rlgraph.core.specs.parameters import descriptions_of, parameters_of
from rlgraph.runs.finite_weights import check_finite_weights
from rlgraph.workers.metrics import METRICS


def _observe(agent: Agent, steps: int, **changes: Any) -> None:
    """Steps of two environments, without updates."""
    for step in range(steps):
        states = sample_states(2, step).astype(np.float64)
        actions, extras = acted(agent, states)
        given = {
            **extras,
            "rewards": np.ones(2),
            "terminals": np.zeros(2, bool),
            "next_states": states + 0.1,
            **changes,
        }
        agent.observe(states=states, actions=actions, batched=True, **given)


@row("faults")
def bad_steps(subject: AgentUnderTest) -> None:
    """Steps that are not finite, or have other shapes, are refused by name, and nothing is taken in."""
    agent = subject.make()
    _observe(agent, 1)
    before = agent.timesteps, agent.experience_state()
    for name, value in {
        "rewards": np.array([np.nan, 0.0]),
        "next_states": np.full((2, 4), np.inf),
        "states": np.zeros((2, 5)),
        "actions": None,
        "terminals": np.zeros(3, bool),
    }.items():
        actions, extras = acted(agent, sample_states(2))
        given: dict[str, Any] = {
            **extras,
            "states": sample_states(2),
            "actions": actions,
            "rewards": np.ones(2),
            "terminals": np.zeros(2, bool),
            "next_states": sample_states(2),
            name: value,
        }
        try:
            agent.observe(**given, batched=True)
        except InputError as error:
            assert name[:-1] in str(error), f"a refusal of {name} that does not name it: {error}"
        else:
            raise AssertionError(f"observe takes {name} = {value!r}")
        assert agent.timesteps == before[0], f"a refused step with {name} counts"
        expect_same(before[1], agent.experience_state(), f"the experience before and after a refused {name}")


@row("faults", on_every_backend=True)
def poisoned_updates(subject: AgentUnderTest) -> None:
    """An update of weights that are not finite is named, and they never become a checkpoint of a run."""
    subject.need_learning()
    agent = subject.make()
    check_finite_weights(agent, "best")
    while not (before := agent.update_if_due()):
        _observe(agent, 1)
    _observe(agent, 7)
    _, extras = acted(agent, sample_states(2))
    name = min(agent.executor.get_weights(trainable_only=True))
    agent.set_weights({name: np.full_like(agent.get_weights()[name], np.nan)})
    step = {"rewards": np.ones(2), "terminals": np.zeros(2, bool), "next_states": sample_states(2)}
    space = agent.action_space.with_batch_rank()
    try:
        for _ in range(40):
            agent.observe(states=sample_states(2), actions=space.zeros(2), batched=True, **step, **extras)
            agent.update_if_due()
    except NumericalError as error:
        assert any(metric in str(error) for metric in before), f"a message without the number: {error}"
    else:
        raise AssertionError(f"updates go on although {name} is NaN")
    try:
        check_finite_weights(agent, "best")
    except NumericalError as error:
        assert "checkpoint best is not written" in str(error)
    else:
        raise AssertionError("weights that are not finite become a checkpoint")


@row("faults")
def unknown_options(subject: AgentUnderTest) -> None:
    """An option with a mistake in its name is refused, and the right one is offered."""
    wrong = sorted(subject.option_names - {"state_space", "action_space"})[0]
    try:
        subject.kind.from_spec(
            {"type": subject.kind, wrong + "x": 1},
            state_space=subject.make().state_space,
            action_space=subject.action_space,
            backend="numpy",
        )
    except SpecError as error:
        assert wrong + "x" in str(error) and repr(wrong) in str(error), f"no {wrong!r} offered: {error}"
    else:
        raise AssertionError(f"the option {wrong}x is ignored")


@row("documentation")
def options(subject: AgentUnderTest) -> None:
    """Every option has a type and a description."""
    parameters, described = parameters_of(subject.kind).named, descriptions_of(subject.kind)
    bare = [name for name in parameters if not described.get(name, "").strip()]
    assert not bare, f"without a description: {', '.join(bare)}"
    untyped = [name for name, p in parameters.items() if p.annotation is inspect.Parameter.empty]
    assert not untyped, f"without a type: {', '.join(untyped)}"


@row("documentation")
def metrics(subject: AgentUnderTest) -> None:
    """Every number that an update returns is a declared metric, or named in the docstrings of algorithm and parts."""
    subject.need_learning()
    agent, results = subject.make(), None
    while results is None:
        _observe(agent, 1)
        results = agent.update_if_due()
    texts, known = "\n".join(_documents(agent)), {*METRICS, *agent.learner.graph.algorithm.metrics}
    unknown = [name for name in results if name not in known and not re.search(rf'["`]{name}\b', texts)]
    assert not unknown, f"without a description: {', '.join(unknown)}"


def _documents(agent: Agent) -> Iterator[str]:
    for component in agent.learner.graph.algorithm.walk():
        yield inspect.getdoc(type(component)) or ""
        for method in type(component).api_methods().values():
            yield method.__doc__ or ""
