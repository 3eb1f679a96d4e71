"""The public table of cases."""

import subprocess
import sys

import numpy as np
import pytest

from rlgraph.core.ops import SymbolicDim, SymbolicTensor, TensorSpec
from rlgraph.testing.operations import SIZES, Ascending, Call, concrete, symbolic

B, T = SymbolicDim.symbol("B"), SymbolicDim.symbol("T")


def test_a_call_becomes_concrete():
    call = Call([[TensorSpec((B, T + 1), "float32", 0.5, 1.0)], None, "a"], {"shape": (B * T, 2)})
    made = concrete(call, {"B": 4, "T": 5}, np.random.default_rng(0))
    ((array,), nothing, text) = made.args
    assert (array.shape, array.dtype, nothing, text) == ((4, 6), np.float32, None, "a")
    assert 0.5 <= array.min() < array.max() <= 1.0
    assert made.kwargs == {"shape": (20, 2)}


@pytest.mark.parametrize(
    ("spec", "low", "high"),
    [
        (TensorSpec((500,), "int64", 2, 5), 2, 4),
        (TensorSpec((500,), "int32", -2), -2, 5),
        (TensorSpec((500,), "int32", 7), 7, 7),
        (TensorSpec((500,), "uint8", 0, 3), 0, 2),
    ],
)
def test_integers_fill_their_bounds(spec, low, high):
    array = concrete(spec, {}, np.random.default_rng(0))
    assert (array.min(), array.max(), array.dtype) == (low, high, spec.dtype)


def test_floats_keep_to_their_bounds():
    for low, high in ((None, None), (4.0, None), (None, -5.0), (-1.0, 1.0), (2.0, 2.0)):
        array = concrete(TensorSpec((50,), "float64", low, high), {}, np.random.default_rng(0))
        assert low is None or array.min() >= low
        assert high is None or array.max() <= high


def test_ascending_tensors():
    array = concrete(Ascending((2, 50), "float64"), {}, np.random.default_rng(0))
    assert np.all(np.diff(array) > 0)


def test_a_call_becomes_symbolic():
    call = symbolic(Call([[TensorSpec((B,), "float32")], 2], {"axis": 0}))
    assert isinstance(call.args[0][0], SymbolicTensor)
    assert (call.args[1], call.kwargs) == (2, {"axis": 0})


def test_indices_below_three_are_always_inside():
    assert min(size for sizes in SIZES for size in sizes.values()) == 3


def test_without_hypothesis_it_says_what_to_install():
    program = "import sys; sys.modules['hypothesis'] = None; import rlgraph.testing; import rlgraph.testing.operations"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "rlgraph.testing.operations needs hypothesis: pip install 'rlgraph-core[testing]'" in run.stderr
