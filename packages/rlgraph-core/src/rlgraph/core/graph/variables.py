"""Variables: what a component declares, and how the declarations are laid out in flat buffers.

Variables of equal dtype, role, device and set of optimizers share one buffer (a **group**), ordered by scoped name. An
optimizer step, a target synchronisation, a checkpoint then touch a few large arrays instead of many small ones.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from rlgraph.core.errors import BuildError
from rlgraph.core.ops.tensor_spec import TensorSpec

#: ``initializer(shape, dtype, rng) -> array``: the starting value of a variable.
Initializer = Callable[[tuple[int, ...], str, np.random.Generator], np.ndarray]


def zeros(shape: tuple[int, ...], dtype: str, rng: np.random.Generator) -> np.ndarray:
    """The `Initializer` of zeros. A system gives memory for them only where something is written."""
    return np.zeros(shape, dtype)


@dataclass(eq=False)
class Variable:
    """A declared variable; compared by identity.

    Attributes:
        name: scoped name, e.g. ``policy/network/hidden/weights``.
        spec: fixed shape and dtype.
        initializer: makes the starting value.
        trainable: optimizers may step it.
        host: a NumPy array that only host functions touch.
        role: variables of different roles never share a buffer (one role per optimizer slot and per copy).
        device: where it is, in the backend's words; empty for the backend's own choice.
        starts_like: the name of the variable that it starts equal to; empty for its own.
    """

    name: str
    spec: TensorSpec
    initializer: Initializer = field(repr=False)
    trainable: bool = True
    host: bool = False
    role: str = ""
    device: str = ""
    starts_like: str = ""

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(int(dim) for dim in self.spec.shape)  # type: ignore[arg-type]


class VariableList(tuple[Variable, ...]):
    """The variables below a component, sorted by scoped name: the value of ``component.variables()``.

    Inside a graph function it is a list of **blocks**: 1-D pieces of flat buffers, each holding one or more of the
    variables. Such functions therefore work elementwise.
    """

    __slots__ = ()


def joined(*lists: Iterable[Variable]) -> VariableList:
    """Each variable in `lists` once, sorted by scoped name."""
    by_name = {variable.name: variable for variables in lists for variable in variables}
    return VariableList(by_name[name] for name in sorted(by_name))


class Slots(tuple[Variable, ...]):
    """Variables that run parallel to a `VariableList` (optimizer moments); inside a graph function also blocks."""

    __slots__ = ()


class GradientList(tuple[Variable, ...]):
    """The derivatives by a `VariableList`, in its order; inside a graph function blocks like the variables'.

    A host function, and every other border between segments, gets one flat tensor of them.
    """

    __slots__ = ()

    @property
    def flat_spec(self) -> TensorSpec:
        """The flat tensor: the elements of all derivatives, one variable after the other."""
        return TensorSpec((sum(variable.size for variable in self),), self[0].spec.dtype)


@dataclass(frozen=True)
class Group:
    """One flat buffer on one device. `offsets` maps a variable's name to its first element."""

    name: str
    dtype: str
    trainable: bool
    variables: tuple[Variable, ...]
    offsets: Mapping[str, int]
    size: int
    device: str = ""


@dataclass(frozen=True)
class Block:
    """A contiguous run ``[start, stop)`` of a group, holding `variables` one after the other."""

    group: str
    start: int
    stop: int
    variables: tuple[Variable, ...]


@dataclass(frozen=True)
class Layout:
    """Where every tensor variable lives."""

    groups: Mapping[str, Group]
    group_of: Mapping[str, str]

    def place(self, variable: Variable) -> tuple[str, int, int]:
        """(group, start, stop) of a variable."""
        group = self.groups[self.group_of[variable.name]]
        start = group.offsets[variable.name]
        return group.name, start, start + variable.size

    def groups_of(self, names: Iterable[str]) -> frozenset[str]:
        """The groups of the named variables; names of streams have none."""
        return frozenset(self.group_of[name] for name in names if name in self.group_of)

    def cuts(self, variables: Sequence[Variable]) -> set[int]:
        """The positions in `variables` at which contiguity breaks."""
        places = [self.place(variable) for variable in variables]
        return {i + 1 for i, (a, b) in enumerate(pairwise(places)) if a[0] != b[0] or a[2] != b[1]}

    def blocks(self, variables: Sequence[Variable], cuts: set[int]) -> list[Block]:
        """`variables` as contiguous runs, cut at least where `cuts` says.

        Every list that enters one graph function is cut at the same positions, so that its blocks pair up.
        """
        edges = [0, *sorted(cuts | self.cuts(variables)), len(variables)]
        blocks = []
        for first, last in pairwise(edges):
            if first == last:
                continue
            run = tuple(variables[first:last])
            group, start, _ = self.place(run[0])
            blocks.append(Block(group, start, self.place(run[-1])[2], run))
        return blocks


def machine_memory() -> int | None:
    """Bytes of this machine's memory; None: the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def check_memory(variables: Sequence[Variable]) -> None:
    """Raise `BuildError` for variables that this machine's memory cannot hold, before anything is allocated.

    Starting values are made on the host. What is on other devices has memory there, so only single variables count.
    """
    memory = machine_memory()
    if memory is None:
        return
    sizes = {v: v.size * np.dtype(v.spec.dtype).itemsize for v in variables if v.spec.dtype != "string"}
    on_host = sum(size for variable, size in sizes.items() if variable.host)
    largest = max(sizes, key=lambda v: sizes[v], default=None)
    if largest is not None and max(sizes[largest], on_host) > memory:
        raise BuildError(
            f"variable {largest.name}, {largest.spec}, needs {sizes[largest] / 2**30:,.1f} GiB, all host variables "
            f"{on_host / 2**30:,.1f} GiB; this machine has {memory / 2**30:,.1f} GiB of memory: make them smaller"
        )


def lay_out(
    variables: Sequence[Variable], steppers: Mapping[str, frozenset[str]], shared: Layout | None = None
) -> Layout:
    """Distribute tensor variables over groups.

    Args:
        variables: all declared variables; host variables are left out.
        steppers: variable name -> scopes of the optimizers that step it.
        shared: groups of another graph, all of whose variables are among these; they stay as they are.

    Raises:
        BuildError: this machine has no memory for them, or they lack a shared one, or have it with another shape or
            dtype.
    """
    check_memory(variables)
    in_tensors = {variable.name: variable for variable in variables if not variable.host}
    groups = {} if shared is None else dict(shared.groups)
    group_of = {} if shared is None else dict(shared.group_of)
    for theirs in (variable for group in groups.values() for variable in group.variables):
        ours = in_tensors.get(theirs.name)
        if ours is None or ours.spec != theirs.spec:
            raise BuildError(
                f"variable {theirs.name}: expected {theirs.spec}, as in the executor whose variables are shared, "
                f"given {'none' if ours is None else ours.spec}"
            )
    members: dict[tuple[Any, ...], list[Variable]] = {}
    for variable in sorted((v for v in in_tensors.values() if v.name not in group_of), key=lambda v: v.name):
        key = (
            variable.role,
            variable.spec.dtype,
            variable.trainable,
            tuple(sorted(steppers.get(variable.name, ()))),
            variable.device,
        )
        members.setdefault(key, []).append(variable)
    numbered = enumerate(sorted(members.items()), len(groups))
    for number, ((role, dtype, trainable, _, device), group_variables) in numbered:
        name = f"group_{number}" + (f":{role}" if role else "")
        offsets, size = {}, 0
        for variable in group_variables:
            offsets[variable.name] = size
            size += variable.size
            group_of[variable.name] = name
        groups[name] = Group(name, dtype, trainable, tuple(group_variables), offsets, size, device)
    return Layout(groups, group_of)
