"""Documents of runs: read, override, check, and resolve all defaults.

Documents are data: they import only what `rlgraph.core.allow_imports` allows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from rlgraph.algorithms.presets import use_preset
from rlgraph.core import PluginError, SpecError, data_specs, default_backend, find_backend
from rlgraph.core.collectives.place import collective_class, place_from_environment
from rlgraph.core.errors import Fault, offer
from rlgraph.core.specs.documents import MAX_DEPTH, check_limits, parse_yaml, read_spec_file, with_spec_files
from rlgraph.core.specs.parameters import parameters_of
from rlgraph.core.specs.spec_paths import is_index, join_parts, parts_of, recording
from rlgraph.core.specs.specifiable import plain_copy
from rlgraph.environments.errors import shortened
from rlgraph.environments.factory import check_environment, environment_settings, environment_spaces
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
from rlgraph.spaces import FloatBox, IntBox, Space

#: Default threads of a run's backend; the agent's `execution_spec` overrides them (null: the framework's default). With
#: small networks a second thread costs more than it gains, and much more on shared cores.
THREADS = 1
#: Arguments of an agent that belong to the run.
SAID_BY_THE_RUN = ("backend", "seed")
#: Arguments that the program passes, so they are not in specs.
HANDED = frozenset({"state_space", "action_space", "env", *SAID_BY_THE_RUN})
#: The state Space and the action Space of an environment.
Spaces: TypeAlias = tuple[Space, Space]
#: What an agent is checked in whose environment is not made.
STAND_INS: tuple[Spaces, ...] = tuple(
    (states, actions)
    for states in (FloatBox(shape=(4,)), IntBox(low=0, high=255, shape=(84, 84, 4), dtype="uint8"))
    for actions in (IntBox(2), FloatBox(low=-1.0, high=1.0, shape=(2,)))
)


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
        only_read: make no environment. What depends on its Spaces is not checked then.

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
        faults += _faults_of_agent(spec, spaces, document.get("environment"))
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
        document, only_read: as for `check`; without an environment, what depends on its Spaces stays left out.

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
def apply_overrides(
    document: Mapping[str, Any], overrides: Iterable[str], only_read: bool = False
) -> dict[str, Any]:
    """The document with values replaced.

    Args:
        document: as for `read_document`; it is not changed.
        overrides: ``path=value``, such as ``steps=20000``, ``agent.network_spec.0.units=128`` or, for the agent's own
            keys, ``optimizer_spec.learning_rate=1e-3``. Values are read as YAML. Missing parts are
            created; a missing list starts from its default.
        only_read: as for `check`.

    Raises:
        SpecError: an unknown path (with the nearest name), invalid YAML, another fault of the document, or a list that
            is missing and whose default depends on an environment that is not made.
    """
    document, faults = read_document(document), list[Fault | str]()
    for override in overrides:
        _collect(faults, partial(_apply, document, override, only_read))
    if faults:
        _collect(faults, lambda: check(document, only_read))
        raise SpecError(*dict.fromkeys(faults))
    return read_document(document)


def _apply(document: dict[str, Any], override: str, only_read: bool) -> None:
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
    _set(document, _from_the_top(document, path, value), value, only_read)


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


def _set(document: dict[str, Any], parts: list[str], value: Any, only_read: bool) -> None:
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
            inner = _default(document, parts[: depth + 1], only_read) if following.isdecimal() else {}
        elif isinstance(inner, str):
            is_gym = place == "environment" and following != "type"
            inner = (environment_settings(inner) if is_gym else None) or {"type": inner}
        elif not isinstance(inner, dict | list):
            raise SpecError(f"{inner!r} has no {following!r}", path=place)
        node[key] = inner
        node = inner


def _default(document: Mapping[str, Any], parts: list[str], only_read: bool) -> Any:
    """The value at a place of the document with all defaults."""
    node: Any = _resolved(plain_copy(dict(document)), only_read)
    for part in parts:
        node = node[int(part)] if isinstance(node, list) else node.get(part, {})
    if node is None and only_read:
        raise SpecError(
            "the default depends on the Spaces of the environment, which is not made here: give the whole list, or add "
            "--make-environment",
            path=join_parts(*parts),
        )
    return node


def _collect(faults: list[Fault | str], make: Any) -> Any:
    """The result of `make`; if it fails, its faults are collected instead."""
    try:
        return make()
    except (SpecError, PluginError) as error:
        faults.extend(error.args)
        return None


def _spaces(environment: Any, faults: list[Fault | str], only_read: bool) -> Spaces | None:
    """The Spaces of the environment; None if it is wrong or not made."""
    if not isinstance(environment, str | Mapping):
        return None
    make: Any = check_environment if only_read else environment_spaces
    spaces: Spaces | None = _collect(faults, partial(make, environment))
    return spaces


def _faults_of_agent(spec: Mapping[str, Any], spaces: Spaces | None, environment: Any) -> Sequence[Fault]:
    """The faults of an agent; without Spaces those that it has in all stand-ins that its defaults take."""
    if spaces is not None:
        return _faults_in(spec, spaces, environment)
    defaults = {"type": spec.get("type")}
    with recording():  # apart from what the document records
        taken = [each for each in STAND_INS if not _faults_in(defaults, each)]
    first, *others = (_faults_in(spec, each) for each in taken or STAND_INS)
    # By their texts: layers in front of those of the spec, for pictures, move the paths.
    return [x for x in first if all(x.text in {y.text for y in other} for other in others)]


def _faults_in(spec: Mapping[str, Any], spaces: Spaces, environment: Any = None) -> Sequence[Fault]:
    states, actions = spaces
    try:
        BaseAgent.check_spec(spec, env=environment, state_space=states, action_space=actions)
    except (SpecError, PluginError) as error:
        return SpecError(*error.args).faults
    return ()
