import json

import numpy as np
import pytest

from rlgraph.components import Dense, DictPreprocessorStack, Divide, PreprocessorStack, Sequence
from rlgraph.core import Component, GraphExecutor, SpecError, rlgraph_api
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, SpaceError, Tuple
from rlgraph.testing import ComponentTest


def with_states(stack, space, backend):
    """With its internal states, which are returned as zeros of some rows."""
    states = stack.get_internal_states_space(space)
    return ComponentTest(stack, {"inputs": space, "internal_states": states}, backend=backend), states


SCREEN = IntBox(256, shape=(4, 4, 3), dtype="uint8", add_batch_rank=True)
ATARI = [
    {"type": "grayscale", "keep_rank": True},
    {"type": "image_resize", "width": 2, "height": 2},
    {"type": "sequence", "sequence_length": 3, "add_rank": False},
]


def test_one_layer_after_the_other(backend):
    stack = PreprocessorStack.from_spec(ATARI)
    assert stack.has_state
    assert stack.get_preprocessed_space(SCREEN) == IntBox(
        256, shape=(2, 2, 3), dtype="uint8", add_batch_rank=True
    )
    test, space = with_states(stack, SCREEN, backend)
    assert space == Dict(
        sequence_2=Dict(stack=stack.get_preprocessed_space(SCREEN), is_filled=BoolBox(add_batch_rank=True))
    )
    states = space.zeros(1)
    frames = [np.full((1, 4, 4, 3), value, np.uint8) for value in (10, 20, 30)]
    for frame, expected in zip(frames, ([10, 10, 10], [10, 10, 20], [10, 20, 30]), strict=True):
        result = test.test("preprocess", frame, states)
        np.testing.assert_array_equal(result["output"], np.broadcast_to(expected, (1, 2, 2, 3)))
        states = result["internal_states"]
    begun = test.test("preprocess", frames[1], space.zeros(1))
    np.testing.assert_array_equal(begun["output"], np.full((1, 2, 2, 3), 20))


def test_a_reset_reaches_all_layers(backend):
    """RLgraph 0.5: "an op to trigger all PreprocessorLayers of this Stack to be reset", also of a stack per part."""
    layers = [{"type": "divide", "divisor": 2}, {"type": "moving_standardize"}]
    space = FloatBox(shape=(1,), add_batch_rank=True)
    x = np.float32([[2.0], [6.0]])
    stack = ComponentTest(PreprocessorStack.from_spec(layers), {"inputs": space}, backend=backend)
    parts = DictPreprocessorStack.from_spec({"a": layers, "b": [{"type": "clip"}]})
    spaces = {"inputs": Dict(a=space, b=space)}
    by_part = ComponentTest(parts, spaces, backend=backend)
    for _ in range(2):
        stack.test("preprocess", x + 50.0)
        by_part.test("preprocess", {"a": x + 50.0, "b": x})
        stack.test("reset")
        by_part.test("reset")
        stack.test("preprocess", x, expected_outputs=[[-1.0], [1.0]])
        by_part.test(
            "preprocess", {"a": x, "b": x}, expected_outputs={"a": [[-1.0], [1.0]], "b": [[1.0], [1.0]]}
        )


def test_a_reset_where_nothing_learns(backend):
    """Frames are arguments: zeros begin an episode, those of the last call continue it."""
    stack = PreprocessorStack([Sequence(2)])
    space = FloatBox(add_batch_rank=True)
    test, states = with_states(stack, space, backend)
    last = test.test("preprocess", [1.0], states.zeros(1))["internal_states"]
    assert test.test("reset") is None
    test.test("preprocess", [2.0], states.zeros(1), which="output", expected_outputs=[[2.0, 2.0]])
    test.test("preprocess", [2.0], last, which="output", expected_outputs=[[1.0, 2.0]])


def test_without_state(backend):
    stack = PreprocessorStack.from_spec([{"type": "divide", "divisor": 2}, {"type": "clip"}])
    assert not stack.has_state and not stack.learns
    assert stack.get_internal_states_space(FloatBox(add_batch_rank=True)) is None
    test = ComponentTest(stack, {"inputs": FloatBox(add_batch_rank=True)}, backend=backend)
    assert list(test.executor.methods) == ["preprocess", "reset"]
    test.test("preprocess", [0.5, 4.0], expected_outputs=[0.25, 1.0])


#: Of 1, then of 1 and 3: mean 2, deviation 1.
LEARNS = [{"type": "moving_standardize"}, {"type": "sequence", "sequence_length": 2}]


@pytest.mark.parametrize("by_parts", [False, True])
def test_frozen_stacks_do_not_learn(by_parts, backend):
    stack = DictPreprocessorStack({"a": LEARNS}) if by_parts else PreprocessorStack(LEARNS)
    assert stack.learns and stack.has_state
    box = FloatBox(add_batch_rank=True)
    test, space = with_states(stack, Dict(a=box) if by_parts else box, backend)

    def run(method, x, states):
        result = test.test(method, {"a": [x]} if by_parts else [x], states)
        return (result["output"]["a"] if by_parts else result["output"])[0].tolist(), result[
            "internal_states"
        ]

    assert run("preprocess_frozen", 7.0, space.zeros(1))[0] == [7.0, 7.0]
    first, states = run("preprocess", 1.0, space.zeros(1))
    second, states = run("preprocess", 3.0, states)
    assert (first, second) == ([0.0, 0.0], [0.0, 1.0])
    for _ in range(2):
        assert run("preprocess_frozen", 5.0, states)[0] == [1.0, 3.0]
    assert run("preprocess", 2.0, states)[0] == [1.0, 0.0]


def test_no_layers(backend):
    stack = PreprocessorStack([])
    test = ComponentTest(stack, {"inputs": FloatBox(add_batch_rank=True)}, backend=backend)
    test.test("preprocess", [0.5], expected_outputs=[0.5])


STATES = Dict(
    camera={"image": IntBox(256, shape=(2, 2), dtype="uint8"), "zoom": FloatBox()},
    room=IntBox(3),
    speed=FloatBox(shape=(2,)),
    add_batch_rank=True,
)
PARTS = {
    "camera/image": [{"type": "divide", "divisor": 255}, {"type": "reshape", "flatten": True}],
    "room": [{"type": "reshape", "flatten": True}],
}
STATE = {
    "camera": {"image": np.full((1, 2, 2), 51, np.uint8), "zoom": np.array([0.5], np.float32)},
    "room": np.array([1]),
    "speed": np.array([[1.0, 2.0]], np.float32),
}


def test_the_parts_of_a_state(backend):
    stack = DictPreprocessorStack.from_spec(PARTS)
    assert not stack.has_state
    expected_space = Dict(
        camera={"image": FloatBox(0.0, 1.0, shape=(4,)), "zoom": FloatBox()},
        room=FloatBox(0.0, 1.0, shape=(3,)),
        speed=FloatBox(shape=(2,)),
        add_batch_rank=True,
    )
    assert stack.get_preprocessed_space(STATES) == expected_space
    test = ComponentTest(stack, {"inputs": STATES}, backend=backend)
    given = test.test(
        "preprocess",
        STATE,
        expected_outputs={
            "camera": {"image": [[0.2] * 4], "zoom": [0.5]},
            "room": [[0.0, 1.0, 0.0]],
            "speed": [[1.0, 2.0]],
        },
    )
    assert expected_space.contains(given)


def test_a_part_that_is_a_container_itself(backend):
    """All of the camera, by one stack that makes one tensor of it."""
    layers = [
        {"type": "reshape", "flatten": True},
        {"type": "convert_type", "to_dtype": "float"},
        {"type": "concat"},
    ]
    stack = DictPreprocessorStack({"camera": layers})
    test = ComponentTest(stack, {"inputs": STATES}, backend=backend)
    test.test("preprocess", STATE, which="camera", expected_outputs=[[51.0] * 4 + [0.5]])


def test_the_parts_of_a_tuple_with_state(backend):
    states = Tuple(FloatBox(), IntBox(3), add_batch_rank=True)
    stack = DictPreprocessorStack({"0": [{"type": "sequence", "sequence_length": 2}]})
    assert stack.has_state
    assert stack.get_preprocessed_space(states) == Tuple(FloatBox(shape=(2,)), IntBox(3), add_batch_rank=True)
    test, space = with_states(stack, states, backend)
    first = test.test("preprocess", ([1.0], [2]), space.zeros(1))
    assert list(first["internal_states"]) == ["_0"]
    second = test.test("preprocess", ([2.0], [0]), first["internal_states"])["output"]
    begun = test.test("preprocess", ([3.0], [0]), space.zeros(1))["output"]
    assert [result[0].tolist() for result in (first["output"], second, begun)] == [
        [[1.0, 1.0]],
        [[1.0, 2.0]],
        [[3.0, 3.0]],
    ]
    assert second[1].tolist() == [0]


def test_the_key_of_a_part(backend):
    space = Dict(camera={"image": FloatBox()}, add_batch_rank=True)
    stack = DictPreprocessorStack({"camera/image": [{"type": "sequence", "sequence_length": 2}]})
    assert stack.get_internal_states_space(space) == Dict(
        camera_image={"sequence_0": {"stack": FloatBox(shape=(2,)), "is_filled": BoolBox()}},
        add_batch_rank=True,
    )
    sequence = [{"type": "sequence"}]
    message = "internal states of 'a/b' and 'a_b' would both have the key 'a_b'"
    with pytest.raises(SpecError, match=message):
        DictPreprocessorStack({"a/b": sequence, "a_b": sequence})
    DictPreprocessorStack({"a/b": sequence, "a_b": []})


class Agent(Component):
    """A root that preprocesses what it is given."""

    def __init__(self, spec):
        self.preprocessor = PreprocessorStack.from_spec(spec)
        super().__init__(self.preprocessor, scope="agent")

    @rlgraph_api
    def preprocess_states(self, states):
        result = self.preprocessor.preprocess(states)
        return result["output"] if self.preprocessor.has_state else result


def test_inside_of_an_agent(backend):
    for spec, expected in (
        ([{"type": "sequence"}], [[2.0] * 4]),
        ([{"type": "divide", "divisor": 2}], [1.0]),
    ):
        made = GraphExecutor(Agent(spec), {"states": FloatBox(add_batch_rank=True)}, backend=backend)
        assert made.execute("preprocess_states", [2.0]).tolist() == expected


def test_wrong_states():
    box = FloatBox(add_batch_rank=True)
    for layers, message in (
        ([], "expected no internal_states, since no layer keeps any"),
        ([{"type": "sequence"}], r"internal_states: expected Dict\({'sequence_0'"),
    ):
        with pytest.raises(SpaceError, match=message):
            GraphExecutor(
                PreprocessorStack(layers), {"inputs": box, "internal_states": Dict(a=box)}, backend="numpy"
            )


def test_specs(tmp_path):
    layers = [Divide(2, scope="mine"), {"type": "divide", "divisor": 2}, {"type": Sequence, "scope": "last"}]
    stack = PreprocessorStack.from_spec(layers)
    assert [layer.scope for layer in stack.layers] == ["mine", "divide-1", "last"]
    assert PreprocessorStack.from_spec({"layers": layers[1:]}, scope="p").scope == "p"
    assert PreprocessorStack.from_spec(stack) is stack
    file = tmp_path / "parts.json"
    file.write_text(json.dumps(PARTS))
    assert list(DictPreprocessorStack.from_spec(str(file)).stacks) == list(PARTS)
    assert list(DictPreprocessorStack.from_spec({"preprocessors": PARTS}).stacks) == list(PARTS)
    assert DictPreprocessorStack.from_spec({"a": stack}).stacks["a"] is stack


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PreprocessorStack("divide"), "preprocessor.layers: expected a list of layer specs"),
        (
            lambda: PreprocessorStack.from_spec([{"type": "divide", "divisr": 2}], path="preprocessing_spec"),
            "preprocessing_spec[0].divisr: Divide has no such key. Did you mean 'divisor'?",
        ),
        (
            lambda: PreprocessorStack.from_spec([Dense(2)], path="preprocessing_spec"),
            "preprocessing_spec[0]: expected a PreprocessLayer",
        ),
        (
            lambda: PreprocessorStack.from_spec([{"type": "dense", "units": 2}], path="preprocessing_spec"),
            "preprocessing_spec[0].type: 'dense' is a Dense, expected a PreprocessLayer",
        ),
        (
            lambda: DictPreprocessorStack(["divide"]),
            "preprocessor.preprocessors: expected a mapping of paths",
        ),
        (
            lambda: DictPreprocessorStack({"a": [], "a/b": []}),
            "preprocessor.preprocessors: 'a/b' is inside 'a'; name each part once",
        ),
        (
            lambda: DictPreprocessorStack.from_spec({"a": [{"type": "divde"}]}, path="preprocessing_spec"),
            "preprocessing_spec.a[0].type",
        ),
        (
            lambda: PreprocessorStack.from_spec({"type": "grayscale"}, path="preprocessing_spec"),
            "preprocessing_spec.type: 'grayscale' is a GrayScale, expected a PreprocessorStack; write layers as a list",
        ),
        (
            lambda: PreprocessorStack.from_spec(3, path="preprocessing_spec"),
            "given int 3; write layers as a list, even a single one",
        ),
    ],
)
def test_wrong_specs(make, message):
    with pytest.raises(SpecError) as error:
        make()
    assert message in str(error.value)


def test_wrong_spaces():
    with pytest.raises(SpaceError, match="grayscale-0: expected numbers with a last axis of 3 channels"):
        PreprocessorStack.from_spec(ATARI).get_preprocessed_space(FloatBox(shape=(4, 4)))
    stack = DictPreprocessorStack(PARTS)
    with pytest.raises(SpaceError, match="for a single Space pass a list of layers"):
        stack.get_preprocessed_space(float)
    with pytest.raises(SpaceError, match=r"preprocessor\.preprocessors\.romo"):
        DictPreprocessorStack({"romo": []}).get_preprocessed_space(STATES)
