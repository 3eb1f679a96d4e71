"""The page of all keys of a run's document, and the examples of the page before it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sphinx")
import jsonschema
from configuration_reference import configuration_markdown, write_schemas

from devlib.project import ROOT
from rlgraph.core import registry
from rlgraph.runs.configuration import check, read_document
from rlgraph.runs.schema import run_schema

_EXAMPLE = re.compile(r"^```(yaml|json|toml)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def reference() -> str:
    return configuration_markdown()


def test_every_section_of_a_run_and_all_that_is_registered(reference: str) -> None:
    headings = set(re.findall(r"`([^`]+)`", "\n".join(re.findall(r"^###? .*$", reference, re.MULTILINE))))
    assert {"worker", "evaluation", "logging", "logging.wandb", "checkpoints", "stop"} <= headings
    assert {"update_spec", "execution_spec"} <= headings
    for group in ("rlgraph.agents", "rlgraph.environments"):
        assert set(registry(group).names()) <= headings
    # What is in no spec, parts that algorithms are made of, is on the pages of the library.
    pages = "".join(page.read_text() for page in (ROOT / "docs" / "library").glob("*.md"))
    components = registry("rlgraph.components")
    in_library = {components.load(name) for name in re.findall(r"```\{rlgraph-component\} (\w+)", pages)}
    rest = [name for name in components.names() if name not in headings]
    assert not [name for name in rest if components.load(name) not in in_library]


@pytest.mark.parametrize(
    "row",
    [
        "| `steps` | integer | required | &gt;= 0 | environment steps; 0: the agent learns from the data set only |",
        "| `seed` | integer | `0` | &gt;= 0 | root of all random numbers |",
        "| `interval` | integer or null | `2500` | &gt;= 1 | environment steps between two evaluations; null: none "
        "during training |",
        "| `frameskip` | integer | `1` | &gt;= 1, &lt;= 10000 | environment steps per action; their rewards are "
        "summed |",
        "| `discount` | number | `0.99` |  | discount factor of one step. |",
        "| `units` | integer | required |  | size of the output. |",
        "| `device_map` | mapping | `{}` |",
        "### `gym`, `openai`, `openai_gym`",
    ],
)
def test_rows(reference: str, row: str) -> None:
    assert row in reference


def test_every_row_has_five_cells(reference: str) -> None:
    rows = [line for line in reference.splitlines() if line.startswith("|")]
    assert len(rows) > 150
    for row in rows:
        assert len(re.split(r"(?<!\\)\|", row)) == 7, row


def test_the_schemas_are_put_beside_the_pages(tmp_path: Path) -> None:
    class App:
        outdir = tmp_path

        class builder:
            format = "html"

    app: Any = App()
    write_schemas(app, None)
    assert json.loads((tmp_path / "run.schema.json").read_text()) == run_schema()
    assert "$defs" in json.loads((tmp_path / "agent.schema.json").read_text())


def test_examples(tmp_path: Path) -> None:
    """Those of the page on configuration are runs, for the schema and for the check."""
    validator = jsonschema.Draft202012Validator(run_schema())
    found = _EXAMPLE.findall((ROOT / "docs" / "configuration.md").read_text(encoding="utf-8"))
    assert found
    for language, text in found:
        (tmp_path / f"run.{language}").write_text(text)
        document = read_document(tmp_path / f"run.{language}")
        validator.validate(document)
        check(document)
