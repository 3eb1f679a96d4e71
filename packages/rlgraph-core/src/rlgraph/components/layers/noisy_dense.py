"""A fully connected layer with noise on its weights."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from rlgraph.components.common.argument_checks import check_choice, check_number, check_whole
from rlgraph.components.layers.activations import apply_activation, check_activation
from rlgraph.components.layers.input_checks import check_inputs, check_training
from rlgraph.components.layers.leading_axes import over_rows
from rlgraph.core import Component, Variable, graph_fn, rlgraph_api
from rlgraph.core.functional.noisy_networks import factorised_noise
from rlgraph.core.graph.trace import shared_calls
from rlgraph.core.specs.spec_types import ActivationSpec
from rlgraph.spaces import FloatBox, Space

#: Kind of noise -> its default sigma (Fortunato et al., 2018, section 3.2).
SIGMAS = {"factorised": 0.5, "independent": 0.017}

_STANDARD = {"type": "normal", "stddev": 1.0}


class NoisyDense(Component):
    """``activation(inputs @ (weights + weights_sigma * e) + biases + biases_sigma * e')`` with noise e, e'.

    The scale of the noise is learned, so exploration decreases as learning proceeds (Fortunato et al., 2018,
    https://arxiv.org/abs/1706.10295). ``inputs [B, N] -> [B, units]``; a time rank stays. All items of a call share
    their noise.

    Args:
        units: size of the output.
        activation: name of an activation, or a function ``f(ops, x)``; None for none.
        noise: ``"factorised"``: N + units draws, of which those of the weights are products; ``"independent"``: one
            draw for each weight.
        sigma: initial scale of the noise; default 0.5 for factorised noise, which is divided by sqrt(N), and 0.017 for
            independent noise.
        noise_per_call: True draws at each call. False keeps the noise in variables until `resample_noise`, so that
            acting and learning, or all steps of an episode, share it.

    Raises:
        SpecError: units below 1, an unknown activation or kind of noise, a sigma below 0.
        SpaceError: the input is not a batch of floats of rank 1.
    """

    def __init__(
        self,
        units: int,
        activation: ActivationSpec = None,
        noise: str = "factorised",
        sigma: float | None = None,
        noise_per_call: bool = True,
        scope: str = "noisy-dense",
        **kwargs: Any,
    ):
        self.units = check_whole(units, f"{scope}.units", least=1)
        self.activation = check_activation(activation, f"{scope}.activation")
        self.noise = check_choice(noise, f"{scope}.noise", SIGMAS, "noise")
        self.sigma = SIGMAS[noise] if sigma is None else check_number(sigma, f"{scope}.sigma", least=0)
        self.noise_per_call = noise_per_call
        if noise_per_call:
            kwargs["switched_off_apis"] = {*kwargs.get("switched_off_apis", ()), "resample_noise"}
        super().__init__(scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        check_inputs(input_spaces["inputs"], rank=1)
        check_training(input_spaces)

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        size = input_spaces["inputs"].shape[0]
        factorised = self.noise == "factorised"
        limit = math.sqrt((1.0 if factorised else 3.0) / size)
        sigma = self.sigma / math.sqrt(size) if factorised else self.sigma
        start = {"type": "uniform", "low": -limit, "high": limit}
        shapes = (size, self.units), (self.units,)
        self.weights, self.biases = self._pair(("weights", "biases"), shapes, start)
        self.weights_sigma, self.biases_sigma = self._pair(("weights_sigma", "biases_sigma"), shapes, sigma)
        #: The shapes of the two draws.
        self.draws = ((size,), (self.units,)) if factorised else shapes
        if not self.noise_per_call:
            names = ("noise_0", "noise_1")
            self.noise_0, self.noise_1 = self._pair(names, self.draws, _STANDARD, trainable=False)

    def _pair(self, names: tuple[str, str], shapes: Any, initializer: Any, **options: Any) -> list[Variable]:
        return [
            self.get_variable(name, FloatBox(shape=shape), initializer=initializer, **options)
            for name, shape in zip(names, shapes, strict=True)
        ]

    @rlgraph_api
    def call(self, inputs: Any, training: Any = None) -> Any:
        """``inputs [B, N] -> [B, units]``; or with a time rank, which stays.

        Args:
            inputs: floats.
            training: whether there is noise: True or False, None for True, or a boolean tensor [].
        """
        if training is False:
            return self._plain(inputs)
        with shared_calls(False):  # each call draws, in an update as well
            return self._noisy(inputs, None if training is True else training)

    @rlgraph_api
    def resample_noise(self) -> Any:
        """Draw new noise for the following calls; only if `noise_per_call` is False."""
        self._resample()

    @graph_fn
    def _plain(self, ops: Any, inputs: Any) -> Any:
        return self._layer(ops, inputs, self.weights, self.biases)

    @graph_fn
    def _noisy(self, ops: Any, inputs: Any, training: Any) -> Any:
        if self.noise_per_call:
            first, second = (ops.random_normal(shape) for shape in self.draws)
        else:
            first, second = self.noise_0, self.noise_1
        if training is not None:
            first, second = ops.where(training, first, 0.0), ops.where(training, second, 0.0)
        if self.noise == "factorised":
            first, second = factorised_noise(ops, first, second)
        weights = self.weights + self.weights_sigma * first
        return self._layer(ops, inputs, weights, self.biases + self.biases_sigma * second)

    @graph_fn(returns=0)
    def _resample(self, ops: Any) -> None:
        ops.assign(self.noise_0, ops.random_normal(self.draws[0]))
        ops.assign(self.noise_1, ops.random_normal(self.draws[1]))

    def _layer(self, ops: Any, inputs: Any, weights: Any, biases: Any) -> Any:
        return over_rows(
            ops,
            inputs,
            lambda rows: apply_activation(ops, self.activation, ops.linear(rows, weights, biases)),
        )
