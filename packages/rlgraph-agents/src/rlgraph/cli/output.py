"""Where the words of a command go: results to standard output, and with ``--json`` nothing but JSON there."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console, RenderableType
from rich.markup import escape
from rich.text import Text

#: Control characters but tab and line feed, those that turn the direction of writing, and what is no character.
_UNPRINTABLE = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """`text` with its unprintable characters as escapes: names in somebody's files give a terminal no orders."""
    return _UNPRINTABLE.sub(lambda match: ascii(match[0])[1:-1], text)


class Terminal(Console):
    """A console that prints texts as `printable` makes them."""

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(printable(text), **options)


class Output:
    """How the command that runs now speaks.

    Attributes:
        quiet: results and errors only.
        json: results are JSON on standard output, everything else goes to standard error.
        debug: errors come with their traceback.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """As it is before a command has said anything."""
        self.quiet = self.json = self.debug = False

    @property
    def notes(self) -> Terminal:
        """For what accompanies the work: progress, evaluations, hints."""
        return Terminal(stderr=self.json, quiet=self.quiet)

    @property
    def width(self) -> int:
        """How many characters a line of the result has room for."""
        return Terminal().width

    def result(self, human: RenderableType, data: Any, *, wrap: bool = True) -> None:
        """Print the outcome of a command, for a person or as JSON.

        Args:
            human: text or a table; text is printed as it is, with no markup.
            data: the same, JSON-able; NaN becomes null.
            wrap: long lines of text may be broken.
        """
        if self.json:
            print(json.dumps(_plain(data), indent=2))
        elif isinstance(human, str):
            Terminal().print(human, highlight=False, markup=False, soft_wrap=not wrap)
        else:
            Terminal().print(human)

    @contextmanager
    def status(self, what: str) -> Iterator[None]:
        """Show that something takes its time; nothing where nobody watches."""
        with self.notes.status(escape(what)):
            yield


output = Output()


def _plain(value: Any) -> Any:
    """What JSON can hold: JSON has no NaN and no infinities."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, str | bool | int | None) else str(value)
