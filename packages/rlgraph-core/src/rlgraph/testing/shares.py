"""Batches for tests of groups of learners, and what each learner has of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlgraph.spaces import IntBox, Tuple


def random_batch(
    space: Any, rng: np.random.Generator, steps: int, columns: int, first: int, name: str = ""
) -> Any:
    """A batch ``[T, B]`` or ``[B]`` of a Space.

    Args:
        space: of all, or of the argument `name`: ``weights`` are from `valid_items`, ``importance_weights`` about 1,
            and an ``action_mask`` allows at least one action.
        steps, columns: T and B.
        first: how many of the columns are the first learner's.
    """
    if isinstance(space, Mapping):
        return {key: random_batch(part, rng, steps, columns, first, key) for key, part in space.items()}
    if isinstance(space, Tuple):
        return tuple(random_batch(part, rng, steps, columns, first) for part in space)
    if name == "progress":
        return np.float64(0.3)
    shape = (*(steps,) * space.has_time_rank, *(columns,) * space.has_batch_rank, *space.shape)
    if name == "importance_weights":
        return rng.uniform(0.5, 1.0, shape)
    if name == "weights":
        valid = valid_items(rng, steps if space.has_time_rank else 1, columns, first)
        return valid.reshape(shape).astype(float)
    if name == "action_mask":
        return (rng.random(shape) < 0.5) | (np.arange(shape[-1]) == rng.integers(shape[-1]))
    if space.dtype == "bool":
        return rng.random(shape) < 0.2
    if isinstance(space, IntBox):
        return rng.integers(0, space.num_categories, shape)
    return rng.uniform(-0.9, 0.9, shape)


def valid_items(rng: np.random.Generator, steps: int, columns: int, first: int) -> np.ndarray:
    """Which items are valid, bool ``[T, B]``: of the second learner three times as many as of the first."""
    parts = []
    for own, number in ((first, steps), (columns - first, 3 * steps)):
        parts.append(rng.permutation(np.arange(steps * own) < number).reshape(steps, own))
    return np.concatenate(parts, axis=1)


def share_of(space: Any, batch: Any, start: int, stop: int) -> Any:
    """What a learner has of a batch that has some of the columns."""
    if isinstance(space, Mapping):
        return {key: share_of(part, batch[key], start, stop) for key, part in space.items()}
    if isinstance(space, Tuple):
        return tuple(share_of(part, each, start, stop) for part, each in zip(space, batch, strict=True))
    if not space.has_batch_rank:
        return batch
    return batch[:, start:stop] if space.has_time_rank else batch[start:stop]
