"""Each rule of `check_repository` catches the violation it is there for, and a sound repository has none."""

from __future__ import annotations

from pathlib import Path

import pytest

from check_repository import RULES, Repository, range_problem, violations

ROOT_SETTINGS = """
[tool.mypy]
mypy_path = ["packages/rlgraph-low/src", "packages/rlgraph-high/src"]
[tool.importlinter]
root_packages = ["rlgraph.low", "rlgraph.high"]
"""

LOW = """
[project]
name = "rlgraph-low"
version = "0.1.3"
dependencies = ["numpy>=1.26"]
[project.entry-points."rlgraph.backends"]
low = "rlgraph.low.descriptor:BACKEND"
[tool.poetry]
packages = [{ include = "rlgraph", from = "src" }]
[[tool.rlgraph.matrix]]
name = "low"
"""

HIGH = """
[project]
name = "rlgraph-high"
version = "0.1.0"
dependencies = ["rlgraph-low>=0.1,<0.2"]
[project.optional-dependencies]
draw = ["painter>=1"]
[project.scripts]
rlgraph = "rlgraph.high:main"
[tool.poetry.dependencies]
rlgraph-low = { path = "../rlgraph-low", develop = true }
[[tool.rlgraph.matrix]]
name = "high"
with = ["rlgraph-low"]
extras = ["draw"]
"""

HIGH_AS_AN_EXTRA = """
[project.optional-dependencies]
high = ["rlgraph-high>=0.1,<0.2"]
[tool.poetry.dependencies]
rlgraph-high = { path = "../rlgraph-high", develop = true }
[tool.poetry]
"""


def write(file: Path, text: str = "") -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A sound repository of two packages."""
    write(tmp_path / "pyproject.toml", ROOT_SETTINGS)
    write(tmp_path / "LICENSE", "the licence")
    write(tmp_path / "docs/ruff.toml", "line-length = 40\n")
    write(tmp_path / "tools/constraints.txt", "# pins\nnumpy==2.0\npainter==1.0\n")
    for name, version, settings in (("low", "0.1.3", LOW), ("high", "0.1.0", HIGH)):
        package = tmp_path / f"packages/rlgraph-{name}"
        write(package / "pyproject.toml", settings)
        write(package / "README.md")
        write(package / "CHANGELOG.md", f"## [{version}]\n")
        write(package / "LICENSE", "the licence")
        write(package / f"tests/{name}/test_it.py")
        write(package / f"src/rlgraph/{name}/__init__.py", "def main(): ...\n")
        write(package / f"src/rlgraph/{name}/py.typed")
    write(tmp_path / "packages/rlgraph-low/src/rlgraph/low/descriptor.py", "BACKEND = {}\n")
    return tmp_path


def found(root: Path) -> list[str]:
    return violations(Repository(root))


def test_a_sound_repository_has_no_violations(root: Path) -> None:
    assert found(root) == []


def test_namespace_init(root: Path) -> None:
    write(root / "packages/rlgraph-low/src/rlgraph/__init__.py")
    assert any("rlgraph is a namespace" in problem for problem in found(root))


def test_portion_without_init_or_py_typed(root: Path) -> None:
    (root / "packages/rlgraph-low/src/rlgraph/low/__init__.py").unlink()
    (root / "packages/rlgraph-high/src/rlgraph/high/py.typed").unlink()
    assert found(root) == [
        "packages/rlgraph-high/src/rlgraph/high has no py.typed",
        "packages/rlgraph-low/src/rlgraph/low has no __init__.py",
    ]


def test_portion_of_two_distributions(root: Path) -> None:
    for file in ("__init__.py", "py.typed"):
        write(root / "packages/rlgraph-high/src/rlgraph/low" / file)
    assert found(root) == ["rlgraph.low is shipped by both rlgraph-high and rlgraph-low"]


def test_import_linter_and_mypy_miss_a_portion(root: Path) -> None:
    edit(root / "pyproject.toml", '"rlgraph.high"', '"rlgraph.gone"')
    edit(root / "pyproject.toml", ', "packages/rlgraph-high/src"', "")
    assert found(root) == [
        "pyproject.toml: [tool.importlinter] root_packages lacks rlgraph.high, so no import rule sees it",
        "pyproject.toml: [tool.importlinter] root_packages lists rlgraph.gone, which no package ships",
        "pyproject.toml: [tool.mypy] mypy_path lacks packages/rlgraph-high/src",
    ]


def test_sibling_version_outside_the_range(root: Path) -> None:
    edit(root / "packages/rlgraph-low/pyproject.toml", "0.1.3", "0.2.0")
    write(root / "packages/rlgraph-low/CHANGELOG.md", "## [0.2.0]\n")
    (problem,) = found(root)
    assert "rlgraph-low>=0.1,<0.2: does not admit the version that stands in the repository, 0.2.0" in problem


@pytest.mark.parametrize("path", ['path = "../elsewhere", develop = true', 'path = "../rlgraph-low"'])
def test_sibling_path(root: Path, path: str) -> None:
    edit(root / "packages/rlgraph-high/pyproject.toml", 'path = "../rlgraph-low", develop = true', path)
    (problem,) = found(root)
    assert "[tool.poetry.dependencies]" in problem


@pytest.mark.parametrize(
    ("requirement", "version", "admitted"),
    [
        ("a>=0.1,<0.2", "0.1.0", True),
        ("a>=0.1,<0.2", "0.1.17", True),
        ("a[x,y] >= 0.1, < 0.2", "0.1.9", True),
        ("a>=0.1.0,<0.2", "0.1", True),
        ("a[x]>=0.1,<0.2; python_version > '3'", "0.1.1", True),
        ("a>=0.1,<0.2", "0.2.0", False),
        ("a>=0.1,<0.2", "0.10", False),
        ("a>=0.1,<0.2", "0.0.9", False),
        ("a>=0.1.2,<0.2", "0.1.1", False),
        ("a>=0.1,!=0.1.1,<0.2", "0.1.1", False),
        ("a", "0.1.0", False),
        ("a>=0.1", "0.1.0", False),
        ("a~=0.1,>=0.1,<2", "0.1.0", False),
    ],
)
def test_ranges(requirement: str, version: str, admitted: bool) -> None:
    assert (range_problem(requirement, version) is None) is admitted


@pytest.mark.parametrize("file", ["README.md", "CHANGELOG.md", "LICENSE"])
def test_missing_file(root: Path, file: str) -> None:
    (root / "packages/rlgraph-low" / file).unlink()
    assert found(root) == [f"packages/rlgraph-low has no {file}"]


def test_no_tests(root: Path) -> None:
    (root / "packages/rlgraph-low/tests/low/test_it.py").unlink()
    assert found(root) == ["packages/rlgraph-low has no tests"]


def test_changelog_licence_and_name(root: Path) -> None:
    write(root / "packages/rlgraph-low/CHANGELOG.md", "## [0.1.2]\n")
    write(root / "packages/rlgraph-low/LICENSE", "another licence")
    (root / "packages/rlgraph-low").rename(root / "packages/low")
    edit(root / "packages/rlgraph-high/pyproject.toml", "../rlgraph-low", "../low")
    edit(root / "pyproject.toml", "packages/rlgraph-low/src", "packages/low/src")
    assert found(root) == [
        "packages/low/CHANGELOG.md has no heading '## [0.1.3]', the package's version",
        "packages/low/LICENSE differs from the repository's",
        "packages/low holds a distribution of another name, rlgraph-low",
    ]


def test_long_file(root: Path) -> None:
    file = root / "packages/rlgraph-low/src/rlgraph/low/long.py"
    write(file, "x = 1\n" * 699)
    assert found(root) == []
    write(file, "x = 1\n" * 700)
    (problem,) = found(root)
    assert "long.py has 700 lines" in problem


@pytest.mark.parametrize("page", ["README.md", "packages/rlgraph-low/README.md", "docs/guide/page.md"])
def test_wide_code_on_a_page(root: Path, page: str) -> None:
    write(root / page, f"{'text ' * 9}\n````text\n```\n{'x' * 40}\n```\n````\n{'text ' * 9}\n")
    assert found(root) == []
    edit(root / page, "x" * 40, "x" * 41)
    assert found(root) == [f"{page}:4: code has 41 columns; at most 40 are allowed"]


@pytest.mark.parametrize("name", ["tests/torch/test_a.py", "tests/low/tf/test_a.py", "tests/tensorflow.py"])
def test_tests_named_after_a_framework(root: Path, name: str) -> None:
    write(root / "packages/rlgraph-low" / name)
    (problem,) = found(root)
    assert "named after a framework" in problem


def test_source_folders_may_be_named_after_a_framework(root: Path) -> None:
    write(root / "packages/rlgraph-low/src/rlgraph/low/torch/a.py")
    assert found(root) == []


def test_entry_point_targets(root: Path) -> None:
    edit(root / "packages/rlgraph-low/pyproject.toml", "descriptor:BACKEND", "descriptor:OTHER")
    edit(root / "packages/rlgraph-high/pyproject.toml", "rlgraph.high:main", "rlgraph.high.cli:main")
    assert found(root) == [
        "packages/rlgraph-high/pyproject.toml: scripts: rlgraph: "
        "there is no module rlgraph.high.cli in this package",
        "packages/rlgraph-low/pyproject.toml: rlgraph.backends: low: rlgraph.low.descriptor defines no OTHER",
    ]
    edit(root / "packages/rlgraph-low/pyproject.toml", "descriptor:OTHER", "descriptor:BACKEND [fast]")
    assert found(root)[1].endswith("low: the package has no extra fast")


def test_matrix(root: Path) -> None:
    file = root / "packages/rlgraph-high/pyproject.toml"
    edit(file, 'name = "high"', 'name = "low"\nafter = "sky"')
    edit(file, 'with = ["rlgraph-low"]', 'with = ["rlgraph-middle"]')
    edit(
        file,
        'extras = ["draw"]',
        'extras = ["paint"]\n[tool.rlgraph.optional-modules]\noil = ["rlgraph.high.oil"]',
    )
    problems = found(root)
    assert len(problems) == 5
    for text in (
        "no package rlgraph-middle",
        "no extra paint",
        "no extra oil",
        "two rows named low",
        "no earlier row sky",
    ):
        assert any(text in problem for problem in problems)


def test_requirements_in_a_circle(root: Path) -> None:
    edit(root / "packages/rlgraph-low/pyproject.toml", "[tool.poetry]", HIGH_AS_AN_EXTRA)
    assert found(root) == ["rlgraph-low requires rlgraph-high, which requires it"]


@pytest.mark.parametrize("line", ["import painter.oil", "def f():\n    from painter import oil\n"])
def test_undeclared_import(root: Path, line: str) -> None:
    """The package that has the extra may import it."""
    for name in ("low", "high"):
        write(root / f"packages/rlgraph-{name}/src/rlgraph/{name}/paint.py", line)
    assert found(root) == [
        "packages/rlgraph-low/src/rlgraph/low/paint.py imports painter, which rlgraph-low does not require"
    ]


def test_package_outside_the_matrix(root: Path) -> None:
    file = root / "packages/rlgraph-low/pyproject.toml"
    file.write_text(file.read_text(encoding="utf-8").split("[[tool.rlgraph")[0], encoding="utf-8")
    (problem,) = found(root)
    assert "the wheel is never tested" in problem


@pytest.mark.parametrize("line", ["numpy>=2", "numpy @ file:///x/numpy.whl", "--find-links x"])
def test_constraints_hold_pins_only(root: Path, line: str) -> None:
    write(root / "tools/constraints.txt", f"numpy==2.0\npainter==1.0\n{line}\n")
    (problem,) = found(root)
    assert "is not of the form name==version" in problem


def test_requirement_without_a_pin(root: Path) -> None:
    write(root / "tools/constraints.txt", "painter==1.0\n")
    assert found(root) == ["tools/constraints.txt has no pin for numpy, which rlgraph-low requires"]


def test_this_repository_is_checked_by_every_rule() -> None:
    assert len({rule.__name__ for rule in RULES}) == len(RULES) == 13
