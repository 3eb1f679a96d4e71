"""Steps that users hand to `observe`."""

import numpy as np
import pytest

from rlgraph.core import InputError
from rlgraph.experience.step_reader import StepReader
from rlgraph.spaces import Dict, FloatBox, IntBox


def test_actions_beyond_their_bounds_are_named():
    states, low, high = FloatBox(shape=(1,)), np.float32(-0.3), np.float32(0.7)
    reader = StepReader(states, states, FloatBox(low, high), "float32")
    given = {"states": np.full((3, 1), 9.0), "actions": np.array([-0.3, 0.7, 0.1]), "rewards": np.zeros(3)}
    reader.columns(given, batched=True)
    # As a policy scales its greatest action, which rounds up here.
    greatest = np.nextafter(high, np.float32(1))
    reader.columns({**given, "actions": np.array([low, high, greatest])}, batched=True)
    with pytest.raises(InputError, match="the action in row 2, 0.71, is not in"):
        reader.columns({**given, "actions": np.array([-0.3, 0.7, 0.71])}, batched=True)
    half = StepReader(states, states, FloatBox(0.0, None), "float32")
    half.columns({**given, "actions": np.array([0.0, 1e9, 0.1])}, batched=True)
    with pytest.raises(InputError, match="the action in row 0, -0.01, is not in"):
        half.columns({**given, "actions": np.array([-0.01, 1e9, 0.1])}, batched=True)


def test_other_shapes_are_named():
    states = Dict({"x": FloatBox(shape=(3,))})
    given = {"states": {"x": np.zeros((2, 3))}, "actions": np.zeros(2, int), "rewards": np.zeros(2)}
    reader = StepReader(states, states, IntBox(2), "float32")
    assert reader.columns(given, batched=True)["rewards"].shape == (2,)
    wrong, said = {"x": np.zeros((2, 4))}, r"argument {}\.x: expected float32\[B, 3\], given float64\[2, 4\]"
    with pytest.raises(InputError, match=said.format("states")):
        reader.columns({**given, "states": wrong}, batched=True)
    with pytest.raises(InputError, match=said.format("next_states")):
        reader.convert("observe", "next_states", wrong, states)
