"""The packages of the repository, read from their `pyproject.toml` files."""

from __future__ import annotations

import operator
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

_COMPARE = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}
ROOT = Path(__file__).resolve().parents[2]


def requirement_name(requirement: str) -> str:
    """The normalised distribution name of a requirement: `"PyYAML>=6.0"` -> `"pyyaml"`."""
    match = re.match(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)", requirement)
    if match is None:
        raise ValueError(f"{requirement!r} is not a requirement")
    return re.sub(r"[-_.]+", "-", match.group(1)).lower()


def requirement_extras(requirement: str) -> set[str]:
    """`"rlgraph-core[draw,yaml]>=0.1"` -> `{"draw", "yaml"}`."""
    match = re.match(r"[^\[<>=!~;]*\[([^]]*)\]", requirement)
    return {extra.strip() for extra in match.group(1).split(",") if extra.strip()} if match else set()


@dataclass(frozen=True)
class Package:
    """One distribution below `packages/`, or one that shows in `docs/examples/` what others can build."""

    name: str
    folder: Path
    data: Mapping[str, Any]

    @property
    def project(self) -> Mapping[str, Any]:
        return self.data["project"]

    @property
    def version(self) -> str:
        return self.project["version"]

    @property
    def dependencies(self) -> list[str]:
        return list(self.project.get("dependencies", ()))

    @property
    def extras(self) -> dict[str, list[str]]:
        table = self.project.get("optional-dependencies", {})
        return {name: list(entries) for name, entries in table.items()}

    @property
    def requirements(self) -> list[str]:
        """Those of its extras included."""
        return [*self.dependencies, *(r for extra in self.extras.values() for r in extra)]

    @property
    def matrix(self) -> list[dict[str, Any]]:
        return list(self._settings.get("matrix", ()))

    @property
    def tested_only(self) -> dict[str, str]:
        """Third parties of which other versions than the tested one are never installed here, with the reason."""
        return dict(self._settings.get("tested-only", {}))

    @property
    def optional_modules(self) -> dict[str, list[str]]:
        """By extra, the modules that cannot be imported without it (or the beginnings of their names)."""
        return dict(self._settings.get("optional-modules", {}))

    @property
    def built_extras(self) -> dict[str, str]:
        """Extras that are compiled here instead of installed, each with the module that does it."""
        return dict(self._settings.get("built-extras", {}))

    @property
    def _settings(self) -> Mapping[str, Any]:
        return self.data.get("tool", {}).get("rlgraph", {})

    @property
    def source(self) -> Path:
        return self.folder / "src"

    @property
    def is_example(self) -> bool:
        """It stands for a third party: its import package lies outside of the namespace."""
        return self.folder.parent.name == "examples"

    @cached_property
    def portions(self) -> list[str]:
        """The import packages it ships, such as `rlgraph.spaces`."""
        folder, prefix = (self.source, "") if self.is_example else (self.source / "rlgraph", "rlgraph.")
        if not folder.is_dir():
            return []
        return sorted(
            f"{prefix}{path.name}" for path in folder.iterdir() if path.is_dir() and any(path.rglob("*.py"))
        )


def load_packages(root: Path = ROOT) -> dict[str, Package]:
    """All distributions below `root/packages` and `root/docs/examples`, by name."""
    packages = {}
    for file in [
        *sorted(root.glob("packages/*/pyproject.toml")),
        *sorted(root.glob("docs/examples/*/pyproject.toml")),
    ]:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
        packages[data["project"]["name"]] = Package(data["project"]["name"], file.parent, data)
    return packages


def with_siblings(requirements: Iterable[str], packages: Mapping[str, Package]) -> dict[str, tuple[str, ...]]:
    """The packages named (`"rlgraph-agents[torch]"`) and the siblings they require, with the extras asked of each.

    Each package comes after those it requires.
    """
    extras: dict[str, set[str]] = {}
    ordered: list[str] = []

    def add(requirement: str) -> None:
        name = requirement_name(requirement)
        asked = requirement_extras(requirement)
        if name in extras and asked <= extras[name]:
            return
        extras.setdefault(name, set()).update(asked)
        package = packages[name]
        for other in [*package.dependencies, *(r for extra in sorted(asked) for r in package.extras[extra])]:
            if requirement_name(other) in packages:
                add(other)
        if name not in ordered:
            ordered.append(name)

    for requirement in requirements:
        add(requirement)
    return {name: tuple(sorted(extras[name])) for name in ordered}


def in_order(packages: Mapping[str, Package]) -> list[Package]:
    """All packages, each after those that it or one of its extras requires."""
    everything = [f"{package.name}[{','.join(package.extras)}]" for package in packages.values()]
    return [packages[name] for name in with_siblings(everything, packages)]


def external_requirements(
    selection: Mapping[str, Iterable[str]], packages: Mapping[str, Package]
) -> list[str]:
    """What the selected packages, each with the given extras, require from outside the repository."""
    found = set()
    for name, extras in selection.items():
        package = packages[name]
        for requirement in [*package.dependencies, *(r for extra in extras for r in package.extras[extra])]:
            if requirement_name(requirement) not in packages:
                found.add(requirement)
    return sorted(found)


def lowest_versions(
    selection: Mapping[str, Iterable[str]], packages: Mapping[str, Package], tested: Path
) -> list[str]:
    """`"name==version"` for what the selected packages require directly: the lowest version that all ranges admit.

    What a package lists under `tested-only` has the version of the constraints file `tested`.
    """
    pins = {
        requirement_name(line): line
        for line in tested.read_text(encoding="utf-8").splitlines()
        if "==" in line
    }
    lowest: dict[str, tuple[list[int], str]] = {}
    for requirement in external_requirements(selection, packages):
        name, bound = requirement_name(requirement), re.search(r">=\s*([0-9.]+)", requirement)
        if bound is None:
            raise ValueError(f"{requirement!r} has no lowest version; expected name>=version")
        lowest[name] = max(lowest.get(name, ([], "")), (version_numbers(bound.group(1)), bound.group(1)))
    held = {name for package in selection for name in packages[package].tested_only}
    return [
        pins[name] if name in held else f"{name}=={version}" for name, (_, version) in sorted(lowest.items())
    ]


def admits(requirement: str, version: str) -> bool:
    """Whether the range of `"name>=0.1,<0.2"` holds a version.

    Raises:
        ValueError: a clause is not a version after `>=`, `<=`, `==`, `!=`, `<` or `>`.
    """
    found = version_numbers(version)
    for clause in re.sub(r"^\s*[A-Za-z0-9._-]+(\[[^]]*\])?", "", requirement.split(";")[0]).split(","):
        match = re.fullmatch(r"\s*(>=|<=|==|!=|<|>)\s*(\d+(?:\.\d+)*)\s*", clause)
        if match is None and clause.strip():
            raise ValueError(f"the clause {clause!r} is not understood here")
        if match and not _COMPARE[match.group(1)](found, version_numbers(match.group(2))):
            return False
    return True


def version_numbers(version: str) -> list[int]:
    """`"0.1.0"` -> `[0, 1]`; trailing zeros do not count."""
    numbers = [int(part) for part in re.findall(r"\d+", version.split("+")[0])]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return numbers


def development_requirements(root: Path = ROOT, group: str = "dev") -> list[str]:
    """The requirements of a dependency group of the root `pyproject.toml`, included groups among them."""
    groups = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
    found: list[str] = []
    for entry in groups[group]:
        if isinstance(entry, str):
            found.append(entry)
        else:
            found.extend(development_requirements(root, entry["include-group"]))
    return found
