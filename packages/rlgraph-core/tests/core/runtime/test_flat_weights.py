"""Weights as flat arrays."""

import numpy as np
import pytest

from rlgraph.components import Policy
from rlgraph.core import GraphExecutor, InputError
from rlgraph.spaces import FloatBox, IntBox


@pytest.fixture
def executor():
    layers = [{"type": "dense", "units": 3}]
    states = FloatBox(shape=(2,), add_batch_rank=True)
    return GraphExecutor(
        Policy(layers, IntBox(2)), {"observations": states}, backend="numpy", api_methods=["get_action"]
    )


def test_values_are_copies_in_the_order_of_the_names_and_may_be_written_into_arrays_that_are_there(executor):
    flat = executor.flat_weights(["get_action"])
    first = flat.get()
    weights = executor.get_weights()
    expected = np.concatenate([weights[name].ravel() for name in sorted(weights)])
    np.testing.assert_array_equal(first["float32"], expected)
    assert flat.sizes == {"float32": 2 * 3 + 3 + 3 * 2 + 2}
    flat.set({"float32": expected + 1})
    np.testing.assert_array_equal(first["float32"], expected)
    again = flat.get(first)
    assert again["float32"] is first["float32"]
    np.testing.assert_array_equal(first["float32"], expected + 1)


def test_other_sizes_are_refused(executor):
    flat = executor.flat_weights(["get_action"])
    with pytest.raises(
        InputError, match=r"weights: expected \{'float32': 17\} elements, given \{'float32': 16\}"
    ):
        flat.set({"float32": np.zeros(16, np.float32)})
