"""Running the rows: as a function, and as a test class."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any
from unittest import SkipTest

from rlgraph.agents.agent import Agent
from rlgraph.agents.conformance.explanations import EXPLANATIONS
from rlgraph.agents.conformance.subject import AgentUnderTest, NotApplicable
from rlgraph.agents.conformance.table import ROWS, Row
from rlgraph.algorithms.algorithm import Algorithm
from rlgraph.testing.conformance.suite import Outcome, failure

MODULES = (
    "learning",
    "acting",
    "exploration",
    "experience",
    "updates",
    "values",
    "targets",
    "options",
    "resuming",
    "runs",
    "spaces",
    "masks",
    "inputs",
    "faults",
)


def load_rows() -> list[Row]:
    """All rows."""
    for module in MODULES:
        importlib.import_module(f"rlgraph.agents.conformance.{module}")
    return list(ROWS)


def _run(row: Row, subject: AgentUnderTest) -> None:
    reason = subject.kind.algorithm_class.test_exceptions.get(row.id)
    if reason is not None:
        raise NotApplicable(f"the algorithm says: {reason}")
    row.run(subject)


def run_row(row: Row, subject: AgentUnderTest) -> Outcome:
    """Hold an agent to one row; whatever the row raises is its failure."""
    try:
        _run(row, subject)
    except NotApplicable as reason:
        return Outcome(row, "gated", str(reason))
    except Exception as error:
        return failure(row, error)
    return Outcome(row, "passed", row.statement)


def explained(row: Row, subject: AgentUnderTest) -> Outcome:
    """What a row does with an agent, as the details of an outcome; the row is not run."""
    task, tolerance, causes = EXPLANATIONS[row.id]
    options = ", ".join(f"{name}={value!r}" for name, value in subject.given_options().items())
    lines = [
        row.statement,
        f"Task: {task}",
        f"Tolerance: {tolerance}.",
        f"Usual causes of a failure: {causes}.",
        f"Options of {subject.kind.__name__}, unless the row gives others: {options}.",
    ]
    return Outcome(row, "explained", row.statement, "\n".join(lines))


def run_agent_conformance(
    agent: str | type[Agent | Algorithm],
    backend: str,
    *,
    only: Iterable[str] = (),
    options: Mapping[str, Any] | None = None,
    report: Callable[[Outcome], None] | None = None,
    explain: bool = False,
) -> list[Outcome]:
    """Hold an agent to the table.

    Args:
        agent: its registered name, or its class, or that of its algorithm.
        backend: name of a backend.
        only: sections, or rows as ``section/name``; none for all that are not slow.
        options: of the agent; see `AgentUnderTest`.
        report: called with each outcome as it comes.
        explain: run no row: all outcomes are ``explained``; their details say what the row does, how near results have
            to come, and what usually breaks it.

    Raises:
        SpecError: there is no such agent, or it is not an agent of an algorithm.
    """
    subject, wanted, outcomes = AgentUnderTest(agent, backend, options or {}), set(only), []
    subject.kind  # noqa: B018 - an unknown name is no failure of a row
    for row in load_rows():
        if row.id in wanted or (not row.is_slow and (not wanted or row.section in wanted)):
            outcome = explained(row, subject) if explain else run_row(row, subject)
            outcomes.append(outcome)
            if report is not None:
                report(outcome)
    return outcomes


class AgentConformance:
    """The table as a test class: one named test per row.

    ```python
    from rlgraph.agents.conformance import AgentConformance

    class TestMyAgent(AgentConformance):
        agent, backend = "mine", "torch"
    ```
    """

    #: The registered name of the agent, or its class.
    agent: str | type[Agent | Algorithm]
    #: Name of a backend.
    backend: str
    #: Of the agent, in place of those that the suite gives.
    options: Mapping[str, Any] = {}

    def pytest_generate_tests(self, metafunc: Any) -> None:
        """Make the tests; called by pytest."""
        if "row" in metafunc.fixturenames:
            rows = [row for row in load_rows() if not row.is_slow]
            metafunc.parametrize("row", rows, ids=[row.id for row in rows])

    @classmethod
    @cache
    def _subject(cls) -> AgentUnderTest:
        return AgentUnderTest(cls.agent, cls.backend, cls.options)

    def test_conformance(self, row: Row) -> None:
        try:
            _run(row, self._subject())
        except NotApplicable as reason:
            raise SkipTest(str(reason)) from None  # which pytest knows
