"""Directives that render parts of the component library from the code.

``{rlgraph-component} dense`` is the section of one registered component. The content of the directive is an example of
its specification, in JSON, which must make the component; without content it is ``{"type": "dense"}``.
``{rlgraph-functions} rlgraph.core.functional.q_learning`` are the sections of a module's functions; the content names
those to show, default: all.
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

_SECTION = re.compile(r"^(Args|Attributes|Raises|Returns|Yields):$\n((?:^(?: .*)?\n?)*)", re.MULTILINE)
_ENTRY = re.compile(r"^    (?! )([^:\n]+): ", re.MULTILINE)
_URL = re.compile(r"(?<![<(`\w])(https?://[^\s)>\]`]*[^\s)>\]`.,;:])")


def component_markdown(name: str, example: str = "", action_space: str = "", level: int = 2) -> str:
    """The section of a registered component.

    Args:
        name: its registered name.
        example: a specification of it, in JSON; default: its name alone.
        action_space: a specification of the Space that a component is made with which needs one, in JSON.
        level: of the heading.

    Raises:
        SpecError: there is no such component, or `example` does not make one.
    """
    from rlgraph.core import Component, registry
    from rlgraph.draw.component_description import api_methods_of, call_of

    known = registry(Component.registry_group)
    kind = known.load(name)
    (target, *_) = (plugin.target for plugin in known.plugins() if plugin.name == name)
    names = [plugin.name for plugin in known.plugins() if plugin.target == target]
    example = example.strip() or json.dumps({"type": name})
    make_example(kind, example, action_space)
    text, sections = _parts(inspect.getdoc(kind) or "")
    lines = [f"{'#' * level} {', '.join(f'`{each}`' for each in names)}", ""]
    lines += [f"{{py:class}}`{kind.__module__}.{kind.__qualname__}`", "", _linked(text), ""]
    lines += _arguments(kind)
    lines += _listed("Attributes", sections)
    for method in api_methods_of(kind):
        lines += [f"**`{call_of(method)}`**", "", *_document(method)]
    lines += _listed("Raises", sections)
    lines += ["**Specification**", "", "```json", example, "```", ""]
    lines += [f"**Backends**: {_backends(name, kind)}", "", *_sources(kind)]
    return "\n".join(lines) + "\n"


def functions_markdown(module: str, only: Iterable[str] = (), level: int = 2) -> str:
    """The sections of the functions that a module defines.

    Args:
        module: where to import it from.
        only: their names, in the order wanted; none: all, as they stand there.
        level: of the headings.
    """
    from rlgraph.draw.component_description import call_of

    found = importlib.import_module(module)
    public = [
        name
        for name, member in vars(found).items()
        if isinstance(member, FunctionType) and member.__module__ == module and not name.startswith("_")
    ]
    lines: list[str] = []
    for name in list(only) or public:
        function = getattr(found, name)
        lines += [f"{'#' * level} `{name}`", ""]
        lines += ["```python", call_of(function), "```", "", *_document(function)]
        lines += ["", f"{{py:func}}`{module}.{name}`", ""]
    return "\n".join(lines) + "\n"


def make_example(kind: Any, example: str, action_space: str = "") -> Any:
    """The component that an example describes.

    Raises:
        SpecError: it describes none.
    """
    from rlgraph.core.specs.parameters import parameters_of
    from rlgraph.spaces import IntBox, from_spec

    spec = json.loads(example)
    parameter = parameters_of(kind).named.get("action_space")
    asks = bool(action_space) or (parameter is not None and parameter.default is parameter.empty)
    handed = {"action_space": from_spec(json.loads(action_space)) if action_space else IntBox(4)}
    given = isinstance(spec, Mapping) and "action_space" in spec
    return kind.from_spec(spec, **(handed if asks and not given else {}))


def _arguments(kind: Any) -> list[str]:
    """The table of what the constructor takes, without what every component does."""
    from rlgraph.core import Component
    from rlgraph.core.specs.argument_descriptions import expected_values
    from rlgraph.core.specs.parameters import descriptions_of, parameters_of

    common = parameters_of(Component).named
    descriptions = descriptions_of(kind)
    rows = [
        f"| `{name}` | {_cell(expected_values(p, text))} | {_default(p)} | {_cell(text)} |"
        for name, p in parameters_of(kind).named.items()
        for text in [descriptions.get(name, "")]
        if name not in common
    ]
    if not rows:
        return ["No arguments of its own.", ""]
    return ["| argument | type | default | |", "| --- | --- | --- | --- |", *rows, ""]


def _default(parameter: inspect.Parameter) -> str:
    return "required" if parameter.default is parameter.empty else f"`{parameter.default!r}`"


def _cell(text: str) -> str:
    return _linked(text).replace("|", "\\|")


def _document(function: Any) -> list[str]:
    """A function's docstring: the text, then what stands in its sections."""
    text, sections = _parts(inspect.getdoc(function) or "")
    lines = [_linked(text), ""] if text else []
    for title in sections:
        lines += _listed(title, sections)
    return lines


def _parts(document: str) -> tuple[str, dict[str, str]]:
    """The text of a docstring, and its sections by title."""
    sections = {match[1]: match[2] for match in _SECTION.finditer(document)}
    return _SECTION.sub("", document).strip(), sections


def _listed(title: str, sections: Mapping[str, str]) -> list[str]:
    """A section of a docstring as a list."""
    if title not in sections:
        return []
    text = sections[title].rstrip()
    starts = [match.start() for match in _ENTRY.finditer(text)] or [0]
    items = [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]
    return [f"**{title}**", "", *(f"* {_item(item, title)}" for item in items), ""]


def _item(entry: str, title: str) -> str:
    text = _linked(" ".join(entry.split()))
    match = re.match(r"([\w, *.]+?): ", text)
    return text if match is None or title == "Returns" else f"`{match[1]}`: {text[match.end() :]}"


def _linked(text: str) -> str:
    """Markdown in which addresses are links."""
    return _URL.sub(r"<\1>", text)


def _backends(name: str, kind: Any) -> str:
    """Where it runs, and where it has kernels."""
    from rlgraph.draw.component_description import kernels_only
    from rlgraph.testing.conformance.cases import CASES

    functions = kind.graph_functions().values()
    if bound := kernels_only(kind):
        return f"those that it has kernels for: {_words(bound)}."
    trains = any(case.trains for key, case in CASES.items() if key.startswith(name))
    kernels = {
        backend: sorted({f.name for f in functions if f.key in keys or backend in f.kernels})
        for backend, keys in _kernels().items()
    }
    native = "; ".join(
        f"{backend} has kernels for {_words(each)}" for backend, each in kernels.items() if each
    )
    where = "all that have gradients" if trains else "all"
    return f"{where}; {native}." if native else f"{where}, from the one source."


@cache
def _kernels() -> dict[str, frozenset[str]]:
    """The keys of the kernels of every backend that is installed."""
    from rlgraph.core import ExecutionSpec, PluginError, create_backend, registry

    found = {}
    for name in registry("rlgraph.backends").names():
        try:
            found[name] = frozenset(create_backend(name, ExecutionSpec()).kernels)
        except PluginError:
            continue
    return found


def _words(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _sources(kind: Any) -> list[str]:
    """The functions it computes with, and the papers that it and these cite."""
    from rlgraph.draw.component_description import functional_of, papers_of

    used, papers = functional_of(kind), papers_of(kind)
    lines = []
    if used:
        links = [f"{{py:func}}`{f.__name__} <{f.__module__}.{f.__name__}>`" for f in used]
        lines += [f"**Computed by**: {', '.join(links)}", ""]
    if papers:
        texts = [f"[{p.authors} ({p.year})]({p.address})" if p.address else str(p) for p in papers]
        lines += [f"**Papers**: {'; '.join(texts)}", ""]
    return lines


@cache
def table() -> str:
    """What is checked of every shipped component on every installed backend, in Markdown."""
    from rlgraph.testing import installed_backends
    from rlgraph.testing.conformance.table import component_table, table_markdown

    backends = installed_backends()
    return f"For {_words(backends)}:\n\n{table_markdown(component_table(backends, execute=False))}"


class ComponentDirective(SphinxDirective):
    """The section of a registered component; with ``:picture:`` and the graph of its first conformance case.

    ``:case: name`` draws another case, ``:depth: n`` opens its components that deep, ``:action-space: {...}`` is the
    Space with which the example is made.
    """

    required_arguments = 1
    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {
        "picture": directives.flag,
        "case": directives.unchanged_required,
        "depth": directives.positive_int,
        "action-space": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        from rlgraph.core import RLGraphError

        (name,) = self.arguments
        level = self.state.memo.section_level + 1
        space = self.options.get("action-space", "")
        try:
            text = component_markdown(name, "\n".join(self.content), space, level)
            if self.options.keys() & {"picture", "case", "depth"}:
                text += self._picture(name)
        except (RLGraphError, json.JSONDecodeError) as error:
            raise self.error(f"{name}: {error}") from error
        return self.parse_text_to_nodes(text, allow_section_headings=True)

    def _picture(self, name: str) -> str:
        """Draw the component as it stands in a case, and refer to the file."""
        from rlgraph.core import Component, GraphExecutor, registry
        from rlgraph.draw import draw
        from rlgraph.testing.conformance.cases import CASES

        case = CASES[self.options.get("case", name)]
        executor = GraphExecutor(case.make(), case.spaces, backend="numpy")
        kind = registry(Component.registry_group).load(name)
        part = next(component for component in executor.root.walk() if isinstance(component, kind))
        drawing = draw(executor, scope=part.scope_path, depth=self.options.get("depth"))
        folder = Path(self.env.srcdir) / "generated"
        folder.mkdir(exist_ok=True)
        file = f"component-{self.options.get('case', name)}-{self.options.get('depth', 'all')}.svg"
        drawing.save(folder / file)
        return f"\n![component graph of {name}](/generated/{file})\n"


class FunctionsDirective(SphinxDirective):
    """The functions of a module."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        names = " ".join(self.content).split()
        text = functions_markdown(self.arguments[0], names, self.state.memo.section_level + 1)
        return self.parse_text_to_nodes(text, allow_section_headings=True)


class TableDirective(SphinxDirective):
    """The table of all components."""

    def run(self) -> list[nodes.Node]:
        return self.parse_text_to_nodes(table())


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("rlgraph-component", ComponentDirective)
    app.add_directive("rlgraph-functions", FunctionsDirective)
    app.add_directive("rlgraph-table", TableDirective)
    return {"version": "1", "parallel_read_safe": True}
