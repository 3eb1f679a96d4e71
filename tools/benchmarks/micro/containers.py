"""Containers: nested dicts of states in, nested dicts of greedy actions out; RLgraph's program against code by hand.

Every leaf of the states is scaled by a factor of its own (`split_ops` with the key), all are put side by side
(`flatten_ops`), a dense layer and three heads follow, and the actions come back in a dict of their own structure. Both
sides take and return NumPy arrays. The code by hand takes the dict apart and puts the other together without looking at
anything, on tensors that need no gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import torch
from measure import DISTRIBUTIONS, arguments, compared, interleaved, report

from rlgraph.components import Dense
from rlgraph.core import Component, GraphExecutor, graph_fn, rlgraph_api
from rlgraph.spaces import Dict, FloatBox

TARGET = 1.2
BATCH_SIZES = (1, 64)
UNITS = 64
SCALES = {"a/b": 0.5, "a/c": 2.0, "d": 0.1}
#: Head -> number of actions.
HEADS = {"grip": 2, "move_x": 3, "move_y": 5}
STATES = Dict(
    a=Dict(b=FloatBox(shape=(4,)), c=FloatBox(shape=(3,))), d=FloatBox(shape=(5,)), add_batch_rank=True
)


def main() -> None:
    options = arguments(__doc__, backends=()).parse_args()
    executor = GraphExecutor(
        Policy(), {"states": STATES}, backend="torch", execution_spec={"threads": 1, "seed": 1}
    )
    functions = {"by hand": make_by_hand(executor.get_weights()), "rlgraph": executor.program("get_actions")}
    rows = []
    for size in BATCH_SIZES:
        states = STATES.sample(size, rng=np.random.default_rng(0))
        subjects = {name: partial(function, states) for name, function in functions.items()}
        check_equal(*(subject() for subject in subjects.values()))
        rows += compared(interleaved(subjects), "by hand", "us", 1e6, TARGET, f"batch {size}, ")
    report("containers, torch", rows, options, DISTRIBUTIONS["torch"])


class Policy(Component):
    """Scaling, a shared layer, three heads."""

    def __init__(self) -> None:
        self.shared = Dense(UNITS, "relu", scope="shared")
        self.heads = {name: Dense(number, scope=name) for name, number in HEADS.items()}
        super().__init__(self.shared, *self.heads.values(), scope="policy")

    @rlgraph_api
    def get_actions(self, states: Any) -> Any:
        features = self.shared.call(self._concatenate(self._scale(states)))
        best = {name: self._argmax(head.call(features)) for name, head in self.heads.items()}
        return {"move": {"x": best["move_x"], "y": best["move_y"]}, "grip": best["grip"]}

    @graph_fn(flatten_ops=True, split_ops=True, add_auto_key_as_first_param=True)
    def _scale(self, ops: Any, key: str, states: Any) -> Any:
        return states * SCALES[key]

    @graph_fn(flatten_ops=True)
    def _concatenate(self, ops: Any, states: Any) -> Any:
        return ops.concat(list(states.values()), axis=1)

    @graph_fn
    def _argmax(self, ops: Any, values: Any) -> Any:
        return ops.argmax(values, axis=1)


def make_by_hand(weights: Mapping[str, Any]) -> Callable[[Any], Any]:
    """``f(states) -> actions`` on the same weights."""
    addmm, cat, from_numpy = torch.addmm, torch.cat, torch.from_numpy

    def layer(name: str) -> list[Any]:
        return [torch.from_numpy(weights[f"{name}/{kind}"].copy()) for kind in ("weights", "biases")]

    w, b = layer("shared")
    (w_grip, b_grip), (w_x, b_x), (w_y, b_y) = map(layer, HEADS)
    scale_b, scale_c, scale_d = SCALES.values()

    def act(states: Any) -> Any:
        a = states["a"]
        parts = from_numpy(a["b"]) * scale_b, from_numpy(a["c"]) * scale_c, from_numpy(states["d"]) * scale_d
        features = addmm(b, cat(parts, 1), w).relu_()
        return {
            "move": {
                "x": addmm(b_x, features, w_x).argmax(1).numpy(),
                "y": addmm(b_y, features, w_y).argmax(1).numpy(),
            },
            "grip": addmm(b_grip, features, w_grip).argmax(1).numpy(),
        }

    return act


def check_equal(first: Any, second: Any) -> None:
    """Both must be the same actions.

    Raises:
        AssertionError: they are not.
    """
    for path in (("grip",), ("move", "x"), ("move", "y")):
        values = [first, second]
        for key in path:
            values = [value[key] for value in values]
        np.testing.assert_array_equal(*values, err_msg="/".join(path))
