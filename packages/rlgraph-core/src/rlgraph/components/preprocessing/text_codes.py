"""Texts as numbers, so that they can be stored, sent and computed with as other numbers are."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.components.common.argument_checks import check_whole
from rlgraph.components.preprocessing.preprocess_layer import PreprocessLayer
from rlgraph.core import InputError, graph_fn, rlgraph_api
from rlgraph.spaces import BoxSpace, IntBox, SpaceError, TextBox

#: Characters of a `TextBox` without max_length.
LONGEST = 256
#: One more than the largest code of a character.
CHARACTERS = 0x110000


class TextCodes(PreprocessLayer):
    """The codes of the characters of texts, ``[B] -> [B, N]``, int32, with zeros after the end; runs on the host.

    Layers for texts take the codes in place of the texts.

    Args:
        length: N, the length of the longest text; the default is for texts without a known one.

    Raises:
        SpaceError: the inputs are not texts.
        InputError: a text is longer than N, or has the character 0.
    """

    def __init__(self, length: int = LONGEST, scope: str = "text-codes", **kwargs: Any):
        self.length = check_whole(length, f"{scope}.length", least=1)
        super().__init__(scope=scope, **kwargs)

    def preprocessed_box(self, box: BoxSpace) -> BoxSpace:
        if not isinstance(box, TextBox):
            raise SpaceError(f"{self.scope_path}: expected texts, given {box!r}")
        shape, options = (*box.shape, self.length), box.ranks.options()
        return IntBox(0, CHARACTERS, shape=shape, dtype="int32", **options)

    @rlgraph_api
    def call(self, inputs: Any) -> Any:
        """``inputs [B, ...]``, texts or a container of them ``-> [B, ..., N]``."""
        return self._call(inputs)

    @graph_fn(
        host=True,
        spaces=lambda self, inputs: self.preprocessed_box(inputs),
        same_ranks=True,
        flatten_ops=True,
        split_ops=True,
    )
    def _call(self, inputs: np.ndarray) -> np.ndarray:
        size = self.length
        longest = max(map(len, inputs.flat), default=0)
        if longest > size:
            raise InputError(
                f"{self.scope_path}: expected texts of at most {size} characters, given one of {longest}: give the "
                "TextBox a larger max_length"
            )
        if any("\0" in text for text in inputs.flat):
            raise InputError(f"{self.scope_path}: expected texts without the character 0, which ends a text")
        return inputs.astype(f"U{size}").reshape(-1).view(np.int32).reshape(*inputs.shape, size)


def is_text(box: Any) -> bool:
    """Whether a leaf is texts, or the codes of texts."""
    if isinstance(box, IntBox):
        return bool(box.shape) and box.dtype == "int32" and (box.low, box.high) == (0, CHARACTERS)
    return isinstance(box, TextBox)


def texts_of(array: np.ndarray) -> np.ndarray:
    """Texts ``[...]``, from themselves or from their codes ``[..., N]``, as an array of fixed width."""
    if array.dtype.kind in "UO":
        return array.astype(str)
    codes = np.ascontiguousarray(array, np.int32)
    return codes.reshape(-1).view(f"U{codes.shape[-1]}").reshape(codes.shape[:-1])
