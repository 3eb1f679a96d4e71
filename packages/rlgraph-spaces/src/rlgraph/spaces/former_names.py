"""Names that an earlier version had: who imports or reads one is told what there is now."""

from __future__ import annotations

import sys
from collections import ChainMap
from collections.abc import Mapping
from importlib.abc import MetaPathFinder
from types import MappingProxyType
from typing import Any, NoReturn, TypeVar

T = TypeVar("T")

#: Of `rlgraph.spaces`.
IN_SPACES: Mapping[str, str] = MappingProxyType(
    {
        "space_utils": "Its checks are in rlgraph.spaces: from rlgraph.spaces import sanity_check_space.",
        "get_list_registry": "Write {path: [] for path in space.flatten()}; memories lay out their storage themselves.",
        "get_space_from_op": "The build infers the Spaces of outputs; executor.plan(METHOD) shows them.",
    }
)

_ANSWERS: dict[str, str] = {}


class _Answers(MetaPathFinder):
    """Comes after all other finders, so that whatever exists is found."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> None:
        if fullname in _ANSWERS:
            module, _, name = fullname.rpartition(".")
            # `from module import name` swallows the error of a module that has its own full name.
            raise ModuleNotFoundError(f"{module} has no {name!r} any more. {_ANSWERS[fullname]}", name=module)


def answer_names(module: str, names: Mapping[str, str]) -> None:
    """Answer imports of names that `module` had, and their use as attributes.

    Args:
        module: an imported module, such as ``"rlgraph.spaces"``.
        names: name of a class, function or submodule -> a sentence that says what there is now.
    """
    if not _ANSWERS:
        sys.meta_path.append(_Answers())
    _ANSWERS.update((f"{module}.{name}", sentence) for name, sentence in names.items())

    def __getattr__(name: str) -> NoReturn:
        sentence = names.get(name)
        raise AttributeError(
            f"module {module!r} has no attribute {name!r}{f' any more. {sentence}' if sentence else ''}"
        )

    vars(sys.modules[module]).setdefault("__getattr__", __getattr__)


def names_of(target: Any, names: Mapping[str, Mapping[str, T]]) -> Mapping[str, T]:
    """What `names`, by the qualified name, have for a class, with those it is derived from, or for a function."""
    owners = [getattr(each, "__qualname__", "") for each in getattr(target, "__mro__", (target,))]
    return ChainMap(*(dict(names[owner]) for owner in owners if owner in names))
