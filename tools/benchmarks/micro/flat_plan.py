"""What a plan itself costs: an emitted segment on PyTorch against the same calls of torch written one below the other.

It is the segment of greedy acting: a dueling policy of six graph functions, batch 1. Both are Python functions of one
NumPy array that return one; neither checks its input. The yardstick has no components and calls no function of its own.
It makes the calls of torch that the segment makes, on the same tensors: it switches gradients off in a try/finally,
makes a tensor of the array, computes, and makes an array of the result. What is left is what emission adds: a call of a
Python function per graph function, and the look at whether the array may be written.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from measure import DISTRIBUTIONS, Row, arguments, compared, interleaved, report
from subject import make_agent, names, random_states

#: Microseconds that the emitted segment may take longer.
TARGET = 0.5


def main() -> None:
    options = arguments(__doc__, backends=()).parse_args()
    executor = make_agent("torch", acting="backend").executor
    plan = executor.plan("get_greedy_actions")
    (segment,) = plan.segments
    variables = executor.built.variables
    functions = {
        "by hand": straight_line(*(executor.storage.handle(variables[name]) for name in names("dqn/policy"))),
        "emitted segment": executor.backend.lower(plan, segment, executor.storage),
        "program, with the checks of its input": executor.program("get_greedy_actions"),
    }
    states = random_states(1)
    subjects = {name: partial(function, states) for name, function in functions.items()}
    actions = [np.ravel(subject()) for subject in subjects.values()]
    assert all(np.array_equal(a, actions[0]) for a in actions), "they do not choose the same actions"
    figures = interleaved(subjects)
    rows = compared(figures, "by hand", "us", 1e6)
    added = figures["emitted segment"].beyond(figures["by hand"])
    rows.insert(2, Row("what emission adds", added.times(1e6), "us", target=TARGET))
    report("flat plan, torch", rows, options, DISTRIBUTIONS["torch"])


def straight_line(
    w0: Any, b0: Any, w1: Any, b1: Any, w_value: Any, b_value: Any, w_advantages: Any, b_advantages: Any
) -> Callable[[Any], tuple[Any]]:
    """``f(states [B, 4]) -> (greedy actions [B],)``."""
    from torch import add, addmm, argmax, from_numpy, is_grad_enabled, mean, relu_

    set_grad_enabled = torch._C._set_grad_enabled

    def act(states: Any) -> tuple[Any]:
        was_recording = is_grad_enabled()
        set_grad_enabled(False)
        try:
            states = from_numpy(states)
            features = relu_(addmm(b0, states, w0))
            features = relu_(addmm(b1, features, w1))
            value = addmm(b_value, features, w_value)
            advantages = addmm(b_advantages, features, w_advantages)
            q_values = add(value, advantages).sub_(mean(advantages, -1, True))
            actions = argmax(q_values, axis=1)
            return (actions.numpy(),)
        finally:
            set_grad_enabled(was_recording)

    return act
