"""The table "Can I use ...?" is the present one, and true of combinations that have most in them."""

from __future__ import annotations

import pytest

from can_i_use import ACTIONS, FEATURES, PAGE, STATES, outcome, page, refusal

ALL = tuple(FEATURES)


def test_the_page_is_the_present_one() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run tools/can_i_use.py --write"


@pytest.mark.parametrize(
    ("agent", "states", "actions"),
    [
        (
            "ppo",
            "a `Dict` or `Tuple` of vectors and categories",
            "a `Dict` or `Tuple` of categories and floats",
        ),
        ("dqn", "a vector", "several categories (MultiDiscrete)"),
        ("sac", "a vector", "one category"),
    ],
)
def test_everything_at_once_trains(agent: str, states: str, actions: str) -> None:
    assert outcome(agent, states, actions, ALL, "torch", timesteps=40) == "trained"


def test_what_the_table_refuses_is_refused() -> None:
    assert outcome("dqn", "a vector", "floats with both bounds", (), "torch") == "refused"
    assert outcome("random", "a vector", "one category", ("recurrent layers",), "torch") == "refused"
    assert refusal("sac", STATES["a vector"], ACTIONS["a bool"]).startswith("action_space: expected floats")
