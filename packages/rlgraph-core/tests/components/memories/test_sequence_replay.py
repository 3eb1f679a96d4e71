"""Sequences in a memory, and their steps as items."""

import numpy as np
import pytest

from rlgraph.components import LSTM, SGD, Dense, QPolicy, ReplayedSequences, SequenceReplay
from rlgraph.core import Component, SpecError, graph_fn, rlgraph_api
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, Tuple
from rlgraph.testing import ComponentTest

K, T, UNITS = 2, 4, 3
STATE = FloatBox(shape=(UNITS,))
RECORDS = Dict(
    states=FloatBox(shape=(K + T + 1, 2)),
    begins=BoolBox(shape=(K + T,)),
    actions=IntBox(3, shape=(T,)),
    rewards=FloatBox(shape=(T,)),
    terminals=BoolBox(shape=(T,)),
    weights=FloatBox(shape=(T,)),
    beginnings=Dict(policy=Dict(lstm=Tuple(STATE, STATE))),
    add_batch_rank=True,
)


class Replaying(Component):
    """Action values of the items of sequences, and of the states that they led to."""

    def __init__(self, n_step=1, burn_in=K):
        self.policy = QPolicy([Dense(4, "tanh", scope="dense"), LSTM(UNITS, scope="lstm")], IntBox(3))
        self.sequences = ReplayedSequences(burn_in, n_step, 0.9)
        self.optimizer = SGD(1.0, scope="optimizer")
        super().__init__(self.policy, self.sequences, self.optimizer, scope="replaying")

    @rlgraph_api
    def learn(self, records):
        """A step down the sum of the first values of all items."""
        values = self._call(records, None)["values"]
        return self.optimizer.step(self.policy.variables(), self._sum(values))

    @graph_fn
    def _sum(self, ops, values):
        return ops.sum(values[:, 0])

    @rlgraph_api
    def call(self, records, importance_weights=None):
        return self._call(records, importance_weights)

    def _call(self, records, importance_weights):
        items = self.sequences.get_items(records, importance_weights)
        sequences = {"states": items["states"], **items.pop("sequences")}
        seen = {"states": items["states"], "sequences": sequences}
        reached = {"states": items["next_states"], "sequences": sequences, "after": items["after"]}
        values = (self.policy.get_q_values(observed)["q_values"] for observed in (seen, reached))
        return {**items, "values": next(values), "next_values": next(values)}

    @rlgraph_api
    def act(self, states, internal_states):
        return self.policy.get_q_values({"states": states, "internal_states": internal_states})


def example(lengths=(4, 2, 1), seed=0):
    """Sequences of some lengths; the first begins within its burn-in, the last is all of an episode."""
    rng = np.random.default_rng(seed)
    number = len(lengths)
    begins = np.zeros((number, K + T), bool)
    begins[0, 1], begins[-1, K] = True, True
    weights = (np.arange(T) < np.array(lengths)[:, None]).astype(float)
    return {
        "states": rng.normal(size=(number, K + T + 1, 2)),
        "begins": begins,
        "actions": rng.integers(3, size=(number, T)),
        "rewards": rng.normal(size=(number, T)) * weights,
        "terminals": (np.arange(T) == np.array(lengths)[:, None] - 1)
        & np.array([True, False, True])[:, None],
        "weights": weights,
        "beginnings": {"policy": {"lstm": tuple(rng.normal(size=(2, number, UNITS)))}},
    }


def subject(backend="numpy", records=RECORDS, **options):
    spaces = {
        "records": records,
        "importance_weights": FloatBox(add_batch_rank=True),
        "states": FloatBox(shape=(2,), add_batch_rank=True),
        "internal_states": Dict(policy=Dict(lstm=Tuple(STATE, STATE)), add_batch_rank=True),
    }
    return ComponentTest(
        Replaying(**options), spaces, backend=backend, seed=3, execution_spec={"dtype": "float64"}
    )


@pytest.mark.parametrize("n_step", [1, 3])
def test_items_are_the_steps_of_an_actor_that_goes_through_the_sequences(n_step):
    test, records, lengths = subject(n_step=n_step), example(), (4, 2, 1)
    given = test.test("call", records, np.array([0.5, 1.0, 2.0]))
    by_step = {name: given[name].reshape(T, 3, -1) for name in ("values", "next_values")}
    for row, length in enumerate(lengths):
        c_and_h = tuple(state[[row]] for state in records["beginnings"]["policy"]["lstm"])
        reached = []
        for t in range(K + length):
            if records["begins"][row, t]:
                c_and_h = tuple(np.zeros((1, UNITS)) for _ in range(2))
            acted = test.test("act", records["states"][row, [t]], {"policy": {"lstm": c_and_h}})
            c_and_h = acted["internal_states"]["policy"]["lstm"]
            after = test.test("act", records["states"][row, [t + 1]], {"policy": {"lstm": c_and_h}})
            if t >= K:
                reached.append(after["q_values"][0])
                np.testing.assert_allclose(by_step["values"][t - K, row], acted["q_values"][0])
        for t in range(length):
            last, steps = min(t + n_step, length) - 1, range(t, min(t + n_step, length))
            np.testing.assert_allclose(by_step["next_values"][t, row], reached[last])
            item = t * 3 + row
            total = sum(0.9 ** (k - t) * records["rewards"][row, k] for k in steps)
            assert given["rewards"][item] == pytest.approx(total)
            assert given["discounts"][item] == pytest.approx(0.9 ** len(steps))
            assert given["terminals"][item] == records["terminals"][row, last]
            assert given["actions"][item] == records["actions"][row, t]
    np.testing.assert_array_equal(
        given["weights"].reshape(T, 3), np.array([[0.5, 1, 2], [0.5, 1, 0], [0.5, 0, 0], [0.5, 0, 0]])
    )


def test_the_states_before_do_not_count_after_a_beginning():
    test, records = subject(), example()
    before = test.test("call", records, np.ones(3))["values"]
    other = {**records, "beginnings": {"policy": {"lstm": (np.ones((3, UNITS)),) * 2}}}
    after = test.test("call", other, np.ones(3))["values"].reshape(T, 3, 3)
    same = np.isclose(before.reshape(T, 3, 3), after).all(axis=2)
    assert same[:, 0].all() and same[0, 2]  # begin within the burn-in, and after it
    assert not same[0, 1]


def test_no_gradient_flows_into_the_burn_in(trainer):
    """The step is that of sequences without burn-in, from the internal states that it led to."""
    records = example()
    whole, held = subject(trainer), records["beginnings"]["policy"]["lstm"]
    for t in range(K):
        kept = ~records["begins"][:, t, None]
        held = tuple(state * kept for state in held)
        acted = whole.test("act", records["states"][:, t], {"policy": {"lstm": held}})
        held = acted["internal_states"]["policy"]["lstm"]
    space = {name: box.without_ranks() for name, box in RECORDS.items()}
    space |= {"states": FloatBox(shape=(T + 1, 2)), "begins": BoolBox(shape=(T,))}
    late = subject(trainer, Dict(space, add_batch_rank=True), burn_in=0)
    rest = {"states": records["states"][:, K:], "begins": records["begins"][:, K:]}
    whole.test("learn", records)
    late.test("learn", {**records, **rest, "beginnings": {"policy": {"lstm": held}}})
    expected = late.executor.get_weights()
    for name, value in whole.executor.get_weights().items():
        np.testing.assert_allclose(value, expected[name], atol=1e-9, err_msg=name)


def test_a_memory_keeps_sequences():
    memory = SequenceReplay(capacity=10, sequence_length=6, burn_in=2, alpha=0.0)
    assert (memory.capacity, memory.learned_steps, memory.overlap) == (2, 4, 2)
    spaces = {"records": RECORDS, "num_records": IntBox(), "indices": IntBox(), "errors": FloatBox()}
    for name in ("indices", "errors"):
        spaces[name] = spaces[name].with_batch_rank()
    test = ComponentTest(memory, spaces, backend="numpy", seed=1)
    records = example()
    test.test("insert_records", records)
    drawn, _, weights = test.test("get_records", 64)
    np.testing.assert_array_equal(weights, np.ones(64))
    kept = {states[0].tobytes() for states in records["states"][1:].astype(np.float32)}
    assert {states[0].tobytes() for states in drawn["states"]} == kept


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"burn_in": 40}, "memory.burn_in: expected fewer steps than sequence_length, 40, given 40"),
        ({"overlap": 41}, "memory.overlap: expected fewer steps than sequence_length, 40, given 41"),
        (
            {"burn_in": 10, "overlap": 5},
            "memory.overlap: expected at least burn_in, 10, given 5: the steps between",
        ),
        ({"capacity": 19}, "memory.capacity: expected an integer >= 20"),
        ({"sequence_length": 0}, "memory.sequence_length: expected an integer >= 1"),
        ({"eta": 1.5}, "memory.eta: expected"),
    ],
)
def test_lengths_fit_together(options, said):
    with pytest.raises(SpecError, match=said):
        SequenceReplay(**options)
