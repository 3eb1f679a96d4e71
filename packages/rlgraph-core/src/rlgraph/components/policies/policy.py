"""A policy for actions of any Space."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.action_adapters.choice import choose_adapter
from rlgraph.components.networks.neural_network import NeuralNetwork
from rlgraph.core import Component, SpecError, rlgraph_api
from rlgraph.spaces import SpaceError, from_spec


class Policy(Component):
    """A network, action adapters that make the parameters of distributions of its features, and these distributions.

    Actions may be integers, bools, floats with and without bounds, and Dicts and Tuples of them; the parts of a
    container are independent given the state. Every API method returns a dict.

    Args:
        network_spec: the network (instance, list of layer specs, or spec).
        action_space: of one action.
        action_adapter_spec: arguments for all action adapters, such as ``pre_network_spec``.
        deterministic: `get_action` gives the modes of the distributions if it is not told otherwise; else samples.
        distributions_spec: which distributions (see `choose_adapter`).
        scope: name among its siblings.

    Raises:
        SpecError: an action for which there is no distribution, or a wrong spec.
    """

    def __init__(
        self,
        network_spec: Any,
        action_space: Any,
        action_adapter_spec: Mapping[str, Any] | None = None,
        deterministic: bool = True,
        distributions_spec: Mapping[str, Any] | None = None,
        scope: str = "policy",
        **kwargs: Any,
    ):
        if not isinstance(deterministic, bool):
            raise SpecError(f"{scope}.deterministic: expected true or false, given {deterministic!r}")
        try:
            self.action_space = from_spec(action_space).without_ranks()
        except SpaceError as error:
            raise SpecError(f"{scope}.action_space: {error}") from None
        self.deterministic = deterministic
        self.network = NeuralNetwork.from_spec(network_spec, path=f"{scope}.network_spec")
        self.action_adapter = choose_adapter(self.action_space, distributions_spec, action_adapter_spec)
        self.distribution = self.action_adapter.make_distribution()
        super().__init__(self.network, self.action_adapter, self.distribution, scope=scope, **kwargs)

    @rlgraph_api
    def get_nn_outputs(self, nn_inputs: Any) -> Any:
        """``{"nn_outputs": [B, N]}``, the features of states ``nn_inputs [B, ...]``."""
        return {"nn_outputs": self.network.call(nn_inputs)}

    @rlgraph_api
    def get_adapter_outputs(self, nn_inputs: Any) -> Any:
        """``{"adapter_outputs", "nn_outputs"}``: what the action layers put out, a container for such actions."""
        features = self.network.call(nn_inputs)
        return {
            "adapter_outputs": self.action_adapter.get_adapter_outputs(features),
            "nn_outputs": features,
        }

    @rlgraph_api
    def get_adapter_outputs_and_parameters(self, nn_inputs: Any, action_mask: Any = None) -> Any:
        """``{"adapter_outputs", "parameters", "nn_outputs"}``; the parameters are those of the distributions.

        Args:
            nn_inputs: states ``[B, ...]``.
            action_mask: which of categorical actions are possible, bool ``[B, ..., A]``; default: all.
        """
        outputs = self.get_adapter_outputs(nn_inputs)
        parameters = self.action_adapter.get_parameters_from_adapter_outputs(
            outputs["adapter_outputs"], action_mask
        )
        return {**outputs, "parameters": parameters}

    @rlgraph_api
    def get_action(self, nn_inputs: Any, deterministic: Any = None, action_mask: Any = None) -> Any:
        """``{"action": [B, ...], "nn_outputs"}``.

        Args:
            nn_inputs: states ``[B, ...]``.
            deterministic: modes instead of samples: true or false in Python, or a bool tensor, [] or [B]; default: as
                the policy was made.
            action_mask: as in `get_adapter_outputs_and_parameters`.
        """
        features, parameters = self.parameters_of(nn_inputs, action_mask)
        action = self.distribution.draw(parameters, self._decided(deterministic))
        return {"action": action, "nn_outputs": features}

    @rlgraph_api
    def get_deterministic_action(self, nn_inputs: Any, action_mask: Any = None) -> Any:
        """As `get_action`: the modes of the distributions."""
        return self.get_action(nn_inputs, True, action_mask)

    @rlgraph_api
    def get_stochastic_action(self, nn_inputs: Any, action_mask: Any = None) -> Any:
        """As `get_action`: samples."""
        return self.get_action(nn_inputs, False, action_mask)

    @rlgraph_api
    def get_action_and_log_likelihood(
        self, nn_inputs: Any, deterministic: Any = None, action_mask: Any = None
    ) -> Any:
        """``{"action": [B, ...], "log_likelihood": [B], "nn_outputs"}``; arguments as of `get_action`."""
        features, parameters = self.parameters_of(nn_inputs, action_mask)
        action, log_likelihood = self.distribution.sample_and_log_prob(
            parameters, self._decided(deterministic)
        )
        return {"action": action, "log_likelihood": log_likelihood, "nn_outputs": features}

    @rlgraph_api
    def get_log_likelihood(self, nn_inputs: Any, actions: Any, action_mask: Any = None) -> Any:
        """``{"log_likelihood": [B], "nn_outputs"}`` of ``actions [B, ...]``, the sum over all parts of an action."""
        features, parameters = self.parameters_of(nn_inputs, action_mask)
        return {"log_likelihood": self.distribution.log_prob(parameters, actions), "nn_outputs": features}

    @rlgraph_api
    def get_entropy(self, nn_inputs: Any, action_mask: Any = None) -> Any:
        """``{"entropy": [B], "nn_outputs"}`` in nats, the sum over all parts of an action."""
        features, parameters = self.parameters_of(nn_inputs, action_mask)
        return {"entropy": self.distribution.entropy(parameters), "nn_outputs": features}

    def parameters_of(self, nn_inputs: Any, action_mask: Any) -> tuple[Any, Any]:
        """Features and parameters, for use in API methods."""
        outputs = self.get_adapter_outputs_and_parameters(nn_inputs, action_mask)
        return outputs["nn_outputs"], outputs["parameters"]

    def _decided(self, deterministic: Any) -> Any:
        return self.deterministic if deterministic is None else deterministic
