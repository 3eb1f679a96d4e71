"""Classes that specs name by import paths, ``module:Class``; specs in data import only what the user allows."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

from rlgraph.core.errors import SpecError, nearest, type_and_text
from rlgraph.core.specs.policy import spec_policy


def is_import_path(name: str) -> bool:
    """Whether `name` can be ``package.module.attribute`` or ``package.module:attribute``."""
    return "." in name or ":" in name


def check_import(module: str, name: str, where: str) -> None:
    """Raise `SpecError` if `name` at `where` may not import `module`."""
    if not spec_policy().permits(module):
        raise SpecError(
            f"expected a registered name, given the import path {name!r}. Importing runs the code of "
            f"{module!r}: if you trust it, allow it with --allow-imports {module} (in Python: "
            f"rlgraph.core.allow_imports({module!r}))",
            path=where,
        )


def import_class(place: str, accepts: Callable[[type], bool], expected: str, *, where: str) -> type:
    """The class at ``package.module.Class`` or ``package.module:Class``. The class is not called.

    Args:
        place: the import path.
        accepts: whether a class is of the right kind.
        expected: description of that kind, such as ``"a Component"``.
        where: place of the spec, for messages.

    Raises:
        SpecError: the module may not be imported, does not exist or fails; it has no such attribute; or that is no
            class of the right kind.
    """
    module, _, attribute = place.partition(":") if ":" in place else place.rpartition(".")
    check_import(module, place, where)
    try:
        target = imported(f"{module}:{attribute}")
    except ModuleNotFoundError as error:
        raise SpecError(
            f"{place!r} is neither a registered name nor importable: {error}", path=where
        ) from None
    except AttributeError:
        public = [name for name in vars(sys.modules.get(module, object)) if not name.startswith("_")]
        raise SpecError(
            f"module {module!r} has no {attribute!r}. {nearest(attribute, public)}", path=where
        ) from None
    except (Exception, SystemExit) as error:
        raise SpecError(f"{place!r} cannot be imported: {type_and_text(error)}", path=where) from error
    if not isinstance(target, type) or not accepts(target):
        found = f"the class {target.__name__}" if isinstance(target, type) else f"a {type(target).__name__}"
        raise SpecError(f"{place!r} is {found}, expected {expected}", path=where)
    return target


def imported(place: str) -> Any:
    """The object at ``module:attribute``."""
    module, _, attribute = place.partition(":")
    target: Any = importlib.import_module(module)
    for part in attribute.split("."):
        target = getattr(target, part)
    return target
