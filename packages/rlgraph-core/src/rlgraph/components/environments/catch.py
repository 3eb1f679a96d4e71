"""Catch as a component."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.components.common.argument_checks import check_whole
from rlgraph.components.environments.environment_component import EnvironmentComponent
from rlgraph.components.environments.pictures import BLACK, BLUE, WHITE, fields
from rlgraph.core import graph_fn
from rlgraph.spaces import Dict, FloatBox, IntBox


class Catch(EnvironmentComponent):
    """A ball falls from a random column, and a paddle in the last row is to be below it.

    Mnih et al. (2014), https://arxiv.org/abs/1406.6247, as in bsuite, https://arxiv.org/abs/1908.03568. States are
    pictures ``[rows, columns]`` with 1 where the ball and the paddle are; the actions are left, stay and right. The
    last step gives 1 or -1, the others 0.

    Args:
        rows, columns: size of the picture.
    """

    action_space, max_episode_steps = IntBox(3), None

    def __init__(self, rows: int = 10, columns: int = 5, scope: str = "environment", **kwargs: Any):
        self.rows = check_whole(rows, f"{scope}.rows", least=2)
        self.columns = check_whole(columns, f"{scope}.columns", least=1)
        self.state_space = FloatBox(0.0, 1.0, shape=(rows, columns))
        self.inner_space = Dict({"row": IntBox(rows), "ball": IntBox(columns), "paddle": IntBox(columns)})
        super().__init__(scope=scope, **kwargs)

    @graph_fn
    def begin(self, ops: Any, count: int) -> Any:
        ball = ops.random_integers((count,), 0, self.columns)
        zeros = ops.zeros_like(ball)
        return {"row": zeros, "ball": ball, "paddle": zeros + self.columns // 2}

    @graph_fn
    def transition(self, ops: Any, inner: Any, actions: Any) -> Any:
        paddle = ops.clip(inner["paddle"] + actions - 1, 0, self.columns - 1)
        row = inner["row"] + 1
        ends, caught = row >= self.rows - 1, ops.astype(paddle == inner["ball"], "float")
        rewards = ops.where(ends, 2.0 * caught - 1.0, ops.zeros_like(caught))
        return {"row": row, "ball": inner["ball"], "paddle": paddle}, rewards, ends

    @graph_fn
    def observe(self, ops: Any, inner: Any) -> Any:
        places = ops.one_hot(inner["row"] * self.columns + inner["ball"], self.rows * self.columns)
        last = (self.rows - 1) * self.columns
        places = ops.maximum(places, ops.one_hot(inner["paddle"] + last, self.rows * self.columns))
        return ops.reshape(places, (ops.shape(places)[0], self.rows, self.columns))

    def draw(self, inner: Any) -> np.ndarray:
        colours = np.full((self.rows, self.columns, 3), WHITE)
        colours[-1, int(inner["paddle"])] = BLUE
        colours[int(inner["row"]), int(inner["ball"])] = BLACK
        return fields(colours, 24)
