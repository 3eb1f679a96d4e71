"""Cases of recurrent layers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rlgraph.components import GRU, LSTM, MultiLSTM
from rlgraph.core import Component
from rlgraph.spaces import BoolBox, FloatBox, IntBox, Space, Tuple
from rlgraph.testing.conformance.cases.case import FEATURES, STEPS, Case

SEQUENCES = FloatBox(shape=(3,), add_batch_rank=True, add_time_rank=True, time_major=True)
BATCH_MAJOR = FloatBox(shape=(3,), add_batch_rank=True, add_time_rank=True)
STATE = FloatBox(-1.0, 1.0, shape=(2,))
LSTM_STATES = Tuple(STATE, STATE, add_batch_rank=True)
MULTI_STATES = Tuple(Tuple(STATE, STATE), Tuple(STATE, STATE), add_batch_rank=True)
LENGTHS: dict[str, Space] = {"sequence_length": IntBox(0, STEPS + 1, add_batch_rank=True)}
RESETS: dict[str, Space] = {"resets": BoolBox(add_batch_rank=True, add_time_rank=True, time_major=True)}
#: Starting values that are not zero, so that an omission is seen.
RANDOM = {"type": "normal", "stddev": 0.7}


def _case(make: Callable[[], Component], states: Mapping[str, Space], inputs: Space = SEQUENCES) -> Case:
    by = ("inputs", *(name for name in states if name.startswith("initial")))
    return Case(make, {"inputs": inputs, **states}, ("call",), by=by)


def _lstm(states: Mapping[str, Space], inputs: Space = SEQUENCES, **options: Any) -> Case:
    return _case(lambda: LSTM(2, biases_spec=RANDOM, **options), states, inputs)


def _gru(states: Mapping[str, Space], inputs: Space = SEQUENCES, **options: Any) -> Case:
    return _case(lambda: GRU(2, biases_spec=RANDOM, recurrent_biases_spec=RANDOM, **options), states, inputs)


WITH_C_AND_H: dict[str, Space] = {"initial_c_and_h_states": LSTM_STATES}
WITH_H: dict[str, Space] = {"initial_h_states": STATE.with_batch_rank()}

CASES: dict[str, Case] = {
    "gru": _gru({}),
    "gru_batch_major": _gru(WITH_H, BATCH_MAJOR),
    "gru_lengths": _gru(LENGTHS | WITH_H, return_sequences=False),
    "gru_one_step": _gru(WITH_H, FEATURES),
    "gru_resets": _gru(WITH_H | LENGTHS | RESETS),
    "gru_states": _gru(WITH_H),
    "lstm": _lstm({}),
    "lstm_batch_major": _lstm(WITH_C_AND_H, BATCH_MAJOR),
    "lstm_last_output": _lstm({}, return_sequences=False),
    "lstm_lengths": _lstm(LENGTHS | WITH_C_AND_H),
    "lstm_one_step": _lstm(WITH_C_AND_H, FEATURES),
    "lstm_peepholes_and_clip": _lstm(
        WITH_C_AND_H, use_peepholes=True, peepholes_spec=RANDOM, cell_clip=0.5, forget_bias=0.0
    ),
    "lstm_resets": _lstm(WITH_C_AND_H | RESETS),
    "lstm_states": _lstm(WITH_C_AND_H),
    "multi_lstm": _case(lambda: MultiLSTM(2, 2), {}),
    "multi_lstm_skipping": _case(
        lambda: MultiLSTM(2, 2, skip_connections=[True]),
        {**LENGTHS, "initial_c_and_h_states": MULTI_STATES},
        BATCH_MAJOR,
    ),
}
