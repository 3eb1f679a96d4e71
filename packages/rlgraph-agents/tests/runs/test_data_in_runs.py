"""Runs whose agent trains on a data set before its first own step."""

import json
import signal

import numpy as np
import pytest
from doubles import killed_run, raising, told

from rlgraph.agents import Agent
from rlgraph.core import InputError, SpecError
from rlgraph.experience.data_sets import FIELDS
from rlgraph.learning.base_agent import BaseAgent
from rlgraph.runs import resume, train
from rlgraph.runs.configuration import check
from rlgraph.workers import record_data_set

UPDATES, STEPS = 12, 60


@pytest.fixture
def shown(tmp_path):
    """Two episodes of a script, on CartPole."""
    return record_data_set(
        lambda state: int(state[2] > 0.0), "CartPole-v1", 2, tmp_path / "shown.npz", seed=1
    )


@pytest.fixture
def spec(shown, execution, one_backend, undrawn):
    return {
        "agent": {
            "type": "dqfd",
            "network_spec": [{"type": "dense", "units": 8, "activation": "tanh"}],
            "memory_spec": {"capacity": 2000},
            "update_spec": {"batch_size": 8},
            "execution_spec": execution(one_backend),
        },
        "environment": "CartPole-v1",
        "backend": one_backend,
        "steps": STEPS,
        "seed": 2,
        "data": {"file": str(shown), "updates": UPDATES},
        "logging": {"report_interval": 20, "tensorboard": False},
        "evaluation": {"interval": None, "final_episodes": 1, "policy": "last"},
        "checkpoints": {"interval": 30},
    }


def last_weights(folder):
    return Agent.load(folder / "checkpoints" / "last").get_weights()


def expect_equal(one, other):
    assert one.keys() == other.keys()
    assert all(np.array_equal(one[name], other[name]) for name in one)


def test_a_memory_without_a_place_for_own_steps_is_refused_before_training(spec, shown, tmp_path):
    agent = Agent.from_spec(spec["agent"], env="CartPole-v1", backend=spec["backend"])
    spec["agent"]["memory_spec"]["capacity"] = agent.import_observations(shown)
    with pytest.raises(SpecError, match="memory_spec.capacity: expected more than"):
        train(spec, tmp_path / "run")
    assert not (tmp_path / "run").exists()
    assert train({**spec, "steps": 0}, tmp_path / "offline").training.updates == UPDATES


def test_an_error_that_stops_the_checkpoint_too_is_in_the_result(spec, tmp_path, monkeypatch):
    fail = raising(InputError("the memory is full"))
    monkeypatch.setattr(
        "rlgraph.experience.replay_with_demonstrations.ReplayWithDemonstrations.take_due", fail
    )
    monkeypatch.setattr(Agent, "flush_buffers", fail)
    with pytest.raises(InputError, match="the memory is full"):
        train(spec, tmp_path / "run")
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    assert (result["outcome"], result["error"]) == ("failed", "InputError: the memory is full")


def test_a_document_gives_the_agent_that_python_gives(spec, shown, tmp_path, caplog):
    spec["checkpoints"]["interval"] = None
    summary = train(spec, tmp_path / "run")
    assert (summary.training.timesteps, summary.training.updates) == (STEPS, STEPS // 4)
    assert not summary.departures
    assert not caplog.messages  # on demonstrations that it lacks
    assert json.loads((tmp_path / "run" / "config.json").read_text())["run"]["data"]["updates"] == UPDATES
    agent = Agent.from_spec(spec["agent"], env="CartPole-v1", backend=spec["backend"], seed=2)
    agent.learn(updates=UPDATES, data=shown)
    agent.learn(STEPS)
    expect_equal(last_weights(tmp_path / "run"), agent.get_weights())


@pytest.mark.parametrize("timesteps", [20, 40])
def test_a_resumed_run_equals_an_uninterrupted_one(spec, tmp_path, timesteps):
    """One that ended before its first checkpoint begins with the data set, another does not do so again."""
    train(spec, tmp_path / "one")
    killed_run(spec, tmp_path / "two", timesteps)
    assert not resume(tmp_path / "two").departures
    expect_equal(last_weights(tmp_path / "two"), last_weights(tmp_path / "one"))


def test_demonstrations_come_back_without_the_memory(spec, tmp_path):
    agents = []
    spec["checkpoints"] = {"interval": 30, "memory": False}
    killed_run(spec, tmp_path / "run", 40)
    resume(tmp_path / "run", callbacks=[told(on_end=lambda worker: agents.append(worker.agent))])
    assert agents[0].learner.demonstrations > 0
    assert agents[0].updates == UPDATES + STEPS // 4


def test_ctrl_c_before_the_first_step(spec, tmp_path, monkeypatch):
    real, calls = BaseAgent.update_offline, []

    def update(agent):
        calls.append(agent)
        if len(calls) == 5:
            signal.raise_signal(signal.SIGINT)
        return real(agent)

    train(spec, tmp_path / "one")
    with monkeypatch.context() as patched:
        patched.setattr(BaseAgent, "update_offline", update)
        summary = train(spec, tmp_path / "two")
    assert (summary.training.interrupted, summary.training.timesteps, len(calls)) == (True, 0, 5)
    assert resume(tmp_path / "two").training.timesteps == STEPS
    expect_equal(last_weights(tmp_path / "two"), last_weights(tmp_path / "one"))


NO_DATA = {"data": None}


@pytest.mark.parametrize(
    ("agent", "changes", "said"),
    [
        ("ppo", {}, r"data\.file: expected an agent with a memory.*given 'ppo'"),
        ("impala", {}, r"data\.file: expected an agent with a memory.*given 'impala'"),
        ("random", {}, r"data\.file: expected an agent with a memory.*given 'random'"),
        ("bc", {}, f"steps: expected 0, since bc learns from a data set only, given {STEPS}"),
        ("bc", NO_DATA, r"data\.file: expected a data set, from which alone bc learns, given none"),
        ("dqfd", {**NO_DATA, "demonstrations": "shown.npz"}, r"demonstrations.*data\.file"),
        (
            "dqfd",
            {**NO_DATA, "steps": 0},
            r"steps: expected an integer >= 1 without a data set, given 0: set data",
        ),
    ],
)
def test_mistakes(spec, agent, changes, said):
    document = {
        **spec,
        **changes,
        "agent": {**(spec["agent"] if agent in ("bc", "dqfd") else {}), "type": agent},
    }
    with pytest.raises(SpecError, match=said):
        check({name: value for name, value in document.items() if value is not None})


def test_several_learners_are_refused(spec, tmp_path):
    spec["agent"]["execution_spec"] = {"learners": 2, "collective": "gloo"}
    with pytest.raises(SpecError, match=r"data\.file: expected none with several learners"):
        train(spec, tmp_path / "run")


def test_what_is_wrong_in_a_file_is_named_before_anything_is_written(spec, tmp_path):
    states, flags = np.zeros((4, 4), np.float32), np.zeros(3, bool)
    states[2, 1] = np.nan
    wrong, episode = tmp_path / "wrong.npz", (states, np.zeros(3, int), np.ones(3), flags, flags)
    np.savez(wrong, **{f"episode_0/{name}": value for name, value in zip(FIELDS, episode, strict=True)})
    spec["data"]["file"] = str(wrong)
    with pytest.raises(InputError, match=r"wrong\.npz, episode_0, step 2: observations: nan"):
        train(spec, tmp_path / "run")
    spec["data"]["file"] = str(tmp_path / "none.npz")
    with pytest.raises(InputError, match=r"none\.npz does not exist"):
        train(spec, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_run_without_steps_learns_from_the_data_only(spec, shown, tmp_path):
    spec["agent"] = {**spec["agent"], "type": "bc"}
    spec["steps"] = 0
    summary = train(spec, tmp_path / "run")
    assert (summary.training.timesteps, summary.training.updates) == (0, UPDATES)
    assert len(summary.evaluation.returns) == 1
    assert json.loads((tmp_path / "run" / "result.json").read_text())["outcome"] == "finished"
    agent = Agent.from_spec(spec["agent"], env="CartPole-v1", backend=spec["backend"], seed=2)
    agent.learn(updates=UPDATES, data=shown)
    expect_equal(last_weights(tmp_path / "run"), agent.get_weights())

    (tmp_path / "run" / "result.json").unlink()  # as after a crash in the end
    assert resume(tmp_path / "run").training.updates == UPDATES


def test_an_error_among_the_updates_on_the_data(spec, tmp_path, monkeypatch):
    """The run begins again, with all of them."""
    real, calls = BaseAgent.update_offline, []

    def update(agent):
        calls.append(agent)
        if len(calls) == 5:
            raise RuntimeError("broken")
        return real(agent)

    train(spec, tmp_path / "one")
    with monkeypatch.context() as patched, pytest.raises(RuntimeError, match="broken"):
        patched.setattr(BaseAgent, "update_offline", update)
        train(spec, tmp_path / "two")
    assert resume(tmp_path / "two").training.timesteps == STEPS
    expect_equal(last_weights(tmp_path / "two"), last_weights(tmp_path / "one"))
