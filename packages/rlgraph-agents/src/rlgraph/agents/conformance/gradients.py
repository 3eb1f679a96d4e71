"""What the policy learns in an update, beside differences of what it should climb."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rlgraph.agents.agent import Agent
from rlgraph.agents.conformance.batches import as_batch, sample_steps
from rlgraph.agents.conformance.probes import actors_log_probabilities, values_of_parts
from rlgraph.agents.conformance.subject import CATEGORY, AgentUnderTest, perturbed
from rlgraph.agents.conformance.targets import alike_targets
from rlgraph.spaces import Space

#: The cosine of the angle between a step and the gradient is at least this.
ALONG = 0.999


def expect_no_advantage(
    subject: AgentUnderTest, agent: Agent, batch: Mapping[str, Any], options: Mapping[str, Any]
) -> None:
    """A policy that learns from rollouts stays as it is where no action is better than what values say.

    Args:
        agent: one whose values are those of the batch.
        options: of agents whose updates are plain steps.
    """
    algorithm = agent.learner.graph.algorithm
    has_values = any("get_state_values" in part.api_methods() for part in algorithm.sub_components.values())
    if not (agent.learner.experience.is_sequential and has_values):
        return
    weights, scope = agent.get_weights(), f"{algorithm.policy.scope_path}/"
    learner = subject.make(agent.action_space, **options)
    # The policy is the first one: another may have learned all that the batch teaches.
    before = {
        name: x if name.startswith(scope) else weights[name] for name, x in learner.get_weights().items()
    }

    def moved(rewards: np.ndarray) -> float:
        learner.set_weights(before)
        learner.update({**batch, "rewards": rewards})
        after = learner.get_weights()
        return max(
            float(np.abs(x - before[name]).max()) for name, x in after.items() if name.startswith(scope)
        )

    rewards = batch["rewards"]
    batch = {**batch, "actions": np.broadcast_to(batch["actions"][0, 0], batch["actions"].shape)}
    odd = rewards + np.random.default_rng(1).choice([-1.0, 1.0], rewards.shape)
    still, usual = moved(rewards), moved(odd)
    assert still <= 0.3 * usual, (
        f"where rewards are what the values of states say, whatever the action, an update moves the policy by "
        f"{still:.2g}, and by {usual:.2g} where rewards are larger or smaller by 1; expected much less: no action has "
        "an advantage. Usual causes: the policy learns from returns instead of advantages; the discount, the next "
        "value or the end in advantages is another one than in the targets of values"
    )


def expect_gradient_of_policy(subject: AgentUnderTest, actions: Space, options: Mapping[str, Any]) -> None:
    """A step of the policy goes along the gradient of what it climbs, found by differences.

    Of rollouts that is the mean of returns times log-probabilities, where values are 0; of critics, their value of the
    policy's actions, or where these value no actions but those of records, the log-probabilities of these.

    Args:
        options: of agents whose updates are plain steps, without an entropy; ``discount`` is among them.
    """
    agent = subject.make(actions, **options)
    algorithm = agent.learner.graph.algorithm
    is_stochastic = hasattr(algorithm.policy, "get_log_likelihood")
    agent.set_weights(perturbed(agent))
    if agent.learner.experience.is_sequential and is_stochastic:
        objective = _returns_of(agent, options["discount"])
    elif (
        alike_targets(agent) and algorithm.values_next_actions and (actions == CATEGORY or not is_stochastic)
    ):
        objective = _values_of(agent)
    elif alike_targets(agent) and is_stochastic and not algorithm.values_next_actions:
        objective = _likelihood_of(agent)
    else:
        return
    columns, climbed = objective
    scope = f"{algorithm.policy.scope_path}/"
    before = agent.executor.get_weights(trainable_only=True)
    name = min(
        (n for n in before if n.startswith(scope) and before[n].ndim == 1), key=lambda n: before[n].size
    )
    agent.update(as_batch(agent, columns))
    step = agent.get_weights()[name] - before[name]
    gradient = np.zeros_like(step)
    for i in range(len(step)):
        sides = []
        for change in (1e-4, -1e-4):
            moved = before[name].copy()
            moved[i] += change
            agent.set_weights({**before, name: moved})
            sides.append(climbed())
        gradient[i] = (sides[0] - sides[1]) / 2e-4
    along = float(step @ gradient / (np.linalg.norm(step) * np.linalg.norm(gradient) + 1e-300))
    assert along >= ALONG, (
        f"the step of {name} in an update is {_unit(step)} but for its length; expected {_unit(gradient)}, along the "
        "gradient of the mean of returns times log-probabilities (values are 0), of the critics' values of the "
        "policy's actions, or of the log-probabilities of records whose advantages are all 0. Usual causes: the "
        "probability is there for its logarithm; advantages are not discounted sums of rewards; the loss of the policy "
        "is not an expectation over its actions; stop_gradient is around too much, or too little; records without an "
        "advantage weigh 0 instead of exp(0)"
    )


def _unit(vector: np.ndarray) -> list[float]:
    return np.round(vector / (np.linalg.norm(vector) + 1e-300), 3).tolist()


def _returns_of(agent: Agent, discount: float) -> tuple[dict[str, Any], Callable[[], float]]:
    """Steps, and the mean of their returns times the log-probabilities of their actions; sets values to 0."""
    columns = sample_steps(agent, length=4, width=8)
    columns["terminals"][-1] = True
    returns = columns["rewards"].copy()
    for i in reversed(range(len(returns) - 1)):
        returns[i] += discount * returns[i + 1]
    _expect_explained_variance(agent, columns, returns)
    _set_values_to_0(agent)
    return columns, lambda: float(np.mean(returns.ravel() * _log_probabilities(agent, columns)))


def _expect_explained_variance(agent: Agent, columns: dict[str, Any], returns: np.ndarray) -> None:
    if "explained_variance" not in agent.learner.graph.algorithm.metrics:
        return
    before, scope = agent.get_weights(), f"{agent.learner.graph.algorithm.policy.scope_path}/"
    agent.set_weights({name: x for name, x in perturbed(agent).items() if not name.startswith(scope)})
    values = next(iter(values_of_parts(agent).values()))(columns["states"].reshape(-1, 4), None)
    expected = 1.0 - np.var(returns.ravel() - values) / np.var(returns)
    found = agent.update(as_batch(agent, columns))["explained_variance"]
    agent.set_weights(before)
    assert abs(found - expected) <= 1e-4, (
        f"the metric explained_variance is {found:.4f}; expected {expected:.4f}, 1 - Var(returns - values) / "
        "Var(returns). Usual causes: values and returns are exchanged; they are those after the update"
    )


def _likelihood_of(agent: Agent) -> tuple[dict[str, Any], Callable[[], float]]:
    """Steps without rewards, and the mean of the log-probabilities of their actions; sets values to 0."""
    columns = sample_steps(agent, length=4, width=8)
    columns["rewards"][:], columns["terminals"][:] = 0.0, True
    _set_values_to_0(agent)
    return columns, lambda: float(np.mean(_log_probabilities(agent, columns)))


def _set_values_to_0(agent: Agent) -> None:
    scope = f"{agent.learner.graph.algorithm.policy.scope_path}/"
    followers = tuple(f"{target.followed.scope_path}/" for alike in alike_targets(agent) for target in alike)
    learning = agent.executor.get_weights(trainable_only=True)
    values = {
        name: np.zeros_like(x)
        for name, x in agent.get_weights().items()
        if name.startswith(followers) or (name in learning and not name.startswith(scope))
    }
    agent.set_weights(values)


def _log_probabilities(agent: Agent, columns: dict[str, Any]) -> np.ndarray:
    states, taken = (columns[name].reshape(-1, *columns[name].shape[2:]) for name in ("states", "actions"))
    return np.asarray(actors_log_probabilities(agent)(states, taken))


def _values_of(agent: Agent) -> tuple[dict[str, Any], Callable[[], float]]:
    """Steps, and what critics, set equal, say of the actions of the policy in their states."""
    weights = agent.get_weights()
    for several in alike_targets(agent):
        first, *others = (f"{target.source.scope_path}/" for target in several)
        for scope in others:
            weights |= {
                name.replace(first, scope, 1): x for name, x in weights.items() if name.startswith(first)
            }
    agent.set_weights(weights)
    columns = sample_steps(agent, length=4, width=8)
    columns["terminals"][:] = True
    states = columns["states"].reshape(-1, 4)
    taken = agent.get_actions(states, use_exploration=False)
    scopes = [target.source.scope for several in alike_targets(agent) for target in several]
    critic = next(values for scope, values in values_of_parts(agent).items() if scope in scopes)
    categories = np.arange(CATEGORY.num_categories or 0)
    of_all = critic(states, taken) if agent.action_space == CATEGORY else None

    def climbed() -> float:
        if of_all is None:
            return float(np.mean(critic(states, agent.get_actions(states, use_exploration=False))))
        log_probabilities = actors_log_probabilities(agent)
        logs = [log_probabilities(states, np.full(len(states), action)) for action in categories]
        return float(np.mean(np.sum(np.exp(np.stack(logs, axis=-1)) * of_all, axis=-1)))

    return columns, climbed
