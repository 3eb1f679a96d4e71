"""`python -m rlgraph.testing --agent NAME --explain ROW`."""

import pytest

from rlgraph.agents.conformance import load_rows
from rlgraph.agents.conformance.explanations import EXPLANATIONS
from rlgraph.testing.__main__ import main

EXPECTED = """values/discounted_rewards
In a chain of three steps with known rewards, cut or not, values come within 0.05 of the discounted sums.
Task: A chain of three states with rewards 0.3, 1.5 and 0.8, and discount 0.5, half of it cut: up to 600 updates.
Tolerance: 0.05.
Usual causes of a failure: the discount is missing or another; rewards are shifted; targets do not move.
Options of TD3Agent, unless the row gives others: network_spec="""


def test_every_row_is_explained():
    assert EXPLANATIONS.keys() == {row.id for row in load_rows()}


def test_a_row_is_explained(capsys):
    assert main(["--agent", "td3", "--backend", "numpy", "--explain", "values/discounted_rewards"]) == 0
    assert capsys.readouterr().out.startswith(EXPECTED)


def test_an_unknown_row(capsys):
    assert main(["--agent", "td3", "--backend", "numpy", "--explain", "values/nothing"]) == 1
    assert "there is no check values/nothing" in capsys.readouterr().err


def test_without_an_agent(capsys):
    with pytest.raises(SystemExit):
        main(["--backend", "numpy", "--explain", "values/discounted_rewards"])
    assert "expected --agent beside --explain" in capsys.readouterr().err
