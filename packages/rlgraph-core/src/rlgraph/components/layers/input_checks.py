"""Checks of layer inputs, which name a layer that converts them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.spaces import BoolBox, BoxSpace, FloatBox, Space, TextBox
from rlgraph.spaces.errors import mismatch


def check_inputs(space: Any, rank: int | None, *, name: str = "inputs") -> None:
    """Raise `SpaceError` unless `space` is a batch of float tensors; names the layer that would help.

    Args:
        space: the Space of the argument.
        rank: number of axes beside batch and time; None for one or more.
        name: name of the argument.
    """
    fits = isinstance(space, FloatBox) and (space.rank == rank if rank is not None else space.rank > 0)
    if not fits or not space.has_batch_rank:
        axes = "1 or more" if rank is None else str(rank)
        wanted = f"a FloatBox of rank {axes} with batch rank"
        raise mismatch(name, wanted, repr(space), _help(space, rank))


def check_training(spaces: Mapping[str, Any]) -> None:
    """Raise `SpaceError` unless the argument ``training``, if it is an input, is one bool."""
    space = spaces.get("training")
    if space is not None and space != BoolBox():
        raise mismatch("training", "BoolBox()", repr(space))


def _help(space: Any, rank: int | None) -> str:
    if not isinstance(space, Space):
        return ""
    if not space.has_batch_rank:
        return "give the Space add_batch_rank=True"
    if isinstance(space, TextBox):
        return "put a string_to_hash_bucket and an embedding_lookup in front"
    layers = _converters(space, rank)
    return f"put in front, or into preprocessing_spec: {', '.join(layers)}" if layers else ""


def _converters(space: Space, rank: int | None) -> list[str]:
    """The specs of layers that convert it to floats of `rank` axes."""
    if not isinstance(space, BoxSpace):
        return ['{"type": "reshape", "flatten": true}', '{"type": "concat"}']
    if space.num_categories is not None and space.dtype != "uint8":
        return ['{"type": "reshape", "flatten": true, "flatten_categories": true}']
    layers = [] if isinstance(space, FloatBox) else ['{"type": "convert_type", "to_dtype": "float"}']
    if space.rank != 1 if rank == 1 else space.rank == 0 and rank is None:
        layers.append('{"type": "reshape", "flatten": true}')
    elif rank == 3 and space.rank == 2:
        layers.append(f'{{"type": "reshape", "new_shape": [{space.shape[0]}, {space.shape[1]}, 1]}}')
    return layers
