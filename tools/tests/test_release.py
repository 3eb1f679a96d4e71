"""What `tools/dev.py release` reads from changelogs and ranges."""

from __future__ import annotations

from pathlib import Path

import pytest

from devlib.main import main
from devlib.project import Package
from devlib.release import dependents, next_version, to_upload, unreleased, with_entry, with_range

CHANGELOG = """# Changelog

## [Unreleased]

### Added

- A thing.

## [0.1.0]

### Changed

- Nothing.
"""


def package(name: str, version: str, *dependencies: str) -> Package:
    project = {"name": name, "version": version, "dependencies": list(dependencies)}
    return Package(name, Path("packages", name), {"project": project})


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ("### Added\n\n- A thing.", "0.1.4"),
        ("### Changed\n\n- **Breaking**: a thing.", "0.2.0"),
        ("### Removed\n\n- A thing.", "0.2.0"),
        ("### Fixed\n\n- What was **Breaking**.", "0.1.4"),
    ],
)
def test_the_changelog_decides_on_the_version(entries: str, expected: str) -> None:
    assert next_version("0.1.3", entries) == expected


def test_what_is_unreleased() -> None:
    assert unreleased(CHANGELOG) == "### Added\n\n- A thing."
    assert unreleased(CHANGELOG.split("## [Unreleased]")[0]) == ""


def test_an_entry_goes_under_changed_of_what_is_unreleased() -> None:
    once = with_entry(CHANGELOG, "- Two.")
    assert unreleased(once) == "### Added\n\n- A thing.\n\n### Changed\n\n- Two."
    assert unreleased(with_entry(once, "- One.")).endswith("### Changed\n\n- One.\n- Two.")
    released = CHANGELOG.replace("## [Unreleased]\n\n### Added\n\n- A thing.\n\n", "")
    assert unreleased(with_entry(released, "- Three.")) == "### Changed\n\n- Three."
    for text in (once, with_entry(released, "- Three.")):
        assert text.endswith("## [0.1.0]\n\n### Changed\n\n- Nothing.\n")


def test_ranges_follow_a_sibling_that_they_do_not_admit() -> None:
    core = package("core", "0.1.0")
    narrow = package("narrow", "0.1.0", "core[draw]>=0.1,<0.2", "numpy>=2")
    wide = package("wide", "0.1.0", "core>=0.1,<0.3")
    packages = {each.name: each for each in (core, narrow, wide)}
    assert [*dependents("core", "0.2.0", packages)] == [(narrow, "core[draw]>=0.1,<0.2")]
    assert [*dependents("core", "0.1.1", packages)] == []
    assert with_range("core[draw]>=0.1,<0.2", "0.2.0") == "core[draw]>=0.2,<0.3"
    assert with_range("core>=0.9,<0.10", "1.2.3") == "core>=1.2,<2"


def test_siblings_are_uploaded_before_those_that_require_them() -> None:
    packages = [
        package("agents", "0.2.0", "core>=0.2,<0.3"),
        package("core", "0.2.0"),
        package("spaces", "0.1.0"),
    ]
    order = to_upload({each.name: each for each in packages}, {"spaces-0.1.0", "core-0.1.0"})
    assert [each.name for each in order] == ["core", "agents"]
    tagged = {f"{each.name}-{each.version}" for each in packages}
    assert to_upload({each.name: each for each in packages}, tagged, {"agents"}) == packages[:1]


def test_an_unknown_package_and_a_lower_version_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["release", "rlgraph-moon"]) == 2
    assert "No package rlgraph-moon; there are: rlgraph-agents," in capsys.readouterr().out
    assert main(["release", "rlgraph-core", "--version", "0.0.9"]) == 2
    assert "expected a higher version, given 0.0.9" in capsys.readouterr().out
