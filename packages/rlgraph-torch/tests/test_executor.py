"""What the executor of this backend can do: programs for other processes, ONNX models, profiles."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import rlgraph.torch
from rlgraph.components import Adam, DuelingPolicy
from rlgraph.core import (
    CapabilityError,
    Component,
    GraphExecutor,
    InputError,
    RLGraphError,
    SpecError,
    executor_class,
    graph_fn,
    rlgraph_api,
)
from rlgraph.spaces import Dict, FloatBox, IntBox
from rlgraph.torch import PyTorchExecutor

SPACES = {
    "x": Dict(left=FloatBox(shape=(3,)), right=FloatBox(shape=(2,)), add_batch_rank=True),
    "s": FloatBox(shape=(3,), add_batch_rank=True),
    "sequence": FloatBox(shape=(2,), add_batch_rank=True, add_time_rank=True),
}


class Model(Component):
    def __init__(self):
        layers = [{"type": "dense", "units": 8, "activation": "tanh"}]
        self.policy, self.adam = DuelingPolicy(layers, IntBox(4)), Adam(0.1)
        super().__init__(self.policy, self.adam, scope="model")

    @rlgraph_api
    def act(self, x):
        q = self.policy.get_q_values(self._joined(x))["q_values"]
        return {"q": q, "action": self._best(q)}

    @rlgraph_api
    def values(self, s):
        return self.policy.get_q_values(s)["q_values"]

    @rlgraph_api
    def norm(self):
        return self._norm(self.policy.variables())

    @rlgraph_api
    @graph_fn
    def returns(self, ops, sequence):
        return ops.mean(ops.cumulative_sum(sequence, axis=1), axis=(0, 1))

    @rlgraph_api
    @graph_fn
    def decide(self, ops, s):
        return ops.cond(ops.mean(s) > 0.0, lambda: s, lambda: -s)

    @rlgraph_api
    def update(self, s):
        loss = self._loss(self.policy.get_q_values(s)["q_values"])
        self.adam.step(self.policy.variables(), loss)
        return loss

    @rlgraph_api
    @graph_fn
    def shake(self, ops, s):
        return s + ops.random_normal(ops.shape(s))

    @rlgraph_api
    @graph_fn
    def shift(self, ops, s):
        return ops.random_integers(ops.shape(s), 0, ops.astype(ops.max(s), "int64"))

    @rlgraph_api
    def rounded(self, s):
        return self._best(self._host(s))

    @graph_fn
    def _joined(self, ops, x):
        return x["left"] + ops.sum(x["right"], axis=-1, keepdims=True)

    @graph_fn
    def _best(self, ops, q):
        return ops.argmax(q, axis=-1)

    @graph_fn
    def _norm(self, ops, variables):
        return ops.sqrt(sum(ops.sum(ops.square(variable)) for variable in variables))

    @graph_fn
    def _loss(self, ops, q):
        return ops.mean(ops.square(q))

    @graph_fn(host=True, spaces=FloatBox(shape=(3,), add_batch_rank=True))
    def _host(self, s):
        return np.round(s)


def make(**options):
    return PyTorchExecutor(Model(), SPACES, execution_spec=options)


def arrays(size=5, dtype="float32"):
    rng = np.random.default_rng(size)
    return {
        "left": rng.normal(size=(size, 3)).astype(dtype),
        "right": rng.normal(size=(size, 2)).astype(dtype),
    }


def test_names():
    assert rlgraph.torch.PyTorchExecutor is PyTorchExecutor is executor_class("pytorch")
    assert make().backend.name == "torch"
    with pytest.raises(SpecError, match="PyTorchExecutor is the executor of backend 'torch', given 'numpy'"):
        PyTorchExecutor(Model(), SPACES, backend="numpy")
    with pytest.raises(AttributeError, match="has no attribute 'PyTorchExcutor'"):
        rlgraph.torch.PyTorchExcutor


SCRIPT = """
import json, sys
import numpy as np, torch
folder = sys.argv[1]
tensors = {name: torch.from_numpy(array) for name, array in np.load(folder + "/inputs.npz").items()}
program = torch.export.load(folder + "/act.pt2").module()
results = program(tensors["left"], tensors["right"])
names = sorted(name for name, _ in program.named_buffers())
np.savez(folder + "/outputs.npz", **{name.replace("/", "-"): value.numpy() for name, value in results.items()})
print(json.dumps([names, any(name.startswith("rlgraph") for name in sys.modules)]))
"""


@pytest.mark.slow
def test_a_program_for_a_process_with_torch_alone(tmp_path):
    dtype = "float64"
    executor = make(dtype=dtype)
    folder = executor.export_graph(tmp_path / "exported", ["act"])
    np.savez(folder / "inputs.npz", **arrays(7, dtype))
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(folder)],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    names, imported = json.loads(done.stdout)
    assert not imported
    assert names == sorted(name for name in executor.get_weights() if name.startswith("policy/"))
    expected, found = executor.execute("act", arrays(7, dtype)), np.load(folder / "outputs.npz")
    np.testing.assert_allclose(found["output-q"], expected["q"], rtol=1e-12)
    np.testing.assert_array_equal(found["output-action"], expected["action"])
    described = json.loads((folder / "graph.json").read_text())["methods"]["act"]
    assert [entry["name"] for entry in described["inputs"]] == ["x/left", "x/right"]


def test_what_is_exported_by_itself(tmp_path):
    import torch

    executor = PyTorchExecutor(Readable(), {name: SPACES[name] for name in ("s", "sequence")})
    folder = executor.export_graph(tmp_path / "exported")
    # The host function ahead of `rounded` is left out.
    programs = {"norm.pt2", "returns.pt2", "rounded.pt2", "shake.pt2", "values.pt2"}
    assert {path.name for path in folder.iterdir()} == {"graph.json", *programs}
    loaded = {
        name: torch.export.load(folder / f"{name}.pt2").module() for name in ("norm", "returns", "values")
    }
    np.testing.assert_allclose(loaded["norm"]()["output"], executor.execute("norm"), rtol=1e-6)
    states = np.ones((1, 3), "float32")
    np.testing.assert_allclose(
        loaded["values"](torch.ones(1, 3))["output"], executor.execute("values", states), rtol=1e-5
    )
    sequence = np.arange(24, dtype="float32").reshape(3, 4, 2)
    results = loaded["returns"](torch.from_numpy(sequence))["output"]
    np.testing.assert_allclose(results, np.cumsum(sequence, 1).mean((0, 1)), rtol=1e-5)
    # A copy: training goes on without it.
    executor.set_weights(
        {name: value + 1.0 for name, value in executor.get_weights(trainable_only=True).items()}
    )
    assert loaded["norm"]()["output"].item() < executor.execute("norm")


class Readable(Model):
    """Without what cannot be exported."""

    def __init__(self):
        super().__init__()
        self.switched_off_apis = frozenset({"act", "decide"})


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("update", "'update' cannot be exported from the torch backend: optimizer.gradients takes gradients"),
        ("shift", "'shift' cannot be exported from the torch backend: model._shift draws random numbers"),
        ("decide", "'decide' cannot be exported from PyTorch"),
    ],
)
def test_what_is_refused(tmp_path, method, message):
    with pytest.raises(CapabilityError, match=message):
        make().export_graph(tmp_path / "exported", [method])
    assert not (tmp_path / "exported").exists()


def test_onnx(tmp_path):
    pytest.importorskip("onnx", reason="onnx is not installed")
    pytest.importorskip("onnxscript", reason="onnxscript is not installed")
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    executor = make()
    folder = executor.export_onnx(tmp_path / "exported", ["act"])
    session = runtime.InferenceSession(folder / "act.onnx")
    assert [entry.name for entry in session.get_inputs()] == ["x/left", "x/right"]
    for size in (1, 9):
        given = arrays(size)
        found = session.run(
            ["output/q", "output/action"], {"x/left": given["left"], "x/right": given["right"]}
        )
        expected = executor.execute("act", given)
        np.testing.assert_allclose(found[0], expected["q"], rtol=1e-4, atol=1e-6)
        np.testing.assert_array_equal(found[1], expected["action"])


def test_onnx_must_be_installed(tmp_path, monkeypatch):
    monkeypatch.setattr("rlgraph.torch.export.find_spec", lambda name: None)
    with pytest.raises(CapabilityError, match=r"pip install 'rlgraph-torch\[onnx\]'"):
        make().export_onnx(tmp_path / "exported", ["act"])


def spans(path):
    return [event["name"] for event in json.loads(path.read_text())["traceEvents"] if event.get("name")]


def test_a_profile_shows_graph_functions(tmp_path):
    executor = make()
    executor.execute("values", np.ones((2, 3), "float32"))
    program = executor.program("values")
    with executor.profile(tmp_path / "trace.json"):
        program(np.ones((2, 3), "float32"))
        executor.execute("update", np.ones((2, 3), "float32"))
    found = spans(tmp_path / "trace.json")
    assert found.count("policy__network__dense_0__call") == 2
    assert found.count("optimizer__apply") == 1 and any(name.startswith("gradients_") for name in found)
    assert "aten::addmm" in found
    # Nothing of it stays.
    with executor.profile(tmp_path / "second.json"):
        pass
    executor.execute("update", np.ones((2, 3), "float32"))
    assert "optimizer__apply" not in spans(tmp_path / "second.json")
    import torch

    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as outside:
        program(np.ones((2, 3), "float32"))
    assert not any("__" in event.key for event in outside.key_averages())


def test_one_profile_at_a_time(tmp_path):
    import torch

    one, other = make(), make()
    with one.profile(tmp_path / "one.json"):
        for executor in (one, other):
            with (
                pytest.raises(RLGraphError, match="another profile is running"),
                executor.profile(tmp_path / "b.json"),
            ):
                pass
        one.execute("values", np.ones((2, 3), "float32"))
    assert "policy__network__dense_0__call" in spans(tmp_path / "one.json")
    activities = [torch.profiler.ProfilerActivity.CPU]
    with (
        torch.profiler.profile(activities=activities),
        pytest.raises(RLGraphError, match="another profile is running"),
        other.profile(tmp_path / "b.json"),
    ):
        pass
    with other.profile(tmp_path / "b.json"):
        pass


def test_a_profile_needs_a_file_that_can_be_written(tmp_path):
    with pytest.raises(InputError, match="is a folder; expected the file to write, such as .*trace.json"):
        make().profile(tmp_path)
    with pytest.raises(InputError, match="there is no folder .*missing"):
        make().profile(tmp_path / "missing" / "trace.json")


def test_a_profile_shows_compiled_programs(straight, tmp_path):
    executor = make(compile=True)
    executor.execute("update", np.ones((2, 3), "float32"))
    with executor.profile(tmp_path / "trace.json"):
        executor.execute("update", np.ones((2, 3), "float32"))
    assert "compiled_update__segment_0" in spans(tmp_path / "trace.json")


def test_the_general_executor_runs_it_too():
    executor = GraphExecutor(Model(), SPACES, backend="torch")
    assert executor.execute("values", np.ones((2, 3), "float32")).shape == (2, 4)
