"""Describes fields of records that are stacks of frames, to store each frame once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from rlgraph.components.common.argument_checks import is_number, is_whole
from rlgraph.core import SpecError
from rlgraph.core.errors import nearest
from rlgraph.spaces import BoxSpace, FloatBox, IntBox, SpaceError

#: Bytes of the smallest frame for which a pointer saves memory.
SMALLEST = 64
#: The largest number of channels (colours) of a frame in an observation of several frames.
COLOURS = 3
#: Number of latest stacks that a new one may continue: at least environments times steps of n-step records.
TAILS = 256


@dataclass(frozen=True)
class FrameStack:
    """Describes observations that stack the last frames of an environment along one axis.

    Attributes:
        size: number of frames in an observation; 1: an observation that is the next state of one record and the state
            of another is kept once.
        axis: the axis of an element along which they are stacked, the first (0) or the last (-1). A frame may have
            several channels: four frames of three colours are an axis of 12.
        frames_per_record: number of frames to store, as a multiple of the capacity. A step adds one frame, the
            beginning of an episode up to `size`.
        fields: fields of a record that hold such observations, directly or in a container.
    """

    size: int
    axis: int = -1
    frames_per_record: float = 1.25
    fields: tuple[str, ...] = ("states", "next_states")

    @staticmethod
    def from_spec(spec: Any, path: str) -> FrameStack | None:
        """From the number of frames, a mapping with the attributes' names, or None for none.

        Raises:
            SpecError: `spec` has another form.
        """
        if spec is None or isinstance(spec, FrameStack):
            return spec
        given = dict(spec) if isinstance(spec, Mapping) else {"size": spec}
        names = [field.name for field in fields(FrameStack)]
        for name in given:
            if name not in names:
                raise SpecError(f"unknown key {name!r}. {nearest(str(name), names)}", path=path)
        given = {name: v.item() if isinstance(v, np.generic) else v for name, v in given.items()}
        if "fields" in given:
            given["fields"] = _names(given["fields"], path)
        made = FrameStack(**{"size": None, **given})
        _check(f"{path}.size", "an integer >= 1", made.size, is_whole(made.size) and made.size >= 1)
        _check(f"{path}.axis", "0 or -1", made.axis, is_whole(made.axis) and made.axis in (0, -1))
        enough = is_number(made.frames_per_record) and made.frames_per_record >= 1
        _check(f"{path}.frames_per_record", "a number >= 1", made.frames_per_record, enough)
        return made

    def parts(self, leaves: Mapping[str, BoxSpace], where: str) -> dict[str, list[str]]:
        """Paths of the leaves that hold such stacks, by their path within a field; equal paths share their frames.

        Raises:
            SpaceError: no leaf holds stacks, or those of one path differ.
        """
        found: dict[str, list[str]] = {}
        for field in self.fields:  # in this order, since a next state continues its state
            for path, box in leaves.items():
                first, _, place = path.partition("/")
                if first == field and self._is_stack(box):
                    found.setdefault(place, []).append(path)
        if not found:
            raise SpaceError(
                f"{where}: frame_stack: none of {', '.join(self.fields)} is a stack of {self.size} frames along axis "
                f"{self.axis} with {SMALLEST} bytes or more each, given {_shown(leaves)}"
            )
        for paths in found.values():
            if len({(leaves[path].shape, leaves[path].dtype) for path in paths}) > 1:
                raise SpaceError(
                    f"{where}: frame_stack: expected equal Spaces, given {_shown({p: leaves[p] for p in paths})}"
                )
        return found

    def _is_stack(self, box: BoxSpace) -> bool:
        if not isinstance(box, FloatBox | IntBox) or not box.shape or self.frame_bytes(box) < SMALLEST:
            return False
        colours, rest = divmod(box.shape[self.axis], self.size)
        return self.size == 1 or (len(box.shape) > 1 and rest == 0 and 0 < colours <= COLOURS)

    def frame_bytes(self, box: BoxSpace) -> int:
        """The bytes of one frame of stacks `box`."""
        return int(math.prod(box.shape) * np.dtype(box.dtype).itemsize) // self.size

    def spaces(self, box: BoxSpace, number: int, capacity: int) -> dict[str, BoxSpace]:
        """Spaces of the variables that keep `number` fields of stacks `box` (see `FrameStore`)."""
        rest = list(box.shape)
        width = rest.pop(self.axis) // self.size
        frames = math.ceil(self.frames_per_record * capacity) + number * self.size
        tails = min(capacity, TAILS)
        made: Any = type(box)
        return {
            "frames": made(shape=(frames, width, *rest), dtype=box.dtype),
            "pointers": IntBox(shape=(number, capacity, self.size), dtype="int32"),
            "users": IntBox(shape=(frames,)),
            "free": IntBox(shape=(frames,), dtype="int32"),
            "tails": made(shape=(tails, *box.shape), dtype=box.dtype),
            "tail_pointers": IntBox(shape=(tails, self.size), dtype="int32"),
            "tail_users": IntBox(shape=(tails,)),
            "state": IntBox(shape=(2 + 2 * number,)),
        }


def _names(given: Any, path: str) -> tuple[str, ...]:
    fits = isinstance(given, list | tuple) and bool(given) and all(isinstance(name, str) for name in given)
    _check(f"{path}.fields", "a list of names", given, fits)
    return tuple(given)


def _check(path: str, expected: str, given: Any, fits: bool) -> None:
    if not fits:
        raise SpecError(f"expected {expected}, given {given!r}", path=path)


def _shown(leaves: Mapping[str, BoxSpace]) -> str:
    return ", ".join(f"{path}: {box.dtype}{list(box.shape)}" for path, box in leaves.items())
