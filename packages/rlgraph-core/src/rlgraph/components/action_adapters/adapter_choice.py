"""Chooses the action adapter, and so the distribution, for an action Space."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlgraph.components.action_adapters.action_adapter import ActionAdapter
from rlgraph.components.action_adapters.joint_action_adapter import JointActionAdapter
from rlgraph.core import SpecError, registry
from rlgraph.core.errors import nearest
from rlgraph.spaces import BoolBox, BoxSpace, Dict, FloatBox, IntBox, Space, SpaceError, from_spec

#: Option of `choose_adapter` -> its default distribution.
DEFAULTS = {
    "bool_distribution_type": "bernoulli",
    "bounded_distribution_type": "beta",
    "discrete_distribution_type": "categorical",
    "half_bounded_distribution_type": "log_normal",
    "unbounded_distribution_type": "normal",
}
#: Names of RLgraph 0.5.
ALIASES = {"squashed": "squashed_normal", "gumbel": "gumbel_softmax", "gaussian": "normal"}


def choose_adapter(
    action_space: Any,
    distributions_spec: Mapping[str, Any] | None = None,
    action_adapter_spec: Mapping[str, Any] | None = None,
    scope: str = "action-adapter",
) -> ActionAdapter | JointActionAdapter:
    """Return an action adapter for any action Space; for a Dict or Tuple, one that holds an adapter for each part.

    An ``IntBox(n)`` gets a categorical distribution, a `BoolBox` a Bernoulli distribution, a `FloatBox` with both
    bounds a beta distribution, one with one bound in every element a log-normal, one without bounds a normal one. The
    distribution itself is ``adapter.make_distribution()``.

    Args:
        action_space: the Space of one action; ranks are ignored.
        distributions_spec: other choices, by ``bool_distribution_type``, ``discrete_distribution_type``,
            ``bounded_distribution_type``, ``half_bounded_distribution_type`` and ``unbounded_distribution_type``: a
            name, of which the adapter is found in the registry as ``<name>_distribution_adapter``, or the spec of an
            adapter. ``gumbel_softmax_temperature`` is the temperature of Gumbel-softmax distributions.
        action_adapter_spec: arguments for all adapters, such as ``pre_network_spec``; with ``type`` the only adapter.
        scope: scope of the adapter.

    Raises:
        SpecError: an action without a matching adapter (named by its path), or an invalid spec.
    """
    where = f"{scope}.distributions_spec"
    chosen = _checked(distributions_spec or {}, where)
    options = dict(action_adapter_spec or {})

    def leaf(path: str, box: BoxSpace) -> Any:
        at = f"{scope}.action_space" + (f", part {path!r}" if path else "")
        _check_choice(box, at)
        spec = options if "type" in options else {**_adapter_spec(box, chosen, at, where), **options}
        name = path.replace("/", "-") if path else scope
        return ActionAdapter.from_spec(spec, path=at, action_space=box, scope=name)

    try:
        space: Space = from_spec(action_space).without_ranks()
    except SpaceError as error:
        raise SpecError(str(error), path=f"{scope}.action_space") from None
    if isinstance(space, BoxSpace):
        adapter: ActionAdapter = leaf("", space)
        return adapter
    return JointActionAdapter(_nested(space, leaf), scope=scope)


def _nested(space: Any, leaf: Any, path: str = "") -> Any:
    if isinstance(space, BoxSpace):
        return leaf(path, space)
    items = space.items() if isinstance(space, Dict) else enumerate(space)
    parts = {key: _nested(part, leaf, f"{path}/{key}" if path else str(key)) for key, part in items}
    return parts if isinstance(space, Dict) else tuple(parts.values())


def _checked(spec: Mapping[str, Any], where: str) -> dict[str, Any]:
    known = [*DEFAULTS, "gumbel_softmax_temperature"]
    for key in spec:
        if key not in known:
            raise SpecError(f"unknown argument {key!r}. {nearest(str(key), known)}", path=where)
    return {**DEFAULTS, **spec}


def _adapter_spec(box: BoxSpace, chosen: Mapping[str, Any], at: str, where: str) -> dict[str, Any]:
    option = _option(box, at)
    given = chosen[option]
    if not isinstance(given, str):
        return dict(given) if isinstance(given, Mapping) else {"type": given}
    name = ALIASES.get(given, given)
    adapter, known = f"{name}_distribution_adapter", registry(ActionAdapter.registry_group)
    if adapter not in known:
        ending = "_distribution_adapter"
        names = [other.removesuffix(ending) for other in known.names() if other.endswith(ending)]
        raise SpecError(
            f"unknown distribution {given!r}. {nearest(given, [*names, *ALIASES])}", path=f"{where}.{option}"
        )
    spec: dict[str, Any] = {"type": adapter}
    if name == "gumbel_softmax" and "gumbel_softmax_temperature" in chosen:
        spec["temperature"] = chosen["gumbel_softmax_temperature"]
    return spec


def _check_choice(box: BoxSpace, at: str) -> None:
    """Refuse a float both of whose bounds are the same: it has no density."""
    if not isinstance(box, FloatBox) or box.low is None or box.high is None:
        return
    if (same := np.broadcast_to(np.equal(box.low, box.high), box.shape)).any():
        element = np.argwhere(same)[0].tolist()
        raise SpecError(
            f"expected low < high in every element, given the same in {f'element {element} of ' if element else ''}"
            f"{box!r}: leave out what cannot be chosen, e.g. by a wrapper of the environment that adds it",
            path=at,
        )


def _option(box: BoxSpace, at: str) -> str:
    """The option that selects the distribution of `box`."""
    if isinstance(box, BoolBox):
        return "bool_distribution_type"
    if isinstance(box, IntBox):
        return "discrete_distribution_type"
    if not isinstance(box, FloatBox):
        raise SpecError(f"expected numbers or bools, given {box!r}", path=at)
    kinds = {"bounded": box.bounded, "half_bounded": box.half_bounded, "unbounded": box.unbounded}
    for kind, found in kinds.items():
        if found:
            return f"{kind}_distribution_type"
    raise SpecError(
        f"expected both bounds in every element, or one in every element, or none at all, given {box!r}: make it "
        "a Dict or Tuple of boxes, one for the elements of each kind",
        path=at,
    )
