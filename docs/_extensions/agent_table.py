"""The directive ``{rlgraph-agents}``: a row for each agent with what it takes, as in "Can I use ...?"."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).parents[2]
#: Column -> the kinds of actions of `tools/can_i_use.py` that it stands for.
ACTIONS = {
    "discrete": ("one category",),
    "several discrete": ("several categories (MultiDiscrete)", "a `Dict` or `Tuple` of categories"),
    "continuous": ("floats with both bounds",),
    "unbounded": ("floats without bounds",),
    "mixed": ("a `Dict` or `Tuple` of categories and floats",),
}
FEATURES = {"masks": "masks of the actions", "LSTM": "recurrent layers"}


def agents_markdown() -> str:
    """The table: agents with what they learn from, kinds of actions, and features."""
    if str(ROOT / "tools") not in sys.path:
        sys.path.append(str(ROOT / "tools"))
    from can_i_use import ACTIONS as SPACES
    from can_i_use import STATES, agents, refusal, taken_actions

    vector = STATES["a vector"]
    columns: dict[str, Callable[[str], bool]] = {
        title: lambda name, kinds=kinds: all(not refusal(name, vector, SPACES[kind]) for kind in kinds)
        for title, kinds in ACTIONS.items()
    } | {
        title: lambda name, what=what: not refusal(name, vector, taken_actions(name), (what,))
        for title, what in FEATURES.items()
    }
    lines = [f"| agent | {' | '.join(columns)} |", f"| --- |{' :-: |' * len(columns)}"]
    for name in agents():
        page = ROOT / "docs" / "agents" / f"{name}.md"
        title = f"{{doc}}`{_title(page)} <agents/{name}>`" if page.exists() else f"`{name}`"
        cells = ["✓" if takes(name) else "" for takes in columns.values()]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _title(page: Path) -> str:
    return page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


class AgentsDirective(SphinxDirective):
    """The table of all agents."""

    def run(self) -> list[nodes.Node]:
        return self.parse_text_to_nodes(agents_markdown())


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("rlgraph-agents", AgentsDirective)
    return {"version": "1", "parallel_read_safe": True}
