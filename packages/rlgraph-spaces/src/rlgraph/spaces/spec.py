"""from_spec: builds Spaces from Python shorthand and JSON."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rlgraph.spaces.bool_box import BoolBox
from rlgraph.spaces.containers import Dict, Tuple
from rlgraph.spaces.errors import SpaceError, mismatch, nearest
from rlgraph.spaces.float_box import FloatBox
from rlgraph.spaces.int_box import IntBox
from rlgraph.spaces.space import Space, spec_readers
from rlgraph.spaces.text_box import TextBox
from rlgraph.spaces.text_files import read_text

__all__ = ["build", "from_spec", "is_gymnasium_space"]

_RANKS = ("add_batch_rank", "add_time_rank", "time_major")

# Name -> class and the arguments that the name implies.
_NAMES: dict[str, tuple[type[Space], dict[str, str]]] = {
    **{name: (FloatBox, {}) for name in ("float_box", "float", "continuous")},
    **{name: (FloatBox, {"dtype": name}) for name in ("float16", "float32", "float64")},
    **{name: (IntBox, {}) for name in ("int_box", "int", "discrete")},
    **{name: (IntBox, {"dtype": name}) for name in ("uint8", "int16", "int32", "int64")},
    **{name: (BoolBox, {}) for name in ("bool_box", "bool")},
    **{name: (TextBox, {}) for name in ("text_box", "text", "str")},
    "dict": (Dict, {}),
    **{name: (Tuple, {}) for name in ("tuple", "list", "sequence")},
}
_LOOKUP = {name.replace("_", ""): entry for name, entry in _NAMES.items()}


def from_spec(spec: Any) -> Space:
    """Builds a Space from a spec, without changing it.

    * a Space: itself;
    * a gymnasium space: see `rlgraph.spaces.gymnasium.from_gymnasium`;
    * `float`, `int`, `bool`, `str`, a numpy dtype: a box of that dtype (`float` is float32, `int` int64);
    * a name: "float", "float64", "int", "int32", "uint8", "bool", "text", "continuous" ...;
    * `{"type": name, **arguments}`: that class with these arguments; the children of a container are
      under "spaces" (or, for a dict, next to "type");
    * any other dict: a Dict; a tuple or list: a Tuple. A child named "type" needs `Dict({"type": ...})`
      or "spaces", unless its spec is itself a Space, a dict, a tuple or a list;
    * a `pathlib.Path`, or a name that ends with ".json": the spec in that file.

    Raises:
        SpaceError: with the path inside the spec, what was expected and given, and the nearest name.
    """
    return build(spec, "")


def is_gymnasium_space(value: Any) -> bool:
    """Whether `value` is a space of gymnasium, which is not imported to find out."""
    spaces = sys.modules.get("gymnasium.spaces")
    return spaces is not None and isinstance(value, spaces.Space)


def build(spec: Any, path: str) -> Space:
    """`from_spec` for a spec at `path` inside another one."""
    if isinstance(spec, Space):
        return spec
    try:
        if is_gymnasium_space(spec):
            from rlgraph.spaces.gymnasium import from_gymnasium  # rarely needed

            return from_gymnasium(spec)
        if isinstance(spec, Mapping):
            kind = spec.get("type")
            if _names_class(kind):
                return _build_typed(kind, {key: value for key, value in spec.items() if key != "type"})
            return Dict(spec)
        if isinstance(spec, (tuple, list)):
            return Tuple(list(spec))
        if isinstance(spec, Path) or (isinstance(spec, str) and spec.endswith(".json")):
            return build(_read_file(Path(spec)), str(spec))
        cls, arguments = _find(spec)
        return cls(**arguments)
    except SpaceError as error:
        raise error.under(path) from None


spec_readers.append(build)


def _read_file(path: Path) -> Any:
    try:
        return json.loads(read_text(path))
    except OSError as error:
        raise mismatch("", "a JSON file", repr(str(path)), str(error.strerror).lower()) from None
    except RecursionError:
        raise mismatch(str(path), "JSON", "values that are nested too deeply") from None
    except ValueError as error:  # not a regular file, too long, not UTF-8, or not JSON
        raise mismatch(str(path), "JSON", error) from None


def _is_space_class(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Space) and not inspect.isabstract(value)


def _names_class(value: object) -> bool:
    """Whether the value of a key "type" names a Space; otherwise it is the spec of a child named "type"."""
    if isinstance(value, str | np.dtype) or _is_space_class(value):
        return True
    return isinstance(value, type) and (value in (float, int, bool, str) or issubclass(value, np.generic))


def _find(spec: Any) -> tuple[type[Space], dict[str, str]]:
    """The class for a name, a Python type, a numpy dtype or a class."""
    if isinstance(spec, str):
        return _find_name(spec)
    if isinstance(spec, type) and _is_space_class(spec):
        return spec, {}
    if isinstance(spec, type) and spec in (float, int, bool, str):
        return _NAMES[spec.__name__]
    if isinstance(spec, np.dtype) or (isinstance(spec, type) and issubclass(spec, np.generic)):
        try:
            name = np.dtype(spec).name
        except TypeError:  # an abstract one: np.floating
            name = str(spec)
        return _find_name("str" if name.startswith("str") else name)
    hint = f"did you mean IntBox({spec})?" if isinstance(spec, int) else ""
    expected = "a Space, a type, a dtype, a name, a dict, a tuple or a list"
    raise mismatch("", expected, f"{spec!r} (a {type(spec).__name__})", hint)


def _find_name(name: str) -> tuple[type[Space], dict[str, str]]:
    plain = name.lower().replace("_", "").replace("-", "")
    if plain in _LOOKUP:
        return _LOOKUP[plain]
    expected = f"a Space name (one of {', '.join(_NAMES)})"
    raise mismatch("", expected, repr(name), nearest(name.lower(), _NAMES))


def _build_typed(kind: Any, arguments: dict[str, Any]) -> Space:
    try:
        cls, implied = _find(kind)
    except SpaceError as error:
        raise error.under("type") from None
    if issubclass(cls, (Dict, Tuple)):
        return _build_container(cls, arguments)
    known = [name for name in inspect.signature(cls).parameters if name not in implied]
    for key in arguments:
        if key not in known:
            expected = f"an argument of {cls.__name__} ({', '.join(known)})"
            raise mismatch("", expected, repr(key), nearest(str(key), known))
    return cls(**{**implied, **arguments})


def _build_container(cls: type[Dict | Tuple], arguments: dict[str, Any]) -> Space:
    ranks = {key: arguments[key] for key in _RANKS if key in arguments}
    rest = {key: value for key, value in arguments.items() if key not in _RANKS}
    spaces = rest.get("spaces") if len(rest) == 1 else None
    if isinstance(spaces, Mapping if issubclass(cls, Dict) else (list, tuple)):
        container: Any = cls
        space: Space = container(spaces, **ranks)
        return space
    if issubclass(cls, Dict):
        return cls(rest, **ranks)
    raise mismatch("", 'the children of a tuple as a list under "spaces"', repr(rest))
