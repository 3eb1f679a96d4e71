"""The classes of agents: one for each algorithm, made from it or written for it, and found by name."""

from __future__ import annotations

import copyreg
from collections.abc import Callable
from typing import Any, ClassVar, Self, cast

from rlgraph.algorithms.algorithm import Algorithm
from rlgraph.algorithms.presets import Preset, refuse_preset
from rlgraph.core import Specifiable, registry
from rlgraph.core.errors import OtherNames
from rlgraph.core.specs.imports import imported
from rlgraph.learning.actor_spec import ActorSpec
from rlgraph.learning.agent_options import derive_signature
from rlgraph.learning.agent_spec import AgentMeta, make_agent, refuse_positional
from rlgraph.learning.option_hints import IN_AN_AGENT

#: A class of agents without an algorithm, and an algorithm -> the class of agents with both.
_CLASSES: dict[tuple[type[AgentOfAlgorithm], type[Algorithm]], type[AgentOfAlgorithm]] = {}


def _class_of(general: type[AgentOfAlgorithm], algorithm: type[Algorithm]) -> type[AgentOfAlgorithm]:
    """The class that was written for agents with an algorithm, else one that is made here."""
    preferred = imported(algorithm.agent_class)
    if issubclass(preferred, general):
        general = preferred
    body = {
        "algorithm_class": algorithm,
        "__module__": algorithm.__module__,
        "__qualname__": algorithm.__qualname__,
    }
    return _CLASSES.get((general, algorithm)) or type(f"{algorithm.__name__}Agent", (general,), body)


def _by_parts(kind: type[AgentOfAlgorithm]) -> Any:
    """How a class is pickled: one that was made here by what it was made of."""
    algorithm = vars(kind).get("algorithm_class")
    is_made = algorithm is not None and kind.__qualname__ == algorithm.__qualname__
    return (_class_of, (kind._general(), algorithm)) if is_made else kind.__qualname__


copyreg.pickle(AgentMeta, _by_parts)  # type: ignore[arg-type]


class AgentOfAlgorithm(Specifiable, metaclass=AgentMeta):
    """An agent whose class has the options of an algorithm.

    Attributes:
        algorithm_class: the class of the algorithm.
        preset: the preset that the agent was made from, if any.
    """

    registry_group: ClassVar[str] = "rlgraph.agents"
    other_names: ClassVar[OtherNames] = IN_AN_AGENT
    algorithm_class: ClassVar[type[Algorithm]]
    preset: Preset | None = None

    def __init_subclass__(cls, **options: Any):
        super().__init_subclass__(**options)
        if "algorithm_class" in vars(cls):
            derive_signature(cls, cls._general())
            _CLASSES.setdefault((cls._general(), cls.algorithm_class), cls)

    @classmethod
    def of(cls, algorithm: str | type[Algorithm | AgentOfAlgorithm]) -> type[Self]:
        """The class of the agents with an algorithm, as `from_spec` makes them.

        Args:
            algorithm: its class, or a registered name; a class of agents is returned as it is.

        Raises:
            SpecError: it is unknown, or of another kind of agent.
        """
        kind: Any = cls._lookup(algorithm, "algorithm")
        return cast(type[Self], kind)

    @classmethod
    def spec_name(cls) -> str:
        """The registered name of the class, or that of its algorithm, else an import path."""
        known, algorithm = registry(cls.registry_group), getattr(cls, "algorithm_class", None)
        if algorithm is None:
            return super().spec_name()
        named = [cls, algorithm] if _class_of(cls._general(), algorithm) is cls else [cls]
        for plugin in known.plugins():
            attribute = plugin.target.rpartition(":")[2]
            if any(attribute == each.__qualname__ and known.load(plugin.name) is each for each in named):
                return plugin.name
        return super().spec_name()

    @classmethod
    def _general(cls) -> type[AgentOfAlgorithm]:
        """The nearest class of agents without an algorithm."""
        return next(kind for kind in cls.__mro__ if not hasattr(kind, "algorithm_class"))

    @classmethod
    def _lookup(cls, name: Any, where: str) -> Callable[..., Any]:
        refuse_preset(name, f"{where}.type")
        kind = name
        if isinstance(name, str):
            kinds, expected = (cls, Algorithm), f"a {cls.__name__} class"
            kind = registry(cls.registry_group).resolve(
                name, lambda found: issubclass(found, kinds), expected, where=f"{where}.type"
            )
        if isinstance(kind, type) and issubclass(kind, Algorithm):
            kind = _class_of(cls._general(), kind)
        return super()._lookup(kind, where)

    @classmethod
    def from_spec(cls, spec: Any, *other: Any, path: str = "agent", env: Any = None, **kwargs: Any) -> Self:
        """An agent from a spec.

        Args:
            spec: a mapping with ``type`` and constructor arguments; the path of a JSON, YAML or TOML file with one; or
                a registered name, which stands for its preset for `env` if there is one (`rlgraph.algorithms.presets`).
            path: where the spec stands; named in errors.
            env: an environment spec, environment or vector environment; gives the Spaces, and `learn` and `evaluate`
                use it.
            kwargs: constructor arguments that override the spec's, e.g. ``state_space=``, ``backend=``, ``seed=``.

        Raises:
            SpecError: unknown agent or key (nearest name offered), or neither Spaces nor an environment.
        """
        refuse_positional(cls, spec, other)
        agent: Self = make_agent(cls, spec, path, env, kwargs)
        return agent

    @classmethod
    def check_spec(cls, spec: Any, *, path: str = "agent", env: Any = None, **kwargs: Any) -> ActorSpec:
        """Check a spec as `from_spec` does, without building an executor.

        Returns:
            What actors of the agent are built from.

        Raises:
            SpecError: see `from_spec`.
        """
        checked: ActorSpec = make_agent(cls, spec, path, env, kwargs, only_check=True)
        return checked
