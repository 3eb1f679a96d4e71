#!/usr/bin/env python3
"""Holds the repository to its own rules; prints what breaks them and exits with 1 if anything does.

    python3 tools/check_repository.py [REPOSITORY]

Each rule is a function of a `Repository` that yields one sentence per violation. Standard library only.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from devlib.project import (
    ROOT,
    Package,
    admits,
    external_requirements,
    in_order,
    load_packages,
    requirement_name,
    with_siblings,
)

MAX_LINES = 699
FRAMEWORKS = frozenset(
    {"gymnasium", "horovod", "jax", "keras", "matplotlib", "numpy", "ray", "tensorflow", "tf", "torch"}
)
#: What is imported under another name than that of the distribution that brings it.
_BROUGHT_BY = {"PIL": "pillow", "keras": "tensorflow", "yaml": "pyyaml"}
_SKIPPED = frozenset({".venvs", ".venv", "_build", "generated", "__pycache__", "runs", "dist", "build"})


@dataclass(frozen=True)
class Repository:
    """The folder that is checked and the packages in it."""

    root: Path

    @cached_property
    def packages(self) -> dict[str, Package]:
        return load_packages(self.root)

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The `[tool]` table of the root `pyproject.toml`."""
        return tomllib.loads((self.root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]

    @cached_property
    def files(self) -> list[Path]:
        """Every Python file that belongs to the repository."""
        found = []
        for folder in ("packages", "tools", "docs"):
            for path in sorted((self.root / folder).rglob("*.py")):
                if not _SKIPPED & set(path.relative_to(self.root).parts[1:-1]):
                    found.append(path)
        return found

    def name(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()


def namespace_is_owned_by_nobody(repository: Repository) -> Iterator[str]:
    """`rlgraph` is a PEP 420 namespace: a single `__init__.py` in it would hide all other distributions."""
    for path in repository.files:
        if path.name == "__init__.py" and path.parent.name == "rlgraph":
            yield f"{repository.name(path)}: rlgraph is a namespace shared by all packages; remove this file"


def portions_are_packages(repository: Repository) -> Iterator[str]:
    """Each portion is a package with `__init__.py` and `py.typed`, and one distribution owns it."""
    owners: dict[str, str] = {}
    for package in repository.packages.values():
        for portion in package.portions:
            folder = package.source / portion.replace(".", "/")
            for file in ("__init__.py", "py.typed"):
                if not (folder / file).is_file():
                    yield f"{repository.name(folder)} has no {file}"
            if portion in owners:
                yield f"{portion} is shipped by both {owners[portion]} and {package.name}"
            owners[portion] = package.name


def import_rules_see_every_portion(repository: Repository) -> Iterator[str]:
    """A portion that `root_packages` does not list is ignored without a word; so is a path by mypy."""
    ours = [package for package in repository.packages.values() if not package.is_example]
    portions = {portion for package in ours for portion in package.portions}
    listed = set(repository.settings["importlinter"]["root_packages"])
    for portion in sorted(portions - listed):
        yield f"pyproject.toml: [tool.importlinter] root_packages lacks {portion}, so no import rule sees it"
    for portion in sorted(listed - portions):
        yield f"pyproject.toml: [tool.importlinter] root_packages lists {portion}, which no package ships"
    sources = {repository.name(package.source) for package in repository.packages.values()}
    for source in sorted(sources - set(repository.settings["mypy"]["mypy_path"])):
        yield f"pyproject.toml: [tool.mypy] mypy_path lacks {source}"


def siblings_admit_each_other(repository: Repository) -> Iterator[str]:
    """A sibling is required by a range that admits its version, and by path; Poetry compares neither."""
    for package in repository.packages.values():
        file = f"{repository.name(package.folder)}/pyproject.toml"
        paths = package.data["tool"]["poetry"].get("dependencies", {})
        for requirement in package.requirements:
            sibling = repository.packages.get(requirement_name(requirement))
            if sibling is None:
                continue
            problem = range_problem(requirement, sibling.version)
            if problem:
                yield f"{file}: {requirement}: {problem}"
            path = paths.get(sibling.name, {}).get("path")
            if path is None or (package.folder / path).resolve() != sibling.folder.resolve():
                yield f"{file}: [tool.poetry.dependencies] does not give the path of {sibling.name}"
            elif not paths[sibling.name].get("develop"):
                yield f"{file}: [tool.poetry.dependencies] {sibling.name} lacks develop = true"


def requirements_lead_one_way(repository: Repository) -> Iterator[str]:
    """No package requires one that requires it, extras included."""
    place = {package.name: number for number, package in enumerate(in_order(repository.packages))}
    for package in repository.packages.values():
        for sibling in map(requirement_name, package.requirements):
            if place.get(sibling, -1) > place[package.name]:
                yield f"{package.name} requires {sibling}, which requires it"


def imports_are_declared(repository: Repository) -> Iterator[str]:
    """What a package imports, inside of functions too, it requires: itself, by an extra or through a sibling."""
    for package in repository.packages.values():
        everything = f"{package.name}[{','.join(package.extras)}]"
        selection = with_siblings([everything], repository.packages)
        known = {*map(requirement_name, external_requirements(selection, repository.packages)), "rlgraph"}
        known |= set(map(requirement_name, package.portions))
        for path in sorted(package.source.rglob("*.py")):
            for name in sorted(_imported(path) - sys.stdlib_module_names):
                if requirement_name(_BROUGHT_BY.get(name, name)) not in known:
                    yield f"{repository.name(path)} imports {name}, which {package.name} does not require"


def _imported(file: Path) -> set[str]:
    """The top-level names of all absolute imports in a file."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module.split(".")[0])
    return names


def packages_are_complete(repository: Repository) -> Iterator[str]:
    """README, CHANGELOG with an entry for the version, the licence, tests."""
    licence = (repository.root / "LICENSE").read_text(encoding="utf-8")
    for package in repository.packages.values():
        folder = repository.name(package.folder)
        for file in ("README.md", "CHANGELOG.md", "LICENSE"):
            if not (package.folder / file).is_file():
                yield f"{folder} has no {file}"
        if not any((package.folder / "tests").rglob("test_*.py")):
            yield f"{folder} has no tests"
        changelog = package.folder / "CHANGELOG.md"
        if changelog.is_file() and f"## [{package.version}]" not in changelog.read_text(encoding="utf-8"):
            yield f"{folder}/CHANGELOG.md has no heading '## [{package.version}]', the package's version"
        copy = package.folder / "LICENSE"
        if copy.is_file() and copy.read_text(encoding="utf-8") != licence:
            yield f"{folder}/LICENSE differs from the repository's"
        if package.folder.name != package.name:
            yield f"{folder} holds a distribution of another name, {package.name}"


def files_are_short(repository: Repository) -> Iterator[str]:
    for path in repository.files:
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines > MAX_LINES:
            yield f"{repository.name(path)} has {lines} lines; at most {MAX_LINES} are allowed"


def code_on_pages_is_narrow(repository: Repository) -> Iterator[str]:
    """A fenced block of a page, in any language, has as many columns as the formatter allows there."""
    root = repository.root
    columns = tomllib.loads((root / "docs/ruff.toml").read_text(encoding="utf-8"))["line-length"]
    for page in [root / "README.md", *root.glob("packages/*/README.md"), *sorted(root.glob("docs/**/*.md"))]:
        if not page.is_file() or _SKIPPED & set(page.relative_to(root).parts):
            continue
        fence = ""
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
            mark = re.match(r" *(`{3,})", line)
            if mark and not fence:
                fence = mark[1]
            elif mark and line.strip() == fence:
                fence = ""
            elif fence and len(line) > columns:
                place = f"{repository.name(page)}:{number}"
                yield f"{place}: code has {len(line)} columns; at most {columns} are allowed"


def tests_are_not_named_after_frameworks(repository: Repository) -> Iterator[str]:
    """A test folder `torch` can be what `import torch` finds while tests run."""
    seen = set()
    for path in repository.files:
        parts = path.relative_to(repository.root).with_suffix("").parts
        if "tests" not in parts:
            continue
        start = parts.index("tests") + 1
        for depth in range(start, len(parts)):
            if parts[depth] in FRAMEWORKS:
                seen.add("/".join(parts[: depth + 1]))
    for name in sorted(seen):
        yield f"{name} is named after a framework and can shadow it; call it '..._backend' or the like"


def entry_points_exist(repository: Repository) -> Iterator[str]:
    """The target of each entry point and script is a file of the package, and defines the object."""
    for package in repository.packages.values():
        groups = {"scripts": package.project.get("scripts", {}), **package.project.get("entry-points", {})}
        for group, entries in groups.items():
            for name, target in entries.items():
                problem = target_problem(package, target)
                if problem:
                    yield f"{repository.name(package.folder)}/pyproject.toml: {group}: {name}: {problem}"


def matrix_is_sound(repository: Repository) -> Iterator[str]:
    """Every package has a row in the matrix; rows name what exists."""
    seen = set()
    for package in in_order(repository.packages):
        file = f"{repository.name(package.folder)}/pyproject.toml"
        if not package.matrix:
            yield f"{file}: no [[tool.rlgraph.matrix]], so the wheel is never tested"
        for row in package.matrix:
            if row["name"] in seen:
                yield f"{file}: the matrix has two rows named {row['name']}"
            seen.add(row["name"])
            if row.get("after", row["name"]) not in seen:
                yield f"{file}: matrix row {row['name']}: no earlier row {row['after']}"
            for sibling in set(row.get("with", ())) - set(repository.packages):
                yield f"{file}: matrix row {row['name']}: no package {sibling}"
            for extra in set(row.get("extras", ())) - set(package.extras):
                yield f"{file}: matrix row {row['name']}: no extra {extra}"
        for extra in set(package.optional_modules) - set(package.extras):
            yield f"{file}: [tool.rlgraph.optional-modules] no extra {extra}"


def constraints_pin_everything(repository: Repository) -> Iterator[str]:
    """What the packages require is pinned, exactly and from the package index."""
    file = repository.root / "tools" / "constraints.txt"
    pins = set()
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        entry = line.split("#")[0].strip()
        if entry and not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.!]+", entry):
            yield f"{repository.name(file)}:{number}: {entry!r} is not of the form name==version"
        elif entry:
            pins.add(requirement_name(entry))
    for package in repository.packages.values():
        for requirement in package.requirements:
            name = requirement_name(requirement)
            if name not in pins and name not in repository.packages:
                yield f"{repository.name(file)} has no pin for {name}, which {package.name} requires"


RULES: list[Callable[[Repository], Iterator[str]]] = [
    namespace_is_owned_by_nobody,
    portions_are_packages,
    import_rules_see_every_portion,
    siblings_admit_each_other,
    requirements_lead_one_way,
    imports_are_declared,
    packages_are_complete,
    files_are_short,
    code_on_pages_is_narrow,
    tests_are_not_named_after_frameworks,
    entry_points_exist,
    matrix_is_sound,
    constraints_pin_everything,
]


def range_problem(requirement: str, version: str) -> str | None:
    """Why a sibling of this version does not satisfy the requirement, or None."""
    if ">=" not in requirement or "<" not in requirement:
        return "a sibling is required by a range with both ends, such as >=0.1,<0.2"
    try:
        fits = admits(requirement, version)
    except ValueError as error:
        return str(error)
    return None if fits else f"does not admit the version that stands in the repository, {version}"


def target_problem(package: Package, target: str) -> str | None:
    """Why `module:attribute` is not there in the package's source, or its extra in the package; None: they are."""
    target, _, extras = target.partition("[")
    module, _, attribute = target.strip().partition(":")
    for extra in re.findall(r"[\w.-]+", extras):
        if extra not in package.extras:
            return f"the package has no extra {extra}"
    base = package.source / module.replace(".", "/")
    file = next((path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()), None)
    if file is None:
        return f"there is no module {module} in this package"
    if attribute.split(".")[0] not in _top_level_names(file):
        return f"{module} defines no {attribute}"
    return None


def _top_level_names(file: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names.update(alias.asname or alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.Assign):
            names.update(target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return names


def violations(repository: Repository) -> list[str]:
    """All violations, in the order of the rules."""
    return [problem for rule in RULES for problem in rule(repository)]


def main(arguments: list[str]) -> int:
    repository = Repository(Path(arguments[0]).resolve() if arguments else ROOT)
    problems = violations(repository)
    for problem in problems:
        print(problem)
    count = len(repository.packages)
    size = f"{len(RULES)} rules, {count} packages, {len(repository.files)} files"
    print(f"{size}: {len(problems) or 'no'} violations")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
