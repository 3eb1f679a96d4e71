"""Windows of n steps end where a worker resets environments, compared with a loop over whole episodes."""

import numpy as np
import pytest
from doubles import Episodes, memory

from rlgraph.environments import EnvironmentFault
from rlgraph.workers import SingleThreadedWorker

N_STEP, DISCOUNT, LENGTH = 3, 0.5, 4


class Numbered(Episodes):
    """State 100 * episode + step; every episode of one object is another one. Terminates after `LENGTH` steps."""

    def __init__(self, first=0, fault=None):
        super().__init__(length=LENGTH, reward=lambda env, action: float(10 * env.episode + env.steps))
        self.episode, self.fault = first - 1, fault

    def state(self):
        return np.array([100 * self.episode + self.steps], np.float32)

    def step(self, action):
        if (self.episode, self.steps) == self.fault:
            raise RuntimeError("a crash")
        return super().step(action)


def expected(*episodes):
    """The records of episodes, each as (number, steps): those of `LENGTH` steps terminated, others were cut."""
    records = set()
    for episode, steps in episodes:
        for t in range(steps):
            end = min(t + N_STEP, steps)
            reward = sum(DISCOUNT ** (i - t) * (10 * episode + i + 1) for i in range(t, end))
            terminal = end == LENGTH
            records.add((100 * episode + t, reward, terminal, 100 * episode + end, DISCOUNT ** (end - t)))
    return records


def records_of(agent):
    fields, rows = ("states", "rewards", "terminals", "next_states", "discounts"), memory(agent)
    records = list(zip(*(rows[field].ravel().tolist() for field in fields), strict=True))
    assert len(set(records)) == len(records)
    return set(records)


@pytest.fixture
def agent(make_agent):
    options = {"update_spec": {"do_updates": False}, "memory_spec": {"capacity": 1000}}
    return make_agent("numpy", env=Numbered, n_step=N_STEP, discount=DISCOUNT, **options)


def test_between_two_calls(agent):
    worker = SingleThreadedWorker(agent, Numbered())
    worker.execute_timesteps(6)  # an episode, and two steps of the next one
    agent.evaluate(1, env=Numbered)
    worker.execute_timesteps(5)
    worker.execute_timesteps(1)
    agent.flush_buffers()
    assert records_of(agent) == expected((0, 4), (1, 2), (2, 4), (3, 1), (4, 1))


def test_several_environments_and_learn(agent):
    firsts = iter([0, 20, 50, 70])
    for steps in (6, 10):
        agent.learn(steps, env=lambda: Numbered(next(firsts)), num_envs=2)
    agent.flush_buffers()
    assert records_of(agent) == expected((0, 3), (20, 3), (50, 4), (51, 1), (70, 4), (71, 1))


def test_after_an_error(agent):
    worker = SingleThreadedWorker(agent, Numbered(fault=(1, 2)))
    with pytest.raises(EnvironmentFault, match="step 3: raised RuntimeError: a crash"):
        worker.execute_timesteps(100)
    worker.execute_timesteps(2)
    agent.flush_buffers()
    assert records_of(agent) == expected((0, 4), (1, 2), (2, 2))


def test_after_a_restart(agent):
    """The crashed step is none; its episode is cut before it, and counts nowhere."""
    firsts = iter([0, 30])
    worker = SingleThreadedWorker(agent, lambda: Numbered(next(firsts), (1, 3)))
    with pytest.warns(RuntimeWarning, match="a crash"):
        worker.execute_timesteps(11)
    agent.flush_buffers()
    assert records_of(agent) == expected((0, 4), (1, 3), (30, 4))
    assert (list(worker.returns), worker.recent_lengths) == ([10.0, 1210.0], (4, 4))


def test_at_a_reset_point(agent, tmp_path):
    worker = SingleThreadedWorker(
        agent, Numbered(), checkpoint_interval=6, store_checkpoint=lambda worker: tmp_path
    )
    worker.execute_timesteps(13)
    agent.flush_buffers()
    assert records_of(agent) == expected((0, 4), (1, 2), (2, 4), (3, 2), (4, 1))
