"""The directive ``{rlgraph-configuration}``: every key of a run's document; and the JSON Schema beside the pages.

Both come from the program itself. The schemas are written into the built HTML as ``run.schema.json`` and
``agent.schema.json``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

#: Sections of the page, from what the schema calls them.
FAMILIES = {
    "layer": "Layers and preprocessing",
    "preprocessing": "Preprocessing stacks",
    "policy": "Policies",
    "memory": "Memories",
    "exploration": "Explorations",
    "optimizer": "Optimizers",
    "loss": "Losses",
}
#: What every spec has.
LEFT_OUT = ("type", "_args", "$schema")
SIGNS = {"minimum": ">=", "exclusiveMinimum": ">", "maximum": "<=", "exclusiveMaximum": "<"}


def configuration_markdown() -> str:
    """All sections, as Markdown."""
    from rlgraph.core import Component
    from rlgraph.core.specs.parameters import parameters_of
    from rlgraph.runs.schema import run_schema, spec_schema

    schema = run_schema()
    definitions = schema["$defs"]
    lines = ["## The run", "", *_table(schema, definitions)]
    for key, value in schema["properties"].items():
        model = _model(value, definitions)
        if model is not None:
            lines += [f"## `{key}`", "", model.get("description", ""), "", *_models(model, key, definitions)]
    lines += ["## Agents", ""]
    for spec in _specs(definitions["agent"]):
        lines += [*_entry(spec, definitions, ()), *_models(spec, "", definitions, own=False)]
    lines += ["### `execution_spec`", "", *_table(_execution(), definitions)]
    lines += ["## Environments", ""]
    for spec in _specs(definitions["environment"]):
        lines += _entry(spec, definitions, ())
    common = tuple(parameters_of(Component).named.keys())
    lines += ["## Every component", "", "These keys go with every component below.", ""]
    lines += _table(spec_schema("", Component), definitions)
    for family, title in FAMILIES.items():
        lines += [f"## {title}", ""]
        for name in next(choice["enum"] for choice in definitions[family]["anyOf"] if "enum" in choice):
            lines += _entry(definitions[f"component.{name}"], definitions, common)
    return "\n".join(lines) + "\n"


def _execution() -> dict[str, Any]:
    from rlgraph.core import ExecutionSpec
    from rlgraph.runs.schema import spec_schema

    schema = spec_schema("", ExecutionSpec)
    for key, value in schema["properties"].items():
        if key not in LEFT_OUT:
            value.setdefault("default", getattr(ExecutionSpec(), key))  # a new one each time: empty mappings
    return schema


def _specs(family: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """What is registered in a family, each thing once: a second name for it stands with the first."""
    known: dict[str, dict[str, Any]] = {}
    for choice in family["anyOf"]:
        if "title" in choice:
            same = known.setdefault(choice["description"], {**choice, "names": []})
            same["names"].append(choice["title"])
    yield from known.values()


def _entry(spec: Mapping[str, Any], definitions: Mapping[str, Any], left_out: tuple[str, ...]) -> list[str]:
    names = ", ".join(f"`{name}`" for name in spec.get("names", [spec["title"]]))
    return [f"### {names}", "", spec["description"], "", *_table(spec, definitions, left_out)]


def _models(
    schema: Mapping[str, Any], path: str, definitions: Mapping[str, Any], own: bool = True
) -> list[str]:
    """The table of a section and those of the sections in it."""
    lines = _table(schema, definitions) if own else []
    for key, value in schema["properties"].items():
        model = _model(value, definitions)
        if model is not None:
            place = f"{path}.{key}".lstrip(".")
            text = model.get("description", "")
            lines += [f"### `{place}`", "", text, "", *_models(model, place, definitions)]
    return lines


def _model(value: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The section that a key holds, or holds besides null."""
    for choice in (value, *value.get("anyOf", ())):
        name = choice.get("$ref", "").removeprefix("#/$defs/")
        found = definitions[name] if name.endswith("Spec") else choice
        if "properties" in found:
            return dict(found)
    return None


def _table(
    schema: Mapping[str, Any], definitions: Mapping[str, Any], left_out: tuple[str, ...] = ()
) -> list[str]:
    rows = [
        f"| `{key}` | {_type(value, definitions)} | {_default(value, definitions)} | {_range(value)} | {_text(value)} |"
        for key, value in schema["properties"].items()
        if key not in (*LEFT_OUT, *left_out) or "enum" in value
    ]
    if not rows:
        return ["No keys of its own.", ""]
    return ["| key | type | default | range | |", "| --- | --- | --- | --- | --- |", *rows, ""]


def _type(value: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    if "$ref" in value:
        name = value["$ref"].removeprefix("#/$defs/")
        return "mapping" if name.endswith("Spec") else f"{name} spec" if name != "schedule" else name
    if "anyOf" in value:
        kinds = [_type(choice, definitions) for choice in value["anyOf"]]
        return " or ".join(sorted(dict.fromkeys(kinds), key=lambda kind: kind == "null"))
    if "enum" in value:
        return "text"
    names = {"string": "text", "object": "mapping", "array": "list", "boolean": "true or false"}
    kind = value.get("type")
    return names.get(kind, kind) if kind else "any"


def _default(value: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    if _model(value, definitions) is not None and value.get("default", {}) is not None:
        return "see below"
    return f"`{json.dumps(value['default'], default=dict)}`" if "default" in value else "required"


def _range(value: Mapping[str, Any]) -> str:
    bounds = [
        f"{sign} {choice[name]}"
        for choice in (value, *value.get("anyOf", ()))
        for name, sign in SIGNS.items()
        if name in choice
    ]
    choices = [f"`{choice}`" for choice in value.get("enum", ())]
    return ", ".join([*bounds, *choices]).replace("<", "&lt;").replace(">", "&gt;")


def _text(value: Mapping[str, Any]) -> str:
    return " ".join(value.get("description", "").split()).replace("|", "\\|")


class ConfigurationDirective(SphinxDirective):
    """Every key: its type, its default, its range, what it means."""

    def run(self) -> list[nodes.Node]:
        return self.parse_text_to_nodes(configuration_markdown(), allow_section_headings=True)


def write_schemas(app: Sphinx, exception: Exception | None) -> None:
    """Put the schemas into the built HTML, under names that stay."""
    if exception is None and app.builder.format == "html":
        from rlgraph.runs.schema import agent_schema, run_schema

        for name, schema in (("run", run_schema()), ("agent", agent_schema())):
            text = json.dumps(schema, indent=2) + "\n"
            (Path(app.outdir) / f"{name}.schema.json").write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("rlgraph-configuration", ConfigurationDirective)
    app.connect("build-finished", write_schemas)
    return {"version": "1", "parallel_read_safe": True}
