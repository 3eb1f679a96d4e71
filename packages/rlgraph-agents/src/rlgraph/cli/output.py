"""Output of commands: results go to standard output; with ``--json`` only JSON goes there."""

from __future__ import annotations

import json
import logging
import math
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress
from typing import Any, TextIO

from rich.console import Console, RenderableType
from rich.text import Text

#: Control characters except tab and line feed, direction marks, and code points that are no characters.
_UNPRINTABLE = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """`text` with unprintable characters as escapes, so that names in files cannot control the terminal."""
    return _UNPRINTABLE.sub(lambda match: ascii(match[0])[1:-1], text)


class Terminal(Console):
    """A console that prints texts through `printable`, and ``:X:`` in them as it is."""

    def __init__(self, stderr: bool = False, **options: Any) -> None:
        super().__init__(
            emoji=False, stderr=stderr, file=output.streams.get(stderr or output.json), **options
        )

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(printable(text), **options)


class Output:
    """Output settings of the current command.

    Attributes:
        quiet: results and errors only.
        json: results are JSON on standard output; everything else goes to standard error.
        debug: errors include the traceback.
    """

    def __init__(self) -> None:
        #: Whether it is standard error -> a copy of the stream; empty outside of `own_streams`.
        self.streams: dict[bool, TextIO] = {}
        self.reset()

    def reset(self) -> None:
        """Restore the defaults."""
        self.quiet = self.json = self.debug = False
        self._results: TextIO | None = None

    @contextmanager
    def own_streams(self) -> Iterator[None]:
        """Print through copies of standard output and standard error, since environments may close those."""
        pairs = ((False, sys.stdout, sys.__stdout__), (True, sys.stderr, sys.__stderr__))
        try:
            for is_error, stream, of_the_process in pairs:
                if stream is of_the_process and stream is not None:
                    with suppress(OSError, ValueError):  # it is closed already
                        copy = os.dup(stream.fileno())
                        self.streams[is_error] = os.fdopen(
                            copy, "w", buffering=1, encoding=stream.encoding, errors=stream.errors
                        )
            yield
        finally:
            for copied in self.streams.values():
                with suppress(OSError):  # nobody reads any more
                    copied.close()
            self.streams = {}
            try:
                if sys.stdout is not None:
                    sys.stdout.flush()
            except (OSError, ValueError):
                sys.stdout = None  # Python would report at its end that it is closed

    @contextmanager
    def results_alone(self) -> Iterator[None]:
        """Send everything but results to standard error, what environments and their processes print above all."""
        with ExitStack() as stack:
            self._results = stdout = sys.stdout
            is_of_the_process = stdout is sys.__stdout__
            if is_of_the_process:
                stdout.flush()
                descriptor = stdout.fileno()
                self._results = stack.enter_context(
                    os.fdopen(os.dup(descriptor), "w", encoding=stdout.encoding)
                )
                stack.callback(os.dup2, self._results.fileno(), descriptor)
                os.dup2(sys.stderr.fileno(), descriptor)
            stack.enter_context(redirect_stdout(sys.stderr))
            yield

    @property
    def notes(self) -> Terminal:
        """The console for progress, evaluations and hints."""
        return Terminal(stderr=self.json, quiet=self.quiet)

    @property
    def width(self) -> int:
        """The number of characters per line of the result."""
        return Terminal().width

    def result(self, human: RenderableType, data: Any, *, wrap: bool = True) -> None:
        """Print the result of a command as text or JSON.

        Args:
            human: text or a table; text is printed without markup.
            data: the same, JSON-serializable; NaN becomes null.
            wrap: allow line breaks in long lines of text.
        """
        if self.json:
            print(json.dumps(_plain(data), indent=2), file=self._results, flush=True)
        elif isinstance(human, str):
            Terminal().print(human, highlight=False, markup=False, soft_wrap=not wrap)
        else:
            Terminal().print(human)

    @contextmanager
    def status(self, what: str) -> Iterator[None]:
        """Show a spinner on terminals."""
        with self.notes.status(Text(printable(what))):
            yield

    @contextmanager
    def logs(self) -> Iterator[None]:
        """Print what RLgraph logs, such as the preset that it uses, on standard error."""
        logger, handler = logging.getLogger("rlgraph"), _LogPrinter(self)
        before = logger.level
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        try:
            yield
        finally:
            logger.removeHandler(handler)
            logger.setLevel(before)


class _LogPrinter(logging.Handler):
    def __init__(self, settings: Output):
        super().__init__(logging.INFO)
        self.settings = settings

    def emit(self, record: logging.LogRecord) -> None:
        console = Terminal(stderr=True, quiet=self.settings.quiet and record.levelno < logging.WARNING)
        console.print(record.getMessage(), highlight=False, markup=False, soft_wrap=True)


output = Output()


def _plain(value: Any) -> Any:
    """Replace NaN and infinities, which JSON lacks, by None."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, str | bool | int | None) else str(value)
