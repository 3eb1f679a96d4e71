"""ParallelWorker: the same steps and updates as in one thread, each update one step later; restarts; the end."""

import signal
import subprocess
import sys

import numpy as np
import pytest

from rlgraph.agents import Agent
from rlgraph.core import SpecError, registry
from rlgraph.environments import DeterministicEnv, make_environment
from rlgraph.workers import Callback, ParallelWorker, SingleThreadedWorker

pytestmark = pytest.mark.slow

COUNTING = {"type": "deterministic", "steps_to_terminal": 3, "reward_start": 1.0}
#: One backend that learns will do; of those that are installed the last by name is PyTorch, the quickest to build.
BACKEND = next(name for name in reversed(registry("rlgraph.backends").names()) if name != "numpy")


def make_agent(backend=BACKEND, env=COUNTING, **changes):
    spec = {
        "type": "dqn",
        "network_spec": [{"type": "dense", "units": 4}],
        "memory_spec": {"type": "replay_memory", "capacity": 50},
        "update_spec": {"update_interval": 4, "batch_size": 4, "steps_before_update": 8},
        **changes,
    }
    env = make_environment(env)
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

    def make(kind, env=COUNTING, agent=None, **options):
        made.append(kind(agent or make_agent(), env, **{"num_envs": 2, **options}))
        return made[-1]

    yield make
    for each in made:
        each.terminate()


def test_steps_episodes_and_updates_are_those_of_one_thread(worker):
    parallel, single = worker(ParallelWorker, processes=2), worker(SingleThreadedWorker)
    counts = []
    for each in (parallel, single):
        updates = Updates()
        result = each.execute_timesteps(24, callbacks=updates)
        assert each.agent.updates == updates.count == result.updates
        counts.append((result.timesteps, result.episodes, result.updates, result.returns))
    assert counts[0] == counts[1] == (24, 8, counts[1][2], (6.0,) * 8) and counts[1][2] >= 4


def test_equal_seeds_equal_runs(worker):
    weights = []
    for processes in (2, 4):
        each = worker(ParallelWorker, num_envs=4, processes=processes)
        each.execute_timesteps(40)
        weights.append(each.agent.get_weights())
    assert weights[0].keys() == weights[1].keys()
    assert all(np.array_equal(weights[0][name], weights[1][name]) for name in weights[0])


class Steps(Callback):
    """Copies of all that the agent is given to learn from."""

    def __init__(self):
        self.steps = []

    def on_step(self, worker, step):
        columns = (
            step.states,
            step.actions,
            step.rewards,
            step.terminated,
            step.truncated,
            step.final_states,
        )
        self.steps.append([np.array(column) for column in columns])


STACK = [
    {"type": "multiply", "factor": 2.0},
    {"type": "sequence", "sequence_length": 2},
    {"type": "reshape", "flatten": True},
]


@pytest.mark.parametrize("preprocessing", [None, STACK])
def test_halves_step_as_all_together_would(worker, preprocessing):
    """An agent that does not explore and does not learn acts the same in halves: CartPole, ends and all."""
    seen = []
    for kind, options in ((ParallelWorker, {"processes": 2}), (SingleThreadedWorker, {})):
        agent = make_agent(
            "numpy", "CartPole-v1", preprocessing_spec=preprocessing, update_spec={"do_updates": False}
        )
        recorded = Steps()
        each = worker(kind, "CartPole-v1", agent, num_envs=4, report_interval=12, **options)
        result = each.execute_timesteps(240, use_exploration=False, callbacks=recorded)
        assert result.episodes >= 3
        seen.append((result.returns, recorded.steps))
    assert seen[0][0] == seen[1][0] and len(seen[0][1]) == len(seen[1][1]) == 60
    for mine, theirs in zip(seen[0][1], seen[1][1], strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(mine, theirs, strict=True))


def test_the_first_half_is_ahead_unless_something_is_due(worker):
    """Of 6 rounds of 2 steps, the third and the last one end with a report, and there nobody is ahead."""
    each = worker(ParallelWorker, report_interval=6, processes=2)
    ahead, first = [], each.vector_env.parts[0]

    class Looking(Callback):
        def on_step(self, worker, step):
            ahead.append(first._sent)

    each.execute_timesteps(12, callbacks=Looking())
    assert ahead == [True, True, False, True, True, False]


def test_a_run_that_was_stopped_is_followed_by_another(worker):
    each = worker(ParallelWorker, processes=2)
    result = each.execute_episodes(3)
    assert result.returns == (6.0,) * len(result.returns) and 3 <= result.episodes <= 4
    assert each.execute_timesteps(12).returns == (6.0,) * 4  # nothing of the step that was left out


def test_a_process_that_is_killed_costs_its_rows_only(worker):
    env = {"type": "faulty", "fault": "kill", "fault_step": 2, "steps_to_terminal": 3}
    each = worker(ParallelWorker, env, processes=2)
    with pytest.warns(RuntimeWarning, match="killed by signal 9"):
        result = each.execute_timesteps(20)
    assert result.timesteps == 20 and each.restarts >= 2 and each.dropped_steps == each.restarts


def test_mistakes():
    with pytest.raises(SpecError, match="has environments in processes, given 'native'"):
        ParallelWorker(make_agent(), COUNTING, vectorization="native")
    with pytest.raises(SpecError, match="cannot be sent"):
        ParallelWorker(make_agent(), lambda: DeterministicEnv())
    with pytest.raises(SpecError, match="num_envs: .* two halves .* even number >= 2, given 3"):
        ParallelWorker(make_agent(), COUNTING, num_envs=3)
    with pytest.raises(SpecError, match="processes: .* even number >= 2, given 1"):
        ParallelWorker(make_agent(), COUNTING, processes=1)


INTERRUPTED = """
import sys
from rlgraph.agents import Agent
from rlgraph.workers import Callback, ParallelWorker

class Ready(Callback):
    def on_report(self, worker, metrics):
        print(*(id for part in worker.vector_env.parts for id in part.processes), flush=True)

if __name__ == "__main__":
    agent = Agent.from_spec(
        {"type": "dqn", "network_spec": [{"type": "dense", "units": 4}], "update_spec": {"do_updates": False}},
        env="CartPole-v1",
        backend="numpy",
    )
    worker = ParallelWorker(agent, "CartPole-v1", num_envs=2, report_interval=500)
    result = worker.execute_timesteps(10**9, callbacks=Ready())
    assert result.interrupted
    worker.terminate()
    print("in good order", flush=True)
"""


def test_ctrl_c_ends_it_in_good_order_and_leaves_no_process(tmp_path):
    script = tmp_path / "interrupted.py"
    script.write_text(INTERRUPTED)
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as parent:
        pids = parent.stdout.readline().split()
        parent.send_signal(signal.SIGINT)
        output, _ = parent.communicate(timeout=60)
    assert len(pids) == 2 and output.endswith("in good order\n") and parent.returncode == 0
    assert not [pid for pid in pids if is_running(pid)]


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
