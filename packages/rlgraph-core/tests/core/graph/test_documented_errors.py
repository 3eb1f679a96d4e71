"""Every error and warning of an assembly or a build is on the page of build errors, and all that is there is real."""

import ast
import re
from pathlib import Path

import pytest

import rlgraph.core

DOCS = Path(__file__).parents[5] / "docs"
PAGE = DOCS / "build_errors.md"
CORE = Path(rlgraph.core.__file__).parent
pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the documentation is not part of the package")

KINDS = {
    "AssemblyError",
    "BuildError",
    "CapabilityError",
    "InferenceError",
    "NotAssembling",
    "warnings.warn",
}
#: Messages that are put together elsewhere, and the words of theirs that the page shows.
COMPOSED = {
    "Deadlock(self.components, pending, waiting, self.deferred).message()": [
        "the build cannot go on:",
        "has no Space; it is supplied by output",
        "waits for its component",
        "waits for the variables of",
        "the cycle:",
        "break the cycle: let the build hooks of one component read none of these Spaces",
    ],
    "str(error)": [],  # one of a build, found at assembly already
}
ANY = ".*?"


def normal(text):
    return " ".join(text.split())


def pattern(message):
    """A regular expression for the messages that an expression makes."""
    if isinstance(message, ast.Constant) and isinstance(message.value, str):
        return re.escape(re.sub(r"\s+", " ", message.value))
    if isinstance(message, ast.JoinedStr):
        return "".join(map(pattern, message.values))
    if isinstance(message, ast.BinOp):
        return pattern(message.left) + pattern(message.right)
    return ANY


def messages(*folders, kinds=KINDS):
    """(place, source, pattern) of every message below `folders` of the core."""
    for file in (file for folder in folders for file in sorted((CORE / folder).rglob("*.py"))):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and (kind := ast.unparse(node.func)) in kinds:
                message = node.args[0 if kind == "warnings.warn" else -1]
                yield f"{file.relative_to(CORE)}:{node.lineno}", ast.unparse(message), pattern(message)


def literals(text):
    """What stands in blocks of text and in spans of code."""
    blocks = re.findall(r"^```text\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    rest = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    return [
        normal(found)
        for found in [*blocks, *(span for _, span in re.findall(r"(`+)(.+?)\1", rest, re.DOTALL))]
    ]


def undocumented(text, found):
    """The places of the messages that the page does not show."""
    shown = literals(text)
    return [
        f"{place}: {source}"
        for place, source, expression in found
        if source not in COMPOSED
        and (expression == ANY or not any(re.search(expression, literal) for literal in shown))
    ]


def test_every_message_is_on_the_page():
    found = list(messages("graph", "component"))
    assert len(found) > 80
    assert undocumented(PAGE.read_text(encoding="utf-8"), found) == []
    assert {source for _, source, expression in found if expression == ANY} <= set(COMPOSED)


def test_composed_messages_are_on_the_page():
    whole = "\n".join(literals(PAGE.read_text(encoding="utf-8")))
    assert [words for parts in COMPOSED.values() for words in parts if words not in whole] == []


def test_a_message_that_is_not_on_the_page_is_found():
    tree = ast.parse('BuildError(f"{where}: the moon is {phase!r}:\\n  wait")').body[0].value
    found = [("file.py:1", "source", pattern(tree.args[0]))]
    assert undocumented("The moon is full: `root: the moon is 'full'`.", found) == ["file.py:1: source"]
    assert undocumented("As in `root.f: the moon is 'full':\nwait`.", found) == []
    assert undocumented("```text\nroot.f: the moon is\n  'full': wait\n```\n", found) == []


def test_the_tables_show_no_message_that_does_not_exist():
    """The first column of each table is messages."""
    known = [
        expression
        for _, _, expression in messages(".", kinds={*KINDS, "AttributeError"})
        if expression != ANY
    ]
    cells = re.findall(r"^\* - (.*?)^  - ", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    spans = [literal for cell in cells for literal in literals(cell)]
    assert len(spans) > 40
    assert [span for span in spans if not any(re.fullmatch(expression, span) for expression in known)] == []
