import zlib

import numpy as np
import pytest

from rlgraph.core import (
    BackendDescriptor,
    CapabilityError,
    Component,
    ExecutionSpec,
    GraphExecutor,
    PluginError,
    RLGraphError,
    SpecError,
    create_backend,
    executor_class,
    find_backend,
    gradients,
    graph_fn,
    registry,
    rlgraph_api,
)
from rlgraph.core.ops import CONTRACT_VERSION
from rlgraph.core.random_streams import stream_seed
from rlgraph.spaces import BoolBox, FloatBox


def test_execution_spec():
    assert ExecutionSpec.from_spec(None) == ExecutionSpec("float32", 0, None, True)
    given = {"dtype": "float64", "seed": 3, "threads": 2, "use_kernels": False}
    assert ExecutionSpec.from_spec(given) == ExecutionSpec("float64", 3, 2, False)
    assert given == {"dtype": "float64", "seed": 3, "threads": 2, "use_kernels": False}
    spec = ExecutionSpec(seed=5)
    assert ExecutionSpec.from_spec(spec) is spec


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"dtype": "float16"}, "execution_spec.dtype: expected 'float32' or 'float64', given 'float16'"),
        ({"seed": -1}, "execution_spec.seed: expected an integer >= 0, given -1"),
        ({"seed": "1"}, "execution_spec.seed"),
        ({"seed": True}, "execution_spec.seed"),
        ({"threads": 0}, "execution_spec.threads: expected an integer from 1 to 1024, given 0"),
        ({"threads": 1.5}, "execution_spec.threads"),
        ({"threads": True}, "execution_spec.threads"),
        ({"use_kernels": "no"}, "execution_spec.use_kernels: expected true or false, given 'no'"),
        (
            {"compile": "update"},
            "execution_spec.compile: expected true, false or a list of API methods, given 'update'",
        ),
        (
            {"compile": [1]},
            "execution_spec.compile: expected true, false or a list of API methods, given [1]",
        ),
        ({"soft_placement": 1}, "execution_spec.soft_placement: expected true or false, given 1"),
        (
            {"devices": "cpu", "collective": "gloo"},
            "execution_spec.devices: expected a list of devices, one for each learner, given 'cpu'",
        ),
        (
            {"devices": ["cpu", "cpu"]},
            "2 learners need a collective, for example {'devices': [...], 'collective': 'gloo'}",
        ),
        (
            {"devices": ["cpu", "cpu"], "learners": 1, "collective": "gloo"},
            "execution_spec.learners: each of the 2 devices has a learner, given 1: leave it out",
        ),
        (
            {"devices": ["cpu"], "device": "cpu"},
            "execution_spec.device: every learner has the one of 'devices' that is its own: leave it out",
        ),
        (
            {"devices": ["cpu"], "launcher": "ray"},
            "execution_spec.devices: they are of this machine, and launcher 'ray' starts learners anywhere",
        ),
        *(
            ({name: given}, f"execution_spec.{name}: ExecutionSpec has no such key. Give 'device'")
            for name, given in (
                ("device_strategy", "default"),
                ("replicas", []),
                ("gpu_spec", {}),
                ("num_gpus", 1),
            )
        ),
        (
            {"choices": {"compile": 1}},
            "execution_spec.choices: expected name -> choice, given {'compile': 1}",
        ),
        ({"sede": 1}, "execution_spec.sede: ExecutionSpec has no such key. Did you mean 'seed'?"),
        ("float64", "execution_spec: expected a mapping, given 'float64'"),
        ([1], "execution_spec: expected a mapping"),
    ],
)
def test_wrong_execution_specs(spec, message):
    with pytest.raises(SpecError) as error:
        ExecutionSpec.from_spec(spec)
    assert message in str(error.value)


def test_a_learner_is_on_its_device():
    spec = ExecutionSpec(devices=["cpu", "cuda:1"], collective="gloo", seed=3)
    assert spec.number_of_learners == 2
    assert spec.of_learner(1) == ExecutionSpec(device="cuda:1", collective="gloo", seed=3)
    with pytest.raises(SpecError, match=r"execution_spec.devices: .* given 2: there is none for learner 2"):
        spec.of_learner(2)
    alone = ExecutionSpec(learners=3, collective="gloo")
    assert alone.number_of_learners == 3 and alone.of_learner(2) is alone
    with pytest.raises(SpecError, match=r"execution_spec.devices: 2 devices are of as many learners"):
        GraphExecutor(Component(scope="root"), {}, backend="numpy", execution_spec=spec)


def test_finding_backends(backend):
    descriptor = find_backend(backend)
    assert descriptor.name == backend
    assert descriptor.contract_version == CONTRACT_VERSION
    for alias in descriptor.aliases:
        assert find_backend(alias) == find_backend(alias.upper()) == descriptor
    made = create_backend(backend, ExecutionSpec())
    assert (made.name, made.capabilities) == (backend, descriptor.capabilities)


def test_only_methods_that_exist_are_compiled(backend):
    class Double(Component):
        @rlgraph_api
        @graph_fn
        def double(self, ops, x):
            return x + x

    def make(wanted):
        spaces = {"x": FloatBox(add_batch_rank=True)}
        return GraphExecutor(
            Double(scope="root"), spaces, backend=backend, execution_spec={"compile": wanted}
        )

    with pytest.raises(
        SpecError, match="execution_spec.compile: no API method 'duoble'. Did you mean 'double'?"
    ):
        make(["duoble"])
    executor = make(["double"])
    plan = executor.plan("double")
    assert executor.backend.compiles(plan, plan.segments[0])
    assert not make([]).backend.compiles(plan, plan.segments[0])


def test_executor_classes(backend):
    found = executor_class(backend)
    assert issubclass(found, GraphExecutor)
    assert found.backend_name in (None, backend)

    class Foreign(GraphExecutor):
        backend_name = "another"

    with pytest.raises(SpecError, match="Foreign is the executor of backend 'another', given"):
        Foreign(Component(scope="root"), {}, backend=backend)


def test_unknown_backends():
    with pytest.raises(
        SpecError, match=r"'cuda', which is a device: give it as execution_spec\.device .*numpy"
    ):
        find_backend("cuda")
    with pytest.raises(SpecError, match="backend: unknown backend 'nunpy'. Did you mean 'numpy'?"):
        find_backend("nunpy")


@pytest.fixture
def register():
    """Registers backends for one test."""
    known, added = registry("rlgraph.backends"), []

    def add(name, descriptor):
        known.register(name, _Holder)
        known._objects[name] = descriptor
        added.append(name)

    yield add
    for name in added:
        known._plugins.pop(name)
        known._objects.pop(name)


class _Holder:
    pass


def test_another_contract(register):
    register("old", BackendDescriptor("old", "oldframework", "x:y", "0.0", frozenset()))
    with pytest.raises(
        PluginError,
        match="backend 'old' implements version 0.0 of the backend contract, .* Upgrade the package",
    ):
        find_backend("old")


def test_an_entry_point_that_is_no_backend(register):
    register("odd", dict)
    with pytest.raises(
        PluginError,
        match="backend 'odd' of this program, .*: expected a BackendDescriptor, given <class 'dict'>",
    ):
        find_backend("odd")
    assert find_backend("np").name == "numpy"  # an alias: all are asked


def test_a_place_that_is_not_there(register):
    register("odd", BackendDescriptor("odd", "numpy", "json:NoBackend", CONTRACT_VERSION, frozenset()))
    with pytest.raises(
        PluginError, match="backend 'odd' cannot be loaded from json:NoBackend: module 'json'"
    ):
        create_backend("odd", ExecutionSpec())


def test_a_framework_that_is_not_installed(register):
    descriptor = BackendDescriptor(
        "gone", "goneframework", "no_such_module_here:Backend", CONTRACT_VERSION, frozenset()
    )
    register("gone", descriptor)
    assert find_backend("gone") is descriptor
    with pytest.raises(
        PluginError, match="backend 'gone' cannot be loaded: No module named.*pip install goneframework"
    ):
        create_backend("gone", ExecutionSpec())


def test_streams_depend_on_seed_and_scope_only():
    assert stream_seed(3, "a/b") == [3, zlib.crc32(b"a/b")]
    draws = {
        (seed, scope): np.random.default_rng(stream_seed(seed, scope)).integers(2**62)
        for seed in (0, 1)
        for scope in ("a", "b", "a/b")
    }
    assert len(set(draws.values())) == 6


class Learner(Component):
    def create_variables(self, input_spaces, action_space=None):
        self.w = self.get_variable("w", FloatBox(shape=(2,)), initializer=1.0)

    @rlgraph_api
    @graph_fn
    def predict(self, ops, x):
        return x * self.w

    @rlgraph_api
    def learn(self, x):
        return self._apply(gradients(self._total(self._predict(x)), self.variables()))

    @graph_fn
    def _total(self, ops, x):
        return ops.sum(x)

    @graph_fn
    def _apply(self, ops, derivatives):
        return derivatives[0] * 1.0


def test_forward_only_backends_say_so_when_called():
    made = GraphExecutor(Learner(scope="learner"), {"x": FloatBox(shape=(2,))}, backend="numpy")
    np.testing.assert_array_equal(made.execute("predict", [1.0, 2.0]), [1.0, 2.0])
    assert made.plan("learn").needs_gradients
    with pytest.raises(
        CapabilityError, match="'learn' needs gradients; the numpy backend is forward only.*torch"
    ):
        made.execute("learn", [1.0, 2.0])


def test_training_backends_derive(trainer):
    made = GraphExecutor(Learner(scope="learner"), {"x": FloatBox(shape=(2,))}, backend=trainer)
    np.testing.assert_array_equal(made.execute("learn", [1.0, 2.0]), [1.0, 2.0])
    with pytest.raises(CapabilityError, match="forward only"):
        made.numpy_program("learn")


class Kernelled(Component):
    @rlgraph_api
    def run(self, x):
        return self._double(x)

    @graph_fn
    def _double(self, ops, x):
        return x * 2.0

    @_double.kernel("numpy")
    def _double_on_numpy(self, ops, x):
        return x * 20.0


def test_declared_kernels_are_used_on_their_backend_and_can_be_turned_off():
    def run(**options):
        made = GraphExecutor(Kernelled(scope="root"), {"x": float}, backend="numpy", execution_spec=options)
        return float(made.execute("run", 1.0))

    assert run() == 20.0
    assert run(use_kernels=False) == 2.0


def test_kernels_of_other_backends_are_not_used(trainer):
    made = GraphExecutor(Kernelled(scope="root"), {"x": float}, backend=trainer)
    assert float(made.execute("run", 1.0)) == 2.0


class Stateful(Component):
    """Variables of several kinds."""

    def create_variables(self, input_spaces, action_space=None):
        self.weights = self.get_variable("weights", FloatBox(shape=(2, 3)), initializer="glorot_uniform")
        self.count = self.get_variable("count", int, initializer=7)
        self.flags = self.get_variable("flags", BoolBox(shape=(2,)), initializer=True)
        self.rows = self.get_variable("rows", FloatBox(shape=(4,)), host=True, initializer=2.0)

    @rlgraph_api
    @graph_fn
    def run(self, ops):
        return self.weights * 1.0


def test_storage(backend):
    storage = GraphExecutor(Stateful(scope="root"), {}, backend=backend).storage
    values = storage.read_all()
    assert {name: (value.shape, str(value.dtype)) for name, value in values.items()} == {
        "root/count": ((), "int64"),
        "root/flags": ((2,), "bool"),
        "root/weights": ((2, 3), "float32"),
    }
    assert (int(values["root/count"]), values["root/flags"].tolist()) == (7, [True, True])
    np.testing.assert_array_equal(storage.read("root/rows"), [2.0] * 4)
    # Copies, on every backend.
    values["root/weights"][...] = 5.0
    storage.read("root/rows")[...] = 5.0
    assert not np.any(storage.read("root/weights") == 5.0)
    assert not np.any(storage.read("root/rows") == 5.0)
    version = storage.version
    storage.write_all({"root/weights": np.ones((2, 3), np.float32), "root/flags": np.array([True, False])})
    assert storage.version > version
    np.testing.assert_array_equal(storage.read("root/weights"), np.ones((2, 3)))
    assert storage.read("root/flags").tolist() == [True, False]
    assert int(storage.read("root/count")) == 7


def test_all_backends_start_from_the_same_numbers(backend):
    seeds = [{"seed": 4}, {"seed": 5}]
    numpy, other = (
        [
            GraphExecutor(Stateful(scope="root"), {}, backend=name, execution_spec=seed).get_weights()
            for seed in seeds
        ]
        for name in ("numpy", backend)
    )
    for mine, theirs in zip(numpy, other, strict=True):
        for name, value in mine.items():
            np.testing.assert_array_equal(value, theirs[name])
    assert not np.array_equal(numpy[0]["root/weights"], numpy[1]["root/weights"])


def test_errors_have_one_base():
    import rlgraph.core

    for name in rlgraph.core.__all__:
        if name.endswith("Error") and name != "RLGraphError":
            assert issubclass(getattr(rlgraph.core, name), RLGraphError)
