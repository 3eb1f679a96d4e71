"""Cases of components that draw random numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rlgraph.components import Beta, Distribution, Dropout, NoisyDense
from rlgraph.core import Component, rlgraph_api
from rlgraph.testing.conformance.cases.case import FEATURES, Case
from rlgraph.testing.conformance.cases.distributions import CASES as DISTRIBUTIONS


class Training(Component):
    """A layer while it is trained."""

    def __init__(self, layer: Any):
        self.layer = layer
        super().__init__(layer, scope="training")

    @rlgraph_api
    def call(self, inputs: Any) -> Any:
        return self.layer.call(inputs, True)


def _samples(case: Case, make: Callable[[], Component] | None = None, derive: bool = True) -> Case:
    """Samples of the distribution of a case, or of another that takes the same."""
    make = make or case.make
    distribution = make()
    assert isinstance(distribution, Distribution)
    by = ("parameters",) if derive and distribution.reparameterized else ()
    return Case(make, case.spaces, ("sample_stochastic", "sample_and_log_prob"), by=by)


def _estimates(case: Case) -> Case:
    """Entropies and divergences that are estimated from samples."""
    return replace(case, methods=("entropy", "kl_divergence"), by=("parameters", "other_parameters"))


#: By name, which begins with the name that the component has in the registry.
DRAWING: dict[str, Case] = {
    **{name: _samples(case) for name, case in DISTRIBUTIONS.items()},
    # Its derivatives are those of the distribution function, not of the draws that are accepted.
    "beta_reparameterized": _samples(DISTRIBUTIONS["beta"], lambda: Beta(reparameterize=True), derive=False),
    "dropout": Case(lambda: Training(Dropout(0.4)), {"inputs": FEATURES}, ("call",) * 2, by=("inputs",)),
    "gumbel_softmax_estimates": _estimates(DISTRIBUTIONS["gumbel_softmax"]),
    "mixture_distribution_estimates": _estimates(DISTRIBUTIONS["mixture_distribution"]),
    "noisy_dense": Case(lambda: Training(NoisyDense(4)), {"inputs": FEATURES}, ("call",) * 2, by=("inputs",)),
    "noisy_dense_independent": Case(
        lambda: Training(NoisyDense(4, noise="independent", sigma=0.5)),
        {"inputs": FEATURES},
        ("call",) * 2,
        by=("inputs",),
    ),
    "noisy_dense_kept": Case(
        lambda: NoisyDense(4, noise_per_call=False),
        {"inputs": FEATURES},
        ("call", "resample_noise", "call", "call"),
    ),
}
