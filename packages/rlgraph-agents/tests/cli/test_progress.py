"""The live line and the closing table."""

from dataclasses import replace
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from rlgraph.cli.progress import LiveProgress
from rlgraph.cli.report import summary_data, summary_report
from rlgraph.runs.training import RunSummary
from rlgraph.workers import Evaluation, TrainingResult


@pytest.fixture
def console():
    return Console(file=StringIO(), width=100, force_terminal=False)


def test_progress(console):
    progress, worker = LiveProgress(console), SimpleNamespace(timesteps=500)
    progress.on_start(worker, 2000)
    worker.timesteps = 1500
    progress.on_report(
        worker, {"timesteps": 1500.0, "mean_return": 21.25, "steps_per_second": 4321.0, "epsilon": 0.5}
    )
    progress.on_evaluation(worker, Evaluation((10.0, 20.0), (10, 20), 1500))
    progress.on_end(worker)
    written = console.file.getvalue()
    assert "evaluation at step 1,500: mean return 15.0 over 2 episodes" in written
    # 1000 of the 2000 steps of this run; what is not known yet is shown as such.
    assert "1,000 / 2,000" in written
    assert "return   21.2" in written
    assert "4,321 steps/s" in written
    assert "loss nan" in written
    assert "epsilon 0.50" in written


def test_an_evaluation_does_not_end_the_training(console):
    progress, worker = LiveProgress(console), SimpleNamespace(timesteps=0)
    progress.on_start(worker, 10)
    assert progress.on_evaluation(worker, Evaluation((1.0,), (1,), 1)) is None
    progress.on_end(worker)


def summary(interrupted):
    training = TrainingResult(12345, 67, 890, 2.0, (1.0,), (), interrupted)
    evaluation = None if interrupted else Evaluation((100.0, 200.0), (100, 200), 5)
    return RunSummary(Path("some") / "run", training, evaluation)


def test_closing_table(console, tmp_path):
    (tmp_path / "curve.png").touch()
    (tmp_path / "checkpoints").mkdir()
    outcome = replace(summary(interrupted=False), folder=tmp_path)
    console.print(summary_report(outcome, ["first command", "second command"]))
    written = console.file.getvalue()
    assert written.startswith("Done")
    for text in (
        "150.0 +- 50.0 over 2 fresh episodes",
        "12,345 steps, 67 episodes, 890 updates",
        "6,172 steps/s (2.0 s)",
        "curve.png    learning curve",
        "checkpoints  best and last checkpoint",
        "first command",
        "second command",
    ):
        assert text in written


def test_closing_table_of_an_interrupted_run(console):
    console.print(summary_report(summary(interrupted=True), []))
    written = console.file.getvalue()
    assert written.startswith("Interrupted")
    assert "fresh episodes" not in written


def test_the_outcome_for_machines():
    data = summary_data(summary(interrupted=False))
    assert (data["folder"], data["interrupted"], data["updates"]) == (Path("some") / "run", False, 890)
    assert data["evaluation"]["mean_return"] == 150.0
    assert data["training"]["timesteps_executed"] == 12345
    assert summary_data(summary(interrupted=True))["evaluation"] is None


def test_what_takes_its_time_before_and_after_training(console):
    console = Console(file=StringIO(), width=100, force_terminal=True)
    with LiveProgress(console) as progress:
        worker = SimpleNamespace(timesteps=0)
        progress.on_start(worker, 10)
        progress.on_end(worker)
    written = console.file.getvalue()
    assert written.index("building and compiling the agent") < written.index("/ 10")
    assert written.index("/ 10") < written.index("evaluating the best policy")
