"""The joint distribution of the parts of a container."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any

from rlgraph.components.distributions.container_parts import map_parts
from rlgraph.components.distributions.distribution import Distribution
from rlgraph.core import SpecError, graph_fn, rlgraph_api
from rlgraph.core.ops import leaves_of
from rlgraph.core.specs.spec_types import ComponentSpec
from rlgraph.spaces import Space


class JointCumulativeDistribution(Distribution):
    """Independent distributions of the parts of a container.

    Parameters, values and `distribution_specs` are containers of one structure. Log-probabilities, entropies and
    divergences of the parts, each ``[B]``, are added, since the parts are independent.

    Args:
        distribution_specs: nested dicts and tuples of distributions or their specs; a mapping with ``type`` is a spec.
        per_part: return log-probabilities, entropies and divergences as a container, without adding them.

    Raises:
        SpecError: no distribution, or an invalid spec (named by its path).
    """

    def __init__(
        self,
        distribution_specs: ComponentSpec,
        per_part: bool = False,
        scope: str = "joint-cumulative-distribution",
        **kwargs: Any,
    ):
        self.per_part = per_part
        found: list[Distribution] = []
        self.parts = _distributions(distribution_specs, f"{scope}.distribution_specs", "", found)
        if not found or isinstance(self.parts, Distribution):
            raise SpecError(
                f"expected a dict or tuple of distributions, given {distribution_specs!r}",
                path=f"{scope}.distribution_specs",
            )
        several = [part.scope for part in found if not per_part and getattr(part, "per_part", False)]
        if several:
            raise SpecError(
                f"expected one number per part, but {several[0]} has per_part=True",
                path=f"{scope}.distribution_specs",
            )
        self.reparameterized = all(part.reparameterized for part in found)
        super().__init__(*found, scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        """Do nothing: each part checks its own parameters."""

    @rlgraph_api
    def sample_stochastic(self, parameters: Any) -> Any:
        """One sample of each distribution, a container of ``[B, ...]``."""
        return map_parts(lambda part, p: part.sample_stochastic(p), self.parts, parameters)

    @rlgraph_api
    def sample_deterministic(self, parameters: Any) -> Any:
        """The results of `sample_deterministic` of the parts, a container of ``[B, ...]``."""
        return map_parts(lambda part, p: part.sample_deterministic(p), self.parts, parameters)

    @rlgraph_api(returns=2)
    def sample_and_log_prob(self, parameters: Any, deterministic: Any = None) -> Any:
        """The result of `draw`, and its log-probability ``[B]``."""
        pairs = map_parts(
            lambda part, p: _Pair(part.sample_and_log_prob(p, deterministic)), self.parts, parameters
        )
        values, log_probs = (map_parts(lambda _, pair, i=i: pair.both[i], self.parts, pairs) for i in (0, 1))
        return values, self._joint(log_probs)

    @rlgraph_api(must_be_complete=False)
    def log_prob(self, parameters: Any, values: Any) -> Any:
        """The logarithm of the probability, or of the density, of values: ``[B]``."""
        return self._joint(self._log_probs(parameters, values))

    @rlgraph_api(must_be_complete=False)
    def log_prob_per_part(self, parameters: Any, values: Any) -> Any:
        """As `log_prob`, separately for each part: a container of ``[B]``."""
        return self._log_probs(parameters, values)

    def _log_probs(self, parameters: Any, values: Any) -> Any:
        return map_parts(lambda part, p, v: part.log_prob(p, v), self.parts, parameters, values)

    @rlgraph_api
    def entropy(self, parameters: Any) -> Any:
        """The entropy in nats ``[B]``."""
        return self._joint(map_parts(lambda part, p: part.entropy(p), self.parts, parameters))

    @rlgraph_api(must_be_complete=False)
    def kl_divergence(self, parameters: Any, other_parameters: Any) -> Any:
        """The Kullback-Leibler divergence KL(p || q) in nats ``[B]``; q has `other_parameters`."""
        return self._joint(
            map_parts(lambda part, p, q: part.kl_divergence(p, q), self.parts, parameters, other_parameters)
        )

    def _joint(self, numbers: Any) -> Any:
        return numbers if self.per_part else reduce(self._add, leaves_of(numbers))

    @graph_fn
    def _add(self, ops: Any, first: Any, second: Any) -> Any:
        return first + second


class _Pair:
    """Two values held as one in a container."""

    def __init__(self, both: tuple[Any, Any]):
        self.both = both


def _distributions(specs: Any, path: str, scope: str, found: list[Distribution]) -> Any:
    """`specs` with distributions instead of their specs; appends all of them to `found`."""
    kind = specs.get("type", {}) if isinstance(specs, Mapping) else None
    # A part may also be named "type".
    if isinstance(kind, Mapping | list | tuple | Distribution):
        return {k: _distributions(v, f"{path}.{k}", f"{scope}-{k}", found) for k, v in sorted(specs.items())}
    if isinstance(specs, list | tuple):
        return tuple(_distributions(v, f"{path}[{i}]", f"{scope}-{i}", found) for i, v in enumerate(specs))
    made = Distribution.from_spec(specs, path=path, scope=scope[1:])
    found.append(made)
    return made
