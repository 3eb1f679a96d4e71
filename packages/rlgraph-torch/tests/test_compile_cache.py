"""Which programs are found again on disk, and in what state the disk may be."""

import os
import stat
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from rlgraph.components import Adam, Dense
from rlgraph.core import Component, GraphExecutor, PerformanceWarning, RLGraphError, graph_fn, rlgraph_api
from rlgraph.spaces import FloatBox
from rlgraph.torch.backend import DIALECT
from rlgraph.torch.compile import key
from rlgraph.torch.compile.cache import Cache, cache_folder
from rlgraph.torch.compile.tracing import Tracer

SCALE = 2.0


def half(ops, x):
    return 0.5 * ops.square(x)


def third(ops, x):
    return ops.square(x) / 3.0


class Learner(Component):
    """Mistakes in its key would be mistakes in its update."""

    def __init__(self, units=4, activation="tanh", rate=0.1, discount=0.9, trainable=True, power=half):
        self.layer = Dense(units, activation, scope="layer")
        self.frozen = Dense(2, scope="other", trainable=trainable)
        self.adam, self.discount, self.power = Adam(rate), discount, power
        super().__init__(self.layer, self.frozen, self.adam, scope="root")

    @rlgraph_api
    def update(self, x):
        loss = self._loss(self.layer.call(x), self.frozen.call(x))
        self.adam.step(self.layer.variables(), loss)
        return loss

    @graph_fn
    def _loss(self, ops, y, z):
        return self._mean(ops, self.power(ops, y)) * SCALE + self.discount * ops.mean(z)

    def _mean(self, ops, y):
        return ops.mean(y)


class OtherBody(Learner):
    @graph_fn
    def _loss(self, ops, y, z):
        return self._mean(ops, self.power(ops, y)) * SCALE - self.discount * ops.mean(z)


class OtherHelper(Learner):
    def _mean(self, ops, y):
        return ops.mean(y) + 1.0


def scaled_by(factor):
    return lambda ops, x: factor * ops.square(x)


def make(root=None, compile=True, **options):
    space = {"x": FloatBox(shape=(3,), add_batch_rank=True)}
    return GraphExecutor(
        root or Learner(), space, backend="torch", execution_spec={"compile": compile, **options}
    )


def key_of(root=None, size=4, **options):
    executor = make(root, **options)
    plan, dtype = executor.plan("update"), options.get("dtype", "float32")
    inputs = [torch.zeros(size, 3, dtype=getattr(torch, dtype))]
    traced = Tracer(plan, plan.segments[0], executor.storage, DIALECT, dtype).trace(inputs)
    groups = [executor.storage.groups[name] for name in traced.inputs.groups]
    return key.key_of_graph(traced.graph, [*(inputs[i] for i in traced.inputs.arrays), *groups])


def arrays(seed=0, size=4):
    return np.random.default_rng(seed).normal(size=(size, 3)).astype("float32")


# Keys.


def test_equal_programs_have_one_key():
    assert key_of() == key_of() is not None
    assert key_of(seed=1) == key_of(seed=2)  # starting values are no constants
    assert key_of(Learner(power=scaled_by(2.0))) == key_of(Learner(power=scaled_by(2.0)))


@pytest.mark.parametrize(
    "changed",
    [
        {"root": lambda: Learner(rate=0.2)},
        {"root": lambda: Learner(discount=0.8)},
        {"root": lambda: Learner(activation="relu")},
        {"root": lambda: Learner(units=5)},
        {"root": lambda: Learner(trainable=False)},  # another layout
        {"root": lambda: Learner(power=third)},
        {"root": lambda: Learner(power=scaled_by(0.75))},
        {"root": OtherBody},
        {"root": OtherHelper},
        {"dtype": "float64"},
        {"size": 5},
    ],
    ids=count(),
)
def test_whatever_could_make_another_program_is_in_its_key(changed):
    changed = {name: value() if name == "root" else value for name, value in changed.items()}
    found = key_of(**changed)
    assert found is not None and found != key_of()


def test_values_of_closures_are_in_the_key():
    assert key_of(Learner(power=scaled_by(0.5))) != key_of(Learner(power=scaled_by(0.25)))


def test_global_values_are_in_the_key(monkeypatch):
    before = key_of()
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    assert key_of() not in (before, None)


def test_the_environment_is_in_the_key(monkeypatch):
    before = key_of()
    with monkeypatch.context() as context:
        context.setattr(torch, "__version__", "2.99.0")
        assert key_of() not in (before, None)
    with monkeypatch.context() as context:
        context.setattr(key, "_processor", lambda: "another")
        assert key_of() not in (before, None)
    with monkeypatch.context() as context:
        context.setenv("TORCHINDUCTOR_FREEZING", "1")
        assert key_of() not in (before, None)
    assert key_of() == before


def test_settings_of_torch_are_in_the_key():
    before = key.environment()
    torch.set_default_dtype(torch.float64)
    try:
        assert key.environment() != before
    finally:
        torch.set_default_dtype(torch.float32)


def test_a_graph_that_holds_a_tensor_has_no_key():
    graph = make_fx(lambda x: x + x)(torch.ones(2, 2))
    assert key.key_of_graph(graph, []) is not None
    graph.constant = torch.ones(2)
    assert key.key_of_graph(graph, []) is None


def test_a_second_start_finds_the_program_by_its_graph(straight):
    def learn(factor):
        executor = make(Learner(power=scaled_by(factor)), seed=1)
        executor.execute("update", arrays())
        return executor.get_weights()["layer/weights"]

    first, again, other = learn(0.5), learn(0.5), learn(0.25)
    assert len(straight) == 2
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


# The disk.


def test_the_folder_is_the_users_alone(straight, cache):
    make().execute("update", arrays())
    assert cache_folder() == cache
    for place in (cache, cache.parent):
        assert stat.S_IMODE(place.stat().st_mode) == 0o700


def test_a_folder_that_others_may_write_is_refused(cache):
    cache.mkdir(parents=True)
    cache.chmod(0o770)
    with pytest.raises(RLGraphError, match="others may write there; chmod 700"):
        make().execute("update", arrays())


def test_a_folder_of_somebody_else_is_refused(cache, monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    with pytest.raises(RLGraphError, match="belongs to another user.*RLGRAPH_CACHE"):
        make().execute("update", arrays())


def test_a_folder_that_cannot_be_made(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("RLGRAPH_CACHE", str(tmp_path / "file"))
    with pytest.raises(
        RLGraphError, match="file: compiled .* cannot be made .*; name another one in RLGRAPH_CACHE"
    ):
        make().execute("update", arrays())


def test_a_relative_folder_stays_where_it_was_meant(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RLGRAPH_CACHE", "here")
    assert cache_folder() == tmp_path / "here" / "torch"


def test_by_default_it_is_in_the_home(monkeypatch, tmp_path):
    monkeypatch.delenv("RLGRAPH_CACHE")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".rlgraph" / "compiled" / "torch"


@pytest.mark.parametrize("damage", ["library", "text", "missing"])
def test_damaged_programs_are_compiled_again(straight, cache, damage):
    make().execute("update", arrays())
    (entry,) = cache.iterdir()
    description = entry / "program.json"
    if damage == "library":
        (entry / "program.so").write_text("1")
    elif damage == "text":
        description.write_text("{")
    else:
        description.unlink()
    executor = make()
    with pytest.warns(RuntimeWarning, match="is damaged .*: it is compiled again"):
        executor.execute("update", arrays())
    assert len(straight) == 2 and executor.choices == {"compile:update": "inductor"}
    make().execute("update", arrays())
    assert len(straight) == 2


def test_a_program_that_cannot_be_loaded_runs_eagerly(straight, monkeypatch):
    expected = make().execute("update", arrays())

    def load_library(library):
        raise RuntimeError("failed to map segment from shared object")

    monkeypatch.setattr("rlgraph.torch.compile.program.load_library", load_library)
    executor = make()
    with pytest.warns(PerformanceWarning, match="program.so cannot be loaded .RuntimeError: failed to map"):
        assert executor.execute("update", arrays()) == pytest.approx(expected)
    assert executor.choices["compile:update"].startswith("eager (") and len(straight) == 1


def test_several_may_store_the_same_program(tmp_path):
    cache = Cache(tmp_path)

    def store(number):
        return cache.store("key", lambda file: file.write_text(str(number))).read_text()

    with ThreadPoolExecutor(4) as pool:
        stored = set(pool.map(store, range(8)))
    assert len(stored) == 1
    assert {cache.find("key").read_text()} == stored
    assert [entry.name for entry in tmp_path.iterdir()] == ["key"]


def test_nothing_is_left_of_a_compilation_that_fails(tmp_path):
    def fails(file):
        file.write_text("half of it")
        raise OSError

    with pytest.raises(OSError):
        Cache(tmp_path).store("key", fails)
    assert Cache(tmp_path).find("key") is None and not list(tmp_path.iterdir())


def test_what_a_killed_process_left_is_removed_after_a_day(tmp_path):
    old, new = tmp_path / ".new-old", tmp_path / ".new-new"
    for place in (old, new):
        place.mkdir()
    os.utime(old, (time.time() - 90_000,) * 2)
    Cache(tmp_path).store("key", Path.touch)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".new-new", "key"]


class Custom(Component):
    """Part of an update is an operation that is not torch's own."""

    def __init__(self):
        self.layer, self.adam = Dense(1), Adam(0.01)
        super().__init__(self.layer, self.adam, scope="root")

    @rlgraph_api
    def update(self, s):
        loss = self._loss(self.layer.call(s), self._target(s))
        self.adam.step(self.layer.variables(), loss)
        return loss

    @graph_fn(spaces=FloatBox(shape=(1,), add_batch_rank=True))
    def _target(self, ops, s): ...

    @_target.kernel("torch")
    def _target_on_torch(self, ops, s):
        return sum_of_rows(s)

    @graph_fn
    def _loss(self, ops, y, target):
        return ops.mean(ops.square(y - target))


@torch.library.custom_op("rlgraph_tests::sum_of_rows", mutates_args=())
def sum_of_rows(x: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(x.numpy().sum(axis=1, keepdims=True))


@sum_of_rows.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return x.new_empty((x.shape[0], 1))


@pytest.mark.slow
def test_custom_operations_are_compiled_for_this_process(cache):
    space = {"s": FloatBox(shape=(3,), add_batch_rank=True)}
    compiled, eager = (
        GraphExecutor(Custom(), space, backend="torch", execution_spec={"seed": 3, "compile": compile})
        for compile in (True, False)
    )
    rng = np.random.default_rng(0)
    for states in rng.normal(size=(4, 6, 3)).astype(np.float32):
        losses = [executor.execute("update", states) for executor in (compiled, eager)]
        np.testing.assert_allclose(*losses, rtol=1e-6)
    assert compiled.choices == {"compile:update": "inductor (in each process)"}
    assert [entry.name for entry in cache.iterdir()] == ["inductor"]
