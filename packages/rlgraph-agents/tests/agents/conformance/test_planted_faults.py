"""Faults that were planted in algorithms: each fails the row that is about it."""

from itertools import islice

import pytest
from planted_faults import FAULTS, TD3WithoutDiscount

from rlgraph.agents.conformance import AgentUnderTest, load_rows, options, run_row
from rlgraph.core import registry

pytestmark = pytest.mark.slow

BACKENDS = [name for name in registry("rlgraph.backends").names() if name != "numpy"]
BACKEND = "torch" if "torch" in BACKENDS else BACKENDS[0]
OPTIONS = {"execution_spec": {"threads": 1}} if BACKEND == "torch" else {}
ROWS = {row.id: row for row in load_rows()}


@pytest.mark.parametrize("name", FAULTS)
def test_it_is_caught(name, monkeypatch):
    kind, row = FAULTS[name]
    if kind is not TD3WithoutDiscount:  # one without an effect in any situation is enough
        everywhere = options._situations
        monkeypatch.setattr(options, "_situations", lambda subject: islice(everywhere(subject), 1))
    outcome = run_row(ROWS[row], AgentUnderTest(kind, BACKEND, OPTIONS))
    assert outcome.status == "failed", outcome
    # An error of the fault itself, such as one of the build, is not what the row found.
    assert "\nAssertionError: " in outcome.details, outcome.details
