"""Completes specs with the defaults of what was made of them, without changing what they mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.core.specs.documents import is_json
from rlgraph.core.specs.spec_paths import Records, ShortForm, join_parts

#: What can be compared.
_VALUES = (str, int, float, type, type(None))


def completed(given: Any, place: str, records: Records) -> Any:
    """The value at a place of a document, with all defaults.

    A value stays as it is where something else was made, or several different things: written out, one of them would
    replace the others. No given value is dropped, and a default that JSON cannot hold is not written out.

    Args:
        given: the value.
        place: where it is.
        records: what was made at which place.
    """
    full: Any = given
    if place in records:
        made = _the_only(records[place])
        if made is None or not _is_made_of(given, made):
            return given
        full = dict(made) if isinstance(made, Mapping) else made.value if given is None else given
    if isinstance(full, Mapping):
        full = {key: completed(value, join_parts(place, key), records) for key, value in full.items()}
    elif isinstance(full, list | tuple):
        full = [completed(value, f"{place}[{i}]", records) for i, value in enumerate(full)]
    return full if given is not None or is_json(full) else None


def _the_only(made: list[Mapping[str, Any] | ShortForm]) -> Mapping[str, Any] | ShortForm | None:
    """What was made at a place, as its short form if it has one; None: different things were made there."""
    forms = [each for each in made if isinstance(each, ShortForm)]
    in_full = [each for each in made if isinstance(each, Mapping)]
    same_form = all(_equal(each.value, forms[0].value) for each in forms)
    # An argument that one of them lacks was handed on by the program.
    same = all(
        _equal(each[key], in_full[0][key]) for each in in_full for key in each.keys() & in_full[0].keys()
    )
    if not (same_form and same):
        return None
    return forms[0] if forms else in_full[0]


def _is_made_of(given: Any, made: Mapping[str, Any] | ShortForm) -> bool:
    """Whether all that was given is part of what was made."""
    if given is None:
        return True
    if isinstance(made, ShortForm):
        return _equal(given, made.value)
    if isinstance(given, Mapping):
        keys = given.keys() - {"type", "_args"}
        return all(key in made and _equal(given[key], made[key]) for key in keys)
    return isinstance(given, str | int) and given in [v for v in made.values() if isinstance(v, _VALUES)]


def _equal(one: Any, other: Any) -> bool:
    """Whether two values are equal; objects are if they are of one type, since `completed` keeps none."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_equal, one, other))
    if isinstance(one, _VALUES) or isinstance(other, _VALUES):
        return isinstance(one, _VALUES) and isinstance(other, _VALUES) and one == other
    return type(one) is type(other)
