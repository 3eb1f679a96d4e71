"""Rows: what updates make of the states that follow."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.agents.agent import Agent
from rlgraph.agents.conformance.batches import LENGTH, as_batch, sample_steps, updated
from rlgraph.agents.conformance.exploration import entropy_of
from rlgraph.agents.conformance.gradients import expect_gradient_of_policy, expect_no_advantage
from rlgraph.agents.conformance.probes import values_of_parts
from rlgraph.agents.conformance.subject import CATEGORY, AgentUnderTest, NotApplicable, differing
from rlgraph.agents.conformance.table import row
from rlgraph.agents.conformance.targets import targets_of
from rlgraph.agents.conformance.updates import PLANE
from rlgraph.spaces import FloatBox

#: Steps, as (time, environment), that end an episode; and the last ones of a batch, whose episodes go on after it.
TERMINATED, TRUNCATED, LAST = ((2, 0), (5, 1)), ((4, 0), (3, 1)), ((LENGTH - 1, 0), (LENGTH - 1, 1))


@row("values")
def states_after_ends(subject: AgentUnderTest) -> None:
    """The state after a termination changes nothing; with a discount, that after a truncation or the last step does."""
    subject.need_learning()
    columns = sample_steps(subject.make())
    for name, ends in {"terminals": TERMINATED, "truncations": TRUNCATED}.items():
        for step in ends:
            columns[name][step] = True
    rng = np.random.default_rng(1)

    def with_other_states_after(ends: tuple[tuple[int, int], ...]) -> dict[str, np.ndarray]:
        reached = columns["next_states"].copy()
        for step in ends:
            reached[step] = rng.normal(size=4)
        return updated(subject, {**columns, "next_states": reached})

    weights = updated(subject, columns)
    # Distributions of returns that a termination makes certain sum to 1 but for rounding.
    changed = differing(weights, with_other_states_after(TERMINATED), 1e-7)
    assert not changed, (
        f"two updates on batches that differ only in the states after terminations end with other weights, such as "
        f"{changed[:1]}; expected the same: no value follows a termination. Usual causes: the value of the next state "
        "is not multiplied by 1 - terminals; ends are taken for terminals"
    )
    if "discount" not in subject.option_names:
        return  # it values no states that follow
    assert differing(weights, with_other_states_after(TRUNCATED)), (
        "two updates on batches that differ only in the states after truncations end with the same weights; expected "
        "others: a truncated episode would have gone on, so the value of the state that it reached counts. Usual "
        "causes: truncations are taken for terminations; sums over time go on over them, into the next episode; the "
        "discount is missing; values of next states are not used"
    )
    assert differing(weights, with_other_states_after(LAST)), (
        "two updates on batches that differ only in the states after the last steps end with the same weights; "
        "expected others: the episode goes on, so the value of the state that was reached counts. Usual cause: a "
        "rollout that is cut is taken for one that ends"
    )
    agent = subject.make(n_step=3)
    if "discounts" in agent.learner.experience.batch_options:
        batch = as_batch(agent, columns)
        one, other = (
            _learned(subject, {**batch, "discounts": np.full(len(batch["rewards"]), x)}) for x in (0.9, 0.1)
        )
        assert differing(one, other), (
            "two updates on batches that differ only in discounts, the factors of the values of next states, end with "
            "the same weights; expected others. Usual cause: the option discount is used instead, once for all steps"
        )
    if "n_step_next_states" in agent.learner.experience.state_fields:
        _expect_value_after_steps(subject)


def _expect_value_after_steps(subject: AgentUnderTest) -> None:
    """Of records with fields of several steps: the state that the last of these steps reached counts."""

    def learned(reached: float) -> dict[str, np.ndarray]:
        columns = sample_steps(subject.make(), length=3, width=1)
        columns["next_states"][-1] = reached
        batch = as_batch(subject.make(), columns)
        # Only the first step counts, whose own next state is the same.
        batch |= {"sequence_indices": np.arange(3) == 2, "importance_weights": np.array([1.0, 0.0, 0.0])}
        return _learned(subject, batch)

    assert differing(learned(0.0), learned(1.0)), (
        "with n_step 3, updates on three consecutive steps, of which the first one counts, end with the same weights, "
        "whatever state the third one reached; expected others. Usual cause: the target of several steps has the value "
        "of the state after the first one, next_states instead of n_step_next_states"
    )


def _learned(subject: AgentUnderTest, batch: dict[str, Any]) -> dict[str, np.ndarray]:
    agent = subject.make(n_step=3)
    agent.update(batch)
    return dict(agent.get_weights())


#: Rewards of the steps of a chain; each is the same for all actions, and the last one ends the episode.
REWARDS, DISCOUNT = (0.3, 1.5, 0.8), 0.5
#: Options with which values are learned soon, and are those of rewards only.
SOON: dict[str, Any] = {
    "discount": DISCOUNT,
    "n_step": 1,
    "optimizer_spec": {"learning_rate": 0.02},
    "normalize_states": False,
    "tau": 1.0,
    "sync_tau": 1.0,
    "policy_delay": 1,
    "initial_alpha": 1e-6,
    "weight_entropy": 0.0,
}
#: Options without an entropy in the loss of a policy, and with returns as advantages where values are 0.
QUIET = {
    "weight_entropy": 0.0,
    "initial_alpha": 1e-9,
    "gae_lambda": 1.0,
    "discount": DISCOUNT,
    "policy_delay": 1,
}
#: Columns of a batch, updates at most, and how near values have to come.
COLUMNS, UPDATES, NEAR = 8, 600, 0.04


@row("values")
def discounted_rewards(subject: AgentUnderTest) -> None:
    """In a chain of three steps with known rewards, cut or not, values come within 0.04 of the discounted sums."""
    if "discount" not in subject.option_names:
        raise NotApplicable("the agent has no option discount")
    subject.need_learning()
    for actions in subject.action_spaces:
        agent = subject.make(actions, **SOON)
        batch = _expect_discounted_rewards(agent)
        expect_no_advantage(subject, agent, batch, {**SOON, **PLANE})
        expect_gradient_of_policy(subject, actions, {**PLANE, **QUIET})
        if _is_q_learning(agent):
            _expect_best_actions(subject.make(actions, **SOON))
        if {"num_quantiles", "huber_delta"} <= subject.option_names:
            _expect_expectiles(subject.make(actions, **SOON, num_quantiles=5, huber_delta=1.0))
    if "initial_alpha" not in subject.option_names:
        return
    for actions in (CATEGORY, PAIR):
        if subject.refusal(actions) is None:
            _expect_entropy(subject.make(actions, **{**SOON, "initial_alpha": WEIGHT}))


def _expect_discounted_rewards(agent: Agent) -> dict[str, Any]:
    """Returns the batch that it has learned from."""
    steps = len(REWARDS)
    columns = sample_steps(agent, length=steps, width=COLUMNS)
    where = np.eye(4)
    columns["states"][:] = where[:steps, None]
    columns["next_states"][:] = where[1 : steps + 1, None]
    columns["rewards"][:] = np.array(REWARDS)[:, None]
    columns["terminals"][-1] = True
    # In half of the columns the first two steps are exchanged, each in an episode of its own that was cut.
    for name in ("states", "next_states", "rewards"):
        columns[name][:2, COLUMNS // 2 :] = columns[name][1::-1, COLUMNS // 2 :]
    columns["truncations"][:2, COLUMNS // 2 :] = True
    space, rng = agent.action_space.with_batch_rank(), np.random.default_rng(0)
    if "remembered" not in columns:
        columns["actions"][:] = [space.sample(COLUMNS, rng=rng) for _ in REWARDS]
    batch = as_batch(agent, columns)
    expected = np.zeros(steps)
    for i in reversed(range(steps)):
        expected[i] = REWARDS[i] + (DISCOUNT * expected[i + 1] if i + 1 < steps else 0.0)
    if not values_of_parts(agent):
        raise NotApplicable("no part has the API method get_state_values, state_action_value or get_q_values")
    found: dict[str, Any] = {}
    for _ in range(UPDATES // 50):
        _learn(agent, batch)
        found = {
            name: np.reshape(values(where[:steps], columns["actions"][:, 0]), (steps, -1)).mean(axis=1)
            for name, values in values_of_parts(agent).items()
        }
        if all(np.abs(values - expected).max() <= NEAR for values in found.values()):
            return batch
    name, values = max(found.items(), key=lambda item: np.abs(item[1] - expected).max())
    raise AssertionError(
        f"after {UPDATES} updates the values of {name} in a chain of {steps} steps with rewards {REWARDS} and discount "
        f"{DISCOUNT} are {np.round(values, 2).tolist()}; expected {np.round(expected, 2).tolist()}. Usual causes: the "
        "discount is missing, or another one; rewards are shifted by a step; a value follows the termination; "
        "targets do not move; returns go on over ends; the loss of values is left out, or has the wrong sign; the loss "
        "of the policy moves values, since advantages lack stop_gradient; a mean over the batch is in the value of a "
        "record; targets are made of standardized advantages; a projection on atoms loses probability"
    )


def _is_q_learning(agent: Agent) -> bool:
    policy = agent.learner.graph.algorithm.policy
    return hasattr(policy, "get_q_values") and not agent.learner.experience.is_sequential


#: A task of three states and three actions, each with the rewards of its records and the state that follows (None is
#: the end). The best action differs by state. One reward is random, where 0 is the most frequent one, and the mean is
#: the best.
TASK: tuple[tuple[tuple[tuple[float, ...], int | None], ...], ...] = (
    (((0.5,), 1), ((0.15,), 2), ((0.62,), None)),
    (((0.0,), None), ((0.0, 0.0, 0.0, 1.0, 1.0), None), ((0.1,), None)),
    (((0.2,), None), ((0.4,), None), ((0.9,), None)),
)


def _expect_best_actions(agent: Agent) -> None:
    """The best actions are those of value iteration (Sutton & Barto, 2018, eq. 4.10)."""
    best = np.zeros((3, 3))
    for _ in TASK:
        best = np.array(
            [
                [
                    np.mean(r) + (0.0 if after is None else DISCOUNT * best[after].max())
                    for r, after in actions
                ]
                for actions in TASK
            ]
        )
    records = [
        (state, action, reward, after)
        for state, actions in enumerate(TASK)
        for action, (rewards, after) in enumerate(actions)
        for reward in np.resize(rewards, 5)
    ]
    columns, where = sample_steps(agent, length=len(records), width=1), np.eye(4)
    columns["states"][:, 0] = [where[state] for state, *_ in records]
    columns["actions"][:, 0] = [action for _, action, *_ in records]
    columns["rewards"][:, 0] = [reward for *_, reward, _ in records]
    columns["terminals"][:, 0] = [after is None for *_, after in records]
    columns["next_states"][:, 0] = [where[3 if after is None else after] for *_, after in records]
    batch = as_batch(agent, columns)
    found = best
    for _ in range(2):
        for _ in range(UPDATES // 100):
            _learn(agent, batch)
        (found,) = (values(where[:3], None) for values in values_of_parts(agent).values())
        if np.array_equal(found.argmax(axis=1), best.argmax(axis=1)):
            return
    raise AssertionError(
        f"after {UPDATES} updates the values of 3 actions in 3 states are {np.round(found, 2).tolist()}; expected "
        f"{np.round(best, 2).tolist()} by value iteration with discount {DISCOUNT}, or others with the same best "
        "actions. Usual causes: the action that follows is chosen in another state, or not by its mean; errors or "
        "returns are clipped; the reward of the last step is lost"
    )


#: The share of rewards of 1, where the others are 0.
CHANCE = 0.25


def _expect_expectiles(agent: Agent) -> None:
    """Where errors are at most huber_delta, quantiles of rewards 0 and 1 are expectiles (Newey & Powell, 1987).

    The derivative of the loss is 0 where ``f p (1 - x) = (1 - f) (1 - p) x``, of a fraction f and a share p of ones.
    """
    columns = sample_steps(agent, length=16, width=1)
    for name in ("states", "next_states"):
        columns[name][:] = np.eye(4)[0]
    columns["actions"][:] = columns["actions"][0]
    columns["rewards"][:, 0], columns["terminals"][:] = np.arange(16) < 16 * CHANCE, True
    batch, action = as_batch(agent, columns), columns["actions"][0]
    fractions = (np.arange(5) + 0.5) / 5
    shares = fractions * CHANCE, (1.0 - fractions) * (1.0 - CHANCE)
    expected, found = float(np.mean(shares[0] / (shares[0] + shares[1]))), 0.0
    for done in range(50, UPDATES + 1, 50):
        _learn(agent, batch)
        if done < UPDATES // 4:
            continue  # values may pass by
        (values,) = (values(columns["states"][0], action) for values in values_of_parts(agent).values())
        found = float(np.ravel(values)[action[0] if values.ndim == 2 else 0])
        if abs(found - expected) <= 0.5 * NEAR:
            return
    raise AssertionError(
        f"after {UPDATES} updates on rewards of 1 in a quarter of all records, and 0 in the others, the mean of 5 "
        f"quantiles is {found:.3f}; expected {expected:.3f}, where the losses of all fractions are least. Usual "
        "causes: the fractions lie along the targets instead of the quantiles that learn; f and 1 - f are exchanged"
    )


def _learn(agent: Agent, batch: dict[str, Any]) -> None:
    """Fifty updates, and what is due after them."""
    for _ in range(50):
        agent.update(batch)
        for method in agent.learner.graph.algorithm.schedule:
            agent.call_api_method(method)


#: Two floats: what is a sum over them is not their mean.
PAIR = FloatBox(-1.0, 1.0, shape=(2,))
WEIGHT, REWARD, ENTROPY_NEAR = 1.0, 0.3, 0.1


def _expect_entropy(agent: Agent) -> None:
    """Values have the entropy of the policy in reached states besides, times its weight, over all parts of actions."""
    targets = targets_of(agent)
    critics = tuple(
        f"{x.source.scope_path}/" for x in targets if x.source is not agent.learner.graph.algorithm.policy
    )
    followers = tuple(f"{x.followed.scope_path}/" for x in targets)
    # All but the critics stays as it is: the policy, the weight of its entropy, and targets that are 0.
    held = agent.executor.get_weights(trainable_only=True)
    held = {name: x for name, x in held.items() if not name.startswith(critics)}
    held |= {name: np.zeros_like(x) for name, x in agent.get_weights().items() if name.startswith(followers)}
    columns = sample_steps(agent, length=1, width=64)
    columns["next_states"][:] = columns["next_states"][:, :1]
    columns["rewards"][:] = REWARD
    batch, reached = as_batch(agent, columns), columns["next_states"][0]
    entropy = entropy_of(agent, reached)
    expected, found = REWARD + DISCOUNT * WEIGHT * entropy, {}
    for _ in range(UPDATES // 50):
        for _ in range(50):
            agent.set_weights(held)
            agent.update(batch)
        found = {
            name: np.mean(values(columns["states"][0], columns["actions"][0]))
            for name, values in values_of_parts(agent).items()
        }
        if all(abs(value - expected) <= ENTROPY_NEAR for value in found.values()):
            return
    raise AssertionError(
        f"with targets of 0, rewards of {REWARD}, discount {DISCOUNT} and initial_alpha {WEIGHT}, values of critics "
        f"are {', '.join(f'{x:.2f}' for x in found.values())} for {agent.action_space}; expected {expected:.2f}, as "
        f"the entropy of the policy in the states that were reached is {entropy:.2f}. Usual causes: the entropy is "
        "missing in the target of values, or has the wrong sign; the log-probability of an action is the mean of its "
        "elements instead of the sum; it is that of the actions that were taken; it lacks the derivative of tanh"
    )
