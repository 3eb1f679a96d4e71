"""A policy for actions of any Space."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.action_adapters.adapter_choice import choose_adapter
from rlgraph.components.common.action_spaces import action_space_of, check_actions
from rlgraph.components.common.argument_checks import check_flag
from rlgraph.components.common.observations import Observations, Observing
from rlgraph.components.networks.layer_chain import call_layer
from rlgraph.components.networks.neural_network import NeuralNetwork
from rlgraph.core import rlgraph_api
from rlgraph.core.specs.spec_types import NetworkSpec, SpaceSpec
from rlgraph.spaces import Space


class Policy(Observing):
    """A stochastic policy: a network, action adapters and distributions.

    Actions may be integers, bools, floats with and without bounds, and Dicts and Tuples of them; the parts of a
    container are independent given the state.

    Its API methods take `observations`: states ``[B, ...]``, or a bundle of them and more (see `Observations`). They
    return a dict. With a recurrent network it includes the ``"internal_states"`` after the last step, in the form in
    which observations have them; their Space is `internal_states_space`. For sequences, results are sequences.

    Args:
        network_spec: the network (instance, list of layer specs, or spec).
        action_space: of one action.
        action_adapter_spec: arguments for all action adapters, such as ``pre_network_spec``.
        deterministic: default of `get_action`: modes of the distributions instead of samples.
        distributions_spec: the distributions (see `choose_adapter`).

    Raises:
        SpecError: an action without a matching distribution, or an invalid spec.
        SpaceError: internal states of other layers; actions with other parts than those of `action_space`, or integers
            beyond theirs.
    """

    def __init__(
        self,
        network_spec: NetworkSpec,
        action_space: SpaceSpec,
        action_adapter_spec: Mapping[str, Any] | None = None,
        deterministic: bool = True,
        distributions_spec: Mapping[str, Any] | None = None,
        scope: str = "policy",
        **kwargs: Any,
    ):
        self.action_space = action_space_of(action_space, f"{scope}.action_space")
        self.deterministic = check_flag(deterministic, f"{scope}.deterministic")
        self.network = NeuralNetwork.from_spec(network_spec, path=f"{scope}.network_spec")
        self.action_adapter = choose_adapter(self.action_space, distributions_spec, action_adapter_spec)
        self.distribution = self.action_adapter.make_distribution()
        super().__init__(self.network, self.action_adapter, self.distribution, scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        super().check_input_spaces(input_spaces, action_space)
        if "actions" in input_spaces:
            check_actions(input_spaces["actions"], self.action_space)

    @rlgraph_api
    def get_nn_outputs(self, observations: Any) -> Any:
        """``{"nn_outputs": [B, N]}``, the features of the states."""
        return self.features_of(observations)

    @rlgraph_api
    def get_adapter_outputs(self, observations: Any) -> Any:
        """``{"adapter_outputs", "nn_outputs"}``: the outputs of the action layers, a container for such actions."""
        return self._outputs_of(observations)

    @rlgraph_api
    def get_adapter_outputs_and_parameters(self, observations: Any) -> Any:
        """``{"adapter_outputs", "parameters", "nn_outputs"}``; the parameters are those of the distributions."""
        return self.outputs_and_parameters_of(observations)

    @rlgraph_api
    def get_action(self, observations: Any, deterministic: Any = None) -> Any:
        """``{"action": [B, ...], "nn_outputs"}``.

        Args:
            observations: see the class.
            deterministic: modes instead of samples: a Python bool or a bool tensor, [] or [B]; default: the policy's
                own setting.
        """
        return self._acted(observations, deterministic)

    @rlgraph_api
    def get_deterministic_action(self, observations: Any) -> Any:
        """As `get_action`: the modes of the distributions."""
        return self._acted(observations, True)

    @rlgraph_api
    def get_stochastic_action(self, observations: Any) -> Any:
        """As `get_action`: samples."""
        return self._acted(observations, False)

    @rlgraph_api
    def get_action_and_log_likelihood(self, observations: Any, deterministic: Any = None) -> Any:
        """``{"action": [B, ...], "log_likelihood": [B], "nn_outputs"}``; arguments as of `get_action`."""
        features, parameters = self.parameters_of(observations)
        action, log_likelihood = self.distribution.sample_and_log_prob(
            parameters, self._decided(deterministic)
        )
        return {"action": action, "log_likelihood": log_likelihood, **features}

    @rlgraph_api
    def get_log_likelihood(self, observations: Any, actions: Any) -> Any:
        """``{"log_likelihood": [B], "nn_outputs"}`` of ``actions [B, ...]``, the sum over all parts of an action."""
        features, parameters = self.parameters_of(observations)
        return {"log_likelihood": self.distribution.log_prob(parameters, actions), **features}

    @rlgraph_api
    def get_log_likelihood_per_part(self, observations: Any, actions: Any) -> Any:
        """``{"log_likelihood_per_part", "nn_outputs"}``: as `get_log_likelihood`, for each part of an action.

        It has the structure of the action, with ``[B]`` for each part, as ``PPOLoss(ratio_of="part")`` expects it.
        """
        features, parameters = self.parameters_of(observations)
        log_likelihoods = self.distribution.log_prob_per_part(parameters, actions)
        return {"log_likelihood_per_part": log_likelihoods, **features}

    @rlgraph_api
    def get_entropy(self, observations: Any) -> Any:
        """``{"entropy": [B], "nn_outputs"}`` in nats, the sum over all parts of an action."""
        features, parameters = self.parameters_of(observations)
        return {"entropy": self.distribution.entropy(parameters), **features}

    # Wiring shared by the API methods. They do not call each other, since each may be given other parts.

    def _outputs_of(self, observations: Any) -> dict[str, Any]:
        features = self.features_of(observations)
        outputs = call_layer(
            self.action_adapter,
            features["nn_outputs"],
            training=self.training_of(observations),
            method="get_adapter_outputs",
        )
        return {"adapter_outputs": outputs, **features}

    def outputs_and_parameters_of(self, observations: Any) -> dict[str, Any]:
        """As `get_adapter_outputs_and_parameters`; for use in API methods."""
        outputs = self._outputs_of(observations)
        parameters = self.action_adapter.get_parameters_from_adapter_outputs(
            outputs["adapter_outputs"], Observations.of(observations, self.scope_path).action_mask
        )
        return {**outputs, "parameters": parameters}

    def _acted(self, observations: Any, deterministic: Any) -> dict[str, Any]:
        features, parameters = self.parameters_of(observations)
        return {"action": self.distribution.draw(parameters, self._decided(deterministic)), **features}

    def parameters_of(self, observations: Any) -> tuple[dict[str, Any], Any]:
        """The network's results (``"nn_outputs"``, and states), and parameters; for use in API methods."""
        outputs = self.outputs_and_parameters_of(observations)
        parameters = outputs.pop("parameters")
        outputs.pop("adapter_outputs")
        return outputs, parameters

    def _decided(self, deterministic: Any) -> Any:
        return self.deterministic if deterministic is None else deterministic
