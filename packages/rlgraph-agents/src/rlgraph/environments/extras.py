"""Modules that the extras of rlgraph-agents bring, and the line that installs a missing one."""

from __future__ import annotations

import importlib
import re
from importlib.metadata import requires
from typing import Any

from rlgraph.core import SpecError

PACKAGE = "rlgraph-agents"

#: Modules whose distribution has another name.
DISTRIBUTIONS = {"pygame": "pygame-ce"}


def import_extra(module: str, what: str, path: str, otherwise: str = "") -> Any:
    """The module, imported.

    Args:
        module: such as ``"h5py"``.
        what: what needs it, such as "HDF5".
        path: the place in the spec, or the file, that asks for it.
        otherwise: what works without it; ends the message.

    Raises:
        SpecError: it cannot be imported; has the line that installs it.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise not_importable(module, error, what, path, otherwise) from error


def not_importable(module: str, error: ImportError, what: str, path: str, otherwise: str = "") -> SpecError:
    """The error of what needs a module that cannot be imported; arguments as of `import_extra`."""
    return SpecError(
        f"{what} needs {module}, which cannot be imported ({error}): {install_line(module)}{otherwise}",
        path=path,
    )


def import_error(error: BaseException) -> ImportError | None:
    """The failed import that `error` is, or that caused it."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ImportError):
        cause = cause.__cause__ or cause.__context__
    return cause


def install_line(module: str) -> str:
    """The command that installs a module: by the extra that brings it, else by its own name."""
    top = module.partition(".")[0]
    wanted = _normalized(DISTRIBUTIONS.get(top, top))
    for requirement in requires(PACKAGE) or ():
        name = re.split(r"[^\w.-]", requirement, maxsplit=1)[0]
        extra = re.search(r"extra\s*==\s*['\"]([^'\"]+)", requirement)
        if extra and _normalized(name) == wanted:
            return f'pip install "{PACKAGE}[{extra.group(1)}]"'
    return f"pip install {wanted}"


def _normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
