"""Checks, and the backend under test."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from rlgraph.core import (
    Backend,
    Collective,
    Component,
    ExecutionSpec,
    GraphExecutor,
    create_backend,
    find_backend,
)
from rlgraph.core.ops import CONTRACT_VERSION, OPERATIONS


@dataclass(frozen=True)
class Subject:
    """The backend under test, by name. Checks use what users use.

    Attributes:
        backend: its registered name.
        device: device of everything that a check does not place; empty: the backend decides.
    """

    backend: str
    device: str = ""

    @property
    def capabilities(self) -> frozenset[str]:
        """What its descriptor declares."""
        return find_backend(self.backend).capabilities

    def create(self, **execution: Any) -> Backend:
        """The backend alone."""
        return create_backend(self.backend, ExecutionSpec(**execution))

    def executor(
        self,
        root: Component,
        spaces: Mapping[str, Any] | None = None,
        collective: Collective | None = None,
        shares: GraphExecutor | None = None,
        **execution: Any,
    ) -> GraphExecutor:
        """`root` built on the backend; `execution` are fields of the execution spec."""
        execution = {"device": self.device, **execution} if self.device else execution
        return GraphExecutor(
            root,
            spaces or {},
            backend=self.backend,
            execution_spec=execution,
            collective=collective,
            shares=shares,
        )

    @staticmethod
    def reference(
        root: Component, spaces: Mapping[str, Any] | None = None, **execution: Any
    ) -> GraphExecutor:
        """The same on the reference."""
        return GraphExecutor(root, spaces or {}, backend="numpy", execution_spec=execution)


@dataclass(frozen=True)
class Check:
    """One thing that a backend must do.

    Attributes:
        section: what it belongs to.
        name: its name in the section.
        run: raises if the subject does not do it.
        capabilities: those a backend must declare for the check to make sense.
        operations: those the contract must have for it.
        unless: capabilities that make it pointless.
        placed: it makes sense on a device, too.
        reason: gives another reason why the check does not concern a subject; empty if it does.
    """

    section: str
    name: str
    run: Callable[[Subject], None]
    capabilities: frozenset[str] = frozenset()
    operations: frozenset[str] = frozenset()
    unless: frozenset[str] = frozenset()
    placed: bool = True
    reason: Callable[[Subject], str] = lambda _: ""

    @property
    def id(self) -> str:
        return f"{self.section}/{self.name}"

    def gate(self, subject: Subject) -> str:
        """Why the check does not concern the subject; empty if it does."""
        lacking = sorted(self.capabilities - subject.capabilities)
        if lacking:
            return f"{subject.backend} does not declare {', '.join(lacking)}"
        declared = sorted(self.unless & subject.capabilities)
        if declared:
            return f"{subject.backend} declares {', '.join(declared)}"
        if subject.device and not self.placed:
            return "it is asked where nothing is placed"
        unknown = sorted(self.operations - OPERATIONS.keys())
        if unknown:
            return f"contract {CONTRACT_VERSION} has no {', '.join(f'ops.{name}' for name in unknown)}"
        return self.reason(subject)


#: All checks, in the order of their declaration; `load_checks` fills it.
CHECKS: list[Check] = []


def check(
    section: str,
    *,
    capabilities: Iterable[str] = (),
    operations: Iterable[str] = (),
    unless: Iterable[str] = (),
    placed: bool = True,
) -> Callable[[Callable[[Subject], None]], Callable[[Subject], None]]:
    """Declare the decorated function as a check, called like the function."""

    def declare(function: Callable[[Subject], None]) -> Callable[[Subject], None]:
        needs, kinds, against = frozenset(capabilities), frozenset(operations), frozenset(unless)
        CHECKS.append(Check(section, function.__name__, function, needs, kinds, against, placed))
        return function

    return declare


def check_each(
    section: str,
    items: Mapping[str, Any],
    *,
    capabilities: Callable[[Any], Iterable[str]] = lambda _: (),
    reason: Callable[[Subject, Any], str] = lambda _subject, _item: "",
) -> Callable[[Callable[[Subject, Any], None]], Callable[[Subject, Any], None]]:
    """Declare a check per item, called like the item; the decorated function takes the item as well.

    Args:
        section: what they belong to.
        items: name -> item.
        capabilities: gives what the check of an item needs.
        reason: gives another reason why the check of an item does not concern a subject; empty if it does.
    """

    def declare(function: Callable[[Subject, Any], None]) -> Callable[[Subject, Any], None]:
        for name, item in items.items():
            run, why = (partial(_call_with, called, item) for called in (function, reason))
            CHECKS.append(Check(section, name, run, frozenset(capabilities(item)), reason=why))
        return function

    return declare


def _call_with(function: Callable[[Subject, Any], Any], item: Any, subject: Subject) -> Any:
    return function(subject, item)
