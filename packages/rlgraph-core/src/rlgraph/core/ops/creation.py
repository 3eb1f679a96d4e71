"""Operations that create tensors."""

from __future__ import annotations

from collections.abc import Sequence

from rlgraph.core.errors import InferenceError
from rlgraph.core.ops.checks import require_size, require_whole
from rlgraph.core.ops.contract import operation
from rlgraph.core.ops.dims import SymbolicDim
from rlgraph.core.ops.elementwise import common_dtype
from rlgraph.core.ops.tensor_spec import Shape, TensorSpec


def _constant(shape: Shape, dtype: str, value: float) -> TensorSpec:
    if dtype == "bool":
        return TensorSpec(shape, dtype)
    return TensorSpec(shape, dtype, value, value + 1 if dtype[0] in "iu" else value)


@operation("creation")
def zeros(shape: Sequence[int], dtype: str | None = None) -> TensorSpec:
    """Zeros of `shape` (sizes may come from ``ops.shape``); default dtype: the execution's float."""
    assert dtype is not None
    return _constant(tuple(shape), dtype, 0)


@operation("creation")
def ones(shape: Sequence[int], dtype: str | None = None) -> TensorSpec:
    """Ones of `shape`; default dtype: the execution's float."""
    assert dtype is not None
    return _constant(tuple(shape), dtype, 1)


@operation("creation")
def full(shape: Sequence[int], value: float, dtype: str | None = None) -> TensorSpec:
    """A tensor of `shape` filled with the Python number `value`; default dtype: the execution's float."""
    assert dtype is not None
    common_dtype(TensorSpec((), dtype), value)
    return _constant(tuple(shape), dtype, value)


@operation("creation", differentiable=False)
def zeros_like(x: TensorSpec) -> TensorSpec:
    """Zeros with the shape and dtype of `x`."""
    return _constant(x.shape, x.dtype, 0)


@operation("creation", differentiable=False)
def ones_like(x: TensorSpec) -> TensorSpec:
    """Ones with the shape and dtype of `x`."""
    return _constant(x.shape, x.dtype, 1)


@operation("creation", differentiable=False)
def full_like(x: TensorSpec, value: float) -> TensorSpec:
    """The Python number `value` everywhere, with the shape and dtype of `x`."""
    common_dtype(x, value)
    return _constant(x.shape, x.dtype, value)


@operation("creation")
def eye(rows: int, columns: int | None = None, dtype: str | None = None) -> TensorSpec:
    """1 on the diagonal of ``[rows, columns]`` (default columns: `rows`), else 0; default dtype: float."""
    assert dtype is not None
    height = require_size("eye", "rows", rows)
    width = height if columns is None else require_size("eye", "columns", columns)
    bounds = {"b": (None, None), "f": (0, 1)}.get(dtype[0], (0, 2))
    return TensorSpec((height, width), dtype, *bounds)


@operation("creation")
def arange(start: int, stop: int | None = None, step: int = 1, dtype: str = "int64") -> TensorSpec:
    """The integers from `start` up to but not including `stop`, or from 0 up to `start` if `stop` is omitted.

    Sizes may come from ``ops.shape`` where `step` is 1.
    """
    first, end = (0, start) if stop is None else (start, stop)
    for name, value in (("start", first), ("stop", end)):
        if not isinstance(value, SymbolicDim):
            require_whole("arange", name, value, least=None)
    require_whole("arange", "step", step, least=None)
    if dtype == "bool" or step == 0:
        raise InferenceError(
            f"ops.arange needs a numeric dtype and a step other than 0, given step={step}, dtype={dtype}"
        )
    count = end - first
    if isinstance(count, SymbolicDim) or isinstance(first, SymbolicDim):
        if step != 1:
            raise InferenceError(
                f"ops.arange from {first} to {end}: a step other than 1 needs fixed ends, given step={step}"
            )
        # The count may be fixed although both ends are unknown: from B - 2 up to B.
        return TensorSpec((count,), dtype, first if isinstance(first, int) else None)
    values = range(first, end, step)
    if not values:
        return TensorSpec((0,), dtype)
    return TensorSpec((len(values),), dtype, min(values), max(values) + (dtype[0] in "iu"))


@operation("creation")
def linspace(start: float, stop: float, num: int, dtype: str | None = None) -> TensorSpec:
    """`num` (at least 2) evenly spaced floats from `start` to `stop`, both included; default dtype: float."""
    assert dtype is not None
    require_whole("linspace", "num", num, least=2)
    common_dtype(TensorSpec((), dtype), start, stop)
    if not dtype.startswith("float"):
        raise InferenceError(f"ops.linspace needs a float dtype, given {dtype}; for integers use ops.arange")
    return TensorSpec((num,), dtype, min(start, stop), max(start, stop))
