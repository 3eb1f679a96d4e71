"""The graph page of TensorBoard: what its own loader reads back."""

import builtins
import json
import subprocess
import sys

import pytest

from rlgraph.core import RLGraphError, assemble, build
from rlgraph.draw import write_tensorboard_graph

pytest.importorskip("tensorboard")

#: In a process of its own: TensorBoard imports TensorFlow where there is one.
READ = """
import json, sys
sys.modules["tensorflow"] = None
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
from tensorboard.compat.proto.graph_pb2 import GraphDef
(definition,) = [event.graph_def for event in EventFileLoader(sys.argv[1]).Load() if event.graph_def]
text = lambda node: {key: value.s.decode() for key, value in node.attr.items() if value.s}
shapes = lambda node: [[d.size for d in s.dim] for s in node.attr["_output_shapes"].list.shape]
print(json.dumps({
    node.name: [node.op, list(node.input), node.device, text(node), shapes(node)]
    for node in GraphDef.FromString(definition).node
}))
"""


def read(folder):
    """name -> operation, inputs, device, attributes and shapes, by TensorBoard's loader."""
    (file,) = folder.iterdir()
    command = [sys.executable, "-c", READ, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_two_components(two, tmp_path):
    file = write_tensorboard_graph(two, tmp_path / "new" / "logs")
    assert file.parent == tmp_path / "new" / "logs" and "tfevents" in file.name
    assert read(file.parent) == {
        "run.inputs/inputs": ["Placeholder", [], "", {"space": "float32[B, 3]"}, [[-1, 3]]],
        "adder/_add": [
            "GraphFunction",
            ["run.inputs/inputs"],
            "",
            {"argument inputs": "float32[B, 3]", "spaces": "float32[B, 3]", "component": "Adder"},
            [[-1, 3]],
        ],
        "two/_double": [
            "GraphFunction",
            ["adder/_add"],
            "",
            {"argument inputs": "float32[B, 3]", "spaces": "float32[B, 3]", "component": "Two"},
            [[-1, 3]],
        ],
        "run.results/result": ["Identity", ["two/_double"], "", {"space": "float32[B, 3]"}, []],
    }


@pytest.fixture
def page(make_root, tmp_path):
    folder = tmp_path / "page"
    root, spaces = make_root("dqn")
    root.policy.device = {"ops": "/device:GPU:0", "variables": "/device:CPU:0"}
    write_tensorboard_graph(build(assemble(root), spaces), folder, method="update")
    return read(folder)


def test_scopes_are_components_and_calls_are_numbered(page):
    dense = "policy/network/dense-0"
    assert {
        f"{dense}/_call",
        f"{dense}/_call_1",
        f"{dense}/weights",
        f"target-policy/{dense[7:]}/_call",
    } <= set(page)
    assert not {"memory/_insert", "exploration/_explore"} & set(page)


def test_every_input_is_a_node_and_every_name_unique(page):
    for _, inputs, *_ in page.values():
        assert {name.split(":")[0].lstrip("^") for name in inputs} <= set(page)


def test_data_and_variables_flow_into_calls(page):
    operation, inputs, device, texts, shapes = page["policy/network/dense-0/_call"]
    assert (operation, shapes) == ("GraphFunction", [[-1, 64]]) and texts["component"] == "Dense"
    assert inputs == [
        "update.inputs/states",
        "policy/network/dense-0/biases",
        "policy/network/dense-0/weights",
    ]
    assert device == "/device:GPU:0"
    weights = page["policy/network/dense-0/weights"]
    assert weights == [
        "VariableV2",
        [],
        "/device:CPU:0",
        {"space": "float32[4, 64]", "kind": "trainable"},
        [[4, 64]],
    ]
    assert page["optimizer/gradients"][:2] == ["Gradients", ["loss/_loss", "policy/variables"]]
    assert len(page["policy/variables"][1]) == 8
    assert page["update.results/per_item"][1] == ["loss/_loss:1"]


def test_host_functions_use_the_variables_of_their_component(dqn, tmp_path):
    write_tensorboard_graph(dqn, tmp_path, method="insert")
    operation, inputs, *_ = read(tmp_path)["memory/_insert"]
    assert operation == "HostFunction"
    assert {"memory/cursor", "memory/rows/states", "insert.inputs/states"} <= set(inputs)


def test_loops_and_branches(repeats, tmp_path):
    write_tensorboard_graph(repeats, tmp_path)
    page = read(tmp_path)
    loops = {name: (op, inputs) for name, (op, inputs, *_) in page.items() if op.startswith("Loop")}
    first = sorted(name for name in loops if name.endswith("count"))[0].rpartition("/")[0]
    assert loops[f"{first}/count"][1] == ["gather.inputs/n"]
    assert loops[f"{first}/carried"][1] == ["gather.inputs/inputs", f"^{first}/next"]
    assert any(inputs == [f"{first}/collected"] for _, inputs, *_ in page.values())
    assert page["repeats/branch/if"][:2] == ["BranchIf", ["choose.inputs/flag"]]
    assert page["repeats/branch/result"][1] == ["left/_add", "repeats/_add"]
    for _, inputs, *_ in page.values():
        assert {name.split(":")[0].lstrip("^") for name in inputs} <= set(page)


def test_before_a_build(two, tmp_path):
    write_tensorboard_graph(assemble(type(two.graph.components["two"])()), tmp_path)
    assert read(tmp_path)["adder/_add"] == [
        "GraphFunction",
        ["run.inputs/inputs"],
        "",
        {"component": "Adder"},
        [],
    ]


def test_wrong_method(two, tmp_path):
    with pytest.raises(RLGraphError, match="two has no API method 'rum'. Did you mean 'run'"):
        write_tensorboard_graph(two, tmp_path, method="rum")
    assert list(tmp_path.iterdir()) == []


def test_without_tensorboard_it_says_what_to_install(two, tmp_path, monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("tensorboard"):
            raise ImportError(f"No module named {name!r}", name=name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(
        RLGraphError, match=r'tensorboard, which is not installed: pip install "rlgraph-core\[tensorboard\]"'
    ):
        write_tensorboard_graph(two, tmp_path)
    assert list(tmp_path.iterdir()) == []
