"""A graph of chosen API methods: an actor built without what only its learner needs."""

import warnings

import numpy as np
import pytest

from rlgraph.components import Adam, Policy, Synchronizer, ValueFunction
from rlgraph.core import AssemblyError, BuildError, Component, GraphExecutor, graph_fn, rlgraph_api
from rlgraph.spaces import FloatBox, IntBox

LAYERS = [{"type": "dense", "units": 8, "activation": "tanh"}]
STATES = FloatBox(shape=(3,), add_batch_rank=True)
SPACES = {"states": STATES, "returns": FloatBox(add_batch_rank=True)}
X = np.random.default_rng(0).normal(size=(6, 3)).astype("float32")


class Algorithm(Component):
    def __init__(self):
        self.policy, self.value_function = Policy(LAYERS, IntBox(4)), ValueFunction(LAYERS)
        self.target = self.policy.copy(scope="target", trainable=False)
        self.optimizer, self.synchronizer = Adam(0.1), Synchronizer(1.0)
        parts = (self.policy, self.value_function, self.target, self.optimizer, self.synchronizer)
        super().__init__(*parts, scope="algorithm")

    @rlgraph_api
    def act(self, states):
        return self.policy.get_stochastic_action(states)["action"]

    @rlgraph_api
    def act_greedily(self, states):
        return self.policy.get_deterministic_action(states)["action"]

    @rlgraph_api
    def update(self, states, returns):
        old = self.target.get_log_likelihood(states, self.act(states))["log_likelihood"]
        loss = self._loss(self.value_function.value_output(states), returns, old)
        self.optimizer.step(self.value_function.variables(), loss)
        return loss

    @rlgraph_api
    def sync(self):
        return self.synchronizer.sync(self.policy.variables(), self.target.variables())

    @graph_fn
    def _loss(self, ops, values, returns, old):
        return ops.mean(ops.square(values - returns)) + ops.mean(old)


def built(api_methods=None, spaces=SPACES, seed=3):
    execution = {"seed": seed}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return GraphExecutor(
            Algorithm(), spaces, backend="numpy", execution_spec=execution, api_methods=api_methods
        )


def test_it_has_what_its_methods_reach_and_nothing_else():
    actor = built(["act", "act_greedily"], {"states": STATES})
    assert actor.methods == ["act", "act_greedily"]
    assert actor.built.variables.keys() == actor.plan("act").reads
    components = set(actor.built.graph.components)
    assert {"algorithm", "policy", "policy/network"} <= components
    assert components.isdisjoint({"value-function", "target", "optimizer", "synchronizer"})


def test_what_it_has_is_as_in_the_full_build():
    actor, learner = built(["act", "act_greedily"], {"states": STATES}), built()
    weights = learner.get_weights()
    for name, value in actor.get_weights().items():
        np.testing.assert_array_equal(value, weights[name])
    for _ in range(5):
        np.testing.assert_array_equal(actor.execute("act", X), learner.execute("act", X))
    assert actor.storage.streams.keys() == learner.storage.streams.keys()


def test_variables_of_what_is_inside_a_reached_component_are_still_missed():
    """`sync` alone gives the policies no Spaces, so that there is nothing to copy."""
    with pytest.raises(
        BuildError, match=r"policy.variables\(\) is asked for, but no API method calls policy"
    ):
        built(["sync"], {})


def test_an_unknown_method_is_named():
    with pytest.raises(AssemblyError, match=r"algorithm has no API method 'act_greedy'. .*act_greedily"):
        built(["act_greedy"], {"states": STATES})
