"""Configuration of agents: validated by pydantic, reported with path, expectation and nearest name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rlgraph.core.errors import SpecError, nearest


class Spec(BaseModel):
    """Base of all configuration models: unknown keys are errors, values are never coerced between kinds."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


S = TypeVar("S", bound=Spec)


class UpdateSpec(Spec):
    """When and how an agent learns from its memory; intervals count environment steps."""

    do_updates: bool = True
    steps_before_update: int = Field(default=0, ge=0)
    update_interval: int = Field(default=4, ge=1)
    update_steps: int = Field(default=1, ge=1)
    batch_size: int = Field(default=64, ge=1)
    sync_interval: int = Field(default=128, ge=1)
    sync_tau: float = Field(
        default=1.0, gt=0.0, le=1.0, description="share of the policy in the target's new value"
    )


def parse_spec(model: type[S], spec: S | Mapping[str, Any] | None, path: str) -> S:
    """`spec` as a `model`.

    Raises:
        SpecError: all errors at once: path, what was expected and given, the nearest key.
    """
    if isinstance(spec, model):
        return spec
    if spec is not None and not isinstance(spec, Mapping):
        raise SpecError(f"{path}: expected a mapping, given {type(spec).__name__} {spec!r}")
    try:
        return model.model_validate(dict(spec or {}))
    except ValidationError as error:
        raise SpecError(*(_describe(model, path, e) for e in error.errors())) from None


def _describe(model: type[Spec], path: str, error: Any) -> str:
    place = ".".join([path, *map(str, error["loc"])])
    if error["type"] == "extra_forbidden":
        return f"{place}: there is no such key. {nearest(str(error['loc'][-1]), _keys(model, error['loc'][:-1]))}"
    return f"{place}: {error['msg']}, given {error['input']!r}"


def _keys(model: type[Spec], location: tuple[Any, ...]) -> list[str]:
    """The keys of the model that stands at `location` inside `model`."""
    for part in location:
        inner = model.model_fields[part].annotation
        assert isinstance(inner, type) and issubclass(inner, Spec)
        model = inner
    return list(model.model_fields)
