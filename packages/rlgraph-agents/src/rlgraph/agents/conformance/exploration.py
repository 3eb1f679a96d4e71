"""Rows: what makes an agent explore."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.agents.agent import Agent
from rlgraph.agents.conformance.batches import as_batch, sample_steps
from rlgraph.agents.conformance.probes import actors_log_probabilities
from rlgraph.agents.conformance.subject import (
    CATEGORY,
    FLOATS,
    AgentUnderTest,
    NotApplicable,
    perturbed,
    sample_states,
)
from rlgraph.agents.conformance.table import row

#: Options with the weight of the entropy, and values that let it rule.
ENTROPY = {"weight_entropy": 30.0, "initial_alpha": 30.0}
NOISE, EPSILON = 0.05, 0.9


def _drawn(agent: Agent, states: np.ndarray, explore: bool) -> np.ndarray:
    return np.asarray(agent.get_actions(states, explore))


@row("exploration")
def drawn_actions_vary(subject: AgentUnderTest) -> None:
    """Actions drawn again in the same states differ; greedy ones do not."""
    subject.need_learning()
    agent, states = subject.make(), sample_states(50)
    for explore in (True, False):
        found = [_drawn(agent, states, explore) for _ in range(10)]
        varies = any(not np.array_equal(found[0], each) for each in found)
        if explore and not varies and subject.is_taught:
            raise NotApplicable("the agent learns from data sets, and explores nothing")
        expected = "some that differ" if explore else "the same"
        assert varies == explore, (
            f"{'drawn' if explore else 'greedy'} actions, 10 times in the same 50 states, are "
            f"{'different' if varies else 'all the same'}; expected {expected}. Usual causes: act returns the best "
            "action, or act_greedily a drawn one; the noise of the exploration is not added"
        )


@row("exploration")
def noise_and_entropy(subject: AgentUnderTest) -> None:
    """Noise and epsilon have the size that their schedule says, and the weight of the entropy raises it."""
    subject.need_learning()
    weights = [name for name in ENTROPY if name in subject.option_names]
    if "exploration_spec" in subject.option_names:
        _follows_its_schedule(subject)
    elif not weights:
        raise NotApplicable(f"the agent has no option exploration_spec, {' or '.join(ENTROPY)}")
    for name in weights:
        _is_raised(subject, name, ENTROPY[name])


def _follows_its_schedule(subject: AgentUnderTest) -> None:
    is_noise = subject.action_space == FLOATS
    size = NOISE if is_noise else EPSILON
    spec: dict[str, Any] = {"epsilon_spec": [size, 0.0]}
    if is_noise:
        spec = {"noise_spec": {"stddev": [size, 0.0]}}
    # Noisy layers would explore besides.
    agent = subject.make(exploration_spec=spec, policy_spec={"noisy": False})
    states = np.repeat(sample_states(1), 2000, 0)
    best = _drawn(agent, states, explore=False)
    for progress in (0.0, 0.5, 1.0):
        agent.set_progress(progress)
        drawn, wanted = _drawn(agent, states, explore=True), (1.0 - progress) * size
        if is_noise:
            found, what = float(np.std(drawn - best)), "the deviation of drawn actions from greedy ones"
        else:
            found, what = float(np.mean(drawn != best)), "the share of drawn actions that are not greedy"
            wanted *= 2 / 3  # a random action is the greedy one at times
        assert abs(found - wanted) <= 0.1 * size, (
            f"{what} is {found:.3f} at progress {progress}; expected {wanted:.3f}, by exploration_spec {spec}. Usual "
            "causes: the exploration is left out; progress is not handed on to it; its noise is scaled twice"
        )


def entropy_of(agent: Agent, states: np.ndarray) -> float:
    """The mean entropy of actions in states; of floats estimated."""
    log_probability = actors_log_probabilities(agent)
    if agent.action_space != CATEGORY:
        return -float(np.mean([log_probability(states, _drawn(agent, states, True)) for _ in range(50)]))
    logs = np.stack([log_probability(states, np.full(len(states), action)) for action in range(3)])
    return -float((np.exp(logs) * logs).sum(axis=0).mean())


def _is_raised(subject: AgentUnderTest, name: str, weight: float) -> None:
    options: dict[str, Any] = {"optimizer_spec": {"learning_rate": 0.02}, "normalize_states": False}
    agent = subject.make(**{**options, name: weight})
    agent.set_weights({key: 2.0 * x for key, x in perturbed(agent).items()})
    columns = sample_steps(agent)
    columns["rewards"][:] = 0.0
    columns["terminals"][:] = True
    states = columns["states"].reshape(-1, 4)
    before = entropy_of(agent, states)
    for _ in range(10):
        numbers = agent.update(as_batch(agent, columns))
    if agent.action_space == CATEGORY:
        entropy, most = float(numbers.get("entropy", 0.0)), np.log(CATEGORY.num_categories or 1)
        assert -1e-6 <= entropy <= most + 1e-6, (
            f"the metric entropy of {CATEGORY.num_categories} categories is {entropy:.3f}; expected a number from 0 to "
            f"{most:.3f}. Usual cause: the sign"
        )
    after = entropy_of(agent, states)
    assert after > before + 0.02, (
        f"with {name}: {weight:g} ten updates on steps without rewards change the entropy of actions from {before:.3f} "
        f"to {after:.3f}; expected a rise. Usual causes: the sign of the entropy in the loss: it is a bonus, so a loss "
        "has it with a minus; the option is not passed on"
    )
