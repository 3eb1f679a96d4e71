"""Batches of fragments: rows that are consecutive steps, of several environments one behind the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlgraph.agents.structures import length, row
from rlgraph.core import InputError


def fragment_ends(method: str, sequence_indices: Any, size: int) -> np.ndarray:
    """Which rows are the last of a fragment, [size] bool; the last row of all always is.

    Args:
        method: named in errors.
        sequence_indices: [size] bool, or the integer indices of the last rows; None: one fragment.
        size: rows of the batch.

    Raises:
        InputError: another length, or indices that are no rows.
    """
    ends = np.zeros(size, bool)
    given = np.asarray([] if sequence_indices is None else sequence_indices)
    if given.shape != (0,):
        if given.dtype == bool and given.shape == (size,):
            ends |= given
        elif given.ndim == 1 and given.dtype.kind in "iu" and ((given >= 0) & (given < size)).all():
            ends[given] = True
        else:
            raise InputError(
                f"{method}: sequence_indices: expected bool[{size}], true at the last row of each fragment, or the "
                f"indices of these rows (0 to {size - 1}), given {given.dtype}{list(given.shape)}"
                + (f" from {given.min()} to {given.max()}" if given.dtype.kind in "iu" and given.size else "")
            )
    ends[size - 1 :] = True
    return ends


def n_step_transitions(
    batch: Mapping[str, Any], ends: np.ndarray, n_step: int, discount: float
) -> dict[str, Any]:
    """Records of the rows of fragments, as `rlgraph.agents.observing` makes them of observed steps.

    A row whose next state nobody knows, the last of a fragment that goes on, is left out.

    Args:
        batch: ``states, actions, rewards, terminals`` [B, ...], and ``next_states`` [B, ...] or none: the next rows.
        ends: rows behind which another fragment begins [B] bool; a terminal row is one of them in any case.
        n_step: rewards summed into one record.
        discount: discount factor of one step.

    Returns:
        ``states, actions, rewards, terminals, next_states``, and ``discounts`` [B'] if `n_step` is above 1; the other
        columns of `batch` for the rows that are left.
    """
    rewards, terminals = np.asarray(batch["rewards"]), np.asarray(batch["terminals"], bool)
    rows = np.arange(length(rewards))
    # The last row of the fragment that each row belongs to.
    last = np.flatnonzero(ends | terminals)[np.cumsum(ends | terminals) - (ends | terminals)]
    known = np.full(len(rows), "next_states" in batch) | terminals
    count = np.minimum(n_step, last - rows + known[last])
    returns, discounts = np.zeros(len(rows)), np.ones(len(rows))
    for step in range(n_step):
        inside = step < count
        returns += np.where(inside, discounts * rewards[np.where(inside, rows + step, 0)], 0.0)
        discounts = np.where(inside, discounts * discount, discounts)
    kept = count > 0
    final = (rows + count - 1)[kept]
    if "next_states" in batch:
        next_states = row(batch["next_states"], final)
    else:
        next_states = row(
            batch["states"], np.where(terminals[final], final, final + 1).clip(max=len(rows) - 1)
        )
    left = {name: row(values, kept) for name, values in batch.items() if name != "next_states"}
    left["rewards"] = returns[kept].astype(rewards.dtype)
    left["terminals"], left["next_states"] = terminals[final], next_states
    return {**left, "discounts": discounts[kept].astype(rewards.dtype)} if n_step > 1 else left
