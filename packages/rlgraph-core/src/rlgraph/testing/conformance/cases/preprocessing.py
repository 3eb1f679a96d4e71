"""Cases of preprocessing."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.components import DictPreprocessorStack, PreprocessorStack
from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.spaces import Dict, IntBox
from rlgraph.testing.conformance.cases.case import FEATURES, SCREENS, VALUES, Case


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


def _preprocessed(*layers: Any, space: Any = SCREENS) -> Case:
    return Case(lambda: PreprocessorStack(layers), {"inputs": space}, ("preprocess",))


def _remembered(**layer: Any) -> Case:
    methods = ("preprocess", "preprocess", "begin", "preprocess")
    return Case(lambda: Preprocessed([layer]), {"inputs": FEATURES}, methods)


CASES: dict[str, Case] = {
    "clip": _preprocessed({"type": "clip", "min": -0.5, "max": 0.5}, space=FEATURES),
    "concat": _preprocessed({"type": "concat"}, space=Dict(a=FEATURES, b=VALUES)),
    "convert_type": _preprocessed({"type": "convert_type", "to_dtype": "float"}),
    "dict_preprocessor_stack": Case(
        lambda: DictPreprocessorStack({"b": [{"type": "reshape", "flatten": True}]}),
        {"inputs": Dict(a=FEATURES, b=IntBox(3, add_batch_rank=True))},
        ("preprocess",),
    ),
    "divide": _preprocessed({"type": "divide", "divisor": 255}),
    "grayscale": _preprocessed({"type": "grayscale"}),
    "image_crop": _preprocessed({"type": "image_crop", "x": 1, "width": 3, "height": 2}),
    "image_resize": _preprocessed(
        # Floats: where a mean lies between two integers, the last bit decides.
        {"type": "convert_type", "to_dtype": "float"},
        {"type": "image_resize", "width": 3, "height": 4},
    ),
    "moving_standardize": _remembered(type="moving_standardize"),
    "multiply": _preprocessed({"type": "multiply", "factor": 0.5}),
    "normalize": _preprocessed({"type": "normalize"}),
    "reshape": _preprocessed({"type": "reshape", "new_shape": [-1, 3]}),
    "reshape_categories": _preprocessed(
        {"type": "reshape", "flatten": True, "flatten_categories": True},
        space=IntBox(4, shape=(2,), add_batch_rank=True),
    ),
    "sequence": _remembered(type="sequence", sequence_length=2),
}
