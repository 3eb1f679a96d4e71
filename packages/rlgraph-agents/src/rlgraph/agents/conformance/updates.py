"""Rows: what updates make of the records of a batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.agents.conformance.batches import as_batch, sample_steps
from rlgraph.agents.conformance.subject import AgentUnderTest, NotApplicable, differing
from rlgraph.agents.conformance.table import row
from rlgraph.core import SpecError

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
