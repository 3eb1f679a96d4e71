"""Cases of the products that sum over a shared axis."""

from __future__ import annotations

from hypothesis import strategies as st

from rlgraph.testing.operations.calls import Call
from rlgraph.testing.operations.cases import Cases
from rlgraph.testing.operations.strategies import DIMS, FLOATS, broadcastable, tensors


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


CASES = {
    "linear": Cases(_linears(), epsilons=256.0),
    "matmul": Cases(_matmuls(), epsilons=256.0),
}
