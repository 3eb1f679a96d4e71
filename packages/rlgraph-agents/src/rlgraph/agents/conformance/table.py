"""The table of rows: what every agent is held to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rlgraph.agents.conformance.subject import AgentUnderTest


@dataclass(frozen=True)
class Row:
    """One thing that an agent must do.

    Attributes:
        section: what it belongs to.
        name: its name in the section.
        statement: what it holds an agent to, in one line.
        run: raises if the agent does not do it; `NotApplicable` if the row does not concern the agent.
        on_every_backend: another backend could fail it.
        is_slow: it takes seconds; it runs only where it is asked for by name.
    """

    section: str
    name: str
    statement: str
    run: Callable[[AgentUnderTest], None]
    on_every_backend: bool = False
    is_slow: bool = False

    @property
    def id(self) -> str:
        return f"{self.section}/{self.name}"


#: All rows, in the order of their declaration; `load_rows` fills it.
ROWS: list[Row] = []


def row(
    section: str, *, on_every_backend: bool = False, is_slow: bool = False
) -> Callable[[Callable[[AgentUnderTest], None]], Callable[[AgentUnderTest], None]]:
    """Declare the decorated function as a row, called like the function; its docstring is the statement."""

    def declare(function: Callable[[AgentUnderTest], None]) -> Callable[[AgentUnderTest], None]:
        statement = (function.__doc__ or "").strip()
        ROWS.append(Row(section, function.__name__, statement, function, on_every_backend, is_slow))
        return function

    return declare
