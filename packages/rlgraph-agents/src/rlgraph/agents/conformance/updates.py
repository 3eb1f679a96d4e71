"""Rows: what updates make of the records of a batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.agents.agent import Agent
from rlgraph.agents.conformance.batches import as_batch, sample_steps, updated
from rlgraph.agents.conformance.probes import PROBE, large_rewards, sum_of_priorities
from rlgraph.agents.conformance.subject import (
    CATEGORY,
    AgentUnderTest,
    NotApplicable,
    acted,
    differing,
    expect_same,
    sample_states,
)
from rlgraph.agents.conformance.table import row
from rlgraph.agents.conformance.targets import alike_targets
from rlgraph.core import NumericalError, SpecError
from rlgraph.experience.nested_arrays import map_arrays

#: Options with which an update is one step on the whole batch, without draws.
WHOLE: dict[str, Any] = {
    "num_epochs": 1,
    "num_minibatches": 1,
    "target_noise": 0.0,
    "policy_spec": {"noisy": False},
    "optimizer_spec": {"learning_rate": 0.01},
}
PRIORITIZED = {"type": "prioritized_replay", "capacity": 300, "alpha": 1.0}


def prioritized_options(subject: AgentUnderTest) -> dict[str, Any]:
    """Options that give it a memory with priorities.

    Raises:
        NotApplicable: it takes none.
    """
    refusal: Exception | None = None
    choices: list[dict[str, Any]] = [{}, {"memory_spec": PRIORITIZED}]
    for options in choices:
        try:
            agent = subject.make(**options)
        except SpecError as error:
            refusal = error
            continue
        if agent.learner.experience.is_prioritized:
            return {**options, "n_step": 1, "normalize_states": False}
    reason = "it learns from rollouts" if refusal is None else str(refusal).splitlines()[0]
    raise NotApplicable(f"the agent has no memory with priorities: {reason}")


@row("updates")
def importance_weights(subject: AgentUnderTest) -> None:
    """A record with importance weight 0 teaches nothing, and one with a small weight less than one with 1."""
    subject.need_learning()
    options = prioritized_options(subject)
    columns = sample_steps(subject.make(**options))

    def learned(weight: float, reward: float) -> dict[str, np.ndarray]:
        agent = subject.make(**options)
        batch = as_batch(agent, columns)
        batch["rewards"][5] = reward
        batch["importance_weights"] = np.ones(len(batch["rewards"]))
        batch["importance_weights"][5] = weight
        for _ in range(2):
            agent.update(batch)
        return dict(agent.executor.get_weights(trainable_only=True))

    changed = differing(learned(0.0, -1.0), learned(0.0, 7.0))
    assert not changed, (
        f"the reward of a record with importance weight 0 changes what is learned ({changed[0]}); expected no change. "
        "Usual causes: update takes importance_weights, and does not hand them to the loss; the loss is the plain mean"
    )
    assert differing(learned(0.1, 7.0), learned(1.0, 7.0)), (
        "importance weights 0.1 and 1 of a record teach the same; expected different weights of the agent. Usual "
        "cause: update does not hand importance_weights to the loss"
    )
    agent = subject.make(**{**PLANE, **options})
    if _spread(agent, 1) <= NOTHING:
        _expect_proportion(agent)


def _expect_proportion(agent: Agent) -> None:
    start, batch = agent.get_weights(), as_batch(agent, sample_steps(agent))

    def change(weight: float) -> float:
        agent.set_weights(start)
        agent.update({**batch, "importance_weights": np.full(len(batch["rewards"]), weight)})
        after = agent.executor.get_weights(trainable_only=True)
        return float(np.sqrt(sum(np.square(x - start[name]).sum() for name, x in after.items())))

    half, whole = change(0.5), change(1.0)
    assert abs(half - 0.5 * whole) <= 1e-3 * whole, (
        f"with importance weights of 0.5 an update by plain gradient descent is {half / whole:.3f} times as long as "
        "with 1; expected half as long. Usual cause: errors are weighted before they are squared"
    )


@row("updates")
def priorities(subject: AgentUnderTest) -> None:
    """A record with a large error is drawn more often from a memory with priorities."""
    subject.need_learning()
    options = prioritized_options(subject)
    if subject.is_taught:
        raise NotApplicable("the agent learns from data sets")
    options["memory_spec"] = {**(options.get("memory_spec") or {}), "capacity": 300, "alpha": 1.0}
    _expect_plain_priorities(subject, options)
    agent = subject.make(
        kind=large_rewards(subject.kind), **{**options, "optimizer_spec": {"learning_rate": 0.03}}
    )
    # One state, one action, one reward of many is another: it stays unexpected.
    number, steps = 4, 16
    states = np.repeat(sample_states(1), number, 0)
    actions, extras = acted(agent, states)
    actions = map_arrays(lambda x: np.repeat(x[:1], number, 0), actions)
    for step in range(steps):
        rewards, ends = np.zeros(number), np.ones(number, bool)
        rewards[0] = 1.5 if step == 0 else 0.0
        agent.observe(states, actions, rewards, ends, states, batched=True, **extras)
    shares = [agent.update()[PROBE] for _ in range(60)][40:]
    share, uniform = float(np.mean(shares)), 1.0 / (number * steps)
    assert share > 4.0 * uniform, (
        f"of 64 records one has another reward than the rest, in the same state: it is {share:.3f} of what is drawn in "
        f"updates 41 to 60, and {uniform:.3f} of the memory; expected more than 4 times as much. Usual causes: update "
        "returns no priorities, or those of the loss as a whole; they are divided by the importance of the record"
    )


def _expect_plain_priorities(subject: AgentUnderTest, options: dict[str, Any]) -> None:
    agent, found = subject.make(kind=sum_of_priorities(subject.kind), **options), []
    start, batch = agent.get_weights(), as_batch(agent, sample_steps(agent))
    for weight in (1.0, 0.1):
        agent.set_weights(start)
        weights = np.full(len(batch["rewards"]), weight)
        found.append(float(agent.update({**batch, "importance_weights": weights})[PROBE]))
    assert abs(found[0] - found[1]) <= 0.2 * abs(found[0]), (  # where updates draw, they differ a little
        f"the priorities that an update returns add up to {found[0]:.4g} with importance weights of 1, and to "
        f"{found[1]:.4g} with 0.1; expected the same: they are the sizes of errors, whatever these count in the loss. "
        "Usual cause: the weighted losses are returned"
    )


@row("updates")
def order_of_records(subject: AgentUnderTest) -> None:
    """The order of the records of a batch changes nothing, nor does that of steps in time that are all last ones."""
    subject.need_learning()
    columns = sample_steps(subject.make(), length=8, width=4)
    weights, again = (updated(subject, columns, 1, seed=seed, **WHOLE) for seed in (5, 5))
    expect_same(weights, again, "the weights after the same update, made twice,")
    reverse = map_arrays(lambda x: x[:, ::-1], columns)
    turned = updated(subject, reverse, 1, **WHOLE)
    moved = differing(weights, turned, 1e-6)
    if moved and subject.action_space != CATEGORY:
        raise NotApplicable("its updates draw actions for each record, as those of continuous actor-critics")
    assert not moved, (
        f"an update on the same steps in another order of environments ends with other weights, such as {moved[0]}; "
        "expected the same but for rounding. Usual causes: fields of a record are reshaped in different orders; rows "
        "are standardized or summed along the wrong axis"
    )
    columns["terminals"][:] = True
    backwards = map_arrays(lambda x: x[::-1], columns)
    weights, turned = (updated(subject, x, 1, **WHOLE) for x in (columns, backwards))
    moved = differing(weights, turned, 1e-6)
    assert not moved, (
        f"where every step ends its episode, an update on the same steps in another order of time ends with other "
        f"weights, such as {moved[0]}; expected the same but for rounding. Usual cause: what a step counts depends on "
        "its row in the rollout, such as a power of the discount"
    )


#: Plain descent without draws, with steps so small that the loss is a plane; nothing but the mean looks at a batch.
PLANE: dict[str, Any] = {
    **WHOLE,
    "optimizer_spec": {"type": "sgd", "learning_rate": 1e-5},
    "standardize_advantages": False,
    "normalize_states": False,
    "n_step": 1,
}
NOTHING = 1e-12


@row("updates")
def records_teach_alone(subject: AgentUnderTest) -> None:
    """What two batches together change is the mean of what each changes; where updates draw, each record has a draw."""
    subject.need_learning()
    if "optimizer_spec" not in subject.option_names:
        raise NotApplicable("the agent has no option optimizer_spec")
    for actions in subject.action_spaces:
        agent = subject.make(actions, **PLANE)
        if _spread(agent, 1) <= NOTHING:
            _expect_the_mean(agent)
        else:
            _expect_own_draws(agent)
        if "target_noise" in subject.option_names:
            _expect_own_draws(subject.make(actions, **{**PLANE, "target_noise": 0.3, "policy_delay": 1}))


def _expect_the_mean(agent: Agent) -> None:
    columns, start = sample_steps(agent, length=8, width=4), agent.get_weights()

    def change(given: Any) -> dict[str, np.ndarray]:
        agent.set_weights(start)
        agent.update(as_batch(agent, given))
        return {name: x - start[name] for name, x in agent.executor.get_weights(trainable_only=True).items()}

    halves = [change(map_arrays(lambda x, w=wide: x[:, w], columns)) for wide in (slice(2), slice(2, 4))]
    together, mean = change(columns), {name: (x + halves[1][name]) / 2 for name, x in halves[0].items()}
    largest = max(np.abs(x).max() for x in mean.values())
    moved = differing(together, mean, 1e-3 * largest)
    assert not moved, (
        f"with plain gradient descent an update on two batches together changes {moved[0]} by another number than the "
        "mean of updates on each of them; expected the same to a thousandth: what a record teaches does not depend on "
        "the others. Usual causes: a loss is the sum over the batch, not the mean; a mean or deviation of the batch is "
        "in the loss of a record. An algorithm that is meant so says it in test_exceptions"
    )


def _expect_own_draws(agent: Agent) -> None:
    alone, many = _spread(agent, 1), _spread(agent, 64)
    assert many <= max(0.5 * alone, NOTHING), (
        f"what an update changes spreads by {alone:.2g} on one record, and by {many:.2g} on 64 times the same; "
        f"expected about {alone / 8:.2g}: 64 draws have a steadier mean. Usual cause: noise of the shape of one action "
        "is drawn for the whole batch"
    )


def _spread(agent: Agent, copies: int) -> float:
    """The largest deviation of what 12 updates on copies of one record change, each of the same weights."""
    start, found = _with_equal_critics(agent), []
    columns = map_arrays(lambda x: np.repeat(x, copies, axis=1), sample_steps(agent, length=1, width=1))
    for _ in range(12):
        agent.set_weights(start)
        agent.update(as_batch(agent, columns))
        after = agent.executor.get_weights(trainable_only=True)
        found.append(np.concatenate([(x - start[name]).ravel() for name, x in after.items()]))
    return float(np.std(found, axis=0).max())


def _with_equal_critics(agent: Agent) -> dict[str, np.ndarray]:
    """Its weights, where targets that are alike are equal: it does not matter which of them are drawn."""
    weights = agent.get_weights()
    for several in alike_targets(agent):
        for target in several[1:]:
            first, scope = several[0].followed.scope_path, target.followed.scope_path
            weights |= {
                name.replace(first, scope, 1): x
                for name, x in weights.items()
                if name.startswith(f"{first}/")
            }
    return weights


@row("updates")
def every_reward_counts(subject: AgentUnderTest) -> None:
    """Rewards that are larger by a millionth teach something else; very large ones teach, too."""
    subject.need_learning()
    if "discount" not in subject.option_names:
        raise NotApplicable("the agent has no option discount: it learns from no rewards")
    options: dict[str, Any] = {"optimizer_spec": {"type": "sgd", "learning_rate": 0.1}}
    columns = sample_steps(subject.make())
    more = {**columns, "rewards": columns["rewards"] + 1e-6}
    assert differing(updated(subject, columns, 1, **options), updated(subject, more, 1, **options)), (
        "an update on rewards that are all larger by 1e-6 ends with the same weights; expected others. Usual causes: "
        "rewards or targets are rounded, such as to the nearest atom of a distribution; rewards are not used; their "
        "sign is used instead"
    )
    for robust in (False, True) if "huber_loss" in subject.option_names else (False,):
        agent = subject.make(n_step=1, huber_loss=robust, **options)
        before = agent.executor.get_weights(trainable_only=True)
        agent.update(as_batch(agent, {**columns, "rewards": np.full_like(columns["rewards"], 1000.0)}))
        assert differing(before, agent.executor.get_weights(trainable_only=True)), (
            f"an update on rewards of 1000 changes no weight{' with huber_loss' if robust else ''}; expected large "
            "errors to teach most. Usual cause: the error is clipped, whose derivative is 0, instead of its derivative"
        )


@row("updates")
def schedules(subject: AgentUnderTest) -> None:
    """A learning rate that falls to 0 lets it learn at the start of training, and changes nothing at its end."""
    subject.need_learning()
    if "optimizer_spec" not in subject.option_names:
        raise NotApplicable("the agent has no option optimizer_spec")
    for progress in (0.0, 1.0):
        agent = subject.make(n_step=1, optimizer_spec={"learning_rate": [0.01, 0.0]})
        agent.set_progress(progress)
        before = agent.executor.get_weights(trainable_only=True)
        agent.update(as_batch(agent, sample_steps(agent)))
        moved = differing(before, agent.executor.get_weights(trainable_only=True))
        assert bool(moved) == (progress == 0.0), (
            f"with optimizer_spec {{'learning_rate': [0.01, 0.0]}} an update at progress {progress:g} changes "
            f"{f'weights, such as {moved[0]}' if moved else 'nothing'}; expected that it learns at 0, and not at 1. "
            "Usual causes: progress is not handed to the optimizer's step; it is 1 - progress; a second optimizer has "
            "other options"
        )


ONE_ITEM = "Usual cause: a deviation of one item, or a mean of none, divides by zero: add an epsilon"


@row("updates")
def batches_of_one(subject: AgentUnderTest) -> None:
    """An update on a single record, or a rollout of one step, gives finite weights."""
    subject.need_learning()
    columns = sample_steps(subject.make(), length=1, width=1)
    try:
        weights = updated(subject, columns, 2, num_minibatches=1)
    except NumericalError as error:
        raise AssertionError(f"an update on a single step is not finite: {error}. {ONE_ITEM}") from None
    broken = [name for name, x in weights.items() if x.dtype.kind == "f" and not np.isfinite(x).all()]
    assert not broken, f"not finite after updates on a single step: {', '.join(broken)}. {ONE_ITEM}"


@row("updates")
def every_part_learns(subject: AgentUnderTest) -> None:
    """Updates change every trainable variable."""
    subject.need_learning()
    agent = subject.make(n_step=1)
    before = agent.executor.get_weights(trainable_only=True)
    for seed in range(6):
        agent.update(as_batch(agent, sample_steps(agent, seed)))
    after = agent.executor.get_weights(trainable_only=True)
    still = [name for name, x in before.items() if np.array_equal(x, after[name])]
    assert not still, (
        f"six updates do not change {', '.join(still)}; expected every trainable variable to learn. Usual causes: "
        "the part is missing in the variables of the optimizer's step; its loss is left out of the sum; stop_gradient "
        "is around too much; of noise: the loss is computed with training False or None. What "
        "should not learn is created with trainable=False"
    )
