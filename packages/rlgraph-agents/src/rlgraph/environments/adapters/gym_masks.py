"""The masks of Gymnasium environments, which say which actions are legal, as a part of their states.

An environment gives them as ``info["action_mask"]`` of `reset` and `step`, in the form in which Gymnasium's
``space.sample(mask)`` takes them, or by a method ``action_masks()``, as sb3-contrib expects it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np

from rlgraph.components.common.action_masks import NAME, flat_columns, mask_shape, spread
from rlgraph.environments.errors import EnvironmentFault
from rlgraph.spaces import BoolBox, BoxSpace, Dict, IntBox, Space, Tuple

#: The part of the states beside the mask, if the environment's own states are no Dict.
OBSERVATION = "observation"
METHOD = "action_masks"


@dataclass(frozen=True)
class Masks:
    """The masks of one part of an action, or of all of it.

    Attributes:
        space: of one mask.
        read: a function that makes one of what the environment gives; raises an `EnvironmentFault` without the place.
    """

    space: Space
    read: Callable[[Any], Any]


class GymMasks:
    """Adds the masks of one environment to its states.

    Args:
        states: the Space of its states.
        masks: its masks.
        method: its method that returns them; None: its infos have them.
    """

    def __init__(self, states: Space, masks: Masks, method: Callable[[], Any] | None = None):
        self._is_dict, self._masks, self._method = isinstance(states, Dict), masks, method
        self.mask_space = masks.space
        self.state_space = Dict(self.join(states, masks.space))

    def join(self, state: Any, mask: Any) -> dict[str, Any]:
        """A state, or its Space, with a mask as a part."""
        return {**(dict(state) if self._is_dict else {OBSERVATION: state}), NAME: mask}

    def of(self, info: Mapping[str, Any]) -> Any:
        """The mask after a reset or step with this info.

        Raises:
            EnvironmentFault: it is missing, or has another shape or other values; the message lacks the place.
        """
        if self._method is not None:
            return self._masks.read(self._method())
        if NAME not in info:
            raise EnvironmentFault(
                f"info has no {NAME!r}, which that of the first reset had: give it in every reset and step."
            )
        return self._masks.read(info[NAME])


def find_masks(
    states: Space, actions: Space, info: Mapping[str, Any], method: Callable[[], Any] | None = None
) -> GymMasks | None:
    """The masks of an environment after its first reset; None: it has none.

    Args:
        states, actions: one state and one action.
        info: of the reset.
        method: its method `METHOD`, if it has one; used where `info` has no mask.

    Raises:
        EnvironmentFault: its mask does not fit its actions.
    """
    if has_mask_part(states):
        return None
    if NAME in info:
        masks = masks_of(actions, info[NAME])
        return None if masks is None else GymMasks(states, masks)
    if method is not None:
        masks = masks_of(actions, method())
        return None if masks is None else GymMasks(states, masks, method)
    return None


def inside_gymnasium_wrappers(env: Any) -> Any:
    """The environment inside the outer wrappers of Gymnasium, which give no masks.

    Wrappers that make videos or statistics do not see a reset of this environment.
    """
    while isinstance(env, gymnasium.Wrapper | gymnasium.vector.VectorWrapper) and (
        type(env).__module__.startswith("gymnasium.wrappers.")
    ):
        env = env.env
    return env


def has_mask_part(states: Space) -> bool:
    """Whether states have a part for masks of their own, as in PettingZoo's environments."""
    return isinstance(states, Dict) and NAME in states


def check_unmasked(states: Space, info: Any) -> None:
    """Raises `EnvironmentFault` if an environment without masks begins to give them."""
    if isinstance(info, dict) and info.get(NAME) is not None and not has_mask_part(states):
        raise EnvironmentFault(
            f"info has {NAME!r}, which that of the first reset had not: give it in every reset and step."
        )


def masks_of(actions: Space, given: Any, name: str = NAME) -> Masks | None:
    """The masks of an action, from the first one; None: there are none.

    Args:
        actions: one action, or a part of one.
        given: as Gymnasium's ``sample`` takes masks: an array ``[A]``; for a MultiDiscrete space an array for each
            element, or all of these behind each other, ``[sum of A]``, or ``[..., A]``; for a Dict or Tuple one of
            such, with None, or in a Dict nothing, for parts without masks.
        name: of the part.

    Raises:
        EnvironmentFault: it does not fit.
    """
    if given is None:
        return None
    if isinstance(actions, Dict):
        if not isinstance(given, Mapping) or not given.keys() <= set(actions):
            raise EnvironmentFault(f"{name}: expected a dict by parts of {actions!r}, given {given!r}.")
        found = {key: masks_of(actions[key], part, f"{name}/{key}") for key, part in given.items()}
        parts = {key: masks for key, masks in found.items() if masks is not None}
        space = Dict({key: masks.space for key, masks in parts.items()})
        return Masks(
            space, lambda value: {key: masks.read(_part(value, key, name)) for key, masks in parts.items()}
        )
    if isinstance(actions, Tuple):
        return _masks_of_tuple(actions, given, name)
    assert isinstance(actions, BoxSpace)
    shape = mask_shape(actions)
    if shape is None:
        raise EnvironmentFault(f"{name}: expected no mask of {actions!r}, which has no categories.")
    read = _reader(actions, shape, name)
    read(given)
    return Masks(BoolBox(shape=shape), read)


def _masks_of_tuple(actions: Tuple, given: Any, name: str) -> Masks | None:
    if not isinstance(given, tuple | list) or len(given) != len(actions):
        raise EnvironmentFault(f"{name}: expected a tuple of {len(actions)} masks or None, given {given!r}.")
    found = [
        masks_of(part, mask, f"{name}/{i}") for i, (part, mask) in enumerate(zip(actions, given, strict=True))
    ]
    while found and found[-1] is None:
        found.pop()
    items = [masks for masks in found if masks is not None]
    if len(items) != len(found):
        raise EnvironmentFault(
            f"{name}: expected None only for the last parts of a tuple, given None for part {found.index(None)}: give "
            "a mask that allows everything, or make the action a Dict."
        )
    if not items:
        return None
    return Masks(
        Tuple(*(masks.space for masks in items)),
        lambda value: tuple(masks.read(_part(value, i, name)) for i, masks in enumerate(items)),
    )


def _part(value: Any, key: Any, name: str) -> Any:
    try:
        return value[key]
    except (LookupError, TypeError):
        raise EnvironmentFault(
            f"{name}: expected a part {key!r}, as in the first mask, given {value!r}."
        ) from None


def _reader(box: BoxSpace, shape: tuple[int, ...], name: str) -> Callable[[Any], np.ndarray]:
    assert isinstance(box, IntBox)
    columns, size = flat_columns(box)

    def read(given: Any) -> np.ndarray:
        if box.shape and isinstance(given, tuple | list):
            given = np.concatenate([np.ravel(part) for part in given])
        mask = np.asarray(given)
        if mask.dtype.kind not in "biu" or mask.shape not in (shape, (size,)):
            raise EnvironmentFault(
                f"{name}: expected bools or 0 and 1 of shape {list(shape)}, given {mask.dtype} of shape "
                f"{list(mask.shape)}."
            )
        if mask.dtype.kind != "b" and mask.size and not 0 <= mask.min() <= mask.max() <= 1:
            raise EnvironmentFault(f"{name}: expected bools or 0 and 1, given {mask}.")
        return mask.astype(bool) if mask.shape == shape else spread(mask.astype(bool), columns)

    return read
