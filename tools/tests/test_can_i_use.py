"""The table "Can I use ...?" is up to date, and true of the largest combinations."""

from __future__ import annotations

import pytest
from gymnasium.vector import AutoresetMode

from can_i_use import ACTIONS, FEATURES, PAGE, STATES, outcome, page, refusal

ALL = tuple(FEATURES)


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run tools/can_i_use.py --write"


@pytest.mark.parametrize(
    ("agent", "states", "actions", "mode"),
    [
        (
            "ppo",
            "a `Dict` or `Tuple` of vectors and categories",
            "a `Dict` or `Tuple` of categories and floats",
            AutoresetMode.NEXT_STEP,
        ),
        ("dqn", "a vector", "several categories (MultiDiscrete)", AutoresetMode.SAME_STEP),
        ("sac", "a vector", "one category", AutoresetMode.DISABLED),
    ],
)
def test_everything_at_once_trains(agent: str, states: str, actions: str, mode: AutoresetMode) -> None:
    assert outcome(agent, states, actions, ALL, "torch", timesteps=40, mode=mode) == "trained"


def test_what_learns_from_data_trains() -> None:
    features = tuple(name for name in ALL if name not in ("recurrent layers", "scaled rewards"))
    assert outcome("bc", "a vector", "one category", features, "torch", timesteps=40) == "trained"


def test_what_the_table_refuses_is_refused() -> None:
    assert outcome("dqn", "a vector", "floats with both bounds", (), "torch") == "refused"
    assert outcome("random", "a vector", "one category", ("recurrent layers",), "torch") == "refused"
    alone, beside = (
        refusal("rainbow", STATES["a vector"], ACTIONS["one category"], ("recurrent layers",), beside)
        for beside in (False, True)
    )
    assert "expected 'sequence_replay'" in alone and not beside
    assert refusal("sac", STATES["a vector"], ACTIONS["a bool"]).startswith("action_space: expected floats")
