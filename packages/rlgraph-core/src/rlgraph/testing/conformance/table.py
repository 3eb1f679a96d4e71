"""The table of the component library: what the checks have seen of each component on each backend."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rlgraph.core import Component, registry
from rlgraph.spaces import BoxSpace, from_spec
from rlgraph.testing.conformance.cases import CASES, GAPS, Case
from rlgraph.testing.conformance.checks import Subject
from rlgraph.testing.conformance.suite import Outcome, load_checks, run_conformance

COLUMNS = ("forward", "gradient", "save/load", "nested Space", "time rank")

#: Component -> column -> cell.
Table = dict[str, dict[str, "Cell"]]


@dataclass(frozen=True)
class Cell:
    """One property of one component.

    Attributes:
        outcomes: backend -> what came of the checks of it; empty: there are none.
        gap: why there are none.
    """

    outcomes: Mapping[str, tuple[Outcome, ...]]
    gap: str = ""

    def backends(self, status: str) -> list[str]:
        """Those on which all checks, or for "failed" any, ended like that."""
        quantifier = any if status == "failed" else all
        return [
            name
            for name, found in self.outcomes.items()
            if quantifier(outcome.status == status for outcome in found)
        ]

    def __str__(self) -> str:
        if not self.outcomes:
            return self.gap
        failed, gated = self.backends("failed"), self.backends("gated")
        if failed:
            return f"✗ {', '.join(failed)}"
        if gated:
            return f"{'✓, ' if len(gated) < len(self.outcomes) else ''}not on {', '.join(gated)}"
        return "✓"


def shipped_components() -> list[str]:
    """The components of the library by name, sorted; of several names the one that cases have, or the shortest."""
    names: dict[str, list[str]] = {}
    for plugin in registry(Component.registry_group).plugins():
        if plugin.target.startswith("rlgraph.components."):
            names.setdefault(plugin.target, []).append(plugin.name)
    return sorted(min(each, key=lambda name: (name not in CASES, len(name))) for each in names.values())


def cases_of(component: str) -> dict[str, Case]:
    """The cases of a shipped component: those whose names begin with no longer name of one."""
    names = shipped_components()

    def owner(case: str) -> str:
        return max((name for name in names if f"{case}_".startswith(f"{name}_")), key=len, default="")

    return {name: case for name, case in CASES.items() if owner(name) == component}


def checks_of(component: str) -> dict[str, list[str]]:
    """Column -> the checks of it, as ``section/name``."""
    cases = cases_of(component)
    forward = {name: f"components/{name}" for name in cases}
    derived = [f"derivatives/{name}" for name, case in cases.items() if case.is_derived]
    return {
        "forward": list(forward.values()),
        "gradient": [*derived, *(forward[name] for name, case in cases.items() if case.trains)],
        "save/load": [f"components/{name}" for name in cases],
        "nested Space": [forward[name] for name, case in cases.items() if _is_nested(case)],
        "time rank": [forward[name] for name, case in cases.items() if _has_time(case)],
    }


def _is_nested(case: Case) -> bool:
    spaces = [*case.spaces.values(), getattr(case.make(), "action_space", None)]
    return any(not isinstance(from_spec(space), BoxSpace) for space in spaces if space is not None)


def _has_time(case: Case) -> bool:
    return any(from_spec(space).has_time_rank for space in case.spaces.values())


def component_table(
    backends: Iterable[str], components: Iterable[str] = (), *, execute: bool = True
) -> Table:
    """What the checks of the shipped components find.

    Args:
        backends: their registered names.
        components: the registered names of some components; none: all.
        execute: run the checks; otherwise those that concern a backend count as passed, where the suite runs elsewhere.
    """
    wanted = {name: checks_of(name) for name in components or shipped_components()}
    only = {check for columns in wanted.values() for checks in columns.values() for check in checks}
    run = _run if execute else _assume
    found = {name: {o.check.id: o for o in run(name, only)} for name in backends}

    def cell(component: str, column: str) -> Cell:
        checks = wanted[component][column]
        outcomes = {name: tuple(of[check] for check in checks) for name, of in found.items()}
        return Cell(outcomes if checks else {}, gap_of(component, column))

    return {component: {column: cell(component, column) for column in COLUMNS} for component in wanted}


def _run(backend: str, only: set[str]) -> list[Outcome]:
    return run_conformance(backend, only=only)


def _assume(backend: str, only: set[str]) -> list[Outcome]:
    subject = Subject(backend)
    checks = [check for check in load_checks() if check.id in only]
    return [Outcome(check, "gated" if check.gate(subject) else "passed") for check in checks]


def gap_of(component: str, column: str) -> str:
    """The reason that is given for a column without checks; empty: none."""
    reasons = GAPS.get(column, {})
    return next((reason for reason, names in reasons.items() if component in names.split()), "")


def table_markdown(table: Table) -> str:
    """The table in Markdown."""
    lines = [f"| component | {' | '.join(COLUMNS)} |", "| --- |" + " --- |" * len(COLUMNS)]
    for component, cells in table.items():
        lines.append(f"| `{component}` | {' | '.join(map(str, cells.values()))} |")
    return "\n".join(lines) + "\n"
