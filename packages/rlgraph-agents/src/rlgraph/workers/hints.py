"""A hint for runs in which all returns are equal."""

from __future__ import annotations

from collections.abc import Sequence

#: Episodes, and share of a run, before a hint is given: rare rewards take a while to be found.
EPISODES, SHARE = 50, 0.1


def constant_returns(returns: Sequence[float]) -> str:
    """A hint if all `returns` since the beginning of training are equal; empty otherwise."""
    if len(returns) < EPISODES or any(each != returns[0] for each in returns):
        return ""
    return (
        f"all {len(returns)} episodes since the beginning of training have the return {returns[0]:g}, so there is "
        "nothing to learn from yet: check the rewards of the environment, or make the agent explore more"
    )
