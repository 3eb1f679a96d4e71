"""Exploration that remembers an episode begins anew with the next one, in the rows of the environments that ended."""

import numpy as np
import pytest
from doubles import told

from rlgraph.components import Exploration
from rlgraph.components.common.schedules import Schedule
from rlgraph.components.explorations.exploration import action_batch
from rlgraph.core import graph_fn, rlgraph_api
from rlgraph.environments import Environment, SequentialVectorEnv
from rlgraph.spaces import Dict, FloatBox, IntBox
from rlgraph.testing.environments import CountingEnvironment
from rlgraph.workers import SingleThreadedWorker

ACTIONS = 6


class StepsOfEpisode(Exploration):
    """Actions count the steps of each environment since its episode began."""

    def __init__(self, action_space, scope="exploration"):
        super().__init__(action_space, Schedule.from_spec(0.0, path="amount"), scope=scope)
        self.internal_states_space = Dict(count=IntBox(None, None), add_batch_rank=True)

    @rlgraph_api
    def get_action(self, actions, progress=None, use_exploration=None, observations=None):
        return self._counted(observations["internal_states"]["count"])

    @rlgraph_api
    def next_internal_states(self, observations, progress=None, use_exploration=None):
        return {"count": self._more(observations["internal_states"]["count"])}

    @graph_fn(host=True, spaces=action_batch)
    def _counted(self, count):
        return count % ACTIONS

    @graph_fn
    def _more(self, ops, count):
        return count + 1


class Counting(CountingEnvironment, Environment):
    def __init__(self, steps_to_end):
        CountingEnvironment.__init__(self, steps_to_end, action_space=IntBox(ACTIONS))


def agent_of(make_agent, backend, **options):
    options = {"exploration_spec": {"type": StepsOfEpisode}, "update_spec": {"do_updates": False}, **options}
    return make_agent(backend, state_space=FloatBox(shape=(1,)), action_space=IntBox(ACTIONS), **options)


@pytest.mark.parametrize("preprocessing", [[], [{"type": "divide", "divisor": 2.0}]])
def test_each_environment_begins_anew_where_its_episode_does(make_agent, backend, preprocessing):
    agent = agent_of(make_agent, backend, **({"preprocessing_spec": preprocessing} if preprocessing else {}))
    rows = []
    listening = told(on_step=lambda worker, step: rows.append(step.actions.tolist()))
    vector = SequentialVectorEnv([Counting(3), Counting(5)])
    worker = SingleThreadedWorker(agent, vector, num_envs=2)
    worker.execute_timesteps(24, callbacks=[listening])
    expected = [[t % 3, t % 5] for t in range(12)]
    assert rows == expected
    # A new run begins new episodes.
    rows.clear()
    worker.execute_timesteps(4, callbacks=[listening])
    assert rows == [[0, 0], [1, 1]]


def test_reset_of_some_and_of_all(make_agent, one_backend):
    agent = agent_of(make_agent, one_backend)
    states = np.zeros((3, 1), np.float32)
    assert agent.get_actions(states).tolist() == [0, 0, 0]
    agent.reset(1)
    assert agent.get_actions(states).tolist() == [1, 0, 1]
    agent.reset(["env_0", "env_2", "someone"])  # an unknown one has no row
    assert agent.get_actions(states).tolist() == [0, 1, 0]
    agent.reset()
    assert agent.get_actions(states).tolist() == [0, 0, 0]
