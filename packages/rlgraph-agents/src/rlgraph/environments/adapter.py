"""The contract of adapters, which make environments of another library from its ids, specs and objects."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from rlgraph.core import PluginError, registry
from rlgraph.environments.environment import Environment
from rlgraph.environments.vector_env import VectorEnv


class EnvironmentAdapter(ABC):
    """Makes environments of another library.

    A subclass is an entry point of the group ``rlgraph.environment_adapters``. For every spec, `make_environment` and
    `make_vector_env` use the first adapter that understands it. An `Environment`, a `VectorEnv`, a name registered in
    ``rlgraph.environments`` and the import path of a class need no adapter. All adapters are loaded with the first
    environment, so import the library in the methods that need it.

    Attributes:
        order: adapters are asked in ascending order. Those of RLgraph, which take every id and every object with
            `reset` and `step`, have orders from 10 on.
        vectorization: the value of ``make_vector_env(vectorization=)`` that asks for `make_vector`; None: none. The
            documents of runs do not take values of other packages; there a spec of `is_vector` asks for it.
    """

    order: ClassVar[float] = 0
    vectorization: ClassVar[str | None] = None

    @abstractmethod
    def understands(self, spec: Any) -> bool:
        """Whether `spec` is of this library: an id, a mapping with ``type``, an object.

        Called several times with every spec of every library, so it should be fast and make nothing.
        """

    def is_instance(self, spec: Any) -> bool:
        """Whether a spec that it understands is an existing environment, which belongs to the caller."""
        return not isinstance(spec, str | Mapping | type)

    def is_vector(self, spec: Any) -> bool:
        """Whether a spec that it understands gives vector environments only, or is one that exists."""
        return False

    def check(self, spec: Any, path: str) -> None:  # noqa: B027 - there need not be anything to check
        """Check a spec that it understands without making an environment, where that is possible.

        Raises:
            SpecError: the spec has a mistake.
        """

    @abstractmethod
    def make(self, spec: Any, path: str) -> Environment:
        """An environment from a spec that it understands, or around an object.

        Args:
            spec: no vector environment that exists.
            path: place of the spec, for messages.

        Raises:
            SpecError: the spec has a mistake.
        """

    def prefers_vector(self, spec: Any, num_envs: int) -> bool:
        """Whether ``vectorization="auto"`` uses `make_vector` for a spec that `make` takes, too."""
        return False

    def make_vector(self, spec: Any, num_envs: int = 1) -> VectorEnv:
        """A vector environment, for `is_vector`, `prefers_vector` and `vectorization`.

        Args:
            spec: one that it understands; with `vectorization`, anything.
            num_envs: number of environments; without a meaning for a vector environment that exists.

        Raises:
            SpecError: the spec has a mistake, or another kind.
        """
        raise NotImplementedError(f"{type(self).__name__} makes no vector environments")

    def settings(self, spec: Any) -> dict[str, Any] | None:
        """A spec that it understands as a mapping with ``type``, equal for all aliases, by which presets are found.

        None: there is no such mapping.
        """
        return dict(spec) if isinstance(spec, Mapping) else None


def adapters() -> list[EnvironmentAdapter]:
    """The registered adapters, in the order in which they are asked.

    Warns:
        RuntimeWarning: one cannot be loaded, and is left out.
    """
    known, found = registry("rlgraph.environment_adapters"), []
    for name in known.names():
        try:
            found.append(known.load(name)())
        except (PluginError, TypeError) as error:  # TypeError: it lacks a method
            warnings.warn(f"{error}. Its environments are left out", RuntimeWarning, stacklevel=1)  # once
    return sorted(found, key=lambda adapter: adapter.order)


def adapter_of(spec: Any) -> EnvironmentAdapter | None:
    """The first adapter that understands `spec`."""
    return next((adapter for adapter in adapters() if adapter.understands(spec)), None)
