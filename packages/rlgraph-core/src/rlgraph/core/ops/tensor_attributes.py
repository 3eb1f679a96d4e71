"""`shape` and `dtype` of a tensor without values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from rlgraph.core.errors import InferenceError
from rlgraph.core.ops.dims import SymbolicDim
from rlgraph.core.ops.tensor_spec import TensorSpec


class _DtypeText(str):
    """``str(x.dtype)``: frameworks write it differently, but the name is in all of their texts."""

    def _refuse(self, other: object) -> NoReturn:
        raise InferenceError(_DTYPE_IN_PYTHON.format(f"str(x.dtype) and {other!r}"))

    __eq__ = __ne__ = startswith = endswith = _refuse  # type: ignore[assignment]
    __hash__ = str.__hash__


class Dtype:
    """``x.dtype``, the framework's object when the function runs: what all frameworks' objects have in common."""

    __slots__ = ("_name",)

    def __init__(self, name: str):
        self._name = name

    def __repr__(self) -> str:
        return self._name

    def __str__(self) -> str:
        return _DtypeText(self._name)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Dtype):
            return self._name == other._name
        raise InferenceError(_DTYPE_IN_PYTHON.format(f"comparing x.dtype with {other!r}"))

    def __hash__(self) -> int:
        return hash(self._name)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise InferenceError(_DTYPE_IN_PYTHON.format(f"x.dtype.{name}"))


_DTYPE_IN_PYTHON = (
    "{}: x.dtype is an object of the framework when the function runs. It may be given to operations, and compared "
    "with that of another tensor. A name has the dtype of a Space: see check_input_spaces, @graph_fn(space_of=...)"
)


class FixedShape(Sequence[int]):
    """``x.shape``: sizes that the Space fixes; any other size is an error that names ``ops.shape``."""

    def __init__(self, spec: TensorSpec):
        self._spec = spec

    def __len__(self) -> int:
        return len(self._spec.shape)

    def __getitem__(self, index: Any) -> Any:
        sizes = self._spec.shape[index]
        for size in sizes if isinstance(sizes, tuple) else (sizes,):
            if isinstance(size, SymbolicDim):
                raise InferenceError(
                    f"x.shape[{index}] of {self._spec} is not fixed by the Space: use ops.shape(x)[{index}]"
                )
        return sizes
