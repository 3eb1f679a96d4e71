"""What a case of the component library is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rlgraph.core import Component
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, Tuple

#: Items and steps of a sample where a Space does not fix them.
BATCH, STEPS = 5, 3
FEATURES = FloatBox(shape=(3,), add_batch_rank=True)
VALUES = FloatBox(shape=(4,), add_batch_rank=True)
PER_ITEM = FloatBox(0.0, 1.0, add_batch_rank=True)
SCREENS = IntBox(256, shape=(5, 6, 3), dtype="uint8", add_batch_rank=True)
#: An action of several parts.
PARTS = Dict(jump=BoolBox(), move=Tuple(IntBox(3), IntBox(2, shape=(2,))))
#: Which actions are possible, of one of four and of `PARTS`.
MASK = BoolBox(shape=(4,), add_batch_rank=True)
MASKS = Dict(jump=BoolBox(shape=(2,)), move=Tuple(BoolBox(shape=(3,)), BoolBox(shape=(2, 2))))


@dataclass(frozen=True)
class Case:
    """A component and what to call.

    Attributes:
        make: makes it, unbuilt.
        spaces: Spaces of the arguments.
        methods: the API methods to call, in order.
        trains: it takes gradients.
        by: names of arguments; the derivatives of what the methods return, by these and by the trainable variables, are
            compared with difference quotients.
        elements: of a component with too many variables for that, by how many elements of each they are compared; then
            `by` may be empty.
    """

    make: Callable[[], Component]
    spaces: Mapping[str, Any]
    methods: tuple[str, ...]
    trains: bool = False
    by: tuple[str, ...] = ()
    elements: int | None = None

    @property
    def is_derived(self) -> bool:
        """Whether derivatives are compared."""
        return bool(self.by) or self.elements is not None


@dataclass(frozen=True)
class FunctionCase:
    """A function ``f(ops, **arguments)`` of `rlgraph.core.functional` and what to call it with.

    Attributes:
        function: the function.
        arguments: by name, arrays and nested containers of them, which reach it as tensors; everything else as it is.
        by: names of float arrays; the derivatives of the results by them are compared with difference quotients. There
            the function must be smooth.
    """

    function: Callable[..., Any]
    arguments: Mapping[str, Any]
    by: tuple[str, ...] = ()


@dataclass(frozen=True)
class By:
    """Marks an argument of `case_of` as one to differentiate by."""

    value: Any


def case_of(function: Callable[..., Any], /, **arguments: Any) -> FunctionCase:
    """The function with these arguments, and its derivatives by those that are marked with `By`."""
    marked = tuple(name for name, value in arguments.items() if isinstance(value, By))
    given = {name: value.value if name in marked else value for name, value in arguments.items()}
    return FunctionCase(function, given, marked)


def by_function(*cases: FunctionCase) -> dict[str, FunctionCase]:
    """Cases by the names of their functions, which differ."""
    named = {case.function.__name__: case for case in cases}
    assert len(named) == len(cases), "two cases of one function: give one of them a name of its own"
    return named
