"""Which layers know training, and which only pass it on."""

import pytest

from rlgraph.components import BatchApply, Dense, Dropout, NeuralNetwork, NoisyDense, Stack
from rlgraph.components.common.time_folding import TimeFolding
from rlgraph.components.layers.training_layers import has_only_noise, knows_training
from rlgraph.core import rlgraph_api

NOISY = {"type": "noisy_dense", "units": 2}


class FoldedDropout(TimeFolding):
    @rlgraph_api
    def call(self, inputs, training=None):
        return inputs


class Wrapper(FoldedDropout):
    passes_training_on = True


@pytest.mark.parametrize(
    ("kind", "knows"),
    [
        (Dropout, True),
        (NoisyDense, True),
        (FoldedDropout, True),
        (Dense, False),
        (NeuralNetwork, False),
        (Stack, False),
        (BatchApply, False),
        (Wrapper, False),
    ],
)
def test_who_knows(kind, knows):
    assert knows_training(kind) == knows


def test_only_noise():
    assert has_only_noise(NeuralNetwork([NOISY, {"type": "dense", "units": 2}]))
    assert not has_only_noise(NeuralNetwork([{"type": "dense", "units": 2}]))
    assert not has_only_noise(NeuralNetwork([NOISY, {"type": "dropout", "rate": 0.5}]))
    assert not has_only_noise(NeuralNetwork([NOISY, FoldedDropout(scope="own")]))
