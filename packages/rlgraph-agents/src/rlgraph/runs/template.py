"""Template of a commented document."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from rlgraph.algorithms.default_network import default_network
from rlgraph.algorithms.presets import use_preset
from rlgraph.core import data_specs
from rlgraph.core.specs.documents import dump_yaml
from rlgraph.environments.factory import environment_spaces
from rlgraph.experience.specs import Spec, expected, model_of
from rlgraph.runs.configuration import check
from rlgraph.runs.run_spec import RunSpec
from rlgraph.spaces import IntBox

#: Environment steps of a run that neither its document nor a preset gives.
STEPS = 50_000


@data_specs()
def config_template(agent: str, environment: str | Mapping[str, Any], steps: int | None = None) -> str:
    """A YAML document for an agent in an environment, with every key of a run, its value and its meaning.

    Args:
        agent: a registered agent; its preset for the environment gives the values if it exists.
        environment: an id of Gymnasium, a registered environment, or a spec.
        steps: environment steps; default: those of the preset, else `STEPS`.

    Raises:
        SpecError: an unknown agent, an invalid environment, or no steps.
    """
    given: dict[str, Any] = {
        "environment": environment if isinstance(environment, str) else dict(environment)
    }
    preset = use_preset(agent, environment)
    if preset is None:
        given["agent"] = {"type": agent, **_for_states_of(environment)}
    else:
        given = preset.complete(given)
    given["steps"] = given.get("steps", STEPS) if steps is None else steps
    check(given)
    lines = ["# yaml-language-server: $schema=run.schema.json"]
    for name, field in RunSpec.model_fields.items():
        model = model_of(field.annotation)
        lines += ["", f"# {_sentence(field.description or (model.__doc__ if model else '') or '')}"]
        if model is None:
            lines += _yaml({name: given.get(name, field.default)})
        else:
            lines += [f"{name}:", *(f"  {line}" for line in _section(model, given.get(name, {})))]
    return "\n".join(lines) + "\n"


def _for_states_of(environment: str | Mapping[str, Any]) -> dict[str, Any]:
    """The network for states that dense layers cannot process: categories and other integers."""
    space, _ = environment_spaces(environment)
    if isinstance(space, IntBox) and space.shape:
        return {"network_spec": default_network(space)}
    if isinstance(space, IntBox) and not space.shape:
        return {"preprocessing_spec": [{"type": "reshape", "flatten": True, "flatten_categories": True}]}
    return {}


def _section(model: type[Spec], given: Mapping[str, Any]) -> list[str]:
    lines = []
    for name, field in model.model_fields.items():
        (line,) = _yaml({name: given.get(name, field.default)})
        lines.append(f"{line}  # {field.description}; {expected(field)}")
    return lines


def _sentence(text: str) -> str:
    """The first sentence of a description, without markup."""
    return re.split(r"\.(?:\s|$)", text)[0].replace("``", "")


def _yaml(value: Any) -> list[str]:
    text = dump_yaml(value, width=100)
    return text.rstrip("\n").split("\n")
