"""DQN finds the optimal values of a world small enough to know them."""

import numpy as np

from rlgraph.core import Component, graph_fn, rlgraph_api

DISCOUNT = 0.9
# State -> action -> (next state, reward, terminal), as the map says: 0 the start, 1 below it, then a hole and the goal.
# Actions: up, right, down, left.
WORLD = {
    0: [(0, -0.1, False), (2, -5.0, True), (1, -0.1, False), (0, -0.1, False)],
    1: [(0, -0.1, False), (3, 1.0, True), (1, -0.1, False), (1, -0.1, False)],
}


class OneHot(Component):
    """A layer of somebody's own: a number as a vector."""

    def __init__(self, depth, scope="one-hot", **kwargs):
        self.depth = depth
        super().__init__(scope=scope, **kwargs)

    @rlgraph_api
    def call(self, inputs):
        return self._call(inputs)

    @graph_fn
    def _call(self, ops, inputs):
        return ops.one_hot(inputs, self.depth)


def optimal_values():
    """Value iteration: Q[state, action]."""
    values = np.zeros((4, 4))
    for _ in range(200):
        for state, moves in WORLD.items():
            for action, (following, reward, terminal) in enumerate(moves):
                values[state, action] = reward + (0.0 if terminal else DISCOUNT * values[following].max())
    return values[:2]


def test_the_optimal_values_are_those_worked_out_by_hand():
    by_hand = [[0.62, -5.0, 0.8, 0.62], [0.62, 1.0, 0.8, 0.8]]
    np.testing.assert_allclose(optimal_values(), by_hand, atol=1e-12)


def test_grid_world_is_learned(make_agent, backend):
    agent = make_agent(
        backend,
        env={"type": "grid_world", "world": "2x2"},
        discount=DISCOUNT,
        network_spec=[OneHot(4), {"type": "dense", "units": 16, "activation": "relu"}],
        memory_spec={"capacity": 1000},
        exploration_spec={"epsilon_spec": [1.0, 0.1]},
        optimizer_spec={"learning_rate": 0.01},
        update_spec={"steps_before_update": 50, "update_interval": 2, "batch_size": 32, "sync_interval": 50},
    )
    result = agent.learn(2000)
    assert result.updates == 976
    np.testing.assert_allclose(
        agent.call_api_method("get_q_values", np.array([0, 1])), optimal_values(), atol=0.02
    )
    assert agent.get_actions(np.array([0, 1]), use_exploration=False).tolist() == [2, 1]
    evaluation = agent.evaluate(3)
    assert evaluation.lengths == (2, 2, 2)
    np.testing.assert_allclose(evaluation.returns, 0.9, atol=1e-6)
