"""A whole run from one document."""

import json
import os
from functools import partial

import numpy as np
import pytest
from doubles import killed_at, raising, told

from rlgraph.agents import Agent
from rlgraph.core import NumericalError, SpecError
from rlgraph.environments import environment_seed
from rlgraph.environments.worlds.deterministic_env import DeterministicEnv
from rlgraph.runs import resume
from rlgraph.runs.loading import load_agent
from rlgraph.runs.training import FINAL_EVALUATION_SEED, train
from rlgraph.workers import evaluate


@pytest.fixture
def spec(spec_of, backend):
    return spec_of(backend)


@pytest.fixture
def spec_of(execution):
    return partial(document, execution)


def document(execution, backend):
    layer = {"type": "dense", "units": 8, "activation": "tanh"}
    agent = {
        "type": "dqn",
        "network_spec": [layer],
        "execution_spec": execution(backend),
        "update_spec": {"update_interval": 4, "batch_size": 8},
        "memory_spec": {"capacity": 200},
    }
    return {
        "agent": agent,
        "environment": "CartPole-v1",
        "backend": backend,
        "steps": 60,
        "seed": 2,
        "logging": {"report_interval": 20},
        "evaluation": {"interval": 30, "episodes": 3, "final_episodes": 4},
    }


@pytest.fixture
def actor(spec_of):
    """A run that learns nothing, on NumPy: for what has nothing to do with learning."""
    spec = spec_of("numpy")
    spec["agent"]["update_spec"] = {"do_updates": False}
    return spec


def test_a_run_that_is_interrupted_in_its_final_evaluation_is_resumed(actor, tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr("rlgraph.runs.training.evaluate", raising(KeyboardInterrupt))
        summary = train(actor, tmp_path / "run")
    assert (summary.training.timesteps, summary.training.interrupted, summary.evaluation) == (60, True, None)
    assert json.loads((tmp_path / "run" / "result.json").read_text())["outcome"] == "interrupted"
    again = resume(tmp_path / "run")
    assert again.training.timesteps == 60 and len(again.evaluation.returns) == 4


@pytest.mark.parametrize(
    "conditions",
    [
        {"stop": {"episodes": 2}},
        {"stop": {"seconds": 1e-9}},
        {"evaluation": {"interval": 30, "episodes": 3, "final_episodes": 4, "stop_at_return": 1.0}},
    ],
    ids=["episodes", "seconds", "evaluation"],
)
def test_a_run_that_a_condition_ended_is_not_trained_on(actor, tmp_path, undrawn, monkeypatch, conditions):
    with monkeypatch.context() as patched:
        patched.setattr("rlgraph.runs.training.Run._evaluate", raising(SystemExit))
        with pytest.raises(SystemExit):
            train({**actor, **conditions, "steps": 600}, tmp_path / "run")
    done = resume(tmp_path / "run", steps=900).training.timesteps
    assert done == whole(actor, conditions, tmp_path)
    assert json.loads((tmp_path / "run" / "result.json").read_text())["outcome"] == "stopped"


def whole(actor, conditions, folder):
    """The steps of the run that is not cut off."""
    steps = train({**actor, **conditions, "steps": 600}, folder / "whole").training.timesteps
    assert steps < 300
    return steps


def agent_of(run, checkpoint):
    config = json.loads((run / "config.json").read_text())["run"]
    agent = Agent.from_spec(config["agent"], env=config["environment"], backend=config["backend"])
    agent.load_model(run / "checkpoints" / checkpoint)
    return agent


def test_a_run(spec, tmp_path):
    summary = train(spec, tmp_path / "run")
    training = summary.training
    assert (training.timesteps, training.updates, training.interrupted) == (60, 15, False)
    assert [evaluation.timesteps for evaluation in training.evaluations] == [30, 60]
    assert summary.folder == tmp_path / "run"
    best = max(training.evaluations, key=lambda evaluation: (evaluation.mean, evaluation.timesteps))
    best_agent, last_agent = agent_of(summary.folder, "best"), agent_of(summary.folder, "last")
    assert best_agent.timesteps == best.timesteps
    assert (last_agent.timesteps, last_agent.updates) == (60, 15)
    # The closing evaluation is one of the best policy, with seeds of its own.
    again = evaluate(best_agent, "CartPole-v1", 4, FINAL_EVALUATION_SEED + 2)
    assert summary.evaluation.returns == again.returns
    steps = [line.split(",")[0] for line in (tmp_path / "run" / "metrics.csv").read_text().splitlines()[1:]]
    assert steps == ["20.0", "30.0", "40.0", "60.0", "60.0"]
    assert {"config.json", "curve.png", "graph.svg"} <= {file.name for file in summary.folder.iterdir()}


def test_the_run_is_that_of_the_agent_alone(spec, tmp_path, undrawn):
    """Folder, reports and drawings draw no random number and change nothing."""
    summary = train(spec, tmp_path / "run")
    alone = Agent.from_spec(spec["agent"], env="CartPole-v1", backend=spec["backend"], seed=2)
    result = alone.learn(60)
    assert result.returns == summary.training.returns
    last = agent_of(summary.folder, "last").get_weights()
    for name, value in alone.get_weights().items():
        np.testing.assert_array_equal(value, last[name])


def test_seeds_of_the_closing_evaluation_are_used_nowhere_else():
    used = {
        environment_seed(root + 1_000_003 * k, i) for root in range(20) for k in range(40) for i in range(10)
    }
    final = {environment_seed(FINAL_EVALUATION_SEED + root, i) for root in range(20) for i in range(10)}
    assert not used & final


def test_it_ends_at_the_return_that_is_wanted(actor, tmp_path, undrawn):
    evaluation = {**actor["evaluation"], "interval": 10, "stop_at_return": 1.0}
    summary = train({**actor, "evaluation": evaluation}, tmp_path)
    assert summary.training.timesteps == 10
    assert len(summary.evaluation.returns) == 4


def test_without_an_evaluation_the_last_policy_is_evaluated(actor, tmp_path, undrawn):
    summary = train({**actor, "evaluation": {**actor["evaluation"], "interval": 500}}, tmp_path)
    assert not (tmp_path / "checkpoints" / "best").exists()
    assert summary.evaluation.timesteps == 60
    assert len(summary.evaluation.returns) == 4


def test_callbacks_are_told_too(actor, tmp_path, undrawn):
    events = []
    callback = told(
        on_report=lambda worker, metrics: events.append(metrics["timesteps"]),
        on_end=lambda worker: events.append("end"),
    )
    train(actor, tmp_path, [callback])
    assert events == [20, 40, 60, "end"]


def test_ctrl_c(spec, tmp_path, undrawn):
    summary = train(spec, tmp_path, [killed_at(40, KeyboardInterrupt)])
    assert summary.training.interrupted
    assert summary.evaluation is None
    assert summary.training.timesteps == 40
    assert agent_of(tmp_path, "last").timesteps == 40
    assert agent_of(tmp_path, "best").timesteps == 30


def test_an_error_leaves_a_checkpoint(spec, tmp_path, undrawn):
    deterministic = {"type": "deterministic", "reward_start": 1e30}
    with pytest.raises(NumericalError, match="dqn/loss: the loss of update 1"):
        train({**spec, "environment": deterministic}, tmp_path)
    # It is no place to go on from.
    assert agent_of(tmp_path, "failed").timesteps == 4
    assert not (tmp_path / "checkpoints" / "last").exists()
    assert json.loads((tmp_path / "result.json").read_text())["outcome"] == "failed"


def test_mistakes_are_found_before_anything_is_written(actor, tmp_path):
    for change, said in (
        ({"step": 5}, r"step: there is no such key\. Did you mean 'steps'\?"),
        ({"agent": {"type": "dqm"}}, r"agent\.type: unknown agent 'dqm'"),
        ({"environment": {"type": "grid_wrld"}}, r"environment\.type: unknown environment 'grid_wrld'"),
    ):
        with pytest.raises(SpecError, match=said):
            train({**actor, **change}, tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("key", ["backend", "seed"])
def test_what_belongs_to_the_run_is_said_there(tmp_path, key):
    spec = {"agent": {"type": "dqn", key: "numpy"}, "environment": "CartPole-v1", "steps": 1}
    with pytest.raises(SpecError, match=f"agent.{key}: say it once, as {key}"):
        train(spec, tmp_path / "run")


@pytest.mark.slow
def test_processes_are_a_matter_of_the_document(spec_of, tmp_path, undrawn):
    options, found, spec = {"processes": 2, "step_timeout": 9.0, "max_restarts": 4}, [], spec_of("numpy")
    looking = told(on_start=lambda worker, _: found.extend(getattr(worker, name) for name in options))
    spec["agent"]["update_spec"] = {"do_updates": False}
    worker = {"num_envs": 2, "vectorization": "processes", **options}
    train({**spec, "worker": worker}, tmp_path, [looking])
    assert found == [*options.values()]


def test_there_is_one_type_of_worker(spec_of, tmp_path):
    with pytest.raises(SpecError, match="worker.type: expected .*single_threaded.*, given 'parallel'"):
        train({**spec_of("numpy"), "worker": {"type": "parallel"}}, tmp_path / "run")


def test_an_environment_that_changes_the_working_directory_does_not_split_the_run(
    actor, undrawn, tmp_path, monkeypatch
):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    reset = DeterministicEnv.reset

    def wandering(self, seed=None):
        os.chdir(tmp_path / "elsewhere")
        return reset(self, seed)

    monkeypatch.setattr(DeterministicEnv, "reset", wandering)
    summary = train({**actor, "environment": "deterministic"}, "run")
    assert summary.folder == tmp_path / "run"
    assert (tmp_path / "run" / "result.json").exists()
    assert not any((tmp_path / "elsewhere").iterdir())
    monkeypatch.chdir(tmp_path)
    resume("run", steps=80)
    monkeypatch.chdir(tmp_path)
    assert load_agent("run")[2].parent == tmp_path / "run" / "checkpoints"
    assert not any((tmp_path / "elsewhere").iterdir())
