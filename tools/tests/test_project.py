"""What `tools/dev.py` reads from the packages, and how it prints."""

from __future__ import annotations

import json

import pytest

from devlib.environments import describe_size
from devlib.main import main
from devlib.matrix import rows_of
from devlib.output import duration, table
from devlib.project import (
    development_requirements,
    external_requirements,
    load_packages,
    requirement_name,
    with_siblings,
)

PACKAGES = load_packages()


@pytest.mark.parametrize(
    ("requirement", "name"),
    [("PyYAML>=6.0", "pyyaml"), ("ml_dtypes==0.6", "ml-dtypes"), ("a.b[c]>=1; x", "a-b"), ("numpy", "numpy")],
)
def test_requirement_name(requirement: str, name: str) -> None:
    assert requirement_name(requirement) == name


def test_siblings_come_in_the_order_of_the_arrows() -> None:
    assert with_siblings(["rlgraph-agents", "rlgraph-torch"], PACKAGES) == [
        "rlgraph-spaces",
        "rlgraph-core",
        "rlgraph-agents",
        "rlgraph-torch",
    ]


def test_external_requirements_hold_no_sibling_and_follow_the_extras() -> None:
    plain = external_requirements({"rlgraph-core": ()}, PACKAGES)
    drawn = external_requirements({"rlgraph-core": ["draw"]}, PACKAGES)
    assert not any(requirement.startswith("rlgraph") for requirement in drawn)
    assert set(plain) < set(drawn)


def test_the_backends_are_never_installed_by_a_neutral_package() -> None:
    for name in ("rlgraph-spaces", "rlgraph-core", "rlgraph-agents"):
        names = with_siblings([name], PACKAGES)
        required = external_requirements({n: PACKAGES[n].extras for n in names}, PACKAGES)
        assert not {"torch", "tensorflow", "jax"} & set(map(requirement_name, required))


def test_examples_are_packages_outside_of_the_namespace() -> None:
    examples = {name: package.portions for name, package in PACKAGES.items() if package.is_example}
    assert examples["rlgraph-jax"] == ["rlgraph_jax"]
    assert not any(portion.startswith("rlgraph.") for portions in examples.values() for portion in portions)


def test_the_development_group_includes_the_documentation_group() -> None:
    assert set(development_requirements(group="docs")) < set(development_requirements())


def test_every_package_is_in_the_matrix() -> None:
    assert {row.package for row in rows_of(PACKAGES)} == set(PACKAGES)


def test_a_row_for_extras_runs_what_they_are_for() -> None:
    only = {row.name: row.only for row in rows_of(PACKAGES)}
    assert only["core"] == ()
    assert "draw" in only["core-extras"]


def test_the_matrix_can_be_read_by_a_machine(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["matrix", "--json"]) == 0
    assert {"name": "core", "package": "rlgraph-core"} in json.loads(capsys.readouterr().out)


def test_an_unknown_row_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["matrix", "--only", "moon"]) == 2
    assert "No row moon; there are: spaces," in capsys.readouterr().out


def test_printing() -> None:
    assert table([("a", "bb"), ("ccc", "d")]) == "a    bb\n---  --\nccc  d"
    assert duration(7.26) == "7.3 s"
    assert duration(125) == "2 min 05 s"
    assert describe_size(["numpy", "torch>=2"]).startswith("about 225 MB to download")
