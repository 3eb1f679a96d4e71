"""A network that predicts labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.action_adapters.adapter_choice import choose_adapter
from rlgraph.components.common.action_spaces import action_space_of
from rlgraph.components.networks.layer_chain import call_layer
from rlgraph.components.networks.neural_network import NeuralNetwork
from rlgraph.core import Component, SpecError, rlgraph_api
from rlgraph.core.specs.spec_types import NetworkSpec, SpaceSpec
from rlgraph.spaces import Space


class SupervisedPredictor(Component):
    """A network whose outputs are predictions; or, with a Space of labels, the parameters of their distribution.

    Args:
        network_spec: the network (instance, list of layer specs, or spec).
        label_space: the Space of one label, of any kind, containers included: a linear layer after the network outputs
            the parameters of a distribution of labels, as in a `Policy` of actions. None: the network's outputs are
            the predictions, and the parameters as well.
        distributions_spec: the distributions (see `choose_adapter`); only with a `label_space`.

    Raises:
        SpecError: labels without a matching distribution, `distributions_spec` without labels, or an invalid spec.
    """

    def __init__(
        self,
        network_spec: NetworkSpec,
        label_space: SpaceSpec = None,
        distributions_spec: Mapping[str, Any] | None = None,
        scope: str = "predictor",
        **kwargs: Any,
    ):
        if label_space is None and distributions_spec is not None:
            raise SpecError(f"{scope}.distributions_spec needs a label_space, given none")
        self.network = NeuralNetwork.from_spec(network_spec, path=f"{scope}.network_spec")
        self.adapter: Any = None
        self.distribution: Any = None
        self.label_space: Space | None = None
        if label_space is not None:
            self.label_space = action_space_of(label_space, f"{scope}.label_space")
            self.adapter = choose_adapter(self.label_space, distributions_spec, scope="label-adapter")
            self.distribution = self.adapter.make_distribution()
        parts = (self.network, self.adapter, self.distribution)
        super().__init__(*(part for part in parts if part is not None), scope=scope, **kwargs)

    @rlgraph_api
    def get_distribution_parameters(self, inputs: Any, training: Any = None) -> Any:
        """The argument of a loss: parameters of the distribution ``[B, ...]`` or a container of them, or the outputs.

        Args:
            inputs: ``[B, ...]``, or of sequences.
            training: passed to the layers that accept it, such as `Dropout`.
        """
        outputs = call_layer(self.network, inputs, training=training)
        if self.adapter is None:
            return outputs
        return call_layer(self.adapter, outputs, training=training, method="get_parameters")

    @rlgraph_api
    def predict(self, inputs: Any, deterministic: Any = None) -> Any:
        """Labels ``[B, ...]`` for ``inputs [B, ...]``.

        Args:
            inputs: as in `get_distribution_parameters`.
            deterministic: modes of the distribution or samples: a Python bool or a bool tensor, [] or [B]; default:
                modes. Ignored without a distribution.
        """
        parameters = self.get_distribution_parameters(inputs, False)
        if self.distribution is None:
            return parameters
        return self.distribution.draw(parameters, True if deterministic is None else deterministic)
