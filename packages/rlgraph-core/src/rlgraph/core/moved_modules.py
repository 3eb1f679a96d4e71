"""Modules by the names that they had in an earlier version."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any


def forward_modules(package: str, *places: str) -> None:
    """Let modules that left a package be imported from there for a year more, with a `DeprecationWarning`.

    What such a module had is found in the module of its name in one of `places`, else in the package itself.

    Args:
        package: such as ``"rlgraph.agents"``.
        places: the packages that they may have moved to.
    """
    sys.meta_path.append(_Forwarding(package, places))


class _Forwarding(MetaPathFinder, Loader):
    def __init__(self, package: str, places: Sequence[str]):
        self._package, self._places = package, places

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        package, _, name = fullname.partition(f"{self._package}.")
        if package or not name or fullname.startswith(tuple(f"{place}." for place in self._places)):
            return None
        for place in self._places:
            own = place.rpartition(".")[2]  # a package that moved as a whole is a place itself
            new = place if name == own else f"{place}.{name.removeprefix(f'{own}.')}"
            try:
                found = find_spec(new)
            except ModuleNotFoundError:
                continue
            if found is not None:
                return ModuleSpec(
                    fullname, self, origin=new, is_package=found.submodule_search_locations is not None
                )
        return None

    def create_module(self, spec: ModuleSpec) -> None:
        """The usual empty module."""

    def exec_module(self, module: ModuleType) -> None:
        spec = module.__spec__
        assert spec is not None and spec.origin is not None
        warnings.warn(
            f"{spec.name} is {spec.origin} now: import it from there",
            DeprecationWarning,
            stacklevel=2,
        )
        here, package = importlib.import_module(spec.origin), importlib.import_module(self._package)

        def moved(name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(name)
            return getattr(here, name) if hasattr(here, name) else getattr(package, name)

        module.__getattr__ = moved  # type: ignore[method-assign]
