"""An application acts and observes from many threads while one updates and another saves."""

import sys
import threading
import time

import numpy as np
import pytest

from rlgraph.agents import Agent
from rlgraph.spaces import FloatBox, IntBox

WIDTH, THREADS, STEPS = 64, 8, 150


def state_of(number):
    """A row from which its number can be read back anywhere: a torn one has two numbers."""
    return np.full(WIDTH, number, np.float32)


def number_of(rows):
    """The numbers of rows [B, WIDTH], each seen to be whole."""
    assert (rows == rows[:, :1]).all()
    return rows[:, 0].astype(int)


@pytest.fixture(autouse=True)
def hurried():
    """Threads take turns a thousand times as often as they would."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(5e-6)
    yield
    sys.setswitchinterval(before)


@pytest.fixture
def agent(backend, execution):
    return Agent.from_spec(
        {
            "type": "dqn",
            "network_spec": [{"type": "dense", "units": 8}],
            "memory_spec": {"capacity": 2 * THREADS * STEPS},
            "update_spec": {"batch_size": 16, "update_interval": 32},
            "optimizer_spec": {"learning_rate": 1e-6},
        },
        state_space=FloatBox(shape=(WIDTH,)),
        action_space=IntBox(8),
        backend=backend,
        execution_spec=execution(backend),
        seed=1,
    )


def run_all(*bodies):
    """All bodies at once, each in its own thread; what one raised."""
    failures, start = [], threading.Barrier(len(bodies))

    def guarded(body):
        start.wait()
        try:
            body()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(body,)) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert not any(thread.is_alive() for thread in threads)
    if failures:
        raise failures[0]


@pytest.mark.parametrize("waiting", [False, True], ids=["next_states", "without"])
def test_no_record_is_torn_or_lost(agent, backend, waiting, tmp_path):
    """Thread k observes the steps k * STEPS + t of environment k, in pairs of rows."""
    done = threading.Event()
    agent._observer._reader.unchecked = 0  # the quick way from the first step on

    def act_and_observe(thread):
        first = thread * STEPS
        for t in range(STEPS):
            state = state_of(first + t)
            actions = agent.get_actions(state[None])
            rewards = np.full(1, first + t, np.float32)
            terminals = np.array([t == STEPS - 1])
            following = None if waiting else state_of(first + t + 1)[None]
            env_id = f"env_{thread}" if waiting else None
            agent.observe(state[None], actions, rewards, terminals, following, batched=True, env_id=env_id)
            state[:] = -1.0  # its own to use again

    def update():
        while not done.is_set():
            agent.update_if_due()
            time.sleep(0)

    def save():
        while not done.is_set():
            agent.store_model(tmp_path / "model")

    workers = [lambda k=k: act_and_observe(k) for k in range(THREADS)]
    finished = threading.Barrier(THREADS, action=done.set)

    def then_wait(worker):
        try:
            worker()
        finally:
            finished.wait()

    run_all(*(lambda w=w: then_wait(w) for w in workers), update, save)
    assert agent.timesteps == THREADS * STEPS
    agent.update_if_due()
    assert agent.updates == THREADS * STEPS // 32
    host, size = agent.executor.storage.host, int(agent.call_api_method("get_memory_size"))
    numbers = number_of(host["memory/rows/states"][:size])
    assert sorted(numbers) == list(range(THREADS * STEPS))
    np.testing.assert_array_equal(host["memory/rows/rewards"][:size], numbers)
    terminals = host["memory/rows/terminals"][:size]
    np.testing.assert_array_equal(terminals, numbers % STEPS == STEPS - 1)
    following = number_of(host["memory/rows/next_states"][:size])
    np.testing.assert_array_equal(following[~terminals], numbers[~terminals] + 1)
    check_checkpoint(agent, tmp_path / "model")


def check_checkpoint(agent, folder):
    """Whatever moment was saved: its memory has as many whole records as its counter says, or some wait."""
    agent.load_model(folder)
    host, size = agent.executor.storage.host, int(agent.call_api_method("get_memory_size"))
    numbers = number_of(host["memory/rows/states"][:size])
    np.testing.assert_array_equal(host["memory/rows/rewards"][:size], numbers)
    assert agent.timesteps - THREADS <= size <= agent.timesteps


def test_a_checkpoint_is_of_one_moment(agent, tmp_path):
    """A save in the middle of an observe would have a record that its counter has not."""
    insert, inside = agent._observer._insert, threading.Event()

    def slow_insert(records):
        insert(records)
        inside.set()
        time.sleep(0.05)

    agent._observer._insert, agent._observer._reader.unchecked = slow_insert, 0

    def observe():
        agent.observe(
            state_of(1)[None],
            np.zeros(1, int),
            np.ones(1, np.float32),
            np.zeros(1, bool),
            state_of(2)[None],
            batched=True,
        )

    def save():
        inside.wait(timeout=30)
        agent.store_model(tmp_path / "model")

    run_all(observe, save)
    agent.load_model(tmp_path / "model")
    assert agent.timesteps == int(agent.call_api_method("get_memory_size")) == 1


def test_acting_sees_whole_weights(agent):
    """Weights are written together: all of one number, so that greedy actions are those of one writing."""
    weights = agent.get_weights()
    names = [name for name in weights if name.startswith("dqn/policy/")]
    sets = [{name: np.full_like(weights[name], value) for name in names} for value in (0.0, 1.0)]
    done = threading.Event()

    def write():
        for i in range(200):
            agent.set_weights(sets[i % 2])
        done.set()

    def read():
        while not done.is_set():
            values = agent.get_weights()
            assert len({float(values[name].flat[0]) for name in names}) == 1
            agent.get_actions(np.ones((1, WIDTH), np.float32), use_exploration=False)

    agent.set_weights(sets[0])
    run_all(write, read, read)


@pytest.mark.parametrize("direct", [False, True])
def test_observing_takes_turns(agent, direct):
    """Two inserts at once would write the same rows of the memory."""
    insert, inside = agent._observer._insert, []

    def slow_insert(records):
        assert not inside
        inside.append(1)
        time.sleep(1e-3)
        inside.pop()
        insert(records)

    agent._observer._insert = agent.learner._writer(-1)._insert = slow_insert
    agent._observer._reader.unchecked = 0 if direct else 100
    rewards, ends = np.zeros(1, np.float32), np.zeros(1, bool)

    def observe():
        for _ in range(5):
            agent.observe(state_of(0)[None], np.zeros(1, int), rewards, ends, state_of(1)[None], batched=True)

    run_all(*[observe] * 4)
    assert agent.timesteps == int(agent.call_api_method("get_memory_size")) == 20


def test_an_update_is_done_by_one_thread(agent):
    rows = np.zeros((32, WIDTH), np.float32)
    agent.observe(rows, np.zeros(32, int), np.zeros(32, np.float32), np.zeros(32, bool), rows, batched=True)
    threads = [threading.Thread(target=agent.update_if_due) for _ in range(2)]
    with agent._updating:  # both see that it is due, and wait
        for thread in threads:
            thread.start()
        time.sleep(0.05)
    for thread in threads:
        thread.join(timeout=60)
    assert agent.updates == 1
