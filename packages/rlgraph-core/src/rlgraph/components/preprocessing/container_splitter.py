"""Splits a container into its parts."""

from __future__ import annotations

from typing import Any

from rlgraph.components.common.argument_checks import MAX_PARTS, check_whole
from rlgraph.components.preprocessing.preprocess_layer import PreprocessLayer
from rlgraph.core import SpecError, rlgraph_api
from rlgraph.spaces import Dict, Space, SpaceError, Tuple, from_spec


class ContainerSplitter(PreprocessLayer):
    """Splits a Dict or Tuple into its parts in a given order; parts may be containers themselves.

    In wiring, ``first, second = splitter.call(container)``. A stack passes on a tuple of them. In a specification,
    ``_args`` holds the order.

    Args:
        output_order: the keys of a Dict, or the positions in a Tuple, of the returned parts.
        tuple_length: instead of an order, the length of a Tuple whose items are all returned.

    Raises:
        SpecError: neither an order nor a length, or both; a duplicate part; keys mixed with positions.
        SpaceError: not a Dict with these keys, or not a Tuple with these positions or of that length.
    """

    def __init__(
        self,
        *output_order: str | int,
        tuple_length: int | None = None,
        scope: str = "container-splitter",
        **kwargs: Any,
    ):
        if bool(output_order) == (tuple_length is not None):
            raise SpecError(
                f"expected an order of parts or tuple_length, given {list(output_order)} and {tuple_length}",
                path=scope,
            )
        if tuple_length is not None:
            output_order = tuple(
                range(check_whole(tuple_length, f"{scope}.tuple_length", least=1, most=MAX_PARTS))
            )
        kinds = {type(part) for part in output_order}
        if kinds not in ({str}, {int}) or len(set(output_order)) < len(output_order):
            raise SpecError(
                f"expected keys of a Dict or positions in a Tuple, each once, given {list(output_order)}",
                path=scope,
            )
        self.output_order = output_order
        self.tuple_length = tuple_length
        super().__init__(scope=scope, **kwargs)

    def get_preprocessed_space(self, space: Any) -> Space:
        space = from_spec(space)
        known: list[str | int] = []
        if isinstance(space, Dict):
            known = list(space)
        elif isinstance(space, Tuple) and self.tuple_length in (None, len(space)):
            known = list(range(len(space)))
        if set(self.output_order) - set(known):
            wanted = (
                f"a Tuple of length {self.tuple_length}"
                if self.tuple_length
                else "a container with the parts "
            )
            parts = "" if self.tuple_length else str(list(self.output_order))
            raise SpaceError(f"{self.scope_path}: expected {wanted}{parts}, given {space!r}")
        return Tuple(*(space[part] for part in self.output_order))

    @rlgraph_api
    def call(self, inputs: Any) -> Any:
        """``inputs``, a container ``->`` its parts in order, as a tuple."""
        return tuple(inputs[part] for part in self.output_order)

    @rlgraph_api
    def split_into_dict(self, inputs: Any) -> Any:
        """``inputs``, a container ``->`` its parts by key, those of a Tuple as ``part_0``, ``part_1`` ..."""
        return {part if isinstance(part, str) else f"part_{part}": inputs[part] for part in self.output_order}
