"""`learn(folder=...)` writes a run folder, which the other commands read."""

import csv
import json

import pytest
from doubles import raising, told

from rlgraph.agents import Agent
from rlgraph.core import CheckpointError, SpecError
from rlgraph.environments import DeterministicEnv
from rlgraph.runs import resume
from rlgraph.runs.recorded_run import read_run
from rlgraph.workers import StopAfterEpisodes

COUNTING = {"type": "deterministic", "steps_to_terminal": 7}


@pytest.fixture
def agent(acting_run):
    return Agent.from_spec(acting_run()["agent"], env=COUNTING, backend="numpy", seed=5)


def rows(file):
    with file.open() as lines:
        return list(csv.DictReader(lines))


def test_ten_lines(agent, tmp_path, undrawn):
    folder = tmp_path / "run"
    result = agent.learn(
        60, folder=folder, num_envs=2, report_interval=20, evaluation_interval=30, checkpoint_interval=20
    )
    assert result.timesteps == 60 and [e.timesteps for e in result.evaluations] == [30, 60]
    assert len(rows(folder / "episodes.csv")) == result.episodes == 8
    run = read_run(folder)
    assert (run.agent, run.backend, run.seed, run.steps, run.finished) == ("dqn", "numpy", 5, 60, True)
    assert run.metrics["evaluation_return"][0].tolist() == [30, 60]
    assert json.loads((folder / "result.json").read_text())["outcome"] == "finished"
    assert list((folder / "tensorboard").glob("*tfevents*"))
    weights, read = agent.get_weights(), Agent.load(folder).get_weights()
    assert all((read[name] == value).all() for name, value in weights.items())
    assert resume(folder, steps=80).training.timesteps == 80


def test_it_trains_as_without_a_folder(agent, acting_run, tmp_path, undrawn):
    other = Agent.from_spec(acting_run()["agent"], env=COUNTING, backend="numpy", seed=5)
    options = {"num_envs": 2, "checkpoint_interval": None, "evaluation_interval": None}
    recorded = agent.learn(50, folder=tmp_path / "run", **options)
    assert other.learn(50, num_envs=2).returns == recorded.returns


def test_steps_count_on_over_several_calls(agent, tmp_path, undrawn):
    agent.learn(20)
    seen = []

    agent.learn(20, callbacks=told(on_report=lambda worker, metrics: seen.append(metrics["timesteps"])))
    assert agent.timesteps == 40 and seen == [40.0]
    folder = tmp_path / "run"
    agent.learn(20, folder=folder, report_interval=10, evaluation_interval=10)
    assert read_run(folder).metrics["evaluation_return"][0].tolist() == [50, 60]
    (departure,) = json.loads((folder / "result.json").read_text())["departures"]
    assert departure == "step 0: the agent had observed 40 steps and done 0 updates"


def test_a_run_that_ends_before_its_first_checkpoint_resumes_with_the_agent_as_it_was(
    agent, acting_run, tmp_path, undrawn
):
    agent.learn(20)
    agent.set_weights({name: value + 1 for name, value in agent.get_weights().items() if "dense" in name})
    folder, weights = tmp_path / "run", agent.get_weights()

    with pytest.raises(SystemExit):
        agent.learn(20, folder=folder, callbacks=told(on_step=raising(SystemExit)))
    assert resume(folder).training.timesteps == 20
    read = Agent.load(folder)
    assert read.timesteps == 40
    assert all((read.get_weights()[name] == value).all() for name, value in weights.items())


def test_conditions_stop_it(agent, tmp_path, undrawn):
    result = agent.learn(1000, folder=tmp_path / "run", stop=StopAfterEpisodes(3))
    assert result.episodes == 3
    assert json.loads((tmp_path / "run" / "result.json").read_text())["outcome"] == "stopped"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"env": DeterministicEnv}, "folder: the environment <class .* has no JSON form"),
        ({"evaluation_interval": 0}, "evaluation.interval: expected .* 1"),
        ({"schedule_timesteps": 9}, "learn.schedule_timesteps: a run's document has no such option"),
        ({"store_checkpoint": print}, "learn.store_checkpoint: a run's document has no such option"),
        ({"wandb": {"projekt": "x"}}, "logging.wandb.projekt: .*project"),
        ({"checkpoints": 3}, "learn.checkpoints: there is no such argument"),
    ],
)
def test_mistakes_are_found_before_anything_is_written(agent, tmp_path, options, said):
    with pytest.raises(SpecError, match=said):
        agent.learn(20, folder=tmp_path / "run", **options)
    assert not (tmp_path / "run").exists()


def test_wandb_needs_a_folder(agent):
    with pytest.raises(SpecError, match="learn.wandb: expected folder="):
        agent.learn(20, wandb={"project": "x"})


def test_a_function_cannot_be_written_into_a_document(acting_run, tmp_path):
    layer = {"type": "dense", "units": 4, "activation": lambda ops, x: x * ops.tanh(x)}
    spec = {**acting_run()["agent"], "network_spec": [layer]}
    agent = Agent.from_spec(spec, env=COUNTING, backend="numpy")
    said = r"network_spec\[0\].activation: expected a value that JSON can hold, given a function"
    with pytest.raises(SpecError, match=said):
        agent.learn(20, folder=tmp_path / "run")
    agent.learn(20)
    with pytest.raises(
        CheckpointError, match="an argument of the agent has no JSON form.*call its load_model"
    ):
        Agent.load(agent.store_model(tmp_path / "model"))
