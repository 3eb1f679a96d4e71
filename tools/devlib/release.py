"""`release`: bumps a package by its changelog, has siblings follow, builds it, says what to upload in which order."""

from __future__ import annotations

import argparse
import datetime
import re
import sys
import tempfile
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from devlib.distributions import build, tagged_versions
from devlib.environments import EnvironmentFailure
from devlib.output import run, say
from devlib.project import ROOT, Package, admits, in_order, load_packages, requirement_name, version_numbers

_UNRELEASED = "## [Unreleased]"


def main(options: argparse.Namespace) -> int:
    """Releases `options.package`, up to the upload."""
    packages = load_packages()
    package = packages.get(options.package)
    if package is None:
        say(f"No package {options.package}; there are: {', '.join(packages)}.")
        return 2
    if options.version and version_numbers(options.version) <= version_numbers(package.version):
        say(f"{package.name} is at {package.version}; expected a higher version, given {options.version}.")
        return 2
    changelog = package.folder / "CHANGELOG.md"
    text = changelog.read_text(encoding="utf-8")
    if not unreleased(text):
        say(f"{changelog} has no entries under '{_UNRELEASED}': there is nothing to release.")
        return 1
    version = options.version or next_version(package.version, unreleased(text))
    say(f"{package.name} {package.version} -> {version}")
    _replace(package.folder / "pyproject.toml", f'version = "{package.version}"', f'version = "{version}"')
    changelog.write_text(
        text.replace(_UNRELEASED, f"## [{version}] - {datetime.date.today()}", 1), encoding="utf-8"
    )
    lifted = [*dependents(package.name, version, packages)]
    for other, requirement in lifted:
        _replace(other.folder / "pyproject.toml", f'"{requirement}"', f'"{with_range(requirement, version)}"')
        entry = f"- Requires {with_range(requirement, version)}."
        log = other.folder / "CHANGELOG.md"
        log.write_text(with_entry(log.read_text(encoding="utf-8"), entry), encoding="utf-8")
        say(f"{other.name}: {requirement} -> {with_range(requirement, version)}")
    if run([sys.executable, "tools/check_repository.py"], ROOT) != 0:
        return 1
    packages = load_packages()
    with tempfile.TemporaryDirectory() as folder:
        build(packages[package.name], Path(folder), ROOT / "dist", sdist=True)
    say("\nRun tools/dev.py matrix and commit. Then upload and tag, in this order:")
    tags = {f"{name}-{tagged}" for name in packages for tagged in tagged_versions(name)}
    for other in to_upload(packages, tags, {each.name for each, _ in lifted}):
        files = sorted((ROOT / "dist").glob(f"{other.name.replace('-', '_')}-{other.version}[-.]*"))
        what = " ".join(f"dist/{file.name}" for file in files) or "not built yet: release it, too"
        say(f"  {other.name}: {what}")
    return 0


def unreleased(changelog: str) -> str:
    """The entries that no version has yet."""
    match = re.search(rf"^{re.escape(_UNRELEASED)}\n(.*?)(?=^## |\Z)", changelog, re.DOTALL | re.MULTILINE)
    return match.group(1).strip() if match else ""


def next_version(version: str, entries: str) -> str:
    """What follows a version 0.x: the next minor one after a breaking entry, else the next patch.

    An entry is breaking when it begins with "**Breaking**" or stands under "Removed".
    """
    major, minor, patch, *_ = [*version_numbers(version), 0, 0, 0]
    if major:
        raise EnvironmentFailure(f"{version}: the changelog decides on versions 0.x only. Give --version.")
    breaking = re.search(r"^- \*\*Breaking|^### Removed", entries, re.MULTILINE)
    return f"0.{minor + 1}.0" if breaking else f"0.{minor}.{patch + 1}"


def dependents(name: str, version: str, packages: Mapping[str, Package]) -> Iterable[tuple[Package, str]]:
    """Packages whose range does not admit a version of a sibling, with the requirement."""
    for package in packages.values():
        for requirement in package.requirements:
            if requirement_name(requirement) == name and not admits(requirement, version):
                yield package, requirement


def with_range(requirement: str, version: str) -> str:
    """`("rlgraph-core[draw]>=0.1,<0.2", "0.2.1")` -> `"rlgraph-core[draw]>=0.2,<0.3"`."""
    major, minor, *_ = [*version_numbers(version), 0, 0]
    end = f"{major + 1}" if major else f"0.{minor + 1}"
    return f"{re.split('[<>=!~ ]', requirement)[0]}>={major}.{minor},<{end}"


def with_entry(changelog: str, entry: str) -> str:
    """The changelog with an entry under "Changed" of what is unreleased."""
    head, heading, rest = changelog.partition(f"{_UNRELEASED}\n")
    if not heading:
        first = re.search(r"^## ", changelog, re.MULTILINE)
        place = first.start() if first else len(changelog)
        return f"{changelog[:place]}{_UNRELEASED}\n\n### Changed\n\n{entry}\n\n{changelog[place:]}"
    section, *released = re.split(r"^(?=## )", rest, maxsplit=1, flags=re.MULTILINE)
    changed = "### Changed\n\n"
    if changed in section:
        section = section.replace(changed, f"{changed}{entry}\n", 1)
    else:
        section = f"{section.rstrip()}\n\n{changed}{entry}\n\n"
    return head + heading + section + "".join(released)


def to_upload(
    packages: Mapping[str, Package], tags: Collection[str], lifted: Collection[str] = ()
) -> list[Package]:
    """What has a version without a tag, or lifted its range; each package after those it requires."""
    return [
        package
        for package in in_order(packages)
        if not package.is_example
        and (package.name in lifted or f"{package.name}-{package.version}" not in tags)
    ]


def _replace(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(old, new), encoding="utf-8")
