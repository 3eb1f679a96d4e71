"""The base class of distributions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from rlgraph.components.distributions.axis_checks import check_axes
from rlgraph.core import Component, SpecError, graph_fn, rlgraph_api
from rlgraph.core.ops import SymbolicTensor, leaves_of
from rlgraph.spaces import FloatBox, Space, SpaceError, Tuple

#: Kind of values -> their dtypes.
VALUE_KINDS = {"float": ("float",), "int": ("int", "uint", "bool"), "bool": ("bool", "int", "uint")}


class Distribution(Component):
    """A probability distribution, whose parameters are arguments of its API methods.

    Shapes: values are ``[B, ...]`` or ``[T, B, ...]``; the axes after the ranks belong to one action. Its elements are
    independent: log-probabilities, entropies and divergences are their sums, ``[B]`` or ``[T, B]``. The Space of the
    parameters defines these axes; values or other parameters with other axes raise a `SpaceError`.

    A subclass defines the graph functions `_sample`, `_mode`, `_log_prob`, `_entropy` and `_kl_divergence`.

    Attributes:
        reparameterized: whether derivatives flow from samples into the parameters.
        parameter_names: names of the parameters: one tensor for one name, a tuple of tensors of one shape for several.
        value_kind: kind of the values, a key of `VALUE_KINDS`.
        category_rank: number of trailing axes of the parameters that are categories, which are not summed over.
        own_axes: the axes of one action, counted from the end.
    """

    reparameterized: bool = True
    parameter_names: ClassVar[tuple[str, ...]] = ("logits",)
    value_kind: ClassVar[str] = "float"
    category_rank: ClassVar[int] = 0

    own_axes: tuple[int, ...]
    _sample: Any
    _mode: Any
    _log_prob: Any
    _entropy: Any
    _kl_divergence: Any

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        boxes = self.parameter_boxes(input_spaces["parameters"])
        self.check_parameters(boxes)
        self.own_axes = tuple(range(self.category_rank - boxes[0].rank, 0))

    def check_reparameterized(self, where: str) -> None:
        """Check that samples are differentiable, as Soft Actor-Critic needs.

        Args:
            where: the caller, for the message.

        Raises:
            SpecError: samples are not differentiable by the parameters; names the distributions.
        """
        if self.reparameterized:
            return
        found = [part for part in self.walk() if isinstance(part, Distribution) and not part.reparameterized]
        parts = ", ".join(part.scope_path for part in found if part is not self or len(found) == 1)
        raise SpecError(
            f"expected differentiable samples, which {parts} cannot draw: choose "
            "bounded_distribution_type='squashed_normal' for floats (instead of the default, a beta distribution) and "
            "discrete_distribution_type='gumbel_softmax' for categories",
            path=where,
        )

    def parameter_boxes(self, space: Any) -> list[FloatBox]:
        """The Spaces of the parameters, one for each of `parameter_names`.

        Raises:
            SpaceError: they do not match.
        """
        several = len(self.parameter_names) > 1
        boxes: list[Any] = list(space) if several and isinstance(space, Tuple) else [space]
        if len(boxes) != len(self.parameter_names) or not all(isinstance(box, FloatBox) for box in boxes):
            names = ", ".join(self.parameter_names)
            wanted = f"a Tuple ({names}) of FloatBoxes" if several else f"a FloatBox of {names}"
            raise SpaceError(
                f"parameters: expected {wanted}, given {space!r}; an action adapter computes them"
            )
        return boxes

    def check_parameters(self, boxes: list[FloatBox]) -> None:
        """Raise `SpaceError` unless the Spaces of the parameters fit each other."""
        if any(box.shape != boxes[0].shape for box in boxes) or boxes[0].rank < self.category_rank:
            shape = "shape [..., categories]" if self.category_rank else "one shape"
            shapes = ", ".join(str(list(box.shape)) for box in boxes)
            raise SpaceError(
                f"parameters: expected {', '.join(self.parameter_names)} of {shape}, given {shapes}"
            )

    def check_values(self, values: Any, parameters: Any) -> None:
        """Raise `SpaceError` unless `values` have the kind and the axes that `parameters` define.

        For use in graph functions.
        """
        if isinstance(values, SymbolicTensor):  # else known at build, or already running
            if not values.spec.dtype.startswith(VALUE_KINDS[self.value_kind]):
                raise SpaceError(
                    f'values: expected {self.value_kind}, given {values!r}; put in front: {{"type": "convert_type", '
                    f'"to_dtype": "{self.value_kind}"}}'
                )
            first = leaves_of(parameters)[0]
            check_axes("values", self.value_shape(first.spec.shape), values, self._ranks(first))

    def check_others(self, other_parameters: Any, parameters: Any) -> None:
        """Raise `SpaceError` unless `other_parameters` match `parameters`; for use in graph functions."""
        own, others = leaves_of(parameters), leaves_of(other_parameters)
        if len(own) != len(others):
            names = ", ".join(self.parameter_names)
            raise SpaceError(f"other_parameters: expected {names}, given {len(others)} tensors")
        for tensor, other in zip(own, others, strict=True):
            if isinstance(tensor, SymbolicTensor):
                check_axes("other_parameters", tensor.spec.shape, other, self._ranks(own[0]))

    def value_shape(self, shape: tuple[Any, ...]) -> tuple[Any, ...]:
        """The shape of values, from that of the (first) parameter."""
        return shape[: len(shape) - self.category_rank]

    def _ranks(self, parameter: Any) -> int:
        return len(parameter.shape) - len(self.own_axes) - self.category_rank

    def sum_own(self, ops: Any, x: Any) -> Any:
        """The sum over the axes of one action, for use in graph functions."""
        return ops.sum(x, axis=self.own_axes) if self.own_axes else x

    @rlgraph_api
    def accept(self, parameters: Any) -> Any:
        """Return `parameters`; the call defines their Space for the distribution."""
        return parameters

    @rlgraph_api
    def draw(self, parameters: Any, deterministic: Any = None) -> Any:
        """Values ``[B, ...]``: samples, or the result of `sample_deterministic` where `deterministic` is true.

        Args:
            parameters: parameters of the distributions.
            deterministic: a Python bool or a bool tensor, [] or [B]; default: false.
        """
        if deterministic is None or deterministic is False:
            return self.sample_stochastic(parameters)
        if deterministic is True:
            return self.sample_deterministic(parameters)
        return self._choose(
            deterministic, self.sample_deterministic(parameters), self.sample_stochastic(parameters)
        )

    @rlgraph_api
    def sample_stochastic(self, parameters: Any) -> Any:
        """One sample of each distribution ``[B, ...]``."""
        return self._sample(parameters)

    @rlgraph_api
    def sample_deterministic(self, parameters: Any) -> Any:
        """A representative value ``[B, ...]`` of each distribution: its mode, unless the class documents another."""
        return self._mode(parameters)

    @rlgraph_api(returns=2)
    def sample_and_log_prob(self, parameters: Any, deterministic: Any = None) -> Any:
        """The result of `draw` ``[B, ...]``, and its log-probability ``[B]``."""
        values = self.draw(parameters, deterministic)
        return values, self.log_prob(parameters, values)

    @rlgraph_api(must_be_complete=False)
    def log_prob(self, parameters: Any, values: Any) -> Any:
        """The logarithm of the probability, or of the density, of values ``[B, ...] -> [B]``."""
        return self._log_prob(self.accept(parameters), values)

    @rlgraph_api(must_be_complete=False)
    def log_prob_per_part(self, parameters: Any, values: Any) -> Any:
        """As `log_prob`; for a joint distribution one for each part, a container of ``[B]``."""
        return self.log_prob(parameters, values)

    @rlgraph_api
    def entropy(self, parameters: Any) -> Any:
        """The entropy in nats ``[B]``."""
        return self._entropy(parameters)

    @rlgraph_api(must_be_complete=False)
    def kl_divergence(self, parameters: Any, other_parameters: Any) -> Any:
        """The Kullback-Leibler divergence KL(p || q) in nats ``[B]`` from the distribution p to the other one, q."""
        return self._kl_divergence(self.accept(parameters), other_parameters)

    @graph_fn(flatten_ops={"fixed", "drawn"}, split_ops=True)
    def _choose(self, ops: Any, deterministic: Any, fixed: Any, drawn: Any) -> Any:
        missing = len(fixed.shape) - len(deterministic.shape) if deterministic.shape else 0
        for _ in range(missing):
            deterministic = ops.expand_dims(deterministic, -1)
        return ops.where(deterministic, fixed, drawn)
