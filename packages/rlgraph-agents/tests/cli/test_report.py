"""What a finished run shows."""

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from rlgraph.cli.report import summary_data, summary_report
from rlgraph.runs.training import RunSummary
from rlgraph.workers import Evaluation, TrainingResult

#: The folder as the user wrote it.
RUN = Path("some") / "run"


@pytest.fixture
def console():
    return Console(file=StringIO(), width=100, force_terminal=False)


def summary(interrupted):
    training = TrainingResult(12345, 67, 890, 2.0, (1.0,), (), interrupted)
    evaluation = None if interrupted else Evaluation((100.0, 200.0), (100, 200), 5)
    return RunSummary(RUN.absolute(), training, evaluation)


def test_closing_table(console, tmp_path):
    (tmp_path / "curve.png").touch()
    (tmp_path / "checkpoints").mkdir()
    outcome = replace(summary(interrupted=False), folder=tmp_path)
    console.print(summary_report(outcome, tmp_path, ["first command", "second command"]))
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
    console.print(summary_report(summary(interrupted=True), RUN, []))
    written = console.file.getvalue()
    assert written.startswith("Interrupted")
    assert "fresh episodes" not in written


def test_what_a_resume_changed_is_said_in_plain_words(console):
    reason = "step 300: schedules follow 600 steps, they followed 300"
    console.print(summary_report(replace(summary(interrupted=False), departures=(reason,)), RUN, []))
    written = " ".join(console.file.getvalue().split())
    assert f"A run in one go, with the same document and seed, would give other results: {reason}" in written


def test_a_long_departure_is_indented_in_all_its_lines():
    narrow = Console(file=StringIO(), width=30, force_terminal=False)
    reasons = ("step 300: schedules follow 600 steps, they followed 300", "step 9: short")
    narrow.print(summary_report(replace(summary(interrupted=False), departures=reasons), RUN, []))
    told = narrow.file.getvalue().partition("other results:\n")[2]
    lines = [line.rstrip() for line in told.splitlines()]
    assert lines[:4] == [
        "  step 300: schedules follow",
        "  600 steps, they followed 300",
        "  step 9: short",
        "In some/run:",
    ]


def test_the_outcome_for_machines():
    data = summary_data(summary(interrupted=False), RUN)
    assert (data["folder"], data["interrupted"], data["updates"]) == (RUN, False, 890)
    assert data["evaluation"]["mean_return"] == 150.0
    assert data["training"]["timesteps_executed"] == 12345
    assert summary_data(summary(interrupted=True), RUN)["evaluation"] is None


def test_a_run_that_was_there_before_is_told(console):
    moved = replace(summary(interrupted=False), earlier_run=RUN.absolute().with_name("run.1"))
    console.print(summary_report(moved, RUN, []))
    assert "The earlier run in some/run was moved to some/run.1." in console.file.getvalue()
    assert summary_data(moved, RUN)["earlier_run"] == Path("some") / "run.1"
