"""Features of text instructions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlgraph.components.layers.embedding_lookup import EmbeddingLookup
from rlgraph.components.layers.lstm import LSTM
from rlgraph.components.layers.string_to_hash_bucket import StringToHashBucket, is_single_text
from rlgraph.components.preprocessing.text_codes import texts_of
from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.spaces import IntBox, Space
from rlgraph.spaces.errors import mismatch


class InstructionEncoder(Component):
    """Encodes a text as the last output of an LSTM over its embedded words (Espeholt et al., 2018, figure 3).

    The LSTM reads every text from zero states: these are not internal states of a network.

    Args:
        num_hash_buckets: number of different words (see `StringToHashBucket`).
        embed_dim: size of the vector of a word.
        units: size of the output.

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
    def call(self, texts: Any) -> Any:
        """``texts [B] -> [B, units]``; a time rank stays. Each distinct text is read once."""
        numbers, lengths = self.words.call(texts)
        encoded, _ = self.lstm.call(self.lookup.call(numbers), None, lengths)
        return self._at(encoded, self.words.get_positions(texts))

    @graph_fn
    def _at(self, ops: Any, encoded: Any, positions: Any) -> Any:
        return ops.take(encoded, positions, axis=0)


class WordsOfDifferentTexts(StringToHashBucket):
    """Word numbers, as its base class, of the distinct texts, and the index of each item's text.

    ``text_inputs [B]``, or with a time rank, ``-> [U, W], [U]``, for U distinct texts, and ``[B]`` with the time rank.
    """

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        space = input_spaces["text_inputs"]
        if not is_single_text(space) or not space.has_batch_rank:
            raise mismatch("text_inputs", "a TextBox without axes, with batch rank", repr(space))

    @rlgraph_api
    def get_positions(self, text_inputs: Any) -> Any:
        """``[B] -> [B]``: the index of each text among the distinct ones; a time rank stays."""
        return self._positions(text_inputs)

    @graph_fn(
        host=True,
        returns=2,
        spaces=lambda self, text_inputs: (
            IntBox(self.num_hash_buckets, dtype=self.dtype, add_batch_rank="texts", add_time_rank=True),
            IntBox(0, None, add_batch_rank="texts"),
        ),
    )
    def _call(self, text_inputs: Any) -> Any:
        return self.numbers_of(np.unique(texts_of(text_inputs)))

    @graph_fn(
        host=True,
        spaces=lambda self, text_inputs: IntBox(0, None, **text_inputs.ranks.options()),
        same_ranks=True,
    )
    def _positions(self, text_inputs: Any) -> Any:
        texts = texts_of(text_inputs)
        return np.unique(texts, return_inverse=True)[1].reshape(texts.shape)
