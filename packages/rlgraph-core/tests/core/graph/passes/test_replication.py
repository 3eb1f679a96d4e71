"""Updates shared by replicas: the plan, what cannot be shared, and the same numbers as on one device."""

import re

import numpy as np
import pytest

from rlgraph.components import Adam
from rlgraph.core import (
    BuildError,
    Component,
    GraphExecutor,
    assemble,
    build,
    graph_fn,
    loop,
    rlgraph_api,
)
from rlgraph.core.component.replicas import Replicas, replication
from rlgraph.core.graph import make_plan
from rlgraph.core.graph.nodes import Gradients, GraphFunctionCall
from rlgraph.core.graph.passes.replica_copies import Replication
from rlgraph.core.numpy.ops import NumpyOps
from rlgraph.draw import draw
from rlgraph.spaces import Dict, FloatBox, IntBox
from rlgraph.testing import on_all_backends

X, Y = FloatBox(shape=(3,), add_batch_rank=True), FloatBox(add_batch_rank=True)
TWO = {"device_strategy": "multi_device_sync", "replicas": ["cpu", "cpu"]}
THREE = {**TWO, "replicas": ["cpu"] * 3}


class Model(Component):
    """``x [B, 3] -> [B]``: a linear map, with graph functions that losses are made of."""

    def create_variables(self, input_spaces, action_space=None):
        self.weights = self.get_variable("weights", FloatBox(shape=(3,)), initializer=0.3)
        self.bias = self.get_variable("bias", float, initializer=0.1)

    @rlgraph_api(must_be_complete=False)
    def call(self, x):
        return self._call(x)

    @graph_fn
    def _call(self, ops, x):
        return ops.sum(x * self.weights, axis=-1) + self.bias

    @rlgraph_api(must_be_complete=False)
    def penalty(self):
        return self._penalty()

    @graph_fn
    def _penalty(self, ops):
        return 0.1 * ops.sum(ops.square(self.weights))


class Moving(Component):
    """Keeps a moving mean of what goes through it."""

    def create_variables(self, input_spaces, action_space=None):
        self.mean = self.get_variable("mean", float, trainable=False)

    @rlgraph_api(must_be_complete=False)
    def call(self, y):
        return self._call(y)

    @graph_fn
    def _call(self, ops, y):
        ops.assign(self.mean, 0.9 * ops.read(self.mean) + 0.1 * ops.mean(y))
        return y * 2.0


class Loss(Component):
    """Errors per item, and functions that a replica must not have."""

    @rlgraph_api(must_be_complete=False)
    def squares(self, predicted, y):
        return self._squares(predicted, y)

    @graph_fn(returns=2)
    def _squares(self, ops, predicted, y):
        per_item = ops.square(predicted - y)
        return ops.mean(per_item), per_item

    @rlgraph_api(must_be_complete=False)
    def add(self, a, b):
        return self._add(a, b)

    @graph_fn
    def _add(self, ops, a, b):
        return a + b

    @rlgraph_api(must_be_complete=False)
    def means(self, x, predicted):
        return self._means(x, predicted)

    @graph_fn
    def _means(self, ops, x, predicted):
        return ops.mean(x * ops.expand_dims(predicted, 1), axis=0)

    @rlgraph_api(must_be_complete=False)
    def mean(self, x):
        return self._mean(x)

    @graph_fn
    def _mean(self, ops, x):
        return ops.mean(x)

    @rlgraph_api(must_be_complete=False)
    def count(self, predicted):
        return self._count(predicted)

    @graph_fn(returns=2)
    def _count(self, ops, predicted):
        return ops.mean(predicted), ops.count_nonzero(predicted > 0.0)

    @rlgraph_api(must_be_complete=False)
    def fold(self, x):
        return self._fold(x)

    @graph_fn
    def _fold(self, ops, x):
        return ops.reshape(x, (-1, 3))

    @rlgraph_api(must_be_complete=False)
    def noise(self, predicted):
        return self._noise(predicted)

    @graph_fn
    def _noise(self, ops, predicted):
        return predicted * 0.0 + ops.random_uniform(ops.shape(predicted))


class Root(Component):
    def __init__(self, **adam):
        self.model, self.loss = Model(scope="model"), Loss(scope="loss")
        self.optimizer = Adam(0.05, **adam)
        super().__init__(self.model, self.loss, self.optimizer, scope="root")

    def step(self, loss):
        return self.optimizer.step(self.model.variables(), loss)


def root(update, *others, **adam):
    """A root whose only API method is `update`, with other components beside."""
    made = type("Wired", (Root,), {"update": rlgraph_api(update)})(**adam)
    for other in others:
        setattr(made, other.scope, other)
    made.add_components(*others)
    return made


def plan(update, *others, **spaces):
    built = build(assemble(root(update, *others)), spaces or {"x": X, "y": Y})
    return make_plan(built, "update", replication(["cpu", "cpu"]))


def squared(self, x, y):
    loss, per_item = self.loss.squares(self.model.call(x), y)
    self.step(loss)
    return loss, per_item


def calls(made, function):
    return [node for node in made.nodes if isinstance(node, GraphFunctionCall) and node.function == function]


# What becomes of a batch.


@pytest.mark.parametrize("size", [0, 1, 2, 3, 5, 8])
@pytest.mark.parametrize("parts", [1, 2, 3, 4])
def test_parts_are_those_of_numpy_and_none_is_empty(size, parts):
    replicas, ops, x = Replicas(), NumpyOps("float64"), np.arange(2.0 * size).reshape(2, size)

    def listed(name, *args):
        found = replicas.graph_function(name).function(replicas, ops, x, *args)
        return list(found) if parts > 1 else [found]

    found, shares = listed("_split", 1, parts), listed("_shares", 1, parts) if size else []
    for part, expected in zip(found, np.array_split(x, parts, axis=1), strict=True):
        if expected.shape[1] or not size:
            np.testing.assert_array_equal(part, expected)
        else:
            np.testing.assert_array_equal(part, x[:, -1:])
    np.testing.assert_allclose(
        shares, [p.shape[1] / size for p in np.array_split(x, parts, 1)] if size else []
    )
    joined = replicas.graph_function("_join").function(replicas, ops, 1, x, 1, *found)
    np.testing.assert_array_equal(joined, x)


# The plan.


def test_every_replica_has_the_slice_and_the_optimizer_steps_once():
    made = plan(squared)
    assert [node.component for node in calls(made, "_call")] == ["replica_0/model", "replica_1/model"]
    assert sum(isinstance(node, Gradients) for node in made.nodes) == 2
    assert len(calls(made, "_apply")) == 1
    assert len(calls(made, "_split")) == 2  # x and y
    parts = [made.built.values[node] for node in made.built.values if getattr(node, "node", 0) > 0]
    assert {"float32[B_0, 3]", "float32[B_1, 3]"} <= {repr(value) for value in parts}


def test_the_nodes_of_a_replica_stand_together():
    made = plan(squared)
    scopes = [node.component.partition("/")[0] for node in made.nodes if hasattr(node, "function")]
    order = re.sub(r"(\w+)(,\1)+", r"\1", ",".join(scopes))
    assert order == "replicas,replica_0,replica_1,replicas,optimizer"


def test_what_variables_give_for_the_loss_is_computed_in_replicas_and_the_rest_as_a_whole():
    def update(self, x, y):
        centred = self.loss.mean(y)  # of the whole batch
        loss, _ = self.loss.squares(self.model.call(x), self.frozen.call(x))
        self.step(self.loss.add(loss, centred))
        return loss

    made = plan(update, Model(scope="frozen", trainable=False))
    assert {node.component for node in calls(made, "_call")} == {
        f"replica_{number}/{scope}" for number in (0, 1) for scope in ("model", "frozen")
    }
    assert [node.component for node in calls(made, "_mean")] == ["loss"]


@pytest.mark.filterwarnings("ignore:component optimizer is part of root, but no API method calls it")
def test_a_plan_without_derivatives_stays_as_it_is():
    def update(self, x, y):
        return self.loss.squares(self.model.call(x), y)

    built = build(assemble(root(update)), {"x": X, "y": Y})
    made = make_plan(built, "update", replication(["cpu", "cpu"]))
    assert made.source == make_plan(built, "update").source
    assert made.built is built


def test_a_loss_without_a_batch_is_computed_once():
    def update(self):
        loss = self.model.penalty()
        self.step(loss)
        return loss

    built = build(assemble(root(update)), {})
    assert make_plan(built, "update", replication(["cpu"] * 2)).source == make_plan(built, "update").source


def test_scopes_of_replicas_avoid_those_that_are_taken():
    def update(self, x, y):
        loss, _ = self.loss.squares(self.model.call(x), self.replica_0.call(y))
        self.step(loss)
        return loss

    class Id(Component):
        @rlgraph_api
        def call(self, x):
            return x

    made = plan(update, Id(scope="replica_0"))
    assert [node.component for node in calls(made, "_call")] == ["replica2_0/model", "replica2_1/model"]


def test_a_drawing_of_a_plan_shows_the_replicas_and_their_devices():
    built = build(assemble(root(squared)), {"x": X, "y": Y})
    made = make_plan(built, "update", Replication(("here", "there"), Replicas(scope="replicas")))
    text = draw(made.built, method="update", depth=2).text()
    assert "replica_0: Replicas · 4 parameters <on here" in text and "replica_1: Replicas" in text
    assert text.count("model: Model · 4 parameters <on there") == 1
    assert "replica_0" not in draw(built, method="update").text()


# What cannot be shared.


def refused(update, *others, **spaces):
    with pytest.raises(BuildError) as caught:
        plan(update, *others, **spaces)
    return str(caught.value)


def test_a_batch_of_fixed_size():
    message = refused(squared, x=FloatBox(shape=(3,), add_batch_rank=4), y=FloatBox(add_batch_rank=4))
    assert message == (
        "optimizer.gradients: there is no batch that replicas could split, the loss is computed from float32[4, 3], "
        "float32[4]: replicas need a batch of open size: add_batch_rank=True"
    )


def test_two_batches_in_one_loss():
    def update(self, x, demo):
        loss = self.loss.add(self.loss.mean(self.model.call(x)), self.loss.mean(self.model.call(demo)))
        self.step(loss)
        return loss

    message = refused(update, x=X, demo=FloatBox(shape=(3,), add_batch_rank="demo"))
    assert "is computed from float32[B, 3], float32[demo, 3]: all of it must have the batch" in message


def test_two_batches_in_two_losses():
    def update(self, x, demo):
        self.step(self.loss.mean(self.model.call(x)))
        self.second.step(self.model.variables(), self.loss.mean(self.model.call(demo)))

    message = refused(update, Adam(scope="second"), x=X, demo=FloatBox(shape=(3,), add_batch_rank="demo"))
    assert "replicas split the batch demo here and B in optimizer.gradients" in message


def test_a_write_in_the_slice():
    def update(self, x):
        self.step(self.loss.mean(self.moving.call(self.model.call(x))))

    message = refused(update, Moving(scope="moving"), x=X)
    assert message.startswith("moving._call writes moving/mean between the variables and the loss, and every")


def test_a_node_that_mixes_the_items():
    def update(self, x):
        loss = self.loss.mean(self.loss.means(x, self.model.call(x)))
        self.step(loss)
        return loss

    message = refused(update, x=X)
    assert message.startswith(
        "loss._means makes float32[3] of a batch B that replicas split: what they compute"
    )


def test_a_number_that_is_no_float():
    def update(self, x):
        loss, count = self.loss.count(self.model.call(x))
        self.step(loss)
        return loss, count

    message = refused(update, x=X)
    assert message.startswith("what loss._count gives is int64[]: of the numbers of replicas a mean is taken")


def test_a_folded_batch():
    def update(self, x):
        loss = self.loss.mean(self.model.call(self.loss.fold(x)))
        self.step(loss)
        return loss

    message = refused(update, x=FloatBox(shape=(3,), add_batch_rank=True, add_time_rank=True))
    assert message.startswith(
        "what loss._fold gives is float32[B*T, 3]: replicas share a batch B, which must be"
    )


@pytest.mark.parametrize("soft", [False, True])
def test_a_replica_on_a_device_that_is_not_there(soft):
    spec = {**TWO, "replicas": ["cpu", "cup"], "soft_placement": soft}
    message = (
        "execution_spec.replicas: device 'cup' is not there; the numpy backend has cpu. Did you mean 'cpu'?"
    )
    with pytest.raises(BuildError, match=re.escape(message)):
        GraphExecutor(root(squared), {"x": X, "y": Y}, backend="numpy", execution_spec=spec)


# The same numbers as on one device.


def pair(backend, update, spaces, strategy=TWO, contract=True, **adam):
    """The same root on one device and shared."""
    return [
        GraphExecutor(
            root(update, **adam),
            spaces,
            backend=backend,
            execution_spec={"seed": 2, "dtype": "float64", **spec},
            contract=contract,
        )
        for spec in ({}, strategy)
    ]


def leaves(value):
    items = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else None
    return [value] if items is None else [leaf for item in items for leaf in leaves(item)]


def assert_parity(backend, update, spaces, strategy=TWO, sizes=(6, 5, 1, 2, 7), **options):
    one, shared = pair(backend, update, spaces, strategy, **options)
    rng = np.random.default_rng(0)
    for size in sizes:
        inputs = {name: space.sample(size, rng=rng) for name, space in spaces.items()}
        found, expected = leaves(shared.execute("update", **inputs)), leaves(one.execute("update", **inputs))
        for a, b in zip(found, expected, strict=True):
            assert a.shape == b.shape
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-12)
    for (name, a), b in zip(shared.get_weights().items(), one.get_weights().values(), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-12, err_msg=name)
    return shared


@on_all_backends("gradients")
@pytest.mark.parametrize("strategy", [TWO, THREE, {**TWO, "replicas": ["cpu"]}])
def test_one_loss(backend, strategy):
    shared = assert_parity(backend, squared, {"x": X, "y": Y}, strategy)
    assert shared.plan("update").source.count("replica_0__model__call") >= 1


@on_all_backends("gradients")
def test_the_norm_of_the_whole_gradient_is_clipped(backend):
    assert_parity(backend, squared, {"x": X, "y": Y}, clip_grad_norm=0.01)


@on_all_backends("gradients")
def test_calls_that_stay_calls(backend):
    assert_parity(backend, squared, {"x": X, "y": Y}, contract=False)


@on_all_backends("gradients")
def test_a_penalty_on_the_variables_alone(backend):
    def update(self, x, y):
        error, per_item = self.loss.squares(self.model.call(x), y)
        penalty = self.model.penalty()
        loss = self.loss.add(error, penalty)
        self.step(loss)
        return loss, error, penalty, per_item

    assert_parity(backend, update, {"x": X, "y": Y})


@on_all_backends("gradients")
def test_the_loss_comes_before_and_behind_the_step(backend):
    def update(self, x, y):
        before, _ = self.loss.squares(self.model.call(x), y)
        self.step(before)
        behind, per_item = self.loss.squares(self.model.call(x), y)
        return before, behind, per_item

    assert_parity(backend, update, {"x": X, "y": Y})


@on_all_backends("gradients")
def test_two_losses_of_which_the_second_sees_the_first_step(backend):
    def update(self, x, y):
        first, per_item = self.loss.squares(self.model.call(x), y)
        self.step(first)
        second = self.loss.add(self.loss.mean(self.model.call(x)), self.model.penalty())
        self.step(second)
        return {"first": first, "second": second, "items": per_item}

    shared = assert_parity(backend, update, {"x": X, "y": Y})
    assert sum(isinstance(node, Gradients) for node in shared.plan("update").nodes) == 4


@on_all_backends("gradients")
def test_containers_and_a_batch_that_is_not_the_first_axis(backend):
    def update(self, records):
        loss, per_item = self.loss.squares(self.model.call(records["x"]), records["y"])
        self.step(loss)
        return loss, per_item

    ranks = {"add_batch_rank": True, "add_time_rank": True, "time_major": True}
    records = Dict({"x": FloatBox(shape=(3,)), "y": FloatBox()}, **ranks)
    one, shared = pair(backend, update, {"records": records})
    rng = np.random.default_rng(0)
    for size in (4, 3, 1):
        inputs = {"x": rng.normal(size=(2, size, 3)), "y": rng.normal(size=(2, size))}
        for a, b in zip(shared.execute("update", inputs), one.execute("update", inputs), strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-12)


@pytest.mark.slow
@on_all_backends("gradients")
def test_updates_in_a_loop(backend):
    def update(self, x, y):
        def epoch(i, last):
            loss, _ = self.loss.squares(self.model.call(x), y)
            self.step(loss)
            return loss

        return loop(3, epoch, 0.0)

    shared = assert_parity(backend, update, {"x": X, "y": Y})
    assert "replica_1__model" in shared.plan("update").source


@on_all_backends("gradients")
def test_derivatives_of_a_loop(backend):
    def update(self, x, y):
        doubled = loop(2, lambda i, value: self.loss.add(value, self.model.call(x)), y)
        loss = self.loss.mean(doubled)
        self.step(loss)
        return loss, doubled

    assert_parity(backend, update, {"x": X, "y": Y})


@on_all_backends("gradients")
def test_replicas_draw_numbers_of_their_own(backend):
    def update(self, x):
        drawn = self.loss.noise(self.model.call(x))
        self.step(self.loss.mean(drawn))
        return drawn

    _, shared = pair(backend, update, {"x": X})
    drawn = shared.execute("update", np.zeros((6, 3)))
    assert len(np.unique(drawn)) == 6


@on_all_backends("gradients")
def test_calls_that_are_fused(backend):
    one, shared = pair(backend, squared, {"x": X, "y": Y})
    x, y = np.ones((3, 3)), np.arange(3.0)
    calls = [("update", x, y), ("update", x, y)]
    for a, b in zip(leaves(shared.execute(calls)), leaves(one.execute(calls)), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-12)


class Sampler(Component):
    """Rows that a host function picks."""

    def create_variables(self, input_spaces, action_space=None):
        self.rows = self.get_variable("rows", FloatBox(shape=(20, 3)), initializer="normal", host=True)

    @rlgraph_api
    def get(self, count):
        return self._get(count)

    @graph_fn(host=True, returns=2, spaces=(X, Y))
    def _get(self, count):
        rows = self.rows[self.rng.integers(0, 20, int(count))]
        return rows, rows.sum(-1)


@on_all_backends("gradients")
def test_a_batch_from_a_host_function(backend):
    def update(self, count):
        x, y = self.sampler.get(count)
        loss, per_item = self.loss.squares(self.model.call(x), y)
        self.step(loss)
        return loss, per_item

    def make(spec):
        wired, execution = root(update, Sampler(scope="sampler")), {"seed": 2, "dtype": "float64", **spec}
        return GraphExecutor(wired, {"count": IntBox(1, None)}, backend=backend, execution_spec=execution)

    one, shared = make({}), make(TWO)
    for size in (5, 1, 4):
        for a, b in zip(shared.execute("update", size), one.execute("update", size), strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-12)
