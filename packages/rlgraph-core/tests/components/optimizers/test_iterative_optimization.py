"""Epochs over minibatches, against a loop written by hand."""

import itertools

import numpy as np
import pytest

from rlgraph.components import Adam, Dense, IterativeOptimization
from rlgraph.core import (
    AssemblyError,
    Component,
    GraphExecutor,
    InputError,
    SpecError,
    assemble,
    build,
    graph_fn,
    rlgraph_api,
)
from rlgraph.core.graph import make_plan
from rlgraph.core.graph.nodes import walk_nodes
from rlgraph.core.graph.plan import CollectiveStep, LoopStep
from rlgraph.spaces import Dict, FloatBox, IntBox, SpaceError
from rlgraph.testing import ComponentTest


class Average(Component):
    """A number that moves halfway to the mean of each minibatch, so that their order counts."""

    def create_variables(self, input_spaces, action_space=None):
        self.x = self.get_variable("x", FloatBox(), initializer=0.0)
        self.visits = self.get_variable("visits", FloatBox(shape=(12,)), initializer=0.0, trainable=False)

    @rlgraph_api
    def step(self, records):
        size, x = self._update(records["number"], records["value"])
        return {"size": size, "x": x}

    @graph_fn(returns=2)
    def _update(self, ops, number, value):
        ops.assign_add(self.visits, ops.sum(ops.one_hot(number, 12), axis=0))
        x = 0.5 * (self.x + ops.mean(value))
        ops.assign(self.x, x)
        return ops.sum(ops.ones_like(value)), x


class Epochs(Component):
    """Calls an API method of `part` on minibatches."""

    def __init__(self, part, **options):
        self.part, self.epochs = part, IterativeOptimization(**options)
        super().__init__(part, self.epochs, scope="root")

    @rlgraph_api
    def update(self, records, progress=None):
        return self.epochs.run(self.part.step, records, progress=progress)


RECORDS = Dict(number=IntBox(12), value=float, add_batch_rank=True)
BATCH = {"number": np.arange(12), "value": np.arange(12, dtype=np.float32)}


def built(backend, seed=4, **options):
    component = Epochs(Average(scope="average"), **options)
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
    def step(self, records):
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
        Epochs(Line(), num_epochs=60, num_minibatches=4),
        {"records": Dict(x=pairs, y=pairs, add_batch_rank=True)},
        backend=trainer,
        execution_spec=execution,
    )
    test.test(("update", [{"x": x, "y": 1.0 + 2.0 * x}]))
    test.variable_test({"line/layer/biases": [1.0], "line/layer/weights": [[2.0]]}, decimals=2)


class Gathered(Component):
    """Sums what the minibatches have, by the positions of the records."""

    def create_variables(self, input_spaces, action_space=None):
        self.sums = self.get_variable("sums", FloatBox(shape=(60,)), trainable=False)

    @rlgraph_api
    def step(self, records):
        return {"mismatches": self._gather(records["position"], records["column"]), "constant": 2}

    @graph_fn
    def _gather(self, ops, position, column):
        flat = ops.reshape(position, (-1,))
        ops.assign_add(self.sums, ops.sum(ops.one_hot(flat, 60), axis=0))
        if len(position.shape) == 2:
            ops.assign_add(self.sums, ops.sum(ops.one_hot(50 + position[0] % 5, 60), axis=0))
        return ops.sum(ops.astype(position % 5 != column, "float"))


class Columns(Component):
    """Minibatches of records whose columns are computed, or an argument without time rank."""

    def __init__(self, **options):
        self.gathered = Gathered(scope="gathered")
        self.epochs = IterativeOptimization(num_epochs=2, num_minibatches=2, **options)
        super().__init__(self.gathered, self.epochs, scope="root")

    @rlgraph_api
    def update(self, records, columns=None):
        columns = self._columns(records["position"]) if columns is None else columns
        return self.epochs.run(self.gathered.step, records, {"column": columns})

    @graph_fn
    def _columns(self, ops, position):
        return position % 5


#: Records [T, N] = [4, 5], numbered row by row.
RANKS = {"add_batch_rank": True, "add_time_rank": True, "time_major": True}
STEPS = Dict(position=IntBox(20), unused=float, **RANKS)
GRID = {"position": np.arange(20).reshape(4, 5), "unused": np.zeros((4, 5), np.float32)}


def gathered(backend, space=STEPS, columns=None, **options):
    spaces = {"records": space} if columns is None else {"records": space, "columns": columns}
    return ComponentTest(Columns(**options), spaces, backend=backend)


def visits(test):
    """How often each of the 20 records was in a minibatch ``[4, 5]``, and how often each column came first."""
    sums = test.read_variable_values("gathered/sums")["gathered/sums"]
    return sums[:20].reshape(4, 5), sums[50:55]


@pytest.mark.parametrize("stop_if", [None, ("mismatches", 1.0)])
def test_time_is_folded_into_the_batch(backend, stop_if):
    test = gathered(backend, stop_if=stop_if)
    test.test(("update", [GRID]), expected_outputs={"mismatches": 0.0, "constant": 2.0, "num_updates": 4})
    np.testing.assert_array_equal(visits(test)[0], np.full((4, 5), 2.0))


def test_sequences_stay_whole(backend):
    """2 epochs of 2 minibatches of 2 of the 5 sequences of 4 steps, and a value of each sequence beside them."""
    test = gathered(backend, columns=IntBox(5, add_batch_rank=True), sequences=True)
    test.test(("update", [GRID, np.arange(5)]), which="mismatches", expected_outputs=0.0)
    records, columns = visits(test)
    assert columns.sum() == 8 and columns.max() == 2
    np.testing.assert_array_equal(records, np.broadcast_to(columns, (4, 5)))


def test_sequences_with_the_batch_first():
    space = Dict(STEPS.without_ranks(), add_batch_rank=True, add_time_rank=True)
    test = gathered("numpy", space, sequences=True)
    grid = {name: x.T for name, x in GRID.items()}
    test.test(("update", [grid]), expected_outputs={"mismatches": 0.0, "constant": 2.0, "num_updates": 4})
    records, _ = visits(test)
    assert records.sum() == 32
    np.testing.assert_array_equal(records, np.broadcast_to(records[0], (4, 5)))


def test_the_order_waits_for_nothing_and_unused_fields_are_left_alone(trainer):
    """One program, whose minibatches hold two fields."""
    executor = GraphExecutor(Columns(), {"records": STEPS}, backend=trainer)
    plan = executor.plan("update")
    assert [type(step).__name__ for step in plan.steps] == ["HostStep", "Segment"]
    cuts = [node for node in walk_nodes(plan.nodes) if getattr(node, "function", "") == "_rows"]
    assert len(cuts) == 2


def test_the_method_of_the_caller_and_what_is_the_same_for_all():
    class Algorithm(Component):
        def __init__(self):
            self.epochs = IterativeOptimization(num_minibatches=3)
            super().__init__(self.epochs, scope="algorithm")

        @rlgraph_api
        def update(self, records, progress=None):
            return self.epochs.run(self.step, records, progress=progress)

        @rlgraph_api
        def step(self, records, progress=None):
            return {"value": self._sum(records["value"], progress)}

        @graph_fn
        def _sum(self, ops, values, progress):
            return ops.sum(values) if progress is None else progress

    spaces = {"records": RECORDS, "progress": FloatBox(0.0, 1.0)}
    executor = GraphExecutor(Algorithm(), spaces, backend="numpy", api_methods=["update"])
    assert executor.execute("update", BATCH, 0.25) == {"value": 0.25, "num_updates": 3}
    executor = GraphExecutor(Algorithm(), {"records": RECORDS}, backend="numpy", api_methods=["update"])
    assert executor.execute("update", BATCH) == {"value": BATCH["value"].sum() / 3, "num_updates": 3}


class Moments(Component):
    """The moments of what a minibatch has as `made`, and its product with the field that it is made of."""

    @rlgraph_api
    def step(self, records):
        mean, square, both = self._moments(records["value"], records["made"])
        return {"mean": mean, "square": square, "both": both}

    @graph_fn(returns=3)
    def _moments(self, ops, value, made):
        return ops.mean(made), ops.mean(ops.square(made)), ops.mean(value * made)


@pytest.mark.parametrize("weighted", [True, False])
def test_minibatches_are_standardized(backend, weighted):
    values = np.array([1.0, 4.0, 1e6, 7.0], np.float32) if weighted else np.array([1.0, 7.0], np.float32)
    records = {
        "value": values,
        **({"weights": np.array([1.0, 0.0, 0.0, 2.0], np.float32)} if weighted else {}),
    }
    spaces = {"records": Dict(**dict.fromkeys(records, float), add_batch_rank=True)}
    component = Epochs(Moments(scope="moments"), num_epochs=2, standardized=("value", "made"))
    test = ComponentTest(component, spaces, backend=backend)
    # 1 and 7 become -1 and 1; what does not count becomes 0.
    number = len(values)
    expected = {"mean": 0.0, "square": 2.0 / number, "both": 6.0 / number, "num_updates": 2}
    test.test(("update", [records]), expected_outputs=expected, decimals=5)


def test_all_minibatches_of_a_group_are_standardized_by_two_sums():
    spaces = {"records": Dict(value=float, weights=float, add_batch_rank=True)}
    component = Epochs(Moments(scope="moments"), num_minibatches=4, standardized=("value", "made"))
    plan = make_plan(build(assemble(component, spaces, in_group=True), spaces), "update")
    assert len(plan.collectives) == 2
    assert [type(step) for step in plan.steps if isinstance(step, LoopStep | CollectiveStep)] == [
        CollectiveStep
    ] * 2


def test_a_field_that_is_not_there_cannot_be_standardized():
    component = Epochs(Moments(scope="moments"), standardized=("values", "made"))
    spaces = {"records": Dict(value=float, add_batch_rank=True)}
    message = r"standardized: there is no field 'values'. Did you mean 'value'"
    with pytest.raises(AssemblyError, match=message):
        ComponentTest(component, spaces, backend="numpy")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_epochs": 0}, "num_epochs: expected an integer >= 1, given 0"),
        ({"sequences": 1}, "sequences: expected true or false, given 1"),
        ({"stop_if": 0.1}, "stop_if: expected a pair of a name and a limit"),
        ({"stop_if": (1, 0.1)}, "stop_if: expected a pair of a name and a limit"),
        ({"standardized": "x"}, "standardized: expected the names of two fields, or None, given 'x'"),
    ],
)
def test_mistakes(options, message):
    with pytest.raises(SpecError, match=f"iterative-optimization.{message}"):
        IterativeOptimization(**options)


def test_records_that_do_not_do():
    with pytest.raises(InputError, match="num_minibatches: expected at most 2, given 3: there are 2 records"):
        built("numpy", num_minibatches=3).test(("update", [rows(2)]))
    one = [{name: x[:, :1] for name, x in GRID.items()}]
    message = (
        "num_minibatches: expected at most 1, given 2: there are 1 sequences: take more, or shorter ones"
    )
    with pytest.raises(InputError, match=message):
        gathered("numpy", sequences=True).test(("update", one))
    with pytest.raises(SpaceError, match=r"internal_states: .*one value per sequence needs sequences=True"):
        gathered("numpy", Dict({**STEPS.without_ranks(), "internal_states": float}, **RANKS))
    with pytest.raises(SpaceError, match="records must be a Dict with batch rank, given FloatBox"):
        ComponentTest(Epochs(Average()), {"records": FloatBox(add_batch_rank=True)}, backend="numpy")
    with pytest.raises(
        SpaceError, match="records: expected a Dict with batch and time rank, given .*leave out"
    ):
        ComponentTest(Epochs(Average(), sequences=True), {"records": RECORDS}, backend="numpy")


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (
            IntBox(5, add_batch_rank=True),
            {},
            r"column: expected the ranks of the records, \[T, B\], given IntBox.*one value per sequence needs "
            "sequences=True",
        ),
        (
            IntBox(5, add_batch_rank=True, add_time_rank=True),
            {},
            r"column: expected the ranks of the records, \[T, B\], given IntBox",
        ),
        (IntBox(5), {"sequences": True}, "column: expected a field with batch rank, given IntBox"),
    ],
)
def test_fields_that_do_not_go_together(columns, options, message):
    with pytest.raises(SpaceError, match=f"iterative-optimization/{message}"):
        gathered("numpy", STEPS, columns, **options)


@pytest.mark.parametrize(
    ("wiring", "message"),
    [
        (
            lambda self, records: (records, {"value": records["value"]}),
            "computed: the records have the field 'value'",
        ),
        (
            lambda self, records: (self._opaque(records), {}),
            r"records: expected a dict .* \{'actions': records\[",
        ),
        (
            lambda self, records: (records, records["value"]),
            "computed: expected a dict whose fields are known",
        ),
    ],
)
def test_computed_fields_that_cannot_join_the_records(wiring, message):
    class Joining(Epochs):
        @rlgraph_api
        def update(self, records):
            return self.epochs.run(self.part.step, *wiring(self, records))

        @graph_fn
        def _opaque(self, ops, records):
            return records

    with pytest.raises(AssemblyError, match=f"iterative-optimization.run: {message}"):
        ComponentTest(Joining(Average()), {"records": RECORDS}, backend="numpy")


def test_a_dict_inside_the_records_is_one_to_the_step():
    class Bundled(Component):
        @rlgraph_api
        def step(self, records):
            assert list(records["observations"]) == ["states"]
            return {"sum": self._sum(records["observations"]["states"], records["advantages"])}

        @graph_fn
        def _sum(self, ops, states, advantages):
            return ops.sum(states) + ops.sum(advantages)

    class Algorithm(Epochs):
        @rlgraph_api
        def update(self, records):
            return self.epochs.run(self.part.step, records, {"advantages": records["rewards"]})

    space = Dict(observations={"states": float}, rewards=float, add_batch_rank=True)
    ones = np.ones(4, np.float32)
    batch = {"observations": {"states": ones}, "rewards": ones}
    test = ComponentTest(Algorithm(Bundled()), {"records": space}, backend="numpy")
    test.test(("update", [batch]), which="sum", expected_outputs=8.0)


@pytest.mark.parametrize(
    ("returned", "stop_if", "message"),
    [
        ((), None, r"run: part.step returns \(\); expected a dict of numbers by name"),
        (None, None, "run: part.step returns None; expected a dict"),
        ({}, None, "run: part.step returns {}; expected a dict"),
        ({"num_updates": 1}, None, "run: part.step returns 'num_updates', the number of its calls"),
        ({"kl": 1.0}, ("lk", 0.1), "stop_if: part.step returns no 'lk'. Known: kl"),
    ],
)
def test_a_step_that_returns_something_else(returned, stop_if, message):
    class Part(Component):
        @rlgraph_api
        def step(self, records):
            return returned

    with pytest.raises(AssemblyError, match=message):
        ComponentTest(Epochs(Part(scope="part"), stop_if=stop_if), {"records": RECORDS}, backend="numpy")


def test_a_step_that_is_none():
    class Part(Component):
        step = "step"

    with pytest.raises(AssemblyError, match="run: step must be an API method or a function, given 'step'"):
        ComponentTest(Epochs(Part(scope="part")), {"records": RECORDS}, backend="numpy")


@pytest.mark.parametrize("stop_if", [None, ("value", 1.0)])
def test_a_result_that_is_no_single_number(stop_if):
    class Vector(Component):
        @rlgraph_api
        def step(self, records):
            return {"value": records["value"]}

    component = Epochs(Vector(), num_epochs=2, num_minibatches=3, stop_if=stop_if)
    message = r"value: expected one number \[\] of each minibatch, given a tensor with 1 axes"
    with pytest.raises(SpaceError, match=message):
        ComponentTest(component, {"records": RECORDS}, backend="numpy")
