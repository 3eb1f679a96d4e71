import copy
import json
import sys

import numpy as np
import pytest

from rlgraph.components import Dense, DQNLoss, NeuralNetwork
from rlgraph.core import Component, SpecError
from rlgraph.core.specs.spec_types import Count, Seconds
from rlgraph.core.specs.specifiable import call_checked, check_arguments, check_values


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


def make_dense(units, activation=None):
    return Dense(units, activation=activation, scope="made")


def test_arguments_by_position():
    spec = {"type": "dense", "_args": [4, "relu"], "scope": "first"}
    before = copy.deepcopy(spec)
    layer = Component.from_spec(spec)
    assert (layer.units, layer.activation, layer.scope) == (4, "relu", "first")
    assert spec == before


def test_functions():
    assert Component.from_spec(lambda: Dense(3)).units == 3
    assert Component.from_spec(make_dense, units=4, activation="tanh").activation == "tanh"
    assert Component.from_spec({"type": make_dense, "_args": [2]}).scope == "made"
    with pytest.raises(SpecError, match="net.unit: make_dense has no such key. Did you mean 'units'?"):
        Component.from_spec({"type": make_dense, "unit": 3}, path="net")
    with pytest.raises(SpecError, match="net: <lambda> returned int 3, expected a Component"):
        Component.from_spec(lambda: 3, path="net")


@pytest.mark.parametrize(
    "name", ["rlgraph.components.Dense", "rlgraph.components:Dense", "rlgraph.components.layers.dense:Dense"]
)
def test_where_to_import_from(name):
    assert Component.from_spec({"type": name, "units": 3}).units == 3
    assert Component.from_spec(name, units=3).units == 3


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "rlgraph.components.Dens",
            "net.type: module 'rlgraph.components' has no 'Dens'. Did you mean 'Dense'?",
        ),
        (
            "rlgraph.component.Dense",
            "net.type: 'rlgraph.component.Dense' is neither a registered name nor importable: "
            "No module named 'rlgraph.component'",
        ),
        ("broken_module:Thing", "net.type: 'broken_module:Thing' cannot be imported: RuntimeError: no luck"),
        (
            "rlgraph.core.SpecError",
            "net.type: 'rlgraph.core.SpecError' is the class SpecError, expected a Component class",
        ),
        ("math.pi", "net.type: 'math.pi' is a float, expected a Component class"),
        (".x", "net.type: '.x' cannot be imported: ValueError: Empty module name"),
    ],
)
def test_nothing_to_import(name, message, tmp_path, monkeypatch):
    (tmp_path / "broken_module.py").write_text("raise RuntimeError('no luck')\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(SpecError) as error:
        Component.from_spec({"type": name, "units": 3}, path="net")
    assert str(error.value).startswith(message)


def test_files(tmp_path):
    file = tmp_path / "layer.json"
    file.write_text(json.dumps({"type": "dense", "units": 3}))
    for given in (file, str(file)):
        assert Component.from_spec(given).units == 3
        assert Component.from_spec(given, units=5).units == 5
    file.write_text('"dqn_loss"')
    assert type(Component.from_spec(file)) is DQNLoss


def test_yaml_files(tmp_path):
    pytest.importorskip("yaml")
    file = tmp_path / "layer.yaml"
    file.write_text("type: dense\nunits: 3\nactivation: null\n")
    assert Component.from_spec(str(file)).units == 3
    file.write_text("type: [dense\n")
    with pytest.raises(SpecError, match="net: .*layer.yaml' is not valid YAML: "):
        Component.from_spec(file, path="net")


def test_yaml_without_pyyaml(tmp_path, monkeypatch):
    (tmp_path / "layer.yml").write_text("type: dense\n")
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(SpecError, match=r"YAML, which needs PyYAML: pip install rlgraph-core\[yaml\]"):
        Component.from_spec(tmp_path / "layer.yml")


def test_wrong_files(tmp_path):
    with pytest.raises(SpecError, match="net: file '/.*/nowhere.json' does not exist"):
        Component.from_spec("nowhere.json", path="net")
    file = tmp_path / "layer.json"
    file.write_text('{"type": "dense",}')
    with pytest.raises(SpecError, match="net: '.*layer.json' is not valid JSON: .* line 1 column 18"):
        Component.from_spec(file, path="net")
    file.write_text('{"type": "dense", "unts": 3}')
    with pytest.raises(SpecError, match=r"net.unts: Dense has no such key. Did you mean 'units'") as caught:
        Component.from_spec(file, path="net")
    assert caught.value.__notes__ == [f"(net is in {file})"]
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(SpecError, match="net: '.*layer.json' cannot be read: .*utf-8"):
        Component.from_spec(file, path="net")
    with pytest.raises(
        SpecError, match=r"expected a file that ends in .json, .yaml, .yml, .toml, given '.*layer.txt'"
    ):
        Component.from_spec(tmp_path / "layer.txt")


class Greedy(Component):
    """Changes what it is given."""

    def __init__(self, parts, **kwargs):
        parts[0]["units"] = 0
        parts.clear()
        super().__init__(**kwargs)


def test_specs_are_out_of_reach():
    spec = {"type": Greedy, "parts": [{"units": 3}]}
    Component.from_spec(spec)
    assert spec == {"type": Greedy, "parts": [{"units": 3}]}
    positional = {"type": Greedy, "_args": [[{"units": 3}]]}
    Component.from_spec(positional)
    assert positional == {"type": Greedy, "_args": [[{"units": 3}]]}


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
        ({"type": "dense"}, "agent.net.units: missing; Dense requires it"),
        ({"type": "dense", "units": "64"}, "agent.net.units: expected an integer, given '64'"),
        (
            {"type": "dense", "units": 3, "activation": "rleu"},
            "agent.net.activation: unknown activation 'rleu'. Did you mean 'relu'?",
        ),
        ({"type": 3}, "agent.net.type: expected a name, a class or a function, given 3"),
        (
            3,
            "agent.net: expected a Component, a mapping with 'type', a name, a file or a function; given int 3",
        ),
        ([{"type": "dense"}], "agent.net: expected a Component, a mapping"),
        ({"type": "dense", "_args": "64"}, "agent.net._args: expected a list of arguments, given '64'"),
        (
            {"type": "dense", "_args": [1, None, 0.0, 0.0, "a", "b"]},
            "agent.net._args: Dense takes at most 5 positional arguments, given 6",
        ),
        ({"type": "dense", "_args": [1], "units": 2}, "agent.net.units: given twice, by name and in '_args'"),
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
        NeuralNetwork([{"type": "dense", "units": 3}, -7])


class Refused(SpecError):
    """An error of a program's own."""


def test_an_error_of_a_constructor_keeps_its_class_notes_and_cause():
    with pytest.raises(Refused, match="^net: not today") as caught:
        try:
            raise Refused("not today") from ValueError("no")
        except Refused as error:
            error.add_note("(said twice)")
            Component.from_spec({"type": Stumbling, "error": error}, path="net")
    assert caught.value.__notes__ == ["(said twice)"] and isinstance(caught.value.__cause__, ValueError)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"units": "many"}, "Dense.units: expected an integer"),
        ({"type": lambda: len(3)}, "Dense: <lambda>: object of type 'int'"),
        ({"type": lambda: int("x")}, "Dense: <lambda>: ValueError: invalid"),
    ],
)
def test_a_spec_inside_a_constructor_has_places_of_its_own(spec, message):
    """Its argument is called like one of the constructor."""

    class Outer(Component):
        def __init__(self, units):
            Dense.from_spec(spec)

    with pytest.raises(SpecError, match=f"^{message}"):
        Component.from_spec({"type": Outer, "units": 3}, path="net")


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


def test_numbers_have_lower_bounds():
    def function(count: Count, seconds: Seconds | None = None):
        pass

    check_values(function, {"count": 1, "seconds": 0.1})
    check_values(function, {"count": np.int64(3), "seconds": None})
    with pytest.raises(SpecError) as caught:
        check_values(function, {"count": True, "seconds": 0}, "here")
    assert str(caught.value).splitlines() == [
        "here.count: expected an integer >= 1, given True",
        "here.seconds: expected a number > 0 or null, given 0",
    ]
    with pytest.raises(SpecError, match=r"here.count: expected an integer >= 1, given 0"):
        call_checked(function, (), {"count": 0}, "here")
    with pytest.raises(SpecError, match=r"^seconds: expected a number > 0 or null, given nan"):
        check_values(function, {"seconds": float("nan")})


class Stumbling(Component):
    """Fails on what it is given, without a word of its own."""

    def __init__(self, error, **kwargs):
        raise error


@pytest.mark.parametrize(
    "error", [ValueError("no"), MemoryError("no"), KeyError("no"), NotImplementedError("no")]
)
def test_what_a_constructor_stumbles_over(error):
    with pytest.raises(SpecError, match=rf"net: Stumbling: {type(error).__name__}: '?no") as caught:
        Component.from_spec({"type": Stumbling, "error": error}, path="net")
    assert caught.value.__cause__ is error


def test_mistakes_without_number():
    """A few of them are told, however many there are, and soon."""
    with pytest.raises(SpecError) as caught:
        Component.from_spec({"type": "dense", "units": 3, **{f"unit{n}": 1 for n in range(5000)}}, path="net")
    assert len(caught.value.faults) == 20
    with pytest.raises(SpecError) as caught:
        Component.from_spec({"type": "dense", "units": "x" * 9000}, path="net")
    assert len(str(caught.value)) < 2100


def test_further_arguments_of_a_constructor():
    """Under another name than ``**kwargs`` they are its own, whatever the class above takes."""

    class Further(Dense):
        def __init__(self, units, **layer_names):
            super().__init__(units)
            self.layer_names = layer_names

    made = Component.from_spec({"type": Further, "units": 3, "anything": 1})
    assert made.layer_names == {"anything": 1}
