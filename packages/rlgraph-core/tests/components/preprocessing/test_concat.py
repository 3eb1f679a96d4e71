import numpy as np
import pytest

from rlgraph.components import Concat
from rlgraph.core import Component, SpecError, rlgraph_api
from rlgraph.spaces import Dict, FloatBox, SpaceError, Tuple
from rlgraph.testing import ComponentTest

SPACES = {"a": FloatBox(shape=(1, 2)), "b": {"c": FloatBox(shape=(2, 2)), "d": FloatBox(shape=(1, 3))}}
A, C, D = [[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]], [[7.0, 8.0, 9.0]]
SAMPLE = {"a": [A], "b": {"c": [C], "d": [D]}}


@pytest.mark.parametrize(
    ("options", "expected", "shape"),
    [
        ({"axis": 0, "dict_keys": ["b/c", "a"]}, [*C, *A], (3, 2)),
        ({"axis": -2, "dict_keys": ["a", "b/c"]}, [*A, *C], (3, 2)),
        ({"dict_keys": ["b/d", "a"]}, [[*D[0], *A[0]]], (1, 5)),
        ({"axis": 1, "dict_keys": ["a"]}, A, (1, 2)),
    ],
)
def test_leaves_and_axes(options, expected, shape, backend):
    space = Dict(SPACES, add_batch_rank=True)
    layer = Concat(**options)
    assert layer.get_preprocessed_space(space) == FloatBox(shape=shape, add_batch_rank=True)
    test = ComponentTest(layer, {"inputs": space}, backend=backend)
    test.test("call", SAMPLE, expected_outputs=[expected])


@pytest.mark.parametrize("axis", [0, -1])
def test_sequences(axis, backend):
    space = Tuple(FloatBox(shape=(1,)), FloatBox(shape=(2,)), add_batch_rank=True, add_time_rank=True)
    first, second = np.ones((3, 4, 1), np.float32), np.full((3, 4, 2), 2.0, np.float32)
    expected = np.broadcast_to([1.0, 2.0, 2.0], (3, 4, 3))
    test = ComponentTest(Concat(axis), {"inputs": space}, backend=backend)
    np.testing.assert_array_equal(test.executor.execute("call", (first, second)), expected)


class Two(Component):
    def __init__(self):
        self.concat = Component.from_spec({"type": "concat_layer"})
        super().__init__(self.concat, scope="two")

    @rlgraph_api
    def call(self, x, y):
        return self.concat.call((x, y))


def test_several_tensors(backend):
    space = FloatBox(shape=(2,), add_batch_rank=True)
    ComponentTest(Two(), {"x": space, "y": space}, backend=backend).test(
        "call", [[1.0, 2.0]], [[3.0, 4.0]], expected_outputs=[[1.0, 2.0, 3.0, 4.0]]
    )


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"axis": 1.0}, SpecError, "concat.axis: expected an integer, given 1.0"),
        ({"dict_keys": "a"}, SpecError, "concat.dict_keys: expected a list of different paths, given 'a'"),
        ({"dict_keys": ["a", "a"]}, SpecError, "concat.dict_keys: expected a list of different paths"),
        ({"dict_keys": 5}, SpecError, "concat.dict_keys: expected a list of different paths, given 5"),
        ({"dict_keys": []}, SpecError, "concat.dict_keys: expected a list of different paths, given []"),
        ({"dict_keys": ["b/e"]}, SpaceError, "concat.dict_keys: unknown leaf 'b/e'. Did you mean 'b/"),
        ({"axis": 2}, SpaceError, "concat: unknown axis 2 in the shapes"),
        ({"axis": -3}, SpaceError, "concat: unknown axis -3 in the shapes"),
        ({"axis": 0}, SpaceError, "concat: the shapes differ in more than axis 0"),
        ({}, SpaceError, "concat: the shapes differ in more than the last axis"),
    ],
)
def test_mistakes(options, error, message):
    with pytest.raises(error) as raised:
        Concat(**options).get_preprocessed_space(Dict(SPACES, add_batch_rank=True))
    assert message in str(raised.value)
