"""Cases of the operations that fold axes away or work along one."""

from __future__ import annotations

from hypothesis import strategies as st

from rlgraph.core.ops import TensorSpec
from rlgraph.testing.operations.calls import Call
from rlgraph.testing.operations.cases import Cases
from rlgraph.testing.operations.strategies import (
    ANY,
    FLOATS,
    NUMBERS,
    along_axis,
    axes_of,
    reductions,
    tensors,
)


@st.composite
def _variances(draw: st.DrawFn) -> Call:
    """The axes hold at least two elements, so that no correction divides by zero."""
    call = draw(reductions(FLOATS))
    axis, x = call.kwargs["axis"], call.args[0]
    shape = tuple(2 if size == 1 else size for size in (*x.shape, *([] if x.shape else [2])))
    axis = axis if x.shape else draw(st.sampled_from([None, 0]))
    options = {"axis": axis, "keepdims": call.kwargs["keepdims"], "correction": draw(st.integers(0, 1))}
    return Call([x.with_shape(shape)], options)


@st.composite
def _recurrences(draw: st.DrawFn) -> Call:
    x = draw(tensors(FLOATS, min_rank=1))
    axis = draw(axes_of(len(x.shape)))
    position = axis % len(x.shape)
    shape = tuple(
        1 if draw(st.booleans()) else size for size in x.shape[draw(st.integers(0, len(x.shape))) :]
    )
    d = draw(st.sampled_from([0.5, -0.9, 1]) | tensors([x.dtype], shape))
    rest = (*x.shape[:position], *x.shape[position + 1 :])
    initial = draw(st.none() | tensors([x.dtype], rest))
    return Call([x, d, initial], {"reverse": draw(st.booleans()), "axis": axis})


_X, _LARGE = TensorSpec((3, 2), "float32"), TensorSpec((4, 3), "float32", -1e4, 1e4)
#: Axes from the back, one and several.
_BACK = tuple(
    Call([TensorSpec((2, 3, 4), "float32")], {"axis": axis}) for axis in (None, -1, (-1, 0), (-2, -1))
)
#: From either end, with a first value, along every axis; `d` per element and the same for all.
_FROM_INITIAL = tuple(
    Call([_X, d, TensorSpec((size,), "float32")], {"reverse": reverse, "axis": axis})
    for axis, size in ((0, 2), (1, 3))
    for d, reverse in ((_X, False), (_X, True), (0.5, True))
)

CASES = {
    "all": Cases(reductions(["bool"]), differentiable=False),
    "any": Cases(reductions(["bool"]), differentiable=False),
    "argmax": Cases(along_axis(NUMBERS, optional=False), differentiable=False),
    "argmin": Cases(along_axis(NUMBERS, optional=False), differentiable=False),
    "count_nonzero": Cases(reductions(ANY), differentiable=False),
    "cumulative_prod": Cases(along_axis(FLOATS, optional=False), domain=(0.5, 2.0), epsilons=512.0),
    "cumulative_sum": Cases(along_axis(NUMBERS, optional=False), epsilons=256.0),
    "linear_recurrence": Cases(_recurrences(), domain=(-1.0, 1.0), epsilons=4096.0, always=_FROM_INITIAL),
    "log_softmax": Cases(along_axis(FLOATS), always=(Call([_LARGE]),)),
    "logsumexp": Cases(reductions(FLOATS), always=(Call([_LARGE], {"axis": -1}),)),
    "max": Cases(reductions(NUMBERS), always=_BACK),
    "mean": Cases(reductions(FLOATS), always=_BACK),
    "min": Cases(reductions(NUMBERS), always=_BACK),
    "prod": Cases(reductions(NUMBERS), domain=(0.5, 1.5), epsilons=1024.0),
    "softmax": Cases(along_axis(FLOATS), always=(Call([_LARGE]),)),
    "std": Cases(_variances(), epsilons=256.0),
    "sum": Cases(reductions(NUMBERS), epsilons=512.0, always=_BACK),
    "var": Cases(_variances(), epsilons=256.0),
}
