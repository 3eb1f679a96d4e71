"""The Python blocks of a page are run: in order, in one namespace per page.

A block that cannot run is preceded by a line `<!-- skip: the reason -->`. What a block prints is what a text block
directly after it shows, with long lines folded.
"""

from __future__ import annotations

import ast
import io
import re
import textwrap
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}|:{3,})\s*\{?(?P<language>[\w-]*)\}?.*$")
_PRINTED = re.compile(r"\n*```text\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_SKIP = re.compile(r"<!--\s*skip:\s*\S.*-->")


#: Columns of code and output on a page.
WIDTH: int = tomllib.loads((Path(__file__).parents[1] / "ruff.toml").read_text(encoding="utf-8"))[
    "line-length"
]


@dataclass(frozen=True)
class Block:
    """A Python block of a page.

    Attributes:
        start, end: the numbers of its first and last line.
        code: what it says.
        shown: the text block directly after it; None if there is none.
    """

    start: int
    end: int
    code: str
    shown: str | None


@dataclass(frozen=True)
class Result:
    """What came of a block: what it printed, and all that is defined after it."""

    block: Block
    printed: str
    values: dict[str, Any]


def python_blocks(text: str) -> Iterator[Block]:
    """The Python blocks of a page that are not skipped."""
    lines = text.splitlines()
    number = 0
    while number < len(lines):
        match = _FENCE.match(lines[number])
        if match is None or match["fence"][0] == ":":
            number += 1
            continue
        end = number + 1
        while end < len(lines) and lines[end].strip() != match["fence"]:
            end += 1
        before = next((line for line in reversed(lines[:number]) if line.strip()), "")
        if match["language"] == "python" and not _SKIP.search(before):
            indent = len(match["indent"])
            code = "\n".join(line[indent:] for line in lines[number + 1 : end]) + "\n"
            shown = _PRINTED.match("\n".join(lines[end + 1 :]))
            yield Block(number + 1, end + 1, code, shown and shown[1])
        number = end + 1


class _EveryTryRaises(ast.NodeTransformer):
    """A page that catches an error shows it: where there is none any more, the page is out of date."""

    def visit_Try(self, node: ast.Try) -> ast.Try:
        self.generic_visit(node)
        if node.handlers and not node.orelse:
            outdated = ast.parse("raise AssertionError('the page says that this is an error')")
            node.orelse = ast.increment_lineno(outdated, node.lineno - 1).body
        return node


def folded(text: str) -> str:
    """`text` with long lines continued on the next ones."""
    fold = textwrap.TextWrapper(
        WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(line if len(line) <= WIDTH else fold.fill(line) for line in text.split("\n"))


def run_page(page: Path, replaced: Mapping[str, str] | None = None) -> list[Result]:
    """Run the blocks of a page; a traceback names the page and its line.

    Args:
        page: the file.
        replaced: texts in the code, and what replaces them; what is printed is not compared then.

    Raises:
        AssertionError: a block prints something else than the page shows, or does not raise what it catches.
    """
    values: dict[str, Any] = {"__name__": f"docs_{page.stem}"}
    results = []
    for block in python_blocks(page.read_text(encoding="utf-8")):
        code = block.code
        for old, new in (replaced or {}).items():
            code = code.replace(old, new)
        tree = _EveryTryRaises().visit(ast.parse("\n" * block.start + code, str(page)))
        with redirect_stdout(io.StringIO()) as out:
            exec(compile(tree, str(page), "exec"), values)
        printed = out.getvalue()
        if not replaced and block.shown is not None and folded(printed) != block.shown:
            raise AssertionError(
                f"{page}, line {block.start}: expected {block.shown!r}, printed {folded(printed)!r}"
            )
        results.append(Result(block, printed, dict(values)))
    return results
