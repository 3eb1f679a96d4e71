"""A short run of ``tools/faults/stress_memory.py``, and that it finds what it looks for."""

from typing import Any

import pytest
from stress_memory import MEMORIES, Stress

from rlgraph.core.graph.plan import HostStep
from rlgraph.core.runtime.guarded_storage import GuardedStorage


@pytest.mark.slow
@pytest.mark.parametrize("name", MEMORIES)
def test_nothing_is_torn_or_lost(name: str) -> None:
    result = Stress(MEMORIES[name](), inserting=4, drawing=2).run(0.3)
    assert result.faults == []
    assert result.inserted > 0
    assert result.drawn > 0


def test_it_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the lock of host functions something is wrong soon."""
    guard = GuardedStorage.guard

    def without(self: GuardedStorage, step: Any, storage: Any) -> Any:
        return None if isinstance(step, HostStep) else guard(self, step, storage)

    monkeypatch.setattr(GuardedStorage, "guard", without)
    assert any(Stress(MEMORIES["replay_memory"](), 4, 2).run(1.0).faults for _ in range(10))
