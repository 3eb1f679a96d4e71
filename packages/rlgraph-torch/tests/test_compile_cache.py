"""Which programs are found again on disk, and in what state the disk may be."""

import enum
import functools
import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count

import numpy as np
import pytest
import torch

from rlgraph.components import Adam, Dense
from rlgraph.core import Component, GraphExecutor, PerformanceWarning, RLGraphError, graph_fn, rlgraph_api
from rlgraph.spaces import FloatBox
from rlgraph.torch.backend import DIALECT
from rlgraph.torch.compile import key
from rlgraph.torch.compile.cache import Cache, cache_folder
from rlgraph.torch.compile.description import Doubt, describe
from rlgraph.torch.compile.tracing import Draw, Inputs, tracing_dialect

SCALE = 2.0


def half(ops, x):
    return 0.5 * ops.square(x)


def third(ops, x):
    return ops.square(x) / 3.0


class Learner(Component):
    """Mistakes in its key would be mistakes in its update."""

    def __init__(
        self, units=4, activation="tanh", rate=0.1, discount=0.9, trainable=True, extra=None, power=half
    ):
        self.layer = Dense(units, activation, scope="layer")
        self.frozen = Dense(2, scope="other", trainable=trainable)
        self.adam, self.discount, self.extra, self.power = Adam(rate), discount, extra, power
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
    plan = executor.plan("update")
    dtype = options.get("dtype", "float32")
    inputs = [torch.zeros(size, 3, dtype=getattr(torch, dtype))]
    return key.key_of_plan(plan, plan.segments[0], tracing_dialect(DIALECT), dtype, inputs)


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
        {"root": lambda: Learner(extra={"b": [1, (2, None)]})},
        {"root": lambda: Learner(extra=np.arange(3))},
        {"root": lambda: Learner(power=third)},
        {"root": lambda: Learner(power=scaled_by(0.5))},
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
        context.setattr(key, "_sources", lambda: "edited")
        assert key_of() not in (before, None)
    with monkeypatch.context() as context:
        context.setenv("TORCHINDUCTOR_FREEZING", "1")
        assert key_of() not in (before, None)
    assert key_of() == before


def test_keys_are_the_same_in_every_process():
    script = (
        "import numpy as np, torch\n"
        "from rlgraph.torch.compile.description import describe\n"
        "from rlgraph.components import Dense\n"
        "print(describe(Dense(3), {'b', 'a', 'c'}, np.ones(2), torch.float32, lambda x: x in {'u', 'v', 'w'}))\n"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(texts) == 1


def test_subclasses_of_known_types_are_more_than_their_values():
    def named(factor):
        class Factors(dict):
            def half(self, ops, x):
                return factor * ops.square(x)

        return Factors()

    class Kind(enum.Enum):
        ONE = 1

        def half(self, ops, x):
            return ops.square(x)

    before = describe(Kind.ONE)
    Kind.half = third
    assert describe(Kind.ONE) != before
    assert describe(named(1.0)) == describe(named(1.0)) != describe(named(2.0))


def test_attributes_of_functions_and_containers_are_in_the_key():
    class Values(list):
        pass

    def scaled(ops, x):
        return scaled.factor * ops.square(x)

    values, texts = Values([1.0]), []
    for factor in (1.0, 2.0, 1.0):
        values.factor = scaled.factor = factor
        texts.append((describe(values), describe(scaled)))
    assert texts[0] == texts[2]
    assert not set(texts[0]) & set(texts[1])


def test_a_function_that_is_named_like_another_is_not_trusted_like_it():
    def one(ops, x):
        return ops.square(x)

    def other(ops, x):
        return ops.abs(x)

    one, other = (functools.wraps(np.linalg.norm)(function) for function in (one, other))
    del one.__wrapped__, other.__wrapped__
    assert one.__module__ == "numpy.linalg"
    assert describe(one) != describe(other)


def test_settings_of_torch_are_in_the_key():
    before = key.environment()
    torch.set_default_dtype(torch.float64)
    try:
        assert key.environment() != before
    finally:
        torch.set_default_dtype(torch.float32)


@dataclass
class Settings:
    power: float

    def raised(self, x):
        return x**self.power


def test_data_classes_are_described():
    keys = [key_of(Learner(extra=Settings(power))) for power in (2.0, 3.0, 2.0)]
    assert keys[0] == keys[2] is not None and keys[1] not in (keys[0], None)


class Anything:
    pass


class AnyFloat(float):
    pass


def reflects(ops, x):
    return globals()["half"](ops, x)


def imports(ops, x):
    from somewhere import power

    return power(ops, x)


def looks_up(ops, x):
    return sys.modules["somewhere"].power(ops, x)


def nested(depth):
    found = []
    for _ in range(depth):
        found = [found]
    return found


@pytest.mark.parametrize(
    "doubtful",
    [
        Anything(),
        AnyFloat(1.0),
        reflects,
        imports,
        looks_up,
        [iter([1])],
        np.array([None]),
        torch.ones(2, dtype=torch.bfloat16),
        torch.ones(2, 2).to_sparse(),
    ],
    ids=count(),
)
def test_what_cannot_be_described_is_doubted(doubtful):
    with pytest.raises(Doubt):
        describe(doubtful)
    assert key_of(Learner(extra=doubtful)) is None


def test_what_is_nested_too_deeply_has_no_certain_key():
    assert key_of(Learner(extra=nested(5000))) is None


# Without a certain key the traced graph is the key.


def test_doubtful_programs_are_found_by_their_graph(straight):
    def learn(factor):
        executor = make(Learner(power=scaled_by(factor), extra=Anything()), seed=1)
        executor.execute("update", arrays())
        return executor.get_weights()["layer/weights"]

    first, again, other = learn(0.5), learn(0.5), learn(0.25)
    assert len(straight) == 2
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_a_second_start_does_not_trace(straight, monkeypatch):
    make().execute("update", arrays())
    monkeypatch.setattr("rlgraph.torch.compile.tracing.Tracer.trace", None)
    make().execute("update", arrays())
    assert len(straight) == 1


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


@pytest.mark.parametrize("damage", ["library", "text", "draws", "missing"])
def test_damaged_programs_are_compiled_again(straight, cache, damage):
    make().execute("update", arrays())
    (entry,) = cache.iterdir()
    description = entry / "program.json"
    if damage == "library":
        (entry / "program.so").write_text("1")
    elif damage == "text":
        description.write_text("{")
    elif damage == "draws":
        description.write_text(description.read_text().replace('"draws"', '"drawn"'))
    else:
        description.unlink()
    executor = make()
    with pytest.warns(RuntimeWarning, match="is damaged .*: it is compiled again"):
        executor.execute("update", arrays())
    assert len(straight) == 2 and executor.choices == {"compile:update": "aoti"}
    make().execute("update", arrays())
    assert len(straight) == 2


@pytest.mark.parametrize("extra", [None, Anything()], ids=["by its plan", "by its graph"])
def test_a_program_that_cannot_be_loaded_runs_eagerly(straight, monkeypatch, extra):
    expected = make(Learner(extra=extra)).execute("update", arrays())

    def load_library(library):
        raise RuntimeError("failed to map segment from shared object")

    monkeypatch.setattr("rlgraph.torch.compile.program.load_library", load_library)
    executor = make(Learner(extra=extra))
    with pytest.warns(PerformanceWarning, match="program.so cannot be loaded .RuntimeError: failed to map"):
        assert executor.execute("update", arrays()) == pytest.approx(expected)
    assert executor.choices["compile:update"].startswith("eager (") and len(straight) == 1


def test_several_may_store_the_same_program(tmp_path):
    cache = Cache(tmp_path)
    inputs = Inputs((0, 2), ("group_0",), (Draw("a/~stream", "uniform", (2, 3), "float32", (0.0, 1.0)),))

    def store(number):
        return cache.store("key", inputs, lambda file: file.write_text(str(number))).read_text()

    with ThreadPoolExecutor(4) as pool:
        stored = set(pool.map(store, range(8)))
    assert len(stored) == 1
    library, found = cache.find("key")
    assert {library.read_text()} == stored and found == inputs
    assert [entry.name for entry in tmp_path.iterdir()] == ["key"]


def test_nothing_is_left_of_a_compilation_that_fails(tmp_path):
    def fails(file):
        file.write_text("half of it")
        raise OSError

    with pytest.raises(OSError):
        Cache(tmp_path).store("key", Inputs((), (), ()), fails)
    assert Cache(tmp_path).find("key") is None and not list(tmp_path.iterdir())
