"""Section ``checkpoints``: every shipped component goes on from a checkpoint."""

from __future__ import annotations

import tempfile

from rlgraph.testing.conformance.cases import CASES, Case
from rlgraph.testing.conformance.checks import Subject, check_each
from rlgraph.testing.conformance.comparison import assert_same
from rlgraph.testing.conformance.components import run_case


@check_each("checkpoints", CASES, capabilities=lambda case: ("gradients",) if case.trains else ())
def goes_on(subject: Subject, case: Case) -> None:
    """Another executor goes on where the checkpoint was written; the reference has the same variables."""
    executor = subject.executor(case.make(), case.spaces, dtype="float64")
    run_case(case, executor)
    other = subject.executor(case.make(), case.spaces, dtype="float64", seed=1)
    reference = subject.reference(case.make(), case.spaces, dtype="float64", seed=1)
    with tempfile.TemporaryDirectory() as folder:
        executor.save(f"{folder}/checkpoint")
        for each in (other, reference):
            each.load(f"{folder}/checkpoint")
            assert_same(each.get_weights(), executor.get_weights(), path=f"variables on {each.backend.name}")
    assert_same(run_case(case, other), run_case(case, executor), 1e-12, "(outputs, variables) afterwards")
