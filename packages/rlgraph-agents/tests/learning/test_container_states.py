"""States that are a Dict, from the environment through the memory to the network."""

import numpy as np
import pytest
from doubles import Episodes, memory

from rlgraph.core import Component, InputError, graph_fn, rlgraph_api
from rlgraph.environments import EnvironmentFault
from rlgraph.spaces import Dict, FloatBox, IntBox

SPACE = Dict(clock=FloatBox(0.0, 9.0, shape=(1,)), position=FloatBox(shape=(2,)))


class Join(Component):
    """A layer of somebody's own: both leaves side by side."""

    def __init__(self, scope="join", **kwargs):
        super().__init__(scope=scope, **kwargs)

    @rlgraph_api
    def call(self, inputs):
        return self._join(inputs["clock"], inputs["position"])

    @graph_fn
    def _join(self, ops, clock, position):
        return ops.concat([clock, position], axis=1)


class Walk(Episodes):
    """Episodes of three steps; the position is `[10 * episode, step]`, the clock the step, if no script says else."""

    def __init__(self, script=None):
        super().__init__(SPACE, IntBox(4))
        self.script = script or {}

    def state(self):
        values = {"clock": [self.steps], "position": [10 * self.episode, self.steps]}
        values.update(self.script.get((self.episode, self.steps), {}))
        return {name: np.array(value, np.float32) for name, value in values.items()}


@pytest.fixture
def agent(make_agent, backend):
    layers = [Join(), {"type": "dense", "units": 8, "activation": "tanh", "scope": "dense-0"}]
    update_spec = {"update_interval": 2, "batch_size": 4}
    return make_agent(backend, env=Walk(), network_spec=layers, update_spec=update_spec)


def test_actions(agent, reference):
    agent.set_weights(reference.randomised(agent.get_weights(), seed=1))
    rng = np.random.default_rng(0)
    joined = rng.normal(size=(20, 3)).astype(np.float32)
    states = {"clock": joined[:, :1], "position": joined[:, 1:]}
    q_values = reference.q_values(agent.get_weights(), joined)
    np.testing.assert_allclose(agent.call_api_method("get_q_values", states), q_values, atol=1e-5)
    actions = agent.get_actions(states, use_exploration=False)
    np.testing.assert_array_equal(actions, q_values.argmax(axis=1))
    single = agent.get_actions({name: value[4] for name, value in states.items()}, use_exploration=False)
    assert np.shape(single) == ()
    assert single == actions[4]


def test_training(agent):
    result = agent.learn(8, env=Walk, num_envs=2, evaluation_interval=4, evaluation_episodes=2)
    assert (result.timesteps, result.updates, result.returns) == (8, 4, (3.0, 3.0))
    assert [evaluation.returns for evaluation in result.evaluations] == [(3.0, 3.0)] * 2
    rows = memory(agent)
    # Two environments in turn: steps 0, 1, 2 of the first episode and the beginning of the second.
    assert rows["states/clock"].ravel().tolist() == [0, 0, 1, 1, 2, 2, 0, 0]
    assert rows["next_states/clock"].ravel().tolist() == [1, 1, 2, 2, 3, 3, 1, 1]
    assert rows["states/position"][::2].tolist() == [[0, 0], [0, 1], [0, 2], [10, 0]]
    assert rows["next_states/position"][::2].tolist() == [[0, 1], [0, 2], [0, 3], [10, 1]]


def test_lengths_that_differ(agent):
    states = SPACE.with_batch_rank().sample(3, rng=np.random.default_rng(0))
    following = {name: value[:2] for name, value in states.items()}
    with pytest.raises(InputError, match="observe: batches differ in length: 3 states, .*2 next_states"):
        agent.observe(states, [0, 1, 2], [0.0] * 3, [False] * 3, following, batched=True)


@pytest.mark.parametrize(
    ("script", "options", "said"),
    [
        (
            {(0, 1): {"clock": [10.5]}},
            {"validate_states": True},
            r"Walk, environment 0, step 1: state/clock.*10\.5",
        ),
        (
            {(1, 0): {"clock": [10.5]}},
            {"validate_states": True},
            r"Walk, environment 0, step 0: state/clock.*10\.5",
        ),
        (
            {(1, 2): {"position": [0.0, np.nan]}},
            {},
            r"Walk, environment 0, step 2: state/position\[1\] is nan",
        ),
        (
            {(1, 0): {"position": [np.inf, 0.0]}},
            {},
            r"Walk, environment 0, step 0: state/position\[0\] is inf",
        ),
    ],
)
def test_a_leaf_that_is_wrong(agent, script, options, said):
    with pytest.raises(EnvironmentFault, match=said):
        agent.learn(20, env=lambda: Walk(script), **options)
