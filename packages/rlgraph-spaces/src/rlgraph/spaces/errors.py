"""SpaceError, the exception of this package, and helpers for its messages."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["SpaceError", "join", "mismatch", "nearest"]


class SpaceError(ValueError):
    """A Space, a spec or a sample is invalid.

    `path`, `expected`, `given` and `hint` hold the parts of a message made by `mismatch`, else "".
    """

    path = ""
    expected = ""
    given = ""
    hint = ""

    def under(self, path: str) -> SpaceError:
        """The same error with `path` prepended to its path, for a container."""
        if not self.expected:
            return SpaceError(f"{path}: {self}") if path else self
        return mismatch(join(path, self.path), self.expected, self.given, self.hint)


def join(*parts: str) -> str:
    """Joins the non-empty path parts with "/"."""
    return "/".join(part for part in parts if part)


def mismatch(path: str, expected: str, given: object, hint: str = "") -> SpaceError:
    """A SpaceError that reads "path: expected X, given Y; hint"."""
    message = f"expected {expected}, given {given}"
    if path:
        message = f"{path}: {message}"
    if hint:
        message = f"{message}; {hint}"
    error = SpaceError(message)
    error.path, error.expected, error.given, error.hint = path, expected, str(given), hint
    return error


def nearest(name: str, names: Iterable[str]) -> str:
    """The hint "did you mean ...?" with the name closest to `name`, or ""."""
    close = difflib.get_close_matches(name, list(names), n=1)
    return f"did you mean {close[0]!r}?" if close else ""
