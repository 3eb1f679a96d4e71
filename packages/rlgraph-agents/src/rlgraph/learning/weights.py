"""Weights of another agent, for fine-tuning."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

from rlgraph.components import Optimizer
from rlgraph.components.common.target import Target
from rlgraph.core import GraphExecutor, InputError
from rlgraph.core.checkpoint import Checkpoint
from rlgraph.core.errors import nearest
from rlgraph.learning.learner import Learner
from rlgraph.learning.stored_meaning import check_scales

#: Maximum number of weights that a message names.
_NAMED = 5


def take_over_weights(learner: Learner, source: Path, only: str | Sequence[str] | None) -> list[str]:
    """Take over weights of a checkpoint; see `BaseAgent.load_weights`."""
    executor = learner.executor
    shapes = {name: value.shape for name, value in executor.get_weights().items()}
    copies = _copies_of_targets(executor, shapes)
    names = _chosen(_weights(executor, shapes), only)
    with Checkpoint(source) as checkpoint:
        checkpoint.verify(["variables"])
        file = checkpoint.file("variables")
        there = {name: file.entries[name].shape for name in names if name in file.entries}
        differ = [
            f"{name} has {f'shape {list(there[name])}' if name in there else 'nothing'} there, "
            f"{list(shapes[name])} here"
            for name in names
            if there.get(name) != shapes[name]
        ]
        if differ:
            rest = f"; and {len(differ) - _NAMED} more" if len(differ) > _NAMED else ""
            raise InputError(
                f"load_weights: the weights of {source} do not fit: {'; '.join(differ[:_NAMED])}{rest}. Name those "
                "that do with only="
            )
        check_scales(learner, checkpoint.manifest.facts, source, names)
        values: dict[str, np.ndarray] = {name: file.read(name) for name in names}
        statistics = checkpoint.manifest.facts.get("learner", {}).get("statistics")
    copied = {copy: values[name] for copy, name in copies.items() if name in values}
    executor.set_weights({**values, **copied})
    if learner.statistics is not None and statistics:
        learner.statistics.take_over(statistics, names)
    return names


def _weights(executor: GraphExecutor, names: Iterable[str]) -> list[str]:
    """The variables that are neither an optimizer's nor a copy of others."""
    components = executor.built.graph.components.items()
    left_out = tuple(f"{path}/" for path, part in components if isinstance(part, Optimizer | Target))
    return [name for name in sorted(names) if not name.startswith(left_out)]


def _chosen(names: list[str], only: str | Sequence[str] | None) -> list[str]:
    """The names that match a pattern.

    Raises:
        InputError: a pattern matches none.
    """
    if only is None:
        return names
    chosen = set[str]()
    for pattern in [only] if isinstance(only, str) else only:
        found = {name for name in names if fnmatchcase(name, pattern) or fnmatchcase(name, f"{pattern}/*")}
        if not found:
            raise InputError(f"load_weights: only: no weight matches {pattern!r}. {nearest(pattern, names)}")
        chosen |= found
    return sorted(chosen)


def _copies_of_targets(executor: GraphExecutor, names: Iterable[str]) -> dict[str, str]:
    """The variables of targets, each with the one that it follows."""
    components = executor.built.graph.components
    scopes = {id(part): path for path, part in components.items()}
    copies: dict[str, str] = {}
    for target in components.values():
        if isinstance(target, Target):
            copy, source = f"{scopes[id(target.followed)]}/", f"{scopes[id(target.source)]}/"
            copies |= {name: source + name.removeprefix(copy) for name in names if name.startswith(copy)}
    return copies
