import copy
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlgraph.core.ops.dims import SymbolicDim, product

B, T, N = map(SymbolicDim.symbol, "BTN")

fast = settings(max_examples=100, deadline=None, derandomize=True)


def value(dim, **sizes):
    """What a size is for given symbols. Its repr is written as Python writes it."""
    return eval(repr(dim), {"__builtins__": {}}, sizes)


def trees():
    """Expressions as nested tuples, to be evaluated on symbols and on integers alike."""
    leaves = st.sampled_from(["B", "T", "N"]) | st.integers(-4, 4)
    return st.recursive(leaves, lambda inner: st.tuples(st.sampled_from("+-*"), inner, inner), max_leaves=8)


def evaluate(tree, symbols):
    if isinstance(tree, str):
        return symbols[tree]
    if isinstance(tree, int):
        return tree
    operator, left, right = tree
    left, right = evaluate(left, symbols), evaluate(right, symbols)
    return left + right if operator == "+" else left - right if operator == "-" else left * right


sizes = st.fixed_dictionaries({name: st.integers(-50, 50) for name in "BTN"})


@fast
@given(trees(), sizes)
def test_polynomials_compute_like_integers(tree, numbers):
    symbolic = evaluate(tree, {"B": B, "T": T, "N": N})
    assert value(symbolic, **numbers) == evaluate(tree, numbers)


@fast
@given(trees(), trees(), sizes)
def test_equal_polynomials_have_equal_values_and_hashes(left, right, numbers):
    symbols = {"B": B, "T": T, "N": N}
    one, other = evaluate(left, symbols), evaluate(right, symbols)
    if one == other:
        assert hash(one) == hash(other)
        assert value(one, **numbers) == value(other, **numbers)
    # a + b - b is a again, whatever they are.
    assert one + other - other == one
    assert one * other == other * one


@fast
@given(trees(), st.integers(1, 5), sizes)
def test_floor_division(tree, divisor, numbers):
    dim = evaluate(tree, {"B": B, "T": T, "N": N})
    quotient = dim // divisor
    assert value(quotient, **numbers) == evaluate(tree, numbers) // divisor
    assert quotient == dim // divisor


@fast
@given(trees(), st.integers(1, 4), st.lists(st.sampled_from("BTN"), max_size=2), sizes)
def test_exact_division_undoes_multiplication(tree, factor, names, numbers):
    symbols = {"B": B, "T": T, "N": N}
    dim = evaluate(tree, symbols)
    term = product((factor, *(symbols[name] for name in names)))
    whole = dim * term
    if isinstance(whole, SymbolicDim):
        assert whole.divide_exactly(term) == dim


def test_fixed_results_are_plain_integers():
    assert (type(B - B), B - B) == (int, 0)
    assert (type(B * 0), B * 0) == (int, 0)
    assert (type((B + 3) - B), (B + 3) - B) == (int, 3)
    assert (type((B * 4) // 2), (B * 4) // 2) == (SymbolicDim, B * 2)
    assert product(()) == 1
    assert product((2, 3)) == 6
    assert product((2, B, T, B)) == 2 * B * B * T


def test_repr():
    assert [repr(dim) for dim in (B, -B, 2 * B, T + 1, T - 1, 1 - T, B * T, 3 * B * T - 2 * B + 5)] == [
        "B",
        "-B",
        "2*B",
        "T + 1",
        "T - 1",
        "-T + 1",
        "B*T",
        "-2*B + 3*B*T + 5",
    ]
    assert repr((B + 1) // 2) == "(B + 1)//2"


def test_symbols_are_not_numbers():
    assert B != T
    assert B != 3
    assert B * T == T * B
    assert B + 0 == B * 1 == B
    with pytest.raises(TypeError, match="B is not known before run time"):
        bool(B)
    for wrong in (1.5, "2", True, None):
        with pytest.raises(TypeError):
            B + wrong
        with pytest.raises(TypeError):
            wrong * B
    for wrong in (0, -2, T, 1.5, True):
        with pytest.raises(TypeError):
            B // wrong
    with pytest.raises(TypeError):
        bool(B < 3)


@pytest.mark.parametrize(
    ("whole", "part", "quotient"),
    [
        (B * T * 6, B, T * 6),
        (B * T * 6, 3, B * T * 2),
        (B * T * 6, 2 * T, B * 3),
        (B * 6, 4, None),
        (B * 6, T, None),
        (B + 1, B, None),
        (B * T + T, T, B + 1),
        (B * T + T, B + 1, None),  # a divisor is a single term
    ],
)
def test_exact_division(whole, part, quotient):
    assert whole.divide_exactly(part) == quotient


def test_copies_and_pickles():
    dim = 2 * B * T + 1
    assert pickle.loads(pickle.dumps(dim)) == copy.deepcopy(dim) == dim
