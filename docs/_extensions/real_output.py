"""Directives that show what RLgraph really prints and draws; made afresh at every build of the documentation."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive, directives
from sphinx.application import Sphinx


@cache
def _agent() -> Any:
    """The build of the default DQN agent on CartPole-v1."""
    return _fresh_agent()


def _fresh_agent() -> Any:
    from rlgraph.agents import Agent

    return Agent.from_spec({"type": "dqn"}, env="CartPole-v1", backend="numpy", seed=0).executor.built


def _placed() -> Any:
    """The same on three devices."""
    built = _fresh_agent()
    components = built.graph.components
    components["dqn"].device = "cuda:0"
    components["target-policy"].device = "cuda:1"
    components["policy"].device = {"ops": "cuda:0", "variables": "cpu"}
    return built


def _page_example() -> dict[str, Any]:
    """What the Python blocks of the page on drawings define, without those that print or write."""
    page = Path(__file__).parents[1] / "drawing.md"
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    (definition,) = (block for block in blocks if "class Refine" in block)
    namespace: dict[str, Any] = {"__name__": "example"}
    exec(definition.partition("\nprint(")[0], namespace)
    return namespace


def _loops() -> Any:
    example = _page_example()
    spaces = {"inputs": example["vectors"], "is_final": bool}
    return example["build"](example["assemble"](example["Refine"]()), spaces)


def _failure() -> Exception:
    from rlgraph.core import BuildError

    example = _page_example()
    spaces = {
        "inputs": example["FloatBox"](shape=(4,), add_batch_rank=True),
        "is_final": example["FloatBox"](),
    }
    try:
        example["build"](example["assemble"](example["Refine"]()), spaces)
    except BuildError as error:
        return error
    raise AssertionError("the example of a failing build does not fail")


SUBJECTS: dict[str, Callable[[], Any]] = {
    "agent": _agent,
    "devices": _placed,
    "loops": _loops,
    "failure": _failure,
}


class PlanDirective(Directive):
    """The plan of one API method of the default DQN agent on CartPole-v1: ``{rlgraph-plan} get_actions``."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        from rlgraph.core.draw import plan_text

        text = plan_text(_agent(), self.arguments[0])
        return [nodes.literal_block(text, text, language="python")]


class FailureDirective(Directive):
    """The message of the failing build of the page on drawings, with its note."""

    def run(self) -> list[nodes.Node]:
        error = _failure()
        text = "\n".join([f"{type(error).__name__}: {error}", *error.__notes__])
        return [nodes.literal_block(text, text, language="text")]


class GraphDirective(Directive):
    """A component graph as SVG; default: that of the default DQN agent on CartPole-v1. Options as those of `draw`."""

    option_spec: ClassVar[dict[str, Any]] = {
        "of": lambda name: directives.choice(name, SUBJECTS),
        "scope": directives.unchanged_required,
        "depth": directives.positive_int,
        "method": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        from rlgraph.core.draw import draw

        subject = self.options.get("of", "agent")
        part = {key: value for key, value in self.options.items() if key != "of"}
        drawing = draw(SUBJECTS[subject](), **part)
        environment = self.state.document.settings.env
        folder = Path(environment.srcdir) / "generated"
        folder.mkdir(exist_ok=True)
        name = "-".join([subject, *(f"{key}-{value}" for key, value in sorted(part.items()))])
        file = folder / f"{re.sub(r'[^a-z0-9_-]', '_', name)}.svg"
        drawing.save(file)
        uri = "/" + file.relative_to(environment.srcdir).as_posix()
        shown = ", ".join(f"{key} {value}" for key, value in sorted(part.items())) or "all of it"
        return [nodes.image(uri=uri, alt=f"component graph of {drawing.scene.root.title}, {shown}")]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("rlgraph-plan", PlanDirective)
    app.add_directive("rlgraph-graph", GraphDirective)
    app.add_directive("rlgraph-failure", FailureDirective)
    return {"version": "1", "parallel_read_safe": True}
