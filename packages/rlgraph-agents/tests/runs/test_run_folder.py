"""What a run leaves behind, read back file by file."""

import csv
import json
import platform
from importlib.metadata import version

import numpy as np
import pytest
import yaml
from matplotlib import image
from tensorboard.compat.proto.event_pb2 import Event

from rlgraph.agents import Agent
from rlgraph.core import SpecError
from rlgraph.draw import graph_definition
from rlgraph.environments import environment_seed
from rlgraph.experience.specs import parse_spec
from rlgraph.runs import fork, resume, train
from rlgraph.runs.provenance import installed_versions
from rlgraph.runs.records import read_evaluations, read_metrics
from rlgraph.runs.run_folder import RunFolder, keep_earlier_run
from rlgraph.runs.run_spec import RunSpec
from rlgraph.runs.tuning import tune
from rlgraph.workers import Evaluation, SingleThreadedWorker
from rlgraph.workers.metrics import METRICS

PNG = b"\x89PNG\r\n\x1a\n"
FILES = [
    "checkpoints",
    "config.json",
    "config.yaml",
    "curve.png",
    "episodes.csv",
    "evaluations.jsonl",
    "graph.png",
    "graph.svg",
    "metrics.csv",
    "metrics.jsonl",
    "tensorboard",
]


@pytest.fixture(scope="module")
def spec(backend, execution):
    layer = {"type": "dense", "units": 8, "activation": "tanh"}
    content = {
        "agent": {"type": "dqn", "network_spec": [layer], "execution_spec": execution(backend)},
        "environment": {"type": "deterministic", "steps_to_terminal": 5},
        "backend": backend,
        "steps": 100,
        "seed": 7,
        "evaluation": {"stop_at_return": 50.0},
    }
    return parse_spec(RunSpec, content, "run")


@pytest.fixture(scope="module")
def make(spec):
    """The agent the document describes."""
    return lambda: Agent.from_spec(spec.agent, env=spec.environment, backend=spec.backend, seed=spec.seed)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, spec, make):
    """The folder of a run that reports twice and evaluates three times; the weights differ every time."""
    agent = make()
    folder = RunFolder(tmp_path_factory.mktemp("runs") / "above" / "run", spec, agent)
    worker = SingleThreadedWorker(agent, spec.environment)

    def evaluate(timesteps, *returns):
        weights = agent.get_weights()
        agent.set_weights({name: np.full_like(value, timesteps) for name, value in weights.items()})
        agent.learner.steps = timesteps
        lengths = (1,) * len(returns)
        folder.on_evaluation(worker, Evaluation(returns, lengths, timesteps))

    folder.on_report(
        None,
        {"timesteps": 10.0, "episodes": 2.0, "updates": 1.0, "loss": 0.5, "epsilon": 1.0},
    )
    evaluate(20, 10.0, 30.0)
    evaluate(30, 40.0, 60.0)
    folder.on_report(
        None, {"timesteps": 40.0, "mean_return": -3.5, "mean_length": 5.0, "steps_per_second": 1e3}
    )
    evaluate(50, 1.0, 2.0)
    folder.on_episode(worker, 3.5, 7)
    folder.store_end(worker, "last", finished=True)
    folder.close()
    return folder


def test_all_files_are_there(folder):
    assert sorted(file.name for file in folder.folder.iterdir()) == FILES
    assert sorted(file.name for file in (folder.folder / "checkpoints").iterdir()) == ["best", "last"]


def test_config(folder, spec, backend):
    config = json.loads((folder.folder / "config.json").read_text())
    assert yaml.safe_load((folder.folder / "config.yaml").read_text()) == {
        key: value for key, value in config.items() if key != "checksum"
    }
    assert parse_spec(RunSpec, config["run"], "run") == spec
    assert config["run"]["evaluation"] == {
        "interval": 2500,
        "episodes": 10,
        "stop_at_return": 50.0,
        "final_episodes": 20,
        "policy": "best",
    }
    assert config["chosen"] == {
        "backend": backend,
        "acting": "numpy",
        "dtype": "float32",
        "use_kernels": True,
        "choices": {"acting": "numpy (43 parameters, no convolution)"},
    }
    assert config["seeds"] == {"root": 7, "environments": [environment_seed(7, 0)]}
    assert set(config["git"] or {"revision", "dirty"}) == {"revision", "dirty"}
    assert len(config["history"]) == 1
    assert config["history"][0]["command"] == config["command"] != ""
    assert config["versions"]["python"] == platform.python_version()
    for name in ("rlgraph-agents", "rlgraph-core", "numpy", "gymnasium", f"rlgraph-{backend}"):
        assert config["versions"][name] == version(name)


def test_versions_of_what_is_not_installed_are_left_out(monkeypatch):
    monkeypatch.setattr("rlgraph.runs.provenance.THIRD_PARTIES", ("numpy", "no-such-distribution"))
    versions = installed_versions()
    assert versions["numpy"] == version("numpy")
    assert "no-such-distribution" not in versions


def test_metrics(folder):
    with (folder.folder / "metrics.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == (*METRICS, "gradient_norm")
    filled = [{name: float(value) for name, value in row.items() if value} for row in rows]
    assert filled == [
        {"timesteps": 10, "episodes": 2, "updates": 1, "loss": 0.5, "epsilon": 1},
        {"timesteps": 20, "evaluation_return": 20, "evaluation_return_std": 10, "evaluation_length": 1},
        {"timesteps": 30, "evaluation_return": 50, "evaluation_return_std": 10, "evaluation_length": 1},
        {"timesteps": 40, "mean_return": -3.5, "mean_length": 5, "steps_per_second": 1000},
        {"timesteps": 50, "evaluation_return": 1.5, "evaluation_return_std": 0.5, "evaluation_length": 1},
    ]
    assert read_metrics(folder.folder) == filled
    assert (folder.folder / "episodes.csv").read_text().splitlines() == ["timesteps,return,length", "0,3.5,7"]
    assert read_evaluations(folder.folder)[1] == Evaluation((40.0, 60.0), (1, 1), 30)


def test_rows_are_on_disk_at_once(tmp_path, spec, make, undrawn):
    folder = RunFolder(tmp_path / "run", spec, make())
    for number in (1, 2):
        folder.on_report(None, {"timesteps": 10.0 * number})
        assert len((tmp_path / "run" / "metrics.csv").read_text().splitlines()) == 1 + number
    folder.close()


def test_tensorboard_events(folder):
    (file,) = (folder.folder / "tensorboard").iterdir()
    content, found, graphs = file.read_bytes(), [], []
    while content:
        size = int.from_bytes(content[:8], "little")
        event = Event.FromString(content[12 : 12 + size])
        graphs.extend(filter(None, [event.graph_def]))
        found.append((event.step, {value.tag: value.simple_value for value in event.summary.value}))
        content = content[16 + size :]
    assert graphs == [graph_definition(folder.agent.executor.built)]
    assert found == [
        (0, {}),
        (0, {}),
        (10, {"episodes": 2, "updates": 1, "loss": 0.5, "epsilon": 1}),
        (20, {"evaluation_return": 20, "evaluation_return_std": 10, "evaluation_length": 1}),
        (30, {"evaluation_return": 50, "evaluation_return_std": 10, "evaluation_length": 1}),
        (40, {"mean_return": -3.5, "mean_length": 5, "steps_per_second": 1000}),
        (50, {"evaluation_return": 1.5, "evaluation_return_std": 0.5, "evaluation_length": 1}),
    ]


def test_pictures(folder):
    for name in ("curve.png", "graph.png"):
        file = folder.folder / name
        assert file.read_bytes()[:8] == PNG
        picture = image.imread(file)
        assert min(picture.shape[:2]) > 200
        assert picture[..., :3].std() > 0.01  # not blank
    drawing = (folder.folder / "graph.svg").read_text()
    assert "<svg" in drawing
    for name in ("policy", "target-policy", "memory", "optimizer", "exploration"):
        assert name in drawing


def test_the_best_policy_is_kept_whatever_follows(folder, make):
    other = make()
    other.load_model(folder.folder / "checkpoints" / "best")
    assert other.timesteps == 30
    assert all((value == 30).all() for value in other.get_weights().values())
    other.load_model(folder.folder / "checkpoints" / "last")
    assert other.timesteps == 50
    assert all((value == 50).all() for value in other.get_weights().values())
    assert folder.best.mean == 50.0


def test_only_the_last_checkpoint_holds_the_memory(folder):
    best, last = (
        {file.name for file in (folder.folder / "checkpoints" / name).iterdir()} for name in ("best", "last")
    )
    assert last - best == {"beside.safetensors", "host.safetensors"}
    assert best - last == set()


def test_the_later_of_two_equal_evaluations_is_the_best(tmp_path, spec, make, undrawn):
    agent = make()
    folder = RunFolder(tmp_path, spec, agent)
    for timesteps in (10, 20):
        agent.learner.steps = timesteps
        folder.on_evaluation(None, Evaluation((4.0,), (1,), timesteps))
    folder.close()
    agent.load_model(tmp_path / "checkpoints" / "best")
    assert agent.timesteps == 20


def test_an_earlier_run_is_kept(tmp_path):
    folder = tmp_path / "run"
    for number in range(3):
        folder.mkdir()
        (folder / "config.json").write_text(str(number))
        keep_earlier_run(folder)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.1", "run.2", "run.3"]
    assert (tmp_path / "run.2" / "config.json").read_text() == "1"
    folder.mkdir()
    keep_earlier_run(folder)  # no run: stays where it is
    assert folder.exists()


@pytest.mark.parametrize("before", [True, False])
def test_a_run_that_cannot_begin_leaves_an_earlier_one(tmp_path, acting_run, undrawn, monkeypatch, before):
    """A wrong callback, or whatever else fails before there is a `config.json`; a place without a run stays empty."""
    run, origin = tmp_path / "run", tmp_path / "origin"
    train(acting_run(), origin)
    if before:
        train(acting_run(seed=3), run)
    there = run / "result.json", run / "config.json"
    content = [file.read_bytes() for file in there if before]

    def fail(self):
        raise RuntimeError("no room")

    for callbacks, error in (([3], SpecError), ([], RuntimeError)):
        for begin in (
            lambda given: train(acting_run(), run, given),
            lambda given: fork(origin, run, steps=80, callbacks=given),
        ):
            with pytest.raises(error):
                begin(callbacks)
            assert [file.read_bytes() for file in there if before] == content
            assert sorted(each.name for each in tmp_path.iterdir()) == ["origin", *["run"] * before]
        monkeypatch.setattr(RunFolder, "draw_graph", fail)
    with pytest.raises(SpecError, match="callbacks: expected an object of a subclass"):
        resume(origin, steps=80, callbacks=[3])
    assert (origin / "result.json").exists()
    with pytest.raises(SpecError, match="callbacks: expected"):
        tune(acting_run(), tmp_path / "search", 1, space={"discount": [0.9]}, callbacks=[3])
    assert not (tmp_path / "search").exists()


def test_folders_that_hold_more_than_a_run_are_refused(acting_run, tmp_path, monkeypatch):
    here, home = tmp_path / "a" / "here", tmp_path / "homes" / "me"
    for folder in (here, home):
        folder.mkdir(parents=True)
    (here / "link").symlink_to("/")
    monkeypatch.chdir(here)
    monkeypatch.setenv("HOME", str(home))
    before = sorted(tmp_path.rglob("*"))
    for folder in ("/", "link", "..", tmp_path, home, home.parent, "/usr", "/tmp"):
        with pytest.raises(SpecError, match="folder: expected a folder for the run alone, given .*give one"):
            train(acting_run(), folder)
    with pytest.raises(SpecError, match="folder: expected a folder for the run alone"):
        tune(acting_run(agent={"type": "dqn"}), "..", trials=1)
    assert sorted(tmp_path.rglob("*")) == before
