"""Cases of the operations that rearrange elements."""

from __future__ import annotations

from hypothesis import strategies as st

from rlgraph.core.ops.elementwise import broadcast_shapes
from rlgraph.testing.operations.calls import Call
from rlgraph.testing.operations.cases import Cases
from rlgraph.testing.operations.strategies import ANY, DIMS, axes_of, broadcastable, scalars, tensors


@st.composite
def _reshapes(draw: st.DrawFn) -> Call:
    x = draw(tensors(ANY, min_rank=1))
    shape = list(x.shape)
    for _ in range(draw(st.integers(0, 2))):  # merge neighbours
        if len(shape) > 1:
            i = draw(st.integers(0, len(shape) - 2))
            shape[i : i + 2] = [shape[i] * shape[i + 1]]
    if draw(st.booleans()):
        shape.insert(draw(st.integers(0, len(shape))), 1)
    if draw(st.booleans()):
        shape[draw(st.integers(0, len(shape) - 1))] = -1
    return Call([x], {"shape": tuple(shape)})


@st.composite
def _expands(draw: st.DrawFn) -> Call:
    x = draw(tensors(ANY))
    return Call([x], {"axis": draw(axes_of(len(x.shape), new=True))})


@st.composite
def _squeezes(draw: st.DrawFn) -> Call:
    x = draw(tensors(ANY))
    axis = draw(st.integers(0, len(x.shape)))
    x = x.with_shape((*x.shape[:axis], 1, *x.shape[axis:]))
    return Call([x], {"axis": draw(st.sampled_from([axis, axis - len(x.shape)]))})


@st.composite
def _permutations(draw: st.DrawFn) -> Call:
    x = draw(tensors(ANY))
    return Call([x], {"axes": tuple(draw(st.permutations(range(len(x.shape)))))})


@st.composite
def _broadcasts(draw: st.DrawFn) -> Call:
    one, other = draw(broadcastable(2))
    return Call([draw(tensors(ANY, one))], {"shape": broadcast_shapes(one, other)})


@st.composite
def _concats(draw: st.DrawFn) -> Call:
    first = draw(tensors(ANY, min_rank=1))
    axis = draw(axes_of(len(first.shape)))
    parts = [first]
    for _ in range(draw(st.integers(0, 2))):
        shape = list(first.shape)
        shape[axis] = draw(DIMS)
        parts.append(draw(tensors([first.dtype], tuple(shape))))
    return Call([parts], {"axis": axis})


@st.composite
def _stacks(draw: st.DrawFn) -> Call:
    first = draw(tensors(ANY))
    parts = [first] + [draw(tensors([first.dtype], first.shape)) for _ in range(draw(st.integers(0, 2)))]
    return Call([parts], {"axis": draw(axes_of(len(first.shape), new=True))})


@st.composite
def _moves(draw: st.DrawFn) -> Call:
    x = draw(tensors(ANY, min_rank=1))
    axes = axes_of(len(x.shape))
    return Call([x], {"source": draw(axes), "destination": draw(axes)})


@st.composite
def _flattens(draw: st.DrawFn) -> Call:
    x = draw(tensors(ANY, min_rank=1))
    return Call([x], draw(st.just({}) | axes_of(len(x.shape)).map(lambda axis: {"start_axis": axis})))


@st.composite
def _splits(draw: st.DrawFn) -> Call:
    """The whole is the sum of the drawn parts."""
    x = draw(tensors(ANY, min_rank=1))
    axis = draw(axes_of(len(x.shape)))
    sizes = draw(st.lists(DIMS, min_size=1, max_size=3))
    shape = list(x.shape)
    shape[axis] = sum(sizes[1:], start=sizes[0])
    return Call([x.with_shape(tuple(shape)), sizes], {"axis": axis})


@st.composite
def _unstacks(draw: st.DrawFn) -> Call:
    x = draw(tensors(ANY, min_rank=1))
    axis = draw(axes_of(len(x.shape)))
    shape = list(x.shape)
    shape[axis] = draw(st.integers(1, 3))
    return Call([x.with_shape(tuple(shape))], {"axis": axis})


@st.composite
def _flips(draw: st.DrawFn) -> Call:
    x = draw(tensors(ANY, min_rank=1))
    several = st.lists(st.integers(0, len(x.shape) - 1), min_size=1, unique=True).map(tuple)
    return Call([x], {"axis": draw(st.none() | axes_of(len(x.shape)) | several)})


@st.composite
def _rolls(draw: st.DrawFn) -> Call:
    x = draw(tensors(ANY, min_rank=1))
    return Call([x], {"shift": draw(st.integers(-4, 4)), "axis": draw(axes_of(len(x.shape)))})


@st.composite
def _tiles(draw: st.DrawFn) -> Call:
    x = draw(tensors(ANY))
    return Call([x], {"repetitions": tuple(draw(DIMS) for _ in x.shape)})


@st.composite
def _repeats(draw: st.DrawFn) -> Call:
    x = draw(tensors(ANY, min_rank=1))
    return Call([x], {"repeats": draw(st.integers(0, 3)), "axis": draw(axes_of(len(x.shape)))})


@st.composite
def _pads(draw: st.DrawFn) -> Call:
    x = draw(tensors(ANY))
    counts = st.integers(0, 2)
    padding = tuple((draw(counts), draw(counts)) for _ in x.shape)
    value = draw(scalars(x.dtype))
    return Call([x, padding], {} if draw(st.booleans()) else {"value": value})


@st.composite
def _triangles(draw: st.DrawFn) -> Call:
    x = draw(tensors(ANY, min_rank=2))
    return Call([x], draw(st.sampled_from([{}, {"k": 1}, {"k": -1}, {"k": 3}, {"k": -4}])))


CASES = {
    "broadcast_to": Cases(_broadcasts()),
    "concat": Cases(_concats()),
    "expand_dims": Cases(_expands()),
    "flatten": Cases(_flattens()),
    "flip": Cases(_flips()),
    "moveaxis": Cases(_moves()),
    "pad": Cases(_pads()),
    "permute_dims": Cases(_permutations()),
    "repeat": Cases(_repeats()),
    "reshape": Cases(_reshapes()),
    "roll": Cases(_rolls()),
    "split": Cases(_splits()),
    "squeeze": Cases(_squeezes()),
    "stack": Cases(_stacks()),
    "tile": Cases(_tiles()),
    "tril": Cases(_triangles()),
    "triu": Cases(_triangles()),
    "unstack": Cases(_unstacks()),
}
