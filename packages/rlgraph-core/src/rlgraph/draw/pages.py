"""A page of headings, prose, code and tables, as plain text, Markdown or HTML."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rlgraph.core.errors import RLGraphError


@dataclass(frozen=True)
class Heading:
    text: str
    level: int = 2


@dataclass(frozen=True)
class Prose:
    """A paragraph; names in backticks are code."""

    text: str


@dataclass(frozen=True)
class Code:
    text: str


@dataclass(frozen=True)
class Bullets:
    """A list with one line per item."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """A table; its cells are code."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


Block = Heading | Prose | Code | Bullets | Table

_STYLE = """
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.5 system-ui, sans-serif;
       color: #1b1f24; background: #fff; }
pre, code { font: 0.875em/1.45 ui-monospace, monospace; }
pre { overflow-x: auto; padding: 0.8rem 1rem; background: #f5f6f8; border-radius: 6px; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { text-align: left; vertical-align: top; padding: 0.2rem 1rem 0.2rem 0; border-bottom: 1px solid #d5d8dd; }
@media (prefers-color-scheme: dark) {
  body { color: #e4e6ea; background: #16181c; } pre { background: #22252b; } a { color: #8ab4f8; }
  th, td { border-color: #3a3e46; }
}
"""


@dataclass(frozen=True)
class Page:
    """The blocks of a page, from top to bottom; the first one is its title."""

    blocks: tuple[Block, ...]

    @property
    def title(self) -> str:
        first = self.blocks[0]
        return first.text if isinstance(first, Heading) else ""

    def text(self) -> str:
        """Plain text: headings are underlined, code is indented."""
        return "\n\n".join(_text(block) for block in self.blocks) + "\n"

    def markdown(self) -> str:
        """GitHub-flavoured Markdown."""
        return "\n\n".join(_markdown(block) for block in self.blocks) + "\n"

    def html(self) -> str:
        """A self-contained HTML document."""
        body = "\n".join(_html(block) for block in self.blocks)
        head = f'<meta charset="utf-8"><title>{html.escape(self.title)}</title><style>{_STYLE}</style>'
        return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}\n</body></html>\n'

    def save(self, file: str | Path) -> None:
        """Write the page in the format of the suffix: ``.md``, ``.html`` or ``.txt``.

        Raises:
            RLGraphError: the suffix is unknown.
        """
        file = Path(file)
        forms = {".md": self.markdown, ".html": self.html, ".txt": self.text}
        if file.suffix not in forms:
            raise RLGraphError(f"the suffix of a page must be one of {', '.join(forms)}, given {file.name!r}")
        file.write_text(forms[file.suffix](), encoding="utf-8")


def _text(block: Block) -> str:
    if isinstance(block, Heading):
        return f"{block.text}\n{'=-~'[block.level - 1] * len(block.text)}"
    if isinstance(block, Code):
        return "\n".join(f"    {line}".rstrip() for line in block.text.rstrip("\n").split("\n"))
    if isinstance(block, Bullets):
        return "\n".join(f"* {item}" for item in block.items)
    if isinstance(block, Table):
        return "\n".join(_aligned([block.header, *block.rows]))
    return block.text


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def _markdown(block: Block) -> str:
    if isinstance(block, Heading):
        return f"{'#' * block.level} {block.text}"
    if isinstance(block, Code):
        return f"```python\n{block.text.rstrip()}\n```"
    if isinstance(block, Bullets):
        return "\n".join(f"* {item}" for item in block.items)
    if isinstance(block, Table):
        cells = [[f"`{cell}`".replace("|", "\\|") if cell else "" for cell in row] for row in block.rows]
        lines = [block.header, ["---"] * len(block.header), *cells]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return block.text


def _html(block: Block) -> str:
    if isinstance(block, Heading):
        return f"<h{block.level}>{html.escape(block.text)}</h{block.level}>"
    if isinstance(block, Code):
        return f"<pre><code>{html.escape(block.text.rstrip())}</code></pre>"
    if isinstance(block, Bullets):
        return f"<ul>{''.join(f'<li>{_inline(item)}</li>' for item in block.items)}</ul>"
    if isinstance(block, Table):
        head = "".join(f"<th>{html.escape(name)}</th>" for name in block.header)
        rows = ["".join(f"<td><code>{html.escape(cell)}</code></td>" for cell in row) for row in block.rows]
        return f"<table><tr>{head}</tr>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"
    return f"<p>{_inline(block.text)}</p>"


def _inline(text: str) -> str:
    escaped = re.sub(r"`+([^`]+)`+", r"<code>\1</code>", html.escape(text, quote=False))
    return re.sub(r"(https?://[^\s<]*[^\s<.,;:)])", r'<a href="\1">\1</a>', escaped)
