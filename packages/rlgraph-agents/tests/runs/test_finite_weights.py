"""Weights that are not finite reach no checkpoint that a run is resumed from or evaluated with."""

import json
import shutil

import numpy as np
import pytest
from doubles import told

from rlgraph.core import CheckpointError, NumericalError
from rlgraph.runs import resume, train
from rlgraph.runs.loading import load_agent

pytestmark = pytest.mark.usefixtures("undrawn")


def poison(timesteps, value=np.nan, then=None):
    """A callback that puts one NaN into one variable after a report, as an update with ``non_finite: ignore`` does."""

    def on_report(worker, metrics):
        if metrics["timesteps"] == timesteps:
            name, weights = next(iter(worker.agent.get_weights().items()))
            weights.flat[-1] = value
            worker.agent.set_weights({name: weights})
            if then is not None:
                raise then

    return told(on_report=on_report)


def checkpoints(folder):
    return sorted(path.name for path in (folder / "checkpoints").iterdir())


@pytest.fixture
def run(acting_run):
    def run(folder, callback, **changes):
        with pytest.raises(NumericalError) as caught:
            train(acting_run(**changes), folder, [callback])
        assert json.loads((folder / "result.json").read_text())["outcome"] == "failed"
        return str(caught.value)

    return run


@pytest.mark.parametrize(
    ("timesteps", "value", "changes", "name", "step", "kept"),
    [
        (30, np.nan, {"checkpoints": {"interval": None}}, "best", 48, ["best", "failed"]),
        (30, -np.inf, {}, "step-000000040", 40, ["best", "failed", "step-000000020"]),
        (60, np.inf, {"evaluation": {"interval": None}}, "step-000000060", 60,
         ["failed", "step-000000020", "step-000000040"]),
        (60, np.nan, {"checkpoints": {"interval": None}, "evaluation": {"interval": None}}, "last", 60, ["failed"]),
    ],
    ids=["best", "step", "step at the end", "last"],
)  # fmt: skip
def test_no_checkpoint_of_a_run_takes_them(run, tmp_path, timesteps, value, changes, name, step, kept):
    message = run(tmp_path, poison(timesteps, value), **changes)
    assert (
        f"checkpoint {name} is not written at step {step}: the variable dqn/optimizer/first_moments/"
        in message
    )
    assert checkpoints(tmp_path) == kept


def test_after_another_error_they_are_kept_as_failed(acting_run, tmp_path):
    with pytest.raises(RuntimeError, match="something else"):
        train(acting_run(), tmp_path, [poison(30, then=RuntimeError("something else"))])
    assert checkpoints(tmp_path) == ["best", "failed", "step-000000020"]


def test_after_ctrl_c_they_are_kept_as_failed(run, tmp_path):
    run(tmp_path, poison(30, then=KeyboardInterrupt()))
    assert checkpoints(tmp_path) == ["best", "failed", "step-000000020"]


def test_a_run_is_resumed_from_its_last_good_checkpoint(run, tmp_path):
    run(tmp_path, poison(30))
    assert resume(tmp_path).training.timesteps == 60


def test_failed_is_evaluated_only_by_its_name(run, tmp_path):
    run(tmp_path, poison(30))
    shutil.rmtree(tmp_path / "checkpoints" / "best")
    with pytest.warns(UserWarning, match="failed is where the run failed"):
        _, _, source = load_agent(tmp_path)
    assert source.name == "step-000000020"
    _, _, source = load_agent(tmp_path, checkpoint="failed")
    assert source.name == "failed"


def test_a_run_that_has_nothing_but_failed(run, tmp_path):
    run(tmp_path, poison(10), evaluation={"interval": None})
    assert checkpoints(tmp_path) == ["failed"]
    for read in (resume, load_agent):
        with pytest.raises(CheckpointError, match="no .*checkpoint.*\n.*failed is where the run failed"):
            read(tmp_path)


def test_checkpoints_that_hold_them_already_are_passed_over(acting_run, tmp_path):
    """As version 0.1 wrote them."""
    train(acting_run(), tmp_path)
    agent, _, _ = load_agent(tmp_path)
    name, weights = next(iter(agent.get_weights().items()))
    weights.flat[0] = np.inf
    agent.set_weights({name: weights})
    agent.store_model(tmp_path / "checkpoints" / "best")
    with pytest.warns(
        UserWarning, match=f"best has values that are not finite in the variable {name}; skipped"
    ):
        _, _, source = load_agent(tmp_path)
    assert source.name == "last"
    with pytest.raises(CheckpointError, match=f"best has values that are not finite in the variable {name}"):
        load_agent(tmp_path, checkpoint="best")
