"""TextBox: strings."""

from __future__ import annotations

import string
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from rlgraph.spaces.bounds import read_shape
from rlgraph.spaces.errors import mismatch
from rlgraph.spaces.ranks import Rank, Size, leading_dims, read_ranks
from rlgraph.spaces.space import BoxSpace

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["TextBox"]

_LETTERS = string.ascii_letters + string.digits
_LENGTH = 16


class TextBox(BoxSpace):
    """Arrays of strings. Samples are object arrays, since fixed-width arrays would cut long strings.

    Args:
        shape: without batch and time rank.
        max_length: maximum number of characters; None: unlimited (samples: up to 16).
        charset: the allowed characters; None: any (samples: letters and digits).
        add_batch_rank, add_time_rank: False, True (unknown size), an int (fixed size) or a name.
        time_major: True if the time axis comes first.
    """

    type_name = "text_box"
    kinds = "UO"
    default_dtype = "str"

    max_length: int | None
    charset: str | None

    def __init__(
        self,
        shape: Any = (),
        max_length: int | None = None,
        charset: Any = None,
        *,
        add_batch_rank: Rank = False,
        add_time_rank: Rank = False,
        time_major: bool = False,
    ) -> None:
        ranks = read_ranks(add_batch_rank, add_time_rank, time_major)
        number = isinstance(max_length, (int, np.integer)) and not isinstance(max_length, bool)
        if max_length is not None and not (number and max_length >= 0):
            raise mismatch("max_length", "None or an int of 0 or more", repr(max_length))
        self._init(
            ranks=ranks,
            dtype="str",
            shape=read_shape(shape),
            low=None,
            high=None,
            max_length=None if max_length is None else int(max_length),
            charset=_read_charset(charset),
        )

    def _key(self) -> Hashable:
        return (self.shape, self.max_length, self.charset)

    def _arguments(self) -> dict[str, Any]:
        given = {"max_length": self.max_length, "charset": self.charset}
        return {
            **self._shape_and_dtype(),
            **{key: value for key, value in given.items() if value is not None},
        }

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        return np.dtype(object)

    def _draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[Any]:
        letters = np.array(list(self.charset or _LETTERS))
        longest = _LENGTH if self.max_length is None else self.max_length
        array = np.empty(shape, object)
        for index in np.ndindex(shape):
            array[index] = "".join(rng.choice(letters, rng.integers(0, longest, endpoint=True)))
        return array

    def sample(
        self,
        size: Size = None,
        fill_value: Any = None,
        horizontal: bool = False,
        *,
        rng: np.random.Generator | None = None,
    ) -> Any:
        value = super().sample(size, fill_value, horizontal, rng=rng)
        return np.str_(value) if isinstance(value, str) else value

    def zeros(self, size: Size = None) -> Any:
        shape = leading_dims(self.ranks, size) + self.shape
        return np.full(shape, "", object) if shape else np.str_("")

    def _explain_values(self, array: NDArray[Any]) -> tuple[str, str] | None:
        for index in np.ndindex(array.shape):
            problem = self._problem(array[index])
            if problem is not None:
                given = str(array[index]) if isinstance(array[index], str) else array[index]
                return problem, f"{given!r} at index {index}"
        return None

    def _problem(self, text: object) -> str | None:
        if not isinstance(text, str):
            return "str values"
        if self.max_length is not None and len(text) > self.max_length:
            return f"str values of at most {self.max_length} characters"
        if self.charset is not None and not set(text) <= set(self.charset):
            return f"str values with characters of {self.charset!r}"
        return None


def _read_charset(charset: Any) -> str | None:
    if charset is None:
        return None
    characters = list(charset) if isinstance(charset, (str, list, tuple, set, frozenset)) else []
    if not characters or not all(isinstance(each, str) and len(each) == 1 for each in characters):
        raise mismatch("charset", "None or one character or more", repr(charset))
    return "".join(sorted(set(characters)))
