"""Directives that show what RLgraph really prints and draws; made afresh at every build of the documentation."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive, directives
from sphinx.application import Sphinx


def _built(agent: str, environment: str) -> Any:
    from rlgraph.agents import Agent

    return Agent.from_spec({"type": agent}, env=environment, backend="numpy", seed=0).executor.built


class PlanDirective(Directive):
    """The plan of one API method of the default DQN agent on CartPole-v1: ``{rlgraph-plan} get_actions``.

    With ``:built: name`` it is that of what the page's own Python blocks above call `name`.
    """

    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {"built": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        from rlgraph.core.draw import plan_text

        name = self.options.get("built")
        built = _built("dqn", "CartPole-v1") if name is None else self._values_above()[name]
        text = plan_text(built, self.arguments[0])
        return [nodes.literal_block(text, text, language="python")]

    def _values_above(self) -> dict[str, Any]:
        page = Path(self.state.document.current_source).read_text(encoding="utf-8")
        above = "".join(page.splitlines(keepends=True)[: self.lineno - 1])
        values: dict[str, Any] = {"__name__": "page"}
        for block in re.findall(r"^```python\n(.*?)^```$", above, re.MULTILINE | re.DOTALL):
            exec(block, values)
        return values


class GraphDirective(Directive):
    """The component graph of the default DQN agent on CartPole-v1, as SVG."""

    option_spec: ClassVar[dict[str, Any]] = {"method": directives.unchanged, "depth": directives.positive_int}

    def run(self) -> list[nodes.Node]:
        from rlgraph.core.draw import draw

        method = self.options.get("method")
        drawing = draw(_built("dqn", "CartPole-v1"), method=method, depth=self.options.get("depth"))
        environment = self.state.document.settings.env
        folder = Path(environment.srcdir) / "generated"
        folder.mkdir(exist_ok=True)
        file = folder / f"dqn-{method or 'all'}.svg"
        drawing.save(file)
        uri = "/" + file.relative_to(environment.srcdir).as_posix()
        return [nodes.image(uri=uri, alt=f"component graph of DQN, {method or 'all API methods'}")]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("rlgraph-plan", PlanDirective)
    app.add_directive("rlgraph-graph", GraphDirective)
    return {"version": "1", "parallel_read_safe": True}
