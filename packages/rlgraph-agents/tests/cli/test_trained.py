"""What a run has learned: evaluated for people and machines, filmed, exported, compared."""

import csv
import json
import re
from typing import ClassVar

import gymnasium
import numpy as np
import pytest
from PIL import Image


@pytest.fixture
def run(rlgraph, tiny, undrawn):
    """Makes the folder of a run that learned nothing, on NumPy."""

    def run(folder="run", seed=1, env="CartPole-v1"):
        arguments = ["--agent", tiny(update_spec={"do_updates": False}), "--backend", "numpy", "--env", env]
        assert rlgraph("train", *arguments, "--steps", 40, "--seed", seed, "--folder", folder).code == 0
        return folder

    return run


def test_evaluate_for_machines(rlgraph, run):
    outcome = rlgraph("evaluate", run(), "--episodes", 3, "--json")
    assert (outcome.code, outcome.err) == (0, "")
    data = json.loads(outcome.out)
    expected = {"folder": "run", "checkpoint": "last", "backend": "numpy", "episodes": 3}
    assert {name: data[name] for name in expected} == expected
    assert data["mean_return"] == sum(data["returns"]) / 3 == sum(data["lengths"]) / 3


def test_evaluate_in_a_number_of_environments(rlgraph, run):
    """Another number plays other episodes; the same one the same."""
    folder = run()

    def returns(*more):
        return json.loads(rlgraph("evaluate", folder, "--episodes", 9, "--json", *more).out)["returns"]

    assert len(returns("--num-envs", 2)) == 9
    assert returns() == returns("--num-envs", 9)
    assert rlgraph("evaluate", folder, "--num-envs", 0).code == 2


def test_evaluate_with_drawn_actions(rlgraph, run):
    drawn, again, greedy = (
        json.loads(rlgraph("evaluate", run_folder, "--episodes", 9, "--json", *more).out)
        for run_folder in [run()]
        for more in (["--stochastic"], ["--stochastic"], [])
    )
    assert (drawn["stochastic"], greedy["stochastic"]) == (True, False)
    assert drawn["returns"] == again["returns"] != greedy["returns"]


class Blinking(gymnasium.Env):
    """Episodes of four steps, black and white in turn."""

    metadata: ClassVar = {"render_modes": ["rgb_array"], "render_fps": 10}
    observation_space = gymnasium.spaces.Box(0.0, 1.0, (2,))
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, render_mode=None):
        self.render_mode = render_mode

    def reset(self, seed=None, options=None):
        self.steps = 0
        return np.zeros(2, np.float32), {}

    def step(self, action):
        self.steps += 1
        return np.zeros(2, np.float32), 1.0, self.steps == 4, False, {}

    def render(self):
        return np.full((20, 30, 3), 255 * (self.steps % 2), np.uint8)


@pytest.fixture
def blinking():
    """The id under which `Blinking` is registered."""
    gymnasium.register("Blinking-v0", Blinking)
    yield "Blinking-v0"
    del gymnasium.registry["Blinking-v0"]


def test_a_film_of_an_evaluation(rlgraph, run, blinking, tmp_path):
    folder = run(env=blinking)
    outcome = rlgraph("evaluate", folder, "--episodes", 2, "--video", "films/blinking.gif", "--json")
    assert (outcome.code, outcome.err) == (0, "")
    data = json.loads(outcome.out)
    assert data["lengths"] == [4, 4]
    with Image.open(tmp_path / data["video"]) as film:
        assert (film.n_frames, film.size) == (5, (30, 20))
    human = rlgraph("evaluate", folder, "--episodes", 2, "--video", "b.gif", "--video-episodes", 1)
    assert human.out == "mean return 4.0 +- 0.0 over 2 episodes\nwrote b.gif\n"


def test_what_cannot_be_filmed(refused, run):
    said = "cannot be filmed: expected a picture [height, width, 3] of render()"
    assert refused(said, "evaluate", run(env="deterministic"), "--video", "film.gif").out == ""


def test_one_checkpoint_of_several(rlgraph, refused, run):
    folder = run()
    assert rlgraph("evaluate", folder, "--episodes", 1, "--checkpoint", "last").code == 0
    refused("has no checkpoint 'lst'. Did you mean 'last'?", "evaluate", folder, "--checkpoint", "lst")


def test_export(rlgraph, refused, run, backend, tmp_path):
    outcome = rlgraph("export", run(), "--backend", backend, "--json")
    if backend not in ("torch", "tf"):
        assert outcome.code == 2 and f"the {backend} backend does not export graphs" in outcome.err
        return
    assert outcome.code == 0, outcome.err
    data = json.loads(outcome.out)
    assert (data["directory"], data["methods"]) == ("run/export", ["get_greedy_actions"])
    assert data["files"] and all((tmp_path / "run" / "export" / name).is_file() for name in data["files"])
    outcome = rlgraph(
        "export", "run", "--to", "elsewhere", "--method", "get_greedy_actions", "--backend", backend
    )
    assert outcome.code == 0 and outcome.out.startswith("wrote elsewhere:\n  ")
    refused("the numpy backend does not export graphs", "export", "run", "--backend", "numpy")


def test_export_to_onnx(rlgraph, refused, run, tmp_path):
    said = "format: expected None or 'onnx', given 'tflite'"
    refused(said, "export", run(), "--format", "tflite", "--backend", "numpy")
    for package in ("torch", "onnx", "onnxscript"):
        pytest.importorskip(package)
    outcome = rlgraph("export", "run", "--format", "onnx", "--json")
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["files"] == ["get_greedy_actions.onnx", "graph.json"]


def test_resume(rlgraph, refused, run, tmp_path):
    folder = run(env="deterministic")
    outcome = rlgraph("resume", folder, "--steps", 60, "--json")
    assert (outcome.code, json.loads(outcome.out)["training"]["timesteps_executed"]) == (0, 60)
    assert "resuming run" in outcome.err
    refused("may only increase", "resume", folder, "--steps", 10)
    said = "run is finished: all 60 steps are done. To extend it:\n  rlgraph resume run --steps 120\n"
    for arguments in ((), ("--steps", 60)):
        finished = rlgraph("resume", folder, *arguments)
        assert (finished.code, finished.out) == (0, said)
    assert json.loads(rlgraph("resume", folder, "--json").out)["finished"] is True
    assert rlgraph("resume", "nowhere").code == 2


def test_fork(rlgraph, refused, run, tmp_path):
    folder = run(env="deterministic")
    outcome = rlgraph("resume", folder, "--fork", "new", "--set", "discount=0.5", "--steps", 60, "--json")
    assert (outcome.code, json.loads(outcome.out)["training"]["timesteps_executed"]) == (0, 60)
    assert "forking run into new" in outcome.err
    assert "agent.discount 0.99 -> 0.5" in json.loads(outcome.out)["departures"][0]
    refused("--fork NEW_FOLDER", "resume", folder, "--set", "discount=0.5")


def test_a_run_that_was_killed_in_its_closing_evaluation_is_not_finished(rlgraph, run, tmp_path):
    folder = run(env="deterministic")
    (tmp_path / folder / "result.json").unlink()
    assert "over 20 fresh episodes" in rlgraph("resume", folder).out


@pytest.mark.parametrize("command", ["evaluate", "export", "resume", "graph"])
def test_a_folder_of_runs_in_place_of_a_run(refused, runs, command):
    refused("runs is not a run folder, but runs are below it: give one of runs/a0, runs/a1", command, "runs")
    refused("give one of other, runs/a0, runs/a1, runs/a2, runs/a3", command, ".")


def test_a_second_run_in_the_same_folder(rlgraph, run):
    folder = run(env="deterministic")
    assert f"is now in {folder}.1" not in rlgraph("evaluate", folder).out
    options = [
        "--env",
        "deterministic",
        "--backend",
        "numpy",
        "--steps",
        "20",
        "--set",
        "update_spec.do_updates=false",
    ]
    arguments = ["train", "--folder", folder, *options]
    assert f"The earlier run in {folder} was moved to {folder}.1." in rlgraph(*arguments).out
    data = json.loads(rlgraph(*arguments, "--json").out)
    assert data["earlier_run"] == f"{folder}.2"


@pytest.fixture
def runs(tmp_path):
    """Folders of runs with made-up returns."""

    def write(name, points, seed=1, environment="CartPole-v1", outcome="finished"):
        folder = tmp_path / name
        folder.mkdir(parents=True)
        content = {"agent": {"type": "dqn"}, "environment": environment, "seed": seed, "steps": 200}
        (folder / "config.json").write_text(json.dumps({"run": content, "chosen": {"backend": "numpy"}}))
        rows = "".join(f"{steps},{value}\n" for steps, value in points)
        (folder / "metrics.csv").write_text(f"timesteps,evaluation_return\n{rows}")
        (folder / "result.json").write_text(json.dumps({"outcome": outcome}))

    for seed, value in enumerate((100.0, 200.0, 300.0, 9000.0)):
        write(f"runs/a{seed}", [(100, 0.0), (200, value)], seed)
    write("other", [(100, 50.0)], outcome="interrupted")


@pytest.mark.parametrize("columns", [40, 60, 80, 120])
def test_no_number_of_a_comparison_is_broken(rlgraph, runs, monkeypatch, tmp_path, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    (tmp_path / "other" / "metrics.csv").write_text("timesteps,evaluation_return\n12345678,-123456.75\n")
    outcome = rlgraph("compare", "first=runs", "second=other", "--quiet")
    groups = json.loads(rlgraph("compare", "first=runs", "second=other", "--json").out)["groups"]
    assert [group["iqm"] for group in groups] == [250.0, -123456.75]
    numbers = [f"{groups[0][name]:.1f}" for name in ("iqm", "low", "high")] + ["-123456.8"]
    for number in (*numbers, "12,345,678"):
        assert re.search(rf"(?<![\w.,-]){re.escape(number)}(?![\w.])", outcome.out), number
    assert "…" not in outcome.out and all(len(line) <= columns for line in outcome.out.splitlines())


@pytest.mark.parametrize("columns", [80, 120])
def test_compare(rlgraph, runs, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    outcome = rlgraph("compare", "new=runs", "old=other")
    assert outcome.code == 0
    new, old = (line.split() for line in outcome.out.splitlines() if " CartPole-v1  " in line)
    assert new[:5] == ["new", "CartPole-v1", "4", "200", "250.0"]
    assert old[:5] == ["old", "CartPole-v1", "1", "100", "50.0"] and "one run" in outcome.out
    assert "unfinished: other" in outcome.out
    assert "caution: fewer than 5 runs" in outcome.out and "configuration" not in outcome.out
    assert "…" not in outcome.out


def test_compare_for_machines(rlgraph, runs, tmp_path):
    outcome = rlgraph("compare", "runs", "other", "--json", "-o", "out/c.png", "--csv", "out/c.csv")
    data = json.loads(outcome.out)
    assert "caution: unfinished: other" in outcome.err and "wrote out/c.png" in outcome.err
    assert data["cautions"][0].startswith("unfinished: other")
    (group,) = data["groups"]
    # The unfinished run's curve ends at 100, and with it that of its group.
    assert (group["runs"], group["steps"], group["iqm"]) == (5, 100, 0.0)
    assert (tmp_path / "out" / "c.png").read_bytes()[:4] == b"\x89PNG"
    rows = list(csv.DictReader((tmp_path / "out" / "c.csv").read_text().splitlines()))
    assert rows[0]["label"] == "dqn" and float(rows[0]["iqm"]) == 0.0


def test_texts_of_a_table_are_no_formulas(rlgraph, runs, tmp_path):
    config = tmp_path / "other" / "config.json"
    for text in ("=1+1", "+1", "-1", "@SUM(A1)"):
        config.write_text(re.sub(r'"environment": "[^"]*"', f'"environment": "{text}"', config.read_text()))
        rlgraph("compare", "other", "--csv", "c.csv")
        (row, *_) = csv.DictReader((tmp_path / "c.csv").read_text().splitlines())
        assert row["environment"] == f"'{text}"


def test_compare_quietly(rlgraph, runs):
    outcome = rlgraph("compare", "runs", "other", "--quiet")
    assert "unfinished" not in outcome.out + outcome.err and "CartPole-v1" in outcome.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "nowhere is not a run folder, and there is none below it"),
        (["runs", "--metric", "evaluation_retrn"], "Did you mean 'evaluation_return'?"),
        (["runs", "--by", "labl"], "Invalid value for '--by'"),
        (["runs", "--normalize", "CartPole-v1=5"], "expected ENV=LOW,HIGH such as CartPole-v1=0,500, given"),
        (["runs", "--normalize", "CartPole-v1=5,5"], "with two different finite returns"),
        (["runs", "--normalize", "CartPole-v1=nan,5"], "with two different finite returns"),
        (["runs", "--normalize", "CartPole-v1=0,inf"], "with two different finite returns"),
        (["runs", "--picture", "c.jpeg"], "a picture is a .png, .svg or .pdf, given 'c.jpeg'"),
        ([], "Missing argument 'RUN...'"),
    ],
)
def test_wrong_comparisons(refused, runs, arguments, said):
    assert refused(said, "compare", *arguments).out == ""


def test_no_number_bricks_a_run(rlgraph, refused, run, tmp_path):
    folder, large = run(), 10**19

    def files():
        return {file: file.read_bytes() for file in (tmp_path / folder).rglob("*") if file.is_file()}

    before = files()
    said = "expected an integer of at most 64 bits"
    for arguments in (["--steps", large], ["--set", f"steps={large}"], ["--fork", "new", "--steps", large]):
        refused(f"steps: {said}", "resume", folder, *arguments)
    for option in ("--steps", "--seed", "--num-envs"):
        refused(said, "train", "--backend", "numpy", option, large, "--folder", "new")
    assert files() == before and not (tmp_path / "new").exists()
    assert rlgraph("evaluate", folder, "--episodes", 1).code == 0
