"""Documents of runs: read, override, check, and resolve all defaults.

Documents are data: they import only what `rlgraph.core.allow_imports` allows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from rlgraph.algorithms.presets import use_preset
from rlgraph.core import PluginError, SpecError, data_specs, default_backend, find_backend
from rlgraph.core.collectives.place import collective_class, place_from_environment
from rlgraph.core.errors import Fault, offer
from rlgraph.core.specs.documents import MAX_DEPTH, check_limits, parse_yaml, read_spec_file, with_spec_files
from rlgraph.core.specs.parameters import parameters_of
from rlgraph.core.specs.spec_paths import is_index, join_parts, parts_of, recording
from rlgraph.core.specs.specifiable import plain_copy
from rlgraph.environments.data_paths import check_paths, paths_of
from rlgraph.environments.errors import shortened
from rlgraph.environments.factory import environment_settings, environment_spaces
from rlgraph.experience.replay import Replay
from rlgraph.experience.specs import parse_spec
from rlgraph.learning.agent_options import from_update_spec
from rlgraph.learning.base_agent import BaseAgent
from rlgraph.learning.option_hints import IN_AN_AGENT, MINIBATCH_SIZES
from rlgraph.runs.completion import completed
from rlgraph.runs.document_hints import OUTSIDE_AN_AGENT
from rlgraph.runs.executors import worker_class
from rlgraph.runs.run_spec import RunSpec
from rlgraph.runs.wandb_log import check_wandb
from rlgraph.spaces import FloatBox, IntBox

#: Default threads of a run's backend; the agent's `execution_spec` overrides them (null: the framework's default). With
#: small networks a second thread costs more than it gains, and much more on shared cores.
THREADS = 1
#: Arguments of an agent that belong to the run.
SAID_BY_THE_RUN = ("backend", "seed")
#: Arguments that the program passes, so they are not in specs.
HANDED = frozenset({"state_space", "action_space", "env", *SAID_BY_THE_RUN})


def read_document(source: str | Path | Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    """Read a run's document from a JSON, YAML or TOML file or a mapping.

    Files that it names (``agent``, ``environment``, ``..._spec``) are inserted; their names are relative to the file
    that names them, or to the working directory. An agent that is a name, ``agent: dqn``, is replaced by its preset for
    the environment, whose other values complete the document (`rlgraph.algorithms.presets`); without one, by ``agent:
    {type: dqn}``.

    Args:
        source: the document.
        changes: keys of the run that replace those of `source`; None changes nothing.

    Raises:
        SpecError: a file is missing, malformed (with line and column), or not a mapping.
    """
    if isinstance(source, Mapping):
        document = with_spec_files(dict(source), Path.cwd(), "")
    else:
        document = read_spec_file(source, "document")
    if not isinstance(document, dict):
        raise SpecError(f"expected a mapping, given {type(document).__name__} {document!r}", path="document")
    document.pop("$schema", None)
    document |= {key: value for key, value in changes.items() if value is not None}
    agent = document.get("agent")
    if isinstance(agent, str):
        preset = use_preset(agent, document.get("environment"))
        document = {**document, "agent": {"type": agent}} if preset is None else preset.complete(document)
    return document


@data_specs()
def check(document: Mapping[str, Any], only_read: bool = False) -> RunSpec:
    """Check a document including its agent and environment, without building them.

    Args:
        document: as for `read_document`.
        only_read: make no environment that has paths; its agent is not checked then.

    Raises:
        SpecError: faults of the run, its environment and its agent: path, expected and given values, nearest name. For
            an agent or environment, all faults of the first faulty mapping.
    """
    return _checked(read_document(document), only_read)


def _checked(document: Mapping[str, Any], only_read: bool = False) -> RunSpec:
    """The run of a document that was read."""
    faults: list[Fault | str] = []
    run = _collect(faults, lambda: parse_spec(RunSpec, document, ""))
    spaces = _spaces(document.get("environment"), faults, only_read)
    agent = document.get("agent")
    if isinstance(agent, Mapping):
        doubled = [name for name in SAID_BY_THE_RUN if agent.get(name) is not None]
        faults += [Fault(f"say it once, as {name}", f"agent.{name}") for name in doubled]
        if agent.get("env") is not None:
            faults.append(Fault("say it once, as environment", "agent.env"))
        spec = {key: value for key, value in agent.items() if key not in SAID_BY_THE_RUN}
        if spaces:
            _collect(faults, lambda: BaseAgent.check_spec(spec, **spaces))
        elif agent.get("type") is None:
            faults.append(Fault("expected a registered agent, given none", "agent.type"))
    name = document.get("backend")
    if isinstance(name, str):
        _collect(faults, lambda: find_backend(name))
    if isinstance(agent, Mapping):
        _collect(faults, lambda: worker_class(document.get("executor_spec"), agent))
        _collect(faults, lambda: _check_collective(agent.get("execution_spec")))
    if run is not None:
        _collect(faults, lambda: check_wandb(run.logging.wandb))
    if run is not None and isinstance(agent, Mapping):
        _collect(faults, lambda: _check_data(run))
    if faults:
        raise SpecError(*(_for_its_agent(fault, document) for fault in SpecError(*faults).faults))
    assert run is not None
    return run


def _for_its_agent(fault: Fault, document: Mapping[str, Any]) -> Fault:
    """The fault of another library's name, answered for the document's agent instead of for any."""
    *place, key = parts_of(fault.path) or ("",)
    agent = document.get("agent")
    unknown, said, _ = fault.text.partition(" has no such key. ")
    if said and place == ["agent"] and key in OUTSIDE_AN_AGENT:
        hint = offer(key, RunSpec.model_fields, OUTSIDE_AN_AGENT).replace(" here.", " of the run.")
        return Fault(f"{unknown}{said}{hint}", fault.path)
    if key not in IN_AN_AGENT or place not in ([], ["agent"]) or not isinstance(agent, Mapping):
        return fault
    if key not in (agent if place else document):
        return fault
    with suppress(SpecError, PluginError):
        options = parameters_of(BaseAgent._lookup(agent.get("type"), "agent")).named
        depends = not isinstance(IN_AN_AGENT[key], str) or "'" in IN_AN_AGENT[key]  # on the agent
        parts = _number_of_parts(key, (agent if place else document)[key], document, options)
        if not place and depends and key not in options:
            hint = offer(key, options, IN_AN_AGENT).replace("It is '", "It is 'agent.")
            return Fault(f"there is no such key. {hint}{parts}", fault.path)
        return Fault(f"{fault.text}{parts}", fault.path)
    return fault


def _number_of_parts(key: str, size: Any, document: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    """A sentence with the number of minibatches of a size; empty if the document does not have all that it needs."""
    agent, worker = document["agent"], document.get("worker") or {}
    if key not in MINIBATCH_SIZES or "num_minibatches" not in options or document.get("executor_spec"):
        return ""
    rollout = agent.get("rollout_length", options["rollout_length"].default)
    environments = worker.get("num_envs", 1) if isinstance(worker, Mapping) else None
    if not all(isinstance(x, int) and x > 0 for x in (rollout, environments, size)):
        return ""
    return f" Here: {rollout} x {environments} / {size} = {rollout * environments / size:g}."


@data_specs()
def resolve(document: Mapping[str, Any], only_read: bool = False) -> dict[str, Any]:
    """The document with all defaults of the run, the agent, its components and the environment.

    It describes the same run; resolving it again changes nothing.

    Args:
        document, only_read: as for `check`; an agent that is not checked keeps what it leaves out.

    Raises:
        SpecError: see `check`.
    """
    return _resolved(read_document(document), only_read)


def _resolved(document: dict[str, Any], only_read: bool = False) -> dict[str, Any]:
    """`resolve` of a document that was read."""
    document = _in_new_form(_with_threads(document))
    with recording() as records:
        resolved = _checked(document, only_read).model_dump()
    if resolved["backend"] is None:
        with suppress(SpecError):  # several are installed without a default
            resolved["backend"] = default_backend()
    if resolved["backend"] is not None:
        resolved["backend"] = find_backend(resolved["backend"]).name  # an alias of it
    resolved |= {place: completed(resolved[place], place, records) for place in ("agent", "environment")}
    for name in SAID_BY_THE_RUN:
        resolved["agent"].pop(name, None)
        (resolved["agent"].get("execution_spec") or {}).pop(name, None)
    checked: dict[str, Any] = check_limits(resolved, "")  # as it is read from a run folder
    return checked


def _check_collective(execution: Any) -> None:
    """Raise `SpecError` if the collective of an execution spec is unknown, or data may not connect it."""
    if not isinstance(execution, Mapping) or execution.get("collective") is None:
        return
    is_alone = execution.get("learners") == 1 and place_from_environment() is None
    if not is_alone:
        collective_class(execution["collective"], "agent.execution_spec.collective")


def _check_data(run: RunSpec) -> None:
    """Raise `SpecError` if the agent cannot learn from the data set, or from its own steps alone where it has to."""
    kind: Any = BaseAgent._lookup(run.agent.get("type"), "agent")
    if not hasattr(kind, "algorithm_class"):  # the check of the agent says so
        return
    experience, name = kind.algorithm_class.experience.kind, run.agent["type"]
    if run.data.file is None:
        if experience.is_recorded:
            raise SpecError(
                f"expected a data set, from which alone {name} learns, given none", path="data.file"
            )
        if not run.steps:
            raise SpecError(
                "expected an integer >= 1 without a data set, given 0: set data.file", path="steps"
            )
    elif not issubclass(experience, Replay):
        raise SpecError(
            f"expected an agent with a memory, such as dqfd, dqn, iql or sac, given {name!r}, which "
            "learns only from its own steps: leave it out",
            path="data.file",
        )
    elif experience.is_recorded and run.steps:
        raise SpecError(
            f"expected 0, since {name} learns from a data set only, given {run.steps}", path="steps"
        )


def _with_threads(document: dict[str, Any]) -> dict[str, Any]:
    """The document with `THREADS` for its agent's backend unless it sets them."""
    agent = document.get("agent")
    execution = agent.get("execution_spec") if isinstance(agent, dict) else None
    if isinstance(agent, dict) and isinstance(execution, dict | None):
        agent["execution_spec"] = {"threads": THREADS, **(execution or {})}
    return document


def _in_new_form(document: dict[str, Any]) -> dict[str, Any]:
    """The document without options of the agent in the place where RLgraph 0.5 had them; `check` refuses wrong ones."""
    agent = document.get("agent")
    with suppress(SpecError, PluginError):
        if isinstance(agent, dict):
            options = parameters_of(BaseAgent._lookup(agent.get("type"), "agent")).named
            document["agent"] = from_update_spec(agent, options)
    return document


@data_specs()
def apply_overrides(document: Mapping[str, Any], overrides: Iterable[str]) -> dict[str, Any]:
    """The document with values replaced.

    Args:
        document: as for `read_document`; it is not changed.
        overrides: ``path=value``, such as ``steps=20000``, ``agent.network_spec.0.units=128`` or, for the agent's own
            keys, ``optimizer_spec.learning_rate=1e-3``. Values are read as YAML. Missing parts are
            created; a missing list starts from its default.

    Raises:
        SpecError: an unknown path (with the nearest name), invalid YAML, or another fault of the document.
    """
    document, faults = read_document(document), list[Fault | str]()
    for override in overrides:
        _collect(faults, partial(_apply, document, override))
    if faults:
        _collect(faults, lambda: check(document, only_read=True))
        raise SpecError(*dict.fromkeys(faults))
    return read_document(document)


def _apply(document: dict[str, Any], override: str) -> None:
    """Replace one value, ``path=value``."""
    path, sign, text = override.partition("=")
    path = path.strip()
    if not sign or not path:
        raise SpecError(
            "expected path=value, such as optimizer_spec.learning_rate=1e-3", path=shortened(override)
        )
    if len(parts := parts_of(path)) > MAX_DEPTH or join_parts(*parts) != path:
        raise SpecError(
            f"expected names and numbers with single dots between them, at most {MAX_DEPTH}, such as "
            "optimizer_spec.learning_rate",
            path=shortened(path),
        )
    value = parse_yaml(text, path, f"the value {text!r}")
    _set(document, _from_the_top(document, path, value), value)


def _from_the_top(document: Mapping[str, Any], path: str, value: Any) -> list[str]:
    """The parts of a path; a path that begins with a key of the agent gets the prefix ``agent``."""
    parts = [part[1:-1] if is_index(part) else part for part in parts_of(path)]
    if parts[0] in RunSpec.model_fields:
        return parts
    agent = document.get("agent", {})
    target = BaseAgent._lookup(agent.get("type") if isinstance(agent, Mapping) else None, "agent")
    options = parameters_of(target).named
    keys = options.keys() - HANDED
    if parts[0] in keys:
        return ["agent", *parts]
    names = {**RunSpec.other_names, **getattr(target, "other_names", {}), **OUTSIDE_AN_AGENT}
    hint = offer(parts[0], [*RunSpec.model_fields, *keys], names)
    number = _number_of_parts(parts[0], value, document, options)
    raise SpecError(f"there is no {parts[0]!r}. {hint}{number}", path=path)


def _set(document: dict[str, Any], parts: list[str], value: Any) -> None:
    node: Any = document
    for depth, (part, following) in enumerate(zip(parts, [*parts[1:], None], strict=True)):
        place = join_parts(*parts[: depth + 1])
        key: Any = part
        if isinstance(node, list):
            if not part.isdecimal() or int(part) >= len(node):
                raise SpecError(f"expected a number below {len(node)}, given {part!r}", path=place)
            key = int(part)
        if following is None:
            node[key] = value
            return
        inner = node[key] if isinstance(node, list) else node.get(key)
        if inner is None:
            inner = _default(document, parts[: depth + 1]) if following.isdecimal() else {}
        elif isinstance(inner, str):
            is_gym = place == "environment" and following != "type"
            inner = (environment_settings(inner) if is_gym else None) or {"type": inner}
        elif not isinstance(inner, dict | list):
            raise SpecError(f"{inner!r} has no {following!r}", path=place)
        node[key] = inner
        node = inner


def _default(document: Mapping[str, Any], parts: list[str]) -> Any:
    """The value at a place of the document with all defaults."""
    node: Any = _resolved(plain_copy(dict(document)), only_read=True)
    for part in parts:
        node = node[int(part)] if isinstance(node, list) else node.get(part, {})
    return node


def _collect(faults: list[Fault | str], make: Any) -> Any:
    """The result of `make`; if it fails, its faults are collected instead."""
    try:
        return make()
    except (SpecError, PluginError) as error:
        faults.extend(error.args)
        return None


def _spaces(environment: Any, faults: list[Fault | str], only_read: bool) -> dict[str, Any]:
    """The environment with its Spaces; if it is wrong, Spaces in place of it to check the agent with.

    Empty if it has allowed paths and the document is only read.
    """
    if only_read and any(paths_of(environment)):
        _collect(faults, lambda: check_paths(environment, "environment"))
        return {}
    if isinstance(environment, str | Mapping):
        spaces = _collect(faults, lambda: environment_spaces(environment))
        if spaces is not None:
            return {"env": environment, "state_space": spaces[0], "action_space": spaces[1]}
    return {"state_space": FloatBox(shape=(4,)), "action_space": IntBox(2)}
