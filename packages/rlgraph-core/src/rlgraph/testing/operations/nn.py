"""Cases of activations, normalisation, convolution and pooling."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from rlgraph.core.ops import TensorSpec
from rlgraph.testing.operations.calls import Call
from rlgraph.testing.operations.cases import Cases
from rlgraph.testing.operations.strategies import DIMS, FLOATS, tensors, unary

_PAIRS: st.SearchStrategy[Any] = st.integers(1, 3) | st.tuples(st.integers(1, 3), st.integers(1, 3))
_PADDINGS = st.sampled_from(["valid", "same"])


@st.composite
def _leaky(draw: st.DrawFn) -> Call:
    return Call([draw(tensors(FLOATS))], draw(st.sampled_from([{}, {"slope": 0.25}])))


@st.composite
def _norms(draw: st.DrawFn) -> Call:
    """The last axis has two elements or more: the derivative of normalising a single one is 0 / 0 but for epsilon."""
    x = draw(tensors(FLOATS, min_rank=1))
    x = x.with_shape((*x.shape[:-1], draw(st.integers(2, 4))))
    weights = st.none() | tensors([x.dtype], x.shape[-1:])
    options = draw(st.sampled_from([{}, {"epsilon": 0.1}]))
    return Call([x, draw(weights), draw(weights)], options)


@st.composite
def _images(draw: st.DrawFn) -> TensorSpec:
    shape = (draw(DIMS), draw(st.integers(3, 7)), draw(st.integers(3, 7)), draw(st.integers(1, 3)))
    return draw(tensors(FLOATS, shape))


@st.composite
def _convolutions(draw: st.DrawFn, transposed: bool = False) -> Call:
    x = draw(_images())
    channels = [x.shape[3], draw(st.integers(1, 3))]
    window = (draw(st.integers(1, 3)), draw(st.integers(1, 3)))
    filters = draw(tensors([x.dtype], (*window, *(reversed(channels) if transposed else channels))))
    options = {} if draw(st.booleans()) else {"strides": draw(_PAIRS), "padding": draw(_PADDINGS)}
    return Call([x, filters], options)


@st.composite
def _pools(draw: st.DrawFn) -> Call:
    options = {} if draw(st.booleans()) else {"strides": draw(_PAIRS), "padding": draw(_PADDINGS)}
    return Call([draw(_images()), draw(_PAIRS)], options)


@st.composite
def _resizes(draw: st.DrawFn) -> Call:
    size = (draw(st.integers(1, 9)), draw(st.integers(1, 9)))
    method = draw(st.sampled_from([{}, {"method": "bilinear"}, {"method": "nearest"}, {"method": "area"}]))
    return Call([draw(_images()), size], method)


CASES = {
    "avg_pool2d": Cases(_pools()),
    "conv2d": Cases(_convolutions(), epsilons=1024.0),
    "conv2d_transpose": Cases(_convolutions(transposed=True), epsilons=1024.0),
    "elu": Cases(unary(*FLOATS)),
    "gelu": Cases(unary(*FLOATS)),
    "layer_norm": Cases(_norms(), epsilons=4096.0),
    "leaky_relu": Cases(_leaky()),
    "log_sigmoid": Cases(unary(*FLOATS)),
    "max_pool2d": Cases(_pools()),
    "relu": Cases(unary(*FLOATS)),
    "resize": Cases(_resizes(), epsilons=256.0),
    "selu": Cases(unary(*FLOATS)),
    "silu": Cases(unary(*FLOATS)),
    "softplus": Cases(unary(*FLOATS)),
    "softsign": Cases(unary(*FLOATS)),
}
