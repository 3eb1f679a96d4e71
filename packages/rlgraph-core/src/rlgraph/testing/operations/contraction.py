"""Cases of the products that sum over a shared axis."""

from __future__ import annotations

from hypothesis import strategies as st

from rlgraph.testing.operations.calls import Call
from rlgraph.testing.operations.cases import Cases
from rlgraph.testing.operations.strategies import DIMS, FLOATS, axes_of, broadcastable, tensors


@st.composite
def _matmuls(draw: st.DrawFn) -> Call:
    lead_x, lead_y = draw(broadcastable(2))
    m, k, n = draw(DIMS), draw(DIMS), draw(DIMS)
    dtype = draw(st.sampled_from(FLOATS))
    return Call([draw(tensors([dtype], (*lead_x, m, k))), draw(tensors([dtype], (*lead_y, k, n)))])


@st.composite
def _linears(draw: st.DrawFn) -> Call:
    b, k, n = draw(DIMS), draw(DIMS), draw(DIMS)
    dtype = [draw(st.sampled_from(FLOATS))]
    args = [draw(tensors(dtype, (b, k))), draw(tensors(dtype, (k, n)))]
    if draw(st.booleans()):
        return Call([*args, draw(tensors(dtype, (n,)))])
    return Call(args + draw(st.sampled_from([[], [None]])))


@st.composite
def _outers(draw: st.DrawFn) -> Call:
    dtype = [draw(st.sampled_from(FLOATS))]
    return Call([draw(tensors(dtype, (draw(DIMS),))), draw(tensors(dtype, (draw(DIMS),)))])


@st.composite
def _vecdots(draw: st.DrawFn) -> Call:
    x = draw(tensors(FLOATS, min_rank=1))
    y = draw(tensors([x.dtype], x.shape))
    return Call([x, y], draw(st.just({}) | axes_of(len(x.shape)).map(lambda axis: {"axis": axis})))


@st.composite
def _einsums(draw: st.DrawFn) -> Call:
    """Two or three tensors with some of four letters each; the result has some of those in use, in any order."""
    sizes = {letter: draw(DIMS) for letter in "bijk"}
    terms = [
        draw(st.lists(st.sampled_from(sorted(sizes)), max_size=3, unique=True))
        for _ in range(draw(st.integers(2, 3)))
    ]
    used = sorted({letter for term in terms for letter in term})
    result = draw(st.lists(st.sampled_from(used), unique=True, max_size=3)) if used else []
    dtype = [draw(st.sampled_from(FLOATS))]
    operands = [draw(tensors(dtype, tuple(sizes[letter] for letter in term))) for term in terms]
    equation = ",".join("".join(term) for term in terms) + "->" + "".join(result)
    return Call([equation, *operands])


CASES = {
    "einsum": Cases(_einsums(), epsilons=4096.0),
    "linear": Cases(_linears(), epsilons=256.0),
    "matmul": Cases(_matmuls(), epsilons=256.0),
    "outer": Cases(_outers()),
    "vecdot": Cases(_vecdots(), epsilons=256.0),
}
