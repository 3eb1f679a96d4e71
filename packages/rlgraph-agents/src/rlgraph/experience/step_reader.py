"""Steps and batches that users hand to an agent, checked against the Spaces."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np

from rlgraph.core import InputError
from rlgraph.environments.masked_states import MaskedStates
from rlgraph.experience.bounds import in_words, outside
from rlgraph.experience.nested_arrays import length, with_batch_rank
from rlgraph.experience.quick_checks import quick_check, quick_check_of_floats
from rlgraph.spaces import BoolBox, BoxSpace, FloatBox, Space, SpaceError

#: Steps that are checked in every respect, bounds of actions included, before plain arrays are trusted.
CHECKED_STEPS = 1000


class StepReader:
    """Arguments of `observe` and fields of batches as arrays of their Spaces.

    Args:
        states: one raw state.
        seen: one state as the algorithm sees it.
        actions: one action.
        dtype: of rewards and of all floats.
        masked, policy_input_mask: `states` and `seen`, if a part of them is a mask.
    """

    def __init__(
        self,
        states: Space,
        seen: Space,
        actions: Space,
        dtype: str,
        masked: MaskedStates | None = None,
        policy_input_mask: MaskedStates | None = None,
    ):
        self.raw, self.seen = states, seen
        self._masked, self._policy_input_mask = masked, policy_input_mask
        self._actions, self._dtype = actions, np.dtype(dtype)
        #: Steps still to be checked closely.
        self.unchecked = CHECKED_STEPS
        boxes = (seen, actions, seen)
        self._plain = [(self._dtype_of(box), box.shape) for box in boxes if isinstance(box, BoxSpace)]
        #: Whether no number of a batch can be one that `states` refuses.
        self.look_at_raw, self.look_at_seen = quick_check(states, self._dtype), quick_check(seen, self._dtype)
        self._look_at_two = quick_check_of_floats(seen, self._dtype)
        self._look_at_actions = quick_check_of_floats(actions, self._dtype)
        self._acts_in_floats = any(isinstance(box, FloatBox) for box in actions.flatten().values())

    def are_plain(
        self, seen: Any, actions: Any, rewards: Any, terminals: Any, truncations: Any, next_states: Any
    ) -> bool:
        """Whether a batch of steps is arrays as records have them, after the first ones were checked closely."""
        if self.unchecked > 0 or len(self._plain) < 3 or type(rewards) is not np.ndarray:
            return False
        shape = rewards.shape
        for value, (dtype, inner) in zip((seen, actions, next_states), self._plain, strict=True):
            if type(value) is not np.ndarray or value.dtype != dtype or value.shape != shape + inner:
                return False
        for flags in (terminals, truncations):
            if type(flags) is not np.ndarray or flags.dtype != bool or flags.shape != shape:
                return False
        # A few Python numbers cost less than one call of NumPy's.
        if rewards.dtype != self._dtype or not isfinite(sum(rewards.tolist())):
            return False
        return self.look_fine(seen, actions, next_states)

    def look_fine(self, seen: Any, actions: Any, next_states: Any) -> bool:
        """Whether no float of a batch of steps can be infinite or NaN."""
        return self._look_at_two(seen, next_states) and (
            not self._acts_in_floats or self._look_at_actions(actions, actions)
        )

    def states(self, method: str, batch: Any, is_raw: bool) -> Any:
        """States ``[B, ...]`` that somebody gives to act on, checked as `convert` does; most of them stay as they are.

        Raises:
            InputError: another structure, shape or kind of numbers, or a number outside its Space.
        """
        if (self.look_at_raw if is_raw else self.look_at_seen)(batch):
            return batch
        return self.convert(method, "states", batch, self.raw if is_raw else self.seen)

    def columns(self, given: Mapping[str, Any], batched: bool) -> dict[str, Any]:
        """The arguments of `Agent.observe` that are not None, with a batch rank; flags that were not given are False.

        ``next_states`` are as they came.

        Raises:
            InputError: an argument is missing, does not fit, or is not finite; names it, and the row.
        """
        columns = {name: value for name, value in given.items() if value is not None}
        if ("states" in columns) == ("preprocessed_states" in columns):
            raise InputError("observe: expected either states or preprocessed_states")
        for name in ("actions", "rewards"):
            if name not in columns:
                raise InputError(f"observe: argument {name} is missing")
        spaces = {"states": self.raw, "preprocessed_states": self.seen, "actions": self._actions}
        if self.raw == self.seen:
            spaces["next_states"] = self.raw
        for name, value in columns.items():
            if name in spaces:
                columns[name] = _ranked(name, value, spaces[name], batched)
            elif not batched:
                columns[name] = with_batch_rank(value)
        check_lengths("observe", columns)
        columns = self.numbers("observe", columns)
        for name in ("states", "preprocessed_states"):
            if name in columns:
                columns[name] = self.convert("observe", name, columns[name], spaces[name])
                self.check_actions("observe", columns[name], columns["actions"], name == "states")
        cut = columns["truncations"] & ~columns["terminals"]
        if "next_states" not in columns and cut.any():
            raise InputError(
                f"observe: row {int(np.argmax(cut))} is truncated: give next_states, the states that were reached; "
                "the value of what an episode was cut off from is taken there"
            )
        self.unchecked -= len(cut)
        return columns

    def numbers(self, method: str, columns: Mapping[str, Any]) -> dict[str, Any]:
        """`columns` with everything but the states converted; flags that were not given are False.

        Raises:
            InputError: a column does not fit, or a number is not finite; names the row.
        """
        nowhere = np.zeros(np.shape(columns["rewards"]), bool)
        left = {"terminals": nowhere, "truncations": nowhere, **columns}
        left["actions"] = self.convert(method, "actions", left["actions"], self._actions)
        left["rewards"] = rewards = self.convert(method, "rewards", left["rewards"], FloatBox())
        for name in ("terminals", "truncations"):
            left[name] = self.convert(method, name, left[name], BoolBox())
        if not np.isfinite(rewards).all():
            place = tuple(np.argwhere(~np.isfinite(rewards))[0].tolist())
            where = place[0] if len(place) == 1 else place
            raise InputError(
                f"{method}: the reward of row {where} is {rewards[place]}: rewards must be finite"
            )
        return left

    def convert(self, method: str, name: str, value: Any, space: Space) -> Any:
        """`value` ``[B, ...]``, or with further leading ranks, with the dtypes of records.

        Raises:
            InputError: another structure, shape or kind of numbers, or a number outside its Space.
        """
        try:
            leaves = space.flatten_sample(value)
        except (LookupError, TypeError, ValueError, AttributeError):
            raise InputError(
                f"{method}: argument {name}: expected a batch of {space!r}, given {value!r}"
            ) from None
        flat = {
            path: self._converted(method, name, path, leaves[path], box)
            for path, box in space.flatten().items()
        }
        return space.unflatten_sample(flat)

    def remembered(
        self, method: str, spaces: Mapping[str, Any], given: Any, ranks: tuple[int, ...]
    ) -> dict[str, np.ndarray]:
        """What acting remembered, by name, ``[*ranks, ...]``.

        Args:
            method: named in errors.
            spaces: of one item, by name.
            given: the values; those of a single step may lack the batch rank.
            ranks: of the batch.

        Raises:
            InputError: a name is missing or unknown, or a value does not fit.
        """
        if not isinstance(given, Mapping) or given.keys() != spaces.keys():
            known = ", ".join(spaces) or "nothing"
            names = ", ".join(map(str, given)) if isinstance(given, Mapping) else given
            raise InputError(
                f"{method}: remembered: expected {known}, as get_actions(..., extra_returns='remembered') returns it, "
                f"given {names}"
            )
        columns = {}
        for name, box in spaces.items():
            array = np.asarray(given[name], self._dtype_of(box))
            array = array[None] if ranks == (1,) and array.shape == box.shape else array
            if array.shape != ranks + box.shape or not np.isfinite(array).all():
                raise InputError(
                    f"{method}: remembered.{name}: expected finite numbers {list(ranks + box.shape)}, given "
                    f"{array.dtype}{list(array.shape)}"
                )
            columns[name] = array
        return columns

    def internals(self, given: Any, space: Space, rows: int, batched: bool) -> Any:
        """The internal states of recurrent networks before `rows` steps, of `space`, ``[rows, ...]``.

        Args:
            given: the values, beside which there may be those of other parts; of a single step without batch rank too.
            space: of the parts that are kept.
            rows: number of steps.
            batched: whether the batch rank has to be there.

        Raises:
            InputError: a part is missing or does not fit.
        """
        space = space.without_ranks()
        if isinstance(given, Mapping):
            given = {name: given[name] for name in space if name in given}  # type: ignore[attr-defined]
        if not batched and not self.fits(space, given):
            given = with_batch_rank(given)
        converted = self.convert("observe", "internals", given, space)
        for path, array in space.flatten_sample(converted).items():
            if array.shape != (rows, *space.flatten()[path].shape):
                raise InputError(
                    f"observe: argument internals.{path.replace('/', '.')}: expected {rows} rows, as get_actions(..., "
                    f"extra_returns='internal_states') gives them, given {list(array.shape)}"
                )
        return converted

    def check_actions(self, method: str, states: Any, actions: Any, is_raw: bool = False) -> None:
        """Check that the masks of converted states, if they have masks, allow the actions taken.

        Raises:
            InputError: one forbids its action; names the row.
        """
        masked = self._masked if is_raw else self._policy_input_mask
        index = None if masked is None else masked.row_of_illegal_action(states, actions, self._actions)
        if index is not None:
            raise InputError(
                f"{method}: the action of row {index} is one that the action mask of its state forbids"
            )

    def fits(self, space: Space, states: Any) -> bool:
        """Whether a batch has the structure, the shapes and the kinds of numbers of `space`."""
        try:
            leaves = space.flatten_sample(states)
        except (LookupError, TypeError, ValueError, AttributeError):
            return False
        return all(
            np.shape(leaves[path])[1:] == box.shape and np.asarray(leaves[path]).dtype.kind in box.kinds
            for path, box in space.flatten().items()
        )

    def is_raw(self, states: Any) -> bool:
        """Whether a batch fits the raw Space and not the preprocessed one."""
        return self.fits(self.raw, states) and not self.fits(self.seen, states)

    def _dtype_of(self, box: BoxSpace) -> np.dtype:
        return self._dtype if isinstance(box, FloatBox) else box.numpy_dtype

    def _converted(self, method: str, name: str, path: str, value: Any, box: BoxSpace) -> np.ndarray:
        where, dtype = ".".join([name, *path.split("/")] if path else [name]), self._dtype_of(box)
        array = np.asarray(value)
        leading = array.ndim - len(box.shape)
        if (
            leading < 1
            or array.shape[leading:] != box.shape
            or not np.can_cast(array.dtype, dtype, "same_kind")
            or (dtype.kind == "O" and array.dtype.kind not in box.kinds)
        ):
            expected = ", ".join(["B", *map(str, box.shape)])
            raise InputError(
                f"{method}: argument {where}: expected {dtype}[{expected}], given {array.dtype}{list(array.shape)}"
            )
        with np.errstate(over="ignore"):  # large numbers become infinite, and are refused
            taken = array.astype(dtype, copy=False)
        if name != "rewards" and (wrong := outside(box, array, taken, name == "actions")).any():
            if name != "actions":
                raise InputError(f"{method}: {in_words(where, box, array, wrong)}")
            place = int(np.argwhere(wrong)[0, 0])
            of = f" of {path!r}" if path else ""
            raise InputError(f"{method}: the action{of} in row {place}, {array[place]}, is not in {box!r}")
        return taken


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


def force_batch(method: str, argument: str, value: Any, space: Space) -> tuple[Any, bool]:
    """A value with a batch rank, and whether it had to be added.

    Raises:
        InputError: it does not fit `space`.
    """
    try:
        return space.force_batch(value)
    except SpaceError as error:
        raise InputError(f"{method}: argument {argument}: {error}") from None


def _ranked(name: str, value: Any, space: Space, batched: bool) -> Any:
    """`value` with a batch rank, which it has if `batched`."""
    is_array = type(value) is np.ndarray and isinstance(space, BoxSpace)
    if is_array and value.ndim == len(space.shape) + batched:  # type: ignore[attr-defined]
        return value if batched else value[None]
    batch, was_added = force_batch("observe", name, value, space)
    if was_added == batched:
        expected = "a batch, given one" if batched else "one, given a batch"
        raise InputError(f"observe: argument {name}: expected {expected}; batched={batched}")
    return batch
