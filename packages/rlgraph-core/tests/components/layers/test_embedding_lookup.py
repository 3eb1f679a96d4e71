import numpy as np
import pytest

from rlgraph.components import Adam, EmbeddingLookup
from rlgraph.core import Component, InputError, SpecError, graph_fn, rlgraph_api
from rlgraph.spaces import Dict, FloatBox, IntBox, SpaceError, TextBox
from rlgraph.testing import ComponentTest

TABLE = [[0.0, 0.1], [1.0, 1.1], [2.0, 2.1]]


def lookup(space, backend, **options):
    return ComponentTest(
        EmbeddingLookup(2, 3, initializer_spec=TABLE, **options), {"ids": space}, backend=backend
    )


@pytest.mark.parametrize(
    ("space", "ids"),
    [
        (IntBox(3, add_batch_rank=True), [2, 0, 2]),
        (IntBox(2, dtype="int32", add_batch_rank=True), np.int32([1, 0])),
        (IntBox(3, shape=(2,), add_batch_rank=True), [[2, 0], [1, 1], [0, 2]]),
        (IntBox(3, add_batch_rank=True, add_time_rank=True), [[2, 0, 0], [1, 1, 2]]),
        (IntBox(3, add_batch_rank=True, add_time_rank=True, time_major=True), [[2, 0, 0], [1, 1, 2]]),
        (IntBox(3, dtype="uint8", add_batch_rank=True), np.uint8([1, 2])),
    ],
)
def test_rows(space, ids, backend):
    expected = [[TABLE[i] for i in row] if np.ndim(row) else TABLE[row] for row in np.asarray(ids).tolist()]
    lookup(space, backend).test("call", np.asarray(ids), expected_outputs=expected)


def test_one_table_for_a_container(backend):
    test = lookup(Dict(a=IntBox(3), b={"c": IntBox(2)}, add_batch_rank=True), backend)
    assert list(test.read_variable_values()) == ["embedding-lookup/table"]
    test.test(
        "call",
        {"a": [2, 1], "b": {"c": [1, 0]}},
        expected_outputs={"a": [TABLE[2], TABLE[1]], "b": {"c": [TABLE[1], TABLE[0]]}},
    )


@pytest.mark.parametrize("time_major", [False, True])
def test_empty_sequences(time_major, backend):
    space = IntBox(3, add_batch_rank=True, add_time_rank=True, time_major=time_major)
    empty = np.zeros((0, 4) if time_major else (4, 0), np.int64)
    assert lookup(space, backend).test("call", empty).shape == (*empty.shape, 2)
    test = lookup(space, backend, pad_empty=True)
    test.test("call", empty, expected_outputs=np.zeros((1, 4, 2) if time_major else (4, 1, 2)))
    ids = np.array([[2, 0, 0], [1, 1, 2]])
    test.test("call", ids, expected_outputs=np.array(TABLE)[ids])


class Model(Component):
    def __init__(self, trainable):
        self.lookup = EmbeddingLookup(2, 3, initializer_spec=TABLE, trainable=trainable, scope="lookup")
        super().__init__(self.lookup, scope="model")

    def create_variables(self, input_spaces, action_space=None):
        self.factor = self.get_variable("factor", float, initializer=1.0)

    @rlgraph_api
    def call(self, ids):
        return self._sum(self.lookup.call(ids))

    @graph_fn
    def _sum(self, ops, rows):
        return ops.sum(rows) * self.factor


class Learner(Component):
    def __init__(self, trainable):
        self.model, self.adam = Model(trainable), Adam(0.1, scope="adam")
        super().__init__(self.model, self.adam, scope="learner")

    @rlgraph_api
    def learn(self, ids):
        self.adam.step(self.model.variables(trainable_only=True), self.model.call(ids))


@pytest.mark.parametrize("trainable", [True, False])
def test_only_rows_that_were_looked_up_learn(trainable, trainer):
    test = ComponentTest(Learner(trainable), {"ids": IntBox(3, add_batch_rank=True)}, backend=trainer)
    test.test("learn", [2, 0, 2])
    # The first step of Adam is the learning rate, against the sign of the derivative.
    moved = np.array([[0.1], [0.0], [0.1]]) if trainable else 0.0
    test.variable_test("model/lookup/table", np.array(TABLE) - moved, decimals=5)


def test_starting_values():
    space = {"ids": IntBox(50, add_batch_rank=True)}
    table = ComponentTest(EmbeddingLookup(40, 50), space, backend="numpy").read_variable_values()
    table = table["embedding-lookup/table"]
    assert table.shape == (50, 40) and 0.09 < np.abs(table).max() <= 0.1


def test_wrong_arguments():
    for arguments in ((0, 3), (2, 0), (2.5, 3)):
        with pytest.raises(
            SpecError, match=r"embedding-lookup.(embed_dim|vocab_size): expected an integer >= 1"
        ):
            EmbeddingLookup(*arguments)


@pytest.mark.parametrize(
    ("space", "options", "message"),
    [
        (
            IntBox(4, add_batch_rank=True),
            {},
            "embedding-lookup/ids: expected an IntBox of 0 to 2 (vocab_size is 3) with batch rank, given IntBox(",
        ),
        (IntBox(add_batch_rank=True), {}, "expected an IntBox of 0 to 2"),
        (IntBox(-1, 2, add_batch_rank=True), {}, "expected an IntBox of 0 to 2"),
        (FloatBox(add_batch_rank=True), {}, "expected an IntBox of 0 to 2"),
        (IntBox(3), {}, "give the Space add_batch_rank=True"),
        (TextBox(add_batch_rank=True), {}, 'put {"type": "string_to_hash_bucket"} in front'),
        (Dict(a=IntBox(3), b=IntBox(9), add_batch_rank=True), {}, "embedding-lookup/ids/b: expected"),
        (
            IntBox(3, add_batch_rank=True),
            {"pad_empty": True},
            "ids: expected a time rank, because of pad_empty",
        ),
    ],
)
def test_wrong_inputs(space, options, message):
    with pytest.raises(SpaceError) as error:
        lookup(space, "numpy", **options)
    assert message in str(error.value)


@pytest.mark.parametrize("wrong", [3, -1])
def test_ids_outside_of_the_space(wrong):
    test = ComponentTest(EmbeddingLookup(2, 3), {"ids": IntBox(3, add_batch_rank=True)}, backend="numpy")
    with pytest.raises(InputError, match=f"argument ids: expected .*, 0 to 2, given {wrong}"):
        test.test("call", np.array([wrong]))
