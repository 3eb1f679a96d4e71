"""The recurrent A2C that is measured: 128 steps of 16 environments through LSTMs of 64 units."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.agents import Agent
from rlgraph.spaces import FloatBox, IntBox

STEPS, ENVIRONMENTS, UNITS = 128, 16, 64
DISCOUNT, VALUE_WEIGHT, ENTROPY_WEIGHT = 0.99, 0.5, 0.01
LEARNING_RATE, EPSILON = 3e-4, 1e-5
#: The variables that learn.
NAMES = [
    *(
        f"a2c/{part}/network/{name}"
        for part in ("policy", "value-function")
        for name in (
            *("dense-0/weights", "dense-0/biases"),
            *("lstm-1/weights", "lstm-1/recurrent_weights", "lstm-1/biases"),
        )
    ),
    *(f"a2c/policy/action-adapter/action-layer/{kind}" for kind in ("weights", "biases")),
    *(f"a2c/value-function/value-layer/{kind}" for kind in ("weights", "biases")),
]


def make_executor(backend: str) -> Any:
    """That of the agent; its API method ``update(records, beginnings)`` makes one step of the optimizer."""
    spec = {
        "type": "a2c",
        "rollout_length": STEPS,
        "discount": DISCOUNT,
        "weight_vf": VALUE_WEIGHT,
        "weight_entropy": ENTROPY_WEIGHT,
        "network_spec": [
            {"type": "dense", "units": UNITS, "activation": "tanh"},
            {"type": "lstm", "units": UNITS},
        ],
        "optimizer_spec": {"type": "adam", "learning_rate": LEARNING_RATE, "epsilon": EPSILON},
    }
    spaces = {"state_space": FloatBox(shape=(4,)), "action_space": IntBox(2)}
    return Agent.from_spec(spec, backend=backend, seed=1, execution_spec={"threads": 1}, **spaces).executor


def random_batch(seed: int) -> dict[str, Any]:
    """A rollout in which an episode has 50 steps in the mean."""
    rng, shape = np.random.default_rng(seed), (STEPS, ENVIRONMENTS)

    def floats(*sizes: int) -> Any:
        return rng.normal(size=sizes).astype(np.float32)

    terminals, states, reached = rng.random(shape) < 0.02, floats(*shape, 4), floats(*shape, 4)
    goes_on = ~terminals[:-1]
    reached[:-1][goes_on] = states[1:][goes_on]
    records = {
        "states": states,
        "next_states": reached,
        "actions": rng.integers(0, 2, shape),
        "rewards": floats(*shape),
        "terminals": terminals,
        "ends": terminals,
        "weights": np.ones(shape, np.float32),
        "begins": np.concatenate([np.zeros_like(terminals[:1]), terminals[:-1]]),
    }
    beginnings = {
        part: {
            "lstm_1": (floats(1, ENVIRONMENTS, UNITS), floats(1, ENVIRONMENTS, UNITS))
        }  # of one sequence each
        for part in ("policy", "value_function")
    }
    return {"records": records, "beginnings": beginnings}
