"""Cases of preprocessing."""

from __future__ import annotations

from typing import Any

from rlgraph.components import ContainerSplitter, DictPreprocessorStack, PreprocessorStack, Reshape, Sequence
from rlgraph.core import Component, rlgraph_api
from rlgraph.spaces import Dict, FloatBox, IntBox, Tuple
from rlgraph.testing.conformance.cases.case import FEATURES, SCREENS, VALUES, Case

#: Nested, in time, of floats, of integers and of images.
FLOATS = Dict(
    a=FloatBox(shape=(3,)), b=Tuple(FloatBox(shape=(4, 2))), add_batch_rank=True, add_time_rank=True
)
INTEGERS = Dict(
    a=IntBox(4), b=Tuple(IntBox(9, shape=(2,), dtype="uint8")), add_batch_rank=True, add_time_rank=True
)
CAMERAS = Dict(
    left=FloatBox(shape=(5, 6, 3)),
    right=Tuple(IntBox(256, shape=(4, 7, 3), dtype="uint8")),
    add_batch_rank=True,
    add_time_rank=True,
)
PIECES = Dict(
    a=FloatBox(shape=(2, 3)), b=Tuple(FloatBox(shape=(2, 1))), add_batch_rank=True, add_time_rank=True
)
SEQUENCES = FloatBox(shape=(3, 2), add_batch_rank=True, add_time_rank=True)
STATES = Dict(a=FEATURES, b=Tuple(IntBox(9, add_batch_rank=True)))


def _stack(*layers: Any, space: Any, by: bool = False) -> Case:
    return Case(
        lambda: PreprocessorStack(layers), {"inputs": space}, ("preprocess",), by=("inputs",) if by else ()
    )


def _tried(type: str, space: Any, nested: Any, *, smooth: bool = True, **options: Any) -> dict[str, Case]:
    """A layer on one Space, and on a container of sequences; floats with derivatives."""
    layer = {"type": type, **options}
    return {
        type: _stack(layer, space=space, by=smooth and isinstance(space, FloatBox)),
        f"{type}_nested": _stack(layer, space=nested, by=smooth and nested in (FLOATS, PIECES)),
    }


def _remembered(space: Any = FEATURES) -> Case:
    """Frames of an episode under way, and the first ones of episodes."""
    layer = Sequence(sequence_length=2)
    spaces = {"inputs": space, "internal_states": layer.get_internal_states_space(space)}
    return Case(lambda: Sequence(sequence_length=2), spaces, ("call", "call"))


def _learned(space: Any = FEATURES) -> Case:
    methods = ("preprocess_frozen", "preprocess", "preprocess", "preprocess_frozen")
    return Case(lambda: PreprocessorStack([{"type": "moving_standardize"}]), {"inputs": space}, methods)


class Folded(Component):
    """Batch and time in one axis, and back."""

    def __init__(self) -> None:
        self.fold = Reshape(fold_time_rank=True, scope="fold")
        self.unfold = Reshape(unfold_time_rank=True, scope="unfold")
        super().__init__(self.fold, self.unfold, scope="folded")

    @rlgraph_api
    def call(self, inputs: Any) -> Any:
        folded = self.fold.call(inputs)
        return folded, self.unfold.call(folded, inputs)


IMAGES = FloatBox(shape=(5, 6, 3), add_batch_rank=True)

CASES: dict[str, Case] = {
    **_tried("clip", FEATURES, FLOATS, min=-0.5, max=0.5),
    **_tried("concat", Dict(a=FEATURES, b=VALUES), PIECES),
    "container_splitter": Case(
        lambda: ContainerSplitter("b", "a"), {"inputs": FLOATS}, ("call", "split_into_dict"), by=("inputs",)
    ),
    "container_splitter_tuple": Case(
        lambda: ContainerSplitter(tuple_length=2), {"inputs": Tuple(FEATURES, VALUES)}, ("call",)
    ),
    **_tried("convert_type", SCREENS, INTEGERS, to_dtype="float"),
    "convert_type_int": _stack({"type": "convert_type", "to_dtype": "int"}, space=FEATURES),
    "dict_preprocessor_stack": Case(
        lambda: DictPreprocessorStack({"b": [{"type": "reshape", "flatten": True}]}),
        {"inputs": Dict(a=FEATURES, b=IntBox(3, add_batch_rank=True))},
        ("preprocess",),
    ),
    "dict_preprocessor_stack_in_time": Case(
        lambda: DictPreprocessorStack(
            {"a": [{"type": "normalize"}], "b/0": [{"type": "reshape", "flatten": True}]}
        ),
        {"inputs": FLOATS},
        ("preprocess",),
        by=("inputs",),
    ),
    **_tried("divide", SCREENS, FLOATS, divisor=3.0),
    **_tried("grayscale", IMAGES, CAMERAS),
    "grayscale_bytes": _stack({"type": "grayscale", "keep_rank": True}, space=SCREENS),
    **_tried("image_binary", SCREENS, CAMERAS, threshold=200.0, smooth=False),
    **_tried("image_crop", IMAGES, CAMERAS, x=1, width=3, height=2),
    # Floats: where a mean lies between two integers, the last bit decides.
    **_tried("image_resize", IMAGES, Dict(a=CAMERAS["left"], b=CAMERAS["left"]), width=3, height=4),
    "image_resize_bilinear": _stack(
        {"type": "image_resize", "width": 9, "height": 4, "interpolation": "bilinear"}, space=IMAGES, by=True
    ),
    "moving_standardize": _learned(),
    "moving_standardize_nested": _learned(INTEGERS),
    **_tried("multiply", FEATURES, FLOATS, factor=0.5),
    **_tried("normalize", FEATURES, FLOATS),
    "preprocessor_stack": _stack(
        {"type": "multiply", "factor": 2.0}, {"type": "clip", "min": -1.0, "max": 1.0}, space=FLOATS, by=True
    ),
    "rank_reinterpreter": _stack(
        {"type": "rank_reinterpreter", "batch_rank": 0, "time_rank": 1},
        space=FloatBox(shape=(3, 2), add_batch_rank=True),
        by=True,
    ),
    "rank_reinterpreter_nested": _stack(
        {"type": "rank_reinterpreter", "batch_rank": 0},
        space=Dict(a=FloatBox(shape=(2,)), b=IntBox(3), add_batch_rank=True, add_time_rank=3),
    ),
    **_tried("reshape", FloatBox(shape=(2, 3), add_batch_rank=True), FLOATS, new_shape=[1, -1]),
    "reshape_categories": _stack(
        {"type": "reshape", "flatten": True, "flatten_categories": True},
        space=IntBox(4, shape=(2,), add_batch_rank=True),
    ),
    "reshape_fold_and_unfold": Case(Folded, {"inputs": FLOATS}, ("call",), by=("inputs",)),
    "reshape_fold_time_major": _stack(
        {"type": "reshape", "fold_time_rank": True, "flatten": True},
        space=SEQUENCES.with_extra_ranks(time_major=True),
        by=True,
    ),
    "sequence": _remembered(),
    "sequence_nested": _remembered(STATES),
    **_tried("transpose", SEQUENCES, FLOATS),
}
