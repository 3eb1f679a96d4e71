"""Steps that users hand to `observe`."""

import numpy as np
import pytest

from rlgraph.agents.step_reading import StepReader
from rlgraph.core import InputError
from rlgraph.spaces import Dict, FloatBox, IntBox


@pytest.mark.parametrize("name", ["states", "next_states"])
def test_other_shapes_are_named(name):
    states = Dict({"x": FloatBox(shape=(3,))})
    given = {"states": {"x": np.zeros((2, 3))}, "actions": np.zeros(2, int), "rewards": np.zeros(2)}
    reader = StepReader(states, states, IntBox(2), "float32")
    assert reader.columns(given, batched=True)["rewards"].shape == (2,)
    with pytest.raises(
        InputError, match=rf"argument {name}/x: expected shape \[3\] in each row, given \[4\]"
    ):
        reader.columns({**given, name: {"x": np.zeros((2, 4))}}, batched=True)
