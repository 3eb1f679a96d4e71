"""Searches for options: trials train for real, but briefly; their scores are made up where scores matter."""

import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from matplotlib.figure import Figure
from matplotlib.text import Text

from rlgraph.core import InputError, SpecError
from rlgraph.runs import RunFolderError, tuning
from rlgraph.runs.tuning import tune

SPACE = {"optimizer_spec.learning_rate": {"low": 1e-4, "high": 1e-2, "log": True}, "num_epochs": [1, 2]}


@pytest.fixture
def document(one_backend):
    return {
        "agent": {"type": "ppo", "rollout_length": 16, "network_spec": [4]},
        "environment": "CartPole-v1",
        "backend": one_backend,
        "steps": 64,
        "evaluation": {"episodes": 1, "final_episodes": 2},
        "logging": {"tensorboard": False},
    }


@pytest.fixture
def made_up(monkeypatch):
    """Training is a formula of the options: the evaluations of a trial end at its score."""

    def install(score):
        seen = []

        def train(spec, folder, callbacks):
            seen.append(spec)
            final, stopped = score(spec["agent"]), False
            for part in (0.25, 0.5, 0.75):
                stopped = stopped or any(
                    c.on_evaluation(None, SimpleNamespace(mean=part * final)) for c in callbacks
                )
            training = SimpleNamespace(interrupted=False)
            return SimpleNamespace(
                training=training, evaluation=SimpleNamespace(mean=final + spec["seed"] - 101)
            )

        monkeypatch.setattr(tuning, "train", train)
        return seen

    return install


def test_a_search(document, tmp_path):
    ended = []
    found = tune(document, tmp_path, 2, space=SPACE, progress=ended.append)
    assert [trial["state"] for trial in ended] == ["complete"] * 2
    assert found.best_trial["score"] == max(trial["score"] for trial in ended)
    best = yaml.safe_load((tmp_path / "best.yaml").read_text())
    assert best == found.best and best["steps"] == 64 and best["evaluation"]["policy"] == "last"
    options = max(ended, key=lambda trial: trial["score"])["options"]
    assert best["agent"]["optimizer_spec"] == {"learning_rate": options["optimizer_spec.learning_rate"]}
    assert (tmp_path / "trials" / "0" / "seed-101" / "result.json").exists()


def test_the_best_document_trains_as_long_as_the_given_one(document, tmp_path, made_up):
    """And evaluates as often; trials are shorter."""
    seen = made_up(lambda agent: 10.0 * agent["num_epochs"])
    found = tune({**document, "steps": 6400}, tmp_path / "one", 2, steps=64, space=SPACE)
    assert [(each["steps"], each["evaluation"]["interval"]) for each in seen] == [(64, 6)] * 2
    best = yaml.safe_load((tmp_path / "one" / "best.yaml").read_text())
    assert best == found.best and (best["steps"], best["evaluation"]["interval"]) == (6400, 640)
    assert "after 64 steps on seeds from 101 on" in (tmp_path / "one" / "best.yaml").read_text()
    for steps in (-1, 1.5, "64"):
        with pytest.raises(SpecError, match="steps: expected an integer >= 0, given"):
            tune(document, tmp_path / "three", 1, steps=steps, space=SPACE)
    assert not (tmp_path / "three").exists()


@pytest.mark.parametrize("trials", [4, tuning.FEW])
def test_the_picture_says_on_how_many_trials_it_rests(document, tmp_path, made_up, monkeypatch, trials):
    texts = []

    class Kept(Figure):
        def savefig(self, file, **options):
            texts.extend(text.get_text() for text in self.findobj(Text))
            super().savefig(file, **options)

    monkeypatch.setattr("matplotlib.figure.Figure", Kept)
    monkeypatch.setattr(tuning, "UNPRUNED", trials)
    made_up(lambda agent: 10.0 * agent["num_epochs"])
    tune(document, tmp_path, trials, space=SPACE)
    assert f"ppo in CartPole-v1, {trials} trials" in texts
    few = f"{trials} trials are few: the shares may be chance. Trust them from about {tuning.FEW} on."
    assert (few in texts) == (trials < tuning.FEW)


def test_a_search_is_continued(document, tmp_path, made_up):
    """With as many trials as are missing; those that a crash cut off do not count."""
    seen = made_up(lambda agent: 10.0 * agent["num_epochs"])
    tune(document, tmp_path, 3, space=SPACE)
    found = tune(document, tmp_path, 5, space=SPACE)
    assert len(seen) == len(found.trials) == 5 and found.best_trial["score"] == 20.0
    assert found.best["agent"]["num_epochs"] == 2
    assert (tmp_path / "importance.png").read_bytes().startswith(b"\x89PNG")
    tune(document, tmp_path, 5, space=SPACE)
    assert len(seen) == 5
    with pytest.raises(SpecError, match="has a search of another document or other options: give another"):
        tune({**document, "steps": 65}, tmp_path, 5, space=SPACE)
    (tmp_path / "tuning.json").unlink()
    with pytest.raises(SpecError, match="has a search of another document"):
        tune(document, tmp_path, 5, space=SPACE)
    (tmp_path / "tuning.json").write_text("{")
    with pytest.raises(SpecError, match="has a search of another document"):
        tune(document, tmp_path, 5, space=SPACE)


def test_a_search_that_was_killed_in_the_middle_of_a_write_is_continued(
    document, tmp_path, made_up, monkeypatch
):
    """Optuna would wait for the lock without end where its link leads nowhere, and append to half a line."""
    monkeypatch.chdir(tmp_path)
    made_up(lambda agent: 10.0 * agent["num_epochs"])
    tune(document, "search", 2, space=SPACE)
    study = Path("search", "study.log")
    with study.open("ab") as file:
        file.write(study.read_bytes().splitlines(keepends=True)[-1][:-5])
    Path("search", "study.log.lock").symlink_to(study)
    continued = threading.Thread(
        target=tune, args=(document, "search", 3), kwargs={"space": SPACE}, daemon=True
    )
    continued.start()
    continued.join(20.0)
    assert not continued.is_alive()
    found = tune(document, "search", 4, space=SPACE)
    assert [trial["state"] for trial in found.trials] == ["complete"] * 4
    assert not list(Path("search").glob("study.log?*"))


def test_a_second_search_leaves_the_first_one_alone(document, tmp_path, made_up):
    """It would take the trial that runs for one that a crash cut off."""
    pytest.importorskip("fcntl")

    def score(agent):
        with pytest.raises(RunFolderError, match="search is in use: the process"):
            tune(document, tmp_path / "search", 1, space=SPACE)
        return 1.0

    made_up(score)
    found = tune(document, tmp_path / "search", 1, space=SPACE)
    assert [trial["state"] for trial in found.trials] == ["complete"]
    assert len(tune(document, tmp_path / "search", 1, space=SPACE).trials) == 1  # the lock is released


def test_a_training_is_evaluated_ten_times_whatever_its_document_says(document, tmp_path, made_up):
    seen = made_up(lambda agent: 1.0)
    rare = {**document, "evaluation": {"interval": 64, "episodes": 3}}
    found = tune(rare, tmp_path, 1, space=SPACE)
    assert seen[0]["evaluation"] == found.best["evaluation"]
    assert seen[0]["evaluation"] == {"interval": 6, "episodes": 3, "policy": "last"}


def test_trials_that_fall_behind_are_stopped(document, tmp_path, made_up):
    made_up(lambda agent: 1.0 if agent["num_epochs"] == 1 else 100.0)
    found = tune(document, tmp_path, 30, space=SPACE)
    bad = [trial["state"] for trial in found.trials if trial["options"]["num_epochs"] == 1]
    good = [trial["state"] for trial in found.trials if trial["options"]["num_epochs"] == 2]
    assert "pruned" in bad and set(good) == {"complete"}


def test_several_seeds_and_options_that_exclude_each_other(document, tmp_path, made_up):
    seen = made_up(lambda agent: 5.0)
    found = tune(document, tmp_path, 5, space={"num_epochs": [0, 1]}, seeds=3)
    assert {trial["state"] for trial in found.trials if trial["options"]["num_epochs"] == 0} == {"fail"}
    assert {spec["seed"] for spec in seen} == {101, 102, 103}
    assert found.best_trial["score"] == 6.0


def test_options_that_the_first_update_refuses(document, tmp_path, made_up):
    """Such as more minibatches than records."""

    def score(agent):
        if agent["num_epochs"] == 2:
            raise InputError("num_minibatches: expected at most 8, given 16")
        return 1.0

    made_up(score)
    found = tune(document, tmp_path, 6, space=SPACE)
    states = {trial["options"]["num_epochs"]: (trial["state"], trial["reason"]) for trial in found.trials}
    reason = "InputError: num_minibatches: expected at most 8, given 16"
    assert states == {1: ("complete", ""), 2: ("fail", reason)}


def test_choices_may_be_lists_and_mappings(document, tmp_path, made_up):
    made_up(lambda agent: float(agent["network_spec"][0]))
    found = tune(document, tmp_path, 6, space={"network_spec": [[4], [8, 8]], "discount": [0.9, 0.99]})
    assert found.best["agent"]["network_spec"] == [8, 8]
    assert {tuple(trial["options"]["network_spec"]) for trial in found.trials} == {(4,), (8, 8)}


@pytest.mark.parametrize(
    ("space", "message"),
    [
        ({"num_epochs": []}, r"space\['num_epochs'\]: expected a list of choices, or"),
        ({"num_epochs": {"low": 3}}, r"space\['num_epochs'\]: expected a list of choices, or"),
        ({"num_epochs": {"low": 3, "high": 2}}, "expected a list of choices, or"),
        ({"num_epochs": {"low": False, "high": True}}, "expected a list of choices, or"),
        ({"clip_ratio": {"low": 0, "high": 1, "step": 0.0}}, r"space\['clip_ratio'\]: given .* `step > 0`"),
        ({"num_epochs": {"low": 1, "high": 2, "step": 0}}, r"space\['num_epochs'\]: given .* `step > 0`"),
        (
            {"clip_ratio": {"low": 0.0, "high": 1.0, "log": True}},
            r"space\['clip_ratio'\]: given .* `low > 0`",
        ),
        ({}, "space: expected at least one option to search"),
        ({"discoun": [0.9, 0.99]}, "discoun: there is no 'discoun'. Did you mean 'discount'"),
        ({"discount": {"low": 2.0, "high": 3.0}}, "agent.discount: expected"),
    ],
)
def test_wrong_spaces(space, message, document, tmp_path):
    with pytest.raises(SpecError, match=message):
        tune(document, tmp_path / "search", 1, space=space)
    assert not (tmp_path / "search").exists()


@pytest.mark.parametrize(
    ("changes", "options", "message"),
    [
        ({"steps": None}, {}, "steps"),
        ({"evaluation": None}, {}, "evaluation"),
        ({"evaluation": {"policy": "best"}}, {}, "evaluation.policy: expected 'last', given 'best'"),
        ({}, {"seeds": 0}, "seeds: expected an integer >= 1, given 0"),
    ],
)
def test_wrong_arguments(changes, options, message, document, tmp_path):
    with pytest.raises(SpecError, match=message):
        tune({**document, **changes}, tmp_path / "search", 1, space=SPACE, **options)
    assert not (tmp_path / "search").exists()


def test_an_algorithm_without_a_search_space(document, tmp_path):
    with pytest.raises(SpecError, match="RandomAgent declares no search space: give one, such as"):
        tune({**document, "agent": {"type": "random"}}, tmp_path, 1)


@pytest.mark.parametrize(
    "agent", ["a2c", "bc", "c51", "dqfd", "dqn", "impala", "iql", "ppo", "qr_dqn", "rainbow", "sac", "td3"]
)
def test_what_algorithms_declare(agent, document, tmp_path, made_up):
    """Every choice is an option that the agent takes."""
    seen = made_up(lambda agent: 1.0)
    environment = "Pendulum-v1" if agent in ("sac", "td3") else "CartPole-v1"
    changes = {"steps": 0, "data": {"file": "shown.npz"}} if agent == "bc" else {}
    found = tune({**document, "agent": {"type": agent}, "environment": environment, **changes}, tmp_path, 3)
    assert seen and "complete" in {trial["state"] for trial in found.trials}


def test_without_optuna(document, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(SpecError, match=r'tune: a search needs optuna.*pip install "rlgraph-agents\[tune\]"'):
        tune(document, tmp_path, 1)
