"""The normal distribution of vectors."""

from __future__ import annotations

from typing import Any

from rlgraph.components.distributions.distribution import Distribution
from rlgraph.core import SpecError, graph_fn
from rlgraph.core.functional.distributions.multivariate_normal import (
    cholesky,
    multivariate_normal_entropy,
    multivariate_normal_kl,
    multivariate_normal_log_prob,
)
from rlgraph.core.functional.distributions.normal import normal_entropy, normal_kl, normal_log_prob
from rlgraph.spaces import FloatBox, SpaceError


class MultivariateNormal(Distribution):
    """A normal distribution of vectors: ``parameters (mean, spread)``, mean ``[B, ..., D]``; values ``[B, ..., D]``.

    The spread is the standard deviation of each element ``[B, ..., D]``; or the Cholesky factor of the covariance
    ``[B, ..., D, D]``, lower triangular with a positive diagonal; or the covariance itself ``[B, ..., D, D]``. Samples
    are ``mean + L @ noise``, and differentiable by both parameters.

    Args:
        parameterize_via_diagonal: the spread is the standard deviation, and the elements are independent.
        parameterize_via_covariance: the spread is the covariance; its Cholesky factor is computed in D steps. Without
            either the spread is the Cholesky factor.

    Raises:
        SpecError: both are set.
        SpaceError: the parameters are not a Tuple of two floats of these shapes.
    """

    parameter_names = ("mean", "spread")

    def __init__(
        self,
        parameterize_via_diagonal: bool = True,
        parameterize_via_covariance: bool = False,
        scope: str = "multivariate-normal",
        **kwargs: Any,
    ):
        if parameterize_via_diagonal and parameterize_via_covariance:
            raise SpecError(
                "expected parameterize_via_diagonal or parameterize_via_covariance, given both; "
                "set parameterize_via_diagonal to false",
                path=scope,
            )
        self.parameterize_via_diagonal = parameterize_via_diagonal
        self.parameterize_via_covariance = parameterize_via_covariance
        super().__init__(scope=scope, **kwargs)

    def check_parameters(self, boxes: list[FloatBox]) -> None:
        mean, spread = (box.shape for box in boxes)
        wanted = mean if self.parameterize_via_diagonal else (*mean, *mean[-1:])
        if not mean or spread != wanted:
            shape = "[..., D]" if self.parameterize_via_diagonal else "[..., D, D]"
            raise SpaceError(
                f"parameters: expected mean [..., D] and spread {shape}, given {list(mean)} and {list(spread)}"
            )

    @graph_fn
    def _sample(self, ops: Any, parameters: Any) -> Any:
        mean, spread = parameters
        noise = ops.random_normal(ops.shape(mean))
        if self.parameterize_via_diagonal:
            return mean + spread * noise
        scaled = ops.matmul(self._factor(ops, spread), ops.expand_dims(noise, -1))
        return mean + ops.squeeze(scaled, axis=-1)

    @graph_fn
    def _mode(self, ops: Any, parameters: Any) -> Any:
        return parameters[0]

    @graph_fn
    def _log_prob(self, ops: Any, parameters: Any, values: Any) -> Any:
        self.check_values(values, parameters)
        mean, spread = parameters
        if self.parameterize_via_diagonal:
            return self.sum_own(ops, normal_log_prob(ops, values, mean, spread))
        return self._sum_vectors(
            ops, multivariate_normal_log_prob(ops, values, mean, self._factor(ops, spread))
        )

    @graph_fn
    def _entropy(self, ops: Any, parameters: Any) -> Any:
        if self.parameterize_via_diagonal:
            return self.sum_own(ops, normal_entropy(ops, parameters[1]))
        return self._sum_vectors(ops, multivariate_normal_entropy(ops, self._factor(ops, parameters[1])))

    @graph_fn
    def _kl_divergence(self, ops: Any, parameters: Any, other_parameters: Any) -> Any:
        self.check_others(other_parameters, parameters)
        if self.parameterize_via_diagonal:
            return self.sum_own(ops, normal_kl(ops, *parameters, *other_parameters))
        arguments = [
            x for mean, spread in (parameters, other_parameters) for x in (mean, self._factor(ops, spread))
        ]
        return self._sum_vectors(ops, multivariate_normal_kl(ops, *arguments))

    def _factor(self, ops: Any, spread: Any) -> Any:
        return cholesky(ops, spread) if self.parameterize_via_covariance else spread

    def _sum_vectors(self, ops: Any, x: Any) -> Any:
        """The sum over the axes of one action except the last one, that of the vectors."""
        return ops.sum(x, axis=self.own_axes[1:]) if self.own_axes[1:] else x
