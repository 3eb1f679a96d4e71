"""The algorithms of the gallery pass the conformance suite of agents."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

from page_runner import python_blocks
from rlgraph.agents.conformance import AgentConformance

pytestmark = pytest.mark.slow

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"


def defined_in(page):
    """The first block of a page as a module, whose classes can be pickled."""
    module = sys.modules[page] = ModuleType(page)
    exec(next(python_blocks((GALLERY / f"{page}.md").read_text(encoding="utf-8"))).code, vars(module))
    return module


class TestMunchausenDQN(AgentConformance):
    agent = defined_in("munchausen_dqn").MunchausenDQN
    backend, options = "torch", {"execution_spec": {"threads": 1}}
