import json
import os
import subprocess
import sys
import threading
import types

import numpy as np
import pytest

from rlgraph.components import Adam, Dense
from rlgraph.core import (
    BackendDescriptor,
    BuildError,
    Component,
    GraphExecutor,
    InputError,
    RLGraphError,
    graph_fn,
    registry,
    rlgraph_api,
)
from rlgraph.core.numpy.backend import NumpyBackend, NumpyStorage
from rlgraph.core.ops import CONTRACT_VERSION
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, TextBox

VECTORS = FloatBox(shape=(3,), add_batch_rank=True)


class Echo(Component):
    """Hands out what arrives in a graph function."""

    @rlgraph_api
    @graph_fn
    def run(self, ops, x):
        return ops.reshape(x, ops.shape(x))


class Counter(Component):
    """A count on the backend and one on the host."""

    def create_variables(self, input_spaces, action_space=None):
        self.count = self.get_variable("count", FloatBox(shape=(2,)), trainable=False)
        self.seen = self.get_variable("seen", IntBox(), host=True)

    @rlgraph_api
    @graph_fn(returns=0)
    def add(self, ops, x):
        ops.assign_add(self.count, x)

    @rlgraph_api
    @graph_fn
    def get(self, ops):
        return ops.read(self.count)

    @rlgraph_api
    @graph_fn
    def view(self, ops):
        return ops.reshape(self.count, (1, 2))

    @rlgraph_api
    def before_and_after(self, x):
        before = self._view()
        self._add(x)
        return before, self._view()

    @rlgraph_api
    @graph_fn(host=True, spaces=IntBox())
    def look(self):
        self.seen += 1
        return self.seen

    @rlgraph_api
    @graph_fn(host=True, spaces=FloatBox())
    def draw(self):
        return np.array(self.rng.random(), np.float32)


class Net(Component):
    """A layer that learns to give 1."""

    def __init__(self, scope="net", **options):
        self.layer = Dense(2, scope="layer")
        self.adam = Adam(0.1, scope="adam")
        super().__init__(self.layer, self.adam, scope=scope, **options)

    @rlgraph_api
    def predict(self, x):
        return self.layer.call(x)

    @rlgraph_api
    def learn(self, x):
        loss = self._loss(self.layer.call(x))
        self.adam.step(self.layer.variables(), loss)
        return loss

    @graph_fn
    def _loss(self, ops, y):
        return ops.mean(ops.square(y - 1.0))


def echo(space, backend, **options):
    return GraphExecutor(Echo(scope="echo"), {"x": space}, backend=backend, **options)


# Inputs.


@pytest.mark.parametrize(
    "value",
    [
        np.arange(6, dtype=np.float32).reshape(2, 3),
        np.arange(6.0).reshape(2, 3),
        np.arange(6).reshape(2, 3),
        [[0, 1, 2], [3, 4, 5]],
        ((0.0, 1.0, 2.0), (3.0, 4.0, 5.0)),
        [np.float32([0, 1, 2]), np.float32([3, 4, 5])],
        np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3)),
        np.arange(12, dtype=np.float32).reshape(2, 6)[:, ::2] / 2,
        np.arange(12, dtype=np.float32).reshape(4, 3)[::2][:, :] * 0
        + np.arange(6, dtype=np.float32).reshape(2, 3),
        np.arange(5, -1, -1, dtype=np.float32)[::-1].reshape(2, 3),
    ],
    ids=["exact", "float64", "int64", "list", "tuple", "rows", "column-major", "strided", "sum", "copy"],
)
def test_inputs_are_converted(value, backend):
    out = echo(VECTORS, backend).execute("run", value)
    assert (type(out), out.dtype) == (np.ndarray, np.float32)
    np.testing.assert_array_equal(out, np.arange(6).reshape(2, 3))


@pytest.mark.parametrize(
    "value", [["a", "bc"], ("a", "bc"), np.array(["a", "bc"]), np.array(["a", "bc"], object)]
)
def test_texts_reach_host_functions(value, backend):
    class Lengths(Component):
        @rlgraph_api
        @graph_fn(host=True, spaces=IntBox(add_batch_rank=True))
        def run(self, x):
            assert all(type(text) is str for text in x)
            return np.array([len(text) for text in x])

    texts = TextBox(add_batch_rank=True)
    executor = GraphExecutor(Lengths(scope="lengths"), {"x": texts}, backend=backend)
    assert executor.execute("run", value).tolist() == [1, 2]
    with pytest.raises(InputError, match=r"run: argument x: expected str\[B\], given int64\[1\]"):
        executor.execute("run", [1])


def test_inputs_with_negative_strides(backend):
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(echo(VECTORS, backend).execute("run", x[::-1]), x[::-1])
    np.testing.assert_array_equal(echo(VECTORS, backend).execute("run", x[:, ::-1]), x[:, ::-1])


def test_read_only_inputs(backend):
    x = np.broadcast_to(np.float32([1, 2, 3]), (2, 3))
    np.testing.assert_array_equal(echo(VECTORS, backend).execute("run", x), [[1, 2, 3]] * 2)


def test_empty_batches(backend):
    assert echo(VECTORS, backend).execute("run", np.zeros((0, 3), np.float32)).shape == (0, 3)


@pytest.mark.parametrize(
    ("space", "value", "message"),
    [
        (VECTORS, np.zeros((2, 4)), r"expected float32\[B, 3\], given float64\[2, 4\]"),
        (VECTORS, np.zeros((2, 4), np.float32), r"expected float32\[B, 3\], given float32\[2, 4\]"),
        (VECTORS, np.zeros(3), r"one batch rank more than given: pass value\[None\]"),
        (VECTORS, np.zeros((1, 2, 3), np.float32), r"given float32\[1, 2, 3\]"),
        (VECTORS, [[1, 2, 3], [4]], "expected float32"),
        (VECTORS, "text", "expected float32"),
        (VECTORS, None, r"expected float32\[B, 3\], given None or nothing: .* needs it at every call"),
        (IntBox(5), 1.5, r"expected int64\[\], given float64\[\]; convert it first"),
        (IntBox(5, add_batch_rank=True), np.array([1.0], np.float32), "convert it first"),
        (BoolBox(), 1, r"expected bool\[\], given int64\[\]; convert it first"),
        (FloatBox(), 1j, "convert it first"),
        (
            Dict(a=VECTORS, b=float),
            {"a": np.zeros((1, 4)), "b": 1.0},
            r"argument x.a: expected float32\[B, 3\]",
        ),
    ],
)
def test_wrong_inputs(space, value, message, backend):
    class Take(Component):
        @rlgraph_api
        def run(self, x):
            return x

    made = GraphExecutor(Take(scope="take"), {"x": space}, backend=backend)
    with pytest.raises(InputError, match=message) as error:
        made.execute("run", value)
    assert str(error.value).startswith("run: argument x")


def test_calling_by_name_or_by_method(backend):
    root = Echo(scope="echo")
    made = GraphExecutor(root, {"x": float}, backend=backend)
    assert float(made.execute(root.run, 2.0)) == float(made.execute("run", x=2.0)) == 2.0
    assert made.methods == ["run"]
    with pytest.raises(RLGraphError, match="echo has no API method 'rnu'. Did you mean 'run'?"):
        made.execute("rnu", 1.0)
    with pytest.raises(TypeError):
        made.execute("run")


def test_the_caller_keeps_his_array(backend):
    """What is handed in is not written, and what comes out of a computation is not written later."""
    made = GraphExecutor(Counter(scope="c"), {"x": FloatBox(shape=(2,))}, backend=backend)
    x = np.float32([1.0, 2.0])
    made.execute("add", x)
    np.testing.assert_array_equal(x, [1.0, 2.0])


# State.


def test_reads_and_writes_in_program_order(backend):
    made = GraphExecutor(Counter(scope="c"), {"x": FloatBox(shape=(2,))}, backend=backend)
    assert made.execute("add", [1.0, 2.0]) is None
    kept = [
        made.execute("get"),
        made.execute("view"),
        made.storage.read("c/count"),
        made.get_weights()["c/count"],
    ]
    before, after = made.execute("before_and_after", [10.0, 20.0])
    np.testing.assert_array_equal(before, [[1.0, 2.0]])
    np.testing.assert_array_equal(after, [[11.0, 22.0]])
    made.execute("add", [100.0, 100.0])
    made.set_weights({"c/count": [0.0, 0.0]})
    for value in kept:
        np.testing.assert_array_equal(value.reshape(-1), [1.0, 2.0])
    np.testing.assert_array_equal(before, [[1.0, 2.0]])
    np.testing.assert_array_equal(after, [[11.0, 22.0]])


def test_host_state(backend):
    made = GraphExecutor(Counter(scope="c"), {"x": FloatBox(shape=(2,))}, backend=backend)
    assert [int(made.execute("look")) for _ in range(3)] == [1, 2, 3]
    other = GraphExecutor(Counter(scope="c"), {"x": FloatBox(shape=(2,))}, backend=backend)
    assert int(other.execute("look")) == 1


def test_two_builds_of_one_class_are_independent(backend):
    one, two = (
        GraphExecutor(Counter(scope="c"), {"x": FloatBox(shape=(2,))}, backend=backend) for _ in range(2)
    )
    one.execute("add", [1.0, 1.0])
    np.testing.assert_array_equal(two.execute("get"), [0.0, 0.0])


def test_host_streams_depend_on_the_seed_and_the_scope(backend):
    def draws(scope="c", **options):
        made = GraphExecutor(
            Counter(scope=scope), {"x": FloatBox(shape=(2,))}, backend=backend, execution_spec=options
        )
        return [float(made.execute("draw")) for _ in range(3)]

    assert draws() == draws(seed=0)
    assert len({tuple(draws()), tuple(draws(seed=1)), tuple(draws("d"))}) == 3


def test_a_checkpoint_has_the_host_streams_from_which_nothing_was_drawn(backend, tmp_path):
    made = GraphExecutor(Counter(scope="c"), {"x": FloatBox(shape=(2,))}, backend=backend)
    made.save(tmp_path / "start")
    drawn = [float(made.execute("draw")) for _ in range(3)]
    made.load(tmp_path / "start")
    assert [float(made.execute("draw")) for _ in range(3)] == drawn


# Weights.


def test_get_weights(backend):
    made = GraphExecutor(Net(), {"x": VECTORS}, backend=backend)
    assert sorted(made.get_weights()) == [
        "adam/first_moments/layer/biases",
        "adam/first_moments/layer/weights",
        "adam/second_moments/layer/biases",
        "adam/second_moments/layer/weights",
        "adam/steps",
        "layer/biases",
        "layer/weights",
    ]
    assert list(made.get_weights(trainable_only=True)) == ["layer/biases", "layer/weights"]


def test_set_weights(backend):
    made = GraphExecutor(Net(), {"x": VECTORS}, backend=backend)
    program = made.program("predict")
    made.set_weights({"layer/weights": np.eye(3, 2), "layer/biases": [0.5, -0.5]})
    x = np.float32([[1.0, 2.0, 3.0]])
    np.testing.assert_allclose(program(x), [[1.5, 1.5]])
    made.set_weights({"layer/biases": [0.0, 0.0]})
    np.testing.assert_allclose(program(x), [[1.0, 2.0]])


def test_wrong_weights_change_nothing(backend):
    made = GraphExecutor(Net(), {"x": VECTORS}, backend=backend)
    before = made.get_weights()
    for wrong, message in [
        (
            {"layer/weights": np.ones((3, 2)), "layer/biases": [1.0]},
            r"'layer/biases': expected shape \(2,\), given \(1,\)",
        ),
        (
            {"layer/weights": np.ones((3, 2)), "layer/bias": [1.0, 1.0]},
            "no variable 'layer/bias'. Did you mean 'layer/biases'?",
        ),
        ({"layer/weights": np.ones((3, 2)), "layer/biases": ["a", "b"]}, "'layer/biases'"),
    ]:
        with pytest.raises(InputError, match=message):
            made.set_weights(wrong)
    for name, value in made.get_weights().items():
        np.testing.assert_array_equal(value, before[name])


def test_host_variables_are_no_weights(backend):
    made = GraphExecutor(Counter(scope="c"), {"x": FloatBox(shape=(2,))}, backend=backend)
    with pytest.raises(InputError, match="there is no variable 'c/seen'"):
        made.set_weights({"c/seen": 1})


def test_weights_travel_between_backends(backend):
    x = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
    source = GraphExecutor(Net(), {"x": VECTORS}, backend=backend, execution_spec={"seed": 1})
    target = GraphExecutor(Net(), {"x": VECTORS}, backend="numpy", execution_spec={"seed": 2})
    assert not np.allclose(source.execute("predict", x), target.execute("predict", x))
    target.set_weights(source.get_weights())
    np.testing.assert_allclose(source.execute("predict", x), target.execute("predict", x), atol=1e-6)


def test_float64(backend):
    made = GraphExecutor(Net(), {"x": VECTORS}, backend=backend, execution_spec={"dtype": "float64"})
    assert {str(value.dtype) for value in made.get_weights().values()} == {"float64"}
    weights = made.get_weights()
    x = np.random.default_rng(0).normal(size=(5, 3))
    out = made.execute("predict", x)
    assert out.dtype == np.float64
    exact = [
        [sum(x[b, i] * weights["layer/weights"][i, j] for i in range(3)) for j in range(2)] for b in range(5)
    ]
    np.testing.assert_allclose(out, exact, atol=1e-14)


# The NumPy actor.


def test_the_numpy_actor_sees_every_update(trainer):
    made = GraphExecutor(Net(), {"x": VECTORS}, backend=trainer)
    act = made.numpy_program("predict")
    x = np.random.default_rng(1).normal(size=(4, 3)).astype(np.float32)
    seen = []
    for _ in range(3):
        seen.append(act(x))
        np.testing.assert_allclose(seen[-1], made.execute("predict", x), atol=1e-6)
        made.execute("learn", x)
    assert not np.allclose(seen[0], seen[1])
    made.set_weights({"layer/weights": np.zeros((3, 2)), "layer/biases": [1.0, 2.0]})
    np.testing.assert_array_equal(act(x), [[1.0, 2.0]] * 4)
    with pytest.raises(InputError):
        act(np.zeros(3))


def test_the_numpy_actor_reads_only(backend):
    made = GraphExecutor(Counter(scope="c"), {"x": FloatBox(shape=(2,))}, backend=backend)
    with pytest.raises(
        RLGraphError, match="'add' writes variables: only read-only methods run on borrowed memory"
    ):
        made.numpy_program("add")
    view = made.numpy_program("view")
    kept = view()
    made.execute("add", [1.0, 2.0])
    np.testing.assert_array_equal(kept, [[0.0, 0.0]])
    np.testing.assert_array_equal(view(), [[1.0, 2.0]])


@pytest.fixture
def copying(monkeypatch):
    """A backend whose memory cannot be borrowed."""

    class CopyingStorage(NumpyStorage):
        def borrow_group(self, name):
            return None

    class CopyingBackend(NumpyBackend):
        def create_storage(self, layout, variables):
            return CopyingStorage(layout, variables, self.execution.seed)

    module = types.ModuleType("copying_backend")
    module.Copying = CopyingBackend
    module.DESCRIPTOR = BackendDescriptor(
        "copying", "", "copying_backend:Copying", CONTRACT_VERSION, frozenset()
    )
    monkeypatch.setitem(sys.modules, "copying_backend", module)
    registry("rlgraph.backends").register("copying", "copying_backend:DESCRIPTOR")
    yield "copying"
    registry("rlgraph.backends")._plugins.pop("copying")
    registry("rlgraph.backends")._objects.pop("copying", None)


def test_the_numpy_actor_copies_what_it_cannot_borrow(copying):
    class Failing(Counter):
        @rlgraph_api
        def add_and_fail(self, x):
            self._add(x)
            return self._fail(self._get())

        @graph_fn(host=True, spaces=FloatBox())
        def _fail(self, count):
            raise RuntimeError("too late")

    made = GraphExecutor(Failing(scope="c"), {"x": FloatBox(shape=(2,))}, backend=copying)
    act = made.numpy_program("view")
    made.execute("add", [1.0, 2.0])
    np.testing.assert_array_equal(act(), [[1.0, 2.0]])
    made.set_weights({"c/count": [5.0, 6.0]})
    np.testing.assert_array_equal(act(), [[5.0, 6.0]])
    with pytest.raises(RuntimeError, match="too late"):
        made.execute("add_and_fail", [1.0, 1.0])
    np.testing.assert_array_equal(act(), [[6.0, 7.0]])


def test_methods_on_numpy_share_their_copies_of_variables(copying, monkeypatch):
    class Trained(Counter):  # in a group of its own
        def create_variables(self, input_spaces, action_space=None):
            self.count = self.get_variable("count", FloatBox(shape=(2,)), initializer=0.0)

    class Two(Component):
        def __init__(self):
            self.first, self.second = Counter(scope="first"), Trained(scope="second")
            super().__init__(self.first, self.second, scope="two")

        @rlgraph_api
        def add(self, x):
            self.first.add(x)
            self.second.add(x)

        @rlgraph_api
        def view_first(self):
            return self.first.view()

        @rlgraph_api
        def view_second(self):
            return self.second.view()

    made = GraphExecutor(Two(), {"x": FloatBox(shape=(2,))}, backend=copying)
    fetched = []
    fetch = made.storage.fetch_groups
    monkeypatch.setattr(
        made.storage, "fetch_groups", lambda names: fetched.append(list(names)) or fetch(names)
    )
    first = made.numpy_program("view_first")
    made.execute("add", [1.0, 2.0])
    np.testing.assert_array_equal(first(), [[1.0, 2.0]])
    second, again = (made.numpy_program("view_second") for _ in range(2))
    np.testing.assert_array_equal(second(), [[1.0, 2.0]])  # nobody had brought it up to date
    fetched.clear()
    made.execute("add", [1.0, 1.0])
    for view in (first, second, again, first):
        np.testing.assert_array_equal(view(), [[2.0, 3.0]])
    assert fetched == [sorted(made.built.layout.groups)] and len(fetched[0]) == 2


def test_the_numpy_actor_shares_host_streams(backend):
    one, two = (
        GraphExecutor(Counter(scope="c"), {"x": FloatBox(shape=(2,))}, backend=backend) for _ in range(2)
    )
    act = two.numpy_program("draw")
    assert [float(one.execute("draw")) for _ in range(4)] == [
        float(f()) for f in (act, two.program("draw"), act, two.program("draw"))
    ]


# The build.


def test_statistics():
    made = GraphExecutor(Net(), {"x": VECTORS}, backend="numpy")
    assert made.statistics["components"] == 3
    assert made.statistics["variables"] == 7
    assert made.statistics["trainable_parameters"] == 8
    assert made.statistics["total_seconds"] >= made.statistics["build_seconds"] > 0
    assert 0 < made.statistics["storage_seconds"] < made.statistics["total_seconds"]


def test_a_component_is_built_once():
    root = Net()
    GraphExecutor(root, {"x": VECTORS}, backend="numpy")
    with pytest.raises(BuildError, match="is built already"):
        GraphExecutor(root, {"x": VECTORS}, backend="numpy")


def test_programs_are_made_once(backend):
    made = GraphExecutor(Net(), {"x": VECTORS}, backend=backend)
    assert made.program("predict") is made.program("predict")
    assert made.plan("predict") is made.plan("predict")


def test_threads_may_call(backend):
    made = GraphExecutor(Counter(scope="c"), {"x": FloatBox(shape=(2,))}, backend=backend)
    made.execute("add", [0.0, 0.0])

    def work():
        for _ in range(50):
            made.execute("add", np.float32([1.0, 1.0]))
            made.execute("look")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(made.execute("get"), [200.0, 200.0])
    assert int(made.execute("look")) == 201


SCRIPT = """
import json, sys
from rlgraph.components import NeuralNetwork
from rlgraph.core import GraphExecutor
from rlgraph.spaces import FloatBox
net = NeuralNetwork([{"type": "dense", "units": 4, "activation": "tanh"}, {"type": "dense", "units": 2}])
spaces = {"inputs": FloatBox(shape=(3,), add_batch_rank=True)}
made = GraphExecutor(net, spaces, backend="numpy", execution_spec={"seed": 7})
weights = {name: value.tolist() for name, value in made.get_weights().items()}
json.dump([weights, made.execute("call", [[1.0, 2.0, 3.0]]).tolist()], sys.stdout)
"""


@pytest.mark.slow
def test_one_seed_gives_one_result_in_all_processes():
    outputs = []
    for hash_seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        outputs.append(
            subprocess.run(
                [sys.executable, "-c", SCRIPT], capture_output=True, env=environment, check=True
            ).stdout
        )
    assert outputs[0] == outputs[1]
    weights, _ = json.loads(outputs[0])
    assert len(weights) == 4


@pytest.mark.slow
def test_importing_core_imports_no_framework_and_writes_nothing(tmp_path):
    script = (
        "import sys, rlgraph.core, rlgraph.components, rlgraph.testing\n"
        "print(sorted({'torch', 'tensorflow', 'jax', 'yaml', 'gymnasium', 'hypothesis', 'pytest'} & set(sys.modules)))"
    )
    environment = {**os.environ, "HOME": str(tmp_path), "RLGRAPH_HOME": str(tmp_path)}
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, env=environment, check=True, text=True
    )
    assert result.stdout.strip() == "[]"
    assert list(tmp_path.iterdir()) == []


class Pairs(Component):
    @rlgraph_api
    @graph_fn
    def run(self, ops, x, y):
        return ops.sum(x) + ops.sum(y["a"])


def test_sizes_of_one_name_are_one_size(backend):
    batch = FloatBox(shape=(2,), add_batch_rank=True)
    y = Dict(a=FloatBox(add_batch_rank=True))
    executor = GraphExecutor(Pairs(), {"x": batch, "y": y}, backend=backend)
    one, two = np.ones((2, 2), np.float32), {"a": np.ones(3, np.float32)}
    message = (
        r"run: sizes of one name differ: B is 2 in x \[2, 2\] for float32\[B, 2\] and 3 in y.a \[3\] for float32\[B\]\."
        " Give them"
    )
    with pytest.raises(InputError, match=message):
        executor.execute("run", one, two)
    assert float(executor.execute("run", one, {"a": [1.0, 1.0]})) == 6.0
    named = GraphExecutor(
        Pairs(), {"x": batch, "y": Dict(a=FloatBox(add_batch_rank="other"))}, backend=backend
    )
    assert float(named.execute("run", one, two)) == 7.0


class Pick(Component):
    """Entries of a table by index; the indices come from the caller, or from the host."""

    @rlgraph_api
    def given(self, table, index):
        return self._pick(table, index)

    @rlgraph_api
    def remembered(self, table, number):
        return self._pick(table, self._indices(number)["at"])

    @graph_fn
    def _pick(self, ops, table, index):
        return ops.take(table, index)

    @graph_fn(host=True, spaces=Dict(at=IntBox(3, add_batch_rank=True)))
    def _indices(self, number):
        return {"at": np.array([0, int(number)])}


@pytest.mark.parametrize(
    ("method", "index", "message"),
    [
        (
            "given",
            np.array([1, 7]),
            "given: argument index: expected integers of its Space, 0 to 2, given 1 to 7",
        ),
        ("given", np.array([-2, 1]), "given: argument index: expected .*0 to 2, given -2 to 1"),
        ("remembered", 5, "remembered: what pick._indices gave as at: expected .*0 to 2, given 0 to 5"),
    ],
)
def test_an_index_out_of_range_is_named(backend, method, index, message):
    """What a backend fails with says neither which argument it was nor what was expected."""
    spaces = {
        "table": FloatBox(shape=(), add_batch_rank="rows"),
        "index": IntBox(3, add_batch_rank=True),
        "number": int,
    }
    made = GraphExecutor(Pick(scope="pick"), spaces, backend=backend)
    table = np.array([2.0, 3.0, 4.0], np.float32)
    with pytest.raises(InputError, match=message) as error:
        made.execute(method, table, index)
    assert error.value.__cause__ is not None
    fits = 2 if method == "remembered" else np.array([0, 2])
    assert made.execute(method, table, fits).tolist() == [2.0, 4.0]


@pytest.mark.parametrize("units", [10**12, 2**62])
def test_variables_beyond_all_memory(units):
    """Said by the build, before anything is allocated."""
    with pytest.raises(
        BuildError, match=rf"variable .*weights, float32\[3, {units}\], needs .* GiB of memory"
    ):
        GraphExecutor(Dense(units), {"inputs": FloatBox(shape=(3,), add_batch_rank=True)}, backend="numpy")
