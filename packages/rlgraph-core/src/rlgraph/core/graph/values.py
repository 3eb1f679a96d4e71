"""What is known of a value during a build: a nested dict/tuple with `TensorSpec`s, or a list of variables."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from rlgraph.core.errors import no_part
from rlgraph.core.graph.nodes import Path
from rlgraph.core.graph.variables import GradientList, VariableList
from rlgraph.core.ops.dims import RankSize, SymbolicDim
from rlgraph.core.ops.tensor_spec import TensorSpec
from rlgraph.spaces import BoxSpace, Dict, Space, Tuple
from rlgraph.spaces.ranks import is_fixed

#: TensorSpec | dict[str, Value] | tuple[Value, ...] | VariableList | GradientList
Value = Any


@dataclass(frozen=True)
class FixedShape:
    """What stands for a tensor where only its shape is needed, and is known."""

    spec: TensorSpec

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(int(size) for size in self.spec.shape)  # type: ignore[arg-type]

    @property
    def ndim(self) -> int:
        return len(self.spec.shape)


def is_leaf(value: Value) -> bool:
    return isinstance(value, TensorSpec | VariableList | GradientList)


def leaves(value: Value, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """(path, leaf) of all leaves in order."""
    if is_leaf(value) or not isinstance(value, dict | tuple):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    else:
        for index, item in enumerate(value):
            yield from leaves(item, (*path, index))


def map_leaves(function: Callable[[Any], Any], value: Value) -> Any:
    """The same structure with `function` applied to every leaf."""
    if is_leaf(value):
        return function(value)
    if isinstance(value, dict):
        return {key: map_leaves(function, item) for key, item in value.items()}
    if isinstance(value, tuple):
        return tuple(map_leaves(function, item) for item in value)
    return function(value)


def as_tensors(value: Value) -> Value:
    """A value as it crosses the border of a segment: a list of derivatives is one flat tensor."""
    return map_leaves(lambda leaf: leaf.flat_spec if isinstance(leaf, GradientList) else leaf, value)


def part_at(value: Value, path: Path) -> Value:
    """The part of `value` at `path`.

    Raises:
        KeyError: there is none; lists the keys there are.
    """
    for key in path:
        keys = (
            list(value) if isinstance(value, dict) else list(range(len(value))) if _is_tuple(value) else None
        )
        if keys is None or key not in keys:
            raise KeyError(no_part(key, keys, f" of {describe(value)}"))
        value = value[key]
    return value


def _is_tuple(value: Value) -> bool:
    return isinstance(value, tuple) and not is_leaf(value)


def describe(value: Value) -> str:
    """A value for messages, e.g. ``{a: float32[B, 2], b: int64[B]}``."""
    if isinstance(value, VariableList):
        return f"<{len(value)} variables>"
    if isinstance(value, GradientList):
        return f"<{len(value)} gradients>"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {describe(item)}" for key, item in value.items()) + "}"
    if isinstance(value, tuple):
        return "(" + ", ".join(describe(item) for item in value) + ")"
    return repr(value)


def space_of(value: Value) -> Any:
    """The Space of a value; lists of variables are given as they are.

    None, True and False in a dict are configuration: such a key is not in the Space, but in what the function is given.

    Raises:
        ValueError: a leaf has no Space.
    """
    if isinstance(value, TensorSpec | FixedShape):
        return (value.spec if isinstance(value, FixedShape) else value).to_space()
    if isinstance(value, dict):
        parts = {key: item for key, item in value.items() if not isinstance(item, bool | None)}
        return Dict(dict(zip(parts, _of_one_size([space_of(item) for item in parts.values()]), strict=True)))
    if _is_tuple(value):
        return Tuple(*_of_one_size([space_of(item) for item in value]))
    return value


def _of_one_size(spaces: list[Space]) -> list[Space]:
    """The Spaces as parts of one container: a batch or time rank whose sizes differ has an unknown size."""
    for rank in ("batch_rank", "time_rank"):
        found = (getattr(box, rank) for space in spaces for box in space.flatten().values())
        sizes = {(type(size), size) for size in found if size is not False}  # True is no size of 1
        if len(sizes) > 1 and any(is_fixed(size) for _, size in sizes):
            spaces = [space.map(partial(_with_unknown, rank)) for space in spaces]
    return spaces


def _with_unknown(rank: str, _: str, box: BoxSpace) -> Space:
    if not is_fixed(getattr(box, rank)):
        return box
    return box.with_batch_rank() if rank == "batch_rank" else box.with_time_rank()


def identity(value: Value) -> Hashable:
    """What is equal for two values that are the same in all that a build can know of them."""
    if isinstance(value, TensorSpec):
        ranks = tuple(dim.rank if isinstance(dim, RankSize) else None for dim in value.shape)
        return value, ranks
    if is_leaf(value):
        return type(value), value
    if isinstance(value, dict):
        return dict, tuple((key, identity(item)) for key, item in value.items())
    if isinstance(value, tuple):
        return tuple, tuple(identity(item) for item in value)
    if isinstance(value, Space):
        return value
    # 0.0 and -0.0, 1 and True are two constants.
    return repr(value) if isinstance(value, bool | int | float | str | None) else id(value)


def compatible(first: Value, second: Value) -> bool:
    """Equal but for the batch and time ranks, the names of unknown sizes, the bounds, and keys of only one dict."""
    if isinstance(first, dict) and isinstance(second, dict):
        pairs = [(first[key], second[key]) for key in first.keys() & second.keys()]
        return all(a is None or b is None or compatible(a, b) for a, b in pairs)
    return _agree(first, second, lambda a, b: _same_axes(a, b) or _own_shape(a) == _own_shape(b) is not None)


def same_ranks(first: Value, second: Value) -> bool:
    """`compatible`, and batch and time are the same axes."""
    return _agree(first, second, lambda a, b: _same_axes(a, b) and _same_roles(a, b))


def _agree(first: Value, second: Value, fit: Callable[[TensorSpec, TensorSpec], bool]) -> bool:
    """Whether two values have one structure, and tensors that `fit` each other."""
    if isinstance(first, TensorSpec) and isinstance(second, TensorSpec):
        return first.dtype == second.dtype and fit(first, second)
    if type(first) is not type(second):
        return False
    if isinstance(first, VariableList | GradientList):
        return [v.shape for v in first] == [v.shape for v in second]
    if isinstance(first, dict):
        return list(first) == list(second) and all(_agree(first[key], second[key], fit) for key in first)
    if isinstance(first, tuple):
        return len(first) == len(second) and all(
            _agree(a, b, fit) for a, b in zip(first, second, strict=True)
        )
    return True


def _same_axes(first: TensorSpec, second: TensorSpec) -> bool:
    """Equal shapes, as far as they are known."""
    pairs = zip(first.shape, second.shape, strict=False)
    same = all(a == b or isinstance(a, SymbolicDim) or isinstance(b, SymbolicDim) for a, b in pairs)
    return same and len(first.shape) == len(second.shape)


def _own_shape(spec: TensorSpec) -> tuple[int, ...] | None:
    """The shape without batch and time rank; None if there is no Space of such tensors."""
    try:
        return spec.to_space().shape
    except ValueError:
        return None


def _same_roles(first: TensorSpec, second: TensorSpec) -> bool:
    """Whether the ranks are the same, if both have any: fixed sizes may stand for ranks of which nothing is known."""
    roles = []
    for spec in (first, second):
        try:
            space = spec.to_space()
        except ValueError:
            return True
        roles.append((space.has_batch_rank, space.has_time_rank, bool(space.time_major)))
    return roles[0] == roles[1] or (False, False, False) in roles


def first_difference(first: Value, second: Value, path: Path = ()) -> tuple[Path, Value, Value] | None:
    """Where two values differ in structure, shape or dtype, and both parts; None if they agree."""
    if isinstance(first, TensorSpec) and isinstance(second, TensorSpec):
        same = first.shape == second.shape and first.dtype == second.dtype
        return None if same else (path, first, second)
    if isinstance(first, dict) and isinstance(second, dict) and list(first) == list(second):
        pairs = [(key, first[key], second[key]) for key in first]
    elif _is_tuple(first) and _is_tuple(second) and len(first) == len(second):
        pairs = list(zip(range(len(first)), first, second, strict=True))
    else:
        return None if first is None and second is None else (path, first, second)
    found = (first_difference(a, b, (*path, key)) for key, a, b in pairs)
    return next((difference for difference in found if difference), None)


def difference(first: Value, second: Value, path: Path = ()) -> str:
    """Where two values that are not `compatible` differ, for messages; empty if they do as a whole."""
    keys = [
        list(v) if isinstance(v, dict) else list(range(len(v))) if _is_tuple(v) else []
        for v in (first, second)
    ]
    shared = keys[0] if isinstance(first, dict) or len(keys[0]) == len(keys[1]) else []
    differing = [key for key in shared if key in keys[1] and not compatible(first[key], second[key])]
    if differing:
        return difference(first[differing[0]], second[differing[0]], (*path, differing[0]))
    where = "/".join(map(str, path))
    return f"; they differ at {where}: {describe(first)} against {describe(second)}" if path else ""
