"""Maps the words of texts to numbers."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from rlgraph.components.common.argument_checks import check_choice, check_whole
from rlgraph.components.preprocessing.text_codes import is_text, texts_of
from rlgraph.core import Component, SpecError, graph_fn, rlgraph_api
from rlgraph.spaces import IntBox, Space
from rlgraph.spaces.errors import mismatch

#: Name in a spec -> hash of a word, with two keys; equal in every process and on every machine.
HASH_FUNCTIONS: dict[str, Callable[[bytes, bytes], int]] = {
    "fast": lambda word, keys: zlib.crc32(word),
    "strong": lambda word, keys: int.from_bytes(blake2b(word, digest_size=8, key=keys).digest(), "little"),
}

DTYPES = ("int16", "int32", "int64")


class StringToHashBucket(Component):
    """A number below `num_hash_buckets` for each word: ``text_inputs [B]`` (strings) ``-> [B, W], [B]``.

    The same word has the same number everywhere; different words may share one. W is the number of words of the
    longest text (at least 1). Shorter texts are padded with the number of the empty word; the second output is
    the number of words of each text. Runs on the host.

    Args:
        delimiter: separator of words; ``""``: every character is a word.
        dtype: dtype of the numbers, ``"int64"``, ``"int32"`` or ``"int16"``.
        num_hash_buckets: number of buckets.
        hash_function: ``"fast"`` (CRC-32); or ``"strong"`` (BLAKE2b with keys), for texts from untrusted sources,
            which might provoke collisions.
        hash_keys: two integers, the keys of the strong hash.

    Raises:
        SpecError: an unknown dtype or hash function, fewer than one bucket or more than the dtype has numbers, a
            delimiter that is not a string, keys that are not two integers.
        SpaceError: the texts are not a batch of single strings.
    """

    def __init__(
        self,
        delimiter: str = " ",
        dtype: str = "int64",
        num_hash_buckets: int = 1000,
        hash_function: str = "fast",
        hash_keys: Sequence[int] = (12345, 67890),
        scope: str = "string-to-hash-bucket",
        **kwargs: Any,
    ):
        if not isinstance(delimiter, str):
            raise SpecError(f"expected a string, given {delimiter!r}", path=f"{scope}.delimiter")
        check_choice(dtype, f"{scope}.dtype", DTYPES, "dtype")
        check_choice(hash_function, f"{scope}.hash_function", HASH_FUNCTIONS, "hash_function")
        self.delimiter, self.dtype = delimiter, dtype
        self.num_hash_buckets = check_whole(num_hash_buckets, f"{scope}.num_hash_buckets", least=1)
        most = np.iinfo(dtype).max + 1
        if self.num_hash_buckets > most:
            raise SpecError(
                f"expected at most {most} for dtype {dtype!r}, given {num_hash_buckets!r}",
                path=f"{scope}.num_hash_buckets",
            )
        self.hash_function = hash_function
        self.hash_keys = _packed(hash_keys, f"{scope}.hash_keys")
        super().__init__(scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        for path, space in input_spaces["text_inputs"].flatten().items():
            if not is_single_text(space) or not space.has_batch_rank or space.has_time_rank:
                where = f"text_inputs/{path}" if path else "text_inputs"
                raise mismatch(where, "a TextBox without axes, with batch rank and no time rank", repr(space))

    @rlgraph_api
    def call(self, text_inputs: Any) -> Any:
        """``text_inputs [B]``, or a container of them ``->`` (numbers [B, W], numbers of words [B])."""
        return self._call(text_inputs)

    @graph_fn(
        host=True,
        returns=2,
        flatten_ops=True,
        split_ops=True,
        spaces=lambda self, text_inputs: (
            IntBox(self.num_hash_buckets, dtype=self.dtype, add_batch_rank=True, add_time_rank=True),
            IntBox(0, None, add_batch_rank=True),
        ),
    )
    def _call(self, text_inputs: Any) -> Any:
        return self.numbers_of(texts_of(text_inputs))

    def numbers_of(self, text_inputs: Iterable[Any]) -> tuple[np.ndarray, np.ndarray]:
        """Numbers [N, W] and numbers of words [N] of N texts, for use in host functions."""
        texts = [self._words(str(text)) for text in text_inputs]
        lengths = np.array([len(words) for words in texts], np.int64)
        numbers = np.full((len(texts), max([1, *lengths])), self._number(""), self.dtype)
        for row, words in zip(numbers, texts, strict=True):
            row[: len(words)] = [self._number(word) for word in words]
        return numbers, lengths

    def _words(self, text: str) -> list[str]:
        return [word for word in text.split(self.delimiter) if word] if self.delimiter else list(text)

    def _number(self, word: str) -> int:
        return HASH_FUNCTIONS[self.hash_function](word.encode(), self.hash_keys) % self.num_hash_buckets


def is_single_text(box: Any) -> bool:
    """Whether a leaf is a text without axes, or its codes (see `TextCodes`)."""
    return is_text(box) and box.rank == isinstance(box, IntBox)


def _packed(keys: Sequence[int], where: str) -> bytes:
    try:
        return struct.pack("<2Q", *keys)
    except (struct.error, TypeError):
        raise SpecError(
            f"expected two integers of at least 0 and below 2^64, given {keys!r}", path=where
        ) from None
