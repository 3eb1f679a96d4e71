"""A policy for actions of any Space."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.action_adapters.adapter_choice import choose_adapter
from rlgraph.components.common.action_spaces import action_space_of, check_actions
from rlgraph.components.common.argument_checks import check_flag
from rlgraph.components.networks.layer_chain import features_of
from rlgraph.components.networks.neural_network import NeuralNetwork
from rlgraph.core import Component, rlgraph_api
from rlgraph.core.specs.spec_types import NetworkSpec, SpaceSpec
from rlgraph.spaces import Dict, Space


class Policy(Component):
    """A stochastic policy: a network, action adapters and distributions.

    Actions may be integers, bools, floats with and without bounds, and Dicts and Tuples of them; the parts of a
    container are independent given the state.

    Every API method returns a dict. With a recurrent network it includes the ``"internal_states"`` after the last
    step; their Space is `internal_states_space`. States of the environment ``[B, ...]`` are one step; with a time rank,
    in either order, they are sequences, and so are the results. All methods take:

    * ``internal_states``: of the recurrent layers before the first step; default: zeros.
    * ``sequence_length``: int [B], number of valid steps of each sequence; default: all.
    * ``resets``: bool, one per step, where an episode begins; default: nowhere.

    Args:
        network_spec: the network (instance, list of layer specs, or spec).
        action_space: of one action.
        action_adapter_spec: arguments for all action adapters, such as ``pre_network_spec``.
        deterministic: default of `get_action`: modes of the distributions instead of samples.
        distributions_spec: the distributions (see `choose_adapter`).
        scope: name among its siblings.

    Raises:
        SpecError: an action without a matching distribution, or an invalid spec.
        SpaceError: internal states for a network without recurrent layers; actions with other parts than those of
            `action_space`, or integers beyond theirs.
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
        if "actions" in input_spaces:
            check_actions(input_spaces["actions"], self.action_space)

    @property
    def internal_states_space(self) -> Dict | None:
        """The Space of the internal states of the network; None if it has none."""
        return self.network.internal_states_space

    @rlgraph_api
    def get_nn_outputs(
        self, nn_inputs: Any, internal_states: Any = None, sequence_length: Any = None, resets: Any = None
    ) -> Any:
        """``{"nn_outputs": [B, N]}``, the features of the states ``nn_inputs [B, ...]``."""
        return features_of(self.network, nn_inputs, internal_states, sequence_length, resets)

    @rlgraph_api
    def get_adapter_outputs(
        self, nn_inputs: Any, internal_states: Any = None, sequence_length: Any = None, resets: Any = None
    ) -> Any:
        """``{"adapter_outputs", "nn_outputs"}``: the outputs of the action layers, a container for such actions."""
        features = features_of(self.network, nn_inputs, internal_states, sequence_length, resets)
        return {
            "adapter_outputs": self.action_adapter.get_adapter_outputs(features["nn_outputs"]),
            **features,
        }

    @rlgraph_api
    def get_adapter_outputs_and_parameters(
        self,
        nn_inputs: Any,
        action_mask: Any = None,
        internal_states: Any = None,
        sequence_length: Any = None,
        resets: Any = None,
    ) -> Any:
        """``{"adapter_outputs", "parameters", "nn_outputs"}``; the parameters are those of the distributions.

        Args:
            nn_inputs: states ``[B, ...]``.
            action_mask: which of categorical actions are possible, bool ``[B, ..., A]``; default: all.
            internal_states, sequence_length, resets: see the class.
        """
        outputs = self.get_adapter_outputs(nn_inputs, internal_states, sequence_length, resets)
        parameters = self.action_adapter.get_parameters_from_adapter_outputs(
            outputs["adapter_outputs"], action_mask
        )
        return {**outputs, "parameters": parameters}

    @rlgraph_api
    def get_action(
        self,
        nn_inputs: Any,
        deterministic: Any = None,
        action_mask: Any = None,
        internal_states: Any = None,
        resets: Any = None,
    ) -> Any:
        """``{"action": [B, ...], "nn_outputs"}``.

        Args:
            nn_inputs: states ``[B, ...]``.
            deterministic: modes instead of samples: a Python bool or a bool tensor, [] or [B]; default: the policy's
                own setting.
            action_mask: as in `get_adapter_outputs_and_parameters`.
            internal_states, resets: see the class.
        """
        features, parameters = self.parameters_of(nn_inputs, action_mask, internal_states, None, resets)
        return {"action": self.distribution.draw(parameters, self._decided(deterministic)), **features}

    @rlgraph_api
    def get_deterministic_action(
        self, nn_inputs: Any, action_mask: Any = None, internal_states: Any = None, resets: Any = None
    ) -> Any:
        """As `get_action`: the modes of the distributions."""
        return self.get_action(nn_inputs, True, action_mask, internal_states, resets)

    @rlgraph_api
    def get_stochastic_action(
        self, nn_inputs: Any, action_mask: Any = None, internal_states: Any = None, resets: Any = None
    ) -> Any:
        """As `get_action`: samples."""
        return self.get_action(nn_inputs, False, action_mask, internal_states, resets)

    @rlgraph_api
    def get_action_and_log_likelihood(
        self,
        nn_inputs: Any,
        deterministic: Any = None,
        action_mask: Any = None,
        internal_states: Any = None,
        resets: Any = None,
    ) -> Any:
        """``{"action": [B, ...], "log_likelihood": [B], "nn_outputs"}``; arguments as of `get_action`."""
        features, parameters = self.parameters_of(nn_inputs, action_mask, internal_states, None, resets)
        action, log_likelihood = self.distribution.sample_and_log_prob(
            parameters, self._decided(deterministic)
        )
        return {"action": action, "log_likelihood": log_likelihood, **features}

    @rlgraph_api
    def get_log_likelihood(
        self,
        nn_inputs: Any,
        actions: Any,
        action_mask: Any = None,
        internal_states: Any = None,
        sequence_length: Any = None,
        resets: Any = None,
    ) -> Any:
        """``{"log_likelihood": [B], "nn_outputs"}`` of ``actions [B, ...]``, the sum over all parts of an action."""
        features, parameters = self.parameters_of(
            nn_inputs, action_mask, internal_states, sequence_length, resets
        )
        return {"log_likelihood": self.distribution.log_prob(parameters, actions), **features}

    @rlgraph_api
    def get_log_likelihood_per_part(
        self,
        nn_inputs: Any,
        actions: Any,
        action_mask: Any = None,
        internal_states: Any = None,
        sequence_length: Any = None,
        resets: Any = None,
    ) -> Any:
        """``{"log_likelihood_per_part", "nn_outputs"}``: as `get_log_likelihood`, for each part of an action.

        It has the structure of the action, with ``[B]`` for each part, as ``PPOLoss(ratio_of="part")`` expects it.
        """
        features, parameters = self.parameters_of(
            nn_inputs, action_mask, internal_states, sequence_length, resets
        )
        log_likelihoods = self.distribution.log_prob_per_part(parameters, actions)
        return {"log_likelihood_per_part": log_likelihoods, **features}

    @rlgraph_api
    def get_entropy(
        self,
        nn_inputs: Any,
        action_mask: Any = None,
        internal_states: Any = None,
        sequence_length: Any = None,
        resets: Any = None,
    ) -> Any:
        """``{"entropy": [B], "nn_outputs"}`` in nats, the sum over all parts of an action."""
        features, parameters = self.parameters_of(
            nn_inputs, action_mask, internal_states, sequence_length, resets
        )
        return {"entropy": self.distribution.entropy(parameters), **features}

    def parameters_of(
        self,
        nn_inputs: Any,
        action_mask: Any = None,
        internal_states: Any = None,
        sequence_length: Any = None,
        resets: Any = None,
    ) -> tuple[dict[str, Any], Any]:
        """The network's results (``"nn_outputs"``, and states), and parameters; for use in API methods."""
        outputs = self.get_adapter_outputs_and_parameters(
            nn_inputs, action_mask, internal_states, sequence_length, resets
        )
        features = {key: outputs[key] for key in ("nn_outputs", "internal_states") if key in outputs}
        return features, outputs["parameters"]

    def _decided(self, deterministic: Any) -> Any:
        return self.deterministic if deterministic is None else deterministic
