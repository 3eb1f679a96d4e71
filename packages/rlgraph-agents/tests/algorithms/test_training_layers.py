"""Dropout, batch statistics and frozen parts in acting and in updates, for every agent."""

import numpy as np
import pytest

from rlgraph.agents import Agent
from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.spaces import FloatBox, IntBox

STATES, CATEGORY, FLOATS = FloatBox(-1.0, 1.0, shape=(3,)), IntBox(2), FloatBox(-1.0, 1.0, shape=(1,))
#: Agents with their actions, and further options.
AGENTS = {
    "dqn": ("dqn", CATEGORY, {}),
    "dqn without dueling": ("dqn", CATEGORY, {"dueling_q": False}),
    "c51": ("c51", CATEGORY, {}),
    "qr_dqn": ("qr_dqn", CATEGORY, {}),
    "dqfd": ("dqfd", CATEGORY, {"n_step": 2}),
    "apex": ("apex", CATEGORY, {"n_step": 1}),
    "ppo": ("ppo", CATEGORY, {"num_epochs": 1, "num_minibatches": 2}),
    "ppo, shared": ("ppo", FLOATS, {"value_network_spec": "shared", "num_epochs": 1, "num_minibatches": 2}),
    "ppo, rnd": ("ppo", CATEGORY, {"intrinsic_reward": "rnd", "num_epochs": 1, "num_minibatches": 2}),
    "ppo, icm": ("ppo", CATEGORY, {"intrinsic_reward": "icm", "num_epochs": 1, "num_minibatches": 2}),
    "a2c": ("a2c", CATEGORY, {}),
    "a2c, shared": ("a2c", CATEGORY, {"value_network_spec": "shared"}),
    "impala": ("impala", CATEGORY, {}),
    "impala, shared": ("impala", CATEGORY, {"value_network_spec": "shared"}),
    "sac": ("sac", FLOATS, {}),
    "sac, category": ("sac", CATEGORY, {}),
    "td3": ("td3", FLOATS, {"policy_delay": 1}),
    "iql": ("iql", FLOATS, {}),
    "bc": ("bc", CATEGORY, {}),
}
ROWS = 16


class Counting(Component):
    """Counts its calls in training in a variable, and adds 0.1 to what it is given in these."""

    def __init__(self, scope="counting", **kwargs):
        super().__init__(scope=scope, **kwargs)

    def create_variables(self, input_spaces, action_space=None):
        self.calls = self.get_variable("calls", float, trainable=False)

    @rlgraph_api
    def call(self, inputs, training=None):
        return self._train(inputs) if training else self._read(inputs)

    @graph_fn
    def _train(self, ops, inputs):
        ops.assign_add(self.calls, 1.0)
        return inputs + 0.1

    @graph_fn
    def _read(self, ops, inputs):
        return inputs + 0.0 * ops.read(self.calls)


def agent_of(name, layer, backend="torch", **others):
    kind, actions, options = AGENTS[name]
    spec = {"type": kind, "network_spec": [8, layer, 8], **options, **others}
    return Agent.from_spec(spec, state_space=STATES, action_space=actions, backend=backend, seed=3)


def update(agent):
    rng = np.random.default_rng(1)
    states = rng.uniform(-1.0, 1.0, (ROWS + 1, 3)).astype(np.float32)
    is_category = isinstance(agent.action_space, IntBox)
    batch = {
        "states": states[:-1],
        "next_states": states[1:],
        "actions": rng.integers(0, 2, ROWS)
        if is_category
        else rng.uniform(-1, 1, (ROWS, 1)).astype(np.float32),
        "rewards": rng.normal(size=ROWS).astype(np.float32),
        "terminals": np.zeros(ROWS, bool),
    }
    if agent.executor.root.algorithm.behaviour_outputs:
        batch["remembered"] = {"log_likelihood": np.full(ROWS, -0.7, np.float32)}
    agent.update(batch, sequence_indices=[7, ROWS - 1])
    return agent.executor.get_weights()


@pytest.mark.parametrize("name", AGENTS)
def test_dropout_is_in_updates_and_not_in_acting(name, backend):
    agents = [agent_of(name, {"type": "dropout", "rate": rate}, backend) for rate in (0.0, 0.9)]
    states = np.random.default_rng(0).uniform(-1.0, 1.0, (8, 3)).astype(np.float32)
    for explores in (False, True):
        acted = [agent.get_actions(states, use_exploration=explores) for agent in agents]
        np.testing.assert_allclose(*acted, atol=1e-6)
    without, dropped = (update(agent) for agent in agents)
    changed = {path.split("/")[1] for path in without if not np.array_equal(without[path], dropped[path])}
    scopes = [part.scope for part in agents[0].executor.root.algorithm.sub_components.values()]
    assert changed.issuperset(
        s for s in scopes if s in ("policy", "value-function") or s.startswith("critic-")
    )


@pytest.mark.parametrize("name", AGENTS)
def test_each_network_trains_once_in_an_update(name):
    """Values, log-probabilities and entropies of one batch come from one pass; nothing else trains."""
    agent = agent_of(name, {"type": Counting}, "torch")
    states = np.zeros((4, 3), np.float32)
    for explores in (False, True):
        agent.get_actions(states, use_exploration=explores)
    if "get_q_values" in agent.executor.methods:
        agent.executor.execute("get_q_values", states)
    weights = agent.executor.get_weights()
    counts = {path: value for path, value in weights.items() if path.endswith("calls")}
    assert counts and not any(counts.values())
    updates = 2 if name.startswith("ppo") else 1  # one for each minibatch
    follows = agent.executor.root.algorithm.scope in ("sac", "iql", "td3")  # targets, by tau
    weights = update(agent)
    for path in counts:
        expected = updates if "target" not in path else 0.005 * follows
        np.testing.assert_allclose(weights[path], expected, rtol=1e-5, err_msg=path)


def batch_norm(backend):
    """A module with batch statistics, and the end of the name of its mean."""
    if backend == "torch":
        from torch.nn import BatchNorm1d

        return pytest.importorskip("rlgraph.torch").ModuleComponent(
            BatchNorm1d(8), scope="norm"
        ), "running_mean"
    keras = pytest.importorskip("keras")
    return pytest.importorskip("rlgraph.tf").ModuleComponent(
        keras.layers.BatchNormalization(), scope="norm"
    ), "moving_mean"


@pytest.mark.parametrize("name", ["dqn", "ppo, shared", "a2c, shared", "impala, shared", "bc"])
def test_statistics_of_a_module_move_in_updates_only(name, backend):
    if backend not in ("torch", "tf"):
        pytest.skip(f"{backend} has no modules")
    layer, mean = batch_norm(backend)
    agent = agent_of(name, layer, backend)
    states = np.random.default_rng(0).uniform(-1.0, 1.0, (8, 3)).astype(np.float32)
    for explores in (False, True):
        agent.get_actions(states, use_exploration=explores)
    means = {path: value for path, value in agent.executor.get_weights().items() if path.endswith(mean)}
    assert means and not any(value.any() for value in means.values())
    after = update(agent)
    for path in means:
        assert after[path].any() == ("target" not in path), path


@pytest.mark.parametrize("name", ["sac", "td3", "iql"])
def test_targets_follow_the_statistics_of_modules(name):
    """Means by the share of the weights; numbers of batches, which have no share, are copied."""
    torch = pytest.importorskip("rlgraph.torch")
    from torch.nn import BatchNorm1d

    class Norm(torch.ModuleComponent):
        def __init__(self, scope="norm", **kwargs):
            super().__init__(BatchNorm1d(8), scope=scope, **kwargs)

    agent = agent_of(name, 8, value_network_spec=[8, {"type": Norm}], tau=0.25)
    after = update(agent)
    target, critic = (f"{name}/{scope}/network/norm-1" for scope in ("target-critic-0/critic-0", "critic-0"))
    assert after[f"{critic}/num_batches_tracked"] == after[f"{target}/num_batches_tracked"] == 1
    np.testing.assert_allclose(
        after[f"{target}/running_mean"], after[f"{critic}/running_mean"] / 4, rtol=1e-5
    )
    assert after[f"{critic}/running_mean"].any()
