"""ProcessVectorEnv: the same as in turn, and what becomes of processes that crash, hang or lose their parent."""

import os
import signal
import subprocess
import sys
import time
from functools import partial

import numpy as np
import pytest
from doubles import raising

from rlgraph.core.errors import SpecError
from rlgraph.environments import (
    EnvironmentFault,
    FaultyEnv,
    ProcessVectorEnv,
    RandomEnv,
    SequentialVectorEnv,
    environment_seed,
    make_environment,
    make_vector_env,
)
from rlgraph.spaces import Dict, FloatBox, IntBox, Tuple

pytestmark = pytest.mark.slow

CARTPOLE = partial(make_environment, "CartPole-v1")


@pytest.fixture
def made():
    """Collects environments to end."""
    environments = []
    yield environments.append
    for environment in environments:
        environment.terminate()


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_for_the_end_of(pids, seconds=20):
    end = time.monotonic() + seconds
    while any(is_alive(pid) for pid in pids) and time.monotonic() < end:
        time.sleep(0.02)
    return [pid for pid in pids if is_alive(pid)]


def leaves(rows):
    if isinstance(rows, dict):
        return [leaf for part in rows.values() for leaf in leaves(part)]
    return [leaf for part in rows for leaf in leaves(part)] if isinstance(rows, tuple) else [rows]


def test_equal_to_environments_in_turn(made):
    own, apart = (
        SequentialVectorEnv([CARTPOLE] * 3),
        make_vector_env("CartPole-v1", 3, "processes", processes=2),
    )
    made(apart)
    assert isinstance(apart, ProcessVectorEnv) and len(apart.processes) == 2
    assert np.array_equal(own.reset(seed=5), apart.reset(seed=5))
    rng, ends = np.random.default_rng(0), 0
    for _ in range(120):
        actions = rng.integers(2, size=3)
        for mine, theirs in zip(own.step(actions)[:4], apart.step(actions)[:4], strict=True):
            assert np.array_equal(mine, theirs)
        assert np.array_equal(own.final_states, apart.final_states)
        assert own.finished == apart.finished
        ends += len(own.finished)
    assert ends > 5
    assert np.array_equal(own.reset(seed=6), apart.reset(seed=6))


def test_containers_and_buffers(made):
    states = Dict(a=FloatBox(shape=(2,)), b=Tuple(IntBox(3), FloatBox(shape=(1, 2))))
    make = partial(
        RandomEnv, states, Dict(go=FloatBox(-1.0, 1.0, shape=(2,)), turn=IntBox(4)), terminal_prob=0.3
    )
    own, apart = SequentialVectorEnv([make] * 2), ProcessVectorEnv(make, 2, 1)
    made(apart)
    actions = own.action_space.sample(2, rng=np.random.default_rng(1))
    first = (own.reset(seed=1), apart.reset(seed=1))
    copies = [leaf.copy() for leaf in leaves(first[1])]
    apart.send(actions)
    with pytest.raises(EnvironmentFault, match=r"call receive\(\) before the next send"):
        apart.send(actions)
    for call in (apart.render, apart.get_states):
        with pytest.raises(EnvironmentFault, match=r"call receive\(\) before (render|get_states)\(\)"):
            call()
    second = apart.receive()[0]
    assert all(map(np.array_equal, leaves(first[1]), copies))  # the step before stays as it was
    for mine, theirs in zip(leaves(own.step(actions)[0]), leaves(second), strict=True):
        assert mine.dtype == theirs.dtype and np.array_equal(mine, theirs)
    with pytest.raises(EnvironmentFault, match=r"call send\(\) before receive"):
        apart.receive()
    with pytest.raises(EnvironmentFault, match="actions/turn has the shape"):
        apart.send({**actions, "turn": np.zeros(3, np.int64)})


def run_until_dropped(env, steps=12):
    seen = []
    for _ in range(steps):
        states, rewards, terminated, *_ = env.step(np.zeros(env.num_environments, np.int64))
        seen.append((states.ravel().tolist(), rewards.tolist(), terminated.tolist(), list(env.dropped)))
        if env.dropped:
            break
    return seen


@pytest.mark.parametrize(
    ("fault", "cause"),
    [
        ("kill", "killed by signal 9"),
        ("exit", "exit code 3"),
        ("hang", "no answer within 1 s"),
        ("raise", "RuntimeError: a fault that was asked for"),
    ],
)
def test_what_goes_wrong_is_replaced(made, fault, cause):
    env = ProcessVectorEnv(partial(FaultyEnv, fault, 2, steps_to_terminal=3), 2, 1, step_timeout=1.0)
    made(env)
    env.reset(seed=0)
    before = env.processes
    with pytest.warns(RuntimeWarning, match=cause):
        seen = run_until_dropped(env)
    assert len(seen) == 5 and seen[-1] == ([0.0, 0.0], [0.0, 0.0], [False, False], [0, 1])
    assert env.restarts == 2 and env.finished == []
    assert (env.processes == before) == (fault == "raise")
    after = run_until_dropped(env, 3)  # the flags of the episode before are not left standing
    assert [row[0] for row in after] == [[1.0, 1.0], [2.0, 2.0], [0.0, 0.0]]
    assert [row[2] for row in after] == [[False, False], [False, False], [True, True]]
    assert env.final_states.ravel().tolist() == [3.0, 3.0]


def test_kill_9_of_one_process_leaves_the_others_alone(made):
    env = ProcessVectorEnv(CARTPOLE, 3, 3)
    made(env)
    env.reset(seed=1)
    env.step(np.zeros(3, np.int64))
    others = [env.processes[0], env.processes[2]]
    os.kill(env.processes[1], signal.SIGKILL)
    with pytest.warns(RuntimeWarning, match="environment 1: crashed"):
        _, rewards, *_ = env.step(np.zeros(3, np.int64))
    assert env.dropped == [1] and rewards.tolist() == [1.0, 0.0, 1.0]
    assert [env.processes[0], env.processes[2]] == others


def test_a_process_that_is_replaced_has_seeds_by_index_and_restart(made):
    make = partial(RandomEnv, FloatBox(shape=(2,)), IntBox(2), terminal_prob=0.0)
    env = ProcessVectorEnv(make, 1, 1, first_index=4)
    made(env)
    env.reset(seed=9)
    os.kill(env.processes[0], signal.SIGKILL)
    with pytest.warns(RuntimeWarning, match="environment 4: crashed"):
        states, *_ = env.step(np.zeros(1, np.int64))
    expected = make().reset(seed=environment_seed(environment_seed(9, 4, 0, 1), 4))
    assert np.array_equal(states[0], expected)


def test_the_limit_of_restarts(made):
    env = ProcessVectorEnv(partial(FaultyEnv, "exit", 1, 0), 1, max_restarts=1)
    made(env)
    env.reset()
    with pytest.warns(RuntimeWarning):
        env.step(np.zeros(1, np.int64))
    with pytest.raises(EnvironmentFault, match=r"exit code 3\); max_restarts=1 are used up"):
        env.step(np.zeros(1, np.int64))


def test_an_error_comes_over_with_its_traceback(made):
    env = ProcessVectorEnv(partial(FaultyEnv, "raise", 1, 0), 2, 1)
    made(env)
    env.reset()
    with pytest.raises(
        EnvironmentFault, match="environment 0, step 1: raised RuntimeError: .*asked for"
    ) as caught:
        env.step(np.zeros(2, np.int64))
    trace = str(caught.value.__cause__)
    assert "faulty_env.py" in trace and "in _fail" in trace
    with pytest.raises(EnvironmentFault, match=r"call reset\(\)"):
        env.step(np.zeros(2, np.int64))
    assert env.reset().tolist() == [[0.0], [0.0]]  # and it can go on


def test_mistakes():
    with pytest.raises(SpecError, match="cannot be sent to another process .*lambda"):
        make_vector_env(lambda: make_environment("CartPole-v1"), 2, "processes")
    with pytest.raises(SpecError, match="vectorization: expected an id, .* given one environment, a "):
        make_vector_env(make_environment("CartPole-v1"), 1, "processes")
    with pytest.raises(SpecError, match="processes: expected an integer >= 1, given 0"):
        ProcessVectorEnv(CARTPOLE, 2, 0)
    with pytest.raises(SpecError, match="step_timeout"):
        ProcessVectorEnv(CARTPOLE, 2, step_timeout=0)


def test_terminate_ends_the_processes():
    env = ProcessVectorEnv(CARTPOLE, 2, 2)
    env.reset()
    pids = env.processes
    env.send(np.zeros(2, np.int64))
    env.terminate()
    env.terminate()
    assert not wait_for_the_end_of(pids)


PARENT = """
import sys, time
from functools import partial
import numpy as np
from rlgraph.environments import FaultyEnv, ProcessVectorEnv
if __name__ == "__main__":
    env = ProcessVectorEnv(partial(FaultyEnv, "hang", 1, 0), 2, 2)
    env.reset()
    env.send(np.zeros(2, np.int64))
    print(*env.processes, flush=True)
    env.receive()
"""


@pytest.mark.parametrize("way", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_processes_end_with_their_parent_even_in_a_step_that_hangs(tmp_path, way):
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    parent = subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    with parent:
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(pids) == 2 and all(is_alive(pid) for pid in pids)
        parent.send_signal(way)
        parent.wait(20)
    assert not wait_for_the_end_of(pids)


# A reset settles what is under way.


def goes_on_like(env, seed, steps=20):
    """Whether `env` is, from a reset on, what environments in turn are."""
    own, rng = SequentialVectorEnv([CARTPOLE] * env.num_environments), np.random.default_rng(0)
    same = [np.array_equal(own.reset(seed=seed), env.reset(seed=seed))]
    for _ in range(steps):
        actions = rng.integers(2, size=env.num_environments)
        mine, theirs = own.step(actions), env.step(actions)
        same.append(all(map(np.array_equal, mine[:4], theirs[:4])))
        same.append(np.array_equal(own.final_states, env.final_states))
    return all(same)


@pytest.mark.parametrize("steps", [0, 1])
def test_a_step_that_nobody_received(made, steps):
    env = ProcessVectorEnv(CARTPOLE, 3, 2)
    made(env)
    env.reset(seed=1)
    for _ in range(steps):
        env.step(np.zeros(3, np.int64))
    before = env.processes
    env.send(np.zeros(3, np.int64))
    assert goes_on_like(env, 7)
    assert env.processes == before
    with pytest.raises(EnvironmentFault, match=r"call send\(\) before receive"):
        env.receive()


def test_an_error_that_nobody_received_is_of_no_interest(made):
    env = ProcessVectorEnv(partial(FaultyEnv, "raise", 1, 0), 2, 1)
    made(env)
    env.reset()
    env.send(np.zeros(2, np.int64))
    assert env.reset().tolist() == [[0.0], [0.0]]


@pytest.mark.parametrize("steps", [0, 1])
def test_ctrl_c_while_an_answer_is_read(made, monkeypatch, steps):
    """The rest of the answer may still be in the pipe: the process is replaced; the others stay."""
    env = ProcessVectorEnv(CARTPOLE, 4, 2)
    made(env)
    env.reset(seed=1)
    for _ in range(steps):
        env.step(np.zeros(4, np.int64))
    before, interrupted = env.processes, env._processes[1]
    with monkeypatch.context() as patched:
        patched.setattr(interrupted, "receive", raising(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            env.step(np.zeros(4, np.int64))
    assert goes_on_like(env, 7)
    assert env.processes[0] == before[0] and env.processes[1] != before[1]
    assert not os.path.exists(f"/proc/{before[1]}")  # ended, and waited for
    assert env.restarts == 0  # it is no environment that crashed
