"""Differences between the configurations of runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rlgraph.core.specs.spec_paths import join_parts, parts_of
from rlgraph.runs.run_files import without

#: Keys of a run's document that change neither what is learned nor how it is measured, except by chance or by length.
IRRELEVANT = (
    "seed",
    "steps",
    "logging",
    "checkpoints.keep_last",
    "checkpoints.memory",
    "worker.processes",
    "worker.step_timeout",
    "agent.execution_spec.threads",
)
#: Differences in a text, and characters of one value in it.
SHOWN, LONGEST = 3, 24
MISSING = "-"


def configuration(document: Mapping[str, Any], backend: str) -> dict[str, Any]:
    """The document of a run without `IRRELEVANT` keys, with the backend that was chosen."""
    found = {**document, "backend": backend}
    for path in IRRELEVANT:
        found = _without(found, parts_of(path))
    return found


def _without(node: Any, parts: Sequence[str]) -> Any:
    first, *rest = parts
    if not isinstance(node, Mapping) or first not in node:
        return node
    inner = _without(node[first], rest) if rest else None
    return {**node, first: inner} if inner else without(node, first)


def differences(documents: Sequence[Any]) -> list[dict[str, Any]]:
    """Per document, the values that are not the same in all of them, by path.

    Where types differ, the type is the difference, and the rest is compared between documents of equal types.
    """
    found: list[dict[str, Any]] = [{} for _ in documents]
    _compare(dict(enumerate(documents)), (), found)
    return found


def _compare(values: Mapping[int, Any], path: tuple[str, ...], found: list[dict[str, Any]]) -> None:
    first, *others = values.values()
    if all(value == first for value in others):
        return
    if all(isinstance(value, Mapping) for value in values.values()):
        kinds: dict[Any, dict[int, Any]] = {}
        for index, value in values.items():
            kinds.setdefault(str(value.get("type")), {})[index] = value
        for kind, members in kinds.items():
            if len(kinds) > 1:
                _note(dict.fromkeys(members, kind), path, found)
            for key in dict.fromkeys(key for value in members.values() for key in value):
                inner = {index: value.get(key, MISSING) for index, value in members.items()}
                _compare(inner, (*path, key), found)
    elif all(isinstance(value, list) and len(value) == len(first) for value in values.values()):
        for number in range(len(first)):
            inner = {index: value[number] for index, value in values.items()}
            _compare(inner, (*path, f"[{number}]"), found)
    else:
        _note(values, path, found)


def _note(values: Mapping[int, Any], path: tuple[str, ...], found: list[dict[str, Any]]) -> None:
    for index, value in values.items():
        found[index][join_parts(*path)] = value


def difference_texts(documents: Sequence[Any]) -> list[str]:
    """`differences` in a few words per document, such as ``learning_rate=0.001, backend=tf``; all are distinct."""
    found = differences(documents)
    paths = list(dict.fromkeys(path for each in found for path in each))
    # Those with the most values tell the most documents apart.
    paths.sort(key=lambda path: -len({_short(each.get(path, MISSING)) for each in found}))
    names = _short_names(paths)
    texts: list[str] = []
    for each in found:
        parts = [f"{names[path]}={_short(each[path])}" for path in paths if path in each]
        more = [f"{len(parts) - SHOWN} more"] if len(parts) > SHOWN else []
        text = ", ".join([*parts[:SHOWN], *more])
        number = sum(other == text or other.startswith(f"{text} (") for other in texts)
        texts.append(f"{text} ({number + 1})" if number else text)
    return texts


def _short_names(paths: Sequence[str]) -> dict[str, str]:
    """For each path its last parts, as many as tell it apart from the others."""
    names = {}
    for path in paths:
        parts = parts_of(path)
        ends = [join_parts(*parts[-n:]) for n in range(1, len(parts) + 1) if not parts[-n].startswith("[")]
        alone = (end for end in ends if sum(_ends_with(other, end) for other in paths) == 1)
        names[path] = next(alone, path)
    return names


def _ends_with(path: str, end: str) -> bool:
    return path == end or path.endswith(f".{end}")


def _short(value: Any) -> str:
    if isinstance(value, Mapping):
        text = str(value.get("type", "..."))
    elif isinstance(value, list):
        text = f"[{','.join(map(_short, value))}]"
    elif isinstance(value, float):
        text = f"{value:g}"
    else:
        text = json.dumps(value) if value is None or isinstance(value, bool) else str(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
