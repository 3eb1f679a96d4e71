"""Schedules: parameters that change with training progress, on tensors and on the host."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar

from rlgraph.components.common.argument_checks import check_number, check_whole, is_number
from rlgraph.core.errors import AssemblyError, Fault, InputError, SpecError, nearest, offer
from rlgraph.core.registry import canonical
from rlgraph.spaces import FloatBox
from rlgraph.spaces.errors import mismatch


class Schedule(ABC):
    """A value as a function of ``progress``, the fraction of training done (0 to 1)."""

    @abstractmethod
    def value(self, progress: float) -> float:
        """The value at `progress`, on the host; beyond 1 it is the final value."""

    @abstractmethod
    def tensor(self, ops: Any, progress: Any) -> Any:
        """The same in a graph function: ``progress []``, a float ``-> []``."""

    @property
    def is_constant(self) -> bool:
        """Whether it needs no ``progress``."""
        return False

    def check_values(self, low: float, high: float, path: str) -> None:
        """Raise `SpecError` if a value is outside ``[low, high]``."""
        for time in (0.0, 1.0):  # schedules are monotonic
            if not low <= (value := self.value(time)) <= high:
                wanted = f"values >= {low:g}" if high == math.inf else f"values in [{low:g}, {high:g}]"
                raise SpecError(f"expected {wanted}, given {value:g}", path=path)

    def check_time(self, space: Any, where: str = "progress") -> None:
        """Raise `SpaceError` unless `space` is one fraction of training, or None for a constant schedule."""
        if space is not None or not self.is_constant:
            check_progress(space, where)

    def need_time(self, progress: Any, where: str) -> None:
        """Raise `AssemblyError` if an API method is given no `progress` and the value depends on it."""
        if progress is None and not self.is_constant:
            raise AssemblyError(f"{where} needs progress, the fraction of training done, for {self}")

    @staticmethod
    def from_spec(spec: Any, *, path: str = "schedule") -> Schedule:
        """A schedule from

        * a number: constant;
        * ``[from, to]``: linear;
        * ``[type, from, to]`` or ``[type, from, to, argument]``, the argument being `power` or `decay_rate`;
        * a mapping: ``{"type": "linear", "from": 1.0, "to": 0.1, "start": 0.0, "end": 0.5}``.

        Types: ``constant``; ``linear``, ``lin``, ``linear_decay``; ``polynomial``, ``poly``, ``polynomial_decay``;
        ``exponential``, ``exp``, ``exponential_decay``; ``cosine``, ``cos``, ``cosine_decay``; ``ape_x`` (see
        `ApeXEpsilon`).

        Raises:
            SpecError: `spec` has another form.
        """
        if isinstance(spec, Schedule):
            return spec
        if is_number(spec):
            return Constant(float(spec))
        if isinstance(spec, Sequence) and not isinstance(spec, str):
            schedule = _from_list(spec, path)
            if schedule is not None:
                return schedule
        if isinstance(spec, Mapping) and "type" in spec:
            return _from_mapping(spec, path)
        raise SpecError(
            "expected a number, [from, to], [type, from, to], [type, from, to, argument] or a mapping with "
            f"'type', given {spec!r}",
            path=path,
        )


def check_progress(space: Any, where: str = "progress") -> None:
    """Raise `SpaceError` unless `space` is one fraction of training."""
    # A Space without bounds may be a fraction.
    high = getattr(space, "high", None)
    fits = isinstance(space, FloatBox) and space.shape == () and (high is None or high <= 1.0)
    if not fits or space.has_batch_rank or space.has_time_rank:
        raise mismatch(where, "the fraction of training done, FloatBox(0.0, 1.0)", repr(space))


#: Parts of messages about invalid fractions.
_STEPS = "; it is a fraction of training, not a number of steps"
_FRACTION = "progress: expected the fraction of training done, 0.0 to 1.0"


@dataclass(frozen=True)
class Constant(Schedule):
    """Always the same value."""

    constant: float

    def __post_init__(self) -> None:
        _check_numbers(self)

    @property
    def is_constant(self) -> bool:
        return True

    def value(self, progress: float) -> float:
        return self.constant

    def tensor(self, ops: Any, progress: Any) -> Any:
        return self.constant


@dataclass(frozen=True)
class Decay(Schedule):
    """From one value to another: ``to + (from - to) * remaining(t)``.

    ``t = (progress - start) / (end - start)``, between 0 and 1.

    Attributes:
        from_: value up to `start` (``from`` in a spec).
        to: final value.
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
            raise SpecError(f"expected a fraction in (0, 1], given {self.end!r}{_STEPS}", path="end")
        if not 0.0 <= self.start < self.end:
            raise SpecError(
                f"expected a fraction in [0, {self.end}), given {self.start!r}{_STEPS}", path="start"
            )

    @abstractmethod
    def remaining(self, functions: Any, t: Any) -> Any:
        """The remaining share of the change, from 1 at ``t = 0``.

        Args:
            functions: provides functions such as ``cos``: `math` for a number, ``ops`` for a tensor.
            t: a number or a tensor [].
        """

    def value(self, progress: float) -> float:
        t = (progress - self.start) / (self.end - self.start)
        # Comparisons, since this runs at every step and `min` and `max` are several times slower.
        if not 0.0 <= t <= 1.0:
            if t != t:
                raise InputError(f"{_FRACTION}, given {progress!r}")
            t = 0.0 if t < 0.0 else 1.0
        return float(self.to + (self.from_ - self.to) * self.remaining(math, t))

    def tensor(self, ops: Any, progress: Any) -> Any:
        t = ops.clip((progress - self.start) / (self.end - self.start), 0.0, 1.0)
        return self.to + (self.from_ - self.to) * self.remaining(ops, t)


@dataclass(frozen=True)
class LinearDecay(Decay):
    """Linear: ``remaining = 1 - t``."""

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
        check_number(self.power, "power", above=0)

    def remaining(self, functions: Any, t: Any) -> Any:
        return (1.0 - t) ** self.power


@dataclass(frozen=True)
class ExponentialDecay(Decay):
    """``remaining = decay_rate^t``; at the end, the share `decay_rate` of the change still remains.

    Attributes:
        decay_rate: in (0, 1).
    """

    decay_rate: float = 0.1

    argument = "decay_rate"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self.decay_rate, "decay_rate", above=0, below=1)

    def remaining(self, functions: Any, t: Any) -> Any:
        return self.decay_rate**t


@dataclass(frozen=True)
class CosineDecay(Decay):
    """``remaining = (1 + cos(pi t)) / 2`` (Loshchilov and Hutter, 2017, eq. 5, https://arxiv.org/abs/1608.03983)."""

    def remaining(self, functions: Any, t: Any) -> Any:
        return 0.5 * (1.0 + functions.cos(math.pi * t))


@dataclass(frozen=True)
class ApeXEpsilon(Schedule):
    """A constant epsilon for each worker (Horgan et al., 2018, section 4, https://arxiv.org/abs/1803.00933).

    ``base^(1 + alpha * worker / (num_workers - 1))``: worker 0 explores most. A single worker is worker 0.

    Attributes:
        worker: 0 to ``num_workers - 1``.
        num_workers: number of workers.
        base: epsilon of worker 0, in (0, 1).
        alpha: at least 0; the last worker's epsilon is ``base^(1 + alpha)``.
    """

    worker: int
    num_workers: int
    base: float = 0.4
    alpha: float = 7.0

    def __post_init__(self) -> None:
        _set(self, "worker", check_whole(self.worker, "worker"))
        _set(self, "num_workers", check_whole(self.num_workers, "num_workers", least=1))
        if not 0 <= self.worker < self.num_workers:
            raise SpecError(f"expected 0 to {self.num_workers - 1}, given {self.worker!r}", path="worker")
        _set(self, "base", check_number(self.base, "base", above=0, below=1))
        _set(self, "alpha", check_number(self.alpha, "alpha", least=0))

    @property
    def is_constant(self) -> bool:
        return True

    def value(self, progress: float) -> float:
        return float(self.base ** (1.0 + self.alpha * self.worker / max(self.num_workers - 1, 1)))

    def tensor(self, ops: Any, progress: Any) -> Any:
        return self.value(0.0)


_TYPES: dict[str, type[Any]] = {
    "constant": Constant,
    **dict.fromkeys(("linear", "lin", "linear_decay"), LinearDecay),
    **dict.fromkeys(("polynomial", "poly", "polynomial_decay"), PolynomialDecay),
    **dict.fromkeys(("exponential", "exp", "exponential_decay"), ExponentialDecay),
    **dict.fromkeys(("cosine", "cos", "cosine_decay"), CosineDecay),
    "ape_x": ApeXEpsilon,
}

#: Alternative names of keys.
_OTHER_NAMES = {
    "initial": "from",
    "final": "to",
    "num_timesteps": "end",
    "decay_steps": "end",
    "start_timestep": "start",
    "value": "constant",
    "constant_value": "constant",
    "index": "worker",
}


def _from_mapping(spec: Mapping[str, Any], path: str) -> Schedule:
    arguments = {key: value for key, value in spec.items() if key != "type"}
    target = _type(spec["type"], path)
    for key, field in (("from", "from_"), ("to_", "to")):  # `from` is a Python keyword
        if {key, field} <= arguments.keys():
            raise SpecError(f"{key!r} and {field!r} are one key, given both: remove one", path=path)
        if key in arguments:
            arguments[field] = arguments.pop(key)
    known = {part.name: part for part in fields(target)}
    for key in arguments.keys() - known.keys():
        raise SpecError(
            f"{target.__name__} has no such key. {offer(key, map(_shown, known), _OTHER_NAMES)}",
            path=f"{path}.{key}",
        )
    for name, part in known.items():
        if name not in arguments and part.default is MISSING:
            raise SpecError(
                f"{target.__name__} needs it, given {dict(spec)!r}", path=f"{path}.{_shown(name)}"
            )
    return _make(target, arguments, path)


def _shown(field: str) -> str:
    """The name of a field in a spec."""
    return field.rstrip("_")


def _from_list(spec: Sequence[Any], path: str) -> Schedule | None:
    """The schedule of a shorthand; None where its length is wrong."""
    kind, *values = spec if spec and isinstance(spec[0], str) else ["linear", *spec]
    target = _type(kind, path)
    if target is ApeXEpsilon:
        names = ["worker", "num_workers"]
    elif target is Constant:
        names = ["constant"]
    else:
        names = ["from_", "to", *([target.argument] if target.argument and len(values) == 3 else [])]
    if len(values) != len(names):
        return None
    return _make(target, dict(zip(names, values, strict=True)), path)


def _check_numbers(schedule: Any) -> None:
    for part in fields(schedule):
        _set(schedule, part.name, check_number(getattr(schedule, part.name), _shown(part.name)))


def _set(schedule: Any, name: str, value: float) -> None:
    # Schedules are frozen.
    object.__setattr__(schedule, name, value)


def _make(target: type[Any], arguments: Mapping[str, Any], path: str) -> Schedule:
    try:
        schedule: Schedule = target(**arguments)
    except SpecError as error:
        raise SpecError(*(Fault(fault.text, f"{path}.{fault.path}") for fault in error.faults)) from error
    return schedule


def _type(name: Any, path: str) -> type[Any]:
    known = _TYPES.get(canonical(str(name)))
    if known is None:
        raise SpecError(f"unknown schedule {name!r}. {nearest(str(name), _TYPES)}", path=f"{path}.type")
    return known
