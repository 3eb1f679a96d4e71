"""Section ``draws``: what is made of random numbers, with the reference's draws in place of the backend's own."""

from __future__ import annotations

from itertools import cycle

import numpy as np

from rlgraph.testing.conformance.cases.case import Case
from rlgraph.testing.conformance.cases.draws import DRAWING
from rlgraph.testing.conformance.checks import Subject, check_each
from rlgraph.testing.conformance.comparison import assert_same
from rlgraph.testing.conformance.components import derived, run_case, samples
from rlgraph.testing.conformance.gradients import difference_quotient
from rlgraph.testing.draws import record_draws, replay_draws


@check_each("draws", DRAWING)
def agrees(subject: Subject, case: Case) -> None:
    """What a component makes of draws, and what it leaves in its variables, is what the reference makes of them."""
    reference = subject.reference(case.make(), case.spaces, dtype="float64")
    draws = record_draws(reference)
    expected = run_case(case, reference)
    assert draws, "the case draws nothing"
    executor = subject.executor(case.make(), case.spaces, dtype="float64")
    replay_draws(executor, draws)
    assert_same(run_case(case, executor), expected, 1e-10, "(outputs, variables)")


@check_each(
    "draws",
    {f"{name}_derivatives": case for name, case in DRAWING.items() if case.by},
    capabilities=lambda _: ("gradients",),
)
def right_derivatives(subject: Subject, case: Case) -> None:
    """With the draws given, the derivatives of samples are the difference quotients of the reference."""
    inputs = samples(case, "float64")
    drawing = subject.reference(derived(case), case.spaces, dtype="float64")
    draws = record_draws(drawing)
    drawing.execute("get_number", **inputs)
    executor = subject.executor(derived(case), case.spaces, dtype="float64")
    replay_draws(executor, draws)
    given = executor.execute("derivatives", **inputs)
    reference = subject.reference(derived(case), case.spaces, dtype="float64")
    replay_draws(reference, cycle(draws))
    weights = reference.get_weights(trainable_only=True)

    def number() -> float:
        reference.set_weights(weights)
        return float(reference.execute("get_number", **inputs))

    expected = np.concatenate([difference_quotient(number, value) for value in weights.values()])
    assert_same(given, expected, 1e-5 * max(1.0, float(np.abs(expected).max())), "derivatives")
