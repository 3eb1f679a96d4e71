"""Rewards for exploration beside those of the task, with a value function of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from rlgraph.algorithms.metric import Metric
from rlgraph.components import (
    GeneralizedAdvantageEstimation,
    IntrinsicCuriosityModule,
    NeuralNetwork,
    Optimizer,
    RandomNetworkDistillation,
    ReturnScaling,
    ValueFunction,
)
from rlgraph.components.common.argument_checks import check_flag, check_number
from rlgraph.components.common.observations import evaluating
from rlgraph.components.networks.layer_chain import is_recurrent
from rlgraph.core import AssemblyError, Component, SpecError, graph_fn, in_group, rlgraph_api
from rlgraph.core.functional.policy_gradient import value_loss
from rlgraph.core.functional.returns import advantages_across_episodes
from rlgraph.core.functional.weighting import weighted_mean
from rlgraph.core.specs.spec_types import ComponentSpec, NetworkSpec
from rlgraph.spaces import Space


class IntrinsicRewards(Component):
    """Intrinsic rewards of rollouts, their value function and their advantages; the base of `RND` and `ICM`.

    Burda et al. (2018), sections 2.3 and 2.4, https://arxiv.org/abs/1810.12894: rewards are divided by the running
    deviation of their returns; the advantages of both kinds of rewards are added. A subclass gives the rewards.

    Args:
        network_spec: of the value function.
        gae_lambda: lambda of the advantages.
        optimizer: of the value function.
        weight: factor of the intrinsic advantages.
        discount: discount factor of the intrinsic rewards.
        episodic: whether intrinsic returns end with the episode; False: they continue in the next one.
        proportion: the share of each minibatch that the module learns from, above 0, up to 1.
        epsilon: added to the variance of returns, at least 0.
        scope: name among its siblings.

    Raises:
        SpecError: a number out of its range, a recurrent network, or an invalid spec.
    """

    metrics: ClassVar[Mapping[str, Metric]] = {
        "intrinsic_reward": Metric("Mean reward for exploration of a step, before scaling.", "reward"),
        "predictor_loss": Metric("The loss of the module that gives rewards for exploration.", "loss"),
        "intrinsic_value_loss": Metric("The loss of the value function of these rewards.", "loss"),
    }

    def __init__(
        self,
        network_spec: NetworkSpec,
        gae_lambda: float,
        optimizer: Optimizer,
        weight: float,
        discount: float,
        episodic: bool,
        proportion: float,
        epsilon: float,
        scope: str,
        module: Any,
    ):
        self.weight = check_number(weight, f"{scope}.weight", least=0)
        self.discount = check_number(discount, f"{scope}.discount", least=0, most=1)
        self.episodic = check_flag(episodic, f"{scope}.episodic")
        self.proportion = check_number(proportion, f"{scope}.proportion", above=0, most=1)
        self.module, self.gae_lambda = module, gae_lambda
        self.gae = GeneralizedAdvantageEstimation(gae_lambda, discount) if episodic else None
        self.value_function = ValueFunction(network_spec)
        self.scaling = ReturnScaling(discount, epsilon)
        self.optimizer = optimizer
        parts = (module, self.value_function, self.scaling, self.gae, self.optimizer)
        super().__init__(*filter(None, parts), scope=scope)

    @classmethod
    def for_agent(
        cls,
        spec: Any,
        network_spec: NetworkSpec,
        action_space: Space,
        gae_lambda: float,
        optimizer: Optimizer,
    ) -> IntrinsicRewards | None:
        """Intrinsic rewards from an agent's option ``intrinsic_reward``; None if the option is None.

        Raises:
            SpecError: the option is wrong.
        """
        if spec is None:
            return None
        if isinstance(spec, Mapping) and "type" not in spec:
            raise SpecError(f"missing; expected 'rnd' or 'icm', given {spec!r}", path="intrinsic_reward.type")
        agents = {"agents_network": network_spec, "agents_optimizer": optimizer}
        return cls.from_spec(
            spec, path="intrinsic_reward", action_space=action_space, gae_lambda=gae_lambda, **agents
        )

    def rewards_of(self, records: Any) -> tuple[Any, dict[str, Any]]:
        """The rewards ``[T, N]`` of a rollout, and further fields for `learn`."""
        raise NotImplementedError

    def learn(self, records: Any, weights: Any, progress: Any) -> Any:
        """One update of the module on the items of a minibatch whose weight is not 0; its loss []."""
        raise NotImplementedError

    @rlgraph_api
    def explore(self, records: Any) -> Any:
        """Intrinsic advantages of a rollout ``[T, N]``.

        Returns:
            Fields ``[T, N]`` and metrics ``[]``. The fields are ``"intrinsic_advantages"``, to be added to those of the
            task, and those that `step` needs; the metric is ``"intrinsic_reward"``, the mean before scaling.
        """
        if in_group():
            raise AssemblyError(
                f"{self.scope_path}: a group of learners has no intrinsic rewards, whose running statistics are each "
                "learner's own: leave out intrinsic_reward"
            )
        weights = records["weights"]
        rewards, fields = self.rewards_of(records)
        scaled = self.scaling.scale(rewards, weights)
        found = self.value_function.get_values_of_transitions(
            evaluating(self.value_function, records["observations"]), records["next_observations"]
        )
        values, following = found["state_values"], found["next_state_values"]
        if self.gae is None:
            own = self._across_episodes(scaled, values, following, weights)
        else:
            own = self.gae.calc_gae_values(values, scaled, records["terminals"], records["ends"], following)
        weighted, targets, mean = self._results(own, values, rewards, weights)
        fields |= {"intrinsic_advantages": weighted, "intrinsic_targets": targets}
        return fields, {"intrinsic_reward": mean}

    @rlgraph_api
    def step(self, records: Any, progress: Any = None) -> Any:
        """One update on a minibatch: ``{"predictor_loss": [], "intrinsic_value_loss": []}`` before it."""
        weights = records["weights"]
        chosen = weights if self.proportion == 1.0 else self._chosen(weights)
        predictor_loss = self.learn(records, chosen, progress)
        values = self.value_function.get_state_values(records["observations"])["state_values"]
        loss = self._value_loss(values, records["intrinsic_targets"], weights)
        self.optimizer.step(self.value_function.variables(trainable_only=True), loss, progress)
        return {"predictor_loss": predictor_loss, "intrinsic_value_loss": loss}

    @graph_fn(flatten_ops=True, split_ops=True)
    def _apart(self, ops: Any, states: Any) -> Any:
        """The states without derivatives.

        So the module's call for rewards is not the one that `learn` differentiates: derivatives do not pass the host
        function that scales rewards.
        """
        return ops.stop_gradient(states)

    @graph_fn
    def _chosen(self, ops: Any, weights: Any) -> Any:
        """The weights of a random share `proportion` of the items; 0 for the others."""
        return ops.where(ops.random_uniform(ops.shape(weights)) < self.proportion, weights, 0.0)

    @graph_fn
    def _across_episodes(self, ops: Any, rewards: Any, values: Any, next_values: Any, weights: Any) -> Any:
        valid, factors = ops.astype(weights, "bool"), (self.discount, self.gae_lambda)
        return ops.stop_gradient(
            advantages_across_episodes(ops, rewards, values, next_values, valid, *factors)
        )

    @graph_fn(returns=3)
    def _results(self, ops: Any, advantages: Any, values: Any, rewards: Any, weights: Any) -> Any:
        targets = ops.stop_gradient(values + advantages)
        return self.weight * advantages, targets, weighted_mean(ops, rewards, weights)

    @graph_fn
    def _value_loss(self, ops: Any, values: Any, targets: Any, weights: Any) -> Any:
        return weighted_mean(ops, value_loss(ops, values, targets), weights)


class RND(IntrinsicRewards):
    """Rewards of random network distillation (Burda et al., 2018), https://arxiv.org/abs/1810.12894, for new states.

    Args:
        agents_network, action_space, gae_lambda, agents_optimizer: of the agent.
        weight: factor of the intrinsic advantages.
        discount: discount factor of the intrinsic rewards.
        episodic: whether intrinsic returns end with the episode; False: they continue in the next one.
        proportion: the share of each minibatch that the predictor learns from, above 0, up to 1.
        network_spec: layers of target, predictor and value function; default: those of the agent's value function.
        num_features: the length of the features that are predicted; 512 in the paper.
        optimizer_spec: of predictor and value function; default: the agent's.
        epsilon: added to the variances of states and returns, at least 0; 1e-8 up to version 0.2.
        scope: name among its siblings.

    Raises:
        SpecError: a number out of its range, a recurrent network, or an invalid spec.
    """

    def __init__(
        self,
        agents_network: NetworkSpec,
        action_space: Space,
        gae_lambda: float,
        agents_optimizer: Optimizer,
        weight: float = 0.5,
        discount: float = 0.99,
        episodic: bool = False,
        proportion: float = 0.25,
        network_spec: NetworkSpec = None,
        num_features: int = 64,
        optimizer_spec: ComponentSpec = None,
        epsilon: float = 0.0,
        scope: str = "intrinsic-reward",
    ):
        network = _network(agents_network if network_spec is None else network_spec, scope)
        optimizer = _optimizer(agents_optimizer if optimizer_spec is None else optimizer_spec, scope)
        module = RandomNetworkDistillation(
            network(), num_features, optimizer_spec=optimizer(), epsilon=epsilon, scope="rnd"
        )
        super().__init__(
            network(), gae_lambda, optimizer(), weight, discount, episodic, proportion, epsilon, scope, module
        )

    def rewards_of(self, records: Any) -> tuple[Any, dict[str, Any]]:
        states = self.module.standardize(records["next_observations"]["states"], records["weights"])
        return self.module.get_intrinsic_rewards(self._apart(states)), {"standardized_states": states}

    def learn(self, records: Any, weights: Any, progress: Any) -> Any:
        return self.module.update(records["standardized_states"], weights, progress)["loss"]


class ICM(IntrinsicRewards):
    """Rewards of the intrinsic curiosity module (Pathak et al., 2017), https://arxiv.org/abs/1705.05363.

    They are high for transitions that cannot be predicted from state and action, in features that actions change.

    Args:
        agents_network, action_space, gae_lambda, agents_optimizer: of the agent.
        weight: factor of the intrinsic advantages.
        discount: discount factor of the intrinsic rewards.
        episodic: whether intrinsic returns end with the episode; False: they continue in the next one.
        proportion: the share of each minibatch that the module learns from, above 0, up to 1.
        network_spec: layers of encoder and value function; default: those of the agent's value function.
        num_features: the length of the features; 288 in the paper.
        hidden_spec: hidden layers of the inverse and the forward model; 256 units with ReLU in the paper.
        beta: weight of the forward model's loss, in [0, 1]; the inverse model's is 1 - beta.
        optimizer_spec: of module and value function; default: the agent's.
        scale_actions: False: actions are not scaled from their bounds to -1..1, see `IntrinsicCuriosityModule`.
        epsilon: added to the variance of returns, at least 0; 1e-8 up to version 0.2.
        scope: name among its siblings.

    Raises:
        SpecError: a number out of its range, a recurrent network, an action without a matching distribution, or an
            invalid spec.
    """

    def __init__(
        self,
        agents_network: NetworkSpec,
        action_space: Space,
        gae_lambda: float,
        agents_optimizer: Optimizer,
        weight: float = 0.5,
        discount: float = 0.99,
        episodic: bool = False,
        proportion: float = 1.0,
        network_spec: NetworkSpec = None,
        num_features: int = 64,
        hidden_spec: NetworkSpec = (64,),
        beta: float = 0.2,
        optimizer_spec: ComponentSpec = None,
        scale_actions: bool = True,
        epsilon: float = 0.0,
        scope: str = "intrinsic-reward",
    ):
        network = _network(agents_network if network_spec is None else network_spec, scope)
        optimizer = _optimizer(agents_optimizer if optimizer_spec is None else optimizer_spec, scope)
        module = IntrinsicCuriosityModule(
            network(),
            action_space,
            num_features,
            hidden_spec,
            hidden_spec,
            beta,
            eta=1.0,  # the scaling of rewards makes up for any factor
            optimizer_spec=optimizer(),
            scale_actions=scale_actions,
            scope="icm",
        )
        super().__init__(
            network(), gae_lambda, optimizer(), weight, discount, episodic, proportion, epsilon, scope, module
        )

    def rewards_of(self, records: Any) -> tuple[Any, dict[str, Any]]:
        names = ("observations", "next_observations")
        states, reached = (self._apart(records[name]["states"]) for name in names)
        return self.module.get_intrinsic_rewards(states, records["actions"], reached), {}

    def learn(self, records: Any, weights: Any, progress: Any) -> Any:
        states, reached = (records[name]["states"] for name in ("observations", "next_observations"))
        return self.module.update(states, records["actions"], reached, progress, weights)["loss"]


def _network(spec: Any, scope: str) -> Callable[[], NeuralNetwork]:
    """Makes networks of these layers, which share no variables.

    Raises:
        SpecError: the spec is invalid, or a layer is recurrent.
    """
    network = NeuralNetwork.from_spec(spec, path=f"{scope}.network_spec")
    if is_recurrent(network):
        raise SpecError(
            "expected layers without memory: by default they are the agent's; give others, such as [64, 64]",
            path=f"{scope}.network_spec",
        )
    return lambda: network.copy(scope="network")


def _optimizer(spec: Any, scope: str) -> Callable[[], Optimizer]:
    """Makes optimizers like this one, which share no variables.

    Raises:
        SpecError: the spec is invalid.
    """
    optimizer = Optimizer.from_spec(spec, path=f"{scope}.optimizer_spec")
    return lambda: optimizer.copy(scope="optimizer")
