import pytest

from rlgraph.core.graph.values import compatible, describe, leaves, map_leaves, part_at, same_ranks, space_of
from rlgraph.core.graph.variables import GradientList, VariableList
from rlgraph.core.ops import SymbolicDim, TensorSpec
from rlgraph.spaces import Dict, FloatBox, IntBox, Tuple

B, N = SymbolicDim.symbol("B"), SymbolicDim.symbol("N")
A = TensorSpec((B, 2), "float32")
NESTED = {"a": A, "b": (TensorSpec((B,), "int64", 0, 3), {"c": A})}


def test_leaves_in_order():
    assert [path for path, _ in leaves(NESTED)] == [("a",), ("b", 0), ("b", 1, "c")]
    assert map_leaves(lambda spec: spec.dtype, NESTED) == {"a": "float32", "b": ("int64", {"c": "float32"})}


def test_parts():
    assert part_at(NESTED, ("b", 1, "c")) == A
    assert part_at(NESTED, ()) is NESTED
    for path, message in [
        (("x",), r"the parts are \['a', 'b'\]"),
        (("b", 2), r"the parts are \[0, 1\]"),
        (("a", "z"), "no parts"),
    ]:
        with pytest.raises(KeyError, match=message):
            part_at(NESTED, path)


def test_descriptions():
    assert describe(NESTED) == "{a: float32[B, 2], b: (int64[B], {c: float32[B, 2]})}"
    assert describe(VariableList()) == "<0 variables>"
    assert describe(GradientList()) == "<0 gradients>"


def test_spaces():
    box = FloatBox(shape=(2,), add_batch_rank=True)
    assert space_of(NESTED) == Dict(a=box, b=Tuple(IntBox(0, 3, add_batch_rank=True), Dict(c=box)))
    assert space_of({"a": A, "b": None, "training": False}) == Dict(a=box)
    assert space_of(VariableList()) == VariableList()


def test_compatible_values_differ_in_bounds_unknown_sizes_and_keys_only():
    assert compatible(A, TensorSpec((N, 2), "float32", 0.0, 1.0))
    assert compatible(A, TensorSpec((7, 2), "float32"))
    assert not compatible(A, TensorSpec((B, 3), "float32"))
    assert not compatible(A, TensorSpec((B, 2), "float64"))
    assert not compatible(A, TensorSpec((B, 2, 1), "float32"))
    assert compatible(NESTED, {"a": A, "b": (TensorSpec((N,), "int64"), {"c": A})})
    assert compatible(NESTED, {"a": A}) and not same_ranks(NESTED, {"a": A})
    assert not compatible(NESTED, {"a": TensorSpec((B, 3), "float32")})
    assert compatible(NESTED, {"a": None})
    assert not compatible(NESTED, A)
    assert not compatible((A,), (A, A))
    assert not compatible(A, (A,))
