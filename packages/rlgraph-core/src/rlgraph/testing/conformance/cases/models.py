"""Cases of models that are learned beside policies and values."""

from __future__ import annotations

from typing import Any

from rlgraph.components import (
    IntrinsicCuriosityModule,
    MultiInputStreamNeuralNetwork,
    RandomNetworkDistillation,
    SupervisedModel,
    SupervisedPredictor,
)
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, from_spec
from rlgraph.testing.conformance.cases.case import FEATURES, PARTS, STEPS, VALUES, Case
from rlgraph.testing.conformance.cases.policies import EVERYTHING
from rlgraph.testing.conformance.gradients import LAYERS

CLASSES = IntBox(4, add_batch_rank=True)
INPUTS = {"inputs": FEATURES}
SGD: dict[str, Any] = {"type": "sgd", "learning_rate": 0.05}
UPDATES = ("update", "update", "get_loss")


def _predictor(label_space: Any = None) -> SupervisedPredictor:
    return SupervisedPredictor(LAYERS, label_space)


def _curiosity(action_space: Any) -> IntrinsicCuriosityModule:
    return IntrinsicCuriosityModule(LAYERS, action_space, 3, LAYERS, LAYERS, optimizer_spec=SGD)


def _transitions(actions: Any, time: bool = False) -> dict[str, Any]:
    spaces = {"states": FEATURES, "actions": from_spec(actions).with_batch_rank(), "next_states": FEATURES}
    return {name: space.with_time_rank(STEPS) if time else space for name, space in spaces.items()}


def _distillation(states: Any = FEATURES, network: Any = LAYERS, time: bool = False) -> Case:
    spaces = {"states": states, "observations": states, "weights": BoolBox(add_batch_rank=True)}
    return Case(
        lambda: RandomNetworkDistillation(network, 3, optimizer_spec=SGD),
        {name: space.with_time_rank(STEPS) if time else space for name, space in spaces.items()},
        ("standardize", "update", "standardize", "get_loss", "get_intrinsic_rewards"),
        trains=True,
    )


CASES: dict[str, Case] = {
    "intrinsic_curiosity_module": Case(
        lambda: _curiosity(IntBox(4)),
        _transitions(IntBox(4)),
        ("update", "update", "predict_actions", "get_intrinsic_rewards"),
        True,
    ),
    "intrinsic_curiosity_module_parts": Case(
        lambda: _curiosity(EVERYTHING), _transitions(EVERYTHING), ("get_features", "predict_actions")
    ),
    "intrinsic_curiosity_module_in_time": Case(
        lambda: _curiosity(PARTS),
        _transitions(PARTS, time=True),
        ("get_intrinsic_rewards", "predict_actions"),
    ),
    "intrinsic_curiosity_module_bounded_actions": Case(
        lambda: _curiosity(FloatBox(-1.0, 1.0, shape=(2,))),
        _transitions(FloatBox(-1.0, 1.0, shape=(2,))),
        ("get_loss", "update", "get_loss"),
        True,
    ),
    "random_network_distillation": _distillation(),
    "random_network_distillation_nested": _distillation(
        Dict(past=FEATURES, present=VALUES, add_batch_rank=True),
        MultiInputStreamNeuralNetwork({"past": LAYERS, "present": None}, LAYERS),
    ),
    "random_network_distillation_in_time": _distillation(time=True),
    "supervised_model": Case(
        lambda: SupervisedModel(_predictor(IntBox(4)), optimizer_spec=SGD),
        {**INPUTS, "labels": CLASSES},
        (*UPDATES, "predict"),
        True,
    ),
    "supervised_model_parts": Case(
        lambda: SupervisedModel(_predictor(PARTS), optimizer_spec=SGD),
        {**INPUTS, "labels": PARTS.with_batch_rank()},
        UPDATES,
        True,
    ),
    "supervised_model_in_time": Case(
        lambda: SupervisedModel(_predictor(IntBox(4)), "categorical_cross_entropy_loss", SGD),
        {
            "inputs": FEATURES.with_time_rank(STEPS),
            "labels": CLASSES.with_time_rank(STEPS),
            "sequence_length": IntBox(1, STEPS + 1, add_batch_rank=True),
        },
        (*UPDATES, "predict"),
        True,
    ),
    "supervised_model_distances": Case(
        lambda: SupervisedModel(_predictor(), {"type": "euclidian_distance_loss"}, SGD),
        {**INPUTS, "labels": FloatBox(shape=(2,), add_batch_rank=True)},
        UPDATES,
        True,
    ),
    "supervised_predictor": Case(lambda: _predictor(EVERYTHING), INPUTS, ("get_distribution_parameters",)),
    "supervised_predictor_in_time": Case(
        lambda: _predictor(IntBox(4)),
        {"inputs": FEATURES.with_time_rank(STEPS)},
        ("predict", "get_distribution_parameters"),
        by=("inputs",),
    ),
}
