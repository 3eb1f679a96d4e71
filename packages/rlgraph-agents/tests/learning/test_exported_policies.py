"""Exported policies act as the agent does, with the framework alone; states and draws go in, states come out."""

import json
import subprocess
import sys

import numpy as np
import pytest

from rlgraph.agents import Agent
from rlgraph.core import CapabilityError, InputError, RandomStreams
from rlgraph.core.numpy.random import DRAWS
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox

pytestmark = pytest.mark.slow

VECTOR, SLOTS, STEPS = FloatBox(shape=(3,)), 4, 4
MASKED = Dict(observation=VECTOR, action_mask=BoolBox(shape=(5,)))
SMALL = {"network_spec": [{"type": "dense", "units": 6, "activation": "tanh"}]}
RECURRENT = {"network_spec": [*SMALL["network_spec"], {"type": "lstm", "units": 4}]}
STACK = {"type": "sequence", "sequence_length": 3, "add_rank": False}
GREEDY, SAMPLED = "get_greedy_actions", "get_sampled_actions"
CASES = {
    "dqn-stack-lstm-mask": (
        {"type": "dqn", **RECURRENT, "memory_spec": {"type": "sequence_replay"}},
        {"preprocessing_spec": [STACK]},
        MASKED,
        IntBox(5),
    ),
    "ppo-lstm-normalized": ({"type": "ppo", **RECURRENT}, {"normalize_states": True}, VECTOR, IntBox(5)),
    "ppo-bounded": ({"type": "ppo", **SMALL}, {}, VECTOR, FloatBox(-2.0, 1.0, shape=(2,))),
    "a2c-mask": ({"type": "a2c", **SMALL}, {}, MASKED, IntBox(5)),
    "sac-stack": (
        {"type": "sac", **SMALL},
        {"preprocessing_spec": [STACK]},
        VECTOR,
        FloatBox(-1.0, 1.0, (2,)),
    ),
}


def make(name, backend):
    spec, options, states, actions = CASES[name]
    agent = Agent.from_spec(
        {**spec, **options}, state_space=states, action_space=actions, backend=backend, seed=5
    )
    if options.get("normalize_states"):
        mean, scale = (name for name in sorted(agent.get_weights()) if "normal" in name)
        agent.set_weights({mean: [0.5, -1.0, 2.0], scale: [2.0, 0.5, 1.0]})
    return agent


def batches(space, seed=0):
    """States of `STEPS` steps; every mask allows something."""
    found = [
        space.with_batch_rank().sample(SLOTS, rng=np.random.default_rng([seed, i])) for i in range(STEPS)
    ]
    for states in found if isinstance(space, Dict) else []:
        states["action_mask"][:, 1] = True
    return found


def load(folder, method, backend):
    """A function of arrays by name, and the descriptions of its inputs."""
    inputs = json.loads((folder / "graph.json").read_text())["methods"][method]["inputs"]
    if backend == "torch":
        import torch

        program = torch.export.load(folder / f"{method}.pt2").module()
        return lambda arrays: {
            name: value.numpy()
            for name, value in program(*(torch.from_numpy(arrays[i["name"]]) for i in inputs)).items()
        }, inputs
    import tensorflow as tf

    signature = tf.saved_model.load(str(folder)).signatures[method]
    return lambda arrays: {
        name: value.numpy()
        for name, value in signature(
            **{i["name"].replace("/", "__"): tf.constant(arrays[i["name"]]) for i in inputs}
        ).items()
    }, inputs


def flat(name, value):
    if isinstance(value, dict):
        return {key: array for part in value for key, array in flat(f"{name}/{part}", value[part]).items()}
    return {name: value}


@pytest.fixture(scope="module", params=CASES)
def exported(request, backend, tmp_path_factory):
    agent = make(request.param, backend)
    methods = [GREEDY] if "dqn" in request.param else [GREEDY, SAMPLED]
    return agent, agent.export_graph(tmp_path_factory.mktemp("exported") / "policy", methods), methods


def test_an_exported_policy_acts_as_the_agent(exported, backend):
    agent, folder, methods = exported
    for method in methods:
        actor = agent.new_actor(SLOTS)
        program, inputs = load(folder, method, backend)
        drawn = [entry for entry in inputs if "noise" in entry]
        assert bool(drawn) == (method == SAMPLED)
        streams, carried = RandomStreams([agent.seed, agent._actors]), {}
        for entry in inputs:
            if entry["name"].startswith("internal_states/"):
                carried[entry["name"]] = np.zeros([SLOTS, *entry["shape"][1:]], entry["dtype"])
        for states in batches(agent.state_space):
            expected = actor.act(actor.preprocess(states), use_exploration=method == SAMPLED)
            given = {**flat("states", states), **carried}
            for entry in drawn:
                ((stream, _),) = actor.streams.items()
                shape, noise = [SLOTS if n == "B" else n for n in entry["shape"]], entry["noise"]
                given[entry["name"]] = DRAWS[noise["kind"]](
                    streams[stream], entry["dtype"], tuple(shape), *noise["parameters"]
                )
            results = program(given)
            found = results["output/actions" if carried else "output"]
            if found.dtype.kind == "i":
                np.testing.assert_array_equal(found, expected)
            else:
                np.testing.assert_allclose(found, expected, atol=1e-5)
            carried = {name: results[f"output/{name}"] for name in carried}


SCRIPT = """
import json, sys
import numpy as np

class Refused:
    def find_spec(self, name, *_):
        if name.split(".")[0] == "rlgraph":
            raise ImportError(name)

sys.meta_path.insert(0, Refused())
folder, method, backend = sys.argv[1:]
given = dict(np.load(folder + "/given.npz"))
if backend == "torch":
    import torch
    program = torch.export.load(f"{folder}/{method}.pt2").module()
    results = program(*(torch.from_numpy(given[name]) for name in given))
else:
    import tensorflow as tf
    signature = tf.saved_model.load(folder).signatures[method]
    results = signature(**{name.replace("/", "__"): tf.constant(value) for name, value in given.items()})
print(json.dumps(results["output/actions"].numpy().tolist()))
"""


def test_without_rlgraph(backend, tmp_path):
    """In a process that cannot import it."""
    agent = make("dqn-stack-lstm-mask", backend)
    folder = agent.export_graph(tmp_path / "policy")
    states, inputs = batches(agent.state_space)[0], load(folder, GREEDY, backend)[1]
    given = flat("states", states)
    for entry in inputs:
        given.setdefault(entry["name"], np.zeros([SLOTS, *entry["shape"][1:]], entry["dtype"]))
    np.savez(folder / "given.npz", **{entry["name"]: given[entry["name"]] for entry in inputs})
    command = [sys.executable, "-c", SCRIPT, str(folder), GREEDY, backend]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    actor = agent.new_actor(SLOTS)
    assert json.loads(done.stdout) == actor.act(actor.preprocess(states), use_exploration=False).tolist()


def test_onnx(tmp_path):
    """Whatever the agent's backend, and with all that acting remembers."""
    for package in ("torch", "onnx", "onnxscript"):
        pytest.importorskip(package)
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    agent = make("dqn-stack-lstm-mask", "numpy")
    folder = agent.export_graph(tmp_path / "policy", format="onnx")
    session, actor = runtime.InferenceSession(folder / f"{GREEDY}.onnx"), agent.new_actor(SLOTS)
    carried = {
        entry.name: np.zeros([SLOTS, *entry.shape[1:]], bool if "bool" in entry.type else np.float32)
        for entry in session.get_inputs()
        if entry.name.startswith("internal_states/")
    }
    names = [entry.name for entry in session.get_outputs()]
    for states in batches(agent.state_space):
        results = dict(zip(names, session.run(None, {**flat("states", states), **carried}), strict=True))
        expected = actor.act(actor.preprocess(states), use_exploration=False)
        np.testing.assert_array_equal(results["output/actions"], expected)
        carried = {name: results[f"output/{name}"] for name in carried}


def test_what_is_refused(one_backend, tmp_path):
    agent = make("dqn-stack-lstm-mask", one_backend)
    with pytest.raises(CapabilityError, match="host function dqn/exploration._explore runs in the middle"):
        agent.export_graph(tmp_path / "policy", [SAMPLED])
    random = Agent.from_spec("random", state_space=VECTOR, action_space=IntBox(3), backend=one_backend)
    with pytest.raises(CapabilityError, match="it only calls host functions"):
        random.export_graph(tmp_path / "policy")
    with pytest.raises(InputError, match="expected a list of API methods, given 'update'"):
        agent.export_graph(tmp_path / "policy", "update")
    with pytest.raises(InputError, match="format: expected None or 'onnx', given 'tflite'"):
        agent.export_graph(tmp_path / "policy", format="tflite")
    assert not list(tmp_path.iterdir())
