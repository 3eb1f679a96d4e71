"""The algorithms of the gallery pass the conformance suite of agents."""

from pathlib import Path

import pytest

from page_runner import python_blocks
from rlgraph.agents.conformance import AgentConformance

pytestmark = pytest.mark.slow

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"


def defined_in(page):
    """What the first block of a page defines."""
    values = {"__name__": page}
    exec(next(python_blocks((GALLERY / f"{page}.md").read_text(encoding="utf-8"))).code, values)
    return values


class TestMunchausenDQN(AgentConformance):
    agent = defined_in("munchausen_dqn")["MunchausenDQN"]
    backend, options = "torch", {"execution_spec": {"threads": 1}}
