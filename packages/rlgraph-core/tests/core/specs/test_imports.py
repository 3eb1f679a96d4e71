"""What specs may import, and that nothing is called which is not of the right kind."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from itertools import product

import pytest

from rlgraph.components import Dense, EnvironmentStepper, NeuralNetwork, Optimizer
from rlgraph.core import Component, SpecError, allow_imports, data_specs, registry
from rlgraph.core.specs.argument_types import fits
from rlgraph.core.specs.parameters import parameters_of
from rlgraph.core.specs.policy import spec_policy, using_spec_policy

CANARY = """
from pathlib import Path
from rlgraph.core import Component
Path({file!r}).touch()
def run(*args, **kwargs): Path({file!r}).touch()
class Layer(Component): pass
class Other:
    def __init__(self, **kwargs): run()
    def reset(self): pass
    def step(self): pass
"""

VALUES = ("canary_module:run", {"type": "canary_module:run"}, ["canary_module:run"])


@pytest.fixture
def canary(tmp_path, monkeypatch):
    """A module that leaves a file when it is imported or called; the file."""
    file = tmp_path / "executed"
    (tmp_path / "canary_module.py").write_text(CANARY.format(file=str(file)))
    monkeypatch.syspath_prepend(tmp_path)
    yield file
    sys.modules.pop("canary_module", None)


def test_data_names_what_is_registered(canary):
    for name in ("canary_module:Layer", "canary_module.Layer", "canary_module:run", "os:system"):
        with (
            data_specs(),
            pytest.raises(SpecError, match=r"net.type: expected a registered name.*--allow-imports"),
        ):
            Component.from_spec({"type": name}, path="net")
    with data_specs():
        assert type(Component.from_spec({"type": "dense", "units": 3})) is Dense
    assert not canary.exists()


def test_files_are_data(canary, tmp_path):
    file = tmp_path / "net.json"
    file.write_text(json.dumps([{"type": "canary_module:Layer"}]))
    with pytest.raises(SpecError, match="--allow-imports canary_module"):
        NeuralNetwork.from_spec(file)
    inner = tmp_path / "layer.json"
    inner.write_text('{"type": "canary_module:Layer"}')
    with pytest.raises(SpecError, match="--allow-imports canary_module"):
        NeuralNetwork([str(inner)])  # a file in a program's own spec
    assert not canary.exists()
    with allow_imports("canary_module"):
        assert type(NeuralNetwork.from_spec(file).layers[0]).__name__ == "Layer"


@pytest.mark.parametrize(
    ("allowed", "module", "permits"),
    [
        ("package", "package", True),
        ("package", "package.inner.module", True),
        ("package.inner", "package", False),
        ("package", "packages", False),
        ("package", "", False),
        ("", "os", False),
    ],
)
def test_modules_that_are_allowed(allowed, module, permits):
    with data_specs(), allow_imports(allowed):
        assert spec_policy().permits(module) is permits
    assert spec_policy().permits(module)  # a program's own specs


def test_what_is_allowed_adds_up():
    with allow_imports("one"), data_specs(), allow_imports("two", "three"):
        assert spec_policy().allowed == ("one", "two", "three") and spec_policy().is_data
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(copy_context().run, spec_policy).result() == spec_policy()
        handed = spec_policy()
    with using_spec_policy(handed):
        assert not spec_policy().permits("os")


@pytest.mark.parametrize("name", ["run", "Other"])
@pytest.mark.parametrize("family", [Component, Optimizer, NeuralNetwork])
def test_only_classes_of_the_right_base_are_called(canary, name, family):
    """Also where the spec is the program's own; the import itself is."""
    __import__("canary_module")
    canary.unlink()
    with pytest.raises(
        SpecError, match=rf"x.type: 'canary_module:{name}' is .*, expected a {family.__name__}"
    ):
        family.from_spec({"type": f"canary_module:{name}"}, path="x")
    with pytest.raises(SpecError, match="expected an environment's class"):
        EnvironmentStepper(f"canary_module:{name}", "dense")
    assert not canary.exists()


def test_no_argument_of_any_component_imports(canary):
    """Whatever a registered component takes, a name in it is no way to run code."""
    known, tried = registry("rlgraph.components"), 0
    for plugin in known.plugins():
        parameters = parameters_of(known.load(plugin.name)).named
        required = {"units": 2, "action_space": {"type": "int", "low": 3}}
        arguments = {name: value for name, value in required.items() if name in parameters}
        for name, value in product(parameters, VALUES):
            if fits(parameters[name].annotation, value):  # else it is refused before anything is called
                tried += 1
                with data_specs(), suppress(Exception):  # what it says is tested elsewhere
                    Component.from_spec({**arguments, "type": plugin.name, name: value})
    assert tried > 300 and not canary.exists()
