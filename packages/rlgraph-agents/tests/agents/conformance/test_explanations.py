"""`python -m rlgraph.testing --agent NAME --explain ROW`."""

import pytest

from rlgraph.agents.conformance import load_rows
from rlgraph.agents.conformance.explanations import EXPLANATIONS
from rlgraph.testing.__main__ import main

EXPECTED = """updates/schedules
A learning rate that falls to 0 lets it learn at the start of training, and changes nothing at its end.
Task: `Agent.update` on batches of 16 steps in random states. One at progress 0 and one at 1, with a learning rate \
that falls from 0.01 to 0.
Tolerance: no bit differs at 1; any does at 0.
Usual causes of a failure: progress is not handed to the optimizer.
Options of TD3Agent, unless the row gives others: network_spec="""


def test_every_row_is_explained():
    assert EXPLANATIONS.keys() == {row.id for row in load_rows()}


def test_a_row_is_explained(capsys):
    assert main(["--agent", "td3", "--backend", "numpy", "--explain", "updates/schedules"]) == 0
    assert capsys.readouterr().out.startswith(EXPECTED)


def test_an_unknown_row(capsys):
    assert main(["--agent", "td3", "--backend", "numpy", "--explain", "values/nothing"]) == 1
    assert "there is no check values/nothing" in capsys.readouterr().err


def test_without_an_agent(capsys):
    with pytest.raises(SystemExit):
        main(["--backend", "numpy", "--explain", "values/discounted_rewards"])
    assert "expected --agent beside --explain" in capsys.readouterr().err
