"""What layers expect of their inputs, and what makes it of something else."""

from __future__ import annotations

from typing import Any

from rlgraph.spaces import BoxSpace, FloatBox, SpaceError


def check_inputs(space: Any, rank: int, *, time: bool = False, name: str = "") -> None:
    """Raise `SpaceError` unless `space` is a batch of float tensors; names the layer that would help.

    Args:
        space: the Space of the argument.
        rank: how many axes the tensors have beside batch and time.
        time: whether a time rank may be there as well.
        name: name of the argument.
    """
    fits = isinstance(space, FloatBox) and space.rank == rank
    if not fits or not space.has_batch_rank or (space.has_time_rank and not time):
        raise SpaceError(
            f"{name and name + ': '}expected a FloatBox of rank {rank} with batch rank, given {space!r}"
            f"{_help(space, rank, time)}"
        )


def _help(space: Any, rank: int, time: bool) -> str:
    layers = []
    if not isinstance(space, BoxSpace):
        layers = ['{"type": "reshape", "flatten": true}', '{"type": "concat"}']
    elif space.num_categories is not None and space.dtype != "uint8":
        layers = ['{"type": "reshape", "flatten": true, "flatten_categories": true}']
    else:
        if not isinstance(space, FloatBox):
            layers.append('{"type": "convert_type", "to_dtype": "float"}')
        if space.rank != rank == 1:
            layers.append('{"type": "reshape", "flatten": true}')
    if not layers or not space.has_batch_rank or (space.has_time_rank and not time):
        return ""
    return f"; put in front, or into preprocessing_spec: {', '.join(layers)}"
