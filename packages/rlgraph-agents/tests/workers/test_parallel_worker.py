"""ParallelWorker: the same steps and updates as in one thread, each update one step later; restarts."""

import numpy as np
import pytest

from rlgraph.agents import Agent
from rlgraph.core import SpecError
from rlgraph.environments import DeterministicEnv
from rlgraph.workers import Callback, ParallelWorker, SingleThreadedWorker

COUNTING = {"type": "deterministic", "steps_to_terminal": 3, "reward_start": 1.0}


def make_agent(backend="torch"):
    spec = {
        "type": "dqn",
        "network_spec": [{"type": "dense", "units": 4}],
        "memory_spec": {"type": "replay_memory", "capacity": 50},
        "update_spec": {"update_interval": 4, "batch_size": 4, "steps_before_update": 8},
    }
    env = DeterministicEnv()
    return Agent.from_spec(
        spec, state_space=env.state_space, action_space=env.action_space, backend=backend, seed=3
    )


class Updates(Callback):
    def __init__(self):
        self.count = 0

    def on_update(self, worker, results):
        self.count += 1


@pytest.fixture
def worker():
    made = []

    def make(kind, env=COUNTING, **options):
        made.append(kind(make_agent(), env, num_envs=2, **options))
        return made[-1]

    yield make
    for each in made:
        each.terminate()


def test_steps_episodes_and_updates_are_those_of_one_thread(worker):
    parallel, single = worker(ParallelWorker, processes=1), worker(SingleThreadedWorker)
    counts = []
    for each in (parallel, single):
        updates = Updates()
        result = each.execute_timesteps(24, callbacks=updates)
        assert each.agent.updates == updates.count == result.updates
        counts.append((result.timesteps, result.episodes, result.updates, result.returns))
    assert counts[0] == counts[1] == (24, 8, counts[1][2], (6.0,) * 8) and counts[1][2] >= 4


def test_equal_seeds_equal_runs(worker):
    weights = []
    for processes in (1, 2):
        each = worker(ParallelWorker, processes=processes)
        each.execute_timesteps(40)
        weights.append(each.agent.get_weights())
    assert weights[0].keys() == weights[1].keys()
    assert all(np.array_equal(weights[0][name], weights[1][name]) for name in weights[0])


def test_a_process_that_is_killed_costs_its_rows_only(worker):
    env = {"type": "faulty", "fault": "kill", "fault_step": 2, "steps_to_terminal": 3}
    each = worker(ParallelWorker, env, processes=1)
    with pytest.warns(RuntimeWarning, match="killed by signal 9"):
        result = each.execute_timesteps(20)
    assert result.timesteps == 20 and each.restarts >= 2 and each.dropped_steps == each.restarts


def test_mistakes():
    with pytest.raises(SpecError, match="has environments in processes, given 'native'"):
        ParallelWorker(make_agent(), COUNTING, vectorization="native")
    with pytest.raises(SpecError, match="cannot be sent"):
        ParallelWorker(make_agent(), lambda: DeterministicEnv())
