"""Rewrites operations that inductor compiles to slow code.

**Products.** A matrix product is a call of BLAS. A product with a short axis (a layer with four inputs or two actions)
costs as much there as one sixteen times its size. Written as multiplications and a sum, it becomes a loop that inductor
fuses with its neighbours.

**Biases.** BLAS adds them in one more pass over the result; added separately, they are part of the activation's loop.

**Repetitions.** Inductor inlines the computation of a tensor into the loops that use it, also where a larger tensor
repeats its elements: a number in all of them, a target of 50 quantiles in 50 rows. The compiler cannot hoist it, since
the loop might write to its source: it would compute powers, roots and greatest elements again for every eight elements.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.fx import GraphModule, Node

aten = torch.ops.aten

#: Maximum length of a short axis; if it is that of the rows, BLAS is faster from this number of multiplications on.
SHORT, LARGE = 8, 65536

#: A tensor is stored if it is used for another one with this many times its elements, or more.
REPEATED = 8

#: The rational function with the least relative error, 7e-9, up to `_FAR`, where the tangent is 1 but for two roundings
#: (by reweighted least squares). Up to 9 or so, where it is 1, the function would be larger than 1 at times.
_FAR = 8.0
_NUMERATOR = (0.999999994, 0.134445049, 0.00357160624, 2.18947973e-05, 1.52306069e-08)
_DENOMINATOR = (1.0, 0.467778322, 0.0261644742, 0.000341130545, 8.52252363e-07)


def product(a: Tensor, b: Tensor) -> Tensor:
    """`aten.mm` if it has a short axis; else left to BLAS."""
    (rows, inner), columns = a.shape, b.shape[1]
    if min(rows, inner, columns) > SHORT or not a.is_floating_point():
        return NotImplemented
    if inner <= SHORT:
        return _by_columns(a, b if _is_in_rows(b) else _stored(b))
    if columns <= SHORT and _is_in_rows(a):
        return _by_rows(a, b)
    if rows * inner * columns > LARGE:
        return NotImplemented
    if columns <= SHORT:
        return _by_columns(b.t(), a.t()).t().contiguous()
    return _by_columns(a, b) if _is_in_rows(b) else _by_rows(b.t(), a.t()).t().contiguous()


def affine(biases: Tensor, a: Tensor, b: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """`aten.addmm` with a separate addition of the biases."""
    if beta != 1 or alpha != 1:
        return NotImplemented
    # With another axis, since inductor would merge the two again.
    return (torch.mm(a, b).unsqueeze(0) + biases).squeeze(0)


def hyperbolic_tangent(x: Tensor) -> Tensor:
    """`aten.tanh` of single precision by a rational function, x P(x^2) / Q(x^2).

    The difference to `torch.tanh` is below 5e-7 of the result; compiled it takes a fraction of the time.
    """
    if x.dtype != torch.float32:
        return NotImplemented
    near = torch.clamp(x, -_FAR, _FAR)
    square = near * near
    return near * _polynomial(square, _NUMERATOR) / _polynomial(square, _DENOMINATOR)


def _polynomial(x: Tensor, coefficients: tuple[float, ...]) -> Tensor:
    """By Horner's rule, the constant first."""
    *lower, highest = coefficients
    value = x * highest + lower.pop()
    while lower:
        value = value * x + lower.pop()
    return value


#: Operation -> its replacement, which returns NotImplemented to keep the operation.
DECOMPOSITIONS: dict[Any, Callable[..., Tensor]] = {
    aten.mm.default: product,
    aten.addmm.default: affine,
    aten.tanh.default: hyperbolic_tangent,
}


def _is_in_rows(x: Tensor) -> bool:
    return x.stride(1) == 1


def _by_columns(a: Tensor, b: Tensor) -> Tensor:
    """The inner loop goes along the rows of `b`."""
    return (a.unsqueeze(2) * b.unsqueeze(0)).sum(1)


def _by_rows(a: Tensor, b: Tensor) -> Tensor:
    """The inner loop goes along the rows of `a` and the columns of `b`, which are few."""
    return (a.unsqueeze(1) * _stored(b.t()).unsqueeze(0)).sum(2)


def _stored(x: Tensor) -> Tensor:
    """A row-major copy that is materialized, since a strided view needs memory."""
    copy = x.clone(memory_format=torch.contiguous_format)
    return torch.as_strided(copy, copy.shape, copy.stride())


def store_repeated(module: GraphModule) -> None:
    """Materialize what tensors are computed from that repeat its elements, if it is one number or they do so often."""
    graph = module.graph
    for node in list(graph.nodes):
        if not _is_inlined(node):
            continue
        value = node.meta["val"]
        often = 1 if value.numel() == 1 else REPEATED * value.numel() - 1
        repeating = [user for user in node.users if _most_elements(user) > often]
        if not repeating:
            continue
        with graph.inserting_after(node):
            stored = graph.call_function(
                aten.as_strided.default, (node, list(value.shape), list(value.stride()))
            )
        stored.meta = dict(node.meta)
        for user in repeating:
            user.replace_input_with(node, stored)
    module.recompile()


def _is_inlined(node: Node) -> bool:
    """Whether inductor may compute it where it is used; what is written in place has its memory already."""
    if node.target in (aten.gather.default, aten.cat.default):
        return True
    return _is_pointwise(node) and not node.target._schema.is_mutable  # type: ignore[union-attr]


def _is_pointwise(node: Node) -> bool:
    target = node.target
    return (
        isinstance(target, torch._ops.OpOverload)
        and torch.Tag.pointwise in target.tags
        and isinstance(node.meta.get("val"), Tensor)
    )


def _most_elements(user: Node) -> int:
    """Of the tensors that are computed element by element from this one, or from a view of it."""
    if user.target is aten.as_strided.default:
        return 0  # it is stored
    if isinstance(user.target, torch._ops.OpOverload) and user.target.is_view:
        return max(map(_most_elements, user.users), default=0)
    return user.meta["val"].numel() if _is_pointwise(user) else 0
