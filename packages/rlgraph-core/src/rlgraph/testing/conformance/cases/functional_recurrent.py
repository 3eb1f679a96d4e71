"""Cases of `rlgraph.core.functional.recurrent`."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.core.functional.recurrent import gru_step, lstm_step, unroll, unroll_parts
from rlgraph.testing.conformance.cases.case import By, FunctionCase, by_function, case_of

_RNG = np.random.default_rng(0)


def _cumulated(ops: Any, xs: Any, states: Any, sequence_length: Any) -> Any:
    """`unroll` of a step that is no layer's."""
    return unroll(
        ops, lambda x_t, s: (s[0] + ops.tanh(x_t), 0.5 * s[1] + s[0]), xs, tuple(states), sequence_length
    )


def _cumulated_in_parts(ops: Any, xs: Any, states: Any, resets: Any) -> Any:
    """`unroll_parts` of a step that is no layer's."""
    return unroll_parts(
        ops, lambda x_t, s: (s[0] + ops.tanh(x_t),), xs, (states,), None, resets, every_step=True
    )


def _moved(**shapes: Any) -> dict[str, By]:
    return {name: By(_RNG.standard_normal(shape)) for name, shape in shapes.items()}


_LSTM = _moved(projected=(4, 12), c_tm1=(4, 3), h_tm1=(4, 3), recurrent_weights=(3, 12))
_GRU = _moved(projected=(4, 9), h_tm1=(4, 3), recurrent_weights=(3, 9), recurrent_biases=9)
_PEEPHOLES = _moved(peepholes=(3, 3))

FUNCTIONS: dict[str, FunctionCase] = by_function(case_of(gru_step, **_GRU), case_of(lstm_step, **_LSTM)) | {
    "lstm_step_peepholes_and_clip": case_of(lstm_step, **_LSTM, **_PEEPHOLES, cell_clip=0.8),
    "unroll": case_of(
        _cumulated,
        xs=By(_RNG.standard_normal((5, 3, 2))),
        states=(_RNG.standard_normal((3, 2)), _RNG.standard_normal((3, 2))),
        sequence_length=np.array([5, 0, 3]),
    ),
    "unroll_parts": case_of(
        _cumulated_in_parts,
        xs=By(_RNG.standard_normal((6, 3, 2))),
        states=By(_RNG.standard_normal((2, 3, 2))),
        resets=_RNG.random((6, 3)) < 0.3,
    ),
}
