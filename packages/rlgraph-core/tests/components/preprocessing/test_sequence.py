import numpy as np
import pytest

from rlgraph.components import PreprocessorStack, Sequence
from rlgraph.core import GraphExecutor, SpecError
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, SpaceError
from rlgraph.testing import ComponentTest


def with_states(layer, space, backend):
    states = layer.get_internal_states_space(space)
    return ComponentTest(layer, {"inputs": space, "internal_states": states}, backend=backend), states


@pytest.mark.parametrize("add_rank", [True, False])
@pytest.mark.parametrize("shape", [(2,), (3, 2, 1), (2, 2, 3)])
def test_the_last_states_of_each_episode(shape, add_rank, backend):
    """Against one list of states per episode; episodes of three rows begin now and then."""
    space = IntBox(256, shape=shape, dtype="uint8", add_batch_rank=True)
    layer = Sequence(3, add_rank=add_rank)
    test, states_space = with_states(layer, space, backend)
    states, lists, rng = states_space.zeros(3), [None] * 3, np.random.default_rng(0)
    for _ in range(20):
        x = space.sample(3, rng=rng)
        lists = [[new] * 3 if old is None else [*old[1:], new] for old, new in zip(lists, x, strict=True)]
        join = np.stack if add_rank else np.concatenate
        expected = np.array([join(each, axis=-1) for each in lists])
        result = test.test("call", x, states)
        np.testing.assert_array_equal(result["output"], expected)
        assert layer.get_preprocessed_space(space).contains(result["output"])
        states = result["internal_states"]
        assert states_space.contains(states)
        for row in np.flatnonzero(rng.random(3) < 0.3):
            states = {name: array.copy() for name, array in states.items()}
            states["stack"][row], states["is_filled"][row], lists[row] = 0, False, None


def test_numbers_without_axes(backend):
    test, _ = with_states(Sequence(2), FloatBox(add_batch_rank=True), backend)
    first = test.test("call", [1.0], {"stack": [[0.0, 0.0]], "is_filled": [False]})
    assert first["output"].tolist() == [[1.0, 1.0]]
    # Rows are episodes: where one is under way its stack moves on, even if it is full of zeros.
    states = {"stack": [[0.0, 0.0], [5.0, 6.0], [7.0, 8.0]], "is_filled": [True, False, True]}
    output = test.test("call", [1.0, 2.0, 3.0], states)["output"]
    assert output.tolist() == [[0.0, 1.0], [2.0, 2.0], [8.0, 3.0]]
    assert test.test("call", [], {"stack": np.zeros((0, 2)), "is_filled": np.zeros(0, bool)})[
        "output"
    ].shape == (0, 2)


def test_without_states_every_call_begins_an_episode(backend):
    space = FloatBox(add_batch_rank=True)
    test = ComponentTest(Sequence(2), {"inputs": space}, backend=backend)
    for value in (1.0, 2.0):
        assert test.test("call", [value])["output"].tolist() == [[value, value]]


def test_the_parts_of_a_container(backend):
    space = Dict(a=FloatBox(), b={"c": IntBox(9, shape=(1,))}, add_batch_rank=True)
    test, states = with_states(Sequence(2), space, backend)
    first = test.test("call", {"a": [1.0, 4.0], "b": {"c": [[1], [4]]}}, states.zeros(2))
    given = first["internal_states"]
    given["is_filled"] = np.array([True, False])
    second = test.test("call", {"a": [2.0, 3.0], "b": {"c": [[2], [3]]}}, given)["output"]
    assert second["a"].tolist() == [[1.0, 2.0], [3.0, 3.0]]
    assert second["b"]["c"].tolist() == [[[1, 2]], [[3, 3]]]


def test_states_of_an_earlier_step_stay_as_they_are(backend):
    test, states = with_states(Sequence(2), FloatBox(shape=(2,), add_batch_rank=True), backend)
    first = test.test("call", np.ones((1, 2)), states.zeros(1))
    again = [
        test.test("call", np.full((1, 2), 5.0), first["internal_states"])["output"].tolist() for _ in range(2)
    ]
    assert again == [[[[1.0, 5.0], [1.0, 5.0]]]] * 2
    assert (first["output"] == 1.0).all()


def test_wrong_use():
    with pytest.raises(SpecError, match="sequence.sequence_length: expected an integer >= 1, given 0"):
        Sequence(0)
    with pytest.raises(SpaceError, match="sequence: without add_rank it needs a Space with a last axis"):
        Sequence(2, add_rank=False).get_preprocessed_space(float)
    for name in ("num_environments", "batch_size"):
        with pytest.raises(
            SpecError, match=rf"\[0\].{name}: Sequence has no such key. Known: .*sequence_length"
        ):
            PreprocessorStack.from_spec([{"type": "sequence", name: 4}])


@pytest.mark.parametrize(
    ("argument", "space", "message"),
    [
        (
            "inputs",
            FloatBox(shape=(3,), add_batch_rank=True, add_time_rank=True),
            "one state of each episode",
        ),
        ("inputs", FloatBox(shape=(3,)), "inputs: expected a batch rank and no time rank"),
        ("internal_states", Dict(stack=FloatBox(shape=(2,))), r"internal_states: expected Dict\(.*is_filled"),
        ("internal_states", BoolBox(add_batch_rank=True), r"internal_states: expected Dict\(.*is_filled"),
    ],
)
def test_wrong_spaces(argument, space, message):
    spaces = {"inputs": FloatBox(add_batch_rank=True), argument: space}
    with pytest.raises(SpaceError, match=message):
        GraphExecutor(Sequence(2), spaces, backend="numpy")
