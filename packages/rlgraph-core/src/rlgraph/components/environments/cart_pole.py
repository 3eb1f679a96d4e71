"""CartPole as a component."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rlgraph.components.environments.environment_component import EnvironmentComponent
from rlgraph.components.environments.pictures import BLACK, BROWN, blank, draw_line
from rlgraph.core import graph_fn
from rlgraph.spaces import FloatBox, IntBox


class CartPole(EnvironmentComponent):
    """A pole on a cart: Barto, Sutton and Anderson (1983), https://doi.org/10.1109/TSMC.1983.6313077.

    As Gymnasium's ``CartPole-v1``: states are place and speed of the cart, angle and speed of the pole ``[4]``; the
    actions push it to the left or to the right; each step gives 1.
    """

    state_space, action_space, max_episode_steps = FloatBox(shape=(4,)), IntBox(2), 500
    inner_space = FloatBox(shape=(4,))

    @graph_fn
    def begin(self, ops: Any, count: int) -> Any:
        return ops.random_uniform((count, 4), -0.05, 0.05)

    @graph_fn
    def transition(self, ops: Any, inner: Any, actions: Any) -> Any:
        x, speed, angle, turning = ops.unstack(inner, axis=-1)
        force = 20.0 * ops.astype(actions, "float") - 10.0
        sin, cos = ops.sin(angle), ops.cos(angle)
        push = (force + 0.05 * ops.square(turning) * sin) / 1.1
        angular = (9.8 * sin - cos * push) / (0.5 * (4.0 / 3.0 - 0.1 * ops.square(cos) / 1.1))
        acceleration = push - 0.05 * angular * cos / 1.1
        x, speed = x + 0.02 * speed, speed + 0.02 * acceleration
        angle, turning = angle + 0.02 * turning, turning + 0.02 * angular
        terminated = ops.logical_or(ops.abs(x) > 2.4, ops.abs(angle) > math.radians(12))
        return ops.stack([x, speed, angle, turning], axis=-1), ops.ones_like(x), terminated

    @graph_fn
    def observe(self, ops: Any, inner: Any) -> Any:
        return inner

    def draw(self, inner: Any) -> np.ndarray:
        picture, (x, _, angle, _) = blank(160, 240), map(float, inner)
        draw_line(picture, (120, 0), (120, 239), 1, BLACK)
        at = 120 + 45 * x
        draw_line(picture, (120, at - 16), (120, at + 16), 14, BLACK)
        draw_line(picture, (114, at), (114 - 80 * math.cos(angle), at + 80 * math.sin(angle)), 6, BROWN)
        return picture
