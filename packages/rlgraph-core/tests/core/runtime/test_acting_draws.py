"""Draws of methods that act: the same on every backend, and from streams that a caller may bring along."""

import json
import threading

import numpy as np
import pytest

from rlgraph.components import Policy
from rlgraph.core import (
    CapabilityError,
    Component,
    GraphExecutor,
    InputError,
    RandomStreams,
    graph_fn,
    loop,
    rlgraph_api,
)
from rlgraph.core.graph.emission.given_draws import GivenDraws
from rlgraph.core.numpy.ops import NumpyOps
from rlgraph.core.numpy.random import DRAWS
from rlgraph.core.ops import leaves_of
from rlgraph.core.random_streams import stream_seed
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, Tuple
from rlgraph.testing import assert_nested_close

#: One part for each kind of distribution that an adapter chooses.
ACTIONS = Dict(
    {
        "discrete": IntBox(4),
        "several": Tuple(IntBox([3, 5]), BoolBox()),
        "normal": FloatBox(shape=(2,)),
        "one_sided": FloatBox(0.0, None),
        "bounded": FloatBox(-1.0, 2.0, shape=(2,)),
    }
)
SQUASHED = {"bounded_distribution_type": "squashed_normal"}
SMOOTH = {"discrete_distribution_type": "gumbel_softmax"}
LAYERS = [{"type": "dense", "units": 8, "activation": "tanh"}]


class Acting(Component):
    """Three policies over all kinds of actions."""

    def __init__(self):
        kinds = {"beta": (ACTIONS, None), "squashed": (ACTIONS, SQUASHED), "smooth": (IntBox(4), SMOOTH)}
        self.policies = [
            Policy(LAYERS, space, distributions_spec=spec, scope=scope)
            for scope, (space, spec) in kinds.items()
        ]
        super().__init__(*self.policies, scope="algorithm")

    @rlgraph_api
    def act(self, states):
        return {p.scope: p.get_stochastic_action(states)["action"] for p in self.policies}


def acting(backend, **execution):
    spaces = {"states": FloatBox(shape=(4,), add_batch_rank=True)}
    spec = {"seed": 3, "acting_methods": ["act"], "act_on": "backend", **execution}
    return GraphExecutor(Acting(), spaces, backend=backend, execution_spec=spec)


def alone():
    spaces = {"states": FloatBox(shape=(4,), add_batch_rank=True)}
    spec = {"seed": 3}
    return GraphExecutor(Acting(), spaces, backend="numpy", execution_spec=spec, api_methods=["act"])


def states():
    rng = np.random.default_rng(1)
    return [rng.normal(size=(rows, 4)).astype("float32") for rows in [1] * 150 + [3] * 50]


EXECUTIONS = [
    {},
    {"act_on": "numpy"},
    {"dtype": "float64"},
    pytest.param({"compile": True}, marks=pytest.mark.repetition),
]


@pytest.mark.parametrize("execution", EXECUTIONS)
def test_actions_are_those_of_an_actor_alone_on_numpy(trainer, execution):
    learner, actor = acting(trainer, **execution), alone()
    steps = states()[:: 1 if execution == {} else 10]
    for x in steps:
        given = learner.execute("act", x.astype(execution.get("dtype", "float32")))
        expected = actor.execute("act", x)
        for value, wanted in zip(leaves_of(given), leaves_of(expected), strict=True):
            np.testing.assert_allclose(value, wanted, rtol=1e-4, atol=1e-4)
    assert "draws:act" not in learner.choices


# What is drawn.


class Draws(Component):
    """Methods that return what the given functions draw."""

    def __init__(self, scope="draws", **draws):
        self.draws = draws
        super().__init__(scope=scope)

    @rlgraph_api
    def act(self, x):
        return {name: self._draw(x, name) for name in self.draws}

    @rlgraph_api
    def update(self, x):
        return self.act(x)

    @rlgraph_api
    def act_in_a_loop(self, x):
        return loop(2, lambda _, carried: self._draw(carried, "normal"), x)

    @rlgraph_api
    def on_host(self, x):
        return self._host(x)

    @graph_fn
    def _draw(self, ops, x, name):
        return self.draws[name](ops, x)

    @graph_fn(host=True, spaces=FloatBox(add_batch_rank=True))
    def _host(self, x):
        return self.rng.random(len(x)).astype(x.dtype)


def normal(ops, x):
    return ops.random_normal(ops.shape(x))


def built(backend, space=None, seed=3, methods=("act",), acting_methods=None, **draws):
    acting_methods = methods if acting_methods is None else acting_methods
    spec = {"seed": seed, "acting_methods": acting_methods, "act_on": "backend"}
    space = FloatBox(add_batch_rank=True) if space is None else space
    root = Draws(**(draws or {"normal": normal}))
    return GraphExecutor(root, {"x": space}, backend=backend, execution_spec=spec, api_methods=methods)


def test_a_category_is_the_largest_logit_with_gumbel_noise(backend):
    logits = np.log([[0.1, 0.2, 0.7]] * 5).astype("float32")
    space = FloatBox(shape=(3,), add_batch_rank=True)
    made = built(backend, space, category=lambda ops, x: ops.random_categorical(x))
    rng = np.random.default_rng(stream_seed(3, "draws/~stream"))
    for _ in range(3):
        expected = (logits + rng.gumbel(size=(5, 3))).argmax(-1)
        np.testing.assert_array_equal(made.execute("act", logits)["category"], expected)


def test_every_kind_of_draw_and_sizes_of_time(backend):
    space = FloatBox(shape=(2,), add_batch_rank=True, add_time_rank=True, time_major=True)
    draws = {
        "uniform": lambda ops, x: ops.random_uniform((ops.shape(x)[1] * 2, 3), -1.0, 1e-5),
        "normal": lambda ops, x: ops.random_normal(ops.shape(x), 1.0, 2.0),
        "truncated": lambda ops, x: ops.random_truncated_normal((ops.shape(x)[0] + 1,)),
        "integers": lambda ops, x: ops.random_integers((7,), 0, ops.shape(x)[0], "int32"),
        "permutation": lambda ops, x: ops.random_permutation(ops.shape(x)[1]),
        "bools": lambda ops, x: ops.random_bernoulli(ops.sigmoid(x)),
        "two": lambda ops, x: ops.random_normal((2,)) + 10.0 * ops.random_uniform(()),
    }
    x = np.random.default_rng(0).normal(size=(6, 5, 2)).astype("float32")
    root, spec = Draws(**draws), {"seed": 3}
    plain = GraphExecutor(root, {"x": space}, backend="numpy", execution_spec=spec, api_methods=["act"])
    made = built(backend, space, **draws)
    for _ in range(3):
        expected, given = plain.execute("act", x), made.execute("act", x)
        for name in draws:
            assert given[name].dtype == expected[name].dtype
        assert_nested_close(given, expected, decimals=5)
    assert given["integers"].max() > 3  # below T, which is 6


def test_certain_bools_are_certain():
    """Also with the smallest and the largest fraction that a generator gives, after rounding."""

    class Extremes:
        def random(self, shape):
            return np.array([0.0, 1.0 - 2.0**-53])

    fractions = DRAWS["fraction"](Extremes(), "float32", (2,))
    for certain in (0.0, 1.0):
        given = GivenDraws(NumpyOps("float32"))
        drawn = given.taking(given.random_bernoulli)((fractions,), np.full(2, certain, np.float32))
        np.testing.assert_array_equal(drawn, certain == 1.0)


def test_updates_draw_on_the_backend(trainer):
    made, x = built(trainer, methods=("act", "update"), acting_methods=["act"]), np.zeros(3, np.float32)
    before = made.storage.streams.get_state()
    made.execute("update", x)
    assert made.storage.streams.get_state() == before
    made.execute("act", x)
    assert made.storage.streams.get_state() != before


def test_draws_in_a_loop_stay_there(trainer):
    made = built(trainer, methods=("act", "act_in_a_loop"))
    before = made.storage.streams.get_state()
    made.execute("act_in_a_loop", np.zeros(3, np.float32))
    assert made.storage.streams.get_state() == before
    assert made.choices["draws:act_in_a_loop"] == "backend (draws._draw)"
    with pytest.raises(
        CapabilityError, match=r"'act_in_a_loop' cannot draw from other streams: draws._draw "
    ):
        made.program("act_in_a_loop", RandomStreams(1))


def test_what_a_kernel_draws_stays_there():
    class Native(Component):
        @rlgraph_api
        def act(self, x):
            return self._native(x), self._drawn(x)

        @graph_fn
        def _drawn(self, ops, x):
            return ops.random_normal((2,))

        @graph_fn(spaces=lambda self, x: x, draws=True)
        def _native(self, ops, x):
            """Draws what only its kernel knows."""

        @_native.kernel("numpy")
        def _on_numpy(self, ops, x):
            return ops.random_normal(ops.shape(x))

    spaces, x = {"x": FloatBox(add_batch_rank=True)}, np.zeros(3, np.float32)
    spec = {"acting_methods": ["act"], "act_on": "backend", "seed": 3}
    made = GraphExecutor(Native(scope="native"), spaces, backend="numpy", execution_spec=spec)
    rng = np.random.default_rng(stream_seed(3, "native/~stream"))
    ahead, native = (rng.normal(size=size).astype("float32") for size in (2, 3))
    np.testing.assert_array_equal(made.execute("act", x)[0], native)
    assert ahead.shape == (2,)
    assert made.choices["draws:act"] == "backend (native._native)"


def test_bounds_that_are_tensors_stay_tensors(trainer):
    made = built(trainer, below=lambda ops, x: ops.random_integers((4,), 0, ops.sum(ops.astype(x, "int64"))))
    assert set(made.execute("act", np.ones(3, np.float32))["below"]) <= {0, 1, 2}
    assert made.choices["draws:act"] == "backend (draws._draw)"


def test_checkpoints_keep_them_and_other_backends_go_on_with_them(backend, tmp_path):
    x = np.zeros(3, np.float32)
    first, other = built(backend), built("numpy", seed=8)
    first.save(tmp_path / "start")
    expected = [first.execute("act", x)["normal"] for _ in range(3)]
    for made in (first, other):
        made.load(tmp_path / "start")
        np.testing.assert_array_equal([made.execute("act", x)["normal"] for _ in range(3)], expected)


def test_threads_do_not_take_each_others_numbers():
    given, meet, found = GivenDraws(NumpyOps("float32")), threading.Barrier(2, timeout=10), {}

    def function(name):
        meet.wait()  # both have been given theirs by now
        found[name] = given.random_normal((1,))

    threads = [threading.Thread(target=given.taking(function), args=((n,), n)) for n in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {1: 1, 2: 2}


# Streams of a caller.


@pytest.mark.parametrize("act_on", ["backend", "numpy"])
def test_a_caller_with_streams_of_its_own_disturbs_nobody(backend, act_on):
    spec = {"seed": 3, "acting_methods": ["act"], "act_on": act_on}
    spaces = {"x": FloatBox(add_batch_rank=True)}
    x, roots = np.zeros(3, np.float32), [Draws(normal=normal) for _ in range(2)]
    made, undisturbed = (GraphExecutor(r, spaces, backend=backend, execution_spec=spec) for r in roots)
    other = made.program("act", RandomStreams([3, 1]))
    rng = np.random.default_rng(stream_seed([3, 1], "draws/~stream"))
    for _ in range(3):
        expected = rng.normal(size=3).astype("float32")
        np.testing.assert_array_equal(other(x)["normal"], expected)
        given, alone = (each.execute("act", x)["normal"] for each in (made, undisturbed))
        np.testing.assert_array_equal(given, alone)
        assert not np.array_equal(given, expected)


def test_a_plan_is_made_and_lowered_once(backend, monkeypatch):
    from rlgraph.core.runtime import programs

    made, planned, lowered = built(backend), [], []
    make_plan, lower = programs.make_plan, made.backend.lower
    monkeypatch.setattr(programs, "make_plan", lambda *a: planned.append(a[1]) or make_plan(*a))
    monkeypatch.setattr(made.backend, "lower", lambda *a: lowered.append(a[1].name) or lower(*a))
    for program in (made.program("act"), *(made.program("act", RandomStreams(i)) for i in range(3))):
        program(np.zeros(2, np.float32))
    assert (planned, lowered) == (["act"], ["segment_0"])


def test_programs_of_one_caller_share_its_streams_and_host_functions_draw_from_them():
    x, made = np.zeros(3, np.float32), built("numpy", methods=("act", "on_host"))
    streams = RandomStreams(5)
    act, on_host = (made.program(name, streams) for name in ("act", "on_host"))
    expected = np.random.default_rng(stream_seed(5, "draws")).random(3).astype("float32")
    np.testing.assert_array_equal(on_host(x), expected)
    one, again = act(x)["normal"], made.program("act", streams)(x)["normal"]
    assert not np.array_equal(one, again)
    assert streams.keys() == {"draws", "draws/~stream"}


def test_streams_go_on_where_a_checkpoint_left_them():
    x, made, streams = np.zeros(3, np.float32), built("numpy"), RandomStreams(5)
    act = made.program("act", streams)
    fresh = streams.get_state()
    first = act(x)["normal"]
    state = json.loads(json.dumps(streams.get_state()))
    later = act(x)["normal"]
    streams.set_state(state)
    np.testing.assert_array_equal(act(x)["normal"], later)
    for start in (fresh, {}):  # what had not been drawn from begins anew
        streams.set_state(start)
        np.testing.assert_array_equal(act(x)["normal"], first)


@pytest.mark.parametrize("seed", [-1, True, [], [1, -2], 1.5, "a"])
def test_seeds_are_checked(seed):
    with pytest.raises(InputError, match=r"seed: expected an integer >= 0, or several of them, given"):
        RandomStreams(seed)


def test_a_state_that_is_none_changes_nothing():
    streams = RandomStreams(1)
    streams["a"].random()
    before = streams.get_state()
    with pytest.raises(InputError, match=r"the stream 'b' has the state .*, expected one of PCG64"):
        streams.set_state({"a": RandomStreams(2)["a"].bit_generator.state, "b": {"state": 1}})
    assert streams.get_state() == before
