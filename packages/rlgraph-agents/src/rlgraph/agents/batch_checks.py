"""What users hand to agents, held against the Spaces: steps to observe, and batches to learn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np

from rlgraph.agents.nested_arrays import length, with_batch_rank
from rlgraph.agents.preprocessing import Preprocessing
from rlgraph.agents.sequences import fragment_ends
from rlgraph.agents.transitions import n_step_transitions
from rlgraph.core import GraphExecutor, InputError
from rlgraph.core.errors import nearest
from rlgraph.core.graph.nodes import Input
from rlgraph.core.graph.plan import Leaf
from rlgraph.core.graph.values import Value, describe
from rlgraph.core.ops.tensor_spec import TensorSpec
from rlgraph.core.runtime.input_conversion import converter
from rlgraph.spaces import BoxSpace, IntBox, Space, SpaceError

#: What a transition consists of, in the order of the root's ``insert_records``.
FIELDS = ("states", "actions", "rewards", "terminals", "next_states")

#: Further fields of a batch, where the root's update has Spaces for them.
OPTIONS = ("discounts", "importance_weights")


class Reader:
    """Arguments and batches as columns: arrays as the memory takes them, of one length.

    Args:
        executor: its root has ``insert_records`` with the `FIELDS`.
        state_space, action_space: of the task.
        preprocessing: what states go through; None: nothing.
    """

    def __init__(
        self,
        executor: GraphExecutor,
        state_space: Space,
        action_space: Space,
        preprocessing: Preprocessing | None,
    ):
        self.preprocessing = preprocessing
        preprocessed = state_space if preprocessing is None else preprocessing.space
        self._spaces = {
            "states": state_space,
            "preprocessed_states": preprocessed,
            "actions": action_space,
        }
        if preprocessing is None:
            self._spaces["next_states"] = state_space
        self._executor = executor
        self._action_boxes = action_space.flatten()
        self._expected = {field: executor.built.values[Input("insert_records", field)] for field in FIELDS}
        tensors = {field: spec for field, spec in self._expected.items() if isinstance(spec, TensorSpec)}
        self._dtypes = {field: np.dtype(spec.dtype) for field, spec in tensors.items()}
        self._axes = {field: spec.shape[1:] for field, spec in tensors.items()}

    # Steps.

    def steps(self, given: Mapping[str, Any], batched: bool) -> dict[str, Any]:
        """The arguments of `Agent.observe` that are not None, checked, each with a batch rank.

        ``states``, ``preprocessed_states`` and ``next_states`` still have to go through `preprocessed`.

        Raises:
            InputError: something does not fit, or is missing.
        """
        columns = {name: value for name, value in given.items() if value is not None}
        if ("states" in columns) == ("preprocessed_states" in columns):
            raise InputError("observe: expected either states or preprocessed_states")
        for name in ("actions", "rewards"):
            if name not in columns:
                raise InputError(f"observe: argument {name} is missing")
        for name, value in columns.items():
            if name in self._spaces:
                columns[name] = self._with_rank(name, value, self._spaces[name], batched)
            elif not batched:
                columns[name] = with_batch_rank(value)
        check_lengths("observe", columns)
        columns = self._numbers("observe", columns)
        cut = columns["truncations"] & ~columns["terminals"]
        if "next_states" not in columns and cut.any():
            raise InputError(
                f"observe: row {int(np.argmax(cut))} is truncated: give next_states, the states that were reached; "
                "the value of what an episode was cut off from is taken there"
            )
        return columns

    def _with_rank(self, name: str, value: Any, space: Space, batched: bool) -> Any:
        if (
            type(value) is np.ndarray
            and isinstance(space, BoxSpace)
            and value.ndim == len(space.shape) + batched
        ):
            return value if batched else value[None]
        batch, was_added = force_batch("observe", name, value, space)
        if was_added == batched:
            expected = "a batch, given one" if batched else "one, given a batch"
            raise InputError(f"observe: argument {name}: expected {expected}; batched={batched}")
        return batch

    def preprocessed(self, columns: Mapping[str, Any], env_ids: list[str], batched: bool) -> dict[str, Any]:
        """Checked `columns` with preprocessed ``states``, and with ``next_states`` where they are known.

        Raises:
            InputError: states do not fit, or are raw ones that a preprocessor with state would be shown twice.
        """
        left = dict(columns)
        if "states" in left:
            if self.preprocessing is not None:
                self._preprocess_both(left, env_ids)
            left["states"] = self._convert("observe", "states", left["states"])
        else:
            # Before the preprocessor is shown anything: what is refused here must not have moved it.
            seen = self._convert("observe", "states", left.pop("preprocessed_states"), "preprocessed_states")
            left["states"] = seen
            if self.preprocessing is not None:
                self._preprocess_next(left, env_ids, batched)
        if "next_states" in left:
            left["next_states"] = self._convert("observe", "next_states", left["next_states"])
        return left

    def _preprocess_both(self, columns: dict[str, Any], env_ids: list[str]) -> None:
        assert self.preprocessing is not None
        if self.preprocessing.has_state:
            raise InputError(
                "observe: the preprocessor remembers states, and is to see each of them once: give "
                "preprocessed_states=, as get_actions(..., extra_returns='preprocessed_states') returns them"
            )
        for name in ("states", "next_states"):
            if name in columns:
                batch, _ = force_batch("observe", name, columns[name], self.preprocessing.raw)
                columns[name] = self.preprocessing(batch, env_ids)

    def _preprocess_next(self, columns: dict[str, Any], env_ids: list[str], batched: bool) -> None:
        """Raw next states beside preprocessed states: of whole batches they cannot be mistaken, of one step they may.

        A preprocessor with state is shown the next state of a single step with the next `get_actions`, which then
        completes this step; only at a truncation nobody else will.
        """
        preprocessing, next_states = self.preprocessing, columns.get("next_states")
        assert preprocessing is not None
        is_raw = preprocessing.is_raw if batched else preprocessing.fits_raw
        if next_states is not None and not is_raw(next_states):
            return
        if not preprocessing.has_state:
            if next_states is not None:
                columns["next_states"] = preprocessing(next_states, env_ids)
            return
        if batched:
            if next_states is not None:
                raise InputError(
                    "observe: next_states are raw, and the preprocessor remembers states: give what "
                    "preprocess_states(next_states) returns, and the same to the next get_actions"
                )
            return
        terminal, truncated = bool(columns["terminals"][0]), bool(columns["truncations"][0])
        if next_states is not None:
            if truncated and not terminal:
                columns["next_states"] = preprocessing(next_states, env_ids)
            else:
                del columns["next_states"]
        if terminal or truncated:
            preprocessing.reset(env_ids)

    def as_recorded(self, columns: Sequence[Any], truncations: Any) -> tuple[Any, ...] | None:
        """Columns of steps, in the order of `rows_of`, where they are plain arrays with the dtypes of the records.

        Rewards may be any floats. At the least doubt None: then `steps` says what is wrong, or makes it right.

        Args:
            columns: the `FIELDS` with batch rank; the next states may be None.
            truncations: [B] bool, one bool where there is one row, or None.
        """
        states, actions, rewards, terminals, next_states = columns
        if (
            type(rewards) is not np.ndarray
            or rewards.dtype.kind != "f"
            or not isfinite(sum(rewards.tolist()))
        ):
            return None
        rows, rewards = len(rewards), rewards.astype(self._dtypes["rewards"], copy=False)
        truncated = np.zeros(rows, bool) if truncations is None else np.atleast_1d(truncations)
        reached = states if next_states is None else next_states
        for field, value in zip(FIELDS, (states, actions, rewards, terminals, reached), strict=True):
            if not self._is_recorded(field, value) or len(value) != rows:
                return None
        if truncated.dtype != bool or truncated.shape != (rows,):
            return None
        if next_states is None and (truncated > terminals).any():
            return None
        return states, actions, rewards, terminals, truncated, next_states

    def _is_recorded(self, field: str, value: Any) -> bool:
        """Whether `value` is an array with the dtype and the axes of a field of the records."""
        return (
            type(value) is np.ndarray
            and field in self._axes
            and value.dtype == self._dtypes[field]
            and value.shape[1:] == self._axes[field]
        )

    # Batches.

    def batch(
        self, method: str, update: str, batch: Any, sequence_indices: Any, n_step: int, discount: float
    ) -> dict[str, Any]:
        """An external batch as transitions.

        Args:
            method: named in errors.
            update: the root's API method that takes the fields.
            batch, sequence_indices: see `Agent.update`. Fragments become transitions of up to `n_step` steps.
            n_step, discount: of the agent.

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
        self._check_fields(method, update, fields, fragments=sequence_indices is not None)
        check_lengths(method, fields)
        if not length(fields["rewards"]):
            raise InputError(f"{method}: the batch is empty")
        columns = self._numbers(method, fields)
        truncations = columns.pop("truncations")
        for name in ("states", "next_states"):
            if name in columns:
                columns[name] = self._convert(method, name, self._raw_to_preprocessed(columns[name]))
        if sequence_indices is None:
            return columns
        ends = fragment_ends(method, sequence_indices, len(truncations)) | truncations
        columns = n_step_transitions(columns, ends, n_step, discount)
        if not len(columns["rewards"]):
            raise InputError(
                f"{method}: no row of the batch has a next state: give next_states, or longer fragments"
            )
        return columns

    def _check_fields(self, method: str, update: str, fields: Mapping[str, Any], fragments: bool) -> None:
        values, parameters = (
            self._executor.built.values,
            self._executor.built.graph.methods[update].parameters,
        )
        options = {
            name for name in OPTIONS if name in parameters and values.get(Input(update, name)) is not None
        }
        known = {*FIELDS, "truncations", *options}
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

    def _raw_to_preprocessed(self, states: Any) -> Any:
        """A batch that can only be raw goes through a preprocessor without state."""
        preprocessing = self.preprocessing
        if preprocessing is None or preprocessing.has_state or not preprocessing.is_raw(states):
            return states
        return preprocessing(states, [])

    # Both.

    def _numbers(self, method: str, columns: dict[str, Any]) -> dict[str, Any]:
        """`columns` with everything but the states checked and converted; ends that were not given are none."""
        rows = length(columns["rewards"])
        left = {"terminals": np.zeros(rows, bool), "truncations": np.zeros(rows, bool), **columns}
        for name in ("actions", "rewards", "terminals"):
            left[name] = self._convert(method, name, left[name])
        left["truncations"] = self._convert(method, "terminals", left["truncations"], "truncations")
        if not isfinite(sum(left["rewards"].tolist())) and not np.isfinite(left["rewards"]).all():
            place = int(np.argmin(np.isfinite(left["rewards"])))
            raise InputError(
                f"{method}: the reward of row {place} is {left['rewards'][place]}: rewards must be finite"
            )
        self._check_actions(method, left["actions"])
        return left

    def _check_actions(self, method: str, actions: Any) -> None:
        for path, array in self._spaces["actions"].flatten_sample(actions).items():
            box = self._action_boxes[path]
            if isinstance(box, IntBox):
                outside = _outside(array, box)
            else:
                outside = ~np.isfinite(array)
            if outside.any():
                place = int(np.argwhere(outside)[0, 0])
                where = f" of {path!r}" if path else ""
                raise InputError(
                    f"{method}: the action{where} in row {place}, {array[place]}, is not in {box!r}"
                )

    def _convert(self, method: str, field: str, value: Any, name: str | None = None) -> Any:
        """`value` with the dtypes of a field of the records.

        Raises:
            InputError: another structure, shape or kind of numbers.
        """
        if self._is_recorded(field, value):
            return value
        expected = self._expected[field]

        def converted(spec: Value, part: Any, path: tuple[Any, ...]) -> Any:
            if isinstance(spec, dict):
                return {key: converted(item, part[key], (*path, key)) for key, item in spec.items()}
            if isinstance(spec, tuple):
                return tuple(converted(item, part[i], (*path, i)) for i, item in enumerate(spec))
            return converter(method, Leaf(Input(method, name or field), path), spec)(part)

        try:
            return converted(expected, value, ())
        except (LookupError, TypeError):
            raise InputError(
                f"{method}: argument {name or field}: expected {describe(expected)}, given {value!r}"
            ) from None


def _outside(array: np.ndarray, box: IntBox) -> np.ndarray:
    """Which elements lie beyond the bounds."""
    low, high = box.low, box.high
    below = np.zeros(array.shape, bool) if low is None else array < low
    return below if high is None else below | (array >= high)


def force_batch(method: str, argument: str, value: Any, space: Space) -> tuple[Any, bool]:
    """A value with a batch rank, and whether it had to be added.

    Raises:
        InputError: it does not fit `space`.
    """
    try:
        return space.force_batch(value)
    except SpaceError as error:
        raise InputError(f"{method}: argument {argument}: {error}") from None


def check_lengths(method: str, columns: Mapping[str, Any]) -> None:
    """Columns of different lengths would be paired wrongly, in silence.

    Raises:
        InputError: they differ, or one is no batch at all.
    """
    try:
        lengths = {name: length(column) for name, column in columns.items()}
    except TypeError:
        raise InputError(
            f"{method}: batches differ in length: one of {', '.join(columns)} is a single value"
        ) from None
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{number} {name}" for name, number in lengths.items())
        raise InputError(f"{method}: batches differ in length: {shown}")
