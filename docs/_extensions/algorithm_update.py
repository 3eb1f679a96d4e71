"""The directive ``{rlgraph-update} ppo``: the class of an algorithm, and the outline of what its update runs."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

#: The environment whose states and actions a plan is of.
ENV = "CartPole-v1"
#: What a class says about runs, which other parts of its page show.
_ABOUT_RUNS = {"metrics", "live_metrics", "search_space", "test_options", "test_alternatives"}


def update_outline(name: str, env: str) -> str:
    """What an update of an agent with default options runs; what acting runs, of one that learns nothing."""
    from rlgraph.agents import Agent
    from rlgraph.draw import plan_outline

    executor = Agent.from_spec({"type": name}, env=env, backend="numpy", seed=0).executor
    return plan_outline(executor, "update" if "update" in executor.built.graph.methods else "act")


def update_markdown(name: str, env: str) -> str:
    """The source of the class, that of what its update uses of its base classes, and the outline.

    Args:
        name: the registered name of the algorithm.
        env: the environment of the outline.
    """
    from rlgraph.algorithms.algorithm import Algorithm
    from rlgraph.core import registry

    kind = registry("rlgraph.agents").load(name)
    first, *bases = map(_Class, kind.__mro__[: kind.__mro__.index(Algorithm)])
    parts = [f"The class `{kind.__module__}.{kind.__name__}`, and what its update uses of its base classes:"]
    parts += [_block("python", first.source())]
    used = _used([first, *bases])
    for base in bases:
        if methods := base.methods.keys() & used:
            parts += [_block("python", base.source(only=methods))]
    parts += [f"What runs, on {env} with default options ({{ref}}`plans <plans>`):"]
    return "\n\n".join([*parts, _block("text", update_outline(name, env))]) + "\n"


class _Class:
    """The source of a class.

    Attributes:
        methods: name -> its definition.
    """

    def __init__(self, kind: type):
        self._lines = inspect.getsource(kind).splitlines()
        (tree,) = ast.parse("\n".join(self._lines)).body
        assert isinstance(tree, ast.ClassDef)
        self._head, self._body = self._lines[tree.lineno - 1], tree.body[1:]  # after the docstring
        self.methods = {node.name: node for node in self._body if isinstance(node, ast.FunctionDef)}

    def source(self, only: Iterable[str] | None = None) -> str:
        """The class without its docstring and what it says about runs; or only its methods of these names."""
        nodes = self._body if only is None else [self.methods[name] for name in only]
        shown = [self._head]
        for node in sorted(nodes, key=lambda node: node.lineno):
            if isinstance(node, ast.FunctionDef):
                shown += ["", *self._text(node)][len(shown) == 1 :]
            elif _ABOUT_RUNS.isdisjoint(_names(node)):
                shown += self._text(node)
        return "\n".join(shown)

    def _text(self, node: ast.stmt) -> list[str]:
        decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
        start = min(each.lineno for each in (node, *decorators)) - 1
        return self._lines[start : node.end_lineno]


def _names(node: ast.AST) -> set[str]:
    return {
        each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    }


def _used(classes: list[_Class]) -> set[str]:
    """The methods that an update uses: `update`, and what it calls of ``self`` or ``super()``, and so on."""
    found, waiting = set[str](), ["update"]
    while waiting:
        name = waiting.pop()
        definitions = [each.methods[name] for each in classes if name in each.methods]
        if name not in found and definitions:
            found.add(name)
            waiting += [
                each.attr
                for each in ast.walk(ast.Module(definitions[:1] if name == "update" else definitions, []))
                if isinstance(each, ast.Attribute) and ast.unparse(each.value) in ("self", "super()")
            ]
    return found


def _block(language: str, text: str) -> str:
    return f"```{language}\n{text.rstrip()}\n```"


class UpdateDirective(SphinxDirective):
    """The class and the update of the algorithm whose name is the argument; ``:env:`` names its environment."""

    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {"env": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        return self.parse_text_to_nodes(update_markdown(self.arguments[0], self.options.get("env", ENV)))


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("rlgraph-update", UpdateDirective)
    return {"version": "1", "parallel_read_safe": True}
