"""Values put together."""

import numpy as np
import pytest

from rlgraph.components import ContainerMerger
from rlgraph.core import SpecError
from rlgraph.spaces import FloatBox, IntBox, Tuple
from rlgraph.testing import ComponentTest

A, B = np.array([1.0, 2.0], np.float32), np.array([3, 4])


def test_named(backend):
    spaces = {"left": FloatBox(add_batch_rank=True), "right": IntBox(9, add_batch_rank=True)}
    test = ComponentTest(ContainerMerger("left", "right"), spaces, backend=backend)
    test.test(("merge", [A, B]), expected_outputs={"left": A, "right": B})


def test_numbered(backend):
    spaces = {"input_0": FloatBox(add_batch_rank=True), "input_1": IntBox(9, add_batch_rank=True)}
    ComponentTest(ContainerMerger(2), spaces, backend=backend).test(
        ("merge", [A, B]), expected_outputs=(A, B)
    )


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((), {}, "expected names of inputs, or one number of them, given"),
        ((0,), {}, "expected names of inputs, or one number >= 1 of them, given 0"),
        (("a", "a"), {}, "duplicate input name: a, a"),
        (("a", "b/c"), {}, "'b/c' is not a valid input name: use letters, digits and _"),
        (("class",), {}, "'class' is not a valid input name"),
        (("a", "b"), {"merge_tuples_into_one": True}, "makes a Tuple: pass a number of items, not names"),
        (("a", 2), {}, r"expected names of inputs, or one number of them, given \('a', 2\)"),
    ],
)
def test_mistakes(arguments, options, message):
    with pytest.raises(SpecError, match=f"container-merger: .*{message}"):
        ContainerMerger(*arguments, **options)


def test_tuples_into_one(backend):
    pair = Tuple(FloatBox(), IntBox(9), add_batch_rank=True)
    test = ComponentTest(
        ContainerMerger(2, merge_tuples_into_one=True), {"input_0": pair, "input_1": pair}, backend=backend
    )
    test.test(("merge", [(A, B), (2 * A, B)]), expected_outputs=(A, B, 2 * A, B))


def test_what_is_no_tuple_is_one_item_of_the_tuple(backend):
    pair = Tuple(FloatBox(), IntBox(9), add_batch_rank=True)
    spaces = {"input_0": pair, "input_1": FloatBox(add_batch_rank=True)}
    test = ComponentTest(ContainerMerger(2, merge_tuples_into_one=True), spaces, backend=backend)
    test.test(("merge", [(A, B), 2 * A]), expected_outputs=(A, B, 2 * A))
