"""The layout of variables in flat buffers, and the blocks that functions over lists of variables are given."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlgraph.core import BuildError, Component, GraphExecutor, assemble, build, graph_fn, rlgraph_api
from rlgraph.core.graph.variables import Variable, lay_out
from rlgraph.core.ops import TensorSpec, map_nested
from rlgraph.spaces import Dict, FloatBox, IntBox, Tuple
from rlgraph.testing import ComponentTest

BATCH_OF_3 = FloatBox(shape=(2,), add_batch_rank=3)
STEPS_OF_3 = FloatBox(shape=(2,), add_batch_rank=3, add_time_rank=4, time_major=True)


def zeros(shape, dtype, rng):
    return np.zeros(shape, dtype)


def variable(name, *shape, dtype="float32", trainable=True, host=False, role=""):
    return Variable(name, TensorSpec(shape, dtype), zeros, trainable, host, role)


def test_one_group_sorted_by_scoped_name():
    b, a, c = variable("net/b", 2, 3), variable("net/a", 4), variable("net/c")
    layout = lay_out([b, a, c], {})
    (group,) = layout.groups.values()
    assert [v.name for v in group.variables] == ["net/a", "net/b", "net/c"]
    assert group.offsets == {"net/a": 0, "net/b": 4, "net/c": 10}
    assert (group.size, group.dtype, group.trainable) == (11, "float32", True)
    assert layout.place(b) == (group.name, 4, 10)


def test_groups_by_role_dtype_trainable_and_steppers():
    kinds = {
        "plain": variable("plain", 1),
        "integer": variable("integer", 1, dtype="int64", trainable=False),
        "frozen": variable("frozen", 1, trainable=False),
        "copy": variable("copy", 1, role="copy:target"),
        "slot": variable("slot", 1, role="slot:adam/m", trainable=False),
        "stepped": variable("stepped", 1),
        "stepped by two": variable("both", 1),
        "also plain": variable("also", 1),
        "host": variable("host", 1, host=True),
    }
    steppers = {"stepped": frozenset({"adam"}), "both": frozenset({"adam", "sgd"})}
    layout = lay_out(list(kinds.values()), steppers)
    assert layout.group_of["plain"] == layout.group_of["also"]
    assert "host" not in layout.group_of
    groups = {layout.group_of[v.name] for v in kinds.values() if not v.host}
    assert len(groups) == len(layout.groups) == 7


def test_shared_groups_stay_as_they_are():
    a, b, frozen = variable("a", 2), variable("b", 3), variable("frozen", 1, trainable=False)
    shared = lay_out([b, frozen], {})
    layout = lay_out([a, variable("b", 3), variable("frozen", 1, trainable=False)], {}, shared)
    assert {name: layout.groups[name] for name in shared.groups} == shared.groups
    assert layout.place(b) == shared.place(b) and layout.place(frozen) == shared.place(frozen)
    assert layout.group_of["a"] not in shared.groups  # though it would be in one group with b


@pytest.mark.parametrize(
    "given, said",
    [
        ([], "given none"),
        ([variable("b", 4)], r"given float32\[4\]"),
        ([variable("b", 3, host=True)], "given none"),
    ],
)
def test_a_shared_variable_that_is_missing_or_other(given, said):
    with pytest.raises(BuildError, match=f"variable b: expected float32\\[3\\], .* shared, {said}"):
        lay_out([variable("a", 2), *given], {}, lay_out([variable("b", 3)], {}))


def test_the_order_of_declaration_does_not_matter():
    variables = [
        variable(f"v{i}", i + 1, role=f"r{i % 2}", dtype=("float32", "float64")[i % 3 == 0]) for i in range(9)
    ]
    layout = lay_out(variables, {})
    for seed in range(5):
        random.Random(seed).shuffle(variables)
        assert lay_out(variables, {}) == layout


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.booleans(), st.sampled_from(["", "r"])), min_size=1, max_size=8),
    st.lists(st.booleans(), min_size=8, max_size=8),
    st.sets(st.integers(1, 7)),
)
def test_blocks_hold_exactly_the_variables_of_a_list(kinds, chosen, cuts):
    variables = [
        variable(f"v{i}", size, trainable=trainable, role=role)
        for i, (size, trainable, role) in enumerate(kinds)
    ]
    layout = lay_out(variables, {})
    wanted = [v for v, keep in zip(variables, chosen, strict=False) if keep]
    cuts = {cut for cut in cuts if cut < len(wanted)}
    blocks = layout.blocks(wanted, cuts)
    assert [v for block in blocks for v in block.variables] == wanted
    position, edges = 0, set()
    for block in blocks:
        # Each element of the buffer belongs to the block's variables, in their order.
        elements = [(block.group, i) for i in range(block.start, block.stop)]
        expected = []
        for v in block.variables:
            group, start, stop = layout.place(v)
            expected += [(group, i) for i in range(start, stop)]
        assert elements == expected
        edges.add(position)
        position += len(block.variables)
    assert cuts <= edges | {0}


def test_cuts_where_contiguity_breaks():
    a, b, c, d = (variable(name, 2, trainable=name != "b") for name in "abcd")
    layout = lay_out([a, b, c, d], {})
    assert layout.cuts([a, c, d]) == set()
    assert layout.cuts([a, b, c, d]) == {1, 2}
    assert layout.cuts([a, d]) == {1}
    assert [len(block.variables) for block in layout.blocks([a, c, d], {1})] == [1, 2]
    assert layout.blocks([], set()) == []


class Net(Component):
    """Two variables."""

    def create_variables(self, input_spaces, action_space=None):
        self.weights = self.get_variable("weights", FloatBox(shape=(2, 3)))
        self.biases = self.get_variable("biases", FloatBox(shape=(3,)))
        self.count = self.get_variable("count", IntBox())

    @rlgraph_api
    @graph_fn
    def call(self, ops, x):
        return ops.matmul(x, self.weights) + self.biases


class Slotted(Component):
    def create_variables(self, input_spaces, action_space=None):
        self.moments = self.get_slots("moments", input_spaces["variables"])

    @rlgraph_api
    @graph_fn(returns=0)
    def use(self, ops, variables):
        for v, moment in zip(variables, self.moments, strict=True):
            ops.assign(moment, v)


@pytest.mark.filterwarnings("ignore::rlgraph.core.BuildWarning")
def test_copies_and_slots_have_buffers_of_their_own():
    class Root(Component):
        def __init__(self):
            self.net = Net(scope="net")
            self.target = self.net.copy(scope="target", trainable=False)
            self.slots = Slotted(scope="slots")
            super().__init__(self.net, self.target, self.slots, scope="root")

        @rlgraph_api
        def run(self, x):
            return self.net.call(x), self.target.call(x)

    Floats = type("Floats", (Net,), {})

    def create_variables(self, input_spaces, action_space=None):
        self.weights = self.get_variable("weights", FloatBox(shape=(2, 3)))
        self.biases = self.get_variable("biases", FloatBox(shape=(3,)))

    Floats.create_variables = create_variables

    class WithSlots(Root):
        def __init__(self):
            self.net = Floats(scope="net")
            self.target = self.net.copy(scope="target", trainable=False)
            self.slots = Slotted(scope="slots")
            Component.__init__(self, self.net, self.target, self.slots, scope="root")

        @rlgraph_api
        def slot(self):
            return self.slots.use(self.net.variables())

    graph = build(assemble(WithSlots()), {"x": FloatBox(shape=(2,), add_batch_rank=True)})
    groups = {group.name: [v.name for v in group.variables] for group in graph.layout.groups.values()}
    assert sorted(groups.values()) == [
        ["net/biases", "net/weights"],
        ["slots/moments/net/biases", "slots/moments/net/weights"],
        ["target/biases", "target/weights"],
    ]
    assert not any(graph.variables[name].trainable for name in graph.variables if not name.startswith("net/"))

    plain = build(assemble(Root()), {"x": FloatBox(shape=(2,), add_batch_rank=True)})
    assert sorted([v.name for v in group.variables] for group in plain.layout.groups.values()) == [
        ["net/biases", "net/weights"],
        ["net/count"],
        ["target/biases", "target/weights"],
        ["target/count"],
    ]


def test_a_frozen_component_freezes_what_is_below():
    leaf = Net(scope="leaf")
    middle = type("M", (Component,), {"call": rlgraph_api(lambda self, x: leaf.call(x))})(
        leaf, scope="middle", trainable=False
    )
    root = type("R", (Component,), {"run": rlgraph_api(lambda self, x: middle.call(x))})(middle, scope="root")
    graph = build(assemble(root), {"x": FloatBox(shape=(2,), add_batch_rank=True)})
    assert [v.trainable for v in graph.variables.values()] == [False] * 3


def test_variables_are_compared_by_identity():
    assert variable("a", 2) != variable("a", 2)
    assert variable("a", 2, 3).size == 6
    assert variable("a").size == 1
    with pytest.raises(TypeError):
        variable("a", None).size


class Seen(Component):
    """Remembers the Space of its input."""

    def check_input_spaces(self, input_spaces, action_space=None):
        self.space = input_spaces["x"]

    @rlgraph_api
    @graph_fn
    def call(self, ops, x):
        return ops.sum(x, axis=-1)


class Walkers(Component):
    """States of several environments in a variable, which a layer reads as a batch."""

    def __init__(self, space):
        self.space = space
        self.seen = Seen()
        super().__init__(self.seen, scope="walkers")

    def create_variables(self, input_spaces, action_space=None):
        self.states = self.get_variable("states", self.space, initializer=1.0, trainable=False)

    @rlgraph_api
    def go(self, by):
        return self.seen.call(self._go(by))

    @graph_fn
    def _go(self, ops, by):
        ops.assign_add(self.states, ops.broadcast_to(by, self.states.shape))
        return ops.read(self.states)


@pytest.mark.parametrize("space", [BATCH_OF_3, STEPS_OF_3])
def test_the_ranks_of_a_variable_have_fixed_sizes(backend, space):
    root = Walkers(space)
    test = ComponentTest(root, {"by": FloatBox(shape=(2,))}, backend=backend)
    size = space.get_shape(with_batch_rank=True, with_time_rank=True)
    assert [v.shape for v in test.read_variable_values(root.states).values()] == [size]
    for walked in (1, 2):
        states = np.ones(size) + walked * np.float32([1, 0.5])
        test.test(("go", [np.float32([1, 0.5])]), expected_outputs=states.sum(-1))
    assert (root.seen.space.batch_rank, root.seen.space.time_rank) == (space.batch_rank, space.time_rank)
    assert root.seen.space.time_major == space.time_major


@pytest.mark.parametrize("rank", [True, "N"])
def test_a_rank_of_unknown_size_is_refused(rank):
    root = Walkers(FloatBox(shape=(2,), add_batch_rank=rank))
    with pytest.raises(BuildError, match="walkers/states needs a Space with .* ranks of fixed size"):
        GraphExecutor(root, {"by": FloatBox(shape=(2,))}, backend="numpy")


class Nested(Component):
    """Variables of a Space with dicts and tuples, by its structure."""

    SPACE = Dict(a=Tuple(FloatBox(shape=(2,)), IntBox(3)), b=Dict(c=FloatBox()))

    def create_variables(self, input_spaces, action_space=None):
        self.held = self.get_variables("held", self.SPACE.with_batch_rank(4), trainable=False)

    @rlgraph_api
    @graph_fn
    def read(self, ops):
        return map_nested(ops.read, self.held)

    @rlgraph_api
    @graph_fn(returns=0)
    def write(self, ops, values):
        map_nested(ops.assign, self.held, values)


def test_variables_of_a_space():
    space = Nested.SPACE.with_batch_rank(4)
    executor = GraphExecutor(Nested(scope="root"), {"values": space}, backend="numpy")
    assert sorted(executor.get_weights()) == ["root/held/a/0", "root/held/a/1", "root/held/b/c"]
    np.testing.assert_equal(executor.execute("read"), space.zeros())
    values = space.sample(rng=np.random.default_rng(0))
    executor.execute("write", values)
    np.testing.assert_equal(executor.execute("read"), values)
