"""What is written another way before it is compiled: the same results, and what becomes of the graph."""

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.fx.experimental.proxy_tensor import make_fx

from rlgraph.torch.compile.rewriting import (
    DECOMPOSITIONS,
    LARGE,
    REPEATED,
    SHORT,
    affine,
    hyperbolic_tangent,
    product,
    store_repeated,
)

aten = torch.ops.aten


def matrix(rows, columns, layout="rows", seed=0, dtype=np.float64):
    """Random numbers in rows, in columns, or every second of longer rows."""
    numbers = np.random.default_rng(seed).normal(size=(rows, columns)).astype(dtype)
    if layout == "columns":
        return torch.from_numpy(np.ascontiguousarray(numbers.T)).t()
    if layout == "gaps":
        return torch.from_numpy(np.repeat(numbers, 2, axis=1))[:, ::2]
    return torch.from_numpy(numbers)


def traced(function, *inputs):
    return make_fx(function, decomposition_table=DECOMPOSITIONS, tracing_mode="fake")(*inputs)


def operations(module):
    return [node.target for node in module.graph.nodes if node.op == "call_function"]


@pytest.mark.parametrize("sizes", [(9, 4, 10), (9, 10, 2), (2, 10, 9), (9, 1, 9), (9, 10, 1), (1, 1, 1)])
@pytest.mark.parametrize("layout_a", ["rows", "columns", "gaps"])
@pytest.mark.parametrize("layout_b", ["rows", "columns", "gaps"])
def test_products_with_a_short_axis(sizes, layout_a, layout_b):
    rows, inner, columns = sizes
    a, b = matrix(rows, inner, layout_a), matrix(inner, columns, layout_b, 1)
    result = product(a, b)
    np.testing.assert_allclose(result.numpy(), a.numpy() @ b.numpy(), rtol=1e-12, atol=1e-12)
    assert result.is_contiguous()  # as that of `aten.mm`: what follows may look at its memory
    module = traced(torch.mm, a, b)
    assert aten.mm.default not in operations(module)
    np.testing.assert_allclose(module(a, b).numpy(), a.numpy() @ b.numpy(), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (matrix(SHORT + 1, SHORT + 1), matrix(SHORT + 1, SHORT + 1)),
        (matrix(2, LARGE), matrix(LARGE, SHORT + 1)),
        (matrix(LARGE, 2, "columns").t(), matrix(LARGE, SHORT + 1)),
        (torch.ones(2, 2, dtype=torch.int64), torch.ones(2, 2, dtype=torch.int64)),
    ],
)
def test_products_that_are_left_to_blas(a, b):
    assert product(a, b) is NotImplemented
    assert operations(traced(torch.mm, a, b)) == [aten.mm.default]


@pytest.mark.parametrize("sizes", [(LARGE, 2, 9), (LARGE, 9, 2)])
def test_loops_are_faster_than_blas_at_any_size_but_for_few_rows(sizes):
    rows, inner, columns = sizes
    a, b = matrix(rows, inner), matrix(inner, columns, seed=1)
    assert aten.mm.default not in operations(traced(torch.mm, a, b))
    np.testing.assert_allclose(product(a, b).numpy(), a.numpy() @ b.numpy(), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("columns", [3, 20])
def test_biases_are_apart(columns):
    a, b, biases = matrix(9, 10), matrix(10, columns, seed=1), matrix(1, columns, seed=2)[0]
    module = traced(torch.addmm, biases, a, b)
    assert aten.addmm.default not in operations(module)
    assert (aten.mm.default in operations(module)) == (columns == 20)
    np.testing.assert_allclose(
        module(biases, a, b).numpy(), a.numpy() @ b.numpy() + biases.numpy(), rtol=1e-12
    )
    assert affine(biases, a, b, beta=2) is NotImplemented
    assert affine(biases, a, b, alpha=2) is NotImplemented


def test_derivatives_of_products_with_a_short_axis():
    def squares(x: Tensor, w: Tensor) -> Tensor:
        w = w.detach().requires_grad_()
        with torch.enable_grad():
            loss = torch.relu(torch.mm(x, w)).square().sum()
        return torch.autograd.grad(loss, w)[0]

    x, w = matrix(20, 4), matrix(4, 20, seed=1)
    module = traced(squares, x, w)
    assert aten.mm.default not in operations(module)
    expected = 2 * x.numpy().T @ np.maximum(x.numpy() @ w.numpy(), 0)
    np.testing.assert_allclose(module(x, w).numpy(), expected, rtol=1e-12)


def test_numbers_are_stored_where_larger_tensors_are_computed_of_them():
    def scaled(x: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
        norm = torch.sqrt((x * x).sum() + 1.0)
        return x / norm + x * torch.ones(()), x * 0.9**t

    x, t = torch.arange(1.0, 4.0), torch.tensor(2.0)
    module = traced(scaled, x, t)
    before = operations(module)
    store_repeated(module)
    stored = [node.args[0].target for node in module.graph.nodes if node.target is aten.as_strided.default]
    # Neither the sum, of which only a number is made, nor the constant, nor a view of an input.
    assert stored == [aten.sqrt.default, aten.pow.Scalar]
    assert len(operations(module)) == len(before) + 2
    first, second = module(x, t)
    np.testing.assert_allclose(first.numpy(), np.arange(1, 4) / np.sqrt(15) + np.arange(1, 4), rtol=1e-6)
    np.testing.assert_allclose(second.numpy(), 0.81 * np.arange(1, 4), rtol=1e-6)


def test_a_number_of_rank_two_keeps_its_rank():
    def scaled(x: Tensor) -> Tensor:
        return x / (2.0 * x.sum((0, 1), keepdim=True))

    x = torch.ones(3, 4)
    module = traced(scaled, x)
    store_repeated(module)
    assert aten.as_strided.default in operations(module)
    np.testing.assert_allclose(module(x).numpy(), np.full((3, 4), 1 / 24), rtol=1e-6)


@pytest.mark.parametrize("times", [REPEATED - 1, REPEATED])
def test_what_is_computed_is_stored_where_a_tensor_repeats_it_often(times):
    """As the targets of quantiles are, in the differences to all others."""

    def differences(x: Tensor, y: Tensor) -> Tensor:
        repeated = (x * x).unsqueeze(1)
        return torch.cat([repeated + x.unsqueeze(1)], 1) - y

    x, y = torch.arange(6.0).reshape(2, 3), torch.arange(float(times)).reshape(times, 1)
    module = traced(differences, x, y)
    store_repeated(module)
    stored = [node.args[0].target for node in module.graph.nodes if node.target is aten.as_strided.default]
    # Neither the square, of which only a tensor of its size is made, nor views of inputs.
    assert stored == ([aten.cat.default] if times == REPEATED else [])
    expected = (x * x + x).numpy()[:, None] - y.numpy()
    np.testing.assert_allclose(module(x, y).numpy(), expected, rtol=1e-6)


def test_what_is_written_in_place_is_not_stored():
    """It is a part of a buffer, and `as_strided` would begin at the buffer's first number."""

    def counted(buffer: Tensor, x: Tensor) -> Tensor:
        return x / buffer[1:2].add_(1.0) - buffer[2:4].mul_(0.5)

    module = traced(counted, torch.arange(4.0), torch.ones(16, 2))
    store_repeated(module)
    assert aten.as_strided.default not in operations(module)


def test_hyperbolic_tangent():
    x = torch.cat(
        [torch.linspace(-20, 20, 4001), torch.tensor([0.6, 1e-30, -0.0, 500.0, torch.inf, -torch.inf])]
    )
    expected = torch.tanh(x.double()).float()
    torch.testing.assert_close(hyperbolic_tangent(x), expected, rtol=5e-7, atol=0.0)
    assert hyperbolic_tangent(x).abs().max() <= 1.0  # logarithms of 1 - y^2 have a value
    assert hyperbolic_tangent(torch.tensor([torch.nan])).isnan()
    assert hyperbolic_tangent(x.double()) is NotImplemented
