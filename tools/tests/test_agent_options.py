"""The tables of options on the pages of agents."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("sphinx")
from agent_options import options_markdown

from devlib.project import ROOT
from rlgraph.agents import Agent
from rlgraph.core import registry


def test_rows() -> None:
    table = options_markdown("a2c").splitlines()
    assert table[0] == "| option | default | what it does |"
    assert (
        "| `gae_lambda` | `1.0` | Lambda of the advantages, in [0, 1]; 1, whole returns, is the paper's |"
        in table
    )
    assert any(row.startswith("| `weight_entropy`, `weight_vf` | `0.01`, `0.5` |") for row in table)
    assert any(row.startswith("| `network_spec` |  | ") for row in table)
    assert not any("`backend`" in row for row in table)  # every agent has it


def test_every_agent_with_options_has_a_page_with_them() -> None:
    pages = "".join(page.read_text() for page in (ROOT / "docs" / "agents").glob("*.md"))
    shown = set(re.findall(r"```\{rlgraph-options\} (\w+)", pages))
    known = registry("rlgraph.agents")
    agents = [name for name in known.names() if known.load(name).__module__.startswith("rlgraph.algorithms.")]
    assert shown == {name for name in agents if len(options_markdown(name).splitlines()) > 2}


def test_an_option_without_a_description_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Undocumented(Agent):
        def __init__(self, *, depth: int = 1, **options: object):
            """Nothing."""

    monkeypatch.setattr(Agent, "of", lambda _: Undocumented)
    with pytest.raises(ValueError, match=r"expected a description of every option, none of \['depth'\]"):
        options_markdown("undocumented")
