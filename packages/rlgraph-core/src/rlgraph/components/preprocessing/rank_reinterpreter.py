"""Reinterprets axes as batch and time rank."""

from __future__ import annotations

from typing import Any

from rlgraph.components.preprocessing.preprocess_layer import PreprocessLayer, with_shape
from rlgraph.components.preprocessing.rank_folding import rank_sizes
from rlgraph.core import SpecError, graph_fn, rlgraph_api
from rlgraph.spaces import BoxSpace, Space, SpaceError


class RankReinterpreter(PreprocessLayer):
    """Reinterprets leading axes as batch and time rank, without changing the tensor: ``[B, 4, ...]`` as 4 time steps.

    An axis of a fixed size may become a rank or cease to be one. An axis of unknown size keeps its role.

    Args:
        batch_rank: the batch axis, 0 or 1; None: no batch.
        time_rank: the time axis, 0 or 1; None: no time.

    Raises:
        SpecError: invalid axes.
        SpaceError: an axis of unknown size would change its role, or too few axes.
    """

    def __init__(
        self,
        batch_rank: int | None = None,
        time_rank: int | None = None,
        scope: str = "rank-reinterpreter",
        **kwargs: Any,
    ):
        given = [axis for axis in (batch_rank, time_rank) if axis is not None]
        if sorted(given) not in ([0], [0, 1]):
            raise SpecError(
                f"batch_rank and time_rank are the axes 0 and 1, or one of them is axis 0; given {batch_rank} "
                f"and {time_rank}",
                path=scope,
            )
        self.roles = {
            axis: role for role, axis in (("batch", batch_rank), ("time", time_rank)) if axis in given
        }
        super().__init__(scope=scope, **kwargs)

    def preprocessed_box(self, box: BoxSpace) -> BoxSpace:
        old = [("time", box.time_rank), ("batch", box.batch_rank)]
        axes = [each for each in (old if box.time_major else reversed(old)) if each[1] is not False]
        axes += [("", size) for size in box.shape]
        if len(axes) < len(self.roles):
            raise SpaceError(f"{self.scope_path}: expected at least {len(self.roles)} axes, given {box!r}")
        for axis, (role, size) in enumerate(axes):
            if role != self.roles.get(axis, "") and isinstance(size, bool | str):
                raise SpaceError(
                    f"{self.scope_path}: axis {axis}, the {role} rank, has no fixed size and cannot change its role; "
                    f"given {box!r}"
                )
        ranks = {role: axes[axis][1] for axis, role in self.roles.items()}
        shape = tuple(int(size) for _, size in axes[len(ranks) :])
        return with_shape(box, shape).with_extra_ranks(
            ranks.get("batch", False), ranks.get("time", False), self.roles[0] == "time"
        )

    @rlgraph_api
    def call(self, inputs: Any) -> Any:
        """``inputs [...]``, a tensor or a container; returned unchanged."""
        return self._call(inputs)

    @graph_fn(flatten_ops=True, split_ops=True, add_auto_key_as_first_param=True, space_of="inputs")
    def _call(self, ops: Any, key: str, space: Space, inputs: Any) -> Any:
        output = self.preprocessed_box(self.box_of(key, space))
        sizes = [
            ops.shape(inputs)[axis] if size == -1 else size for axis, size in enumerate(rank_sizes(output))
        ]
        return ops.reshape(inputs, (*sizes, *output.shape))
