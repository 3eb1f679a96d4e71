"""The contract on Autograd: NumPy's operations, and for boxes those of them that need a derivative of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from operator import mul
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.extend import defvjp, primitive
from autograd.numpy.numpy_boxes import ArrayBox
from autograd.tracer import getval

from rlgraph.core.handle import Handle, value_of
from rlgraph.core.numpy.ops import NumpyOps
from rlgraph.core.ops import (
    OPERATIONS,
    as_pair,
    leaves_of,
    map_nested,
    paddings,
    resize_weights,
)
from rlgraph_autograd.tape import VariableHandle

Array = Any
Pair = tuple[int, int]
#: Any: many of its operations are static methods, and ordinary methods here.
Inherited: Any = NumpyOps


def plain(value: Any) -> Any:
    """`value`, a nested dict, list or tuple, with arrays in place of handles and boxes."""
    return map_nested(
        lambda leaf: getval(leaf.value if isinstance(leaf, Handle) else leaf), value
    )


# Functions of NumPy's backend that Autograd does not know, with their derivatives.

erf, lgamma, digamma = (
    primitive(f) for f in (NumpyOps.erf, NumpyOps.lgamma, NumpyOps.digamma)
)


def trigamma(x: Array) -> Array:
    """The derivative of digamma: ten steps of the recurrence, then the asymptotic series."""
    y = x + 10.0
    series = (
        1 / y
        + 1 / (2 * y**2)
        + 1 / (6 * y**3)
        - 1 / (30 * y**5)
        + 1 / (42 * y**7)
        - 1 / (30 * y**9)
    )
    return series + sum(1.0 / (x + k) ** 2 for k in range(10))


defvjp(erf, lambda y, x: lambda g: g * 2.0 / np.pi**0.5 * np.exp(-x * x))
defvjp(lgamma, lambda y, x: lambda g: g * NumpyOps.digamma(x))
defvjp(digamma, lambda y, x: lambda g: g * trigamma(x))


@primitive
def added_at(values: Array, places: Any, shape: Sequence[int]) -> Array:
    """Zeros [shape] to which `values` are added at the index `places`."""
    result = np.zeros(shape, values.dtype)
    np.add.at(result, places, values)
    return result


defvjp(added_at, lambda y, values, places, shape: lambda g: g[places], argnums=(0,))


def windows(
    x: Array, size: Pair, strides: Any, padding: str, value: float = 0.0
) -> Array:
    """``[N, H', W', h, w, C]``: the windows of the padded images ``x [N, H, W, C]``."""
    steps = as_pair(strides)
    pads = paddings(x.shape[1:3], size, steps, padding)
    x = anp.pad(x, ((0, 0), *pads, (0, 0)), "constant", constant_values=value)
    return x[window_places(x.shape[1:3], size, steps)]


def window_places(
    image: Sequence[int], size: Sequence[int], steps: Sequence[int]
) -> tuple[Any, ...]:
    """The index of all windows of images [N, H, W, C]: rows ``[H', 1, h, 1]`` and columns ``[1, W', 1, w]``."""
    rows, columns = (
        np.arange(0, whole - part + 1, step)[:, None] + np.arange(part)
        for whole, part, step in zip(image, size, steps, strict=True)
    )
    return slice(None), rows[:, None, :, None], columns[None, :, None, :]


class Differentiable(Inherited):
    """NumPy's operations on boxes. Those that are made of ufuncs are inherited."""

    matmul = staticmethod(anp.matmul)
    reshape = staticmethod(anp.reshape)

    permute_dims = staticmethod(anp.transpose)
    moveaxis = staticmethod(anp.moveaxis)
    stack = staticmethod(anp.stack)
    roll = staticmethod(anp.roll)
    repeat = staticmethod(anp.repeat)
    tril = staticmethod(anp.tril)
    triu = staticmethod(anp.triu)
    expand_dims = staticmethod(anp.expand_dims)
    outer = staticmethod(anp.outer)
    einsum = staticmethod(anp.einsum)
    cumulative_sum = staticmethod(anp.cumsum)
    erf = staticmethod(erf)
    lgamma = staticmethod(lgamma)
    digamma = staticmethod(digamma)
    stop_gradient = staticmethod(getval)

    def where(self, condition: Array, x: Array, y: Array) -> Array:
        shape = np.broadcast_shapes(*map(np.shape, map(getval, (condition, x, y))))
        return anp.where(
            np.broadcast_to(condition, shape),
            *(self.broadcast_to(part, shape) for part in (x, y)),
        )

    @staticmethod
    def broadcast_to(x: Array, shape: Sequence[int]) -> Array:
        old = np.shape(getval(x))
        return anp.broadcast_to(
            anp.reshape(x, (*[1] * (len(shape) - len(old)), *old)), tuple(shape)
        )

    @staticmethod
    def flip(x: Array, axis: Any = None) -> Array:
        axes = (
            range(x.ndim) if axis is None else [a % x.ndim for a in np.atleast_1d(axis)]
        )
        return x[
            tuple(slice(None, None, -1 if a in axes else 1) for a in range(x.ndim))
        ]

    @staticmethod
    def tile(x: Array, repetitions: Sequence[int]) -> Array:
        return anp.tile(x, repetitions)

    @staticmethod
    def concat(tensors: Sequence[Array], axis: int = 0) -> Array:
        return anp.concatenate(tensors, axis)

    @staticmethod
    def sum(x: Array, axis: Any = None, keepdims: bool = False) -> Array:
        return anp.sum(x, axis=axis, keepdims=keepdims)

    @staticmethod
    def mean(x: Array, axis: Any = None, keepdims: bool = False) -> Array:
        return anp.mean(x, axis=axis, keepdims=keepdims)

    @staticmethod
    def prod(x: Array, axis: Any = None, keepdims: bool = False) -> Array:
        return anp.prod(x, axis=axis, keepdims=keepdims)

    @staticmethod
    def max(x: Array, axis: Any = None, keepdims: bool = False) -> Array:
        return anp.max(x, axis=axis, keepdims=keepdims)

    @staticmethod
    def min(x: Array, axis: Any = None, keepdims: bool = False) -> Array:
        return anp.min(x, axis=axis, keepdims=keepdims)

    def var(
        self, x: Array, axis: Any = None, keepdims: bool = False, correction: int = 0
    ) -> Array:
        squares = anp.square(x - self.mean(x, axis, True))
        total = self.sum(squares, axis, keepdims)
        return total / (x.size // (total.size or 1) - correction)

    def std(
        self, x: Array, axis: Any = None, keepdims: bool = False, correction: int = 0
    ) -> Array:
        return anp.sqrt(self.var(x, axis, keepdims, correction))

    def logsumexp(self, x: Array, axis: Any = None, keepdims: bool = False) -> Array:
        top = NumpyOps.max(getval(x), axis, True)
        total = anp.log(self.sum(anp.exp(x - top), axis, True)) + top
        return total if keepdims else anp.squeeze(total, axis)

    def softmax(self, x: Array, axis: int = -1) -> Array:
        return anp.exp(self.log_softmax(x, axis))

    def log_softmax(self, x: Array, axis: int = -1) -> Array:
        return x - self.logsumexp(x, axis, True)

    def vecdot(self, x: Array, y: Array, axis: int = -1) -> Array:
        return self.sum(x * y, axis)

    def cumulative_prod(self, x: Array, axis: int) -> Array:
        return anp.stack(list(accumulate(self.unstack(x, axis), mul)), axis)

    def layer_norm(
        self,
        x: Array,
        scale: Array | None = None,
        offset: Array | None = None,
        epsilon: float = 1e-5,
    ) -> Array:
        y = (x - self.mean(x, -1, True)) / anp.sqrt(self.var(x, -1, True) + epsilon)
        y = y if scale is None else y * scale
        return y if offset is None else y + offset

    @staticmethod
    def linear(x: Array, weights: Array, biases: Array | None = None) -> Array:
        return anp.dot(x, weights) if biases is None else anp.dot(x, weights) + biases

    @staticmethod
    def clip(x: Array, low: float, high: float) -> Array:
        return anp.where(getval(x) < low, low, anp.where(getval(x) > high, high, x))

    def elu(self, x: Array) -> Array:
        return anp.where(getval(x) > 0, x, anp.expm1(anp.minimum(x, 0)))

    def selu(self, x: Array) -> Array:
        scale, slope = 1.0507009873554805, 1.6732632423543772
        return scale * anp.where(getval(x) > 0, x, slope * anp.expm1(anp.minimum(x, 0)))

    def leaky_relu(self, x: Array, slope: float = 0.01) -> Array:
        return anp.where(getval(x) > 0, x, slope * x)

    def gelu(self, x: Array) -> Array:
        return 0.5 * x * (1.0 + erf(x * 0.5**0.5))

    def astype(self, x: Array, dtype: str) -> Array:
        return x.astype(self.float_dtype if dtype == "float" else dtype)

    @staticmethod
    def flatten(x: Array, start_axis: int = 0) -> Array:
        kept = x.shape[: start_axis % x.ndim]
        return anp.reshape(x, (*kept, int(np.prod(x.shape[len(kept) :]))))

    @staticmethod
    def squeeze(x: Array, axis: Any) -> Array:
        return anp.squeeze(x, axis)

    @staticmethod
    def unstack(x: Array, axis: int = 0) -> list[Array]:
        front = anp.moveaxis(x, axis, 0)
        return [front[i] for i in range(front.shape[0])]

    @staticmethod
    def split(x: Array, sizes: Sequence[int], axis: int = 0) -> tuple[Array, ...]:
        ends = list(accumulate(sizes))
        front = anp.moveaxis(x, axis, 0)
        parts = (front[end - size : end] for size, end in zip(sizes, ends, strict=True))
        return tuple(anp.moveaxis(part, 0, axis) for part in parts)

    @staticmethod
    def pad(x: Array, padding: Sequence[tuple[int, int]], value: float = 0) -> Array:
        return anp.pad(x, padding, "constant", constant_values=value) if x.ndim else x

    @staticmethod
    def take(x: Array, indices: Array, axis: int = 0) -> Array:
        return x[(slice(None),) * (axis % x.ndim) + (indices,)]

    @staticmethod
    def take_along_axis(x: Array, indices: Array, axis: int = -1) -> Array:
        places = list(np.ogrid[tuple(map(slice, indices.shape))])
        places[axis] = indices
        return x[tuple(places)]

    @staticmethod
    def boolean_mask(x: Array, mask: Array) -> Array:
        return x[mask]

    @staticmethod
    def segment_sum(values: Array, segment_ids: Array, num_segments: int) -> Array:
        return added_at(values, segment_ids, (num_segments, *values.shape[1:]))

    def sort(self, x: Array, axis: int = -1, descending: bool = False) -> Array:
        return self.take_along_axis(
            x, NumpyOps.argsort(getval(x), axis, descending), axis
        )

    def top_k(self, x: Array, k: int, axis: int = -1) -> tuple[Array, Array]:
        _, indices = NumpyOps.top_k(getval(x), k, axis)
        return self.take_along_axis(x, indices, axis), indices

    def linear_recurrence(
        self,
        x: Array,
        d: Any,
        initial: Array | None = None,
        reverse: bool = False,
        axis: int = 0,
    ) -> Array:
        factors = self.unstack(d * np.ones_like(getval(x)), axis)
        y: Array = 0.0 if initial is None else initial
        results = []
        for item, factor in list(zip(self.unstack(x, axis), factors, strict=True))[
            :: -1 if reverse else 1
        ]:
            y = item + factor * y
            results.append(y)
        return anp.stack(results[:: -1 if reverse else 1], axis)

    @staticmethod
    def conv2d(
        x: Array, filters: Array, strides: Any = 1, padding: str = "valid"
    ) -> Array:
        return anp.einsum(
            "nyxhwc,hwcf->nyxf",
            windows(x, filters.shape[:2], strides, padding),
            filters,
        )

    @staticmethod
    def conv2d_transpose(
        x: Array, filters: Array, strides: Any = 1, padding: str = "valid"
    ) -> Array:
        size, steps, image = filters.shape[:2], as_pair(strides), x.shape[1:3]
        whole = [
            (n - 1) * step + max(part, step)
            for n, part, step in zip(image, size, steps, strict=True)
        ]
        spread = anp.einsum("nyxf,hwcf->nyxhwc", x, filters)
        places = window_places(
            [(n - 1) * s + p for n, p, s in zip(image, size, steps, strict=True)],
            size,
            steps,
        )
        result = added_at(spread, places, (x.shape[0], *whole, filters.shape[2]))
        if padding == "same":
            wanted = image[0] * steps[0], image[1] * steps[1]
            (top, _), (left, _) = paddings(wanted, size, steps, "same")
            return result[:, top : top + wanted[0], left : left + wanted[1]]
        ends = [
            (n - 1) * step + part
            for n, part, step in zip(image, size, steps, strict=True)
        ]
        return result[:, : ends[0], : ends[1]]

    @staticmethod
    def max_pool2d(
        x: Array, size: Any, strides: Any = None, padding: str = "valid"
    ) -> Array:
        steps = size if strides is None else strides
        return anp.max(windows(x, as_pair(size), steps, padding, -np.inf), axis=(3, 4))

    @staticmethod
    def avg_pool2d(
        x: Array, size: Any, strides: Any = None, padding: str = "valid"
    ) -> Array:
        steps = size if strides is None else strides
        count = anp.sum(
            windows(np.ones_like(getval(x)), as_pair(size), steps, padding), axis=(3, 4)
        )
        return anp.sum(windows(x, as_pair(size), steps, padding), axis=(3, 4)) / count

    @staticmethod
    def resize(x: Array, size: Any, method: str = "bilinear") -> Array:
        height, width = as_pair(size)
        rows = resize_weights(method, x.shape[1], height).astype(x.dtype)
        columns = resize_weights(method, x.shape[2], width).astype(x.dtype)
        return anp.einsum(
            "nhWc,wW->nhwc", anp.einsum("hH,nHWc->nhWc", rows, x), columns
        )


class TapedOps(NumpyOps):
    """The `ops` namespace: NumPy's operations for arrays, `Differentiable` for boxes, the family state for handles."""

    def __init__(self, float_dtype: str = "float32"):
        super().__init__(float_dtype)
        taped = Differentiable(float_dtype)
        for operation in OPERATIONS.values():
            if operation.family not in ("state", "random", "control"):
                name = operation.name
                ufunc = operation.differentiable and operation.family in (
                    "elementwise",
                    "nn",
                )
                known = ufunc or name in vars(Differentiable)
                setattr(
                    self,
                    name,
                    chosen(
                        getattr(super(), name), getattr(taped, name) if known else None
                    ),
                )

    @staticmethod
    def shape(x: Array) -> tuple[int, ...]:
        return tuple(x.shape)

    @staticmethod
    def read(variable: Handle) -> Array:
        value = variable.value
        return value.copy() if type(value) is np.ndarray else value

    @staticmethod
    def assign(variable: Handle, value: Array) -> None:
        NumpyOps.assign(variable.state.view(variable), plain(value))

    @staticmethod
    def assign_add(variable: Handle, value: Array) -> None:
        NumpyOps.assign_add(variable.state.view(variable), plain(value))

    @staticmethod
    def scatter_update(variable: Handle, indices: Array, values: Array) -> None:
        NumpyOps.scatter_update(
            variable.state.view(variable), plain(indices), plain(values)
        )

    @staticmethod
    def scatter_add(variable: Handle, indices: Array, values: Array) -> None:
        NumpyOps.scatter_add(
            variable.state.view(variable), plain(indices), plain(values)
        )


#: Types of arguments that are not plain arrays, or may hold others.
SPECIAL = frozenset({ArrayBox, VariableHandle, list, tuple})


def chosen(
    of_arrays: Callable[..., Any], of_boxes: Callable[..., Any] | None
) -> Callable[..., Any]:
    """An operation that looks at its arguments; where they are arrays, that costs no call."""

    def run(*args: Any, **kwargs: Any) -> Any:
        for argument in args:
            if type(argument) in SPECIAL:
                return look(args, kwargs)
        return of_arrays(*args, **kwargs)

    def look(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        values = value_of(args)
        boxed = any(type(leaf) is ArrayBox for leaf in leaves_of(values))
        if of_boxes is not None and boxed:
            return of_boxes(*values, **kwargs)
        return of_arrays(*plain(values), **kwargs)

    return run
