"""The guide to the command line: its commands are run, in order; the reference is complete."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

from command_reference import commands_markdown
from devlib.project import ROOT
from rlgraph.cli.exit_codes import ExitCode
from rlgraph.cli.main import main

GUIDE = (ROOT / "docs" / "command_line.md").read_text(encoding="utf-8")


def commands(text: str) -> list[list[str]]:
    """The arguments of each `$ rlgraph ...` in the page's console blocks that are not skipped."""
    blocks = re.findall(r"(<!-- skip: .+ -->\n)?```console\n(.*?)```", text, re.DOTALL)
    shown = [block.replace("\\\n", " ") for skipped, block in blocks if not skipped]
    lines = [line for block in shown for line in block.splitlines()]
    return [shlex.split(line.removeprefix("$ ")) for line in lines if line.startswith("$ rlgraph ")]


@pytest.mark.slow
def test_the_commands_of_the_guide(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert len(commands(GUIDE)) > 12
    for arguments in commands(GUIDE):
        monkeypatch.setattr(sys, "argv", arguments)
        code = main()
        assert code == 0, f"{shlex.join(arguments)}\n{capsys.readouterr().err}"
    for name in (
        "runs/one/result.json",
        "exported",
        "compare.png",
        "compare.csv",
        "update.svg",
        "update.html",
    ):
        assert (tmp_path / name).exists()


def test_exit_codes_of_the_guide() -> None:
    for code in ExitCode:
        assert f"| {int(code)} | {code.description} |\n" in GUIDE


def test_the_reference_has_every_command_and_option() -> None:
    reference = commands_markdown()
    sections = dict(
        re.findall(r"^## `rlgraph ([\w -]+)`\n(.*?)(?=^## )", reference, re.DOTALL | re.MULTILINE)
    )
    assert {"quickstart", "train", "resume", "evaluate", "export", "compare", "graph", "plan"} <= set(
        sections
    )
    assert "| `--episodes` | Number of episodes. | `20` |" in sections["evaluate"]
    assert "| `FOLDER` | A run's folder. | required |" in sections["evaluate"]
    assert "rlgraph evaluate FOLDER [OPTIONS]" in sections["evaluate"]
    assert "One of `text`, `mermaid`, `dot`, `svg`. | `text` |" in sections["graph"]
    assert "| 130 | Interrupted by Ctrl-C" in reference
    for name, section in sections.items():
        assert "| `--quiet`, `-q` |" in section and "| `--debug` |" in section, name
