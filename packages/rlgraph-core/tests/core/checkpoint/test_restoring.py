"""From a checkpoint into an executor: everything, or the part of a component, or nothing."""

import sys

import numpy as np
import pytest

from rlgraph.core import CheckpointError, Component, GraphExecutor, InputError, graph_fn, rlgraph_api
from rlgraph.core.checkpoint.tensor_file import TensorFile


def test_everything_comes_back(make, state, backend, tmp_path):
    saved, other = make(past=3, backend=backend), make(past=5, backend=backend)
    saved.save(tmp_path / "one", facts={"steps": 3})
    assert other.load(tmp_path / "one") == {"steps": 3}
    assert state(other) == state(saved)
    x = np.ones((2, 3), np.float32)
    for method, arguments in (("call", [x]), ("draw", [])):
        np.testing.assert_array_equal(other.execute(method, *arguments), saved.execute(method, *arguments))


def test_values_that_are_not_finite_are_values(make, state, tmp_path):
    saved, other = make(past=3), make()
    saved.set_weights({"layer/weights": [[np.nan, np.inf], [-np.inf, 0], [-0.0, 1]]})
    saved.save(tmp_path / "one")
    other.load(tmp_path / "one")
    assert state(other) == state(saved)


def test_without_host_variables(make, tmp_path):
    saved, other = make(past=3), make(past=5)
    memory = {name: value.copy() for name, value in other.storage.host.items()}
    saved.save(tmp_path / "one", host=False)
    other.load(tmp_path / "one")
    np.testing.assert_equal(other.get_weights(), saved.get_weights())
    np.testing.assert_equal(other.storage.host, memory)


def test_floating_numbers_of_another_width(make, tmp_path):
    saved, other = make(past=3), make(past=5, dtype="float64")
    saved.save(tmp_path / "one")
    other.load(tmp_path / "one")
    assert other.storage.host["memory/rows"].dtype == np.float64
    np.testing.assert_array_equal(other.storage.host["memory/rows"], saved.storage.host["memory/rows"])
    np.testing.assert_array_equal(other.get_weights()["layer/weights"], saved.get_weights()["layer/weights"])


# What does not fit.


def test_another_graph(make, refused, tmp_path):
    make(past=3, layer="lair").save(tmp_path / "one")
    refused(
        make(past=5),
        tmp_path / "one",
        r"one belongs to another component graph: missing 'layer/count' \(there is 'lair/count'\), .*"
        r"'layer/weights' \(there is 'lair/weights'\), not expected 'lair/count', 'lair/used', 'lair/weights'$",
    )


@pytest.mark.parametrize(
    ("stem", "name", "value", "said"),
    [
        ("variables", "layer/weights", np.zeros((3, 3), "f4"), r"shape \(3, 3\), expected \(3, 2\)"),
        ("variables", "layer/weights", np.zeros((3, 2), "i4"), "dtype int32, expected float32"),
        ("variables", "layer/count", np.zeros((), "i4"), "dtype int32, expected int64"),
        ("variables", "layer/used", np.zeros(2, "u1"), "dtype uint8, expected bool"),
        ("host", "memory/rows", np.zeros(12, "f4"), r"shape \(12,\), expected \(4, 3\)"),
        ("host", "memory/size", np.zeros((), "f8"), "dtype float64, expected int64"),
    ],
)
def test_a_shape_or_dtype_names_its_variable(make, refused, tmp_path, stem, name, value, said):
    saved = make(past=3)
    values = saved.storage.read_all() if stem == "variables" else saved.storage.host
    changed = {**values, name: value}
    if stem == "host":
        saved.storage.host = changed
    else:
        saved.storage.read_all = lambda: changed
    saved.save(tmp_path / "one")
    refused(make(past=5), tmp_path / "one", f"variable '{name}' has {said}")


def test_many_missing_names_are_counted(make, tmp_path):
    saved = make()
    saved.storage.host = {}
    saved.storage.read_all = lambda: {f"x/{n}": np.zeros(1) for n in range(40)}
    saved.save(tmp_path / "one")
    with pytest.raises(
        CheckpointError, match="not expected 'x/0', 'x/1', 'x/10', 'x/11', 'x/12' and 35 more$"
    ):
        make().load(tmp_path / "one")


@pytest.mark.parametrize(
    ("required", "said"),
    [
        ({"steps": 0, "episodes": 1, "losses": 2}, "lacks the facts episodes, losses"),
        ({"steps": 0.5}, None),
        ({"steps": None, "name": None}, None),
        ({"steps": True}, "the fact 'steps' is 3, expected bool"),
        ({"name": 1}, "the fact 'name' is 'abc', expected int"),
        ({"name": 1.0}, "the fact 'name' is 'abc', expected float"),
    ],
)
def test_required_facts(make, refused, tmp_path, required, said):
    make(past=3).save(tmp_path / "one", facts={"steps": 3, "name": "abc"})
    if said is None:
        assert make().load(tmp_path / "one", required_facts=required)["steps"] == 3
    else:
        refused(make(past=5), tmp_path / "one", said, required_facts=required)


# The part of a component.


@pytest.mark.parametrize("scope", ["layer", "memory"])
def test_a_component_alone(make, state, backend, tmp_path, scope):
    saved, other = make(past=3, backend=backend), make(past=5, backend=backend)
    before = state(other)
    saved.save(tmp_path / "one", facts={"steps": 3})
    assert other.load(tmp_path / "one", scope=scope) == {"steps": 3}
    expected = {
        key: (state(saved) if key.startswith(f"{scope}/") and " " not in key else before)[key]
        for key in before
    }
    assert state(other) == expected != before


def test_the_root_is_all_variables_and_no_streams(make, state, tmp_path):
    saved, other = make(past=3), make(past=5)
    before = state(other)
    saved.save(tmp_path / "one")
    other.load(tmp_path / "one", scope="learner")
    expected = {key: (before if " " in key else state(saved))[key] for key in before}
    assert state(other) == expected


def test_a_component_of_another_graph(make, tmp_path):
    saved, other = make(past=3, layer="other"), make(past=5)
    saved.save(tmp_path / "one")
    other.load(tmp_path / "one", scope="memory")
    np.testing.assert_equal(other.storage.host, saved.storage.host)


def test_the_part_of_a_component_that_does_not_fit(make, refused, tmp_path):
    make(past=3, layer="other").save(tmp_path / "one")
    refused(make(past=5), tmp_path / "one", "missing 'layer/count'.*, not expected nothing", scope="layer")
    make(past=3).save(tmp_path / "bare", host=False)
    refused(make(past=5), tmp_path / "bare", "bare has no host.safetensors", scope="memory")


def test_a_scope_that_is_none(make, tmp_path):
    executor = make(past=3)
    executor.save(tmp_path / "one")

    class Nothing(Component):
        @rlgraph_api
        @graph_fn
        def call(self, ops, x):
            return x + 1.0

    bare = GraphExecutor(Nothing(scope="bare"), {"x": float}, backend="numpy")
    with pytest.raises(InputError, match="component 'bare' has no variables"):
        bare.load(tmp_path / "one", scope="bare")
    with pytest.raises(InputError, match="there is no component 'layr'. Did you mean 'layer'?"):
        executor.load(tmp_path / "one", scope="layr")


def test_damage_elsewhere_does_not_matter(make, tmp_path):
    make(past=3).save(tmp_path / "one")
    (tmp_path / "one" / "host.safetensors").write_bytes(
        (tmp_path / "one" / "host.safetensors").read_bytes()[:-1] + b"!"
    )
    with pytest.raises(CheckpointError, match="host.safetensors is damaged: its checksum"):
        make().load(tmp_path / "one")
    make().load(tmp_path / "one", scope="layer")


# What fails late.


def test_streams_that_the_backend_refuses(make, refused, tmp_path):
    saved, other = make(past=3), make(past=5)
    saved.storage.read_tensor_streams = lambda: {"layer~": np.arange(4)}
    saved.save(tmp_path / "one")
    written = []

    def write(states):
        written.append(states["layer~"].tolist())
        if len(written) == 1:
            raise RuntimeError("no state of mine")

    other.storage.read_tensor_streams = lambda: {"layer~": np.zeros(4, np.int64)}
    other.storage.write_tensor_streams = write
    refused(other, tmp_path / "one", "the states of the random streams are refused: no state of mine")
    assert written == [[0, 1, 2, 3], [0, 0, 0, 0]]
    other.storage.read_tensor_streams = lambda: {"layer~": np.zeros(5, np.int64)}
    refused(other, tmp_path / "one", r"variable 'layer~' has shape \(4,\), expected \(5,\)")


def test_a_disk_that_fails_between_the_checksum_and_the_values(make, tmp_path, monkeypatch):
    saved, other = make(past=3), make(past=5)
    saved.save(tmp_path / "one")
    read, weights = TensorFile._read, other.get_weights()

    def failing(file, start, size):
        if file.path.stem == "host" and sys._getframe(1).f_code.co_name == "_pieces":
            raise CheckpointError("Input/output error")
        return read(file, start, size)

    monkeypatch.setattr(TensorFile, "_read", failing)
    with pytest.raises(CheckpointError, match="Host variables are partly replaced: load a valid checkpoint"):
        other.load(tmp_path / "one")
    np.testing.assert_equal(other.get_weights(), weights)
