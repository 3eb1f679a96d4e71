"""Rows: who acts, where, and by which probabilities."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from rlgraph.agents.agent import Agent
from rlgraph.agents.conformance.batches import as_batch, sample_steps
from rlgraph.agents.conformance.probes import PROBE, actors_log_probabilities, log_probability_errors
from rlgraph.agents.conformance.subject import (
    CATEGORY,
    FLOATS,
    AgentUnderTest,
    NotApplicable,
    acted,
    differing,
    expect_same,
    perturbed,
    sample_states,
)
from rlgraph.agents.conformance.table import row
from rlgraph.experience.messages import unpack_message
from rlgraph.experience.nested_arrays import map_arrays

DRAWS = 4000


def need_probabilities(agent: Agent) -> None:
    policy = getattr(agent.learner.graph.algorithm, "policy", None)
    if not hasattr(policy, "get_log_likelihood"):
        raise NotApplicable("its policy is not stochastic: there is no get_log_likelihood")


def check_log_probabilities(
    subject: AgentUnderTest,
    dtype: str,
    tolerance: float,
    options: dict[str, Any],
    sample: Callable[[np.random.Generator], Any] = lambda rng: rng.normal(size=(4, 4)),
    choose: Callable[[Any], Any] | None = None,
) -> None:
    """Observe steps whose reward is the log-probability that the actor has; the update compares it with its own.

    Args:
        subject, dtype: the agent, and its floats.
        tolerance: by how much the two may differ.
        options: of the agent.
        sample: states of 4 environments.
        choose: legal actions in states; None: the agent's.
    """
    subject.need_learning()
    need_probabilities(subject.make())
    # Rewards must reach the update as they are, one by one.
    kind, plain = log_probability_errors(subject.kind), {"n_step": 1, **options}
    agent = subject.make(kind=kind, dtype=dtype, **plain)
    agent.set_weights(weights := perturbed(agent))
    probabilities, found, updates = actors_log_probabilities(agent), [], 0
    rng, number = np.random.default_rng(0), 4

    def draw() -> Any:
        return map_arrays(lambda x: x.astype(dtype) if x.dtype.kind == "f" else x, sample(rng))

    states = draw()
    for _ in range(32):
        actions, extras = acted(agent, states)
        actions = actions if choose is None else choose(states)
        before = extras.get("internals")
        rewards = probabilities(states, actions, *(() if before is None else (before,)))
        remembered = extras.get("remembered", {}).get("log_likelihood")
        if remembered is not None and choose is None:
            apart = float(np.abs(remembered - rewards).max())
            assert apart <= tolerance * max(1.0, np.abs(rewards).max()), (
                f"{dtype}: act remembers log-probabilities that differ by {apart:.2g} from those of the actions that "
                "it returns. Usual cause: action and log-probability come from two draws"
            )
        reached = draw()
        # No episode ends: what a network remembers of the steps before belongs to the next one.
        agent.observe(
            states=states,
            actions=actions,
            rewards=rewards,
            terminals=np.zeros(number, bool),
            next_states=reached,
            batched=True,
            **extras,
        )
        found.append(np.abs(rewards).max())
        states = reached
        if (results := agent.update_if_due()) is not None:
            error = results[PROBE]
            limit = tolerance * max(1.0, max(found))
            assert error <= limit, (
                f"{dtype}: log-probabilities of stored actions differ by {error:.2g} between actor and update, "
                f"expected at most {limit:.2g}"
            )
            agent.set_weights(weights)  # steps that are stored for long stay probable as they were
            updates += 1
    assert updates > 1, f"{updates} updates in {32 * number} steps"


@row("acting", on_every_backend=True)
def log_probabilities(subject: AgentUnderTest) -> None:
    """The actor's log-probability of each stored action is what the update computes: to 1e-5, in float64 to 1e-12."""
    check_log_probabilities(subject, "float32", 1e-5, {})
    check_log_probabilities(subject, "float64", 1e-12, {})
    _expect_little_of_the_improbable(subject)


def _expect_little_of_the_improbable(subject: AgentUnderTest) -> None:
    """Of algorithms with the log-probabilities of the policy that acted: what only that one does teaches nothing."""
    agent = subject.make(weight_entropy=0.0, optimizer_spec={"learning_rate": 0.01})
    columns = sample_steps(agent)
    likelihood = columns.get("remembered", {}).get("log_likelihood")
    if likelihood is None:
        return
    likelihood += 60.0
    before = agent.executor.get_weights(trainable_only=True)
    agent.update(as_batch(agent, columns))
    moved = differing(before, agent.executor.get_weights(trainable_only=True), 1e-9)
    assert not moved, (
        f"an update on actions that are exp(60) times less probable now than when they were taken changes {moved[0]}; "
        "expected no change. Usual causes: the importance ratio is upside down; it has no effect, or is missing in the "
        "gradient of the policy"
    )


@row("acting", on_every_backend=True)
def log_probabilities_with_memory(subject: AgentUnderTest) -> None:
    """The same with a recurrent network: an update starts from the internal states that the actor had."""
    check_log_probabilities(subject, "float64", 1e-12, subject.recurrent_options)


@row("acting")
def draws_follow_the_probabilities(subject: AgentUnderTest) -> None:
    """Actions are drawn as often as the log-probabilities say that the update computes."""
    for actions in subject.action_spaces:
        agent = subject.make(actions)
        need_probabilities(agent)
        _expect_draws_that_follow(agent)


def _expect_draws_that_follow(agent: Agent) -> None:
    if agent.action_space == FLOATS:
        grid: np.ndarray = np.linspace(-1.0, 1.0, 2001)[1:-1, None]
    else:
        grid = np.arange(CATEGORY.num_categories or 0)
    agent.set_weights(perturbed(agent))
    state = sample_states(1)
    actions = agent.get_actions(np.repeat(state, DRAWS, 0))
    probabilities = np.exp(actors_log_probabilities(agent)(np.repeat(state, len(grid), 0), grid))
    probabilities = probabilities / probabilities.sum()
    for bound in grid if len(grid) < 10 else np.linspace(-0.8, 0.8, 9):
        expected = min(probabilities[np.ravel(grid <= bound)].sum(), 1.0)  # rounding may exceed 1
        drawn = np.mean(np.ravel(actions <= bound))
        limit = 5.0 * np.sqrt(expected * (1.0 - expected) / DRAWS) + 2e-3
        assert abs(drawn - expected) <= limit, (
            f"{drawn:.3f} of {DRAWS} drawn actions are at most {bound}, expected {expected:.3f}"
        )


def _actions_of(agent: Agent, explore: bool) -> list[Any]:
    actor = agent.actor
    actor.resize(5)
    return [actor.act(sample_states(5, seed), explore) for seed in range(6)]


@row("acting", on_every_backend=True)
def backends_act_the_same(subject: AgentUnderTest) -> None:
    """The backend acts as NumPy does, with the same draws, after the same weights were set."""
    agents = [subject.make(backend=backend, acting="backend") for backend in (subject.backend, "numpy")]
    on_backend, on_numpy = (agent.get_weights() for agent in agents)
    expect_same(on_backend, on_numpy, "the starting values on the backend and on NumPy", 1e-12)
    weights = perturbed(agents[0])
    for agent in agents:
        agent.set_weights(weights)
    for explore in (True, False):
        found = [_actions_of(agent, explore) for agent in agents]
        what = "drawn actions" if explore else "greedy actions"
        expect_same(tuple(found[0]), tuple(found[1]), f"{what} of the backend and of NumPy", 1e-9)


@row("acting", on_every_backend=True)
def an_actor_alone(subject: AgentUnderTest) -> None:
    """An actor built alone on NumPy from its pickled spec, and sent the weights, acts as the agent does."""
    agent = subject.make()
    agent.set_weights(perturbed(agent))
    agent.set_progress(0.5)
    alone = pickle.loads(pickle.dumps(agent.learner.spec)).build(5)
    alone.set_weights(agent.learner.weights_message())
    progress = float(alone.progress)
    assert progress == 0.5, (
        f"schedules of an actor alone are at {progress} of training, those of the agent at 0.5"
    )
    for explore in (True, False):
        local = _actions_of(agent, explore)
        remote = [alone.act(sample_states(5, seed), explore) for seed in range(6)]
        what = "drawn actions" if explore else "greedy actions"
        expect_same(tuple(local), tuple(remote), f"{what} of the agent and of an actor alone", 1e-9)


@row("acting")
def a_spec_is_data(subject: AgentUnderTest) -> None:
    """The spec of its actors survives pickling unchanged, and is smaller than 10 kB."""
    spec = subject.make().learner.spec
    message = pickle.dumps(spec)
    assert len(message) < 10_000, f"the pickled spec has {len(message)} bytes"
    assert pickle.loads(message) == spec, "the spec is another one after pickling"


@row("acting")
def weights_without_the_optimizer(subject: AgentUnderTest) -> None:
    """The weights that actors are sent are those that acting reads: no optimizer state, no target network."""
    agent = subject.make()
    _, arrays = unpack_message(agent.learner.weights_message())
    sent = sum(array.size for array in arrays.values())
    read, before = 0, agent.learner.weights_message()
    for name, value in agent.get_weights().items():
        if value.dtype.kind != "f":
            continue
        agent.set_weights({name: value + 1.0})
        is_sent = agent.learner.weights_message() != before
        agent.set_weights({name: value})
        read += value.size if is_sent else 0
        slots = ("moments", "momentum", "optimizer", "target")
        assert not (is_sent and any(slot in name for slot in slots)), f"{name} is sent to actors"
    assert sent == read, f"{sent} numbers are sent, of which {read} are values of variables"
