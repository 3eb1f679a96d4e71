"""The parts of containers, one by one."""

import numpy as np
import pytest

from rlgraph.components import ContainerSplitter, Dense, PreprocessLayer, PreprocessorStack
from rlgraph.core import Component, GraphExecutor, SpecError, rlgraph_api
from rlgraph.core.specs.spec_paths import recording
from rlgraph.spaces import Dict, FloatBox, IntBox, SpaceError, Tuple
from rlgraph.testing import ComponentTest

A, B, C = (
    FloatBox(shape=(2,), add_batch_rank=True),
    FloatBox(add_batch_rank=True),
    Dict(d=IntBox(3), add_batch_rank=True),
)
SPACE = Dict(a=A, b=B, c=C)
SAMPLE = {"a": np.float32([[1, 2]]), "b": np.float32([3]), "c": {"d": np.int64([2])}}


def test_parts_of_a_dict(backend):
    test = ComponentTest(ContainerSplitter("c", "a"), {"inputs": SPACE}, backend=backend)
    test.test("call", SAMPLE, expected_outputs=(SAMPLE["c"], SAMPLE["a"]))
    test.test("split_into_dict", SAMPLE, expected_outputs={"a": SAMPLE["a"], "c": SAMPLE["c"]})
    assert ContainerSplitter("c", "a").get_preprocessed_space(SPACE) == Tuple(C, A)


@pytest.mark.parametrize(
    ("layer", "order"), [(ContainerSplitter(2, 0), (2, 0)), (ContainerSplitter(tuple_length=3), (0, 1, 2))]
)
def test_parts_of_a_tuple(backend, layer, order):
    space, sample = Tuple(A, B, C), tuple(SAMPLE.values())
    expected = tuple(sample[i] for i in order)
    assert layer.get_preprocessed_space(space) == Tuple(*(space[i] for i in order))
    test = ComponentTest(layer.copy(), {"inputs": space}, backend=backend)
    test.test("call", sample, expected_outputs=expected)
    test.test("split_into_dict", sample, expected_outputs={f"part_{i}": sample[i] for i in order})


def test_in_wiring(backend):
    class Root(Component):
        def __init__(self):
            self.splitter, self.dense = ContainerSplitter("b", "a"), Dense(1, weights_spec=1.0)
            super().__init__(self.splitter, self.dense)

        @rlgraph_api
        def call(self, inputs):
            _, a = self.splitter.call(inputs)
            return self.dense.call(a)

    ComponentTest(Root(), {"inputs": SPACE}, backend=backend).test("call", SAMPLE, expected_outputs=[[3.0]])


def test_from_a_spec(backend):
    spec = [
        {"type": "container_splitter", "_args": ["b", "a"]},
        {"type": "multiply", "factor": 2.0},
        {"type": "container-splitter", "tuple_length": 2},
    ]
    stack = PreprocessorStack.from_spec(spec)
    assert stack.get_preprocessed_space(SPACE).flatten().keys() == {"0", "1"}
    executor = GraphExecutor(stack, {"inputs": SPACE}, backend=backend)
    b, a = executor.execute("preprocess", SAMPLE)
    assert (a.tolist(), b.tolist()) == ([[2.0, 4.0]], [6.0])


def test_the_recorded_spec_makes_it_again():
    with recording() as records:
        PreprocessLayer.from_spec({"type": "container_splitter", "_args": ["b", "a"]}, path="layer")
    assert records["layer"][0]["_args"] == ["b", "a"]
    assert PreprocessLayer.from_spec(records["layer"][0]).output_order == ("b", "a")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({}, r"expected an order of parts or tuple_length, given \[\] and None"),
        ({"_args": ["a"], "tuple_length": 2}, "expected an order of parts or tuple_length"),
        (
            {"_args": ["a", 1]},
            r"expected keys of a Dict or positions in a Tuple, each once, given \['a', 1\]",
        ),
        ({"_args": ["a", "a"]}, "each once"),
        ({"tuple_length": 0}, r"tuple_length: expected an integer in \[1, 1000\], given 0"),
    ],
)
def test_wrong_arguments(args, message):
    with pytest.raises(SpecError, match=message):
        PreprocessLayer.from_spec({"type": "container_splitter", "scope": "splitter", **args})


@pytest.mark.parametrize(
    ("layer", "space"),
    [
        (ContainerSplitter("a", "x"), SPACE),
        (ContainerSplitter("a"), A),
        (ContainerSplitter("a"), Tuple(A, B)),
        (ContainerSplitter(0, 2), Tuple(A, B)),
        (ContainerSplitter(0), SPACE),
        (ContainerSplitter(tuple_length=3), Tuple(A, B)),
    ],
)
def test_spaces_without_these_parts(layer, space):
    with pytest.raises(SpaceError, match="container-splitter: expected a .*, given"):
        layer.get_preprocessed_space(space)
