"""Dict and Tuple: the two containers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, overload

from rlgraph.spaces.container_space import ContainerSpace
from rlgraph.spaces.errors import mismatch
from rlgraph.spaces.ranks import Rank
from rlgraph.spaces.space import Space, read_spec

__all__ = ["Dict", "Tuple"]


class Dict(ContainerSpace, Mapping[str, Space]):
    """Named Spaces: a Mapping whose keys are sorted identifiers. Samples are plain dicts.

    `Dict(a=float, b=IntBox(10))` or `Dict({"a": float, "b": {"c": bool}})`; the second form allows keys that
    are named like an argument.

    Args:
        mapping: Space specs (see `from_spec`) by key.
        add_batch_rank, add_time_rank: ranks of all children; see `FloatBox`. A rank of one child
            applies to all.
        time_major: True if the time axis comes first.
        spaces: further children.

    Raises:
        SpaceError: for a key that is not an identifier, an invalid child spec, or children with different ranks.
    """

    type_name = "dict"

    def __init__(
        self,
        mapping: Mapping[str, Any] | None = None,
        /,
        *,
        add_batch_rank: Rank = False,
        add_time_rank: Rank = False,
        time_major: bool = False,
        **spaces: Any,
    ) -> None:
        if mapping is not None and not isinstance(mapping, Mapping):
            raise mismatch("", "a mapping of Space specs", repr(mapping), "give specs by key: Dict(a=float)")
        children = {**(mapping or {}), **spaces}
        for key in children:
            if not isinstance(key, str) or not key.isidentifier():
                raise mismatch("", "keys of a Dict to be Python identifiers", repr(key), _renamed(key))
        if mapping is not None and len(children) < len(mapping) + len(spaces):
            raise mismatch("", "each key once", sorted(mapping.keys() & spaces.keys()))
        built = {key: read_spec(children[key], key) for key in sorted(children)}
        self._init_children(built, add_batch_rank, add_time_rank, time_major)

    def __getitem__(self, key: str) -> Space:
        try:
            return self._spaces[self._names.index(key)]
        except ValueError:
            raise KeyError(key) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def _pack(self, values: Sequence[Any]) -> dict[str, Any]:
        return dict(zip(self._names, values, strict=True))

    def _unpack(self, sample: Any, path: str) -> Sequence[Any]:
        if not isinstance(sample, Mapping):
            raise mismatch(path, f"a dict with the keys {list(self._names)}", f"a {type(sample).__name__}")
        if sample.keys() != set(self._names):
            missing = [key for key in self._names if key not in sample]
            extra = [key for key in sample if key not in self._names]
            given = f"missing {missing}, extra {extra}"
            raise mismatch(path, f"a dict with the keys {list(self._names)}", given)
        return [sample[key] for key in self._names]


class Tuple(ContainerSpace, Sequence[Space]):
    """A sequence of Spaces. Samples are plain tuples.

    `Tuple(float, IntBox(3))` or `Tuple([float, IntBox(3)])`.

    Args:
        spaces: Space specs (see `from_spec`), or one list or tuple of them.
        add_batch_rank, add_time_rank: ranks of all children; see `Dict`.
        time_major: True if the time axis comes first.

    Raises:
        SpaceError: for an invalid child spec, or children with different ranks.
    """

    type_name = "tuple"

    def __init__(
        self,
        *spaces: Any,
        add_batch_rank: Rank = False,
        add_time_rank: Rank = False,
        time_major: bool = False,
    ) -> None:
        if len(spaces) == 1 and isinstance(spaces[0], (list, tuple)):
            spaces = tuple(spaces[0])
        built = {str(index): read_spec(spec, str(index)) for index, spec in enumerate(spaces)}
        self._init_children(built, add_batch_rank, add_time_rank, time_major)

    @overload
    def __getitem__(self, index: int) -> Space: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Space, ...]: ...
    def __getitem__(self, index: int | slice) -> Space | tuple[Space, ...]:
        return self._spaces[index]

    def __len__(self) -> int:
        return len(self._spaces)

    def _pack(self, values: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(values)

    def _unpack(self, sample: Any, path: str) -> Sequence[Any]:
        if not isinstance(sample, (tuple, list)):
            raise mismatch(path, f"a tuple of {len(self)}", f"a {type(sample).__name__}")
        if len(sample) != len(self):
            raise mismatch(path, f"a tuple of {len(self)}", f"one of {len(sample)}")
        return sample


def _renamed(key: object) -> str:
    identifier = re.sub(r"\W+|^(?=\d)", "_", str(key))
    return f"did you mean {identifier!r}?" if identifier.isidentifier() else ""
