"""Epsilon-greedy exploration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlgraph.components.common.action_masks import check_masks, possible
from rlgraph.components.common.schedules import Schedule
from rlgraph.components.explorations.exploration import Exploration, action_batch
from rlgraph.components.policies.categorical_actions import (
    categories,
    choices,
    existing_actions,
    is_one_integer,
    mask_shapes,
)
from rlgraph.core import graph_fn, rlgraph_api
from rlgraph.core.specs.spec_types import ScheduleSpec, SpaceSpec
from rlgraph.spaces import Space


class EpsilonGreedy(Exploration):
    """Picks a uniformly random action with probability epsilon, else the greedy one.

    For a container action either all parts are random or none, unless `each_part` is set.

    Args:
        action_space: an `IntBox` with categories or a `BoolBox`, or a container of them.
        epsilon_spec: epsilon over training (see `Schedule.from_spec`), or ``{"decay_spec": ...}`` of such.
        each_part: draw each part of a container action independently with probability epsilon, as in RLgraph 0.5: a
            random part then mostly meets greedy values of the other parts, which helps Q-learning with separate
            action values per part.

    Raises:
        SpecError: an action is not categorical, or the schedule is invalid or leaves [0, 1].
    """

    def __init__(
        self,
        action_space: SpaceSpec,
        epsilon_spec: ScheduleSpec = (1.0, 0.05),
        each_part: bool = False,
        scope: str = "exploration",
        **kwargs: Any,
    ):
        path = f"{scope}.epsilon_spec"
        if isinstance(epsilon_spec, Mapping) and set(epsilon_spec) == {
            "decay_spec"
        }:  # as RLgraph 0.5 wrote it
            epsilon_spec, path = epsilon_spec["decay_spec"], f"{path}.decay_spec"
        epsilon = Schedule.from_spec(epsilon_spec, path=path)
        epsilon.check_values(0.0, 1.0, path)
        super().__init__(action_space, epsilon, scope=scope, **kwargs)
        self.categories = categories(self.action_space, scope)
        self.mask_shapes = mask_shapes(self.action_space, scope)
        self.choices = {path: choices(box) for path, box in self.boxes.items()}
        #: The number of actions of the common Space, one int64 number, whose draw is several times faster.
        self.num_actions = self.categories[""] if is_one_integer(self.action_space) else None
        self.each_part = each_part
        if all(isinstance(number, int) for number in self.choices.values()):
            self.draws_in_graph = False
        self.existing = {path: existing_actions(box) for path, box in self.boxes.items()}

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        super().check_input_spaces(input_spaces, action_space)
        mask = self.mask_of(input_spaces.get("observations"))
        if mask is not None:
            check_masks(mask, self.mask_shapes)

    def metrics(self, progress: float) -> dict[str, float]:
        """``{"epsilon": probability of a random action}``."""
        return {"epsilon": self.amount.value(progress)}

    @rlgraph_api
    def get_action(
        self, actions: Any, progress: Any = None, use_exploration: Any = None, observations: Any = None
    ) -> Any:
        """``actions [B]`` (greedy; or a container) ``-> [B]``.

        Args:
            actions: the greedy actions of the policy.
            progress: the fraction of training done, []; not needed for a constant epsilon.
            use_exploration: False returns the actions unchanged; a Python bool or a tensor [].
            observations: see `Observations`; their mask says which actions may be drawn, for a container of some or all
                parts. An element whose mask allows nothing has all actions. Greedy actions do not change.
        """
        if use_exploration is False:
            return actions
        self.amount.need_time(progress, self.scope_path)
        switch = None if use_exploration is True else use_exploration
        mask = self.mask_of(observations)
        if self.draws_in_graph:
            return self._explored(actions, progress, switch, *([] if mask is None else [mask]))
        return self._explore(actions, progress, switch, *([] if mask is None else [mask]))

    @graph_fn(host=True, spaces=action_batch, flatten_ops={"action_mask"})
    def _explore(
        self, actions: Any, progress: Any = None, use_exploration: Any = None, action_mask: Any = None
    ) -> Any:
        if use_exploration is not None and not use_exploration:
            return actions
        epsilon = self.amount.value(0.0 if progress is None else float(progress))
        if self.num_actions is None or action_mask is not None:
            return self._explore_parts(actions, epsilon, action_mask or {})
        if len(actions) == 1:
            # One environment: scalars are several times faster than arrays of one.
            if self.rng.random() < epsilon:
                return np.array([int(self.rng.random() * self.num_actions)])
            return actions
        explore = self.rng.random(len(actions)) < epsilon
        if not explore.any():
            return actions
        return np.where(explore, (self.rng.random(len(actions)) * self.num_actions).astype(np.int64), actions)

    @graph_fn(flatten_ops={"actions", "action_mask"})
    def _explored(
        self,
        ops: Any,
        actions: Any,
        progress: Any = None,
        use_exploration: Any = None,
        action_mask: Any = None,
    ) -> Any:
        """As `_explore`, inside of the program."""
        epsilon = self.amount.tensor(ops, 0.0 if progress is None else progress)
        rows = ops.shape(next(iter(actions.values())))[0]
        together = None if self.each_part else ops.random_uniform((rows,)) < epsilon
        found = {}
        for path, greedy in actions.items():
            explore = ops.random_uniform(ops.shape(greedy)) < epsilon if together is None else together
            while len(explore.shape) < len(greedy.shape):
                explore = ops.expand_dims(explore, -1)
            if use_exploration is not None:
                explore = ops.logical_and(explore, use_exploration)
            u = ops.random_uniform(ops.shape(greedy))
            drawn = self._drawn_in_graph(ops, u, path, None if action_mask is None else action_mask.get(path))
            found[path] = ops.where(explore, ops.astype(drawn, self.boxes[path].dtype), greedy)
        return found

    def _drawn_in_graph(self, ops: Any, u: Any, path: str, mask: Any) -> Any:
        """As `_drawn`, where all elements of a part have as many actions."""
        number = self.categories[path]
        if mask is None:  # rounding may reach the number itself
            return ops.minimum(ops.astype(u * number, "int64"), number - 1)
        nothing = ops.logical_not(ops.any(mask, axis=-1, keepdims=True))
        counts = ops.cumulative_sum(ops.astype(ops.logical_or(mask, nothing), "float"), -1)
        wanted = ops.expand_dims(u, -1) * counts[..., number - 1 :]
        return ops.argmax(ops.astype(counts > wanted, "int64"), axis=-1)

    def _explore_parts(self, actions: Any, epsilon: float, masks: Mapping[str, np.ndarray]) -> Any:
        parts = self.action_space.flatten_sample(actions)
        together = None if self.each_part else self.rng.random(len(next(iter(parts.values())))) < epsilon
        if together is not None and not together.any():
            return actions
        for path, greedy in parts.items():
            if together is None:
                explore = self.rng.random(greedy.shape) < epsilon
            else:
                explore = together.reshape(-1, *[1] * (greedy.ndim - 1))
            drawn = self._drawn(self.rng.random(greedy.shape), path, masks.get(path))
            parts[path] = np.where(explore, drawn.astype(greedy.dtype), greedy)
        return self.action_space.unflatten_sample(parts)

    def _drawn(self, u: np.ndarray, path: str, mask: np.ndarray | None) -> np.ndarray:
        """Map uniform draws ``u`` in [0, 1) to actions; a mask that allows all actions changes nothing."""
        if mask is None:
            return (u * self.choices[path]).astype(np.int64)
        counts = possible(mask, self.existing[path]).cumsum(axis=-1)
        return (counts > (u * counts[..., -1])[..., np.newaxis]).argmax(axis=-1)
