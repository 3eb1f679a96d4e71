import copy

import pytest

from rlgraph.components import Dense, DQNLoss, NeuralNetwork
from rlgraph.core import Component, SpecError
from rlgraph.core.component.specifiable import check_arguments


def test_from_an_instance():
    layer = Dense(3)
    assert Component.from_spec(layer) is layer


def test_from_specs():
    spec = {"type": "dense", "units": 4, "activation": "relu", "scope": "first"}
    before = copy.deepcopy(spec)
    layer = Component.from_spec(spec)
    assert (type(layer), layer.units, layer.activation, layer.scope) == (Dense, 4, "relu", "first")
    assert spec == before
    assert Component.from_spec({"type": Dense, "units": 4}).units == 4
    assert Component.from_spec(spec, units=5, scope="other").units == 5
    assert Dense.from_spec({"units": 2}).units == 2  # of this class
    assert type(Component.from_spec("DQN-Loss")) is DQNLoss
    assert type(DQNLoss.from_spec(None)) is DQNLoss
    assert Component.from_spec("dense", units=3).units == 3


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"type": "dens", "units": 3}, "agent.net.type: unknown component 'dens'. Did you mean 'dense'?"),
        ({"type": "dense", "unit": 3}, "agent.net.unit: Dense has no such key. Did you mean 'units'?"),
        (
            {"type": "dense", "units": 3, "trainabel": True},
            "agent.net.trainabel: Dense has no such key. Did you mean 'trainable'?",
        ),
        ({"type": "dense", "units": 3, "zzz": 1}, "agent.net.zzz: Dense has no such key. Known: activation"),
        ({"type": "dense"}, "agent.net: Dense: "),
        ({"type": 3}, "agent.net.type: expected a name or a class, given 3"),
        (3, "agent.net: expected a Component, a mapping with 'type', or a name; given int 3"),
        ({"type": dict}, "agent.net.type: <class 'dict'> is a dict, expected a Component"),
    ],
)
def test_wrong_specs(spec, message):
    with pytest.raises(SpecError) as error:
        Component.from_spec(spec, path="agent.net")
    assert message in str(error.value)


def test_a_component_of_another_family():
    with pytest.raises(SpecError, match="NeuralNetwork.type: 'dense' is a Dense, expected a NeuralNetwork"):
        NeuralNetwork.from_spec("dense")


def test_paths_lead_into_nested_specs():
    with pytest.raises(
        SpecError, match=r"network.layers\[1\].unts: Dense has no such key. Did you mean 'units'?"
    ):
        NeuralNetwork([{"type": "dense", "units": 3}, {"type": "dense", "unts": 3}])
    with pytest.raises(SpecError, match=r"network.layers\[1\]"):
        NeuralNetwork([{"type": "dense", "units": 3}, 7])


def test_arguments_that_are_handed_up():
    class Upper:
        def __init__(self, b, *, c=1, **kwargs):
            pass

    class Lower(Upper):
        def __init__(self, a, **kwargs):
            super().__init__(**kwargs)

    check_arguments(Lower, {"a": 1, "b": 2, "c": 3, "anything": 4}, "here")

    class Closed(Lower):
        def __init__(self, d):
            super().__init__(1, b=d)

    with pytest.raises(SpecError, match=r"here.a: Closed has no such key. Known: d."):
        check_arguments(Closed, {"a": 1}, "here")
