"""Steps that users hand to `observe`."""

import numpy as np
import pytest

from rlgraph.agents.step_reader import StepReader
from rlgraph.core import InputError
from rlgraph.spaces import Dict, FloatBox, IntBox


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
