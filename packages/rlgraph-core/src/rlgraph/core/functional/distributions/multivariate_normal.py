"""The multivariate normal distribution, by the Cholesky factor of the covariance."""

from __future__ import annotations

from typing import Any

from rlgraph.core.functional.distributions.normal import LOG_2_PI

Tensor = Any


def cholesky(ops: Any, matrices: Tensor) -> Tensor:
    """The lower triangular L with ``L @ L.T = matrices``, column by column: ``[..., D, D] -> [..., D, D]``.

    Golub and Van Loan (2013), Algorithm 4.2.1. The matrices must be symmetric and positive definite; elements
    above their diagonals are not read. Takes D steps: for actions, not for large matrices.
    """
    size = matrices.shape[-1]
    columns: list[Tensor] = []
    for j in range(size):
        column = matrices[..., j:, j : j + 1]
        if columns:
            left = ops.concat(columns, axis=-1)
            row = ops.expand_dims(left[..., j, :], -1)
            column = column - ops.matmul(left[..., j:, :], row)
        column = column / ops.sqrt(column[..., :1, :])
        above = [(0, 0)] * (len(matrices.shape) - 2) + [(j, 0), (0, 0)]
        columns.append(ops.pad(column, above))
    return ops.concat(columns, axis=-1)


def forward_substitution(ops: Any, lower: Tensor, right: Tensor) -> Tensor:
    """The solution x of ``lower @ x = right``, row by row: ``lower [..., D, D], right [..., D, K] -> [..., D, K]``.

    Golub and Van Loan (2013), Algorithm 3.1.1. Elements of `lower` above the diagonal are not read.
    """
    rows: list[Tensor] = []
    for i in range(lower.shape[-1]):
        row = right[..., i : i + 1, :]
        if rows:
            row = row - ops.matmul(lower[..., i : i + 1, :i], ops.concat(rows, axis=-2))
        rows.append(row / lower[..., i : i + 1, i : i + 1])
    return ops.concat(rows, axis=-2)


def diagonal(ops: Any, matrices: Tensor) -> Tensor:
    """``[..., D, D] -> [..., D]``."""
    return ops.sum(matrices * ops.eye(matrices.shape[-1]), axis=-1)


def multivariate_normal_log_prob(ops: Any, values: Tensor, mean: Tensor, scale_tril: Tensor) -> Tensor:
    """The log-density of vectors: ``values [..., D], mean [..., D], scale_tril [..., D, D] -> [...]``.

    ``-|L^-1 (x - mean)|^2 / 2 - sum(log(diag(L))) - D log(2 pi) / 2`` with the Cholesky factor L of the covariance
    (https://en.wikipedia.org/wiki/Multivariate_normal_distribution).
    """
    whitened = forward_substitution(ops, scale_tril, ops.expand_dims(values - mean, -1))
    distance = ops.sum(ops.square(whitened), axis=(-2, -1))
    return -0.5 * distance - _half_log_det(ops, scale_tril) - 0.5 * LOG_2_PI * mean.shape[-1]


def multivariate_normal_entropy(ops: Any, scale_tril: Tensor) -> Tensor:
    """``sum(log(diag(L))) + D log(2 pi e) / 2``: ``[..., D, D] -> [...]`` (Cover and Thomas, 2006, Theorem 8.4.1)."""
    return _half_log_det(ops, scale_tril) + 0.5 * (LOG_2_PI + 1.0) * scale_tril.shape[-1]


def multivariate_normal_kl(
    ops: Any, mean: Tensor, scale_tril: Tensor, other_mean: Tensor, other_scale_tril: Tensor
) -> Tensor:
    """KL(p || q) ``[...]`` with ``mean [..., D], scale_tril [..., D, D]``; q has the other parameters.

    ``(|L_q^-1 L_p|^2 + |L_q^-1 (m_p - m_q)|^2 - D) / 2 + log(det(L_q) / det(L_p))``, with Frobenius and Euclidean
    norms: the formula of https://en.wikipedia.org/wiki/Multivariate_normal_distribution in terms of the factors.
    """
    whitened = forward_substitution(
        ops, other_scale_tril, ops.concat([scale_tril, ops.expand_dims(mean - other_mean, -1)], axis=-1)
    )
    squares = ops.sum(ops.square(whitened), axis=(-2, -1))
    log_ratio = _half_log_det(ops, other_scale_tril) - _half_log_det(ops, scale_tril)
    return 0.5 * (squares - float(mean.shape[-1])) + log_ratio


def _half_log_det(ops: Any, scale_tril: Tensor) -> Tensor:
    return ops.sum(ops.log(diagonal(ops, scale_tril)), axis=-1)
