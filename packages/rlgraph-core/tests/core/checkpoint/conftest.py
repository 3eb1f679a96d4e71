"""A small graph with everything that checkpoints keep, and its state in a form that can be compared."""

import hashlib
import json

import numpy as np
import pytest

from rlgraph.core import CheckpointError, Component, GraphExecutor, graph_fn, rlgraph_api
from rlgraph.spaces import BoolBox, FloatBox, IntBox


class Layer(Component):
    """Weights of three dtypes, and noise from a stream."""

    def create_variables(self, input_spaces, action_space=None):
        self.weights = self.get_variable("weights", FloatBox(shape=(3, 2)), initializer="normal")
        self.count = self.get_variable("count", IntBox(), trainable=False)
        self.used = self.get_variable("used", BoolBox(shape=(2,)), trainable=False)

    @rlgraph_api
    @graph_fn
    def call(self, ops, x):
        return ops.matmul(x + ops.random_normal(ops.shape(x)), ops.read(self.weights))


class Rows(Component):
    """Host variables and a host stream."""

    def create_variables(self, input_spaces, action_space=None):
        self.rows = self.get_variable("rows", FloatBox(shape=(4, 3)), host=True)
        self.size = self.get_variable("size", IntBox(), host=True)
        self.full = self.get_variable("full", BoolBox(shape=(4,)), host=True)

    @rlgraph_api
    @graph_fn(host=True, spaces=FloatBox())
    def draw(self):
        return np.array(self.rng.random(), np.float32)


class Learner(Component):
    def __init__(self, scope="learner", layer="layer"):
        self.layer, self.memory = Layer(scope=layer), Rows(scope="memory")
        super().__init__(self.layer, self.memory, scope=scope)

    @rlgraph_api
    def call(self, x):
        return self.layer.call(x)

    @rlgraph_api
    def draw(self):
        return self.memory.draw()


@pytest.fixture
def make():
    """An executor of the graph; `past` fills all that a checkpoint keeps with values of that seed."""

    def make(past=None, *, layer="layer", dtype="float32", backend="numpy"):
        spaces = {"x": FloatBox(shape=(3,), add_batch_rank=True)}
        spec = {"seed": past or 0, "dtype": dtype}
        executor = GraphExecutor(Learner(layer=layer), spaces, backend=backend, execution_spec=spec)
        if past is not None:
            rng = np.random.default_rng(past)
            executor.set_weights({f"{layer}/count": past, f"{layer}/used": [True, False]})
            for array in executor.storage.host.values():
                array[...] = (
                    rng.integers(0, 2, array.shape) if array.dtype == bool else rng.random(array.shape) * 9
                )
            for _ in range(past):
                executor.execute("call", np.ones((1, 3), dtype))
                executor.execute("draw")
        return executor

    return make


def state_of(executor):
    storage = executor.storage
    return {
        **{name: value.tobytes() for name, value in executor.get_weights().items()},
        **{name: value.tobytes() for name, value in storage.host.items()},
        **{f"{name} own": value.tobytes() for name, value in storage.read_tensor_streams().items()},
        **{f"{name} rng": str(rng.bit_generator.state) for name, rng in storage.streams.items()},
    }


@pytest.fixture
def state():
    """Every bit of an executor's values and streams."""
    return state_of


@pytest.fixture
def refused():
    """Loading is refused with a message, and nothing has changed."""

    def refused(executor, directory, said, **options):
        before = state_of(executor)
        with pytest.raises(CheckpointError, match=said):
            executor.load(directory, **options)
        assert state_of(executor) == before

    return refused


@pytest.fixture
def resign():
    """Make the checksums of a checkpoint fit its content again, as somebody would who means harm."""

    def resign(directory, change=None):
        file = directory / "manifest.json"
        manifest = json.loads(file.read_text())
        for name in manifest["files"]:
            if (directory / name).is_file():
                manifest["files"][name] = hashlib.sha256((directory / name).read_bytes()).hexdigest()
        if change is not None:
            change(manifest)
        manifest.pop("checksum", None)
        text = json.dumps(manifest, sort_keys=True).encode()
        file.write_text(json.dumps({**manifest, "checksum": hashlib.sha256(text).hexdigest()}))

    return resign
