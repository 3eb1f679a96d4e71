"""Modules of frameworks where components are expected; recognized without importing a framework."""

from __future__ import annotations

from typing import Any

from rlgraph.core.errors import SpecError

#: Base class -> what its instances are called, and the package with the component that takes them.
_BASES = {
    ("torch", "Module"): ("PyTorch module", "rlgraph.torch"),
    ("keras", "Layer"): ("Keras layer", "rlgraph.tf"),
}


def check_no_native_module(spec: Any, expected: str, path: str) -> None:
    """Check that `spec` is neither a module of PyTorch or Keras nor a class of modules.

    Args:
        spec: what was given.
        expected: kind of component, for the message.
        path: place of `spec`; named in errors.

    Raises:
        SpecError: it is a module or a class of modules; shows how to make a component of it.
    """
    kind = spec if isinstance(spec, type) else type(spec)
    for base in kind.__mro__:
        found = _BASES.get((base.__module__.partition(".")[0], base.__name__))
        if found is not None:
            words, package = found
            given = (
                f"the class {kind.__name__}, a {words}" if kind is spec else f"the {words} {kind.__name__}"
            )
            raise SpecError(
                f"expected a {expected} or its spec, given {given}. ModuleComponent makes a layer of a module: "
                f"[ModuleComponent(module)], after from {package} import ModuleComponent",
                path=path,
            )
