"""A new run that begins with the checkpoint of another: changed, traceable, and nothing else touched."""

import json
import shutil
from pathlib import Path

import pytest
from doubles import raising, told

from rlgraph.core import CheckpointError, SpecError
from rlgraph.runs import RunFolderError, fork, resume, train
from rlgraph.runs.recorded_run import read_run
from rlgraph.runs.run_folder import RunFolder


def contents(folder):
    return {str(file): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


pytestmark = pytest.mark.usefixtures("undrawn")


@pytest.fixture(scope="module")
def old(acting_run, tmp_path_factory):
    """A finished run; its forks leave it as it is."""
    folder = tmp_path_factory.mktemp("runs") / "old"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RunFolder, "draw_graph", lambda self: None)
        train(acting_run(), folder)
    before = contents(folder)
    yield folder
    assert contents(folder) == before


def test_a_fork_continues_with_changed_options(old, tmp_path):
    summary = fork(old, tmp_path / "new", ["optimizer_spec.learning_rate=0.5", "discount=0.9"], steps=80)
    assert summary.training.timesteps == 80 and summary.folder == tmp_path / "new"
    config = json.loads((tmp_path / "new" / "config.json").read_text())
    assert config["forked_from"] == str(old / "checkpoints" / "step-000000060")
    assert (config["run"]["agent"]["discount"], config["run"]["steps"]) == (0.9, 80)
    (reason,) = [line for line in summary.departures if "forked" in line]
    assert reason.startswith(f"step 60: forked from {old}: ") and "agent.discount 0.99 -> 0.9" in reason
    steps, _ = read_run(tmp_path / "new").metrics["mean_return"]
    assert steps.tolist() == [20, 30, 40, 50, 60, 70, 80]  # the reports before are part of the run


def test_a_fork_is_a_run_of_its_own(old, tmp_path):
    fork(old, tmp_path / "new", ["worker.num_envs=3"], steps=80)
    assert resume(tmp_path / "new", steps=99).training.timesteps == 99
    config = json.loads((tmp_path / "new" / "config.json").read_text())
    assert config["forked_from"].startswith(str(old))
    identities = {
        json.loads((folder / "config.json").read_text())["identity"] for folder in (old, tmp_path / "new")
    }
    assert len(identities) == 2
    assert fork(tmp_path / "new", tmp_path / "new2", steps=120).earlier_run is None
    assert fork(tmp_path / "new", tmp_path / "new2", steps=120).earlier_run == tmp_path / "new2.1"


KILLED = [told(on_start=raising(RuntimeError("killed")))]


def test_a_fork_that_is_killed_at_once_goes_on(old, tmp_path):
    with pytest.raises(RuntimeError, match="killed"):
        fork(old, tmp_path / "new", steps=80, callbacks=KILLED)
    shutil.rmtree(tmp_path / "new" / "checkpoints" / "last")
    summary = resume(tmp_path / "new")
    assert summary.training.timesteps == 80 and any("forked" in line for line in summary.departures)


def test_a_fork_that_is_killed_before_its_first_checkpoint(old, tmp_path):
    """It is not trained from scratch in place of the fork."""
    with pytest.raises(RuntimeError, match="killed"):
        fork(old, tmp_path / "new", steps=80, callbacks=KILLED)
    shutil.rmtree(tmp_path / "new" / "checkpoints")
    with pytest.raises(
        RunFolderError, match=r"new is a fork of .*step-000000060 that was cut off .*fork again"
    ):
        resume(tmp_path / "new")
    assert fork(old, tmp_path / "new", steps=80).training.timesteps == 80


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (
            ["network_spec.0.units=5"],
            r"agent.network_spec\[0\].units: .*has shape .*Leave this option.*load_weights",
        ),
        (["memory_spec.capacity=70"], "agent.memory_spec.capacity: .*has shape"),
        (["seed=7"], "seed: expected 2, given 7: random numbers continue"),
        (
            ["environment.steps_to_terminal=9"],
            "environment.steps_to_terminal: expected 7, given 9: start a new run",
        ),
        (["agent={type: random}"], "agent.type: expected 'dqn', given 'random'"),
        (["discont=0.9"], "there is no 'discont'. Did you mean 'discount'"),
        (["steps=60"], "steps: expected an integer > 60, the steps that are done, given 60"),
        ([], "steps: expected an integer > 60"),
    ],
)
def test_what_cannot_change(old, tmp_path, overrides, said):
    steps = [] if not overrides or "steps" in overrides[0][:5] else ["steps=80"]
    with pytest.raises(SpecError, match=said):
        fork(old, tmp_path / "new", [*overrides, *steps])
    assert not (tmp_path / "new").exists()


def test_mistakes(old, tmp_path):
    for place in (old, old / "inside", Path(f"{old}/../old")):
        with pytest.raises(SpecError, match="fork: expected a folder outside of"):
            fork(old, place, steps=80)
    with pytest.raises(SpecError, match="nowhere is not a run folder"):
        fork(tmp_path / "nowhere", tmp_path / "new")
    shutil.copytree(old, tmp_path / "early")
    shutil.rmtree(tmp_path / "early" / "checkpoints")
    with pytest.raises(CheckpointError, match="early has no checkpoint yet to fork from"):
        fork(tmp_path / "early", tmp_path / "new", steps=80)


def test_steps_that_wait_for_another_length_are_lost(acting_run, tmp_path):
    run = acting_run(worker={"num_envs": 1})
    run["agent"]["n_step"] = 3
    train(run, tmp_path / "old")
    assert fork(tmp_path / "old", tmp_path / "new", ["n_step=5"], steps=80).training.timesteps == 80
