"""JSON Schema (draft 2020-12) of a run's document, generated from the code.

Sections of the run come from their models; agents, components and environments from their constructors: types from the
annotations (`rlgraph.core.specs.spec_types`), descriptions from the docstrings. It contains all registered names,
including third-party ones. An argument named ``memory_spec`` takes the spec of a memory: a component with the API
methods of a memory.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from rlgraph.core import PluginError, registry
from rlgraph.core.component.members import ApiMethod
from rlgraph.core.specs.parameters import descriptions_of, parameters_of, summary_of
from rlgraph.core.specs.spec_types import spec_type
from rlgraph.experience.specs import model_of
from rlgraph.learning.base_agent import BaseAgent
from rlgraph.runs.configuration import HANDED, SAID_BY_THE_RUN
from rlgraph.runs.run_spec import RunSpec

DIALECT = "https://json-schema.org/draft/2020-12/schema"

#: Family -> API methods of its components. An argument ``<family>_spec`` takes such a component.
FAMILIES: dict[str, frozenset[str]] = {
    "layer": frozenset({"call"}),
    "network": frozenset({"call"}),
    "preprocessing": frozenset({"preprocess"}),
    "policy": frozenset({"get_deterministic_action"}),
    "memory": frozenset({"insert_records", "get_records"}),
    "exploration": frozenset({"get_action"}),
    "optimizer": frozenset({"step"}),
    "loss": frozenset({"loss"}),
}
#: API methods that exclude a component from a family: a policy chooses actions too, but does not explore.
NOT_IN_FAMILY = {"exploration": frozenset({"get_deterministic_action"})}
#: Families that accept a list, applied as a stack -> the family of its items.
STACKS = {"network": "layer", "preprocessing": "layer"}

_FILE: dict[str, Any] = {
    "type": "string",
    "pattern": r"\.(json|ya?ml|toml)$",
    "description": "a file with the spec",
}
_IMPORT: dict[str, Any] = {"type": "string", "pattern": r"[.:]", "description": "where to import it from"}
_PLAIN: dict[Any, dict[str, Any]] = {
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
    None: {"type": "null"},
    type(None): {"type": "null"},
}


def run_schema() -> dict[str, Any]:
    """The schema of a run's whole document."""
    schema = RunSpec.model_json_schema()
    definitions = schema.pop("$defs", {})
    properties = schema["properties"]
    properties["agent"] = _described({"$ref": "#/$defs/agent"}, properties["agent"])
    properties["environment"] = _described({"$ref": "#/$defs/environment"}, properties["environment"])
    properties["$schema"] = {"type": "string"}
    return {
        "$schema": DIALECT,
        **schema,
        "title": "A run of RLgraph",
        "$defs": {**definitions, **_definitions()},
    }


def agent_schema() -> dict[str, Any]:
    """The schema of an agent's spec, which may include backend and seed."""
    return {
        "$schema": DIALECT,
        "title": "An agent of RLgraph",
        "$ref": "#/$defs/agent",
        "$defs": _definitions(handed=HANDED.difference(SAID_BY_THE_RUN)),
    }


def _definitions(handed: frozenset[str] = HANDED) -> dict[str, Any]:
    components = _loaded("rlgraph.components")
    kinds = {name: BaseAgent.of(kind) for name, kind in _loaded("rlgraph.agents").items()}
    agents = _family(kinds, handed)
    environments = _family(_loaded("rlgraph.environments"), frozenset())
    environments["anyOf"].append({"type": "string", "description": "an id of Gymnasium, such as CartPole-v1"})
    definitions = {"agent": agents, "environment": environments, "schedule": _schedule()}
    for family in FAMILIES:
        definitions[family] = _component_family(family, components)
    for name, target in components.items():
        definitions[f"component.{name}"] = spec_schema(name, target)
    return definitions


def _loaded(group: str) -> dict[str, Any]:
    """The registered objects of a group by name, without those that cannot be imported."""
    found = {}
    for name in registry(group).names():
        try:
            found[name] = registry(group).load(name)
        except PluginError:
            continue
    return found


def _family(targets: Mapping[str, Any], handed: frozenset[str]) -> dict[str, Any]:
    specs = [spec_schema(name, target, handed) for name, target in targets.items()]
    return {"anyOf": [{"enum": sorted(targets)}, *specs, _FILE, _imported(), _IMPORT]}


def _component_family(family: str, components: Mapping[str, Any]) -> dict[str, Any]:
    excluded = NOT_IN_FAMILY.get(family, frozenset())
    members = [
        name
        for name, target in components.items()
        if FAMILIES[family] <= (methods := _api_methods(target)) and not excluded & methods
    ]
    default = [_untyped(components[name]) for name in members]
    choices: list[dict[str, Any]] = [
        {"type": "null"},
        {"enum": members},
        *({"$ref": f"#/$defs/component.{name}"} for name in members),
        *default,
        _FILE,
        _imported(),
        _IMPORT,
    ]
    if family in STACKS:
        items: dict[str, Any] = {"$ref": f"#/$defs/{STACKS[family]}"}
        if family == "network":
            units = {"type": "integer", "minimum": 1, "description": "the units of a dense layer with ReLU"}
            items = {"anyOf": [items, units]}
        choices.insert(0, {"type": "array", "items": items})
        # A container state has a stack for each of its parts, by path.
        choices.append(
            {"type": "object", "not": {"required": ["type"]}} if family == "preprocessing" else _IMPORT
        )
    return {"anyOf": choices}


def _api_methods(target: Any) -> frozenset[str]:
    if not isinstance(target, type):
        return frozenset()
    return frozenset(
        name
        for owner in target.__mro__
        for name, member in vars(owner).items()
        if isinstance(member, ApiMethod)
    )


def _imported() -> dict[str, Any]:
    """A spec whose type is an import path."""
    return {"type": "object", "properties": {"type": _IMPORT}, "required": ["type"]}


def _untyped(target: Any) -> dict[str, Any]:
    """A spec without a type, which its place determines."""
    schema = spec_schema("", target)
    del schema["properties"]["type"]
    schema["required"] = [name for name in schema["required"] if name != "type"]
    return schema


def spec_schema(name: str, target: Any, handed: frozenset[str] = HANDED) -> dict[str, Any]:
    """The schema of a constructor's arguments.

    Args:
        name: its registered name.
        target: the class or function.
        handed: arguments that the program passes, so they are not in specs.
    """
    parameters, texts = parameters_of(target), descriptions_of(target)
    named = {key: p for key, p in parameters.named.items() if key not in handed}
    properties = {key: _property(p, texts.get(key, "")) for key, p in named.items()}
    return {
        "type": "object",
        "title": name or target.__name__,
        "description": summary_of(target),
        "properties": {"type": {"const": name}, "_args": {"type": "array"}, **properties},
        # The program may pass required arguments of a constructor, and checks them.
        "required": ["type"],
        "additionalProperties": parameters.is_open,
    }


def _property(parameter: Parameter, description: str) -> dict[str, Any]:
    schema = _type_of(parameter)
    if description:
        schema["description"] = description
    if _is_default(parameter.default):
        schema["default"] = (
            list(parameter.default) if isinstance(parameter.default, tuple) else parameter.default
        )
    return schema


def _type_of(parameter: Parameter) -> dict[str, Any]:
    name, model = parameter.name, model_of(parameter.annotation)
    family = name.removesuffix("_spec")
    if name.endswith("_spec") and family in FAMILIES:
        return {"$ref": f"#/$defs/{family}"}
    if model is not None:
        schema = model.model_json_schema()
        schema.pop("$defs", None)
        return {"anyOf": [{"type": "null"}, schema]}
    return _of(parameter.annotation)


def _of(annotation: Any) -> dict[str, Any]:
    """The schema of an annotation; empty (any value) for types without a JSON form."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        described = spec_type(annotation)
        if described is not None and described.schema:
            return {"$ref": f"#/$defs/{described.schema}"}
        return _of(arguments[0])
    if origin in (Union, types.UnionType):
        choices = [_of(choice) for choice in arguments if get_origin(choice) is not Callable]
        return {"anyOf": choices} if all(choices) else {}
    if origin is Literal:
        return {"enum": list(arguments)}
    if isinstance(annotation, type | None) and annotation in _PLAIN:
        return dict(_PLAIN[annotation])
    kind = origin or annotation
    if kind in (list, tuple, Sequence):
        return {"type": "array", **({"items": _of(arguments[0])} if arguments and kind is not tuple else {})}
    if kind in (dict, Mapping):
        return {"type": "object", **({"additionalProperties": _of(arguments[1])} if arguments else {})}
    return {}


def _schedule() -> dict[str, Any]:
    return {
        "description": "a number, [from, to], [type, from, to, ...], or a mapping with 'type'",
        "anyOf": [
            {"type": "number"},
            {"type": "array", "minItems": 2},
            {"type": "object", "required": ["type"]},
            {"type": "null"},
        ],
    }


def _described(schema: dict[str, Any], field: Mapping[str, Any]) -> dict[str, Any]:
    return {**schema, "description": field["description"]} if "description" in field else schema


def _is_default(value: Any) -> bool:
    items = value if isinstance(value, tuple | list) else [value]
    return all(item is None or isinstance(item, str | bool | int | float) for item in items)
