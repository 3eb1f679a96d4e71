"""The optimizers against those of `torch.optim`, over 200 steps in float64."""

import numpy as np
import pytest
import torch

from rlgraph.components import SGD, Adadelta, Adagrad, Adam, AdamW, Nadam, RMSProp
from rlgraph.core import GraphExecutor
from rlgraph.testing.conformance.gradients import REGRESSION_SPACES, Regression

CASES = {
    "adadelta": (Adadelta(0.5, rho=0.9), torch.optim.Adadelta, {"lr": 0.5, "rho": 0.9}),
    "adagrad": (
        Adagrad(0.05, initial_accumulator_value=0.1),
        torch.optim.Adagrad,
        {"lr": 0.05, "initial_accumulator_value": 0.1},
    ),
    "adam": (Adam(0.01), torch.optim.Adam, {"lr": 0.01}),
    "adamw": (AdamW(0.01, weight_decay=0.1), torch.optim.AdamW, {"lr": 0.01, "weight_decay": 0.1}),
    "nadam": (Nadam(0.01), torch.optim.NAdam, {"lr": 0.01}),
    "rmsprop": (RMSProp(0.01), torch.optim.RMSprop, {"lr": 0.01}),
    "rmsprop_centered": (
        RMSProp(0.01, momentum=0.5, centered=True, epsilon=1e-3),
        torch.optim.RMSprop,
        {"lr": 0.01, "momentum": 0.5, "centered": True, "eps": 1e-3},
    ),
    "sgd": (SGD(0.05), torch.optim.SGD, {"lr": 0.05}),
    "sgd_momentum": (SGD(0.02, momentum=0.9), torch.optim.SGD, {"lr": 0.02, "momentum": 0.9}),
    "sgd_nesterov": (
        SGD(0.02, momentum=0.9, nesterov=True),
        torch.optim.SGD,
        {"lr": 0.02, "momentum": 0.9, "nesterov": True},
    ),
}
LAYERS = [
    {"type": "dense", "units": 4, "activation": "tanh", "scope": "a"},
    {"type": "dense", "units": 2, "scope": "b"},
]


@pytest.mark.parametrize("piece", [5, 65536])
@pytest.mark.parametrize("name", CASES)
def test_two_hundred_steps(name, piece, monkeypatch):
    """The 26 numbers are one block; long blocks are stepped piece by piece."""
    monkeypatch.setattr("rlgraph.torch.optimizers.PIECE", piece)
    optimizer, kind, options = CASES[name]
    made = GraphExecutor(
        Regression(optimizer.copy(), LAYERS),
        REGRESSION_SPACES,
        backend="torch",
        execution_spec={"dtype": "float64"},
    )
    start = made.get_weights(trainable_only=True)
    w = {key: torch.tensor(value, requires_grad=True) for key, value in start.items()}
    theirs = kind(list(w.values()), **options)
    rng = np.random.default_rng(0)
    for _ in range(200):
        x, y = rng.normal(size=(5, 3)), rng.normal(size=(5, 2))
        made.execute("update", x, y)
        bias_a, weights_a, bias_b, weights_b = w.values()
        outputs = torch.tanh(torch.tensor(x) @ weights_a + bias_a) @ weights_b + bias_b
        theirs.zero_grad()
        ((outputs - torch.tensor(y)) ** 2).mean().backward()
        theirs.step()
    for key, value in made.get_weights(trainable_only=True).items():
        np.testing.assert_allclose(value, w[key].detach().numpy(), rtol=0, atol=1e-6, err_msg=key)
        assert np.abs(value - start[key]).max() > 1e-3
