"""Batches that users hand to an agent to learn from: transitions, fragments of episodes, rollouts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rlgraph.agents.experience.replay import Replay
from rlgraph.agents.nested_arrays import length, map_arrays, row, stack
from rlgraph.agents.step_reader import StepReader, check_lengths
from rlgraph.core import InputError
from rlgraph.core.errors import nearest

#: What a batch consists of.
FIELDS = ("states", "actions", "rewards", "terminals", "next_states")


class BatchReader:
    """External batches as records.

    Args:
        reader: converts fields.
        experience: what the agent learns from.
        dtype: of weights.
        preprocess: a function of raw states; None: there is none, or it keeps state.
    """

    def __init__(
        self,
        reader: StepReader,
        experience: Any,
        dtype: str,
        preprocess: Callable[[Any], Any] | None = None,
    ):
        self._reader, self._experience, self._dtype = reader, experience, dtype
        self._preprocess = preprocess
        self._options: list[str] = []
        if isinstance(experience, Replay):
            self._options += ["discounts"] * (experience.n_step > 1)
            self._options += ["importance_weights"] * experience.is_prioritized

    def records(self, method: str, batch: Any, sequence_indices: Any) -> dict[str, Any]:
        """An external batch as records: of a memory transitions ``[B]``, else a rollout ``[T, N]``.

        Args:
            method: named in errors.
            batch, sequence_indices: see `Agent.update`. Fragments become transitions of up to `n_step` steps.

        Raises:
            InputError: a field is missing, unknown, or does not fit; or nothing is left.
        """
        if not isinstance(batch, Mapping):
            raise InputError(
                f"{method}: expected a dict of {', '.join(FIELDS)}, given {type(batch).__name__}"
            )
        fields = {name: value for name, value in batch.items() if value is not None}
        if "sequence_indices" in fields:
            if sequence_indices is not None:
                raise InputError(
                    f"{method}: sequence_indices are given twice, as an argument and in the batch"
                )
            sequence_indices = fields.pop("sequence_indices")
        is_rollout = not isinstance(self._experience, Replay)
        self._check_fields(method, fields, fragments=is_rollout or sequence_indices is not None)
        check_lengths(method, fields)
        if not length(fields["rewards"]):
            raise InputError(f"{method}: the batch is empty")
        columns = self._reader.numbers(method, fields)
        for name in ("states", "next_states"):
            if name in columns:
                if self._preprocess is not None and self._reader.is_raw(columns[name]):
                    columns[name] = self._preprocess(columns[name])
                columns[name] = self._reader.convert(method, name, columns[name], self._reader.seen)
        truncations = columns.pop("truncations")
        if is_rollout:
            return self._rollout(method, columns, truncations, sequence_indices)
        n_step, discount = self._experience.n_step, self._experience.discount
        if sequence_indices is None:
            if n_step > 1 and "discounts" not in columns:
                columns["discounts"] = np.full_like(columns["rewards"], discount**n_step)
            return columns
        ends = fragment_ends(method, sequence_indices, len(truncations)) | truncations
        columns = n_step_transitions(columns, ends, n_step, discount)
        if not len(columns["rewards"]):
            raise InputError(
                f"{method}: no row of the batch has a next state: give next_states, or longer fragments"
            )
        return columns

    def records_of_steps(self, steps: Any) -> dict[str, Any]:
        """Steps as `Agent.import_observations` takes them, as records.

        Raises:
            InputError: as `records`.
        """
        columns = dict(steps) if isinstance(steps, Mapping) else columns_of(list(steps))
        sequence_indices = columns.pop("sequence_indices", [])
        return self.records("import_observations", columns, sequence_indices)

    def _rollout(
        self, method: str, columns: dict[str, Any], truncations: np.ndarray, sequence_indices: Any
    ) -> dict[str, Any]:
        """Fields ``[T, N, ...]``, or ``[T, ...]`` of one environment, as a rollout.

        A row without a next state, the last of a fragment that goes on, has no weight.
        """
        ends, weights = columns["terminals"] | truncations, np.ones(truncations.shape, self._dtype)
        if truncations.ndim == 1:
            ends = ends | fragment_ends(method, sequence_indices, len(ends))
            if "next_states" not in columns:
                following = np.minimum(np.arange(len(ends)) + 1, len(ends) - 1)
                columns["next_states"] = row(columns["states"], following)
                weights[ends & ~columns["terminals"]] = 0.0
            records = {**columns, "ends": ends, "weights": weights}
            return {name: map_arrays(lambda x: x[:, None], column) for name, column in records.items()}
        if truncations.ndim != 2 or "next_states" not in columns:
            raise InputError(
                f"{method}: expected fields [T, ...] of one environment, or [T, N, ...] with next_states, given "
                f"rewards of shape {list(truncations.shape)}"
            )
        return {**columns, "ends": ends, "weights": weights}

    def _check_fields(self, method: str, fields: Mapping[str, Any], fragments: bool) -> None:
        known = {*FIELDS, "truncations", *self._options}
        unknown = [name for name in fields if name not in known]
        missing = [
            name for name in FIELDS if name not in fields and not (fragments and name == "next_states")
        ]
        if not unknown and not missing:
            return
        hint = f"; there is no {unknown[0]!r}. {nearest(str(unknown[0]), known)}" if unknown else ""
        if missing == ["next_states"]:
            hint += "; where the rows are consecutive steps, sequence_indices= says so, and no next_states are needed"
        given = ", ".join(map(str, fields)) or "nothing"
        raise InputError(f"{method}: expected a batch of {', '.join(FIELDS)}, given {given}{hint}")


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
    """Transitions of the rows of fragments: batches whose rows are consecutive steps.

    A row whose next state nobody knows, the last of a fragment that goes on, is left out.

    Args:
        batch: ``states, actions, rewards, terminals`` [B, ...], and ``next_states`` [B, ...] or none: the next rows.
        ends: rows behind which another fragment begins [B] bool; a terminal row and the last one are such in any case.
        n_step: rewards summed into one transition.
        discount: discount factor of one step.

    Returns:
        ``states, actions, rewards, terminals, next_states``, and ``discounts`` [B'] if `n_step` is above 1; the other
        columns of `batch` for the rows that are left.
    """
    rewards, terminals = np.asarray(batch["rewards"]), np.asarray(batch["terminals"], bool)
    rows = np.arange(length(rewards))
    ends = np.asarray(ends, bool) | terminals
    ends[-1:] = True
    # The last row of the fragment that each row belongs to.
    last = np.flatnonzero(ends)[np.cumsum(ends) - ends]
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


def columns_of(steps: Sequence[Any]) -> dict[str, Any]:
    """Steps, dicts with the same keys, as one dict of columns.

    Raises:
        InputError: there are none, or their keys differ.
    """
    if not steps:
        raise InputError("import_observations: the list of steps is empty")
    for index, step in enumerate(steps):
        if not isinstance(step, Mapping) or step.keys() != steps[0].keys():
            given = ", ".join(map(str, step)) if isinstance(step, Mapping) else type(step).__name__
            raise InputError(
                f"import_observations: expected dicts with the same keys; step {index} has {given}, unlike step 0"
            )
    return {name: stack([step[name] for step in steps]) for name in steps[0]}
