"""The import policy of specs: specs in code may import anything, specs in data only what the user allows.

A spec in a program may name a class by its import path, ``module:Class``. A spec from a document, a file, a run folder
or the command line is untrusted data, which may name only registered types. Code that reads such specs does so inside
`data_specs`; the user allows modules with `allow_imports` (``--allow-imports`` on the command line), and the paths that
such specs give to environments with `allow_paths` (``--allow-path``).
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

from rlgraph.core.errors import SpecError, nearest, text_of


@dataclass(frozen=True)
class ImportPolicy:
    """The modules that specs may import.

    Attributes:
        is_data: whether specs are data, which import only from `allowed`.
        allowed: modules and packages; a package includes all its modules.
        paths: files and folders that environments of data may get, as the specs write them.
    """

    is_data: bool = False
    allowed: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()

    def permits(self, module: str) -> bool:
        """Whether specs may import `module`."""
        return not self.is_data or any(f"{module}.".startswith(f"{name}.") for name in self.allowed)


_OF_A_PROGRAM = ImportPolicy()
_policy: ContextVar[ImportPolicy] = ContextVar("import_policy", default=_OF_A_PROGRAM)


def import_policy() -> ImportPolicy:
    """The current policy; other threads and processes do not inherit it."""
    return _policy.get()


@contextmanager
def using_import_policy(policy: ImportPolicy) -> Iterator[None]:
    """Apply `policy` to all specs read inside."""
    token = _policy.set(policy)
    try:
        yield
    finally:
        _policy.reset(token)


def data_specs() -> Any:
    """A context manager and decorator: specs that are read inside are data."""
    return _changed(is_data=True)


def allow_imports(*modules: str) -> Any:
    """A context manager and decorator: specs that are read inside may import these modules, also in data.

    Args:
        modules: ``"my_module"`` or ``"my_package"``, which includes all its modules.
    """
    return _changed(allowed=modules)


@contextmanager
def allow_paths(*paths: str) -> Iterator[None]:
    """A context manager and decorator: environments of specs that are read inside may get these paths, also in data.

    Args:
        paths: files and folders as the spec writes them: ``"videos"``, ``"models/ant.xml"``.
    """
    now = _policy.get()
    with using_import_policy(replace(now, paths=(*now.paths, *paths))):
        yield


@contextmanager
def _changed(is_data: bool = False, allowed: tuple[str, ...] = ()) -> Iterator[None]:
    now = _policy.get()
    with using_import_policy(replace(now, is_data=now.is_data or is_data, allowed=(*now.allowed, *allowed))):
        yield


def is_import_path(name: str) -> bool:
    """Whether `name` can be ``package.module.attribute`` or ``package.module:attribute``."""
    return "." in name or ":" in name


def check_import(module: str, name: str, where: str) -> None:
    """Raise `SpecError` if `name` at `where` may not import `module`."""
    if not _policy.get().permits(module):
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
        raise SpecError(
            f"{place!r} cannot be imported: {type(error).__name__}: {text_of(error)}", path=where
        ) from error
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
