"""Section ``budget``: how many calls one execution makes, counted without a clock.

A call of a Python function counts, and a call of a built-in function or method (`len`, `isinstance`, a function of a C
extension). NumPy's ufuncs, types (``tuple(...)``), operators and whatever a framework does inside a call do not count.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

from rlgraph.core import Component, GraphExecutor, graph_fn, rlgraph_api
from rlgraph.spaces import FloatBox
from rlgraph.testing.conformance.checks import Subject, check

#: Calls that an execution may make whatever it computes, and for every graph function of one operation.
FIXED, PER_NODE = 40, 4

#: The compiler's modules, of which nothing runs any more once a plan was lowered.
MACHINERY = tuple(f"rlgraph.core.{part}" for part in ("component", "graph", "ops", "registry", "specs"))
#: Modules of helpers that backends use at run time.
HELPERS = {"rlgraph.core.ops.nest", "rlgraph.core.ops.python_control"}


class Chain(Component):
    """One graph function after the other, each of one operation."""

    def __init__(self, length: int):
        self.length = length
        super().__init__(scope="chain")

    @rlgraph_api
    def call(self, x: Any) -> Any:
        for _ in range(self.length):
            x = self._tanh(x)
        return x

    @graph_fn
    def _tanh(self, ops: Any, x: Any) -> Any:
        return ops.tanh(x)


def calls_of(function: Callable[[], Any]) -> list[str]:
    """The modules of the functions that run while ``function()`` does, one entry per call."""
    found: list[str] = []

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            found.append(frame.f_globals.get("__name__", ""))
        elif event == "c_call":
            found.append(getattr(argument, "__module__", None) or "builtins")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(before)
    return found[1:-1]  # without `function` itself and the end of the count


def _chain(subject: Subject, length: int) -> list[str]:
    executor: GraphExecutor = subject.executor(
        Chain(length), {"x": FloatBox(shape=(2,), add_batch_rank=True)}
    )
    program, x = executor.program("call"), np.ones((3, 2), np.float32)
    for _ in range(2):
        program(x)
    return calls_of(lambda: program(x))


@check("budget", placed=False)
def fixed(subject: Subject) -> None:
    """An execution of one operation costs few calls."""
    count = len(_chain(subject, 1))
    assert count <= FIXED + PER_NODE, (
        f"one execution of one operation makes {count} calls, at most {FIXED + PER_NODE}"
    )


@check("budget", placed=False)
def per_node(subject: Subject) -> None:
    """A graph function costs what its operations cost and hardly more."""
    short, long = (len(_chain(subject, length)) for length in (5, 25))
    each = (long - short) / 20
    assert each <= PER_NODE, f"every graph function of one operation makes {each} calls, at most {PER_NODE}"


@check("budget", placed=False)
def no_machinery(subject: Subject) -> None:
    """No function of components, graphs or rules runs once a plan is lowered."""
    found = {module for module in _chain(subject, 3) if module.startswith(MACHINERY)} - HELPERS
    assert not found, f"an execution runs functions of {', '.join(sorted(found))}"
