"""Probabilities of logits."""

import math

import numpy as np

from rlgraph.components import Softmax
from rlgraph.spaces import Dict, FloatBox
from rlgraph.testing import ComponentTest


def test_by_hand(backend):
    logits = np.array([[0.0, math.log(3.0)], [100.0, 0.0]], np.float32)
    test = ComponentTest(Softmax(), {"logits": FloatBox(shape=(2,), add_batch_rank=True)}, backend=backend)
    # e**-100 is raised to the smallest probability; its logarithm is not.
    expected = ([[0.25, 0.75], [1.0, 1e-6]], [[math.log(0.25), math.log(0.75)], [0.0, -100.0]])
    test.test(("softmax", logits), expected_outputs=expected, decimals=5)


def test_parts(backend):
    space = Dict(a=FloatBox(shape=(2,)), b=FloatBox(shape=(3, 2)), add_batch_rank=True)
    zeros = {"a": np.zeros((1, 2), np.float32), "b": np.zeros((1, 3, 2), np.float32)}
    test = ComponentTest(Softmax(), {"logits": space}, backend=backend)
    test.test(
        ("softmax", [zeros]),
        which=0,
        expected_outputs={"a": np.full((1, 2), 0.5), "b": np.full((1, 3, 2), 0.5)},
    )
