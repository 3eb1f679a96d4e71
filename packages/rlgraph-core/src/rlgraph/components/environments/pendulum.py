"""Pendulum as a component."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from rlgraph.components.environments.environment_component import EnvironmentComponent
from rlgraph.components.environments.pictures import BLACK, BROWN, blank, draw_line
from rlgraph.core import graph_fn
from rlgraph.spaces import Dict, FloatBox


class Pendulum(EnvironmentComponent):
    """A pendulum to be swung up and held, as Gymnasium's ``Pendulum-v1``.

    States are cosine, sine and speed ``[3]``; an action is a torque from -2 to 2 ``[1]``. ``gravity`` is a parameter.
    """

    state_space, action_space = FloatBox(shape=(3,)), FloatBox(-2.0, 2.0, shape=(1,))
    max_episode_steps = 200
    inner_space = Dict({"angle": FloatBox(), "speed": FloatBox()})
    default_parameters: ClassVar[Mapping[str, float]] = {"gravity": 10.0}

    @graph_fn
    def begin(self, ops: Any, count: int) -> Any:
        angle = ops.random_uniform((count,), -math.pi, math.pi)
        return {"angle": angle, "speed": ops.random_uniform((count,), -1.0, 1.0)}

    @graph_fn
    def transition(self, ops: Any, inner: Any, actions: Any) -> Any:
        angle, speed, torque = inner["angle"], inner["speed"], ops.clip(actions[:, 0], -2.0, 2.0)
        turns = ops.floor((angle + math.pi) / (2 * math.pi)) * (2 * math.pi)
        cost = ops.square(angle - turns) + 0.1 * ops.square(speed) + 0.001 * ops.square(torque)
        gravity = ops.read(self.parameters["gravity"])
        speed = ops.clip(speed + (1.5 * gravity * ops.sin(angle) + 3.0 * torque) * 0.05, -8.0, 8.0)
        return {"angle": angle + speed * 0.05, "speed": speed}, -cost, ops.zeros_like(cost) > 0.0

    @graph_fn
    def observe(self, ops: Any, inner: Any) -> Any:
        return ops.stack([ops.cos(inner["angle"]), ops.sin(inner["angle"]), inner["speed"]], axis=-1)

    def draw(self, inner: Any) -> np.ndarray:
        picture, angle = blank(200, 200), float(inner["angle"])
        draw_line(picture, (100, 100), (100 - 80 * math.cos(angle), 100 - 80 * math.sin(angle)), 14, BROWN)
        draw_line(picture, (100, 100), (100, 100), 5, BLACK)
        return picture
