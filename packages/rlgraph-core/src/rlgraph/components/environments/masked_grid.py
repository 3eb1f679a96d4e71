"""A grid with illegal moves as a component."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.components.common.argument_checks import check_whole
from rlgraph.components.environments.environment_component import EnvironmentComponent
from rlgraph.components.environments.pictures import BLUE, GREEN, WHITE, fields
from rlgraph.core import graph_fn
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox


class MaskedGrid(EnvironmentComponent):
    """A walk to a random goal on a grid; moves against the border are illegal.

    States have the parts ``place`` [4], row and column of the walker and of the goal divided by the size, and
    ``action_mask`` [4]. The actions are up, down, left and right. Each step costs 0.01, the goal gives 1 and ends the
    episode; one that begins there takes a step as well.

    Args:
        size: rows and columns.
    """

    action_space, max_episode_steps = IntBox(4), 50

    def __init__(self, size: int = 5, scope: str = "environment", **kwargs: Any):
        self.size = check_whole(size, f"{scope}.size", least=2)
        self.state_space = Dict({"place": FloatBox(shape=(4,)), "action_mask": BoolBox(shape=(4,))})
        self.inner_space = Dict({"at": IntBox(size, shape=(2,)), "goal": IntBox(size, shape=(2,))})
        super().__init__(scope=scope, **kwargs)

    @graph_fn
    def begin(self, ops: Any, count: int) -> Any:
        at = ops.random_integers((count, 2), 0, self.size)
        return {"at": at, "goal": ops.random_integers((count, 2), 0, self.size)}

    @graph_fn
    def transition(self, ops: Any, inner: Any, actions: Any) -> Any:
        sign, still = 2 * (actions % 2) - 1, ops.zeros_like(actions)
        is_row = actions < 2
        move = ops.stack([ops.where(is_row, sign, still), ops.where(is_row, still, sign)], axis=-1)
        at = ops.clip(inner["at"] + move, 0, self.size - 1)
        there = ops.all(at == inner["goal"], axis=-1)
        return {"at": at, "goal": inner["goal"]}, ops.astype(there, "float") - 0.01, there

    @graph_fn
    def observe(self, ops: Any, inner: Any) -> Any:
        at, last = inner["at"], self.size - 1
        place = ops.astype(ops.concat([at, inner["goal"]], axis=-1), "float") / self.size
        legal = ops.stack([at[:, 0] > 0, at[:, 0] < last, at[:, 1] > 0, at[:, 1] < last], axis=-1)
        return {"place": place, "action_mask": legal}

    def draw(self, inner: Any) -> np.ndarray:
        colours = np.full((self.size, self.size, 3), WHITE)
        colours[tuple(inner["goal"])], colours[tuple(inner["at"])] = GREEN, BLUE
        return fields(colours, 24)
