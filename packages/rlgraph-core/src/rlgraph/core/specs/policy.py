"""What specs may do: those in code anything, those in data only what the user allows.

A spec in a program may name a class by its import path, ``module:Class``, a cluster or a file. A spec from a document,
a file, a run folder or the command line is untrusted data: what it imports runs code, whoever is at an address in it
can run code in this process, and an environment may read or write the paths that it gets. Code that reads such specs
does so inside `data_specs`. The user allows modules with `allow_imports` (``--allow-imports`` on the command line),
paths of environments with `allow_paths` (``--allow-path``), addresses with `allow_clusters` (``--allow-cluster``), and
with `allow_network` (``--allow-network``) servers that other machines can reach and services elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class SpecPolicy:
    """What the user has allowed.

    Attributes:
        is_data: whether specs are data.
        allowed: modules and packages that data may import; a package includes all its modules.
        paths: files and folders that environments of data may get, as the specs write them.
        clusters: addresses that data may connect to.
        network: True if servers that other machines can reach may start, and services elsewhere may be used.
        is_checked: False where specs are only compared: nothing is made of them, so they connect to nothing.
    """

    is_data: bool = False
    allowed: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ()
    network: bool = False
    is_checked: bool = True

    def permits(self, module: str) -> bool:
        """Whether specs may import `module`."""
        return not self.is_data or any(f"{module}.".startswith(f"{name}.") for name in self.allowed)


_OF_A_PROGRAM = SpecPolicy()
_policy: ContextVar[SpecPolicy] = ContextVar("spec_policy", default=_OF_A_PROGRAM)


def spec_policy() -> SpecPolicy:
    """The current policy; other threads and processes do not inherit it."""
    return _policy.get()


@contextmanager
def using_spec_policy(policy: SpecPolicy) -> Iterator[None]:
    """Apply `policy` to all specs read inside."""
    token = _policy.set(policy)
    try:
        yield
    finally:
        _policy.reset(token)


@contextmanager
def _changed(**changes: Any) -> Iterator[None]:
    """Change the policy inside; what is allowed adds up."""
    now = _policy.get()
    added: dict[str, Any] = {
        name: (*getattr(now, name), *value) if isinstance(value, tuple) else value
        for name, value in changes.items()
    }
    with using_spec_policy(replace(now, **added)):
        yield


def data_specs() -> Any:
    """A context manager and decorator: specs that are read inside are data."""
    return _changed(is_data=True)


def only_compared() -> Any:
    """A context manager: nothing is made of the specs that are read inside, so they may say anything."""
    return _changed(is_checked=False)


def allow_imports(*modules: str) -> Any:
    """A context manager and decorator: specs that are read inside may import these modules, also in data.

    Args:
        modules: ``"my_module"`` or ``"my_package"``, which includes all its modules.
    """
    return _changed(allowed=modules)


def allow_paths(*paths: str) -> Any:
    """A context manager and decorator: environments of specs that are read inside may get these paths, also in data.

    Args:
        paths: files and folders as the spec writes them: ``"videos"``, ``"models/ant.xml"``.
    """
    return _changed(paths=paths)


def allow_clusters(*addresses: str) -> Any:
    """A context manager and decorator: specs that are read inside may connect to these addresses, also in data.

    Args:
        addresses: as the spec writes them: ``"auto"``, ``"10.0.0.1:6379"``.
    """
    return _changed(clusters=addresses)


def allow_network() -> Any:
    """A context manager and decorator: inside, servers may start that other machines can reach, and specs in data may
    use services elsewhere, such as Weights & Biases."""
    return _changed(network=True)
