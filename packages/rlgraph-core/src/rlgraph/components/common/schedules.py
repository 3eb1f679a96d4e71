"""Parameters that change with training progress: plain values and formulas, usable on tensors and on the host."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from rlgraph.core.component.specifiable import check_arguments
from rlgraph.core.errors import SpecError, nearest


class Schedule(ABC):
    """A value as a function of ``time_percentage``, the fraction of training done (0 to 1)."""

    @abstractmethod
    def value(self, time_percentage: float) -> float:
        """The value at `time_percentage`, on the host; beyond 1 it stays where it ended."""

    @abstractmethod
    def tensor(self, ops: Any, time_percentage: Any) -> Any:
        """The same in a graph function: ``time_percentage []``, a float ``-> []``."""

    @property
    def is_constant(self) -> bool:
        """Whether it needs no ``time_percentage``."""
        return False

    @staticmethod
    def from_spec(spec: Any, *, path: str = "schedule") -> Schedule:
        """A schedule from

        * a number: constant;
        * ``[from, to]``: linear;
        * ``[type, from, to]`` or ``[type, from, to, argument]``, the argument being `power` or `decay_rate`;
        * a mapping: ``{"type": "linear", "from": 1.0, "to": 0.1, "start": 0.0, "end": 0.5}``.

        Types: ``constant``; ``linear``, ``lin``, ``linear_decay``; ``polynomial``, ``poly``, ``polynomial_decay``;
        ``exponential``, ``exp``, ``exponential_decay``; ``cosine``, ``cos``, ``cosine_decay``.

        Raises:
            SpecError: none of these.
        """
        if isinstance(spec, Schedule):
            return spec
        if _is_number(spec):
            return Constant(float(spec))
        if isinstance(spec, Sequence) and not isinstance(spec, str):
            schedule = _from_list(spec, path)
            if schedule is not None:
                return schedule
        if isinstance(spec, Mapping) and "type" in spec:
            # `from` is no name in Python.
            arguments = {"from_" if k == "from" else k: value for k, value in spec.items() if k != "type"}
            target = _type(spec["type"], path)
            check_arguments(target, arguments, path)
            return _make(target, arguments, path)
        raise SpecError(
            f"{path}: expected a number, [from, to], [type, from, to], [type, from, to, argument] or a mapping with "
            f"'type', given {spec!r}"
        )


@dataclass(frozen=True)
class Constant(Schedule):
    """Always the same value."""

    constant: float

    def __post_init__(self) -> None:
        _check_numbers(self)

    @property
    def is_constant(self) -> bool:
        return True

    def value(self, time_percentage: float) -> float:
        return self.constant

    def tensor(self, ops: Any, time_percentage: Any) -> Any:
        return self.constant


@dataclass(frozen=True)
class Decay(Schedule):
    """From one value to another: ``to + (from - to) * remaining(t)``.

    ``t = (time_percentage - start) / (end - start)``, between 0 and 1.

    Attributes:
        from_: value up to `start` (``from`` in a spec).
        to: value that is aimed at.
        end: fraction of training at which it stops changing, in (0, 1].
        start: fraction of training at which it begins to change, in [0, end).
    """

    from_: float
    to: float
    end: float = 1.0
    start: float = 0.0

    #: The field that is given last in a list, ``[type, from, to, argument]``.
    argument: ClassVar[str | None] = None

    def __post_init__(self) -> None:
        _check_numbers(self)
        if not 0.0 < self.end <= 1.0:
            raise SpecError(f"end: expected a fraction in (0, 1], given {self.end!r}")
        if not 0.0 <= self.start < self.end:
            raise SpecError(f"start: expected a fraction in [0, {self.end}), given {self.start!r}")

    @abstractmethod
    def remaining(self, functions: Any, t: Any) -> Any:
        """The share of the way that is left, from 1 at ``t = 0``.

        Args:
            functions: where functions such as ``cos`` are: `math` for a number, ``ops`` for a tensor.
            t: a number or a tensor [].
        """

    def value(self, time_percentage: float) -> float:
        t = min(max((time_percentage - self.start) / (self.end - self.start), 0.0), 1.0)
        return float(self.to + (self.from_ - self.to) * self.remaining(math, t))

    def tensor(self, ops: Any, time_percentage: Any) -> Any:
        t = ops.clip((time_percentage - self.start) / (self.end - self.start), 0.0, 1.0)
        return self.to + (self.from_ - self.to) * self.remaining(ops, t)


@dataclass(frozen=True)
class LinearDecay(Decay):
    """In a straight line: ``remaining = 1 - t``."""

    def remaining(self, functions: Any, t: Any) -> Any:
        return 1.0 - t


@dataclass(frozen=True)
class PolynomialDecay(Decay):
    """``remaining = (1 - t)^power``.

    Attributes:
        power: the larger, the faster it falls at first; above 0.
    """

    power: float = 2.0

    argument = "power"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.power > 0.0:
            raise SpecError(f"power: expected a number > 0, given {self.power!r}")

    def remaining(self, functions: Any, t: Any) -> Any:
        return (1.0 - t) ** self.power


@dataclass(frozen=True)
class ExponentialDecay(Decay):
    """``remaining = decay_rate^t``; at the end, `decay_rate` of the way is still left.

    Attributes:
        decay_rate: in (0, 1).
    """

    decay_rate: float = 0.1

    argument = "decay_rate"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 < self.decay_rate < 1.0:
            raise SpecError(f"decay_rate: expected a number in (0, 1), given {self.decay_rate!r}")

    def remaining(self, functions: Any, t: Any) -> Any:
        return self.decay_rate**t


@dataclass(frozen=True)
class CosineDecay(Decay):
    """``remaining = (1 + cos(pi t)) / 2`` (Loshchilov and Hutter, 2017, eq. 5, https://arxiv.org/abs/1608.03983)."""

    def remaining(self, functions: Any, t: Any) -> Any:
        return 0.5 * (1.0 + functions.cos(math.pi * t))


_TYPES: dict[str, type[Any]] = {
    "constant": Constant,
    **dict.fromkeys(("linear", "lin", "linear_decay"), LinearDecay),
    **dict.fromkeys(("polynomial", "poly", "polynomial_decay"), PolynomialDecay),
    **dict.fromkeys(("exponential", "exp", "exponential_decay"), ExponentialDecay),
    **dict.fromkeys(("cosine", "cos", "cosine_decay"), CosineDecay),
}


def _from_list(spec: Sequence[Any], path: str) -> Schedule | None:
    """The schedule of a shorthand; None where its length is wrong."""
    kind, *values = spec if spec and isinstance(spec[0], str) else ["linear", *spec]
    target = _type(kind, path)
    if target is Constant:
        names = ["constant"]
    else:
        names = ["from_", "to", *([target.argument] if target.argument and len(values) == 3 else [])]
    if len(values) != len(names):
        return None
    return _make(target, dict(zip(names, values, strict=True)), path)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _check_numbers(schedule: Any) -> None:
    for part in fields(schedule):
        value = getattr(schedule, part.name)
        if not _is_number(value):
            raise SpecError(f"{part.name.rstrip('_')}: expected a number, given {value!r}")
        object.__setattr__(schedule, part.name, float(value))


def _make(target: type[Any], arguments: Mapping[str, Any], path: str) -> Schedule:
    try:
        schedule: Schedule = target(**arguments)
    except TypeError as error:
        raise SpecError(f"{path}: {target.__name__}: {error}") from error
    except SpecError as error:
        raise SpecError(f"{path}.{error}") from error
    return schedule


def _type(name: Any, path: str) -> type[Any]:
    if name not in _TYPES:
        raise SpecError(f"{path}.type: unknown schedule {name!r}. {nearest(str(name), _TYPES)}")
    return _TYPES[name]
