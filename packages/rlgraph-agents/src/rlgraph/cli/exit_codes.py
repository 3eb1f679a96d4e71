"""What a command's exit code says."""

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
    UNEXPECTED = 1, "An error nobody foresaw: a fault of RLgraph or of a plug-in. Its traceback is printed."
    BAD_INPUT = 2, "Wrong usage or input: the message says what is wrong, where, and what to do."
    RUN_FAILED = (
        3,
        "It cannot go on, or a check failed: an environment broke its contract, a number is not finite, the disk is "
        "full.",
    )
    INTERRUPTED = 130, "Interrupted by Ctrl-C or SIGTERM; what was done until then is kept."


def code_of(error: Exception) -> ExitCode:
    """The exit code of an error that RLgraph raised on purpose."""
    # Whoever raised one of these has imported its class; nobody else needs it.
    modules = {"rlgraph.environments.errors": "EnvironmentFault", "rlgraph.runs.errors": "StorageError"}
    raised = (getattr(sys.modules[module], name) for module, name in modules.items() if module in sys.modules)
    failures = (NumericalError, *raised)
    return ExitCode.RUN_FAILED if isinstance(error, failures) else ExitCode.BAD_INPUT
