"""The classes and plans on the pages of algorithms."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("sphinx")
from algorithm_update import ENV, update_markdown, update_outline

from devlib.project import ROOT
from rlgraph.core import registry

PAGES = ROOT / "docs" / "agents"
_DIRECTIVE = re.compile(r"^```\{rlgraph-update\} (\w+)\n(?::env: (\S+)\n)?```$", re.MULTILINE)


def shipped() -> list[str]:
    known = registry("rlgraph.agents")
    return [name for name in known.names() if known.load(name).__module__.startswith("rlgraph.algorithms.")]


@pytest.mark.parametrize("name", shipped())
def test_every_page_shows_a_plan_that_fits_a_screen(name: str) -> None:
    ((shown, env),) = _DIRECTIVE.findall((PAGES / f"{name}.md").read_text(encoding="utf-8"))
    assert shown == name
    outline = update_outline(name, env or ENV)
    assert outline.startswith("agent.act(" if name == "random" else "agent.update(")
    assert len(outline.splitlines()) <= 60
    assert ("gradients of " in outline) == (name != "random")


def test_the_source_of_a_class() -> None:
    text = update_markdown("sac", "Pendulum-v1")
    assert "```python\nclass SAC(OffPolicyActorCritic):\n    make_loss: Any = SACLoss\n" in text
    assert "    @rlgraph_api\n    def update(self, records: Any" in text
    for left_out in ("Soft actor-critic with", "live_metrics", "Metric("):
        assert left_out not in text
    # What `update` calls of its base class, and what that calls.
    assert "```python\nclass OffPolicyActorCritic(Algorithm):\n" in text
    assert "    def step(self, name: str" in text and "def make_critics" not in text


def test_what_an_update_inherits() -> None:
    text = update_markdown("dqfd", ENV)
    assert text.count("def loss_inputs(self, records: Any)") == 2  # its own calls that of its base class
    assert text.count("def update(self, records: Any") == 1
    assert "class Algorithm(" not in text
