"""The observation bundle."""

import numpy as np
import pytest

from rlgraph.components import Observations, Policy, QPolicy, ValueFunction
from rlgraph.core import AssemblyError, Component, GraphExecutor, graph_fn, loop, rlgraph_api
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox
from rlgraph.testing import ComponentTest
from rlgraph.testing.observation_parts import ObservationParts

STATE = FloatBox(shape=(2,), add_batch_rank=True)
X = np.random.default_rng(0).normal(size=(6, 2)).astype(np.float32)
DENSE = [{"type": "dense", "units": 3}]
LSTM = [{"type": "lstm", "units": 3, "scope": "lstm"}]


def test_states_alone_or_with_more():
    assert Observations.of("x", "here") == Observations("x")
    assert Observations.of({"camera": "x"}, "here") == Observations({"camera": "x"})
    assert Observations.of({"states": {"states": "x"}, "resets": "r"}, "here") == Observations(
        {"states": "x"}, resets="r"
    )
    assert Observations.of(Dict(states=float, action_mask=bool), "here").action_mask == BoolBox()


def test_an_unknown_part():
    message = (
        r"here: observations have the unknown part 'action_masks'. .*'action_mask'.* \{\"states\": states\}"
    )
    with pytest.raises(AssemblyError, match=message):
        Observations.of({"states": "x", "action_masks": "m"}, "here")


class Actor(Component):
    """Passes on what it is given, to a policy and a value function with memory."""

    def __init__(self):
        self.policy, self.value_function = Policy(LSTM, IntBox(2)), ValueFunction(LSTM)
        super().__init__(self.policy, self.value_function, scope="actor")

    @property
    def internal_states_space(self):
        return Dict({**self.policy.internal_states_space, **self.value_function.internal_states_space})

    @rlgraph_api
    def act(self, observations):
        acted, valued = (
            self.policy.get_action(observations),
            self.value_function.get_state_values(observations),
        )
        return {
            "action": acted["action"],
            "values": valued["state_values"],
            "internal_states": {**acted["internal_states"], **valued["internal_states"]},
        }

    @rlgraph_api
    def judge(self, observations):
        return self.value_function.value_output(observations)


def test_what_comes_out_goes_in_again():
    actor = Actor()
    memory = actor.internal_states_space
    assert list(memory) == ["policy", "value_function"]
    spaces = {
        "act.observations": {"states": STATE, "internal_states": memory},
        "judge.observations": STATE.with_extra_ranks(True, True, True),
    }
    executor = GraphExecutor(actor, spaces, backend="numpy")
    states, values = memory.zeros(2), []
    for t in range(3):
        acted = executor.execute("act", {"states": X[2 * t : 2 * t + 2], "internal_states": states})
        states, values = acted["internal_states"], [*values, acted["values"]]
    np.testing.assert_allclose(values, executor.execute("judge", X.reshape(3, 2, 2)), atol=1e-6)


def test_lengths_of_sequences():
    """The internal states are those after the last valid step."""
    value_function = ValueFunction(LSTM)
    value_function.switched_off_apis = frozenset({"get_values_of_transitions"})
    spaces = {"states": STATE.with_extra_ranks(True, True), "sequence_length": IntBox(4, add_batch_rank=True)}
    test = ComponentTest(ObservationParts(value_function), spaces, backend="numpy")
    whole, short = X.reshape(2, 3, 2), X.reshape(2, 3, 2)[:, :2]
    cut, alone = (
        test.test(("get_state_values", {"states": states, "sequence_length": [2, 2]}))["internal_states"]
        for states in (whole, short)
    )
    np.testing.assert_allclose(cut["value_function"]["lstm"], alone["value_function"]["lstm"], atol=1e-6)


def test_states_of_another_component():
    spaces = {"act.observations": {"states": STATE, "internal_states": Actor().policy.internal_states_space}}
    with pytest.raises(
        AssemblyError, match="value-function: internal_states .* no part 'value_function'.*'policy'"
    ):
        GraphExecutor(Actor(), {**spaces, "judge.observations": STATE}, backend="numpy")


def test_calls_of_one_method_may_have_other_parts(backend):
    policy = QPolicy(DENSE, IntBox(3))

    class Root(Component):
        @rlgraph_api
        def act(self, observations):
            return policy.get_q_values_and_action(observations)["action"]

        @rlgraph_api
        def evaluate(self, states):
            return policy.get_q_values_and_action({"states": states})

    spaces = {"observations": {"states": STATE, "action_mask": BoolBox(shape=(3,))}, "states": STATE}
    executor = GraphExecutor(Root(policy, scope="root"), spaces, backend=backend)
    greedy = executor.execute("evaluate", X)
    q_values = greedy["q_values"]
    np.testing.assert_array_equal(greedy["action"], q_values.argmax(-1))
    worst = np.arange(3) == q_values.argmin(-1)[:, None]
    acted = executor.execute("act", {"states": X, "action_mask": worst})
    np.testing.assert_array_equal(acted, q_values.argmin(-1))


def test_a_part_that_is_none_is_not_given():
    policy = QPolicy(DENSE, IntBox(3))

    class Root(Component):
        @rlgraph_api
        def act(self, states, action_mask=None):
            return policy.get_q_values_and_action({"states": states, "action_mask": action_mask})

    executor = GraphExecutor(Root(policy, scope="root"), {"states": STATE}, backend="numpy")
    greedy = executor.execute("act", X)
    np.testing.assert_array_equal(greedy["action"], greedy["q_values"].argmax(-1))


def test_minibatches_of_bundles_are_bundles():
    """A graph function that is split by leaves keeps their names, also in a loop."""
    policy = QPolicy(DENSE, IntBox(3))

    class Root(Component):
        @rlgraph_api
        def best(self, records, order):
            def update(_, actions):
                return policy.get_deterministic_action(self._rows(records, order)["observations"])["action"]

            return loop(2, update, order)

        @graph_fn(flatten_ops={"records"}, split_ops=True)
        def _rows(self, ops, records, order):
            return ops.take(records, order)

    observations = {"states": STATE, "action_mask": BoolBox(shape=(3,))}
    spaces = {"records": {"observations": observations}, "order": IntBox(add_batch_rank=True)}
    executor = GraphExecutor(Root(policy, scope="root"), spaces, backend="numpy")
    mask = np.eye(3, dtype=bool)[[2, 0, 1, 1, 2, 0]]
    best = executor.execute("best", {"observations": {"states": X, "action_mask": mask}}, np.arange(6)[::-1])
    np.testing.assert_array_equal(best, [0, 2, 1, 1, 0, 2])
