"""Action Spaces as arguments of components."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.core import SpecError
from rlgraph.spaces import IntBox, Space, SpaceError, from_spec
from rlgraph.spaces.errors import mismatch


def action_space_of(given: Any, where: str) -> Space:
    """The Space of one action, from a Space or a spec.

    Raises:
        SpecError: `given` is not a Space or a spec of one.
    """
    try:
        return from_spec(given).without_ranks()
    except SpaceError as error:
        raise SpecError(str(error), path=where) from None


def check_actions(given: Space, wanted: Space, name: str = "actions") -> None:
    """Check that input actions have the parts of the component's action Space and no larger integers.

    Integers without bounds pass, and those that were computed, which have no elementwise bounds, within the outermost.
    The caller checks kinds and shapes, since relaxed choices are floats.

    Raises:
        SpaceError: they do not.
    """
    boxes, expected = given.flatten(), wanted.flatten()
    if boxes.keys() != expected.keys():
        raise mismatch(name, f"those of {wanted!r}", repr(given))
    for path, box in boxes.items():
        if _goes_beyond(box, expected[path]):
            raise mismatch(f"{name}/{path}" if path else name, f"those of {expected[path]!r}", repr(box))


def _goes_beyond(box: Space, wanted: Space) -> bool:
    if not isinstance(box, IntBox) or not isinstance(wanted, IntBox) or box.shape != wanted.shape:
        return False
    return any(
        given is not None
        and limit is not None
        and bool(np.any(is_beyond(given, limit if np.ndim(given) else outermost(limit))))
        for given, limit, is_beyond, outermost in (
            (box.high, wanted.high, np.greater, np.max),
            (box.low, wanted.low, np.less, np.min),
        )
    )
