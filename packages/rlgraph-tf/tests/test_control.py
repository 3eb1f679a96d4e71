"""Control flow keeps what is known of shapes, and leaves variables to the graph around it."""

import tensorflow as tf

from rlgraph.tf.ops import TfOps

OPS = TfOps()


def trace(function, *shapes):
    specs = [tf.TensorSpec(shape, tf.float32) for shape in shapes]
    return tf.function(function, autograph=False).get_concrete_function(*specs)


def shapes(function, *inputs):
    return [output.shape.as_list() for output in trace(function, *inputs).outputs]


def forget(x):
    """`x`, of whose shape TensorFlow knows the rank alone."""
    return tf.compat.v1.placeholder_with_default(x, [None] * len(x.shape))


def test_shapes_of_scans():
    def scan(axis, reverse):
        return lambda xs: OPS.scan(
            lambda c, x: (forget(c + x), (c, forget(x))), tf.zeros([4, 3]), xs, reverse, axis
        )

    assert shapes(scan(0, False), [7, 4, 3]) == [[4, 3], [7, 4, 3], [7, None, None]]
    assert shapes(scan(1, True), [4, 7, 3]) == [[4, 3], [4, 7, 3], [None, 7, None]]
    assert shapes(scan(0, True), [None, 4, 3]) == [[4, 3], [None, 4, 3], [None, None, None]]


def test_an_axis_of_no_steps_beside_an_unknown_one():
    for size in (0, None):
        mapped = trace(lambda xs: OPS.map(lambda x: x + 1.0, xs, 1), [None, size, 2])
        assert mapped(tf.zeros([3, 0, 2])).shape == [3, 0, 2]


def test_shapes_of_loops_and_branches():
    def loop(x):
        return OPS.while_loop(lambda c: tf.reduce_sum(c) < 9.0, lambda c: forget(c + 1.0), x)

    assert shapes(loop, [None, 3]) == [[None, 3]]
    for branches in ((forget, tf.identity), (tf.identity, forget)):

        def branch(x, branches=branches):
            return OPS.cond(tf.reduce_sum(x) < 9.0, *((lambda f=f: f(x)) for f in branches))

        assert shapes(branch, [4, 3]) == [[4, 3]]


def test_the_trial_of_a_body_leaves_nothing_behind():
    """To learn what a body collects it is traced once more, beside the program."""
    concrete = trace(lambda xs: OPS.map(lambda x: tf.sinh(x), xs), [5])
    kinds = [operation.type for operation in concrete.graph.get_operations()]
    assert "Sinh" not in kinds
    assert sum("While" in kind for kind in kinds) == 1
    assert not any("Call" in kind for kind in kinds)
