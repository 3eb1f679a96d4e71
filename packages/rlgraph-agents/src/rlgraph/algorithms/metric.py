"""What the numbers mean that algorithms return."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """The meaning of a metric.

    Attributes:
        description: one sentence.
        unit: the unit of its values.
    """

    description: str
    unit: str


_CLIPPED = "before clipping; only where clip_grad_norm is set."

#: Those that several algorithms have.
USUAL = {
    "policy_loss": Metric("The policy's part of the loss.", "loss"),
    "value_loss": Metric("The part of the loss of the value function.", "loss"),
    "actor_loss": Metric("The loss of the policy.", "loss"),
    "critic_loss": Metric("The loss of the critics, the sum over all of them.", "loss"),
    "entropy": Metric("Mean entropy of the policy; it falls while the policy becomes certain.", "nats"),
    "explained_variance": Metric(
        "Share of the variance of the returns that the values explained before the update: 1 is perfect, 0 is no "
        "better than a constant.",
        "share",
    ),
    "gradient_norm": Metric(f"L2 norm of all gradients {_CLIPPED}", "loss per weight"),
    "actor_gradient_norm": Metric(f"L2 norm of the policy's gradients {_CLIPPED}", "loss per weight"),
    "value_gradient_norm": Metric(f"L2 norm of the value function's gradients {_CLIPPED}", "loss per weight"),
    "critic_gradient_norm": Metric(f"L2 norm of the critics' gradients {_CLIPPED}", "loss per weight"),
}


def usual(*names: str) -> dict[str, Metric]:
    """Some of the metrics that several algorithms have, for `Algorithm.metrics`."""
    return {name: USUAL[name] for name in names}
