"""The list of ``tools/deliberate_breaks.py`` fits the sources and tests; trying the breaks takes too long here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from deliberate_breaks import ROOT, Break, broken, listed_breaks


def test_every_break_can_be_made_and_has_tests() -> None:
    breaks = listed_breaks()
    names = [each.name for each in breaks]
    assert len(set(names)) == len(names) >= 70
    stale = [f"{each.name}: {each.file}" for each in breaks if times(each) != 1]
    assert not stale, (
        f"the texts of these breaks are not there once: update tools/deliberate_breaks.toml: {stale}"
    )
    assert [each.name for each in breaks if each.new == each.old] == []
    assert [test for each in breaks for test in each.tests if not is_there(test)] == []


def times(each: Break) -> int:
    file = ROOT / each.file
    return file.read_text(encoding="utf-8").count(each.old) if file.is_file() else 0


def is_there(test: str) -> bool:
    """Whether a file has the test function or class of an id; those of the conformance suite are made."""
    file, *names = test.partition("[")[0].split("::")
    if not (ROOT / file).is_file():
        return not names and (ROOT / file).is_dir()
    text = (ROOT / file).read_text(encoding="utf-8")
    return all(
        name == "test_conformance" or re.search(rf"\b(def|class) {name}\b", text) is not None
        for name in names
    )


def test_a_break_is_undone(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text("x = 1\n", encoding="utf-8")
    with broken(Break("a break", "module.py", "1", "2", ()), tmp_path):
        assert file.read_text(encoding="utf-8") == "x = 2\n"
    assert file.read_text(encoding="utf-8") == "x = 1\n"


@pytest.mark.parametrize("source", ["", "x = 1\nx = 1\n"])
def test_a_text_that_is_not_there_once(tmp_path: Path, source: str) -> None:
    (tmp_path / "module.py").write_text(source, encoding="utf-8")
    with (
        pytest.raises(ValueError, match="instead of once"),
        broken(Break("a break", "module.py", "x = 1", "x = 2", ()), tmp_path),
    ):
        pass
