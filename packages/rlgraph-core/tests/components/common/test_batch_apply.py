"""Time folded into the batch."""

import numpy as np
import pytest

from rlgraph.components import BatchApply
from rlgraph.core import Component, SpecError, graph_fn, rlgraph_api
from rlgraph.spaces import Dict, FloatBox, SpaceError, Tuple
from rlgraph.testing import ComponentTest, assert_nested_close


class Doubled(Component):
    """Knows no time: it takes and gives a batch, of parts if it is given parts."""

    @rlgraph_api
    @graph_fn(flatten_ops=True, split_ops=True)
    def call(self, ops, inputs):
        return 2.0 * inputs

    @rlgraph_api(returns=2)
    def both(self, inputs):
        return self._call(inputs), self._sum(inputs)

    @graph_fn
    def _sum(self, ops, inputs):
        return ops.sum(inputs, axis=-1)


SEQUENCES = FloatBox(shape=(2,), add_batch_rank=True, add_time_rank=True)
X = np.arange(12.0, dtype=np.float32).reshape(3, 2, 2)


@pytest.mark.parametrize("time_major", [False, True])
def test_the_order_of_batch_and_time_stays(backend, time_major):
    space = FloatBox(shape=(2,), add_batch_rank=True, add_time_rank=True, time_major=time_major)
    ComponentTest(BatchApply(Doubled()), {"inputs": space}, backend=backend).test(
        ("call", X), expected_outputs=2 * X
    )


def test_containers_and_several_results(backend):
    parts = {"a": X, "b": X[..., 0]}
    space = Dict(a=FloatBox(shape=(2,)), b=float, add_batch_rank=True, add_time_rank=True)
    ComponentTest(BatchApply(Doubled()), {"inputs": space}, backend=backend).test(
        ("call", [parts]), expected_outputs={"a": 2 * X, "b": 2 * X[..., 0]}
    )
    pair = Tuple(space["a"], space["b"])
    doubled = ComponentTest(BatchApply(Doubled()), {"inputs": pair}, backend=backend).test(
        ("call", [(X, X[..., 0])])
    )
    assert isinstance(doubled, tuple)
    assert_nested_close(doubled, (2 * X, 2 * X[..., 0]))
    two = ComponentTest(BatchApply(Doubled(), "both"), {"inputs": SEQUENCES}, backend=backend)
    two.test(("call", X), expected_outputs=(2 * X, X.sum(-1)))


def test_a_convolution_over_sequences_of_images(backend):
    """As the convolution of each image alone."""
    layer = {"type": "conv2d", "filters": 2, "kernel_size": 2, "scope": "conv"}
    images = np.random.default_rng(0).normal(size=(2, 3, 4, 4, 1)).astype(np.float32)
    sequence = FloatBox(shape=(4, 4, 1), add_batch_rank=True, add_time_rank=True)
    applied = ComponentTest(BatchApply(layer), {"inputs": sequence}, backend=backend)
    alone = ComponentTest(
        Component.from_spec(layer), {"inputs": sequence.with_time_rank(False)}, backend=backend
    )
    applied.executor.set_weights(alone.executor.get_weights())
    expected = np.stack([alone.executor.execute("call", images[i]) for i in range(2)])
    applied.test(("call", images), expected_outputs=expected, decimals=5)


def test_mistakes():
    with pytest.raises(
        SpecError, match=r"batch-apply.api_method_name: dense has no API method 'cal'.*'call'"
    ):
        BatchApply({"type": "dense", "units": 2}, "cal")
    with pytest.raises(SpaceError, match="inputs need batch and time rank.*without a time rank call"):
        ComponentTest(BatchApply(Doubled()), {"inputs": SEQUENCES.with_time_rank(False)}, backend="numpy")
