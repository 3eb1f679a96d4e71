"""The directive ``{rlgraph-options} ppo``: the options of an agent that not every agent has, from its class."""

from __future__ import annotations

import json
from inspect import Parameter
from itertools import groupby
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


def options_markdown(name: str) -> str:
    """A table of name, default and description, as ``rlgraph agents NAME`` has them.

    Args:
        name: the registered name of the agent.

    Raises:
        PluginError: the agent is unknown.
        ValueError: an option has no description.
    """
    from rlgraph.agents import Agent
    from rlgraph.core.specs.parameters import descriptions_of, parameters_of

    kind = Agent.of(name)
    texts, general = descriptions_of(kind), parameters_of(Agent).named
    own = {key: option for key, option in parameters_of(kind).named.items() if key not in general}
    if missing := own.keys() - texts.keys():
        raise ValueError(f"{name}: expected a description of every option, none of {sorted(missing)}")
    rows = []
    for text, keys in groupby(own, lambda key: texts[key]):  # what is described together is one row
        described = list(keys)
        names, defaults = (
            ", ".join(filter(None, each))
            for each in ([f"`{k}`" for k in described], [_default(own[k], text) for k in described])
        )
        rows.append(f"| {names} | {defaults} | {_text(text)} |")
    return "\n".join(["| option | default | what it does |", "| --- | --- | --- |", *rows]) + "\n"


def _default(option: Parameter, text: str) -> str:
    if option.default is None and "default: " in text.lower():
        return ""
    return f"`{json.dumps(option.default)}`"


def _text(description: str) -> str:
    text = " ".join(description.split()).replace("``", "`").replace("|", "\\|").rstrip(".")
    return text[:1].upper() + text[1:]


class OptionsDirective(SphinxDirective):
    """The options of the agent whose name is the argument."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        return self.parse_text_to_nodes(options_markdown(self.arguments[0]))


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("rlgraph-options", OptionsDirective)
    return {"version": "1", "parallel_read_safe": True}
