"""What an argument takes, in words."""

from typing import Any

import pytest

from rlgraph.components import (
    Adam,
    BatchApply,
    Beta,
    Dense,
    IMPALALoss,
    PPOLoss,
    Stack,
    SupervisedModel,
    SupervisedPredictor,
    Synchronizer,
    ValueFunction,
)
from rlgraph.core.specs.argument_descriptions import expected_values
from rlgraph.core.specs.parameters import descriptions_of, parameters_of


@pytest.mark.parametrize(
    ("kind", "name", "words"),
    [
        (Adam, "beta1", "a number in [0, 1)"),
        (Adam, "clip_grad_norm", "a number or null"),
        (Adam, "learning_rate", "a number or a schedule"),
        (Adam, "non_finite", 'one of "ignore", "skip", "error"'),
        (BatchApply, "sub_component", "a component or its spec"),
        (Beta, "low", "a number or a list of numbers"),
        (Dense, "biases_spec", "an initializer or false"),
        (Dense, "units", "an integer"),
        (Dense, "weights_spec", "an initializer"),
        (IMPALALoss, "reward_clipping", 'one of "clamp_one", "soft_asymmetric" or null'),
        (PPOLoss, "value_function_clipping", "a number or a schedule or null"),
        (Stack, "api_methods", "a list"),
        (SupervisedModel, "loss_spec", "a component or its spec or null"),
        (SupervisedPredictor, "label_space", "a Space or null"),
        (Synchronizer, "tau", "a number in (0, 1]"),
        (ValueFunction, "network_spec", "a network, its spec or a list of layers"),
    ],
)
def test_words(kind, name, words):
    parameter = parameters_of(kind).named[name]
    assert expected_values(parameter, descriptions_of(kind)[name]) == words


class Plain:
    """Nothing is known of its argument.

    Args:
        thing: whatever.
    """

    def __init__(self, thing: Any, other: Any = None):
        pass


def test_what_says_nothing_takes_any_value():
    parameters = parameters_of(Plain).named
    assert expected_values(parameters["thing"], "whatever.") == "any value"
    assert expected_values(parameters["other"], "") == "any value"
