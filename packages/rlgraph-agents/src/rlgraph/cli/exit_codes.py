"""Exit codes of the commands."""

from __future__ import annotations

import sys
from enum import IntEnum

from rlgraph.core import NumericalError


class ExitCode(IntEnum):
    """The exit codes of every command."""

    description: str

    def __new__(cls, value: int, description: str) -> ExitCode:
        code = int.__new__(cls, value)
        code._value_ = value
        code.description = description
        return code

    DONE = 0, "Done."
    UNEXPECTED = 1, "Unexpected error: a fault of RLgraph or of a plug-in. The traceback is printed."
    BAD_INPUT = 2, "Wrong usage or input: the message says what is wrong, where, and what to do."
    RUN_FAILED = (
        3,
        "The run or a check failed: an environment broke its contract, actors failed too often, a number is not "
        "finite, or the disk is full.",
    )
    INTERRUPTED = 130, "Interrupted by Ctrl-C or SIGTERM; a run keeps its progress."


def code_of(error: Exception) -> ExitCode:
    """The exit code of an `RLGraphError`."""
    # Looked up in sys.modules: an error can only come from a module that is imported already.
    modules = {
        "rlgraph.environments.errors": "EnvironmentFault",
        "rlgraph.execution.remote.actors": "TooManyRestarts",
        "rlgraph.runs.errors": "StorageError",
    }
    raised = (getattr(sys.modules[module], name) for module, name in modules.items() if module in sys.modules)
    failures = (NumericalError, *raised)
    return ExitCode.RUN_FAILED if isinstance(error, failures) else ExitCode.BAD_INPUT
