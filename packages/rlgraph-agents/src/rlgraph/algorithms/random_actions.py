"""Actions that are drawn from their Space."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.components.common.action_masks import possible
from rlgraph.components.policies.categorical_actions import existing_actions
from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.core.ops import leaves_of
from rlgraph.spaces import Space


def _action_batch(component: Any, *_: Any) -> Space:
    return component.action_space.with_batch_rank()


class RandomActions(Component):
    """Draws actions from their Space, of categories those that the mask allows.

    Categories and floats with two bounds are uniform; other floats are drawn as `rlgraph.spaces.FloatBox.sample` does.

    Args:
        action_space: of one action.
        scope: name among its siblings.
    """

    def __init__(self, action_space: Space, scope: str = "random-actions", **kwargs: Any):
        self.action_space = action_space
        super().__init__(scope=scope, **kwargs)

    @rlgraph_api
    def draw(self, observations: Any) -> Any:
        """One action for each of the observations, ``[B, ...]``."""
        return self._draw(observations["states"], observations.get("action_mask"))

    @rlgraph_api
    def replace(self, actions: Any, condition: Any, observations: Any) -> Any:
        """``actions [B, ...]``, or drawn ones where ``condition []`` is true."""
        return self._replace(actions, condition, observations.get("action_mask"))

    @graph_fn(host=True, spaces=_action_batch, flatten_ops={"mask"})
    def _draw(self, states: Any, mask: Any = None) -> Any:
        return self._drawn(states, mask)

    @graph_fn(host=True, spaces=_action_batch, flatten_ops={"mask"})
    def _replace(self, actions: Any, condition: Any, mask: Any = None) -> Any:
        return self._drawn(actions, mask) if condition else actions

    def _drawn(self, batch: Any, mask: Any) -> Any:
        """One action for each item of a batch."""
        rng: np.random.Generator = self.rng
        drawn = self.action_space.with_batch_rank().sample(len(leaves_of(batch)[0]), rng=rng)
        if mask is None:
            return drawn
        parts = self.action_space.flatten_sample(drawn)
        for path, box in self.action_space.flatten().items():
            if path in mask:
                allowed = possible(mask[path], existing_actions(box))
                best = np.where(allowed, rng.random(allowed.shape), -1.0).argmax(axis=-1)
                parts[path] = (best + box.low).astype(box.dtype)
        return self.action_space.unflatten_sample(parts)
