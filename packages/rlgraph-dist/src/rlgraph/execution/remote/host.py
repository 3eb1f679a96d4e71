"""What engines run in other places: an object that is made of bytes, and whose methods are called by name."""

from __future__ import annotations

import pickle
import pickletools
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import version
from typing import Any

import numpy as np

from rlgraph.core import SpecError, registry
from rlgraph.core.registry import GROUPS, version_of
from rlgraph.experience.messages import pack_message, unpack_message

#: An object of which an engine calls methods by name. They take bytes, and return two: facts, which are few, and a body
#: of any size.
Hosted = Any

#: What the objects of this package are made of.
_OWN = ("rlgraph-agents", "rlgraph-core", "rlgraph-dist", "rlgraph-spaces")


class Host:
    """Keeps one object in the process of an actor. The first call makes it, so that errors of both come the same way.

    Args:
        make: from `packed`.
    """

    def __init__(self, make: bytes):
        self._make = make
        self._hosted: Hosted = None

    def call(self, method: str, *arguments: Any) -> Any:
        """Call a method of the object.

        Raises:
            SpecError: it cannot be made here.
        """
        if self._hosted is None:
            self._hosted = unpacked(self._make)()
        return getattr(self._hosted, method)(*arguments)

    def terminate(self) -> None:
        """Release the object."""
        if hasattr(self._hosted, "terminate"):
            self._hosted.terminate()
        self._hosted = None


def packed(make: Callable[[], Hosted], where: str) -> bytes:
    """What makes an object, as bytes for `Engine.start`, with the versions that it was made for.

    Args:
        make: called without arguments in the process of the actor.
        where: its place in the spec; named in errors.

    Raises:
        SpecError: it cannot be pickled, or a part of it is defined in ``__main__``.
    """
    try:
        pickled = pickle.dumps(make)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise SpecError(
            f"cannot be sent to another process ({error}): give names, mappings and importable functions instead of "
            "lambdas and instances",
            path=where,
        ) from None
    texts = [argument for _, argument, _ in pickletools.genops(pickled) if isinstance(argument, str)]
    if "__main__" in texts:
        raise SpecError(
            "expected classes and functions of modules that another process can import, given "
            f"{texts[texts.index('__main__') + 1]} of the program itself: move it into a module, and import it from "
            "there",
            path=where,
        )
    return pack_message({"versions": _versions(texts)}, {"make": np.frombuffer(pickled, np.uint8)})


def unpacked(message: bytes) -> Callable[[], Hosted]:
    """What was `packed`.

    Raises:
        SpecError: other versions are installed here, or something that it needs is missing.
    """
    header, arrays = unpack_message(message)
    _check_versions(header["versions"])
    try:
        make: Callable[[], Hosted] = pickle.loads(arrays["make"].tobytes())
    except (ImportError, AttributeError) as error:
        raise SpecError(
            f"cannot be made in this process ({error}): install the same packages on every node"
        ) from None
    return make


def _versions(texts: Iterable[str]) -> dict[str, str]:
    """Versions of RLgraph's distributions, and of those whose plug-ins or modules are among `texts`."""
    texts = set(texts)
    modules = {text.partition(".")[0].partition(":")[0] for text in texts}
    plugins = [plugin for group in GROUPS for plugin in registry(group).plugins()]
    used = (p for p in plugins if p.name in texts or p.target.partition(".")[0].partition(":")[0] in modules)
    others = {p.distribution for p in used if p.owner and not p.distribution.startswith("rlgraph-")}
    return {name: version(name) for name in (*_OWN, *sorted(others))}


def _check_versions(expected: Mapping[str, str]) -> None:
    """Raise `SpecError` unless these versions are installed."""
    found = {name: version_of(name) or "none" for name in expected}
    if differing := [name for name in expected if found[name] != expected[name]]:
        listed = ", ".join(f"{name} {expected[name]}, given {found[name]}" for name in differing)
        wanted = " ".join(f"{name}=={expected[name]}" for name in differing)
        raise SpecError(
            f"expected the versions of the program that trains, {listed} in this process: pip install {wanted} on "
            "every node"
        )
