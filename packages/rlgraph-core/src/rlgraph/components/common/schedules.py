"""Parameters that change with training progress: plain values and formulas, usable on tensors and on the host."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rlgraph.core.component.specifiable import check_arguments
from rlgraph.core.errors import SpecError, nearest


class Schedule(ABC):
    """A value as a function of ``time_percentage``, the fraction of training done (0 to 1)."""

    @abstractmethod
    def value(self, time_percentage: float) -> float:
        """The value at `time_percentage`; beyond 1 it stays where it ended."""

    @staticmethod
    def from_spec(spec: Any, *, path: str = "schedule") -> Schedule:
        """A schedule from a number, ``[from, to]`` (linear), ``["linear", from, to]`` or a mapping with ``type``.

        Raises:
            SpecError: none of these.
        """
        if isinstance(spec, Schedule):
            return spec
        if isinstance(spec, int | float) and not isinstance(spec, bool):
            return Constant(float(spec))
        if isinstance(spec, Sequence) and not isinstance(spec, str):
            kind, *values = spec if spec and isinstance(spec[0], str) else ["linear", *spec]
            if len(values) == 2:
                return _make(_type(kind, path), map(float, values), {}, path)
        if isinstance(spec, Mapping) and "type" in spec:
            # `from` is no name in Python.
            arguments = {"from_" if k == "from" else k: value for k, value in spec.items() if k != "type"}
            target = _type(spec["type"], path)
            check_arguments(target, arguments, path)
            return _make(target, (), arguments, path)
        raise SpecError(
            f"{path}: expected a number, [from, to], ['linear', from, to] or a mapping with 'type', given {spec!r}"
        )


@dataclass(frozen=True)
class Constant(Schedule):
    """Always the same value."""

    constant: float

    def value(self, time_percentage: float) -> float:
        return self.constant


@dataclass(frozen=True)
class LinearDecay(Schedule):
    """From one value to another in a straight line, reached at ``end`` of training.

    Attributes:
        from_: value at the start (``from`` in a spec).
        to: value at the end.
        end: fraction of training at which `to` is reached, in (0, 1].
    """

    from_: float
    to: float
    end: float = 1.0

    def __post_init__(self) -> None:
        if not 0.0 < self.end <= 1.0:
            raise SpecError(f"linear_decay.end: expected a fraction in (0, 1], given {self.end!r}")

    def value(self, time_percentage: float) -> float:
        return self.from_ + (self.to - self.from_) * min(max(time_percentage / self.end, 0.0), 1.0)


_TYPES: dict[str, type[Any]] = {"constant": Constant, "linear": LinearDecay, "linear_decay": LinearDecay}


def _make(target: type[Any], values: Iterable[float], arguments: Mapping[str, Any], path: str) -> Schedule:
    try:
        schedule: Schedule = target(*values, **arguments)
    except (TypeError, ValueError) as error:
        raise SpecError(f"{path}: {target.__name__}: {error}") from error
    return schedule


def _type(name: Any, path: str) -> type[Any]:
    if name not in _TYPES:
        raise SpecError(f"{path}.type: unknown schedule {name!r}. {nearest(str(name), _TYPES)}")
    return _TYPES[name]
