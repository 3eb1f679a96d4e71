"""Sections ``components`` and ``kernels``: the shipped components against the reference, with kernels and without."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rlgraph.components import (
    Adam,
    Conv2D,
    Dense,
    DictPreprocessorStack,
    DQNLoss,
    DuelingPolicy,
    EpsilonGreedy,
    MaxPool2D,
    NeuralNetwork,
    NoisyGreedy,
    PreprocessorStack,
    PrioritizedReplay,
    QPolicy,
    Synchronizer,
)
from rlgraph.core import Component, GraphExecutor, graph_fn, rlgraph_api
from rlgraph.core.graph.nodes import GraphFunctionCall
from rlgraph.core.ops import map_nested
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, Space, Tuple, from_spec
from rlgraph.testing.conformance.checks import Subject, check, check_each
from rlgraph.testing.conformance.comparison import assert_same
from rlgraph.testing.conformance.gradients import LAYERS, REGRESSION_SPACES, Regression

BATCH = 5
FEATURES = FloatBox(shape=(3,), add_batch_rank=True)
VALUES = FloatBox(shape=(4,), add_batch_rank=True)
SCREENS = IntBox(256, shape=(5, 6, 3), dtype="uint8", add_batch_rank=True)
IMAGE_LAYERS: list[dict[str, Any]] = [
    {"type": "divide", "divisor": 255},
    {"type": "conv2d", "filters": 3, "kernel_size": 2, "activation": "relu", "padding": "same"},
    {"type": "conv2d", "filters": 2, "kernel_size": 3, "activation": "tanh"},
    {"type": "reshape", "flatten": True},
    {"type": "dense", "units": 2},
]
ACTIONS = IntBox(4)


@dataclass(frozen=True)
class Case:
    """A component and what to call.

    Attributes:
        make: makes it, unbuilt.
        spaces: Spaces of the arguments.
        methods: the API methods to call, in order.
        trains: it takes gradients.
    """

    make: Callable[[], Component]
    spaces: Mapping[str, Any]
    methods: tuple[str, ...]
    trains: bool = False


class Synchronized(Component):
    """Two networks, one of which follows the other."""

    def __init__(self, tau: float):
        self.source = NeuralNetwork(LAYERS, scope="source")
        self.target = self.source.copy(scope="target", trainable=False)
        self.synchronizer = Synchronizer(tau)
        super().__init__(self.source, self.target, self.synchronizer, scope="synchronized")

    @rlgraph_api
    def both(self, inputs: Any) -> Any:
        return self.source.call(inputs), self.target.call(inputs)

    @rlgraph_api
    def sync(self) -> Any:
        return self.synchronizer.sync(self.source.variables(), self.target.variables())


class Preprocessed(Component):
    """A stack of preprocessing layers, each row of the batch from an environment of its own."""

    def __init__(self, layers: list[Any]):
        self.stack = PreprocessorStack(layers)
        super().__init__(self.stack, scope="preprocessed")

    @rlgraph_api
    def preprocess(self, inputs: Any) -> Any:
        return self.stack.preprocess(inputs, self._environments(inputs) if self.stack.has_state else None)

    @rlgraph_api
    def begin(self, inputs: Any) -> Any:
        self.stack.reset(self._environments(inputs))

    @graph_fn(host=True, spaces=IntBox(add_batch_rank=True))
    def _environments(self, inputs: Any) -> np.ndarray:
        return np.arange(len(inputs))


LOSS_SPACES = {
    "q_values": VALUES,
    "actions": IntBox(4, add_batch_rank=True),
    "rewards": FloatBox(-3.0, 3.0, add_batch_rank=True),
    "terminals": BoolBox(add_batch_rank=True),
    "q_next": VALUES,
    "q_next_target": VALUES,
}


def _dense(**options: Any) -> Case:
    return Case(lambda: Dense(4, **options), {"inputs": FEATURES}, ("call",))


#: An action of several parts, and the Spaces of its values.
PARTS = Dict(jump=BoolBox(), move=Tuple(IntBox(3), IntBox(2, shape=(2,))))
PART_VALUES = Dict(
    jump=FloatBox(shape=(2,)), move=Tuple(FloatBox(shape=(3,)), FloatBox(shape=(2, 2))), add_batch_rank=True
)
PART_LOSS_SPACES = {
    **LOSS_SPACES,
    **dict.fromkeys(("q_values", "q_next", "q_next_target"), PART_VALUES),
    "actions": PARTS.with_batch_rank(),
}
PER_ITEM = FloatBox(0.0, 1.0, add_batch_rank=True)


def _loss(spaces: Mapping[str, Any] = LOSS_SPACES, **options: Any) -> Case:
    return Case(lambda: DQNLoss(**options), spaces, ("loss", "get_td_errors"))


def _policy(kind: Callable[..., Component], action_space: Space = ACTIONS) -> Case:
    methods = ("get_q_values", "get_deterministic_action")
    return Case(lambda: kind(LAYERS, action_space=action_space), {"states": FEATURES}, methods)


def _adam(**options: Any) -> Case:
    methods = ("update",) * 4 + ("get_loss",)
    return Case(lambda: Regression(Adam(0.05, **options), LAYERS), REGRESSION_SPACES, methods, True)


def _image(make: Callable[[], Component]) -> Case:
    return Case(make, {"inputs": FloatBox(shape=(5, 6, 2), add_batch_rank=True)}, ("call",))


def _conv(**options: Any) -> Case:
    return _image(lambda: Conv2D(3, (2, 3), **options))


def _preprocessed(*layers: Any, space: Any = SCREENS) -> Case:
    return Case(lambda: PreprocessorStack(layers), {"inputs": space}, ("preprocess",))


def _remembered(**layer: Any) -> Case:
    methods = ("preprocess", "preprocess", "begin", "preprocess")
    return Case(lambda: Preprocessed([layer]), {"inputs": FEATURES}, methods)


CASES: dict[str, Case] = {
    "adam": _adam(),
    "adam_clipped": _adam(clip_grad_norm=0.1),
    "adam_scheduled": Case(
        lambda: Regression(Adam(["poly", 0.05, 0.01], clip_grad_norm=1.0), LAYERS),
        {**REGRESSION_SPACES, "time_percentage": FloatBox(0.0, 1.0)},
        ("update",) * 3,
        True,
    ),
    "clip": _preprocessed({"type": "clip", "min": -0.5, "max": 0.5}, space=FEATURES),
    "concat": _preprocessed({"type": "concat"}, space=Dict(a=FEATURES, b=VALUES)),
    "conv2d": _conv(),
    "conv2d_elu_without_biases": _conv(activation="elu", biases_spec=False, padding="same"),
    "conv2d_relu": _conv(activation="relu", biases_spec=0.5, strides=2),
    "conv2d_tanh_same": _conv(activation="tanh", biases_spec=0.5, strides=(2, 1), padding="same"),
    "convert_type": _preprocessed({"type": "convert_type", "to_dtype": "float"}),
    "convolutional_network": Case(
        lambda: Regression(Adam(0.05), IMAGE_LAYERS),
        {**REGRESSION_SPACES, "inputs": SCREENS},
        ("update", "update"),
        True,
    ),
    "dense": _dense(),
    "dense_relu": _dense(activation="relu", biases_spec={"type": "normal", "stddev": 1.0}),
    "dense_tanh_without_biases": _dense(activation="tanh", biases_spec=False),
    "dense_elu": _dense(activation="elu"),
    "dict_preprocessor_stack": Case(
        lambda: DictPreprocessorStack({"b": [{"type": "reshape", "flatten": True}]}),
        {"inputs": Dict(a=FEATURES, b=IntBox(3, add_batch_rank=True))},
        ("preprocess",),
    ),
    "divide": _preprocessed({"type": "divide", "divisor": 255}),
    "dqn_loss": _loss(double_q=False),
    "dqn_loss_double": _loss(double_q=True),
    "dqn_loss_double_huber": _loss(double_q=True, huber_loss=True),
    "dqn_loss_weights_and_discounts": _loss(
        {**LOSS_SPACES, "importance_weights": PER_ITEM, "discounts": PER_ITEM}, huber_loss=True
    ),
    "dqn_loss_parts": _loss(PART_LOSS_SPACES, action_space=PARTS),
    "dqn_loss_parts_one_target": _loss(
        PART_LOSS_SPACES,
        action_space=PARTS,
        double_q=False,
        shared_container_action_target=True,
        td_aggregation="mean_error",
    ),
    "dueling_policy": _policy(DuelingPolicy),
    "dueling_policy_parts": _policy(DuelingPolicy, PARTS),
    "epsilon_greedy": Case(
        lambda: EpsilonGreedy(IntBox(4), epsilon_spec=0.5),
        {"actions": IntBox(4, add_batch_rank=True), "time_percentage": FloatBox(0.0, 1.0)},
        ("get_action", "get_action"),
    ),
    "grayscale": _preprocessed({"type": "grayscale"}),
    "image_crop": _preprocessed({"type": "image_crop", "x": 1, "width": 3, "height": 2}),
    "image_resize": _preprocessed(
        # Floats: where a mean lies between two integers, the last bit decides.
        {"type": "convert_type", "to_dtype": "float"},
        {"type": "image_resize", "width": 3, "height": 4},
    ),
    "max_pool2d": _image(lambda: MaxPool2D((2, 3), 1, "same")),
    "moving_standardize": _remembered(type="moving_standardize"),
    "multiply": _preprocessed({"type": "multiply", "factor": 0.5}),
    "normalize": _preprocessed({"type": "normalize"}),
    "epsilon_greedy_parts": Case(
        lambda: EpsilonGreedy(PARTS, epsilon_spec=0.5),
        {"actions": PARTS.with_batch_rank(), "time_percentage": FloatBox(0.0, 1.0)},
        ("get_action", "get_action"),
    ),
    "network": Case(lambda: NeuralNetwork(LAYERS), {"inputs": FEATURES}, ("call",)),
    "noisy_greedy": Case(
        lambda: NoisyGreedy(IntBox(4), {"type": "gumbel", "scale": [1.0, 0.1]}),
        {"q_values": VALUES, "time_percentage": FloatBox(0.0, 1.0)},
        ("get_action", "get_action"),
    ),
    "prioritized_replay": Case(
        lambda: PrioritizedReplay(7, beta=[0.4, 1.0]),
        {
            "records": Dict(state=FloatBox(shape=(2,)), action=PARTS, add_batch_rank=True),
            "num_records": IntBox(BATCH, BATCH + 1),
            "time_percentage": FloatBox(0.0, 1.0),
            "indices": IntBox(BATCH, add_batch_rank=True),
            "errors": FloatBox(add_batch_rank=True),
        },
        ("insert_records", "get_records", "update_records", "insert_records", "get_records", "get_size"),
    ),
    "q_policy": _policy(QPolicy),
    "reshape": _preprocessed({"type": "reshape", "new_shape": [-1, 3]}),
    "reshape_categories": _preprocessed(
        {"type": "reshape", "flatten": True, "flatten_categories": True},
        space=IntBox(4, shape=(2,), add_batch_rank=True),
    ),
    "sequence": _remembered(type="sequence", sequence_length=2),
    "q_policy_parts": _policy(QPolicy, PARTS),
    "synchronizer": Case(lambda: Synchronized(1.0), {"inputs": FEATURES}, ("both", "sync", "both")),
    "synchronizer_slow": Case(lambda: Synchronized(0.25), {"inputs": FEATURES}, ("both", "sync", "both")),
}


def run_case(case: Case, executor: GraphExecutor) -> Any:
    """What all calls return, on the same inputs every time, and the variables behind them."""
    rng = np.random.default_rng(0)
    inputs, dtype = {}, executor.execution.dtype
    for name, given in case.spaces.items():
        space = from_spec(given)
        sample = space.sample(BATCH if space.has_batch_rank else None, rng=rng)
        inputs[name] = map_nested(lambda x: x.astype(dtype) if x.dtype.kind == "f" else x, sample)
    outputs = []
    for method in case.methods:
        wanted = inspect.signature(executor.root.api_methods()[method]).parameters
        result = executor.execute(method, **{name: value for name, value in inputs.items() if name in wanted})
        # Copies: whether a later call overwrites them is the question of another check.
        outputs.append(() if result is None else copy.deepcopy(result))
    return tuple(outputs), executor.get_weights()


@check_each("components", {name: case for name, case in CASES.items() if not case.trains})
def agrees(subject: Subject, case: Case) -> None:
    """What a component returns, and what it leaves in its variables, is what the reference does; without kernels."""
    executor = subject.executor(case.make(), case.spaces, dtype="float64", use_kernels=False)
    given = run_case(case, executor)
    expected = run_case(case, subject.reference(case.make(), case.spaces, dtype="float64"))
    assert_same(given, expected, 1e-12, "(outputs, variables)")


@check_each("kernels", CASES, capabilities=lambda case: ("gradients",) if case.trains else ())
def same_as_single_source(subject: Subject, case: Case) -> None:
    """Kernels compute what the single source computes."""
    for dtype, tolerance in (("float64", 1e-10), ("float32", 1e-5)):
        given, expected = (
            run_case(case, subject.executor(case.make(), case.spaces, dtype=dtype, use_kernels=kernels))
            for kernels in (True, False)
        )
        assert_same(given, expected, tolerance, f"(outputs, variables) in {dtype}")


@check("kernels")
def all_are_tried(subject: Subject) -> None:
    """Every kernel that the backend has for a shipped component is run by one of these checks."""
    tried = set()
    for case in CASES.values():
        executor = subject.reference(case.make(), case.spaces)
        for method in case.methods:
            plan = executor.plan(method)
            for node in plan.nodes:
                if isinstance(node, GraphFunctionCall):
                    component = plan.built.graph.components[node.component]
                    tried.add(component.graph_functions()[node.function].key)
    shipped = {key for key in subject.create().kernels if key.startswith("rlgraph.components.")}
    assert not shipped - tried, f"no case runs the kernels {sorted(shipped - tried)}"
