"""Batches that users hand to an agent to learn from: transitions, fragments of episodes, rollouts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rlgraph.core import InputError
from rlgraph.core.errors import nearest
from rlgraph.experience.experience import Experience
from rlgraph.experience.nested_arrays import length, stack
from rlgraph.experience.step_reader import StepReader, check_lengths

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
        experience: Experience,
        dtype: str,
        preprocess: Callable[[Any], Any] | None = None,
    ):
        self._reader, self._experience, self._dtype = reader, experience, dtype
        self._preprocess = preprocess

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
        remembers, remembered = self._experience.remembered, fields.pop("remembered", None)
        self._check_fields(
            method, fields, fragments=self._experience.is_sequential or sequence_indices is not None
        )
        check_lengths(method, fields)
        if not length(fields["rewards"]):
            raise InputError(f"{method}: the batch is empty")
        columns = self._reader.numbers(method, fields)
        for name in ("states", "next_states"):
            if name in columns:
                if self._preprocess is not None and self._reader.is_raw(columns[name]):
                    raw = self._reader.convert(method, name, columns[name], self._reader.raw)
                    columns[name] = self._preprocess(raw)  # whose layers may learn from them
                columns[name] = self._reader.convert(method, name, columns[name], self._reader.seen)
        self._reader.check_actions(method, columns["states"], columns["actions"])
        truncations = columns.pop("truncations")
        if remembers or remembered is not None:
            columns["remembered"] = self._reader.remembered(method, remembers, remembered, truncations.shape)
        return self._experience.records_of_batch(method, columns, truncations, sequence_indices, self._dtype)

    def records_of_steps(self, steps: Any) -> dict[str, Any]:
        """Steps as `Agent.import_observations` takes them, as records.

        Raises:
            InputError: as `records`.
        """
        columns = dict(steps) if isinstance(steps, Mapping) else columns_of(list(steps))
        sequence_indices = columns.pop("sequence_indices", [])
        return self.records("import_observations", columns, sequence_indices)

    def _check_fields(self, method: str, fields: Mapping[str, Any], fragments: bool) -> None:
        known = {*FIELDS, "truncations", *self._experience.batch_options}
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
