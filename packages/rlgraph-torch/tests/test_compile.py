"""Compiled programs against eager ones: results, variables, random streams."""

import threading

import numpy as np
import pytest

from rlgraph.components import Adam, Dense, DQNLoss, DuelingPolicy, ReplayMemory, Synchronizer
from rlgraph.core import (
    Component,
    GraphExecutor,
    PerformanceWarning,
    branch,
    gradients,
    graph_fn,
    loop,
    rlgraph_api,
)
from rlgraph.spaces import BoolBox, FloatBox, IntBox


class Noise(Component):
    """Draws of every kind that an update may make."""

    @rlgraph_api
    @graph_fn
    def shake(self, ops, states):
        noise = ops.random_normal(ops.shape(states), 0.0, 0.01) + ops.random_uniform((), -0.1, 0.1)
        kept = ops.random_bernoulli(ops.full_like(states, 0.9))
        chosen = ops.astype(ops.random_categorical(states), "float") + 0.01
        whole = ops.astype(
            ops.random_integers((), 0, 3) + ops.random_integers((), ops.argmax(states[0], axis=0), 9), "float"
        )
        drawn = ops.random_truncated_normal((3,))
        return ops.where(kept, states + noise, states * whole) + 0.01 * ops.expand_dims(chosen, 1) * drawn

    @rlgraph_api
    @graph_fn
    def order(self, ops, states):
        return ops.random_permutation(ops.shape(states)[0])


class Counter(Component):
    """Variables that are read and written in one function."""

    def create_variables(self, input_spaces, action_space=None):
        self.seen = self.get_variable("seen", IntBox(0, 1000), initializer=0, trainable=False)
        self.mean = self.get_variable("mean", FloatBox(shape=(3,)), initializer=0.0, trainable=False)

    @rlgraph_api
    @graph_fn(returns=2)
    def count(self, ops, s):
        before = ops.read(self.seen)
        ops.assign_add(self.seen, 1)
        ops.assign(self.mean, 0.9 * self.mean + 0.1 * ops.mean(s, axis=0))
        return before, ops.read(self.mean)


class Learner(Component):
    """A dueling double Q update with all that updates are made of."""

    def __init__(self, learning_rate=0.01, clip=0.5, discount=0.9, activation="tanh", tau=0.1, epochs=2):
        layers = [{"type": "dense", "units": 8, "activation": activation}]
        self.epochs = epochs
        self.policy = DuelingPolicy(layers, IntBox(4), units_state_value_stream=5)
        self.target = self.policy.copy(scope="target", trainable=False)
        self.loss, self.adam = DQNLoss(discount), Adam(learning_rate, clip_grad_norm=clip)
        self.sync, self.noise, self.counter = (
            Synchronizer(tau),
            Noise(scope="noise"),
            Counter(scope="counter"),
        )
        super().__init__(
            self.policy, self.target, self.loss, self.adam, self.sync, self.noise, self.counter, scope="root"
        )

    @rlgraph_api
    def q(self, s):
        return self.policy.get_q_values(s)["q_values"]

    @rlgraph_api
    def update(self, s, a, r, t, n):
        """One step on a batch."""
        losses = self.loss.loss(
            self.policy.get_q_values(s)["q_values"],
            a,
            r,
            t,
            self.policy.get_q_values(n)["q_values"],
            self.target.get_q_values(n)["q_values"],
        )
        self.adam.step(self.policy.variables(), losses["loss"])
        self.sync.sync(self.policy.variables(), self.target.variables())
        before, after = self.counter.count(s)
        return {"loss": losses["loss"], "items": losses["loss_per_item"], "before": before, "mean": after}

    @rlgraph_api
    def epochs_of_minibatches(self, s, a, r, t, n):
        """Several steps on noisy states in random order."""

        def step(i, last):
            order = self.noise.order(s)
            s_, a_, r_, t_, n_ = self._part(order, i, (self.noise.shake(s), a, r, t, n))
            return self.update(s_, a_, r_, t_, n_)["loss"]

        return loop(self.epochs, step, self._zero())

    @graph_fn(returns=5)
    def _part(self, ops, order, i, arrays):
        chosen = ops.flatten(ops.take(ops.reshape(order, (2, -1)), ops.reshape(i, (1,))))
        return tuple(ops.take(array, chosen) for array in arrays)

    @graph_fn
    def _zero(self, ops):
        return ops.zeros(())


class Watched(Component):
    """An update whose gradients wait for a host function."""

    def __init__(self):
        self.layer, self.adam = Dense(2, scope="layer"), Adam(scope="adam")
        super().__init__(self.layer, self.adam, scope="watched")

    @rlgraph_api
    def update(self, s):
        loss, variables = self._loss(self.layer.call(s)), self.layer.variables()
        grads = gradients(loss, variables)
        norm = self._note(self.adam.get_gradient_statistics(grads)["global_norm"])
        self.adam.apply_gradients(variables, grads)
        return norm

    @graph_fn
    def _loss(self, ops, x):
        return ops.mean(ops.square(x))

    @graph_fn(host=True, spaces=FloatBox())
    def _note(self, norm):
        return norm


STATES = FloatBox(shape=(3,), add_batch_rank=True)
SPACES = {
    "s": STATES,
    "n": STATES,
    "a": IntBox(4, add_batch_rank=True),
    "r": FloatBox(add_batch_rank=True),
    "t": BoolBox(add_batch_rank=True),
}


def make(root=None, spaces=None, **options):
    return GraphExecutor(
        root or Learner(), spaces or SPACES, backend="torch", execution_spec={"seed": 3, **options}
    )


def batch(seed=0, size=6, dtype="float32"):
    rng = np.random.default_rng(seed)
    return {
        "s": rng.normal(size=(size, 3)).astype(dtype),
        "a": rng.integers(0, 4, size),
        "r": rng.normal(size=size).astype(dtype),
        "t": rng.random(size) < 0.3,
        "n": rng.normal(size=(size, 3)).astype(dtype),
    }


def same(one, other, tolerance=1e-6):
    """Two nested results are equal up to `tolerance`."""
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            same(one[key], other[key], tolerance)
    elif isinstance(one, list):
        for first, second in zip(one, other, strict=True):
            same(first, second, tolerance)
    else:
        assert np.asarray(one).dtype == np.asarray(other).dtype
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


def pair(root=Learner, spaces=None, compile=True, **options):
    """A compiled executor and an eager one."""
    return make(root(), spaces, compile=compile, **options), make(root(), spaces, **options)


def compare(compiled, eager, method, batches, tolerance=1e-6):
    for arrays in batches:
        same(compiled.execute(method, **arrays), eager.execute(method, **arrays), tolerance)
    same(compiled.get_weights(), eager.get_weights(), tolerance)


# Traced graphs, run without a compiler.


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("clip", [None, 0.05])
def test_an_update(straight, dtype, clip):
    compiled, eager = pair(lambda: Learner(clip=clip), dtype=dtype)
    compare(
        compiled,
        eager,
        "update",
        [batch(i, dtype=dtype) for i in range(8)],
        2e-6 if dtype == "float32" else 1e-12,
    )
    assert compiled.choices == {"compile:update": "inductor"}
    assert len(straight) == 1


def test_derivatives_that_outlive_a_host_call(straight):
    compiled, eager = pair(Watched, {"s": STATES}, dtype="float64")
    compare(compiled, eager, "update", [{"s": batch(i, dtype="float64")["s"]} for i in range(3)], 1e-12)
    assert compiled.choices == {"compile:update": "inductor", "compile:update/segment_1": "inductor"}
    assert len(straight) == 2


def test_a_returned_variable_keeps_its_value_when_it_is_written_again(straight):
    compiled, _ = pair()
    first = compiled.execute("update", **batch(0))
    kept = first["mean"].copy()
    for i in range(3):
        compiled.execute("update", **batch(i))
    assert first["before"] == 0 and compiled.get_weights()["counter/seen"] == 4
    np.testing.assert_array_equal(first["mean"], kept)


@pytest.mark.slow
def test_loops_with_draws(straight):
    compiled, eager = pair()
    compare(compiled, eager, "epochs_of_minibatches", [batch(i) for i in range(4)], 2e-6)


class Scheduled(Learner):
    """Control flow around updates that is decided at run time, in Python."""

    @rlgraph_api
    def nested(self, s, a, r, t, n, number):
        """Loops in loops; what goes through them is returned as well as collected."""

        def epoch(i, states):
            def step(j, last):
                self.update(states, a, r, t, n)
                return self._add(last, j), self.policy.get_q_values(states)["q_values"]

            return loop(self.epochs, step, self._number(i), collect=True)[1]

        def outer(i, carried):
            states, _ = carried
            values = epoch(i, states)
            return self._moved(states, values), values

        return loop(number, outer, (s, self._start(s)))

    @rlgraph_api
    def sometimes(self, s, a, r, t, n):
        return branch(self._large(s), lambda: self.update(s, a, r, t, n)["loss"], lambda: self._zero())

    @graph_fn
    def _large(self, ops, s):
        return ops.mean(s) > 0.0

    @graph_fn
    def _number(self, ops, i):
        return i + 1

    @graph_fn
    def _add(self, ops, last, j):
        return last + j

    @graph_fn
    def _start(self, ops, s):
        return ops.zeros((self.epochs, ops.shape(s)[0], 4))

    @graph_fn
    def _moved(self, ops, states, values):
        return states + 0.01 * ops.mean(values)


def test_loops_are_around_programs(straight):
    compiled, eager = pair(Scheduled, {**SPACES, "number": IntBox(1, 9)}, dtype="float64")
    for number in (1, 2, 3):
        arrays = {**batch(number, dtype="float64"), "number": np.int64(number)}
        same(list(compiled.execute("nested", **arrays)), list(eager.execute("nested", **arrays)), 1e-12)
    same(compiled.get_weights(), eager.get_weights(), 1e-12)
    assert len(straight) == 1 and compiled.choices == {"compile:nested": "inductor"}


class Wind(Component):
    """Draws from a stream of its own, always in the same way."""

    @rlgraph_api
    @graph_fn
    def blow(self, ops, x):
        return x + ops.random_uniform(ops.shape(x), -0.01, 0.01)


class ActsFirst(Component):
    """Steps without a derivative, which draw and read the weights, and then one update on all of them."""

    def __init__(self, steps, numbered=False):
        self.dense, self.adam, self.wind = Dense(3), Adam(0.01), Wind()
        self.steps, self.numbered = steps, numbered
        super().__init__(self.dense, self.adam, self.wind, scope="root")

    @rlgraph_api
    def train(self, states):
        def step(i, x):
            moved = self.wind.blow(self.moved(self.dense.call(x), x))
            return self.later(moved, i) if self.numbered else moved, x

        last, records = loop(self.steps, step, states, collect=True)
        weights = self.dense.variables()
        self.adam.step(weights, self.size(self.dense.call(self.folded(records))))
        return last

    @graph_fn
    def moved(self, ops, y, x):
        return 0.9 * x + 0.1 * ops.tanh(y) + 0.01 * ops.random_normal(ops.shape(x))

    @graph_fn
    def later(self, ops, x, i):
        return x + 0.001 * ops.astype(i, "float")

    @graph_fn
    def folded(self, ops, records):
        return ops.stop_gradient(ops.reshape(records, (-1, 3)))

    @graph_fn
    def size(self, ops, y):
        return ops.mean(ops.square(y - 1.0))


@pytest.mark.parametrize(
    ("steps", "numbered", "in_one"), [(40, False, 5), (3, False, 3), (7, False, 1), (40, True, 1)]
)
def test_steps_ahead_of_an_update_are_around_a_program(straight, steps, numbered, in_one):
    spaces = {"states": FloatBox(shape=(3,), add_batch_rank=5)}
    compiled, eager = pair(lambda: ActsFirst(steps, numbered), spaces)
    rngs = map(np.random.default_rng, range(3))
    states = [{"states": rng.normal(size=(5, 3)).astype(np.float32)} for rng in rngs]
    compare(compiled, eager, "train", states)
    # The body of the loop, and the update.
    assert len(straight) == 2 and [*compiled.choices.values()] == ["inductor", "inductor"]
    sizes = [tuple(x.meta["val"].shape) for x in straight[0].graph.find_nodes(op="placeholder")]
    assert sizes.count((5, 3)) == 1 + in_one + (in_one == 1)  # states, normal numbers, and alone uniform ones
    assert sizes.count((in_one, 5, 3)) == (in_one > 1)


class Turns(ActsFirst):
    """A loop that carries one tensor twice at first, and collects a constant."""

    @rlgraph_api
    def train(self, states):
        def step(i, carried):
            first, second, third = carried
            return (second, third, self.wind.blow(first)), (first, True)

        (last, *_), (records, _) = loop(
            self.steps, step, (states, self.minus(states), self.minus(states)), collect=True
        )
        self.adam.step(self.dense.variables(), self.size(self.dense.call(self.folded(records))))
        return last

    @graph_fn
    def minus(self, ops, x):
        return -x


def test_one_tensor_as_two_inputs_at_first(straight):
    compiled, eager = pair(lambda: Turns(10), {"states": FloatBox(shape=(3,), add_batch_rank=5)})
    compare(
        compiled,
        eager,
        "train",
        [{"states": np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)}],
    )
    assert [*compiled.choices.values()] == ["inductor", "inductor"]


def test_branches_are_around_programs(straight):
    compiled, eager = pair(Scheduled, {**SPACES, "number": IntBox(1, 9)}, dtype="float64")
    batches = [batch(i, dtype="float64") for i in range(8)]
    losses = [float(compiled.execute("sometimes", **arrays)) for arrays in batches]
    same(losses, [float(eager.execute("sometimes", **arrays)) for arrays in batches], 1e-12)
    same(compiled.get_weights(), eager.get_weights(), 1e-12)
    assert 0 < losses.count(0.0) < 8 and len(straight) == 1


@pytest.mark.slow
def test_random_streams_go_on_from_a_checkpoint(straight, tmp_path):
    compiled, eager = pair()
    for executor in (compiled, eager):
        executor.execute("epochs_of_minibatches", **batch(0))
    compiled.save(tmp_path / "saved")
    resumed = make(compile=True)
    resumed.load(tmp_path / "saved")
    results = [e.execute("epochs_of_minibatches", **batch(1)) for e in (compiled, resumed, eager)]
    assert results[0] == results[1]
    same(results[0], results[2], 2e-6)
    streams = [executor.storage.read_tensor_streams() for executor in (compiled, resumed, eager)]
    assert streams[0].keys() == streams[1].keys() == streams[2].keys() and streams[0]
    for name, state in streams[0].items():
        assert np.array_equal(state, streams[1][name]) and np.array_equal(state, streams[2][name])


def test_other_sizes_run_eagerly(straight):
    compiled, eager = pair()
    compare(compiled, eager, "update", [batch(i, size) for i, size in enumerate((6, 4, 6, 1, 6))], 2e-6)
    assert len(straight) == 1


@pytest.mark.slow
def test_arrays_of_all_kinds(straight):
    compiled, eager = pair()
    compiled.execute("update", **batch(0))
    eager.execute("update", **batch(0))
    arrays = batch(1)
    arrays["s"] = np.asfortranarray(arrays["s"])
    arrays["n"] = np.repeat(arrays["n"], 2, axis=0)[::2]
    arrays["r"] = arrays["r"][::-1]
    arrays["a"].flags.writeable = False
    compare(compiled, eager, "update", [arrays])


def test_set_weights_is_seen(straight):
    compiled, eager = pair()
    for executor in (compiled, eager):
        executor.execute("update", **batch(0))
    weights = {name: value + 0.1 for name, value in eager.get_weights().items() if value.dtype == np.float32}
    for executor in (compiled, eager):
        executor.set_weights(weights)
    compare(compiled, eager, "update", [batch(1)], 2e-6)


def test_numpy_acts_on_the_memory_that_is_trained(straight):
    compiled, eager = pair()
    act, states = compiled.numpy_program("q"), batch(5)["s"]
    before = act(states)
    compare(compiled, eager, "update", [batch(i) for i in range(3)], 2e-6)
    same(act(states), eager.execute("q", states), 2e-6)
    assert not np.allclose(act(states), before)


def test_what_is_compiled(straight):
    inference = make(compile=True)
    inference.execute("q", batch()["s"])
    assert not inference.choices
    named = make(compile=["q"])
    eager = make()
    named.execute("update", **batch())
    eager.execute("update", **batch())
    same(named.execute("q", batch()["s"]), eager.execute("q", batch()["s"]))
    assert named.choices == {"compile:q": "inductor"}


@pytest.mark.slow
def test_several_executors_and_threads(straight):
    executors = [make(compile=True) for _ in range(2)]
    for executor in executors:
        executor.execute("update", **batch(0))

    def work(executor):
        for i in range(20):
            executor.execute("update", **batch(i))

    threads = [threading.Thread(target=work, args=(executor,)) for executor in executors for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [executor.get_weights()["counter/seen"] for executor in executors] == [41, 41]
    assert len(straight) == 1  # the second executor found the first one's program


def test_first_calls_at_the_same_time_compile_once(straight):
    executor = make(compile=["q"])
    program, states = executor.program("q"), batch()["s"]
    threads = [threading.Thread(target=program, args=(states,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(straight) == 1


def test_no_record_of_derivatives_is_kept(straight):
    compiled, _ = pair()
    compiled.execute("update", **batch(0))
    assert not any(buffer.requires_grad or buffer.grad_fn for buffer in compiled.storage.groups.values())


class Crossing(Component):
    """Derivatives that are taken outside of a loop are used in one, in which others are taken."""

    def __init__(self):
        self.layer, self.adam = Dense(2, scope="layer"), Adam(0.1, scope="adam")
        self.other, self.descent = Dense(2, scope="other"), Descent(scope="descent")
        super().__init__(self.layer, self.adam, self.other, self.descent, scope="root")

    @rlgraph_api
    def update(self, s):
        variables = self.other.variables()
        derivatives = gradients(self._loss(self.other.call(s)), variables)

        def step(i, last):
            loss = self._loss(self.layer.call(s))
            self.adam.step(self.layer.variables(), loss)
            self.descent.step(variables, derivatives)
            return loss

        return loop(2, step, self._start())

    @graph_fn
    def _loss(self, ops, y):
        return ops.mean(ops.square(y))

    @graph_fn
    def _start(self, ops):
        return ops.zeros(())


class Descent(Component):
    @rlgraph_api
    @graph_fn(returns=0)
    def step(self, ops, variables, derivatives):
        for variable, derivative in zip(variables, derivatives, strict=True):
            ops.assign(variable, variable - 0.1 * derivative)


def test_lists_of_derivatives_cross_no_border(straight):
    compiled, eager = pair(Crossing, {"s": STATES}, dtype="float64")
    compare(compiled, eager, "update", [{"s": batch(i, dtype="float64")["s"]} for i in range(3)], 1e-12)
    assert compiled.choices == {"compile:update": "inductor"} and len(straight) == 1


# What cannot be compiled.


class Decides(Component):
    """An update with a decision about a value in it, or after it."""

    def __init__(self, in_loss=True):
        self.layer, self.adam, self.in_loss = Dense(2), Adam(0.1), in_loss
        super().__init__(self.layer, self.adam, scope="root")

    @rlgraph_api
    def update(self, s):
        y = self.layer.call(s)
        if self.in_loss:  # derivatives go through it
            y = branch(self._large(s), lambda: self._double(y), lambda: y)
        self.adam.step(self.layer.variables(), self._loss(y))
        return y if self.in_loss else branch(self._large(s), lambda: self._double(s), lambda: s)

    @graph_fn
    def _loss(self, ops, y):
        return ops.mean(ops.square(y))

    @graph_fn
    def _large(self, ops, s):
        return ops.mean(s) > 0.0

    @graph_fn
    def _double(self, ops, s):
        return 2.0 * s


def test_a_decision_about_values_runs_eagerly(straight):
    compiled, eager = pair(Decides, {"s": STATES})
    with pytest.warns(PerformanceWarning, match="update is not compiled: it cannot be traced"):
        compiled.execute("update", batch(0)["s"])
    eager.execute("update", batch(0)["s"])
    compare(compiled, eager, "update", [{"s": batch(i)["s"]} for i in range(3)])
    assert compiled.choices["compile:update"].startswith("eager (it cannot be traced")
    assert not straight
    again = make(Decides(), {"s": STATES}, compile=True, choices=compiled.choices)
    again.execute("update", batch(0)["s"])  # without another warning


def test_a_decision_after_an_update_is_around_programs(straight):
    compiled, eager = (
        make(Decides(in_loss=False), {"s": STATES}, dtype="float64", compile=wanted)
        for wanted in (True, False)
    )
    both_sides = [{"s": sign * batch(i, dtype="float64")["s"]} for i in range(3) for sign in (1, -1)]
    compare(compiled, eager, "update", both_sides, 1e-12)
    assert len(straight) == 1


def test_without_a_compiler(monkeypatch):
    monkeypatch.setenv("PATH", "")
    compiled, eager = pair()
    with pytest.warns(
        PerformanceWarning, match=r"update is not compiled: there is no C\+\+ compiler \(.+\)"
    ) as caught:
        result = compiled.execute("update", **batch(0))
    assert len(caught) == 1
    same(result, eager.execute("update", **batch(0)))
    compare(compiled, eager, "update", [batch(i) for i in range(1, 4)])
    assert compiled.choices["compile:update"].startswith("eager (there is no C++ compiler")


def test_a_compiler_that_fails(monkeypatch, cache):
    def fails(*_, folder):
        raise OSError("no space left")

    monkeypatch.setattr("rlgraph.torch.compile.program.compile_library", fails)
    compiled, eager = pair()
    with pytest.warns(PerformanceWarning, match="the compiler failed .OSError: no space left"):
        compiled.execute("update", **batch(0))
    eager.execute("update", **batch(0))
    compare(compiled, eager, "update", [batch(1)])
    assert not list(cache.iterdir())


# The compiler itself; one program for all that is asked of it.


class Remembering(Learner):
    """A learner with a memory on the host."""

    def __init__(self):
        super().__init__(learning_rate=1e-3)
        self.memory = ReplayMemory(capacity=32)
        self.add_components(self.memory)

    @rlgraph_api
    def insert(self, s, a, r, t, n):
        return self.memory.insert_records({"s": s, "a": a, "r": r, "t": t, "n": n})

    @rlgraph_api
    def learn(self, number):
        records = self.memory.get_records(number)
        return self.epochs_of_minibatches(*(records[key] for key in "sartn"))


def test_compiling_takes_long_and_is_said(straight, caplog):
    compiled, _ = pair(Learner)
    with caplog.at_level("INFO", "rlgraph"):
        compiled.execute("update", **batch(0))
    assert caplog.messages == [
        "compiling update by PyTorch: some 15 seconds, once for this machine and these sizes"
    ]
    caplog.clear()
    with caplog.at_level("INFO", "rlgraph"):
        pair(Learner)[0].execute("update", **batch(0))
    assert not caplog.messages  # it is on disk


@pytest.mark.slow
def test_compiled_ahead_of_time(tmp_path, monkeypatch):
    headers = tmp_path / "headers"
    monkeypatch.setattr("torch._inductor.codecache._HEADER_DIR", str(headers))
    spaces = {**SPACES, "number": IntBox(1, None)}
    compiled, eager = pair(Remembering, spaces)
    for executor in (compiled, eager):
        executor.execute("insert", **batch(0, 20))
    act = compiled.numpy_program("q")
    for _ in range(5):
        same(compiled.execute("learn", 6), eager.execute("learn", 6))
    assert set(compiled.choices.values()) == {"inductor"}
    assert (
        not headers.exists()
    )  # precompiled ones take longer than the program, and a folder that others know
    same(compiled.get_weights(), eager.get_weights())
    same(act(batch(1)["s"]), eager.execute("q", batch(1)["s"]))
    for group in compiled.storage.groups.values():
        assert not group.requires_grad
    # Another start finds it, goes on from a checkpoint with it, and sees other weights.
    compiled.save(tmp_path / "saved")
    started = make(Remembering(), spaces, compile=True)
    started.load(tmp_path / "saved")
    assert started.execute("learn", 6) == compiled.execute("learn", 6)
    for executor in (compiled, eager):
        executor.set_weights({"counter/mean": np.ones(3, np.float32)})
    eager.load(tmp_path / "saved")
    compiled.load(tmp_path / "saved")
    same(compiled.execute("learn", 6), eager.execute("learn", 6))
    same(compiled.execute("learn", 4), eager.execute("learn", 4))
