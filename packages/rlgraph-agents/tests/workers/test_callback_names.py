"""Names of the methods of callbacks."""

import pytest

from rlgraph.core import SpecError
from rlgraph.workers import Callback


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("on_stpe", r"Mine.on_stpe: no such event. Did you mean 'on_step'\?"),
        ("_on_step", r"Mine._on_step: no such event. Did you mean 'on_step'\?"),
        ("on_rollout_end", r"Mine.on_rollout_end: no such event."),
    ],
)
def test_a_method_that_nobody_would_call_is_refused(name, message):
    with pytest.raises(SpecError, match=message):
        type("Mine", (Callback,), {name: lambda self, worker: None})


def test_other_methods_are_free():
    mine = type("Mine", (Callback,), {"on_step": lambda self, worker, step: True, "once": 1, "_step": 2})
    assert issubclass(mine, Callback)
