"""Cases of optimizers."""

from __future__ import annotations

from typing import Any

from rlgraph.components import (
    SGD,
    Adadelta,
    Adagrad,
    Adam,
    AdamW,
    IterativeOptimization,
    Nadam,
    Optimizer,
    RMSProp,
)
from rlgraph.core import Component, rlgraph_api
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
SCHEDULED = {**REGRESSION_SPACES, "progress": FloatBox(0.0, 1.0)}


class WatchedRegression(Regression):
    """It takes the gradients, looks at them, and steps."""

    @rlgraph_api
    def update(self, inputs: Any, targets: Any) -> Any:
        variables = self.network.variables()
        grads = self.optimizer.calculate_gradients(variables, self.get_loss(inputs, targets))
        statistics = self.optimizer.get_gradient_statistics(grads)
        self.optimizer.apply_gradients(variables, grads)
        return statistics


def _case(kind: type[Optimizer], *arguments: Any, **options: Any) -> Case:
    methods = ("update",) * 4 + ("get_loss",)
    return Case(lambda: Regression(kind(*arguments, **options), LAYERS), REGRESSION_SPACES, methods, True)


def _scheduled(kind: type[Optimizer], **options: Any) -> Case:
    return Case(
        lambda: Regression(kind(["poly", 0.05, 0.01], **options), LAYERS), SCHEDULED, ("update",) * 3, True
    )


def _watched(**options: Any) -> Case:
    return Case(
        lambda: WatchedRegression(Adam(0.05, **options), LAYERS), REGRESSION_SPACES, ("update",) * 3, True
    )


class Learner(Regression):
    """A network that learns from records."""

    @rlgraph_api
    def learn(self, records: Any) -> Any:
        return {"loss": self.update(records["inputs"], records["targets"])}


class Epochs(Component):
    """It learns from minibatches."""

    def __init__(self, **options: Any):
        self.learner = Learner(Adam(0.05), LAYERS)
        self.epochs = IterativeOptimization(num_epochs=2, num_minibatches=2, **options)
        super().__init__(self.learner, self.epochs, scope="root")

    @rlgraph_api
    def update(self, records: Any) -> Any:
        return self.epochs.run(self.learner.learn, records)


CASES: dict[str, Case] = {
    "adadelta": _case(Adadelta, epsilon=1e-3),
    "adadelta_scheduled": _scheduled(Adadelta, epsilon=1e-3),
    "adagrad_scheduled": _scheduled(Adagrad, clip_grad_norm=0.1),
    "adagrad": _case(Adagrad, 0.05, initial_accumulator_value=0.1),
    "adam": _case(Adam, 0.05),
    "adam_clipped": _case(Adam, 0.05, clip_grad_norm=0.1),
    "adam_clipped_per_variable": _watched(clip_grad_norm_per_variable=0.1),
    "adam_clipped_by_value": _watched(clip_grad_value=0.01),
    "adam_l2_penalty": _case(Adam, 0.05, l2_penalty=0.1, clip_grad_norm=0.1),
    "adam_error": _case(Adam, 0.05, non_finite="error"),
    "adam_scheduled": _scheduled(Adam, clip_grad_norm=1.0),
    "adam_skip": _case(Adam, 0.05, non_finite="skip", clip_grad_norm=0.1),
    "adam_watched": _watched(clip_grad_norm=0.1),
    "adamw": _case(AdamW, 0.05, weight_decay=0.1),
    "adamw_clipped": _case(AdamW, 0.05, weight_decay=0.1, clip_grad_norm=0.1),
    "adamw_skip": _case(AdamW, 0.05, weight_decay=0.1, non_finite="skip"),
    "adamw_scheduled": _scheduled(AdamW, weight_decay=0.1),
    "convolutional_network": Case(
        lambda: Regression(Adam(0.05), IMAGE_LAYERS),
        {**REGRESSION_SPACES, "inputs": SCREENS},
        ("update", "update"),
        True,
    ),
    "iterative_optimization": Case(
        lambda: Epochs(stop_if=("loss", 0.7)),
        {"records": Dict(REGRESSION_SPACES)},
        ("update", "update"),
        True,
    ),
    "nadam": _case(Nadam, 0.05),
    "nadam_scheduled": _scheduled(Nadam),
    "rmsprop": _case(RMSProp, 0.05, epsilon=0.1),
    "rmsprop_scheduled": _scheduled(RMSProp, epsilon=0.1, clip_grad_value=0.1),
    "rmsprop_centered": _case(
        RMSProp, 0.05, momentum=0.9, centered=True, epsilon_inside_root=True, epsilon=0.1
    ),
    "sgd": _case(SGD, 0.05),
    "sgd_error": _case(SGD, 0.05, non_finite="error"),
    "sgd_momentum": _case(SGD, 0.05, momentum=0.9),
    "sgd_nesterov": _scheduled(SGD, momentum=0.9, nesterov=True),
}
