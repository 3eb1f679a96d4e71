"""The table of agents on the first page."""

import pytest

pytest.importorskip("sphinx")
from agent_table import ACTIONS, FEATURES, agents_markdown

import can_i_use


def test_the_table_says_what_agents_take() -> None:
    table, _, executors = agents_markdown().strip().partition("\n\n")
    head, _, *rows = table.splitlines()
    assert head == "| agent | discrete | several discrete | continuous | unbounded | mixed | masks | LSTM |"
    assert len(rows) == len(can_i_use.agents())
    assert "| {doc}`DQN <agents/dqn>` | ✓ | ✓ |  |  |  | ✓ | ✓ |" in rows
    assert "| {doc}`TD3 and DDPG <agents/td3>` |  |  | ✓ |  |  |  | ✓ |" in rows
    takes = dict(line.removeprefix("* Executor ").split(": ") for line in executors.splitlines())
    assert "`ppo`" in takes["`sync_batch`"] and "`bc`" not in takes["`sync_batch`"]
    assert "`td3`" in takes["`apex`"] and "`ppo`" not in takes["`impala`"]


def test_its_columns_are_rows_of_can_i_use() -> None:
    assert {kind for kinds in ACTIONS.values() for kind in kinds} <= can_i_use.ACTIONS.keys()
    assert set(FEATURES.values()) <= can_i_use.FEATURES.keys()
