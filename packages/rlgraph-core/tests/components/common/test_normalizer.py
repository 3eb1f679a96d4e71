import numpy as np
import pytest

from rlgraph.components import Normalizer
from rlgraph.core import SpecError
from rlgraph.spaces import Dict, FloatBox, IntBox
from rlgraph.testing import ComponentTest

STATES = Dict(place=FloatBox(shape=(2,)), colour=IntBox(3), speed=FloatBox(), add_batch_rank=True)


def test_chosen_floats_are_shifted_scaled_and_limited(backend):
    test = ComponentTest(Normalizer(("place",), limit=3.0), {"inputs": STATES}, backend=backend)
    states = {
        "place": np.array([[12.0, 1.0], [8.0, 90.0]], np.float32),
        "colour": np.array([2, 0]),
        "speed": np.array([500.0, -500.0], np.float32),
    }
    at_first = {**states, "place": np.array([[3.0, 1.0], [3.0, 3.0]], np.float32)}
    test.test("normalize", states, expected_outputs=at_first)
    test.executor.set_weights({"normalizer/mean/place": [10.0, 0.0], "normalizer/scale/place": [0.5, 0.1]})
    after = {**states, "place": np.array([[1.0, 0.1], [-1.0, 3.0]], np.float32)}
    test.test("normalize", states, expected_outputs=after)


def test_without_a_mean_numbers_are_only_scaled():
    rewards = FloatBox(add_batch_rank=True)
    test = ComponentTest(Normalizer(has_mean=False), {"inputs": rewards}, backend="numpy")
    test.executor.set_weights({"normalizer/scale": np.float32(0.25)})
    test.test(
        "normalize", np.array([2.0, -100.0], np.float32), expected_outputs=np.array([0.5, -10.0], np.float32)
    )


def test_a_limit_is_above_0():
    with pytest.raises(SpecError, match="normalizer.limit"):
        Normalizer(limit=0.0)
