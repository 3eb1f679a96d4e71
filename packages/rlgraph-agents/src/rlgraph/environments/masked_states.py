"""States with a mask of the legal actions among their parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rlgraph.components.common.action_masks import NAME, flat_columns, mask_shape, spread, unknown_part
from rlgraph.core import InputError, SpecError
from rlgraph.spaces import BoolBox, Dict, IntBox, Space, Tuple

#: The part of preprocessed states beside the mask.
OBSERVATION = "observation"
#: What a mask that allows no action breaks, for messages.
NEEDS_ACTION = "expected at least one legal action in every state that does not end the episode."


@dataclass(frozen=True)
class MaskedStates:
    """States that are a Dict, one part of which says which actions are legal.

    Attributes:
        space: of one state.
        name: of the part that is the mask.
        flat: the `flat_columns` of parts of the action whose masks have one element after the other.
        exists: which actions the elements of parts have, ``[..., A]``, where they differ.
    """

    space: Dict
    name: str
    flat: Mapping[str, np.ndarray] = field(default_factory=dict, compare=False)
    exists: Mapping[str, np.ndarray] = field(default_factory=dict, compare=False)

    @property
    def mask_space(self) -> Space:
        """The Space of one mask."""
        return self.space[self.name]

    @property
    def rest_space(self) -> Space:
        """The Space of one state without its mask."""
        rest, _ = self.split(self.space)
        return Dict(rest) if isinstance(rest, dict) else rest

    def split(self, states: Any) -> tuple[Any, Any]:
        """States without their masks, and the masks; of a single other part that part itself."""
        names = [name for name in self.space if name != self.name]
        rest = states[names[0]] if len(names) == 1 else {name: states[name] for name in names}
        return rest, states[self.name]

    def join(self, rest: Any, masks: Any) -> dict[str, Any]:
        """Preprocessed states and masks as `preprocessed` describes them."""
        return {OBSERVATION: rest, self.name: masks}

    def preprocessed(self, rest: Space) -> MaskedStates:
        """The states after preprocessing, of which `rest` is one without its mask."""
        return replace(self, space=Dict(self.join(rest, self.mask_space)))

    def masks(self, states: Any) -> dict[str, np.ndarray]:
        """The masks ``[..., A]`` of states by parts of the action; an action that does not exist is illegal."""
        masks: dict[str, np.ndarray] = dict(self.mask_space.flatten_sample(states[self.name]))
        for path, columns in self.flat.items():
            masks[path] = spread(masks[path], columns)
        for path, exists in self.exists.items():
            masks[path] = np.logical_and(masks[path], exists)
        return masks

    def sample(self, state: Any, actions: Space, rng: np.random.Generator) -> Any:
        """A random action that the mask of one state allows."""
        drawn, boxes = dict(actions.flatten_sample(actions.sample(rng=rng))), actions.flatten()
        for path, mask in self.masks(state).items():
            best = np.argmax(np.where(mask, rng.random(np.shape(mask)), -1.0), axis=-1)
            drawn[path] = (best + boxes[path].low).astype(boxes[path].dtype)[()]
        return actions.unflatten_sample(drawn)

    def row_without_actions(self, states: Any, exempt: np.ndarray | None = None) -> int | None:
        """The first row of ``states [B, ...]`` in which some part of an action has nothing legal; None: there is none.

        Args:
            states: with their masks.
            exempt: bool [B], rows that do not matter.
        """
        for mask in self.masks(states).values():
            faulty = ~np.any(mask, axis=-1)
            if exempt is not None and faulty.any():
                faulty[exempt] = False
            if faulty.any():
                return int(np.argwhere(faulty)[0, 0])
        return None

    def row_of_illegal_action(self, states: Any, actions: Any, space: Space) -> int | None:
        """The first row of ``states [B, ...]`` whose mask forbids its action; None if there is none.

        Args:
            states: with their masks.
            actions: ``[B, ...]`` of `space`.
            space: of one action.
        """
        taken, boxes = space.flatten_sample(actions), space.flatten()
        for path, mask in self.masks(states).items():
            index = np.asarray(taken[path] - boxes[path].low, np.int64)
            legal = np.take_along_axis(np.asarray(mask, bool), index[..., np.newaxis], axis=-1)
            if not legal.all():
                return int(np.argwhere(~legal)[0, 0])
        return None


def masked_states(states: Space, actions: Space, name: str | None) -> MaskedStates | None:
    """What says which part of the states is the mask; None: no part is one.

    Args:
        states: one raw state.
        actions: one action.
        name: of the part; None, or `NAME` where there is no such part: no part is a mask.

    Raises:
        SpecError: there is no part of this name, it is the only part, or its Space is not that of masks of `actions`.
    """
    if name is None:
        return None
    parts = list(states) if isinstance(states, Dict) else []
    if name not in parts:
        if name == NAME:
            return None
        given = f"a Dict with the parts {', '.join(parts)}" if parts else repr(states)
        raise SpecError(f"expected the name of a part of the states, {given}; given {name!r}", path=NAME)
    assert isinstance(states, Dict)
    if len(parts) == 1:
        raise SpecError(f"expected states with a further part besides {name!r}", path=NAME)
    if fault := _fault(states[name], actions):
        raise SpecError(
            f"states have a part {name!r}, which is to say which actions are legal: {fault}. A part that says "
            "something else needs another name, or the agent action_mask=None",
            path=NAME,
        )
    flat, exists, boxes = {}, {}, actions.flatten()
    for path, part in states[name].flatten().items():
        columns, size = flat_columns(boxes[path])
        if part.shape != columns.shape:
            flat[path] = columns
        elif (columns == size).any():
            exists[path] = columns < size
    return MaskedStates(states, name, flat, exists)


def _fault(mask: Space, actions: Space) -> str:
    """What is wrong with the Space of one mask; empty if nothing is."""
    boxes = actions.flatten()
    masks = mask.flatten()
    if "" in boxes:
        if "" not in masks:
            return f"expected one mask for {actions!r}, given {mask!r}"
    elif message := unknown_part(masks, list(boxes)):
        return message
    for path, part in masks.items():
        where, box = f"{path!r}: " if path else "", boxes[path]
        shape = mask_shape(box)
        if shape is None:
            return f"{where}masks need categories, IntBox(n), and {box!r} has none"
        is_flag = isinstance(part, BoolBox) or (isinstance(part, IntBox) and (part.low, part.high) == (0, 2))
        flat = (flat_columns(box)[1],)
        if not is_flag or part.shape not in (shape, flat):
            wanted = " or ".join(dict.fromkeys([str(list(shape)), str(list(flat))]))
            return f"{where}expected bools or 0 and 1 of shape {wanted} for {box!r}, given {part!r}"
    return ""


def check_legal(method: str, masked: MaskedStates | None, states: Any) -> None:
    """Check that the masks of ``states [B, ...]`` that somebody gives allow an action, if states have masks.

    Raises:
        InputError: one allows none; names the row.
    """
    index = None if masked is None else masked.row_without_actions(states)
    if index is not None:
        raise InputError(f"{method}: argument states: the action mask of row {index} allows no action")


def as_bools(mask: Any, masked: MaskedStates, convert: Callable[[Any, str], Any]) -> Any:
    """A mask of bools ``[..., A]``: ``convert(part, path)`` for parts that are 0 and 1, or flat."""

    def walk(mask: Any, space: Space, path: tuple[str, ...]) -> Any:
        if isinstance(space, Dict):
            return {name: walk(mask[name], part, (*path, name)) for name, part in space.items()}
        if isinstance(space, Tuple):
            return tuple(walk(mask[i], part, (*path, str(i))) for i, part in enumerate(space))
        where = "/".join(path)
        return mask if isinstance(space, BoolBox) and where not in masked.flat else convert(mask, where)

    return walk(mask, masked.mask_space, ())
