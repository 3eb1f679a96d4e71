"""A variational auto-encoder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.common.argument_checks import check_choice, check_number, check_whole
from rlgraph.components.distributions.normal import Normal
from rlgraph.components.layers.dense import Dense
from rlgraph.components.networks.layer_chain import call_layer
from rlgraph.components.networks.neural_network import sub_network
from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.core.functional.variational import (
    bernoulli_log_likelihood,
    evidence_lower_bound,
    normal_log_likelihood,
    standard_normal_kl,
)
from rlgraph.core.specs.spec_types import NetworkSpec
from rlgraph.spaces import FloatBox, Space
from rlgraph.spaces.errors import mismatch

LIKELIHOODS = ("normal", "bernoulli")


class VariationalAutoEncoder(Component):
    """Encodes inputs as codes ``z`` and decodes codes (Kingma and Welling, 2014, https://arxiv.org/abs/1312.6114).

    The encoder gives mean and log-variance of a normal distribution of the code, the decoder the parameters of the
    distribution of the input: means (`likelihood` ``"normal"``) or logits (``"bernoulli"``, inputs between 0 and 1).
    Train it by maximizing `get_elbo`.

    Args:
        z_units: size of a code.
        encoder_network_spec: the network before the layers of mean and log-variance (instance, list of layer
            specs, or spec); its output is of rank 1.
        decoder_network_spec: the network from codes to outputs of the shape of the inputs.
        likelihood: the distribution of the inputs given a code.
        stddev: standard deviation of the normal likelihood, the same for all elements.
        beta: weight of the divergence in `get_elbo` (Higgins et al., 2017).

    Raises:
        SpecError: `z_units` below 1, an unknown likelihood, `stddev` not above 0, `beta` below 0, or a wrong spec
            of a network.
        SpaceError: the inputs are not floats, or the decoder's output has another shape.
    """

    passes_training_on = True

    def __init__(
        self,
        z_units: int,
        encoder_network_spec: NetworkSpec,
        decoder_network_spec: NetworkSpec,
        likelihood: str = "normal",
        stddev: float = 1.0,
        beta: float = 1.0,
        scope: str = "variational-auto-encoder",
        **kwargs: Any,
    ):
        check_whole(z_units, f"{scope}.z_units", least=1)
        check_choice(likelihood, f"{scope}.likelihood", LIKELIHOODS)
        stddev = check_number(stddev, f"{scope}.stddev", above=0)
        beta = check_number(beta, f"{scope}.beta", least=0)
        self.encoder = sub_network(encoder_network_spec, "encoder", f"{scope}.encoder_network_spec")
        self.decoder = sub_network(decoder_network_spec, "decoder", f"{scope}.decoder_network_spec")
        self.mean_layer = Dense(z_units, scope="mean")
        self.log_variance_layer = Dense(z_units, scope="log-variance")
        self.distribution = Normal(scope="code")
        layers = (self.mean_layer, self.log_variance_layer)
        self.bound = EvidenceLowerBound(likelihood, stddev, beta)
        super().__init__(
            self.encoder, *layers, self.distribution, self.decoder, self.bound, scope=scope, **kwargs
        )

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        space = input_spaces.get("inputs")
        if space is not None and not isinstance(space, FloatBox):
            raise mismatch(
                "inputs",
                "a FloatBox",
                repr(space),
                "put {'type': 'convert_type', 'to_dtype': 'float'} in front",
            )

    @rlgraph_api
    def call(self, inputs: Any, deterministic: Any = None, training: Any = None) -> Any:
        """The reconstruction of ``inputs [B, ...]``: means or logits, ``[B, ...]``."""
        z = self.encode(inputs, deterministic, training)["z"]
        return call_layer(self.decoder, z, training=training)

    @rlgraph_api
    def encode(self, inputs: Any, deterministic: Any = None, training: Any = None) -> Any:
        """``{"mean", "log_variance", "z"}``, each ``[B, z_units]``, of ``inputs [B, ...]``.

        ``z`` is a sample of the normal distribution of this mean and variance, differentiable by both; the mean if
        `deterministic`, a Python bool or a bool tensor, [] or [B]. `training` is passed to the layers that accept it.
        """
        features = call_layer(self.encoder, inputs, training=training)
        mean, log_variance = self.mean_layer.call(features), self.log_variance_layer.call(features)
        z = self.distribution.draw((mean, self._stddev(log_variance)), deterministic)
        return {"mean": mean, "log_variance": log_variance, "z": z}

    @rlgraph_api
    def decode(self, z: Any, training: Any = None) -> Any:
        """``z [B, z_units] -> [B, ...]``, means or logits of inputs."""
        return call_layer(self.decoder, z, training=training)

    @rlgraph_api
    def get_elbo(self, inputs: Any, deterministic: Any = None, training: Any = None) -> Any:
        """``{"elbo", "log_likelihood", "kl_divergence"}``, each ``[B]`` in nats; one code is drawn for each input.

        The evidence lower bound is the log-likelihood of the inputs given their codes, less `beta` times the
        divergence of the distribution of the code from a standard normal one. The loss is its negative mean.
        """
        encoded = self.encode(inputs, deterministic, training)
        decoded = call_layer(self.decoder, encoded["z"], training=training)
        elbo, log_likelihood, kl = self.bound.call(inputs, decoded, encoded["mean"], encoded["log_variance"])
        return {"elbo": elbo, "log_likelihood": log_likelihood, "kl_divergence": kl}

    @graph_fn
    def _stddev(self, ops: Any, log_variance: Any) -> Any:
        return ops.exp(0.5 * log_variance)


class EvidenceLowerBound(Component):
    """The evidence lower bound of inputs, decoded codes, and the parameters of the distributions of these."""

    def __init__(self, likelihood: str, stddev: float, beta: float, scope: str = "elbo", **kwargs: Any):
        self.likelihood, self.stddev, self.beta = likelihood, stddev, beta
        super().__init__(scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        inputs, decoded = input_spaces["inputs"], input_spaces["decoded"]
        if not isinstance(decoded, FloatBox) or decoded.get_shape() != inputs.get_shape():
            raise mismatch(
                "decoder_network_spec",
                f"an output of the shape {inputs.get_shape()} of the inputs",
                repr(decoded),
            )
        self.axes = inputs.rank

    @rlgraph_api(returns=3)
    def call(self, inputs: Any, decoded: Any, mean: Any, log_variance: Any) -> Any:
        """Bounds, log-likelihoods and divergences, each ``[B]``."""
        return self._call(inputs, decoded, mean, log_variance)

    @graph_fn(returns=3)
    def _call(self, ops: Any, inputs: Any, decoded: Any, mean: Any, log_variance: Any) -> Any:
        if self.likelihood == "normal":
            log_likelihood = normal_log_likelihood(ops, inputs, decoded, ops.full((), self.stddev), self.axes)
        else:
            log_likelihood = bernoulli_log_likelihood(ops, inputs, decoded, self.axes)
        kl = standard_normal_kl(ops, mean, log_variance)
        return evidence_lower_bound(ops, log_likelihood, kl, self.beta), log_likelihood, kl
