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
    """The plan of one API method of the default DQN agent on CartPole-v1: ``{rlgraph-plan} get_actions``."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        from rlgraph.core.draw import plan_text

        text = plan_text(_built("dqn", "CartPole-v1"), self.arguments[0])
        return [nodes.literal_block(text, text, language="python")]


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


class OperationsDirective(Directive):
    """Every operation of the contract: its signature and the first sentence on it, by family."""

    def run(self) -> list[nodes.Node]:
        from rlgraph.core.ops import OPERATIONS

        families: dict[str, list[nodes.Node]] = {}
        for operation in OPERATIONS.values():
            terms = [nodes.literal(text=f"ops.{operation.name}{_options(operation)}")]
            meaning = operation.doc.split("\n\n")[0].replace("\n", " ")
            item = nodes.definition_list_item("", nodes.term("", "", *terms))
            item += nodes.definition("", nodes.paragraph("", "", *_inline(meaning)))
            families.setdefault(operation.family, []).append(item)
        return [node for family, items in families.items() for node in _section(family, items)]


def _options(operation: Any) -> str:
    """The signature without types."""
    bare = [p.replace(annotation=p.empty) for p in operation.signature.parameters.values()]
    return str(operation.signature.replace(parameters=bare, return_annotation=operation.signature.empty))


def _inline(text: str) -> list[nodes.Node]:
    """Text in which `` `code` `` and ``` ``code`` ``` are literals."""
    parts = re.split(r"``(.+?)``|`(.+?)`", text)
    made: list[nodes.Node] = []
    for plain, *code in zip(parts[::3], [*parts[1::3], None], [*parts[2::3], None], strict=True):
        made.append(nodes.Text(plain))
        made.extend(nodes.literal(text=literal) for literal in code if literal)
    return made


def _section(title: str, items: list[nodes.Node]) -> list[nodes.Node]:
    return [nodes.rubric(text=title.capitalize()), nodes.definition_list("", *items)]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("rlgraph-plan", PlanDirective)
    app.add_directive("rlgraph-graph", GraphDirective)
    app.add_directive("rlgraph-operations", OperationsDirective)
    return {"version": "1", "parallel_read_safe": True}
