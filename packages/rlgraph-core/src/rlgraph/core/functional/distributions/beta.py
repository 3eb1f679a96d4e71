"""The beta distribution."""

from __future__ import annotations

from typing import Any

Tensor = Any

#: Values are clipped to at least this distance from 0 and 1.
BORDER = 1e-6
#: Logarithms of the first and the last distance of a quadrature node from the sample, and the number of nodes.
STEPS = (-18.0, 6.0, 97)


def log_beta_function(ops: Any, alpha: Tensor, beta: Tensor) -> Tensor:
    """``log(Gamma(alpha) Gamma(beta) / Gamma(alpha + beta))``, elementwise."""
    return ops.lgamma(alpha) + ops.lgamma(beta) - ops.lgamma(alpha + beta)


def beta_log_prob(ops: Any, values: Tensor, alpha: Tensor, beta: Tensor) -> Tensor:
    """The log-density of values between 0 and 1, elementwise; values closer to a bound than `BORDER` are clipped.

    ``(alpha - 1) log(x) + (beta - 1) log(1 - x) - log B(alpha, beta)``; for actions: Chou et al. (2017),
    https://proceedings.mlr.press/v70/chou17a.html.
    """
    x = ops.clip(values, BORDER, 1.0 - BORDER)
    return (alpha - 1.0) * ops.log(x) + (beta - 1.0) * ops.log1p(-x) - log_beta_function(ops, alpha, beta)


def beta_entropy(ops: Any, alpha: Tensor, beta: Tensor) -> Tensor:
    """``log B(a, b) - (a - 1) psi(a) - (b - 1) psi(b) + (a + b - 2) psi(a + b)``, elementwise.

    https://en.wikipedia.org/wiki/Beta_distribution; psi is the digamma function.
    """
    total = alpha + beta
    return (
        log_beta_function(ops, alpha, beta)
        - (alpha - 1.0) * ops.digamma(alpha)
        - (beta - 1.0) * ops.digamma(beta)
        + (total - 2.0) * ops.digamma(total)
    )


def beta_kl(ops: Any, alpha: Tensor, beta: Tensor, other_alpha: Tensor, other_beta: Tensor) -> Tensor:
    """KL(p || q), elementwise; q has the other parameters.

    ``log(B(a_q, b_q) / B(a_p, b_p)) + (a_p - a_q) psi(a_p) + (b_p - b_q) psi(b_p) - (a_p - a_q + b_p - b_q) psi(a_p +
    b_p)`` (https://en.wikipedia.org/wiki/Beta_distribution). Where p is close to q its terms
    almost cancel; negative rounding errors become 0.
    """
    first, second = alpha - other_alpha, beta - other_beta
    divergence = (
        log_beta_function(ops, other_alpha, other_beta)
        - log_beta_function(ops, alpha, beta)
        + first * ops.digamma(alpha)
        + second * ops.digamma(beta)
        - (first + second) * ops.digamma(alpha + beta)
    )
    return ops.maximum(divergence, 0.0)


def log_gamma_variate(ops: Any, alpha: Tensor, normals: Tensor, uniforms: Tensor, boost: Tensor) -> Tensor:
    """The logarithm of a gamma variate of shape `alpha`: ``alpha [...] -> [...]``.

    Marsaglia and Tsang (2000), https://doi.org/10.1145/358407.358414: ``normals, uniforms [K, ...]`` are K proposals;
    the result is the first accepted one. Each is accepted with a probability of at least 0.95; if none is (for K = 8
    in one of 10^10 draws), the result is the first. Below 1, `alpha` is raised by 1 and the variate multiplied by
    ``boost^(1 / alpha)`` (their section 6). ``uniforms`` and ``boost [...]`` are uniform between 0 and 1.
    """
    raised = alpha < 1.0
    d = ops.where(raised, alpha + 1.0, alpha) - 1.0 / 3.0
    cube_root = 1.0 + normals / ops.sqrt(9.0 * d)
    log_v = 3.0 * ops.log(ops.maximum(cube_root, 1e-6))
    bound = 0.5 * ops.square(normals) + d * (1.0 - ops.exp(log_v) + log_v)
    accepted = (cube_root > 0.0) & (_log(ops, uniforms) < bound)
    first = ops.expand_dims(ops.argmax(ops.astype(accepted, "int32"), axis=0), 0)
    chosen = ops.squeeze(ops.take_along_axis(log_v, first, axis=0), axis=0)
    return ops.log(d) + chosen + ops.where(raised, _log(ops, boost) / alpha, 0.0)


def _log(ops: Any, uniforms: Tensor) -> Tensor:
    return ops.log(ops.maximum(uniforms, 1e-30))


def beta_logit_derivatives(ops: Any, logits: Tensor, alpha: Tensor, beta: Tensor) -> tuple[Tensor, Tensor]:
    """Derivatives of the logits x of beta variates by `alpha` and `beta` at fixed cumulative probability; elementwise.

    ``dx / da = -(dF / da) / f(x)`` with the cumulative probability F (Figurnov et al., 2018, eq. 6,
    https://arxiv.org/abs/1805.08498). The density is ``f(x) = exp(l(x)) / B(a, b)``, where ``l(x) = a log(s(x)) + b
    log(s(-x))`` and s is the sigmoid; so the derivative by a is the integral of ``(log(s(u)) - E[log(s)]) exp(l(u) -
    l(x))`` from x on away from the mode (for b with ``s(-u)``), here by the trapezoidal rule over ``log |u - x|``.
    """
    one = ops.ones_like(logits)
    side = ops.where(ops.sigmoid(logits) < alpha / (alpha + beta), -one, one)
    first, last, count = STEPS
    steps = ops.exp(ops.linspace(first, last, count))
    x, a, b = (ops.expand_dims(value, -1) for value in (logits, alpha, beta))
    u = x + ops.expand_dims(side, -1) * steps
    log_s, log_other = ops.log_sigmoid(u), ops.log_sigmoid(-u)
    log_ratio = a * (log_s - ops.log_sigmoid(x)) + b * (log_other - ops.log_sigmoid(-x))
    weights = ops.exp(log_ratio) * steps * ((last - first) / (count - 1))
    total = ops.digamma(a + b)
    by_alpha = ops.sum(weights * (log_s - ops.digamma(a) + total), axis=-1)
    by_beta = ops.sum(weights * (log_other - ops.digamma(b) + total), axis=-1)
    return side * by_alpha, side * by_beta


def reparameterized_logits(ops: Any, logits: Tensor, alpha: Tensor, beta: Tensor) -> Tensor:
    """`logits` of beta variates with derivatives by `alpha` and `beta`; elementwise."""
    fixed = [ops.stop_gradient(x) for x in (logits, alpha, beta)]
    by_alpha, by_beta = beta_logit_derivatives(ops, *fixed)
    return fixed[0] + by_alpha * (alpha - fixed[1]) + by_beta * (beta - fixed[2])
