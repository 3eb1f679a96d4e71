"""Docstrings are Markdown in small doses; this makes reStructuredText of them.

Understood are code in backticks, **bold** words, lists, and fenced blocks of code. Everything else that
reStructuredText would take for markup is escaped. Roles (:class:`X`), literals, directives, doctests and blocks after
`::` stay as they are. Members that come from other libraries (`concatenate = numpy.concatenate`) are left to
their own documentation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from sphinx.application import Sphinx

from rlgraph.core.component.members import GraphFunction

_SPAN = re.compile(
    r"(?P<kept>:[\w:+.-]+:`[^`]+`|``.+?``|`[^`\n]*`__?|(?<!\w)\*\*[^\s*](?:[^*]*[^\s*])?\*\*(?!\w))|`(?P<code>[^`]+)`",
    re.DOTALL,
)
_MARKUP = re.compile(r"(?<!\\)(\*|\||(?<=\w)_(?!\w)|`)")
_BULLET = re.compile(r"\s*(?:[*+-]|\d+\.) (?=\S)")
_FENCE = re.compile(r"\s*```\s*(?P<language>[\w-]*)\s*$")


def convert(lines: list[str]) -> list[str]:
    """A whole docstring."""
    converted: list[str] = []
    literal_indent: int | None = None
    for block in _blocks(lines):
        fence = _FENCE.match(block[0])
        if fence is not None:
            converted += [*_code_block(block, fence["language"]), ""]
            continue
        if literal_indent is not None and _indent(block[0]) > literal_indent:
            converted += [*block, ""]
            continue
        literal_indent = _indent(block[0]) if block[-1].rstrip().endswith("::") else None
        kept = block[0].lstrip().startswith((">>>", ".. "))
        converted += [*(block if kept else _paragraph(block)), ""]
    return converted


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    """Paragraphs, fenced blocks, and list items, which Markdown does not ask to be separated by empty lines."""
    block: list[str] = []
    fenced = False
    for line in lines:
        if fenced:
            block.append(line)
            if _FENCE.match(line):
                yield block
                block, fenced = [], False
        elif _FENCE.match(line) or not line.strip() or _BULLET.match(line):
            if block:
                yield block
            fenced = _FENCE.match(line) is not None
            block = [line] if line.strip() else []
        else:
            block.append(line)
    if block:
        yield block


def _paragraph(block: list[str]) -> list[str]:
    bullet = _BULLET.match(block[0])
    start = bullet.group() if bullet else ""
    return (start + _inline("\n".join(block)[len(start) :])).split("\n")


def _inline(text: str) -> str:
    parts: list[str] = []
    position = 0
    for match in _SPAN.finditer(text):
        parts.append(_MARKUP.sub(r"\\\1", text[position : match.start()]))
        position = match.end()
        if parts[-1] and parts[-1][-1].isalnum():
            parts.append("\\ ")
        parts.append(match["kept"] or f"``{' '.join(match['code'].split())}``")
        if text[position : position + 1].isalnum():
            parts.append("\\ ")
    parts.append(_MARKUP.sub(r"\\\1", text[position:]))
    return "".join(parts)


def _code_block(block: list[str], language: str) -> list[str]:
    margin = " " * _indent(block[0])
    code = block[1:-1] if len(block) > 1 and _FENCE.match(block[-1]) else block[1:]
    return [
        f"{margin}.. code-block:: {language or 'text'}",
        "",
        *(f"   {line}" if line else "" for line in code),
    ]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _process(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    lines[:] = convert(lines)


def _skip(app: Sphinx, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    if isinstance(obj, GraphFunction):  # described where a class asks for it; it cannot be called
        return True
    module = getattr(obj, "__module__", None)
    if callable(obj) and not (isinstance(module, str) and module.startswith("rlgraph")):
        return True
    return None


def setup(app: Sphinx) -> dict[str, Any]:
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-docstring", _process, priority=400)  # before napoleon
    app.connect("autodoc-skip-member", _skip)
    return {"parallel_read_safe": True, "version": "1"}
