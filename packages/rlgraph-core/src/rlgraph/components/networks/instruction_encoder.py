"""Features of text instructions."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from rlgraph.components.layers.embedding_lookup import EmbeddingLookup
from rlgraph.components.layers.lstm import LSTM
from rlgraph.components.layers.string_to_hash_bucket import StringToHashBucket
from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.spaces import IntBox, Space, TextBox
from rlgraph.spaces.errors import mismatch


class InstructionEncoder(Component):
    """Encodes a text as the last output of an LSTM over its embedded words (Espeholt et al., 2018, figure 3).

    The LSTM reads every text from zero states: these are not internal states of a network.

    Args:
        num_hash_buckets: number of different words (see `StringToHashBucket`).
        embed_dim: size of the vector of a word.
        units: size of the output.
        scope: name among its siblings.

    Raises:
        SpecError: a size below 1.
        SpaceError: the texts are not a batch of single strings.
    """

    def __init__(
        self,
        num_hash_buckets: int = 1000,
        embed_dim: int = 20,
        units: int = 64,
        scope: str = "instruction-encoder",
        **kwargs: Any,
    ):
        self.words = WordsOfDifferentTexts(num_hash_buckets=num_hash_buckets, scope="words")
        self.lookup = EmbeddingLookup(embed_dim, num_hash_buckets, scope="embedding")
        self.lstm = LSTM(units, return_sequences=False, scope="lstm")
        self.units = units
        super().__init__(self.words, self.lookup, self.lstm, scope=scope, **kwargs)

    @rlgraph_api
    def call(self, texts: Any, like: Any) -> Any:
        """``texts [B] -> [B, units]``; a time rank stays. Each distinct text is read once.

        Args:
            texts: the instructions.
            like: any tensor with the batch and time ranks of `texts`.
        """
        numbers, lengths, positions = self.words.call(texts)
        encoded, _ = self.lstm.call(self.lookup.call(numbers), None, lengths)
        return self._at(encoded, positions, like)

    @graph_fn(space_of="like")
    def _at(self, ops: Any, space: Space, encoded: Any, positions: Any, like: Any) -> Any:
        """``encoded [U, units], positions [N] -> [B, units]``, or with a time rank; N is the number of items."""
        sizes = [ops.shape(like)[i] for i in range(1 + space.has_time_rank)]
        # The host knows the number of items only at run time, so the result takes the ranks of `like`.
        places = ops.reshape(ops.arange(0, prod(sizes)), sizes)
        return ops.take(encoded, ops.take(positions, places, axis=0), axis=0)


class WordsOfDifferentTexts(StringToHashBucket):
    """Word numbers, as its base class, of the distinct texts, and the index of each item's text.

    ``text_inputs [B]``, or with a time rank, ``-> [U, W], [U], [N]``: for N texts, of which U are distinct.
    """

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        space = input_spaces["text_inputs"]
        if not isinstance(space, TextBox) or space.shape or not space.has_batch_rank:
            raise mismatch("text_inputs", "a TextBox without axes, with batch rank", repr(space))

    @graph_fn(
        host=True,
        returns=3,
        spaces=lambda self, text_inputs: (
            IntBox(self.num_hash_buckets, dtype=self.dtype, add_batch_rank="texts", add_time_rank=True),
            IntBox(0, None, add_batch_rank="texts"),
            IntBox(0, None, add_batch_rank=True),
        ),
    )
    def _call(self, text_inputs: Any) -> Any:
        different, positions = np.unique(text_inputs.astype(str), return_inverse=True)
        return *self.numbers_of(different), positions.reshape(-1)
