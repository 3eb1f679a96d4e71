"""Cases of optimizers."""

from __future__ import annotations

from typing import Any

from rlgraph.components import Adam, IterativeOptimization
from rlgraph.core import rlgraph_api
from rlgraph.spaces import Dict, FloatBox
from rlgraph.testing.conformance.cases.case import SCREENS, Case
from rlgraph.testing.conformance.gradients import LAYERS, REGRESSION_SPACES, Regression

IMAGE_LAYERS: list[dict[str, Any]] = [
    {"type": "divide", "divisor": 255},
    {"type": "conv2d", "filters": 3, "kernel_size": 2, "activation": "relu", "padding": "same"},
    {"type": "conv2d", "filters": 2, "kernel_size": 3, "activation": "tanh"},
    {"type": "reshape", "flatten": True},
    {"type": "dense", "units": 2},
]


def _adam(**options: Any) -> Case:
    methods = ("update",) * 4 + ("get_loss",)
    return Case(lambda: Regression(Adam(0.05, **options), LAYERS), REGRESSION_SPACES, methods, True)


class Learner(Regression):
    """A network that learns from records."""

    @rlgraph_api
    def learn(self, records: Any) -> Any:
        return {"loss": self.update(records["inputs"], records["targets"])}


CASES: dict[str, Case] = {
    "iterative_optimization": Case(
        lambda: IterativeOptimization(
            Learner(Adam(0.05), LAYERS), 2, 2, stop_if=("loss", 0.7), api_method_name="learn"
        ),
        {"records": Dict(REGRESSION_SPACES)},
        ("update", "update"),
        True,
    ),
    "adam": _adam(),
    "adam_clipped": _adam(clip_grad_norm=0.1),
    "adam_scheduled": Case(
        lambda: Regression(Adam(["poly", 0.05, 0.01], clip_grad_norm=1.0), LAYERS),
        {**REGRESSION_SPACES, "time_percentage": FloatBox(0.0, 1.0)},
        ("update",) * 3,
        True,
    ),
    "convolutional_network": Case(
        lambda: Regression(Adam(0.05), IMAGE_LAYERS),
        {**REGRESSION_SPACES, "inputs": SCREENS},
        ("update", "update"),
        True,
    ),
}
