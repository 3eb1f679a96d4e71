"""What `tools/dev.py` reads from the packages, and how it prints."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path

import pytest

from devlib.environments import describe_size
from devlib.main import main
from devlib.matrix import chains_of, rows_of
from devlib.output import clean_environment, duration, run, say, side_by_side, table
from devlib.project import (
    Package,
    development_requirements,
    external_requirements,
    load_packages,
    lowest_versions,
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
    assert list(with_siblings(["rlgraph-agents", "rlgraph-torch"], PACKAGES)) == [
        "rlgraph-spaces",
        "rlgraph-core",
        "rlgraph-agents",
        "rlgraph-torch",
    ]


def test_siblings_of_extras_come_with_the_extras_asked_of_them() -> None:
    selection = with_siblings(["rlgraph-agents[torch,atari]"], PACKAGES)
    assert list(selection) == ["rlgraph-spaces", "rlgraph-core", "rlgraph-torch", "rlgraph-agents"]
    assert selection["rlgraph-agents"] == ("atari", "torch")
    assert selection["rlgraph-core"] == ("draw",)  # as rlgraph-agents requires it


def test_lowest_versions_are_the_highest_of_the_lower_ends(tmp_path: Path) -> None:
    low = Package("low", tmp_path, {"project": {"dependencies": ["numpy>=1.9", "PyYAML>=6.0"]}})
    high = Package(
        "high",
        tmp_path,
        {
            "project": {"dependencies": ["low>=0.1,<0.2", "numpy>=1.26,<3", "torch>=2.1"]},
            "tool": {"rlgraph": {"tested-only": {"torch": "it is large"}}},
        },
    )
    tested = tmp_path / "constraints.txt"
    tested.write_text("# pins\nnumpy==2.4\ntorch==2.13.0\n", encoding="utf-8")
    found = lowest_versions({"low": (), "high": ()}, {"low": low, "high": high}, tested)
    assert found == ["numpy==1.26", "pyyaml==6.0", "torch==2.13.0"]


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


def test_every_package_is_tried_with_its_lowest_versions_and_all_extras_but_other_backends() -> None:
    lowest = {row.package: set(row.extras) for row in rows_of(PACKAGES) if row.lowest}
    assert set(lowest) == set(PACKAGES)
    left_out = {
        name: PACKAGES[name].extras.keys() - PACKAGES[name].built_extras - extras
        for name, extras in lowest.items()
    }
    others = {name: extras for name, extras in left_out.items() if extras}
    assert others == {"rlgraph-agents": {"tf"}, "rlgraph-dist": {"tf"}}


def test_rows_share_an_environment_unless_they_are_run_apart() -> None:
    rows = [row for row in rows_of(PACKAGES) if row.name in ("spaces", "core", "agents-torch", "agents-tf")]
    assert [[row.name for row in chain] for chain in chains_of(rows, apart=False)] == [
        ["spaces", "core"],
        ["agents-torch"],
        ["agents-tf"],
    ]
    assert len(chains_of(rows, apart=True)) == 4


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


def test_jobs_print_when_they_end_and_their_results_keep_the_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def job(number: int) -> int:
        say(f"begins {number}")
        return run([sys.executable, "-c", f"print('ends {number}'); raise SystemExit({number})"], tmp_path)

    assert list(side_by_side([partial(job, number) for number in range(3)])) == [0, 1, 2]
    lines = capsys.readouterr().out.split("\n")
    assert [line for line in lines if line] == [
        f"{what} {n}" for n in range(3) for what in ("begins", "ends")
    ]


def test_the_first_import_leaves_bytecode(monkeypatch: pytest.MonkeyPatch) -> None:
    """Environments are installed without it."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    assert "PYTHONDONTWRITEBYTECODE" not in clean_environment()
