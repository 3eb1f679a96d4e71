"""The Python blocks of every page are run: in order, in one namespace per page, in a temporary folder.

A block that cannot run is preceded by a line `<!-- skip: the reason -->`.
"""

from __future__ import annotations

import doctest
import importlib
import re
from copy import copy
from pathlib import Path
from typing import Any

import pytest

from devlib.project import ROOT, load_packages
from page_runner import python_blocks, run_page
from rlgraph.core import registry

_SHOWS_OUTPUT = re.compile(r"^ *```\{rlgraph-(output|plan\}.*\n:built:)", re.MULTILINE)


def pages(root: Path) -> list[Path]:
    """The READMEs and the documentation, without what is generated."""
    documentation = sorted((root / "docs").rglob("*.md"))
    return [
        root / "README.md",
        *sorted((root / "packages").glob("*/README.md")),
        *(page for page in documentation if not {"_build", "generated"} & set(page.parts)),
    ]


def page_parameters() -> list[Any]:
    """The pages; those whose output the documentation shows are run when it is built: here that is a repetition."""
    return [
        pytest.param(
            page,
            id=page.relative_to(ROOT).as_posix(),
            marks=pytest.mark.repetition if _SHOWS_OUTPUT.search(page.read_text(encoding="utf-8")) else (),
        )
        for page in pages(ROOT)
    ]


@pytest.mark.parametrize("page", page_parameters())
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
    assert [block.start for block in python_blocks(PAGE)] == [4, 16]
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


@pytest.mark.parametrize(
    ("page", "module"),
    [
        ("write_an_algorithm", "rlgraph-reinforce/src/rlgraph_reinforce/reinforce.py"),
        ("write_an_executor", "rlgraph-processes/src/rlgraph_processes/executor.py"),
    ],
)
def test_the_code_of_a_tutorial_is_that_of_its_package(page: str, module: str) -> None:
    text = (ROOT / "docs" / "tutorials" / f"{page}.md").read_text(encoding="utf-8")
    code = (ROOT / "docs" / "examples" / module).read_text(encoding="utf-8")
    assert code.endswith(next(python_blocks(text)).code)


GALLERY = sorted((ROOT / "docs" / "gallery").glob("*.md"))


@pytest.mark.repetition
@pytest.mark.parametrize("page", GALLERY, ids=lambda page: page.stem)
def test_the_gallery_on_tensorflow(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its pages say "torch", to be built fast; what they show holds everywhere."""
    known = registry("rlgraph.components")
    monkeypatch.setattr(known, "_plugins", copy(known._plugins))
    monkeypatch.setattr(known, "_objects", copy(known._objects))
    run_page(page, {'backend="torch"': 'backend="tf"', '("numpy", "torch")': '("tf",)'})
