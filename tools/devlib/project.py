"""The packages of the repository, read from their `pyproject.toml` files."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def requirement_name(requirement: str) -> str:
    """The normalised distribution name of a requirement: `"PyYAML>=6.0"` -> `"pyyaml"`."""
    match = re.match(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)", requirement)
    if match is None:
        raise ValueError(f"{requirement!r} is not a requirement")
    return re.sub(r"[-_.]+", "-", match.group(1)).lower()


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
    def matrix(self) -> list[dict[str, Any]]:
        return list(self.data.get("tool", {}).get("rlgraph", {}).get("matrix", ()))

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
    for file in sorted(
        [*root.glob("packages/*/pyproject.toml"), *root.glob("docs/examples/*/pyproject.toml")]
    ):
        data = tomllib.loads(file.read_text(encoding="utf-8"))
        packages[data["project"]["name"]] = Package(data["project"]["name"], file.parent, data)
    return packages


def with_siblings(names: Iterable[str], packages: Mapping[str, Package]) -> list[str]:
    """The named packages and all their siblings they require, each after those it requires."""
    ordered: list[str] = []

    def add(name: str) -> None:
        for requirement in packages[name].dependencies:
            sibling = requirement_name(requirement)
            if sibling in packages and sibling not in ordered:
                add(sibling)
        if name not in ordered:
            ordered.append(name)

    for name in names:
        add(name)
    return ordered


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
