"""Configuration models: validated by pydantic, reported with path, expectation and nearest name."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from types import UnionType
from typing import Any, ClassVar, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo

from rlgraph.core.errors import Fault, OtherNames, SpecError, offer
from rlgraph.core.specs.argument_types import expectation
from rlgraph.core.specs.spec_paths import join_parts, locate, record
from rlgraph.core.specs.specifiable import MAX_FAULTS
from rlgraph.experience.option_hints import IN_HINDSIGHT, IN_UPDATES


class Spec(BaseModel):
    """Base of all configuration models.

    Unknown keys are errors, values are never coerced between kinds, numbers are finite.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)
    #: What others call a key -> its place here; offered where an unknown key is refused.
    other_names: ClassVar[OtherNames] = {}


S = TypeVar("S", bound=Spec)


#: Records of one update at most; more are a mistake, and would be allocated at the first update.
MAX_BATCH = 1_000_000


class UpdateSpec(Spec):
    """When and how an agent learns from its memory; intervals count environment steps."""

    other_names: ClassVar[OtherNames] = IN_UPDATES

    do_updates: bool = Field(default=True, description="learn at all")
    steps_before_update: int = Field(default=0, ge=0, description="steps observed before the first update")
    update_interval: int = Field(default=4, ge=1, description="steps between two rounds of updates")
    update_steps: int = Field(default=1, ge=1, description="updates of one round")
    batch_size: int = Field(default=64, ge=1, le=MAX_BATCH, description="records of one update")


class HindsightSpec(Spec):
    """Which goals an agent puts into records in place of those that were desired."""

    other_names: ClassVar[OtherNames] = IN_HINDSIGHT

    strategy: Literal["future", "final", "episode"] = Field(
        default="future",
        description="where the new goals were achieved: after the step, at the end of its episode, or anywhere in it",
    )
    goals: int | None = Field(
        default=None, ge=1, le=100, description="new goals of each step; default: 4, of 'final' 1"
    )


def parse_spec(model: type[S], spec: S | Mapping[str, Any] | None, path: str) -> S:
    """`spec` as a `model`.

    Args:
        model: the configuration model.
        spec: an instance, a mapping, or None for the defaults.
        path: where it stands; empty: it is the whole document.

    Raises:
        SpecError: all errors at once: path, what was expected and given, the nearest key.
    """
    if isinstance(spec, model):
        return spec
    if spec is not None and not isinstance(spec, Mapping):
        raise SpecError(f"expected a mapping, given {type(spec).__name__} {spec!r}", path=path or "document")
    try:
        parsed = model.model_validate(dict(spec or {}))
    except ValidationError as error:
        # A union says once for each of its members what is wrong.
        faults = (_fault(model, path, e) for e in error.errors())
        raise SpecError(*dict.fromkeys(islice(faults, MAX_FAULTS))) from None
    record(locate(path), parsed.model_dump())
    return parsed


def _fault(model: type[Spec], path: str, error: Any) -> Fault:
    parts, owner, field = _place(model, error["loc"])
    place = join_parts(path, *parts)
    if error["type"] == "extra_forbidden":
        hint = offer(parts[-1], owner.model_fields, owner.other_names)
        return Fault(f"there is no such key. {hint}", place)
    if error["type"] == "missing":
        return Fault(f"missing; expected {expected(field)}", place)
    return Fault(f"expected {expected(field)}, given {error['input']!r}", place)


def _place(model: type[Spec], location: tuple[Any, ...]) -> tuple[list[str], type[Spec], Any]:
    """Where in the document an error is, the model of that place, and the field of it, if it is one."""
    parts: list[str] = []
    owner, field = model, None
    for part in location:
        if field is not None:
            inner = model_of(field.annotation)
            if inner is None or part == inner.__name__:  # the item of a list, or the member of a union
                if isinstance(part, int):
                    parts.append(f"[{part}]")
                continue
            owner = inner
        parts.append(str(part))
        field = owner.model_fields.get(part)
        if field is None:
            break
    return parts, owner, field


def model_of(annotation: Any) -> type[Spec] | None:
    """The configuration model that an annotation is, or is besides None."""
    for choice in (annotation, *get_args(annotation)):
        if isinstance(choice, type) and issubclass(choice, Spec):
            return choice
    return None


def expected(field: FieldInfo | None) -> str:
    """What a field takes, in words: ``"an integer >= 1 or null"``."""
    if field is None:
        return "something else"
    bounds = " and ".join(_bounds(field))
    choices = [field.annotation]
    if get_origin(field.annotation) in (Union, UnionType):
        choices = list(get_args(field.annotation))
    words = ["a mapping" if model_of(choice) else expectation(choice) for choice in choices]
    numbers = (expectation(int), expectation(float))
    return " or ".join(f"{word} {bounds}" if bounds and word in numbers else word for word in words)


def _bounds(field: FieldInfo) -> list[str]:
    signs = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<"}
    return [
        f"{sign} {getattr(bound, name)}"
        for bound in field.metadata
        for name, sign in signs.items()
        if hasattr(bound, name)
    ]
