"""The Python blocks of every page are run: in order, in one namespace per page, in a temporary folder.

A block that cannot run is preceded by a line `<!-- skip: the reason -->`.
"""

from __future__ import annotations

import ast
import doctest
import importlib
import io
import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from copy import copy
from pathlib import Path

import pytest

from devlib.project import ROOT, load_packages
from rlgraph.core import registry

_FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}|:{3,})\s*\{?(?P<language>[\w-]*)\}?.*$")
_PRINTED = re.compile(r"\n*```text\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_SKIP = re.compile(r"<!--\s*skip:\s*\S.*-->")


def pages(root: Path) -> list[Path]:
    """The READMEs and the documentation, without what is generated."""
    documentation = sorted((root / "docs").rglob("*.md"))
    return [
        root / "README.md",
        *sorted((root / "packages").glob("*/README.md")),
        *(page for page in documentation if not {"_build", "generated"} & set(page.parts)),
    ]


def python_blocks(text: str) -> Iterator[tuple[int, str, str | None]]:
    """The line number of each Python block that is not skipped, its code, and what a text block after it shows."""
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
            printed = _PRINTED.match("\n".join(lines[end + 1 :]))
            yield number + 1, code, printed and printed[1]
        number = end + 1


class _EveryTryRaises(ast.NodeTransformer):
    """A page that catches an error shows it: where there is none any more, the page is out of date."""

    def visit_Try(self, node: ast.Try) -> ast.Try:
        self.generic_visit(node)
        if node.handlers and not node.orelse:
            outdated = ast.parse("raise AssertionError('the page says that this is an error')")
            node.orelse = ast.increment_lineno(outdated, node.lineno - 1).body
        return node


def run_page(page: Path) -> None:
    """Runs the blocks of a page; a traceback names the page and its line. What they print is what the page shows."""
    namespace: dict[str, object] = {"__name__": f"docs_{page.stem}"}
    for line, code, printed in python_blocks(page.read_text(encoding="utf-8")):
        tree = _EveryTryRaises().visit(ast.parse("\n" * line + code, str(page)))
        with redirect_stdout(io.StringIO()) as out:
            exec(compile(tree, str(page), "exec"), namespace)
        if printed is not None:
            assert out.getvalue() == printed, f"{page}, line {line}"


@pytest.mark.parametrize("page", pages(ROOT), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for group in ("rlgraph.components", "rlgraph.backends"):
        # What a page registers is gone behind it.
        known = registry(group)
        monkeypatch.setattr(known, "_plugins", copy(known._plugins))
        monkeypatch.setattr(known, "_objects", copy(known._objects))
    run_page(page)


def modules_with_examples() -> list[str]:
    """The modules whose docstrings show a session of Python."""
    return [
        ".".join(file.relative_to(package.source).with_suffix("").parts).removesuffix(".__init__")
        for package in load_packages().values()
        for file in sorted(package.source.rglob("*.py"))
        if not package.is_example and ">>> " in file.read_text(encoding="utf-8")
    ]


@pytest.mark.parametrize("module", modules_with_examples())
def test_examples_of_docstrings(module: str) -> None:
    found = doctest.testmod(importlib.import_module(module))
    assert found.attempted > 0 and found.failed == 0


PAGE = """
# Title

```python
x = 1
```

<!-- skip: needs a machine that nobody has -->

```python
raise AssertionError
```

* in a list

  ```python
  y = x + 1
  assert y == 2
  ```

````markdown
```python
raise AssertionError
```
````

```bash
false
```
"""


def test_blocks_share_a_namespace_and_may_be_skipped(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE, encoding="utf-8")
    assert [line for line, _, _ in python_blocks(PAGE)] == [4, 16]
    run_page(page)


def test_a_failing_block_is_found_with_its_line(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("text\n\n```python\nx = 1\nassert x == 2\n```\n", encoding="utf-8")
    with pytest.raises(AssertionError) as caught:
        run_page(page)
    assert caught.traceback[-1].path == page
    assert caught.traceback[-1].lineno + 1 == 5


def test_a_mistake_that_is_none_any_more_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```python\ntry:\n    x = 1\nexcept ValueError as error:\n    print(error)\n```\n", encoding="utf-8"
    )
    with pytest.raises(AssertionError, match="says that this is an error") as caught:
        run_page(page)
    assert caught.traceback[-1].lineno + 1 == 2


GALLERY = sorted((ROOT / "docs" / "gallery").glob("*.md"))


@pytest.mark.repetition
@pytest.mark.parametrize("page", GALLERY, ids=lambda page: page.stem)
def test_the_gallery_on_tensorflow(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its pages say "torch", to be built fast; what they show holds everywhere."""
    known = registry("rlgraph.components")
    monkeypatch.setattr(known, "_plugins", copy(known._plugins))
    monkeypatch.setattr(known, "_objects", copy(known._objects))
    namespace: dict[str, object] = {"__name__": page.stem}
    for line, code, _ in python_blocks(page.read_text(encoding="utf-8")):
        elsewhere = code.replace('backend="torch"', 'backend="tf"').replace('("numpy", "torch")', '("tf",)')
        exec(compile("\n" * line + elsewhere, str(page), "exec"), namespace)
