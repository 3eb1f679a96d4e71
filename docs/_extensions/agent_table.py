"""The directive ``{rlgraph-agents}``: a row for each agent with what it takes, as in "Can I use ...?"."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from rlgraph.agents import Agent
from rlgraph.core import SpecError, registry
from rlgraph.core.specs.parameters import parameters_of
from rlgraph.spaces import Space
from rlgraph.testing import installed_backends

ROOT = Path(__file__).parents[2]
if str(ROOT / "tools") not in sys.path:
    sys.path.append(str(ROOT / "tools"))

from can_i_use import ACTIONS as SPACES  # noqa: E402 - the path above has it
from can_i_use import STATES, RandomTask, agents, refusal, taken_actions  # noqa: E402

#: Column -> the kinds of actions of `tools/can_i_use.py` that it stands for.
ACTIONS = {
    "discrete": ("one category",),
    "several discrete": ("several categories (MultiDiscrete)", "a `Dict` or `Tuple` of categories"),
    "continuous": ("floats with both bounds",),
    "unbounded": ("floats without bounds",),
    "mixed": ("a `Dict` or `Tuple` of categories and floats",),
}
#: Executors that the table names, and what they ask of agents that have this option.
EXECUTORS = {"sync_batch": {}, "impala": {}, "apex": {"memory_spec": {"type": "prioritized_replay"}}}
FEATURES = {"masks": "masks of the actions", "LSTM": "recurrent layers"}


def agents_markdown() -> str:
    """The table: agents with kinds of actions and features; and a list of executors with the agents that they take."""
    vector = STATES["a vector"]
    columns: dict[str, Callable[[str], bool]] = {
        title: lambda name, kinds=kinds: all(not refusal(name, vector, SPACES[kind]) for kind in kinds)
        for title, kinds in ACTIONS.items()
    } | {
        title: lambda name, what=what: not refusal(name, vector, taken_actions(name), (what,))
        for title, what in FEATURES.items()
    }
    lines = [f"| agent | {' | '.join(columns)} |", f"| --- |{' :-: |' * len(columns)}"]
    taken: dict[str, list[str]] = {executor: [] for executor in EXECUTORS}
    for name in agents():
        page = ROOT / "docs" / "agents" / f"{name}.md"
        title = f"{{doc}}`{_title(page)} <agents/{name}>`" if page.exists() else f"`{name}`"
        cells = ["✓" if takes(name) else "" for takes in columns.values()]
        lines.append(f"| {title} | {' | '.join(cells)} |")
        for executor in executors(name, taken_actions(name)):
            taken[executor].append(f"`{name}`")
    lines += ["", *(f"* Executor `{executor}`: {', '.join(names)}" for executor, names in taken.items())]
    return "\n".join([*lines, ""])


def executors(agent: str, actions: Space) -> list[str]:
    """The executors that an agent can learn with, as they say themselves."""
    env, found = partial(RandomTask, STATES["a vector"], actions), []
    kind, backend = Agent.of(agent), installed_backends("gradients")[0]
    for name, options in EXECUTORS.items():
        taken = {key: value for key, value in options.items() if key in parameters_of(kind).named}
        try:
            executor = registry("rlgraph.executors").load(name)
            executor({"type": agent, **taken}, env, engine="in_process", actors=1, backend=backend)
            found.append(name)
        except SpecError:
            continue
    return found


def _title(page: Path) -> str:
    return page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


class AgentsDirective(SphinxDirective):
    """The table of all agents."""

    def run(self) -> list[nodes.Node]:
        return self.parse_text_to_nodes(agents_markdown())


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("rlgraph-agents", AgentsDirective)
    return {"version": "1", "parallel_read_safe": True}
