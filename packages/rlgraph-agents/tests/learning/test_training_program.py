"""Training as one program with the environment: in runs, and what cannot be in one."""

import json
import logging
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from rlgraph.agents import Agent
from rlgraph.components import Adam
from rlgraph.components.environments.cart_pole import CartPole
from rlgraph.components.environments.pendulum import Pendulum
from rlgraph.core import NumericalError, SpecError, graph_fn
from rlgraph.core.graph import variables
from rlgraph.learning.training_program import TrainingProgram
from rlgraph.runs import resume, run_differences, train
from rlgraph.spaces import Dict, FloatBox, IntBox, SpaceError
from rlgraph.workers import Callback, SingleThreadedWorker

LENGTH, NUMBER = 16, 4
DENSE, LSTM = [{"type": "dense", "units": 16, "activation": "tanh"}], [{"type": "lstm", "units": 8}]


def agent_on(backend, kind, environment, layers, **options):
    return Agent.from_spec(
        {
            "type": kind,
            "network_spec": layers,
            **({} if kind == "dqn" else {"rollout_length": LENGTH}),
            **options,
        },
        state_space=environment.state_space,
        action_space=environment.action_space,
        backend=backend,
        seed=3,
        execution_spec={"dtype": "float64", "threads": None},
    )


MEMORY = {
    "memory_spec": {"type": "replay_memory", "capacity": 50},
    "update_spec": {"update_interval": 4, "batch_size": 16, "steps_before_update": 10},
    "sync_interval": 4096,
}


def test_updates_and_targets_keep_their_intervals(backend):
    agent = Agent.from_spec(
        {
            "type": "dqn",
            "network_spec": DENSE,
            "memory_spec": {"type": "replay_memory", "capacity": 300},
            "update_spec": {"update_interval": 8, "batch_size": 16, "steps_before_update": 100},
            "sync_interval": 128,
        },
        env="rlgraph/CartPole-v1",
        backend=backend,
        seed=1,
        execution_spec={"threads": None},
    )
    agent.learn(96, num_envs=4, in_graph=True)
    assert (agent.timesteps, agent.updates) == (96, 0)
    agent.learn(256, num_envs=4, in_graph=True)
    # From step 104 on, the first multiple of 8 that is not below 100, one in 8 steps.
    assert agent.updates == (agent.timesteps - 96) // 8
    assert int(agent.executor.execute("get_memory_size")) == 300


def test_targets_are_due_after_the_same_steps_as_from_outside(backend):
    spec = {**AGENTS["dqn"], "sync_interval": 100}
    spec["update_spec"] = {**spec["update_spec"], "update_interval": 8, "update_steps": 2}
    agent = Agent.from_spec(
        spec, env="rlgraph/CartPole-v1", backend=backend, seed=1, execution_spec={"threads": None}
    )
    agent.learn(300, num_envs=4, in_graph=True)
    program, steps = agent.kept_program[1], agent.timesteps
    assert program.graph.rounds * 8 == program.steps > 400 and steps % 100
    expected, before = [], steps
    while before < steps + program.steps:
        after = before + 8
        expected += [False, after // 100 > before // 100]  # after the last update of a round
        before = after
    (due,) = program._due(len(expected))
    assert due["sync_target"].tolist() == expected


def test_a_call_with_a_large_network_is_short(backend):
    def rounds_of(units):
        spec = {**AGENTS["dqn"], "network_spec": [{"type": "dense", "units": units}] * 2}
        agent = Agent.from_spec(
            spec, env="rlgraph/CartPole-v1", backend=backend, execution_spec={"threads": None}
        )
        return TrainingProgram.of(agent, CartPole().copies(16)).graph.rounds

    # 16 rows, 6 operations for each of 1.1 million parameters: 0.1 billion in the update after a step of all.
    assert rounds_of(16) == 128 and 20 <= rounds_of(1024) <= 25


@pytest.mark.parametrize("kind", ["ppo", "dqn"])
def test_statistics_are_those_of_the_steps(kind, backend, monkeypatch):
    options = {"normalize_states": True, "scale_rewards": True, "discount": 0.9}
    agent = agent_on(backend, kind, CartPole(), DENSE, **(MEMORY if kind == "dqn" else {}), **options)
    calls, count = [], agent.learner.count_program
    monkeypatch.setattr(
        agent.learner, "count_program", lambda *given: calls.append(given[3]) or count(*given)
    )
    agent.learn(1 if kind == "ppo" else 20, env="rlgraph/CartPole-v1", num_envs=NUMBER, in_graph=True)
    assert agent.updates  # the first of which set the constants
    states = np.concatenate([each["states"].reshape(-1, 4) for each in calls])
    returns, now = [], np.zeros(NUMBER)
    for each in calls:
        for begins, rewards, ends in zip(each["begins"], each["rewards"], each["ends"], strict=True):
            now = np.where(begins, 0.0, now) * 0.9 + rewards
            returns.append(now)
            now = np.where(ends, 0.0, now)
    graph, found = agent.kept_program[1].executor.root, agent.kept_program[1].executor.get_weights()
    (mean,), (scale,), (of_rewards,) = (
        [found[variable.name] for variable in part.values()]
        for part in (graph.normalize.mean, graph.normalize.scale, graph.scale_rewards.scale)
    )
    np.testing.assert_allclose(mean, states.mean(0), atol=1e-9)
    np.testing.assert_allclose(scale, 1 / states.std(0), rtol=1e-6)
    np.testing.assert_allclose(of_rewards, 1 / np.std(returns), rtol=1e-6)
    assert all(name in agent.get_weights() for name in found if "normaliz" in name)


@pytest.mark.parametrize("kind", ["ppo", "dqn"])
def test_training_again_uses_the_program_again_and_is_that_of_a_loaded_agent(kind, backend, tmp_path):
    def make():
        return Agent.from_spec(
            AGENTS[kind], env="rlgraph/CartPole-v1", backend=backend, seed=1, execution_spec={"threads": None}
        )

    agent, other = make(), make()
    agent.learn(256, num_envs=4, in_graph=True)
    kept = agent.kept_program[1]
    agent.store_model(tmp_path / "checkpoint")
    other.load_model(tmp_path / "checkpoint")
    for each in (agent, other):
        each.learn(256, num_envs=4, in_graph=True)
    assert agent.kept_program[1] is kept and agent.updates == other.updates
    for name, value in agent.get_weights().items():
        np.testing.assert_array_equal(value, other.get_weights()[name], err_msg=name)
    agent.learn(256, num_envs=8, in_graph=True)
    assert agent.kept_program[1] is not kept


def test_it_learns_cart_pole(backend):
    agent = Agent.from_spec(
        {
            "type": "ppo",
            "rollout_length": 64,
            "network_spec": [64, 64],
            "optimizer_spec": {"learning_rate": 2e-3},
        },
        env="rlgraph/CartPole-v1",
        backend=backend,
        seed=1,
        execution_spec={"threads": None},
    )
    result = agent.learn(24_000, num_envs=8, in_graph=True)
    assert result.timesteps == agent.timesteps == 24_064
    assert result.updates == agent.updates == 47
    assert result.episodes > 100
    assert agent.evaluate(10).mean > 150  # 20 of random actions


def document(agent):
    return {
        "agent": {**agent, "execution_spec": {"threads": None}},
        "environment": "rlgraph/CartPole-v1",
        "steps": 1500,
        "seed": 3,
        "worker": {"num_envs": 4, "in_graph": True},
        "checkpoints": {"interval": 250},
        "evaluation": {"interval": 500, "episodes": 2, "final_episodes": 2},
        "logging": {"report_interval": 200},
    }


KILLED = """
import os, json, sys
from rlgraph.runs import train
from rlgraph.workers import Callback

class Dies(Callback):
    def on_update(self, worker, results):
        if worker.timesteps >= {at}:
            os._exit(9)

train(json.loads(sys.argv[1]), sys.argv[2], [Dies()])
"""


AGENTS = {
    "ppo": {"type": "ppo", "rollout_length": 16, "network_spec": [*DENSE, *LSTM]},
    "dqn": {
        "type": "dqn",
        "network_spec": DENSE,
        "memory_spec": {"type": "replay_memory", "capacity": 400},
        "update_spec": {"update_interval": 16, "batch_size": 16, "steps_before_update": 100},
        "sync_interval": 64,
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", AGENTS)
def test_a_killed_run_is_resumed_bit_for_bit(kind, backend, tmp_path):
    run = {**document(AGENTS[kind]), "backend": backend}
    whole = train(run, tmp_path / "whole")
    assert not whole.departures
    program = [sys.executable, "-c", KILLED.format(at=900), json.dumps(run), str(tmp_path / "killed")]
    ended = subprocess.run(program, env=os.environ, capture_output=True, check=False)
    assert ended.returncode == 9, ended.stderr.decode()
    assert not resume(tmp_path / "killed").departures
    assert run_differences(tmp_path / "whole", tmp_path / "killed") == []
    assert 1500 <= whole.training.timesteps < 1500 + 128 * 4
    assert Agent.load(tmp_path / "whole").updates > 0


def test_reports_episodes_and_updates_are_told(backend):
    class Heard(Callback):
        def __init__(self):
            self.episodes, self.updates, self.reports = [], 0, []

        def on_episode(self, worker, episode_return, length):
            self.episodes.append((episode_return, length))

        def on_update(self, worker, results):
            self.updates += 1
            assert {"loss", "entropy"} <= results.keys()

        def on_report(self, worker, metrics):
            self.reports.append(metrics)

    agent = agent_on(backend, "ppo", CartPole(), DENSE)
    worker = SingleThreadedWorker(agent, CartPole(), num_envs=NUMBER, report_interval=200)
    result = worker.execute_timesteps(1000, callbacks=(heard := Heard()))
    assert worker.in_graph is not None
    assert heard.updates == result.updates == agent.updates == 16
    assert len(heard.episodes) == result.episodes == len(worker.returns) > 10
    assert all(episode_return == length for episode_return, length in heard.episodes)
    assert len(heard.reports) == 5
    assert sum(length for _, length in heard.episodes) <= 1024
    before = agent.get_weights()
    worker.execute_timesteps(64)
    assert any(not np.array_equal(before[name], now) for name, now in agent.get_weights().items())


class Poisoned(CartPole):
    """Rewards whose squares are infinite from the 20th step of an episode on."""

    inner_space = Dict({"state": FloatBox(shape=(4,)), "time": IntBox(0, None)})

    @graph_fn
    def begin(self, ops, count):
        return {"state": ops.zeros((count, 4)), "time": ops.zeros((count,), dtype="int64")}

    @graph_fn
    def transition(self, ops, inner, actions):
        time = inner["time"] + 1
        ones = ops.ones_like(ops.astype(time, "float"))
        return {"state": inner["state"], "time": time}, ops.where(time < 20, ones, ones * 1e200), time < 0

    @graph_fn
    def observe(self, ops, inner):
        return inner["state"]


@pytest.mark.parametrize("kind", ["a2c", "dqn"])
def test_an_update_that_is_not_finite_is_named(kind, backend):
    agent = agent_on(backend, kind, CartPole(), DENSE, **(MEMORY if kind == "dqn" else {}))
    said = r"one of the updates 1 to 128 \(step 520\)" if kind == "dqn" else r"update 2 \(step 128\)"
    with pytest.raises(NumericalError, match=said):
        agent.learn(2000, env=Poisoned, num_envs=NUMBER, in_graph=True)


def test_what_was_learned_from_is_kept_when_training_is_interrupted(backend):
    class Interrupts(Callback):
        def on_update(self, worker, results):
            raise KeyboardInterrupt

    agent = agent_on(backend, "dqn", CartPole(), DENSE, **MEMORY)
    result = agent.learn(10_000, env=CartPole, num_envs=NUMBER, in_graph=True, callbacks=Interrupts())
    assert result.interrupted
    assert agent.timesteps == 8 + 512
    assert int(agent.executor.execute("get_memory_size")) == 50


def test_ctrl_c_waits_for_the_end_of_a_call(backend, monkeypatch):
    agent = agent_on(backend, "dqn", CartPole(), DENSE, **MEMORY)
    worker = SingleThreadedWorker(agent, CartPole, num_envs=NUMBER, in_graph=True)
    program, calls = worker.in_graph.program, []
    call = program._call

    def interrupted(first, last):
        if len(calls) == 4:  # two calls fill the memory
            signal.raise_signal(signal.SIGINT)
        calls.append(None)
        return call(first, last)

    monkeypatch.setattr(program, "_call", interrupted)
    result = worker.execute_timesteps(5000)
    assert result.interrupted and len(calls) == 5
    assert (agent.timesteps, agent.updates) == (8 + 3 * 512, 3 * 128)


def test_what_was_put_into_the_memory_after_training_stays(backend, tmp_path):
    agent = agent_on(backend, "dqn", CartPole(), DENSE, **MEMORY)
    agent.learn(20, env="rlgraph/CartPole-v1", num_envs=NUMBER, in_graph=True)
    host = agent.executor.storage.host
    host["memory/rows/rewards"][:] = 7.0
    agent.store_model(tmp_path / "model")
    assert (host["memory/rows/rewards"] == 7.0).all()


def test_a_class_of_the_same_name_has_a_program_of_its_own(backend, monkeypatch):
    from rlgraph.core.registry import registry

    agent = agent_on(backend, "a2c", CartPole(), DENSE)
    known = registry("rlgraph.environment_components")
    agent.learn(1, env="rlgraph/CartPole-v1", num_envs=NUMBER, in_graph=True)
    kept = agent.kept_program[1]
    monkeypatch.setattr(known, "load", lambda name, **_: type("CartPole", (CartPole,), {}))
    agent.learn(1, env="rlgraph/CartPole-v1", num_envs=NUMBER, in_graph=True)
    assert agent.kept_program[1] is not kept


def test_a_run_that_made_more_steps_than_were_wanted_goes_on(backend, tmp_path):
    run = {**document(AGENTS["dqn"]), "backend": backend, "steps": 200, "evaluation": {"final_episodes": 1}}
    assert train(run, tmp_path / "run").training.timesteps > 204
    result = resume(tmp_path / "run", steps=600).training
    assert result.timesteps >= 600


def test_one_copy_with_a_recurrent_network(backend):
    agent = agent_on(backend, "a2c", CartPole(), LSTM)
    assert agent.learn(64, env=CartPole, in_graph=True).updates == 4


def test_the_memory_is_seen_while_a_program_has_it(backend, tmp_path):
    class Looks(Callback):
        sizes, stored = (), None

        def on_report(self, worker, metrics):
            Looks.sizes = (*Looks.sizes, metrics["replay_size"])
            if Looks.stored is None:
                Looks.stored = worker.agent.store_model(tmp_path / "model")

    agent = agent_on(backend, "dqn", CartPole(), DENSE, **MEMORY)
    agent.learn(3000, env=CartPole, num_envs=NUMBER, in_graph=True, callbacks=Looks())
    assert set(Looks.sizes) == {50.0}
    assert int(Agent.load(Looks.stored).executor.execute("get_memory_size")) == 50


MARKED = {
    "states": np.full((5, 4), 0.25, np.float32),
    "actions": np.zeros(5, np.int64),
    "rewards": np.full(5, 7.0, np.float32),
    "terminals": np.ones(5, bool),
}
RECORDS = {**MARKED, "next_states": MARKED["states"]}


def learned_with(backend, use):
    """An agent whose callback calls ``use(agent)`` after each call of its program, and how often that was."""
    calls = []

    class Uses(Callback):
        def on_update(self, worker, metrics):
            if use is not None and len(calls) < 5:
                calls.append(use(worker.agent))

    large = {**MEMORY, "memory_spec": {"type": "replay_memory", "capacity": 9000}}
    agent = agent_on(backend, "dqn", CartPole(), DENSE, **large)
    agent.learn(2000, env=CartPole, num_envs=NUMBER, in_graph=True, callbacks=Uses())
    return agent, len(calls)


def rewards_of(agent):
    size = int(agent.executor.execute("get_memory_size"))
    return agent.executor.storage.host[agent.learner.graph.memory.rows["rewards"].name][:size]


@pytest.mark.parametrize(
    ("use", "records", "steps"),
    [
        (lambda agent: agent.import_observations(MARKED), 5, 0),
        (lambda agent: agent.observe(**RECORDS, batched=True), 5, 5),
        (lambda agent: agent.call_api_method("insert_records", RECORDS), 5, 0),
    ],
)
def test_what_a_callback_puts_into_the_memory_of_a_program_stays(backend, use, records, steps):
    agent, calls = learned_with(backend, use)
    rewards = rewards_of(agent)
    assert calls > 2 and np.count_nonzero(rewards == 7.0) == calls * records
    assert len(rewards) == agent.timesteps + calls * (records - steps)


def test_a_callback_reads_the_memory_of_a_program(backend, tmp_path):
    """It learns from all records, and nothing changes for the program."""
    sizes = []

    def look(agent):
        sizes.append(int(agent.call_api_method("get_memory_size")) - agent.timesteps)
        agent.store_model(tmp_path / "model")
        sizes.append(len(rewards_of(agent)) - agent.timesteps)

    (looked, _), (alone, _) = learned_with(backend, look), learned_with(backend, None)
    assert {*sizes} == {0}
    for name, value in alone.get_weights().items():
        np.testing.assert_array_equal(looked.get_weights()[name], value, err_msg=name)
    updated, calls = learned_with(backend, lambda agent: agent.update())
    assert updated.updates == alone.updates + calls and len(rewards_of(updated)) == updated.timesteps


def test_a_callback_loads_a_model_without_a_memory(backend, tmp_path):
    agent_on(backend, "dqn", CartPole(), DENSE, **MEMORY).store_model(tmp_path / "model", memory=False)
    steps = []

    def load(agent):
        steps.append(agent.timesteps)
        agent.load_model(tmp_path / "model")

    agent, _ = learned_with(backend, load)
    assert len(rewards_of(agent)) == sum(steps) + agent.timesteps


@pytest.mark.parametrize("in_graph", [True, False])
def test_a_callback_trains(backend, in_graph):
    agent, calls = learned_with(
        backend, lambda agent: agent.learn(40, env=CartPole, num_envs=NUMBER, in_graph=in_graph)
    )
    assert calls > 1 and len(rewards_of(agent)) == agent.timesteps


def refused(agent, said, env="rlgraph/CartPole-v1", **options):
    with pytest.raises(SpecError, match=said):
        SingleThreadedWorker(agent, env, in_graph=True, **options)


def test_what_cannot_be_in_a_program_is_named(backend, caplog):
    agent = agent_on(backend, "ppo", CartPole(), DENSE)
    refused(agent, "no environment component", env="CartPole-v1")
    refused(agent, "vectorization", vectorization="sequential")
    refused(agent, "frameskip", frameskip=2)
    refused(agent, "max_timesteps_per_episode", max_timesteps_per_episode=10)
    refused(agent, "it was made for", env=Pendulum())
    refused(
        agent_on(backend, "ppo", CartPole(), DENSE, previous_action_and_reward=True),
        "previous_action_and_reward",
    )
    stack = [{"type": "sequence", "sequence_length": 2, "add_rank": False}]
    refused(agent_on(backend, "ppo", CartPole(), DENSE, preprocessing_spec=stack), "preprocessing_spec")

    refused(
        agent_on(backend, "ppo", CartPole(), DENSE, num_minibatches=3),
        "num_minibatches 3, no divisor of the 64 steps",
        num_envs=NUMBER,
    )
    recurrent = agent_on(backend, "ppo", CartPole(), LSTM, num_minibatches=3)
    refused(recurrent, "num_minibatches 3, no divisor of the 4 sequences", num_envs=NUMBER)
    refused(
        agent_on(backend, "dqn", CartPole(), DENSE, **MEMORY),
        "update_interval 4, which 3 environments",
        num_envs=3,
    )

    memory = {**MEMORY, "update_spec": {"do_updates": False}}
    refused(agent_on(backend, "dqn", CartPole(), DENSE, **memory), "do_updates false")
    odd = agent_on(backend, "ppo", CartPole(), DENSE, num_minibatches=3)
    assert SingleThreadedWorker(odd, CartPole, num_envs=NUMBER).in_graph is None
    with pytest.raises(SpecError, match="in_graph"):
        SingleThreadedWorker(agent, CartPole, in_graph="no")
    with_parts = agent_on(backend, "ppo", CartPole(), DENSE, optimizer_spec=Adam(0.01))
    refused(with_parts, "options that are components")
    assert SingleThreadedWorker(with_parts, CartPole, num_envs=2).in_graph is None

    class AtSteps(Callback):
        def on_step(self, worker, step): ...

    worker = SingleThreadedWorker(agent, CartPole, num_envs=2)
    with pytest.raises(SpecError, match="on_step"):
        worker.execute_timesteps(100, callbacks=AtSteps())
    with pytest.raises(SpecError, match="draws its actions"):
        worker.execute_timesteps(100, use_exploration=False)
    with caplog.at_level(logging.WARNING):
        outside = SingleThreadedWorker(agent, CartPole, num_envs=2, frameskip=2)
    assert outside.in_graph is None
    assert "from outside of the program, since there is frameskip" in caplog.text
    assert SingleThreadedWorker(agent, CartPole, num_envs=2, in_graph=False).in_graph is None


class OnTheHost(Poisoned):
    """New episodes are drawn by a host function."""

    @graph_fn(host=True, spaces=lambda task, count: task.inner_space.with_batch_rank(task.num_envs))
    def begin(self, count):
        return {"state": np.zeros((count, 4)), "time": np.zeros(count, np.int64)}


def test_a_host_function_is_named_or_stepped_from_outside(backend, caplog):
    agent = agent_on(backend, "ppo", CartPole(), DENSE)
    refused(agent, r"environment\.begin is a host function", env=OnTheHost, num_envs=NUMBER)
    with caplog.at_level(logging.WARNING):
        worker = SingleThreadedWorker(agent, OnTheHost, num_envs=NUMBER)
    assert worker.in_graph is None
    assert worker.num_envs == NUMBER
    said = "from outside of the program, since there is environment.begin, a host function"
    assert said in caplog.text
    assert "more slowly" not in caplog.text


class Shrinking(CartPole):
    @graph_fn
    def transition(self, ops, inner, actions):
        time = inner[:, 0]
        return inner[:, :2], time, time > 1.0


class RewardOfAll(CartPole):
    @graph_fn
    def transition(self, ops, inner, actions):
        time = inner[:, 0]
        return inner, ops.sum(time), time > 1.0


@pytest.mark.parametrize("in_graph", [True, None])
@pytest.mark.parametrize(
    "make, said",
    [
        (Shrinking, r"Shrinking\.transition: expected inner_space of 4 copies.*shape=\(2,\)"),
        (RewardOfAll, r"RewardOfAll\.transition: expected rewards of 4 copies.*given FloatBox\(dtype"),
    ],
)
def test_an_environment_of_other_spaces_is_named_at_the_build(make, said, in_graph, backend):
    agent = agent_on(backend, "ppo", CartPole(), DENSE)
    with pytest.raises(SpaceError, match=said):
        SingleThreadedWorker(agent, make, num_envs=NUMBER, in_graph=in_graph)


def test_a_memory_that_a_program_cannot_have_is_named(backend, monkeypatch):
    agent = agent_on(backend, "dqn", CartPole(), DENSE, **MEMORY)
    refused(agent, "capacity 50, fewer records than 52 environments", num_envs=52)
    monkeypatch.setattr(variables, "machine_memory", lambda: 5000)  # 50 records of 81 bytes
    refused(agent, r"capacity 50, 0\.0 GiB of records, which a program needs twice", num_envs=NUMBER)
    assert SingleThreadedWorker(agent, CartPole, num_envs=NUMBER).in_graph is None
