"""Runs are read as they are, grouped as asked, and compared where all are known."""

import csv
import json

import numpy as np
import pytest

from rlgraph.core import SpecError
from rlgraph.runs.compare import collect_runs, compare, read_runs
from rlgraph.runs.comparison_picture import _labels, draw_comparison, styles_of
from rlgraph.runs.configuration_differences import difference_texts
from rlgraph.runs.recorded_run import environment_name, read_run


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Writes a run's folder; `points` are (steps, evaluation return)."""
    monkeypatch.chdir(tmp_path)

    def write(name, points, *, finished=True, backend="torch", options=(), document=(), **run):
        folder = tmp_path / name
        folder.mkdir(parents=True)
        agent = {"type": "dqn", **dict(options)}
        defaults = {"agent": agent, "environment": "CartPole-v1", "seed": 1, "steps": 1000}
        run = {**defaults, **run, **dict(document)}
        (folder / "config.json").write_text(json.dumps({"run": run, "chosen": {"backend": backend}}))
        with (folder / "metrics.csv").open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["timesteps", "loss", "evaluation_return"])
            for steps, value in points:
                rows.writerow([steps, 0.5, ""])
                rows.writerow([steps, "", value])
        (folder / "result.json").write_text(json.dumps({"outcome": "stopped" if finished else "interrupted"}))
        return name

    return write


def test_ten_lines(write):
    for seed, last in enumerate((10.0, 20.0, 30.0, 900.0)):
        write(f"runs/a{seed}", [(100, 0.0), (200, last)], seed=seed)
    comparison = compare(read_runs(["runs"]))
    (row,) = comparison.rows()
    assert (row["label"], row["environment"], row["runs"], row["steps"]) == ("dqn", "CartPole-v1", 4, 200)
    assert (row["iqm"], row["mean"], row["min"], row["max"]) == (25.0, 240.0, 10.0, 900.0)
    assert 10.0 <= row["low"] < 25.0 < row["high"] <= 900.0
    (group,) = comparison.groups
    assert group.steps.tolist() == [100, 200] and group.curve.tolist() == [0.0, 25.0]
    assert [caution[:12] for caution in comparison.cautions] == ["fewer than 5"]
    assert json.loads(json.dumps(comparison.as_dict()))["runs"][3]["score"] == 900.0


def test_a_value_stands_until_the_next_and_a_finished_run_keeps_its_last(write):
    early = write("early", [(100, 1.0), (150, 9.0)])
    late = write("late", [(100, 3.0), (200, 5.0), (300, 7.0)])
    (group,) = compare(read_runs([early, late])).groups
    assert group.steps.tolist() == [100, 150, 200, 300]
    assert group.curve.tolist() == [2.0, 6.0, 7.0, 8.0]
    assert group.scores.tolist() == [9.0, 7.0]


def test_the_curve_of_a_group_ends_where_an_unfinished_run_does(write):
    cut = write("cut", [(100, 1.0), (200, 9.0)], finished=False)
    late = write("late", [(100, 3.0), (200, 5.0), (300, 7.0)])
    comparison = compare(read_runs([cut, late]))
    assert comparison.groups[0].steps.tolist() == [100, 200]
    assert comparison.groups[0].scores.tolist() == [9.0, 5.0]
    assert comparison.cautions[0] == "unfinished: cut; the curves of their groups end where they do"


def test_a_last_line_that_was_cut_is_left_out(write, tmp_path):
    write("run", [(100, 1.0)], finished=False)
    with (tmp_path / "run" / "metrics.csv").open("a") as file:
        file.write("200,0.2")
    assert read_run("run").metrics["evaluation_return"][0].tolist() == [100]
    assert read_run("run").metrics["loss"][0].tolist() == [100]


def test_labels(write):
    write("runs/one/s1", [(1, 1.0)])
    write("runs/one/s2", [(1, 3.0)])
    write("runs/two/s1", [(1, 5.0)])
    rows = compare(read_runs(["first=runs/one/*", "second=runs/two"])).rows()
    found = [(row["label"], row["runs"], row["iqm"]) for row in rows]
    assert found == [("first", 2, 2.0), ("second", 1, 5.0)]
    assert len(collect_runs(["runs", "runs/one/s1"])) == 3  # a run counts once
    assert [str(folder) for _, folder in collect_runs(["runs/one"])] == ["runs/one/s1", "runs/one/s2"]


def test_environments_are_told_apart_or_scaled(write):
    write("runs/c1", [(1, 250.0)])
    write("runs/a1", [(1, -300.0)], environment={"type": "openai_gym", "gym_env": "Acrobot-v1"})
    runs = read_runs(["runs"])
    assert [row["environment"] for row in compare(runs).rows()] == ["Acrobot-v1", "CartPole-v1"]
    with pytest.raises(
        SpecError, match=r"dqn: returns of Acrobot-v1, CartPole-v1 would be mixed.*0 and 1 in CartPole"
    ):
        compare(runs, by=["agent"], normalize={"Acrobot-v1": (-500.0, -100.0)})
    scale = {"Acrobot-v1": (-500.0, -100.0), "CartPole-v1": (0.0, 500.0)}
    (row,) = compare(runs, by=["agent"], normalize=scale).rows()
    assert (row["agent"], row["iqm"], row["low"], row["high"]) == ("dqn", 0.5, 0.5, 0.5)
    (row,) = compare(runs, by=[], normalize=scale).rows()
    assert row["runs"] == 2


def test_tasks_of_one_name_are_not_mixed(write):
    """They have other options, and so returns of another scale."""
    for seed, size in enumerate((4, 9)):
        write(f"runs/{size}", [(1, float(size))], seed=seed, environment={"type": "mine:Maze", "size": size})
    runs = read_runs(["runs"])
    assert {run.environment for run in runs} == {"mine:Maze"}
    with pytest.raises(
        SpecError, match=r'returns of .*"size": 4.*"size": 9.*tell them apart by configuration'
    ):
        compare(runs, by=["label", "environment"])
    assert len(compare(runs).groups) == 2


def test_runs_of_other_options_are_groups_of_their_own(write):
    for seed in range(5):
        write(f"runs/a{seed}", [(1, 1.0)], seed=seed)
        write(
            f"runs/b{seed}",
            [(1, 9.0)],
            seed=seed,
            options={"discount": 0.9, "execution_spec": {"threads": 4}},
        )
    write("runs/c", [(1, 5.0)], backend="tf", document={"logging": {"report_interval": 7}})
    comparison = compare(read_runs(["runs"]))
    assert [(row["configuration"], row["runs"], row["iqm"]) for row in comparison.rows()] == [
        ("discount=-, backend=torch", 5, 1.0),
        ("discount=0.9, backend=torch", 5, 9.0),
        ("discount=-, backend=tf", 1, 5.0),
    ]
    (caution,) = comparison.cautions
    assert caution.startswith("fewer than 5 runs of a group") and "backend=tf (1)" in caution
    (row,) = compare(read_runs(["runs"]), by=["label"]).rows()
    assert row["runs"] == 11


def test_the_same_run_twice_and_other_lengths_are_cautioned_against(write):
    for seed in range(4):
        write(f"runs/a{seed}", [(1, 1.0)], seed=seed)
    write("runs/copy", [(1, 1.0)], seed=2)
    write("runs/long", [(1, 1.0)], seed=9, document={"steps": 3000})
    cautions = compare(read_runs(["runs"])).cautions
    assert [caution.partition(":")[2] for caution in cautions] == [
        " runs/a2, runs/copy have one seed and one configuration, so they are the same run, counted more than once",
        " runs of 1,000 to 3,000 steps; a finished run keeps its last value, and schedules follow the length",
    ]
    assert json.loads(json.dumps(compare(read_runs(["runs"])).as_dict()))["cautions"] == list(cautions)


def layers(*units, **options):
    return [{"type": "dense", "units": n, **options} for n in units]


@pytest.mark.parametrize(
    ("one", "other", "texts"),
    [
        ({"discount": 0.9}, {"discount": 0.99}, ["discount=0.9", "discount=0.99"]),
        ({"a": {"x": 1, "y": None}, "b": {"x": 2}}, {"a": {"x": 2, "y": True}, "b": {"x": 3}},
         ["a.x=1, y=null, b.x=2", "a.x=2, y=true, b.x=3"]),
        ({"network_spec": layers(8, 8)}, {"network_spec": layers(8, 9)}, ["units=8", "units=9"]),
        ({"network_spec": layers(8)}, {"network_spec": layers(8, 8)},
         ["network_spec=[dense]", "network_spec=[dense,dense]"]),
        ({"agent": {"type": "dqn", "x": 1}}, {"agent": {"type": "ppo", "y": 2}}, ["agent=dqn", "agent=ppo"]),
        ({"name": "x" * 40}, {"name": "x" * 41}, [f"name={'x' * 21}...", f"name={'x' * 21}... (2)"]),
        (dict.fromkeys("abcde", 1), dict.fromkeys("abcde", 2), ["a=1, b=1, c=1, 2 more", "a=2, b=2, c=2, 2 more"]),
    ],
)  # fmt: skip
def test_differences_in_a_few_words(one, other, texts):
    assert difference_texts([one, other]) == texts
    assert difference_texts([one]) == [""]


def test_long_runs_are_compared_at_a_hundred_points(write):
    run = write("run", [(10 * n, float(n)) for n in range(1, 1001)])
    (group,) = compare(read_runs([run])).groups
    assert len(group.steps) == 100 and group.steps[0] == 10 and group.steps[-1] == 10_000
    np.testing.assert_array_equal(group.curve, group.steps / 10)


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("CartPole-v1", "CartPole-v1"),
        ({"type": "openai_gym", "gym_env": "Acrobot-v1"}, "Acrobot-v1"),
        ({"type": "grid_world", "world": "4x4"}, "grid_world 4x4"),
        ({"type": "random"}, "random"),
        ({"type": "partially_observed", "env": "CartPole-v1"}, "partially_observed CartPole-v1"),
        ({"type": "dm_env", "environment": "mine:make", "seed_argument": "seed"}, "dm_env mine:make"),
        (
            {
                "type": "dm_env",
                "environment": "dm_control.suite:load",
                "domain_name": "cartpole",
                "task_name": "swingup",
                "task_kwargs": {"time_limit": 9},
            },
            "dm_env cartpole swingup",
        ),
    ],
)
def test_names_of_environments(spec, name):
    assert environment_name(spec) == name


def test_mistakes(write, tmp_path):
    write("run", [(1, 1.0)])
    write("empty", [])
    (tmp_path / "nothing").mkdir()
    with pytest.raises(SpecError, match="nothing is not a run folder, and there is none below it"):
        read_runs(["nothing"])
    with pytest.raises(SpecError, match="the label before '=' is empty"):
        read_runs(["=run"])
    with pytest.raises(SpecError, match="nowhere is not a run folder: config.json cannot be read"):
        read_run("nowhere")
    with pytest.raises(SpecError, match="by: runs have no field 'agnt'. Did you mean 'agent'"):
        compare(read_runs(["run"]), by=["agnt"])
    with pytest.raises(SpecError, match="no run has 'evaluation_retrn'. Did you mean 'evaluation_return'"):
        compare(read_runs(["run"]), metric="evaluation_retrn")
    with pytest.raises(SpecError, match="metric: no run has a value of evaluation_return yet"):
        compare(read_runs(["empty"]))
    found = compare(read_runs(["run", "empty"]))
    assert [len(group.runs) for group in found.groups] == [1]
    assert found.cautions[0] == "left out, since they have no value of evaluation_return yet: empty"
    with pytest.raises(SpecError, match="there are no runs to compare"):
        compare([])
    (tmp_path / "run" / "metrics.csv").write_text("timesteps,loss\none,2\n")
    with pytest.raises(SpecError, match="metrics.csv cannot be read"):
        read_run("run")
    (tmp_path / "run" / "metrics.csv").unlink()
    with pytest.raises(SpecError, match="metrics.csv is missing"):
        read_run("run")


def test_the_picture(write, tmp_path):
    for name, environment in (
        ("a", "CartPole-v1"),
        ("b", "Acrobot-v1"),
        ("c", "LunarLander-v3"),
        ("d", "Pong"),
    ):
        write(f"runs/{name}", [(1000, 1.0), (2000, 5.0)], environment=environment)
    draw_comparison(compare(read_runs(["runs", "other=runs/a"])), tmp_path / "compare.png")
    assert (tmp_path / "compare.png").read_bytes()[:4] == b"\x89PNG"


def test_labels_in_the_picture_name_agent_and_backend_where_they_differ(write):
    write("a", [(1, 1.0)])
    write("b", [(1, 1.0)], backend="tf", options={"type": "ppo"})
    write("c", [(1, 1.0)], backend="tf")
    labels = [
        _labels(compare(read_runs(runs)).groups)
        for runs in (["x=a", "y=b"], ["a"], ["a", "b", "x=c"], ["a", "c"])
    ]
    assert [list(each.values()) for each in labels] == [
        ["x, dqn, torch", "y, ppo, tf"],
        ["dqn"],
        ["dqn, torch", "ppo, tf", "x, dqn, tf"],
        ["dqn, backend=torch", "dqn, backend=tf"],
    ]


def test_lines_that_can_be_told_apart():
    """One colour for an agent and one kind of line for a backend, where there are enough of them."""
    few = styles_of(["dqn, torch", "dqn, tf", "ppo, torch"])
    assert few["dqn, torch"]["color"] == few["dqn, tf"]["color"] != few["ppo, torch"]["color"]
    assert few["dqn, torch"]["linestyle"] == few["ppo, torch"]["linestyle"] != few["dqn, tf"]["linestyle"]
    many = styles_of([f"dqn, learning_rate={i}" for i in range(20)])
    assert len({tuple(style.values()) for style in many.values()}) == 20
