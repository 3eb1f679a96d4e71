"""Exploration by noise on the action values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from rlgraph.components.common.action_masks import check_masks, possible
from rlgraph.components.common.argument_checks import check_choice
from rlgraph.components.common.schedules import Schedule
from rlgraph.components.explorations.exploration import Exploration, action_batch
from rlgraph.components.policies.categorical_actions import existing_actions, mask_shapes
from rlgraph.core import SpecError, graph_fn, rlgraph_api
from rlgraph.core.errors import nearest
from rlgraph.core.specs.spec_types import SpaceSpec
from rlgraph.spaces import FloatBox, Space
from rlgraph.spaces.errors import mismatch

#: Name in a spec -> function that draws noise of scale 1.
NOISES: dict[str, Callable[[np.random.Generator, Any], np.ndarray]] = {
    "gaussian": lambda rng, shape: rng.standard_normal(shape),
    "gumbel": lambda rng, shape: rng.gumbel(size=shape),
}


class NoisyGreedy(Exploration):
    """Adds noise to all action values, then picks the action of largest value.

    With Gumbel noise this is Boltzmann exploration: action a has probability ``softmax(q / scale)[a]`` (Gumbel, 1954).

    Args:
        action_space: an `IntBox` with categories or a `BoolBox`, or a container of them.
        noise_spec: ``{"type": "gaussian" | "gumbel", "scale": ...}``; the scale in units of the action values, over
            training (see `Schedule.from_spec`), default 1.

    Raises:
        SpecError: an action is not categorical, the noise, key or schedule is unknown, or a scale is below 0.
    """

    explores: ClassVar[str] = "q_values"

    def __init__(
        self,
        action_space: SpaceSpec,
        noise_spec: Mapping[str, Any],
        scope: str = "exploration",
        **kwargs: Any,
    ):
        self.noise, scale = _read(noise_spec, f"{scope}.noise_spec")
        super().__init__(action_space, scale, scope=scope, **kwargs)
        #: The shapes of the action values, and of masks of them.
        self.mask_shapes = mask_shapes(self.action_space, scope)
        self.existing = {path: existing_actions(box) for path, box in self.boxes.items()}

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        super().check_input_spaces(input_spaces, action_space)
        given = input_spaces["q_values"].flatten()
        if given.keys() != self.boxes.keys():
            raise mismatch("q_values", f"the parts of {self.action_space!r}", repr(input_spaces["q_values"]))
        for path, values in given.items():
            shape = self.mask_shapes[path]
            fits = isinstance(values, FloatBox) and values.shape == shape and not values.has_time_rank
            if not fits or not values.has_batch_rank:
                wanted = f"a value for each action, FloatBox(shape={shape}, add_batch_rank=True)"
                raise mismatch(f"q_values/{path}" if path else "q_values", wanted, repr(values))
        mask = self.mask_of(input_spaces.get("observations"))
        if mask is not None:
            check_masks(mask, self.mask_shapes)

    def metrics(self, progress: float) -> dict[str, float]:
        """``{"noise_scale": scale of the noise}``."""
        return {"noise_scale": self.amount.value(progress)}

    @rlgraph_api
    def get_action(
        self, q_values: Any, progress: Any = None, use_exploration: Any = None, observations: Any = None
    ) -> Any:
        """``q_values [B, A]`` (or a container) ``-> [B]``.

        Args:
            q_values: the values of all actions.
            progress: the fraction of training done, []; not needed for a constant scale.
            use_exploration: False adds no noise; a Python bool or a tensor [].
            observations: their mask says which actions are possible, as for `EpsilonGreedy`, with and without noise.
        """
        if use_exploration is not False:
            self.amount.need_time(progress, self.scope_path)
        mask = self.mask_of(observations)
        return self._explore(q_values, progress, use_exploration, *([] if mask is None else [mask]))

    @graph_fn(host=True, spaces=action_batch, flatten_ops={"action_mask"})
    def _explore(
        self, q_values: Any, progress: Any = None, use_exploration: Any = None, action_mask: Any = None
    ) -> Any:
        scale = 0.0
        if use_exploration is None or use_exploration:
            scale = self.amount.value(0.0 if progress is None else float(progress))
        draw, actions = NOISES[self.noise], {}
        for path, values in self.action_space.flatten_sample(q_values).items():
            noisy = values + scale * draw(self.rng, values.shape) if scale else values
            if action_mask is not None and path in action_mask:
                noisy = np.where(possible(action_mask[path], self.existing[path]), noisy, -np.inf)
            actions[path] = noisy.argmax(axis=-1).astype(self.boxes[path].dtype, copy=False)
        return self.action_space.unflatten_sample(actions)


def _read(spec: Any, path: str) -> tuple[str, Schedule]:
    if not isinstance(spec, Mapping):
        raise SpecError(
            f"expected a mapping such as {{'type': 'gumbel', 'scale': [1.0, 0.1]}}, given {spec!r}", path=path
        )
    for key in spec:
        if key not in ("type", "scale"):
            raise SpecError(f"unknown key. {nearest(str(key), ('type', 'scale'))}", path=f"{path}.{key}")
    kind = spec.get("type", "gaussian")
    check_choice(kind, f"{path}.type", NOISES, "noise")
    scale = Schedule.from_spec(spec.get("scale", 1.0), path=f"{path}.scale")
    scale.check_values(0.0, float("inf"), f"{path}.scale")
    return kind, scale
