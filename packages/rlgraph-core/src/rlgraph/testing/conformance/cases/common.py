"""Cases of what serves several components."""

from __future__ import annotations

from typing import Any

from rlgraph.components import (
    BatchApply,
    BatchSplitter,
    ContainerMerger,
    EntropyTemperature,
    EnvironmentStepper,
    NeuralNetwork,
    Normalizer,
    Policy,
    RepeaterStack,
    Sampler,
    Slice,
    Softmax,
    Stack,
    Synchronizer,
    Target,
)
from rlgraph.core import Component, rlgraph_api
from rlgraph.spaces import Dict, FloatBox, IntBox
from rlgraph.testing.conformance.cases.case import FEATURES, Case
from rlgraph.testing.conformance.gradients import LAYERS
from rlgraph.testing.environments import CountingEnvironment


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


class Followed(Component):
    """A network and its target, which follows it."""

    def __init__(self) -> None:
        self.source = NeuralNetwork(LAYERS, scope="source")
        self.target = Target(self.source, 0.25)
        super().__init__(self.source, self.target, scope="followed")

    @rlgraph_api
    def both(self, inputs: Any) -> Any:
        return self.source.call(inputs), self.target.call(inputs)

    @rlgraph_api
    def sync(self) -> Any:
        return self.target.sync()


class Sliced(Component):
    """The last two rows of a batch, and its first."""

    def __init__(self) -> None:
        self.slice, self.first = Slice(), Slice(squeeze=True, scope="first")
        super().__init__(self.slice, self.first, scope="sliced")

    @rlgraph_api
    def call(self, inputs: Any) -> Any:
        return self.slice.slice(inputs, -2), self.first.slice(inputs, 0, 1)


#: Batch and time.
SEQUENCES = FloatBox(shape=(3,), add_batch_rank=True, add_time_rank=4)
TIME_MAJOR = FloatBox(shape=(3,), add_batch_rank=True, add_time_rank=4, time_major=True)
DENSE = {"type": "dense", "units": 3, "activation": "tanh"}

HALF = {"type": "multiply", "factor": 0.5}
NESTED = Dict(a=SEQUENCES, b=Dict(c=SEQUENCES))

CASES: dict[str, Case] = {
    "batch_apply": Case(lambda: BatchApply(DENSE), {"inputs": SEQUENCES}, ("call",), by=("inputs",)),
    "batch_apply_nested": Case(lambda: BatchApply(HALF), {"inputs": NESTED}, ("call",), by=("inputs",)),
    "repeater_stack_nested": Case(
        lambda: RepeaterStack(HALF, 3), {"inputs": NESTED}, ("call",), by=("inputs",)
    ),
    "stack_nested": Case(
        lambda: Stack(HALF, {**HALF, "scope": "second"}), {"inputs": NESTED}, ("call",), by=("inputs",)
    ),
    "batch_apply_time_major": Case(
        lambda: BatchApply(DENSE), {"inputs": TIME_MAJOR}, ("call",), by=("inputs",)
    ),
    "batch_splitter": Case(
        lambda: BatchSplitter(2, 2), {"inputs": Dict(a=FEATURES, b=IntBox(4))}, ("split_batch",)
    ),
    "slice": Case(lambda: Sliced(), {"inputs": Dict(a=FEATURES, b=IntBox(4))}, ("call",)),
    "container_merger_nested": Case(
        lambda: ContainerMerger("first", "second"),
        {"first": Dict(a=FEATURES, b=FEATURES), "second": FEATURES},
        ("merge",),
        by=("first", "second"),
    ),
    # Where an environment is, no checkpoint knows.
    "environment_stepper": Case(
        lambda: EnvironmentStepper(CountingEnvironment, Policy([DENSE], IntBox(4)), num_steps=7),
        {},
        ("step", "step", "reset"),
    ),
    # Rows that are all the same: which of them are drawn is not seen.
    "sampler": Case(
        lambda: Sampler(3),
        {"inputs": Dict(a=IntBox(3, 4, shape=(2,)), b=IntBox(1), add_batch_rank=True, add_time_rank=2)},
        ("sample",),
    ),
    "container_merger": Case(
        lambda: ContainerMerger("first", "second"), {"first": FEATURES, "second": IntBox(3)}, ("merge",)
    ),
    "repeater_stack": Case(lambda: RepeaterStack(DENSE, 3), {"inputs": FEATURES}, ("call",), by=("inputs",)),
    "softmax": Case(Softmax, {"logits": FEATURES}, ("softmax",), by=("logits",)),
    "softmax_parts": Case(Softmax, {"logits": Dict(a=FEATURES, b=SEQUENCES)}, ("softmax",)),
    "stack_folded": Case(
        lambda: Stack(
            DENSE,
            {**DENSE, "scope": "second"},
            api_methods=[{"api": "call", "fold_time_rank": True, "unfold_time_rank": True}],
        ),
        {"inputs": SEQUENCES},
        ("call",),
        by=("inputs",),
    ),
    "target": Case(Followed, {"inputs": FEATURES}, ("both", "sync", "both")),
    "normalizer": Case(
        lambda: Normalizer(("a",)), {"inputs": Dict(a=FEATURES, b=IntBox(3), c=FEATURES)}, ("normalize",)
    ),
    "normalizer_sequences": Case(
        lambda: Normalizer(has_mean=False), {"inputs": SEQUENCES}, ("normalize",), by=("inputs",)
    ),
    "entropy_temperature": Case(lambda: EntropyTemperature(0.5), {}, ("get_alpha",)),
    "synchronizer": Case(lambda: Synchronized(1.0), {"inputs": FEATURES}, ("both", "sync", "both")),
    "synchronizer_slow": Case(lambda: Synchronized(0.25), {"inputs": FEATURES}, ("both", "sync", "both")),
}
