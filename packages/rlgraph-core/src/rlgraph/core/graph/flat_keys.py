"""Flat keys: the leaves of containers by their paths, ``a/b``, in both directions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rlgraph.core.errors import BuildError
from rlgraph.core.graph.nodes import Expression, Pack, descend
from rlgraph.core.graph.values import Value, leaves


def flat_parts(expression: Expression, value: Value) -> dict[str, Expression]:
    """Flat key -> part of `expression`, for all leaves of `value`; "" for a single leaf."""
    return {"/".join(map(str, path)): descend(expression, path) for path, _ in leaves(value)}


def common_keys(where: str, flat: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The keys to split by: those of the containers among the arguments; what is no container goes to every key.

    Raises:
        BuildError: two containers differ in their keys, or one is empty.
    """
    containers = {name: list(parts) for name, parts in flat.items() if list(parts) != [""]}
    for name, keys in containers.items():
        first, wanted = next(iter(containers.items()))
        if not keys:
            raise BuildError(f"{where} is split by the keys of {name}, which is an empty container")
        if keys != wanted:
            raise BuildError(
                f"{where} is split by the keys of its arguments, and {first} has {wanted}, but {name} has {keys}: "
                "give them equal structures, or name in flatten_ops= only those that are to be split"
            )
    return next(iter(containers.values()), [""])


def is_flat(keys: Iterable[Any]) -> bool:
    """Whether keys of a dict are those of leaves: "" for a single one, paths, or positions in a tuple."""
    return any(isinstance(key, str) and (key == "" or "/" in key or key.isdigit()) for key in keys)


def nest(flat: Mapping[str, Expression]) -> Expression:
    """The container literal with these parts; a number in a key is a position in a tuple."""
    if list(flat) == [""]:
        return flat[""]
    groups: dict[str, dict[str, Expression]] = {}
    for key, part in flat.items():
        head, _, rest = key.partition("/")
        groups.setdefault(head, {})[rest] = part
    if all(head.isdigit() for head in groups):
        return Pack(tuple, tuple((int(head), nest(groups[head])) for head in sorted(groups, key=int)))
    return Pack(dict, tuple((head, nest(groups[head])) for head in sorted(groups)))
