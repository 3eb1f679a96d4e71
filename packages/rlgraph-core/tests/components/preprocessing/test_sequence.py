import numpy as np
import pytest

from rlgraph.components import ImageCrop, MovingStandardize, PreprocessorStack, Sequence
from rlgraph.core import Component, GraphExecutor, InputError, SpecError, rlgraph_api
from rlgraph.spaces import Dict, FloatBox, IntBox, SpaceError
from rlgraph.testing import ComponentTest

INDICES = {"env_indices": IntBox(add_batch_rank=True)}


class ByHand:
    """One list of states per environment."""

    def __init__(self, length):
        self.length, self.last = length, {}

    def __call__(self, state, env):
        states = self.last.setdefault(env, [state] * self.length)
        states[:] = [*states[1:], state]
        return states


@pytest.mark.parametrize("add_rank", [True, False])
@pytest.mark.parametrize("shape", [(2,), (3, 2, 1), (2, 2, 3)])
def test_the_last_states_of_each_environment(shape, add_rank, backend):
    """Environments come in any order and number, and are reset now and then."""
    space = IntBox(256, shape=shape, dtype="uint8", add_batch_rank=True)
    layer = Sequence(3, add_rank=add_rank, num_environments=5)
    test = ComponentTest(layer, {"inputs": space, **INDICES}, backend=backend)
    expected_space = layer.get_preprocessed_space(space)
    by_hand, rng = ByHand(3), np.random.default_rng(0)
    for _ in range(40):
        envs = rng.permutation(5)[: rng.integers(1, 6)]
        x = space.sample(len(envs), rng=rng)
        join = np.stack if add_rank else np.concatenate
        expected = [join(by_hand(state, env), axis=-1) for state, env in zip(x, envs.tolist(), strict=True)]
        given = test.test("call", x, envs, expected_outputs=np.array(expected))
        assert expected_space.contains(given)
        if rng.random() < 0.3:
            over = rng.permutation(5)[:2]
            test.test("reset", over)
            for env in over.tolist():
                by_hand.last.pop(env, None)


def test_numbers_without_axes(backend):
    test = ComponentTest(Sequence(2), {"inputs": FloatBox(add_batch_rank=True), **INDICES}, backend=backend)
    test.test("call", [1.0], [7], expected_outputs=[[1.0, 1.0]])
    test.test("call", [2.0], [7], expected_outputs=[[1.0, 2.0]])
    test.test("reset", [7])
    test.test("call", [3.0], [7], expected_outputs=[[3.0, 3.0]])


def test_the_parts_of_a_container(backend):
    space = Dict(a=FloatBox(), b={"c": IntBox(9, shape=(1,))}, add_batch_rank=True)
    test = ComponentTest(Sequence(2), {"inputs": space, **INDICES}, backend=backend)
    test.test("call", {"a": [1.0], "b": {"c": [[1]]}}, [0])
    test.test(
        "call",
        {"a": [2.0, 3.0], "b": {"c": [[2], [3]]}},
        [0, 1],
        expected_outputs={"a": [[1.0, 2.0], [3.0, 3.0]], "b": {"c": [[[1, 2]], [[3, 3]]]}},
    )


def test_what_came_out_stays_as_it_was(backend):
    spaces = {"inputs": FloatBox(shape=(2,), add_batch_rank=True), **INDICES}
    for layers in ([Sequence(2)], [Sequence(2), ImageCrop(width=1, height=1)]):  # a view of it
        made = GraphExecutor(PreprocessorStack(layers), spaces, backend=backend)
        first = made.execute("preprocess", np.ones((1, 2), np.float32), np.array([0]))
        made.execute("preprocess", np.full((1, 2), 5.0, np.float32), np.array([0]))
        assert (first == 1.0).all()


def test_two_calls_in_one_plan(backend):
    """The first is still what it was when the second has moved the sequence on."""

    class Twice(Component):
        def __init__(self):
            self.sequence = Sequence(2)
            super().__init__(self.sequence, scope="twice")

        @rlgraph_api
        def call(self, first, second, env_indices):
            return self.sequence.call(first, env_indices), self.sequence.call(second, env_indices)

    box = FloatBox(add_batch_rank=True)
    made = GraphExecutor(Twice(), {"first": box, "second": box, **INDICES}, backend=backend)
    first, second = made.execute("call", np.float32([1.0]), np.float32([2.0]), np.array([0]))
    assert (first.tolist(), second.tolist()) == ([[1.0, 1.0]], [[1.0, 2.0]])


def test_a_checkpoint_keeps_the_sequences(tmp_path, backend):
    spaces = {"inputs": FloatBox(add_batch_rank=True), **INDICES}
    made, other = (GraphExecutor(Sequence(2), spaces, backend=backend) for _ in range(2))
    made.execute("call", np.array([1.0], np.float32), np.array([3]))
    made.save(tmp_path / "checkpoint")
    other.load(tmp_path / "checkpoint")
    assert other.execute("call", np.array([2.0], np.float32), np.array([3])).tolist() == [[1.0, 2.0]]


def test_wrong_use():
    with pytest.raises(SpecError, match="sequence.sequence_length: expected an integer >= 1, given 0"):
        Sequence(0)
    with pytest.raises(SpecError, match="s.num_environments: expected an integer >= 1, given 2.0"):
        Sequence(2, num_environments=2.0, scope="s")
    with pytest.raises(SpaceError, match="sequence: without add_rank it needs a Space with a last axis"):
        Sequence(2, add_rank=False).get_preprocessed_space(float)


@pytest.mark.parametrize("layer", [Sequence, MovingStandardize])
@pytest.mark.parametrize(
    ("argument", "space", "message"),
    [
        (
            "inputs",
            FloatBox(shape=(3,), add_batch_rank=True, add_time_rank=True),
            "a state of each environment",
        ),
        ("inputs", FloatBox(shape=(3,)), "inputs: expected a batch rank and no time rank"),
        (
            "env_indices",
            FloatBox(add_batch_rank=True),
            r"env_indices: expected IntBox\(add_batch_rank=True\)",
        ),
        ("env_indices", int, "env_indices: expected IntBox"),
    ],
)
def test_wrong_ranks(layer, argument, space, message):
    spaces = {"inputs": FloatBox(add_batch_rank=True), **INDICES, argument: space}
    with pytest.raises(SpaceError, match=message):
        GraphExecutor(layer(), spaces, backend="numpy")


@pytest.mark.parametrize("layer", ["sequence", "moving_standardize"])
def test_what_the_room_for_environments_was_called(layer):
    with pytest.raises(SpecError, match="It is 'num_environments' here"):
        PreprocessorStack.from_spec([{"type": layer, "batch_size": 4}])


@pytest.mark.parametrize(
    ("states", "envs", "message"),
    [
        (
            [1.0],
            [64],
            r"sequence: expected env_indices in 0..63, given \[64\]; increase num_environments",
        ),
        ([1.0], [-1], r"sequence: expected env_indices in 0..63, given \[-1\]"),
        ([1.0, 2.0], [3, 3], r"sequence: expected different env_indices in one call, given \[3, 3\]"),
        ([1.0, 2.0], [0], "env_indices"),
    ],
)
def test_wrong_environments(states, envs, message, backend):
    spaces = {"inputs": FloatBox(add_batch_rank=True), **INDICES}
    made = GraphExecutor(Sequence(2), spaces, backend=backend)
    with pytest.raises(InputError, match=message):
        made.execute("call", np.array(states, np.float32), np.array(envs))
    if len(states) == 1:
        with pytest.raises(InputError, match=message):
            made.execute("reset", np.array(envs))
