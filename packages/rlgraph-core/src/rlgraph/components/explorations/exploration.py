"""The base class of all explorations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from rlgraph.components.common.action_spaces import action_space_of
from rlgraph.components.common.observations import Observations
from rlgraph.components.common.schedules import Schedule
from rlgraph.core import Component, SpecError, registry
from rlgraph.core.specs.spec_paths import record_form
from rlgraph.core.specs.spec_types import SpaceSpec
from rlgraph.spaces import BoolBox, FloatBox, Space, check_space_equivalence
from rlgraph.spaces.errors import mismatch


def action_batch(exploration: Any, *_: Any) -> Space:
    """The Space of a batch of actions, for ``spaces=``."""
    return exploration.action_space.with_batch_rank()


class Exploration(Component):
    """Turns greedy actions or action values into exploring actions.

    It has the API method ``get_action(actions, progress, use_exploration, observations)``, or
    ``get_action(q_values, ...)`` if `explores` is ``"q_values"``. Of the observations (see `Observations`) it uses the
    mask. Random numbers come from the component's host stream, so exploration is the same on all backends.

    Args:
        action_space: the Space of one action.
        amount: the amount of exploration, as a schedule over training.

    Raises:
        SpecError: `action_space` is not a Space.
        SpaceError: the actions are from another Space, or `progress` is not a fraction.
    """

    #: The first argument of `get_action`: greedy ``"actions"``, or ``"q_values"``.
    explores: ClassVar[str] = "actions"
    #: Whether it draws inside of the program, from a stream of tensors; classes that can have the attribute True or
    #: False, None: they draw on the host only.
    draws_in_graph: bool | None = None

    get_action: Any

    def __init__(self, action_space: SpaceSpec, amount: Schedule, scope: str = "exploration", **kwargs: Any):
        self.action_space = action_space_of(action_space, f"{scope}.action_space")
        self.boxes = self.action_space.flatten()
        self.amount = amount
        super().__init__(scope=scope, **kwargs)

    @classmethod
    def from_spec(cls, spec: Any, *, path: str = "", **kwargs: Any) -> Self:
        """As `Specifiable.from_spec`; without ``type``, ``noise_spec`` or ``epsilon_spec`` selects the class.

        For categorical actions a ``noise_spec`` describes noise on action values (`NoisyGreedy`). For actions with
        floats it is the spec of noise on actions, such as `GaussianNoise`, with or without the "_noise" of its name.

        Raises:
            SpecError: both are given.
        """
        if cls is Exploration and (spec is None or (isinstance(spec, Mapping) and "type" not in spec)):
            spec = dict(spec or {})
            if {"epsilon_spec", "noise_spec"} <= spec.keys():
                raise SpecError(
                    "expected epsilon_spec (random actions) or noise_spec (noise on actions "
                    "or their values), given both: leave one of them out",
                    path=path or cls.__name__,
                )
            noise = spec.get("noise_spec")
            if isinstance(noise, Mapping) and _has_floats(kwargs.get("action_space")):
                path = record_form(path or cls.__name__, spec)
                spec, path = _noise_alone(spec, noise, path), f"{path}.noise_spec"
            else:
                spec["type"] = "noisy_greedy" if "noise_spec" in spec else "epsilon_greedy"
        return super().from_spec(spec, path=path, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        given = input_spaces[self.explores]
        if self.explores == "actions" and not _are_alike(given, action_batch(self)):
            raise mismatch("actions", f"a batch of actions, {action_batch(self)!r}", repr(given))
        self.amount.check_time(input_spaces.get("progress"))
        switch = input_spaces.get("use_exploration")
        if switch is not None and switch != BoolBox():
            raise mismatch("use_exploration", "BoolBox()", repr(switch))
        mask = self.mask_of(input_spaces.get("observations"))
        if mask is not None and any(box.has_time_rank for box in mask.flatten().values()):
            raise mismatch("action_mask", "masks of a batch, without a time rank", repr(mask))

    def mask_of(self, observations: Any) -> Any:
        """The mask in the observations, symbols or Spaces; None: no mask."""
        return Observations.of(observations, self.scope_path).action_mask

    def metrics(self, progress: float) -> dict[str, float]:
        """Numbers to report, at this fraction of training."""
        return {}


def _are_alike(given: Space, expected: Space) -> bool:
    """Whether two Spaces describe the same arrays; the execution chooses the dtype of floats."""
    boxes, others = given.flatten(), expected.flatten()
    return boxes.keys() == others.keys() and all(
        box.get_shape(True, True) == others[path].get_shape(True, True)
        if isinstance(box, FloatBox) and isinstance(others[path], FloatBox)
        else check_space_equivalence(box, others[path]) is not None
        for path, box in boxes.items()
    )


def _has_floats(action_space: Any) -> bool:
    space = None if action_space is None else action_space_of(action_space, "action_space")
    return space is not None and any(isinstance(box, FloatBox) for box in space.flatten().values())


def _noise_alone(spec: Mapping[str, Any], noise: Mapping[str, Any], path: str) -> dict[str, Any]:
    """The spec of the noise, with the registered name of its type."""
    for key in spec:
        if key != "noise_spec":
            raise SpecError("unknown key beside noise_spec", path=f"{path or 'Exploration'}.{key}")
    kind = noise.get("type", "gaussian")
    is_short = isinstance(kind, str) and f"{kind}_noise" in registry(Exploration.registry_group)
    return {**noise, "type": f"{kind}_noise" if is_short else kind}
