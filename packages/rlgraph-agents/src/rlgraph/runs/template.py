"""A commented document to begin with."""

from __future__ import annotations

from typing import Any

import yaml

from rlgraph.agents.presets import preset
from rlgraph.agents.specs import Spec, expected, model_of
from rlgraph.runs.run_spec import RunSpec


def config_template(agent: str, environment: str, steps: int = 50_000) -> str:
    """A YAML document for an agent in an environment, with every key of a run, its default and what it means.

    Args:
        agent: a registered agent; where there is a tuned preset for the environment, it is taken.
        environment: an id of Gymnasium or a registered environment.
        steps: environment steps.
    """
    given = {
        "agent": preset(agent, environment) or {"type": agent},
        "environment": environment,
        "steps": steps,
    }
    lines = ["# yaml-language-server: $schema=run.schema.json"]
    for name, field in RunSpec.model_fields.items():
        lines += ["", f"# {field.description or (field.annotation.__doc__ or '').partition('.')[0]}"]
        model = model_of(field.annotation)
        if name in given:
            lines += _yaml({name: given[name]})
        elif model is None:
            lines += _yaml({name: field.default})
        else:
            lines += [f"{name}:", *(f"  {line}" for line in _section(model))]
    return "\n".join(lines) + "\n"


def _section(model: type[Spec]) -> list[str]:
    lines = []
    for name, field in model.model_fields.items():
        (line,) = _yaml({name: field.default})
        lines.append(f"{line}  # {field.description}; {expected(field)}")
    return lines


def _yaml(value: Any) -> list[str]:
    text: str = yaml.safe_dump(value, sort_keys=False, width=100)
    return text.rstrip("\n").split("\n")
