"""PyTorch's own functions as activations of layers."""

import pytest
import torch
import torch.nn.functional as F

from rlgraph.components import Dense
from rlgraph.core import GraphExecutor, SpecError
from rlgraph.spaces import FloatBox

X = torch.linspace(-3.0, 3.0, 8).reshape(4, 2)
NAMED = [
    torch.relu,
    torch.tanh,
    torch.sigmoid,
    torch.selu,
    F.relu,
    F.elu,
    F.gelu,
    F.silu,
    F.softplus,
    F.logsigmoid,
]


@pytest.mark.parametrize("function", NAMED)
@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_functions_of_a_name(function, backend):
    layer = Dense(2, activation=function, weights_spec=[[1.0, 0.0], [0.0, 1.0]])
    executor = GraphExecutor(layer, {"inputs": FloatBox(shape=(2,), add_batch_rank=True)}, backend=backend)
    given = torch.as_tensor(executor.execute("call", X.numpy()))
    torch.testing.assert_close(given, function(X), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("function", [F.leaky_relu, torch.exp, torch.nn.Tanh, torch.nn.Tanh(), torch.add])
def test_others_are_refused(function):
    with pytest.raises(
        SpecError, match="dense.activation: expected the name of an activation, or a function of ops"
    ):
        Dense(2, activation=function)
