"""Activations in the specs of layers."""

from __future__ import annotations

import inspect
from typing import Any

from rlgraph.core.errors import SpecError, nearest
from rlgraph.core.functional.activations import ACTIVATIONS, activation
from rlgraph.core.specs.spec_types import ActivationSpec

#: Their functions ``relu``, ``tanh`` ... are the activations of that name.
FRAMEWORKS = ("keras", "numpy", "tensorflow", "torch")


def check_activation(spec: ActivationSpec, where: str) -> ActivationSpec:
    """A name, a function of `ops` and a tensor, or None for none and for ``"linear"``.

    A framework's own function, such as ``torch.tanh``, becomes a name: it would run on one backend only.

    Raises:
        SpecError: unknown activation, or a function of other arguments.
    """
    if callable(spec):
        return _function(spec, where)
    if spec is None or spec == "linear":
        return None
    if not isinstance(spec, str) or spec not in ACTIVATIONS:
        raise SpecError(
            f"unknown activation {spec!r}. {nearest(str(spec), [*ACTIVATIONS, 'linear'])}", path=where
        )
    return spec


def _function(function: Any, where: str) -> Any:
    name, module = getattr(function, "__name__", ""), str(getattr(function, "__module__", ""))
    if module.partition(".")[0] not in FRAMEWORKS:
        if _takes_two(function):
            return function
    elif isinstance(ACTIVATIONS.get(name), str):  # an operation: `leaky_relu` has other slopes there
        return name
    raise SpecError(
        "expected the name of an activation, or a function of ops and x, such as "
        f"lambda ops, x: x * ops.sigmoid(x), given {function!r}",
        path=where,
    )


def _takes_two(function: Any) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # written in C
        return False
    places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return sum(p.default is p.empty for p in places) == 2


def apply_activation(ops: Any, spec: ActivationSpec, x: Any) -> Any:
    """The activation of `x`."""
    return x if spec is None else activation(ops, spec)(x)
