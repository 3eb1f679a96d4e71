"""Running the checks: as a function, from the command line, and as a test class."""

from __future__ import annotations

import importlib
import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from rlgraph.testing.conformance.checks import CHECKS, Check, Subject

MODULES = (
    "contract",
    "operations",
    "edges",
    "variables",
    "writes",
    "randomness",
    "control",
    "loops",
    "gradients",
    "gradient_edges",
    "groups",
    "components",
    "draws",
    "functional",
    "graphs",
    "budget",
)


def load_checks() -> list[Check]:
    """All checks.

    Raises:
        ImportError: what comes with `rlgraph-core[testing]` is not installed.
    """
    importlib.import_module("rlgraph.testing.operations")  # it says what to install
    for module in MODULES:
        importlib.import_module(f"rlgraph.testing.conformance.{module}")
    order = ("contract", "operations", "operators", "edges", "variables", "random", "control", "loops")
    return sorted(
        CHECKS, key=lambda check: order.index(check.section) if check.section in order else len(order)
    )


class Named(Protocol):
    """A check of any suite."""

    @property
    def section(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def id(self) -> str: ...


@dataclass(frozen=True)
class Outcome:
    """What came of one check.

    Attributes:
        check: the check.
        status: ``passed``, ``failed`` or ``gated``.
        message: what is wrong, why it was gated, or what it found.
        details: the traceback of a failure.
    """

    check: Named
    status: str
    message: str = ""
    details: str = ""


def failure(check: Named, error: Exception) -> Outcome:
    """The outcome of a check that raised an error."""
    name = "" if isinstance(error, AssertionError) else f"{type(error).__name__}: "
    message = ", ".join([f"{name}{error}", *getattr(error, "__notes__", ())])
    return Outcome(check, "failed", message, "".join(traceback.format_exception(error)))


def run_check(check: Check, subject: Subject) -> Outcome:
    """Run one check if it concerns the subject; whatever it raises is its failure."""
    reason = check.gate(subject)
    if reason:
        return Outcome(check, "gated", reason)
    try:
        check.run(subject)
    except Exception as error:
        return failure(check, error)
    return Outcome(check, "passed")


def run_conformance(
    backend: str,
    *,
    only: Iterable[str] = (),
    device: str = "",
    report: Callable[[Outcome], None] | None = None,
) -> list[Outcome]:
    """Run the suite on a backend.

    Args:
        backend: its registered name.
        only: sections, or checks as ``section/name``; none for all.
        device: device of everything, e.g. ``cuda:0``; empty: the backend decides.
        report: called with each outcome as it comes.

    Raises:
        SpecError: there is no such backend.
        PluginError: it cannot be loaded.
    """
    subject, wanted, outcomes = Subject(backend, device), set(only), []
    subject.create()
    for check in load_checks():
        if not wanted or wanted & {check.section, check.id}:
            outcome = run_check(check, subject)
            outcomes.append(outcome)
            if report is not None:
                report(outcome)
    return outcomes


class BackendConformance:
    """The suite as a test class: one named test per check that concerns the backend.

    ```python
    from rlgraph.testing import BackendConformance

    class TestMyBackend(BackendConformance):
        backend = "mine"
    ```
    """

    #: The registered name of the backend.
    backend: str
    #: Device of everything; empty: the backend decides.
    device: str = ""

    def pytest_generate_tests(self, metafunc: Any) -> None:
        """Make the tests; called by pytest."""
        if "check" in metafunc.fixturenames:
            subject = Subject(self.backend, self.device)
            checks = [check for check in load_checks() if not check.gate(subject)]
            metafunc.parametrize("check", checks, ids=[check.id for check in checks])

    def test_conformance(self, check: Check) -> None:
        check.run(Subject(self.backend, self.device))


def summary(outcomes: Iterable[Outcome], started: float) -> str:
    """``84 passed, 1 failed, 6 gated in 12.3 s``."""
    counts = dict.fromkeys(("passed", "failed", "gated"), 0)
    for outcome in outcomes:
        counts[outcome.status] += 1
    parts = ", ".join(f"{count} {status}" for status, count in counts.items())
    return f"{parts} in {time.perf_counter() - started:.1f} s"
