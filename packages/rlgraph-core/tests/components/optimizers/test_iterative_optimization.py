"""Epochs over minibatches, against a loop written by hand."""

import itertools

import numpy as np
import pytest

from rlgraph.components import Adam, Dense, IterativeOptimization
from rlgraph.core import AssemblyError, BuildError, Component, InputError, SpecError, graph_fn, rlgraph_api
from rlgraph.spaces import Dict, FloatBox, IntBox, SpaceError
from rlgraph.testing import ComponentTest


class Average(Component):
    """A number that moves halfway to the mean of each minibatch, so that their order counts."""

    def create_variables(self, input_spaces, action_space=None):
        self.x = self.get_variable("x", FloatBox(), initializer=0.0)
        self.visits = self.get_variable("visits", FloatBox(shape=(12,)), initializer=0.0, trainable=False)

    @rlgraph_api
    def update(self, records):
        size, x = self._update(records["number"], records["value"])
        return {"size": size, "x": x}

    @graph_fn(returns=2)
    def _update(self, ops, number, value):
        ops.assign_add(self.visits, ops.sum(ops.one_hot(number, 12), axis=0))
        x = 0.5 * (self.x + ops.mean(value))
        ops.assign(self.x, x)
        return ops.sum(ops.ones_like(value)), x


RECORDS = Dict(number=IntBox(12), value=float, add_batch_rank=True)
BATCH = {"number": np.arange(12), "value": np.arange(12, dtype=np.float32)}


def built(backend, seed=4, **options):
    component = IterativeOptimization(Average(scope="average"), results=("size", "x"), **options)
    return ComponentTest(component, {"records": RECORDS}, backend=backend, seed=seed)


def rows(number):
    return {name: x[:number] for name, x in BATCH.items()}


def test_every_epoch_uses_every_record_once(backend):
    test = built(backend, num_epochs=3, num_minibatches=4)
    test.test(("update", [BATCH]), which="size", expected_outputs=3.0)
    test.variable_test("average/visits", np.full(12, 3.0))


def test_what_is_left_over_is_left_out_of_one_epoch_only(backend):
    test = built(backend, num_epochs=40, num_minibatches=3)
    assert test.test(("update", [rows(11)]), which="num_updates") == 120
    visits = test.read_variable_values("average/visits")["average/visits"]
    # 9 of 11 in each of 40 epochs: 32.7 times on average, with a deviation of 2.4.
    assert visits.sum() == 360
    assert visits[:11].min() >= 24 and visits[:11].max() <= 40 and visits[11] == 0


def test_the_updates_of_a_loop_by_hand(backend):
    """4 records in 2 minibatches of 2: one of the six ways to choose the first."""
    batch = {"number": np.arange(4), "value": np.array([1.0, 10.0, 100.0, 1000.0], np.float32)}

    def by_hand(first):
        x, total = 0.0, 0.0
        for pair in (first, [i for i in range(4) if i not in first]):
            x = 0.5 * (x + batch["value"][list(pair)].mean())
            total += x
        return total / 2

    possible = [by_hand(pair) for pair in itertools.combinations(range(4), 2)]
    found = [
        float(built(backend, num_minibatches=2, seed=seed).test(("update", [batch]), which="x"))
        for seed in range(5)
    ]
    assert all(np.isclose(x, possible, rtol=1e-5).any() for x in found)
    assert len(set(found)) > 1


def test_mean_of_what_the_updates_return(backend):
    """One minibatch is the whole batch: x goes 2.75, 4.125, 4.8125 towards its mean, 5.5."""
    test = built(backend, num_epochs=3)
    expected = {"size": 12.0, "x": (2.75 + 4.125 + 4.8125) / 3, "num_updates": 3}
    test.test(("update", [BATCH]), expected_outputs=expected, decimals=5)


def test_early_stop(backend):
    test = built(backend, num_epochs=9, stop_if=("x", 4.0))
    test.test(
        ("update", [BATCH]),
        expected_outputs={"size": 12.0, "x": (2.75 + 4.125) / 2, "num_updates": 2},
        decimals=5,
    )


def test_a_number_at_the_limit_stops_nothing(backend):
    """x goes 2.75, 4.125, both without rounding: the first that is above 2.75 is the second."""
    test = built(backend, num_epochs=9, stop_if=("x", 2.75))
    test.test(("update", [BATCH]), which="num_updates", expected_outputs=2)
    test.variable_test("average/x", 4.125)


class Line(Component):
    """Fits a line with Adam."""

    def __init__(self):
        self.layer, self.optimizer = Dense(1, scope="layer"), Adam(0.05)
        super().__init__(self.layer, self.optimizer, scope="line")

    @rlgraph_api
    def update(self, records):
        loss = self._loss(self.layer.call(records["x"]), records["y"])
        self.optimizer.step(self.layer.variables(), loss)
        return {"loss": loss}

    @graph_fn
    def _loss(self, ops, outputs, y):
        return ops.mean(ops.square(outputs - y))


@pytest.mark.parametrize("execution", [{}, pytest.param({"compile": True}, marks=pytest.mark.repetition)])
def test_learning(trainer, execution):
    x = np.random.default_rng(0).uniform(-1, 1, (64, 1)).astype(np.float32)
    pairs = FloatBox(shape=(1,))
    test = ComponentTest(
        IterativeOptimization(Line(), num_epochs=60, num_minibatches=4),
        {"records": Dict(x=pairs, y=pairs, add_batch_rank=True)},
        backend=trainer,
        execution_spec=execution,
    )
    test.test(("update", [{"x": x, "y": 1.0 + 2.0 * x}]))
    test.variable_test({"line/layer/biases": [1.0], "line/layer/weights": [[2.0]]}, decimals=2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_epochs": 0}, "num_epochs: expected an integer >= 1, given 0"),
        ({"api_method_name": "updat"}, "api_method_name: average has no API method 'updat'.*'update'"),
        ({"results": "loss"}, "results: expected names of numbers, given 'loss'"),
        ({"stop_if": ("kl", 0.1)}, "stop_if: 'kl' is not in results"),
        ({"stop_if": 0.1}, "stop_if: expected a pair of a name and a limit"),
    ],
)
def test_mistakes(options, message):
    with pytest.raises(SpecError, match=f"iterative-optimization.{message}"):
        IterativeOptimization(Average(scope="average"), **options)


def test_records_that_do_not_do():
    with pytest.raises(InputError, match="expected at least 3 records, given 2"):
        built("numpy", num_minibatches=3).test(("update", [rows(2)]))
    with pytest.raises(SpaceError, match="records must be a Dict with batch rank, given FloatBox"):
        ComponentTest(
            IterativeOptimization(Average(scope="average"), results=["x"]),
            {"records": FloatBox(add_batch_rank=True)},
            backend="numpy",
        )


def test_a_number_that_is_not_returned():
    with pytest.raises(AssemblyError, match="results: update of average returns no 'loss'. Known: size, x"):
        ComponentTest(IterativeOptimization(Average(scope="average")), {"records": RECORDS}, backend="numpy")


@pytest.mark.parametrize("stop_if", [None, ("value", 1.0)])
def test_a_result_that_is_no_single_number(stop_if):
    class Vector(Component):
        @rlgraph_api
        def update(self, records):
            return {"value": records["value"]}

    component = IterativeOptimization(Vector(scope="vector"), 2, 3, results=["value"], stop_if=stop_if)
    with pytest.raises(
        (BuildError, SpaceError),
        match=r"results: expected 'value' to be one number \[\], given a tensor with 1 axes",
    ):
        ComponentTest(component, {"records": RECORDS}, backend="numpy")


@pytest.mark.parametrize(("returned", "said"), [((), "a tuple of 0"), (None, "nothing")])
def test_an_update_that_returns_no_dict(returned, said):
    class Updated(Component):
        @rlgraph_api
        def update(self, records):
            return returned

    spaces = {"records": Dict(x=FloatBox(), add_batch_rank=True)}
    with pytest.raises(AssemblyError, match=f"update of .*updated returns {said}; expected a dict with loss"):
        ComponentTest(IterativeOptimization(Updated(scope="updated")), spaces, backend="numpy")
