"""The words of texts as numbers."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Any

import numpy as np

from rlgraph.components.preprocessing.preprocess_layer import check_whole
from rlgraph.core import Component, SpecError, graph_fn, rlgraph_api
from rlgraph.core.errors import nearest
from rlgraph.spaces import IntBox, Space, TextBox
from rlgraph.spaces.errors import mismatch

#: Name in a spec -> hash of a word. They are the same in every process, on every machine.
HASH_FUNCTIONS: dict[str, Callable[[bytes], int]] = {
    "fast": zlib.crc32,
    "strong": lambda word: int.from_bytes(blake2b(word, digest_size=8).digest(), "little"),
}

DTYPES = ("int64", "int32")


class StringToHashBucket(Component):
    """A number below `num_hash_buckets` for each word: ``text_inputs [B]`` (strings) ``-> [B, W], [B]``.

    The same word has the same number everywhere; different words may share one. W is the number of words of the
    longest text (at least 1). What is missing in shorter ones is filled up with the number of the empty word; the
    second output says how many words each text has. Runs on the host.

    Args:
        delimiter: what lies between words; ``""``: every character is a word.
        dtype: of the numbers, ``"int64"`` or ``"int32"``.
        num_hash_buckets: how many numbers there are.
        hash_function: ``"fast"`` (CRC-32); or ``"strong"`` (BLAKE2b), for texts by which somebody might want to make
            many words share a number.
        scope: name among its siblings.

    Raises:
        SpecError: an unknown dtype or hash function, fewer than one bucket, a delimiter that is no string.
        SpaceError: the texts are no batch of single strings.
    """

    def __init__(
        self,
        delimiter: str = " ",
        dtype: str = "int64",
        num_hash_buckets: int = 1000,
        hash_function: str = "fast",
        scope: str = "string-to-hash-bucket",
        **kwargs: Any,
    ):
        if not isinstance(delimiter, str):
            raise SpecError(f"{scope}.delimiter: expected a string, given {delimiter!r}")
        for name, value, known in (
            ("dtype", dtype, DTYPES),
            ("hash_function", hash_function, HASH_FUNCTIONS),
        ):
            if value not in known:
                raise SpecError(f"{scope}.{name}: unknown {name} {value!r}. {nearest(str(value), known)}")
        self.delimiter, self.dtype = delimiter, dtype
        self.num_hash_buckets = check_whole(num_hash_buckets, f"{scope}.num_hash_buckets", least=1)
        self.hash_function = hash_function
        super().__init__(scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        for path, space in input_spaces["text_inputs"].flatten().items():
            single = isinstance(space, TextBox) and not space.shape
            if not single or not space.has_batch_rank or space.has_time_rank:
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
        texts = [self._words(str(text)) for text in text_inputs]
        lengths = np.array([len(words) for words in texts], np.int64)
        numbers = np.full((len(texts), max([1, *lengths])), self._number(""), self.dtype)
        for row, words in zip(numbers, texts, strict=True):
            row[: len(words)] = [self._number(word) for word in words]
        return numbers, lengths

    def _words(self, text: str) -> list[str]:
        return [word for word in text.split(self.delimiter) if word] if self.delimiter else list(text)

    def _number(self, word: str) -> int:
        return HASH_FUNCTIONS[self.hash_function](word.encode()) % self.num_hash_buckets
