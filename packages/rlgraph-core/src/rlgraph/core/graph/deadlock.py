"""Deadlocks: who waits for whom in a build that cannot go on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def find_cycle(waits: Mapping[str, Sequence[str]]) -> list[str]:
    """The first cycle among `waits` (name -> what it waits for), beginning and ending with one name; [] if none."""
    done: set[str] = set()

    def search(name: str, path: list[str]) -> list[str]:
        if name in path:
            return [*path[path.index(name) :], name]
        if name in done:
            return []
        for other in waits.get(name, ()):
            cycle = search(other, [*path, name])
            if cycle:
                return cycle
        done.add(name)
        return []

    return next((cycle for name in waits if (cycle := search(name, []))), [])
