"""Random streams of NumPy, each seeded by its name."""

from __future__ import annotations

import reprlib
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rlgraph.core.errors import InputError


def stream_seed(seed: int | Sequence[int], name: str) -> list[int]:
    """The seed of a random stream, from the root seed and its name: stable across processes, independent of all others.

    A component's host functions draw from the stream named like its scope, its other graph functions from
    `rlgraph.core.ops.stream_name` of it, and a variable's starting value comes from a stream named like the variable.
    """
    return [*([seed] if isinstance(seed, int) else seed), zlib.crc32(name.encode())]


class RandomStreams(dict[str, np.random.Generator]):
    """Random streams by name, each made when it is first asked for.

    A caller with streams of its own draws what it would draw alone: ``executor.program("act", RandomStreams(7))``.

    Args:
        seed: an integer from 0 on, or several: ``[seed, actor, incarnation]``. The seed of an executor gives the
            numbers that the executor itself draws when it acts.

    Raises:
        InputError: `seed` is something else.
    """

    def __init__(self, seed: int | Sequence[int]):
        words: list[Any] = list(seed) if isinstance(seed, list | tuple) else [seed]
        if not words or any(
            isinstance(word, bool) or not isinstance(word, int) or word < 0 for word in words
        ):
            raise InputError(
                f"RandomStreams: seed: expected an integer >= 0, or several of them, given {seed!r}"
            )
        super().__init__()
        self._seed = words

    def __missing__(self, name: str) -> np.random.Generator:
        return self.setdefault(name, np.random.default_rng(stream_seed(self._seed, name)))

    def restart(self, seed: int | Sequence[int]) -> None:
        """Begin all streams anew, of another seed."""
        self._seed = RandomStreams(seed)._seed
        self.set_state({})

    def get_state(self) -> dict[str, Any]:
        """The states of all streams so far by name, JSON-able; call it while nothing draws."""
        return {name: generator.bit_generator.state for name, generator in self.items()}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Set all streams as `get_state` returned them; streams that are not in `state` restart.

        Raises:
            InputError: `state` is something else; nothing changes.
        """
        for name, value in state.items():
            check_stream_state(name, value)
        for name in {*self, *state}:
            start = np.random.default_rng(stream_seed(self._seed, name)).bit_generator.state
            self[name].bit_generator.state = state.get(name, start)


def check_stream_state(name: str, state: Any) -> None:
    """Check that a stream accepts and returns `state`.

    Raises:
        InputError: it does not.
    """
    generator = np.random.default_rng(0).bit_generator
    try:
        generator.state = state
        valid = generator.state == state
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
        valid = False
    if not valid:
        raise InputError(
            f"the stream {name!r} has the state {reprlib.repr(state)}, expected one of {type(generator).__name__}"
        )
