"""Algorithms with planted faults, and the row of the conformance suite that each fails."""

from typing import Any
from unittest.mock import patch

from rlgraph.agents.agent import Agent
from rlgraph.algorithms import td3
from rlgraph.algorithms.a2c import A2C
from rlgraph.algorithms.dqfd import DQFD
from rlgraph.algorithms.dqn import DQN
from rlgraph.algorithms.impala import IMPALA
from rlgraph.algorithms.iql import IQL
from rlgraph.algorithms.ppo import PPO
from rlgraph.algorithms.qr_dqn import QRDQN
from rlgraph.algorithms.sac import SAC
from rlgraph.algorithms.td3 import TD3
from rlgraph.components import (
    ActorCriticLoss,
    DeterministicPolicy,
    DQNLoss,
    IQLLoss,
    PPOLoss,
    QuantileDQNLoss,
    SACLoss,
    Target,
)
from rlgraph.core import branch, graph_fn, rlgraph_api
from rlgraph.core.functional.distributional import quantile_midpoints
from rlgraph.core.functional.distributions.squashed_normal import squash
from rlgraph.core.functional.implicit_q_learning import expectile_loss
from rlgraph.core.functional.policy_gradient import sum_of_parts
from rlgraph.core.functional.q_learning import huber
from rlgraph.core.functional.td3 import smoothed_actions
from rlgraph.core.specs.parameters import parameters_of

#: Name of the algorithm -> its class, and the row.
FAULTS: dict[str, tuple[type, str]] = {}


def caught_by(row, option=""):
    """Register a faulty algorithm; of its options only this one is tried."""

    def register(kind):
        FAULTS[kind.__name__] = (kind, row)
        if option:
            others = {*parameters_of(Agent.of(kind)).named} - {option}
            kind.test_alternatives = dict.fromkeys(others, ())
        return kind

    return register


def update_of(algorithm, change):
    """Its `update` on records that ``change(self, records)`` returns."""
    if algorithm is PPO:

        @rlgraph_api
        def update(self, records, progress=None):
            return PPO.update.function(self, change(self, records), progress)

    else:

        @rlgraph_api
        def update(self, records, importance_weights=None, progress=None):
            return TD3.update.function(self, change(self, records), importance_weights, progress)

    return update


class Fields(TD3):
    """TD3 whose fields of records are replaced."""

    @graph_fn
    def never(self, ops, flags):
        return ops.logical_and(flags, ops.logical_not(flags))

    @graph_fn
    def constant(self, ops, x):
        return 0.0 * x + self.number


@caught_by("values/states_after_ends")
class TD3BootstrapsThroughTerminations(Fields):
    update = update_of(TD3, lambda self, records: {**records, "terminals": self.never(records["terminals"])})


@caught_by("options/each_has_an_effect", "target_noise")
class TD3WithoutSmoothing(TD3):
    def __init__(self, *spaces: Any, target_noise: float = 0.2, **options: Any):
        super().__init__(*spaces, target_noise=0.0, **options)


@caught_by("options/each_has_an_effect", "discount")
class TD3WithoutDiscount(Fields):
    number = 1.0
    update = update_of(
        TD3, lambda self, records: {**records, "discounts": self.constant(records["discounts"])}
    )


@caught_by("options/each_has_an_effect", "discount")
class TD3WithADiscountOfItsOwn(TD3WithoutDiscount):
    number = 0.99


class CriticLossOfItsOwn(TD3):
    """The loss of the critics is written out; the policy learns as ever."""

    @rlgraph_api
    def update(self, records, importance_weights=None, progress=None):
        following, states = records["next_observations"], records["observations"]
        actions = self.target_policy.get_deterministic_action(following)["action"]
        loss = self.critic_loss(
            tuple(critic.state_action_value(states, records["actions"]) for critic in self.critics),
            self.next_values(following, actions),
            *(records[name] for name in ("rewards", "terminals", "discounts")),
        )
        self.step("critic", self.critics, loss, progress)
        policy_loss = self.negative(
            self.critics[0].state_action_value(states, self.policy.get_deterministic_action(states)["action"])
        )
        self.step("actor", [self.policy], policy_loss, progress)
        self.sync_targets()
        return {"loss": loss, "priorities": self.sizes(records["rewards"])}

    def sync_targets(self):
        for target in (self.target_policy, *self.targets):
            target.sync()

    @graph_fn
    def negative(self, ops, values):
        return -ops.mean(values)

    @graph_fn
    def sizes(self, ops, rewards):
        return ops.abs(rewards)

    def next_values(self, following, actions):
        return self.smallest(*(target.state_action_value(following, actions) for target in self.targets))

    @graph_fn
    def smallest(self, ops, one, other):
        return ops.stop_gradient(ops.minimum(one, other))

    @graph_fn
    def critic_loss(self, ops, values, following, rewards, terminals, discounts):
        wanted = rewards + discounts * (1.0 - ops.astype(terminals, "float")) * following
        return sum(ops.mean(ops.square(value - wanted)) for value in values)


@caught_by("targets/reached_states_teach_nothing")
class TD3DerivesTargets(CriticLossOfItsOwn):
    def next_values(self, following, actions):
        own = (critic.state_action_value(following, actions) for critic in self.critics)
        return self.derived(super().next_values(following, actions), *own)

    @graph_fn
    def derived(self, ops, of_targets, one, other):
        return ops.minimum(one, other) + 0.0 * of_targets


@caught_by("targets/values_of_reached_states")
class TD3TakesTheLargest(CriticLossOfItsOwn):
    @graph_fn
    def smallest(self, ops, one, other):
        return ops.stop_gradient(ops.maximum(one, other))


@caught_by("targets/lag")
class TD3UpdatesTargetsAlways(TD3):
    @rlgraph_api
    def update(self, records, importance_weights=None, progress=None):
        results = TD3.update.function(self, records, importance_weights, progress)
        for target in (self.target_policy, *self.targets):
            target.sync()
        return results


@caught_by("updates/importance_weights")
class TD3IgnoresImportance(TD3):
    @rlgraph_api
    def update(self, records, importance_weights=None, progress=None):
        return TD3.update.function(self, records, None, progress)


@caught_by("exploration/drawn_actions_vary")
class TD3WithoutNoise(TD3):
    @rlgraph_api
    def act(self, observations, progress):
        return self.policy.get_deterministic_action(observations)


@caught_by("exploration/noise_and_entropy")
class PPOWithTheWrongSignOfEntropy(PPO):
    def __init__(self, *spaces: Any, weight_entropy: float = 0.0, **options: Any):
        super().__init__(*spaces, weight_entropy=weight_entropy, **options)
        self.weight_entropy = weight_entropy

    def minimize(self, losses, records, progress):
        loss = self.with_cost(losses["loss"], losses["entropy"])
        return super().minimize({**losses, "loss": loss}, records, progress)

    @graph_fn
    def with_cost(self, ops, loss, entropy):
        return loss + 2.0 * self.weight_entropy * entropy


@caught_by("values/states_after_ends")
class PPOBootstrapsThroughTerminations(PPO):
    never = Fields.never
    update = update_of(PPO, lambda self, records: {**records, "terminals": self.never(records["terminals"])})


@caught_by("options/each_has_an_effect", "discount")
class PPOWithoutDiscount(PPO):
    def __init__(self, *spaces: Any, discount: float = 0.99, **options: Any):
        super().__init__(*spaces, discount=1.0, **options)


@caught_by("options/each_has_an_effect", "clip_ratio")
class PPOWithTheRatioToItself(PPO):
    @rlgraph_api
    def step(self, records, progress=None):
        found = self.policy.get_log_likelihood(records["observations"], records["actions"])
        return PPO.step.function(self, {**records, "log_probs": found["log_likelihood"]}, progress)


@caught_by("acting/log_probabilities")
class IMPALATakesAllForItsOwn(IMPALA):
    @rlgraph_api
    def update(self, records, progress=None):
        certain = self.certain(records["remembered"]["log_likelihood"])
        return IMPALA.update.function(self, {**records, "remembered": {"log_likelihood": certain}}, progress)

    @graph_fn
    def certain(self, ops, log_likelihood):
        return 0.0 * log_likelihood - 60.0


@caught_by("targets/values_of_reached_states")
class DQNWithExchangedNetworks(DQN):
    def loss_inputs(self, records):
        values = super().loss_inputs(records)
        return {**values, "q_next": values["q_next_target"], "q_next_target": values["q_next"]}


@caught_by("targets/lag")
class DQNActsOnItsTarget(DQN):
    @rlgraph_api
    def act_greedily(self, observations):
        greedy = self.target.get_deterministic_action(observations)
        return {"action": greedy["action"], "q_values": self.get_q_values(observations)}


@caught_by("masks/legal_actions")
class DQNValuesForbiddenActions(DQN):
    def loss_inputs(self, records):
        after = {name: x for name, x in records["next_observations"].items() if name != "action_mask"}
        return super().loss_inputs({**records, "next_observations": after})


class DQNFields(DQN):
    constant = Fields.constant
    number = 0.99

    @graph_fn
    def clipped(self, ops, rewards):
        return ops.clip(rewards, -1.0, 1.0)


@caught_by("values/states_after_ends")
class DQNDiscountsOnce(DQNFields):
    def loss_inputs(self, records):
        return {**super().loss_inputs(records), "discounts": self.constant(records["rewards"])}


@caught_by("values/discounted_rewards")
class DQNClipsRewards(DQNFields):
    def loss_inputs(self, records):
        return super().loss_inputs({**records, "rewards": self.clipped(records["rewards"])})


class SumOfLosses(DQNLoss):
    @rlgraph_api
    def loss(
        self, q_values, actions, rewards, terminals, q_next, q_next_target, discounts=None, weights=None
    ):
        values = (q_values, actions, rewards, terminals, q_next, q_next_target, discounts)
        per_item = self.loss_per_item(*values)
        return {"loss": self.sum_of(per_item), "loss_per_item": per_item}

    @graph_fn
    def sum_of(self, ops, per_item):
        return ops.sum(per_item)


@caught_by("updates/records_teach_alone")
class DQNSumsLosses(DQN):
    make_loss = SumOfLosses


@caught_by("updates/importance_weights")
class DQNSquaresImportance(DQN):
    @rlgraph_api
    def update(self, records, importance_weights=None, progress=None):
        weights = None if importance_weights is None else self.squared(importance_weights)
        return DQN.update.function(self, records, weights, progress)

    @graph_fn
    def squared(self, ops, weights):
        return ops.square(weights)


@caught_by("updates/priorities")
class DQNWeighsPriorities(DQN):
    @rlgraph_api
    def update(self, records, importance_weights=None, progress=None):
        results = DQN.update.function(self, records, importance_weights, progress)
        if importance_weights is None:
            return results
        return {**results, "priorities": self.weighted(results["priorities"], importance_weights)}

    @graph_fn
    def weighted(self, ops, errors, weights):
        return errors * weights


class TD3OfPolicy(TD3):
    policy_class: type

    def __init__(self, *spaces: Any, **options: Any):
        with patch.object(td3, "DeterministicPolicy", self.policy_class):
            super().__init__(*spaces, **options)


class OneNoise(DeterministicPolicy):
    @graph_fn(flatten_ops={"actions"}, split_ops=True, add_auto_key_as_first_param=True)
    def _smooth(self, ops, key, actions, noise, noise_clip):
        drawn = noise * ops.random_normal((1, *actions.shape[1:]))
        return smoothed_actions(ops, actions, drawn, noise_clip, *self._limits(ops, key))


@caught_by("updates/records_teach_alone")
class TD3DrawsOneNoise(TD3OfPolicy):
    policy_class = OneNoise


@caught_by("updates/order_of_records")
class PPOFadesAdvantages(PPO):
    def compute_advantages(self, records):
        fields, metrics = super().compute_advantages(records)
        return {**fields, "advantages": self.faded(fields["advantages"])}, metrics

    @graph_fn
    def faded(self, ops, advantages):
        row = ops.cumulative_sum(ops.ones_like(advantages), axis=0) - 1.0
        return advantages * ops.exp(-0.01 * row)


@caught_by("options/each_has_an_effect", "nothing else")
class PPOClipsValuesAlways(PPO):
    def make_loss(self, **options):
        if options["value_function_clipping"] is None:
            options["value_function_clipping"] = options["clip_ratio"]
        return PPOLoss(**options)


@caught_by("values/states_after_ends")
class A2CTakesTheLastStepForAnEnd(A2C):
    def compute_advantages(self, records):
        return super().compute_advantages({**records, "terminals": self.with_last(records["terminals"])})

    @graph_fn
    def with_last(self, ops, terminals):
        from_the_end = ops.cumulative_sum(ops.ones_like(ops.astype(terminals, "float")), axis=0)
        return ops.logical_or(terminals, from_the_end >= ops.max(from_the_end))


class SmallerLossOfValues(PPOLoss):
    @graph_fn
    def _value_loss(self, ops, state_values, prev_state_values, advantages, progress=None):
        old, limit = ops.stop_gradient(prev_state_values), self.value_function_clipping
        targets = ops.stop_gradient(prev_state_values + advantages)
        if limit is None:
            return ops.square(state_values - targets)
        clipped = old + ops.clip(state_values - old, -1.0, 1.0) * self.at(
            ops, "value_function_clipping", progress
        )
        return ops.minimum(ops.square(state_values - targets), ops.square(clipped - targets))


@caught_by("options/each_has_an_effect", "nothing else")
class PPOTakesTheSmallerLossOfValues(PPO):
    make_loss = SmallerLossOfValues


class Probability(ActorCriticLoss):
    @graph_fn(flatten_ops={"log_probs"})
    def _policy_loss(self, ops, log_probs, advantages):
        joint = sum_of_parts(ops, list(log_probs.values()), self.item_rank)
        return -ops.exp(joint) * ops.stop_gradient(advantages)


@caught_by("values/discounted_rewards")
class A2CTakesTheProbability(A2C):
    make_loss = Probability


@caught_by("values/discounted_rewards")
class PPOExchangesExplained(PPO):
    def explained(self, computed, records):
        returns = self._sum(computed["values"], computed["advantages"])
        explained = self.loss.get_explained_variance(
            values=returns, targets=computed["values"], weights=records["weights"]
        )
        return {"explained_variance": explained}


class ClippedOnly(PPOLoss):
    @graph_fn(flatten_ops={"log_probs", "prev_log_probs"})
    def _policy_loss(self, ops, log_probs, prev_log_probs, advantages, progress=None):
        limit = self.at(ops, "clip_ratio", progress)
        new, old = self._joint(ops, list(log_probs), log_probs, prev_log_probs)
        return -ops.clip(ops.exp(new - ops.stop_gradient(old)), 1.0 - limit, 1.0 + limit) * advantages


@caught_by("options/each_has_an_effect", "nothing else")
class PPOTakesTheClippedRatioAlone(PPO):
    make_loss = ClippedOnly


@caught_by("values/discounted_rewards")
class DQNChoosesInTheState(DQN):
    def loss_inputs(self, records):
        values = super().loss_inputs(records)
        return {**values, "q_next": values["q_values"]}


class ClippedErrors(DQNLoss):
    def _penalty(self, ops, errors):
        return ops.square(ops.clip(errors, -1.0, 1.0))


@caught_by("updates/every_reward_counts")
class DQNClipsErrors(DQN):
    make_loss = ClippedErrors


class UnboundedActions(DeterministicPolicy):
    @graph_fn(flatten_ops={"actions"}, split_ops=True, add_auto_key_as_first_param=True)
    def _smooth(self, ops, key, actions, noise, noise_clip):
        return actions + ops.clip(noise * ops.random_normal(ops.shape(actions)), -noise_clip, noise_clip)


@caught_by("options/each_has_an_effect", "nothing else")
class TD3LeavesTheBounds(TD3OfPolicy):
    policy_class = UnboundedActions


class SquashedTwice(DeterministicPolicy):
    @graph_fn
    def _squash(self, ops, outputs, path):
        leading = [ops.shape(outputs)[i] for i in range(len(outputs.shape) - 1)]
        outputs = ops.tanh(ops.reshape(outputs, (*leading, *self.boxes[path].shape)))
        return squash(ops, outputs, *self._limits(ops, path))


@caught_by("spaces/actions")
class TD3SquashesTwice(TD3OfPolicy):
    policy_class = SquashedTwice


class UnscaledNoise(DeterministicPolicy):
    @graph_fn(flatten_ops={"actions"}, split_ops=True, add_auto_key_as_first_param=True)
    def _smooth(self, ops, key, actions, noise, noise_clip):
        drawn = ops.clip(noise * ops.random_normal(ops.shape(actions)), -noise_clip, noise_clip)
        low, high = self._limits(ops, key)
        return ops.minimum(ops.maximum(actions + drawn, low), high)


@caught_by("spaces/actions")
class TD3ScalesNoNoise(TD3OfPolicy):
    policy_class = UnscaledNoise


@caught_by("values/discounted_rewards")
class PPOLearnsFromReturns(PPO):
    @rlgraph_api
    def step(self, records, progress=None):
        returns = self.sum_of(records["advantages"], records["values"])
        return PPO.step.function(self, {**records, "policy_advantages": returns}, progress)

    @graph_fn
    def sum_of(self, ops, advantages, values):
        return advantages + values


@caught_by("options/each_has_an_effect", "nothing else")
class SACNegatesTheTargetEntropy(SAC):
    def make_loss(self, **options):
        return SACLoss(**{**options, "target_entropy": -options["target_entropy"]})


@caught_by("options/each_has_an_effect", "nothing else")
class IQLExchangesExpectiles(IQL):
    def make_loss(self, **options):
        return IQLLoss(**{**options, "expectile": 1.0 - options["expectile"]})


@caught_by("targets/lag")
class TD3UpdatesThePolicyAlways(CriticLossOfItsOwn):
    def sync_targets(self):
        branch(self._is_due(), super().sync_targets, lambda: None)


@caught_by("acting/log_probabilities")
class IMPALARemembersAnotherDraw(IMPALA):
    @rlgraph_api
    def act(self, observations):
        drawn = self.policy.get_stochastic_action(observations)
        return {**self.policy.get_action_and_log_likelihood(observations, False), "action": drawn["action"]}


@caught_by("values/discounted_rewards")
class SACTakesTheMean(SAC):
    def drawn_actions(self, observations):
        actions, log_probs = super().drawn_actions(observations)
        return actions, log_probs if self.loss.discrete else self.halved(log_probs)

    @graph_fn
    def halved(self, ops, log_probs):
        return log_probs / 2.0  # of two elements


@caught_by("targets/values_of_reached_states")
class SACClimbsTargets(SAC):
    @rlgraph_api
    def update(self, records, importance_weights=None, progress=None):
        self.taken = records["actions"]
        return SAC.update.function(self, records, importance_weights, progress)

    def values_of(self, critics, observations, actions):
        is_drawn = critics is self.critics and actions is not self.taken
        return super().values_of(self.targets if is_drawn else critics, observations, actions)


@caught_by("targets/values_of_reached_states")
class SACWhosePolicyMovesCritics(SAC):
    def step(self, name, parts, loss, progress):
        return super().step(name, [*parts, *self.critics] if name == "actor" else parts, loss, progress)


@caught_by("targets/values_of_reached_states")
class SACDrawsNextActionsInStates(SAC):
    def drawn_actions(self, observations):
        if "training" in observations:  # of the states, which are asked for first
            self.states = observations
        return super().drawn_actions(self.states)


@caught_by("targets/values_of_reached_states")
class TD3WithTwoEqualCritics(TD3):
    def make_critics(self, state_space, layers, tau, number=2, new=None):
        super().make_critics(state_space, layers, tau, number, new)
        self.critics[1:] = [self.critics[0].copy(scope="critic-1", starts_equal=True)]
        self.targets = [Target(critic, tau) for critic in self.critics]


class UnboundedAbove(PPOLoss):
    def policy_loss(self, log_probs, prev_log_probs, advantages, *rest):
        return self.bounded_below(log_probs, prev_log_probs, advantages)

    @graph_fn
    def bounded_below(self, ops, new, old, advantages):
        ratios = ops.exp(new - ops.stop_gradient(old))
        return -ops.minimum(ratios * advantages, ops.maximum(ratios, 0.8) * advantages)


@caught_by("options/each_has_an_effect", "nothing else")
class PPOLimitsOneSide(PPO):
    make_loss = UnboundedAbove


@caught_by("experience/garbage_changes_nothing_with_memory")
class PPOForgetsWhatWasBefore(PPO):
    @rlgraph_api
    def update(self, records, progress=None):
        observations = records["observations"]
        if "internal_states" in observations:
            zeros = self.zeros(observations["internal_states"])
            records = {**records, "observations": {**observations, "internal_states": zeros}}
        return PPO.update.function(self, records, progress)

    @graph_fn(flatten_ops=True, split_ops=True)
    def zeros(self, ops, x):
        return ops.zeros_like(x)


@caught_by("exploration/noise_and_entropy")
class PPOReportsMinusTheEntropy(PPO):
    @rlgraph_api
    def update(self, records, progress=None):
        found = PPO.update.function(self, records, progress)
        return {**found, "entropy": self.minus(found["entropy"])}

    @graph_fn
    def minus(self, ops, x):
        return -x


class FractionsOfTargets(QuantileDQNLoss):
    def penalties(self, ops, taken, targets):
        errors = ops.expand_dims(targets, -2) - ops.expand_dims(taken, -1)
        fractions = ops.expand_dims(quantile_midpoints(ops, targets.shape[-1]), 0)  # not of those that learn
        weights = ops.where(errors < 0.0, 1.0 - fractions, fractions)
        return ops.sum(ops.mean(weights * huber(ops, errors, self.huber_delta), axis=-1), axis=-1)


@caught_by("values/discounted_rewards")
class QRDQNExchangesAxes(QRDQN):
    make_loss = FractionsOfTargets


@caught_by("values/states_after_ends")
class DQFDValuesTheNextState(DQFD):
    def loss_inputs(self, records):
        reached = {"n_step_next_observations": records["next_observations"]}
        return super().loss_inputs({**records, **(reached if "n_step_rewards" in records else {})})


@caught_by("options/each_has_an_effect", "nothing else")
class PPODividesByTheVariance(PPO):
    @rlgraph_api
    def step(self, records, progress=None):
        if "policy_advantages" in records:
            divided = self.divided(records["policy_advantages"], records["advantages"])
            records = {**records, "policy_advantages": divided}
        return PPO.step.function(self, records, progress)

    @graph_fn
    def divided(self, ops, standardized, advantages):
        return standardized / ops.sqrt(ops.mean(ops.square(advantages - ops.mean(advantages))) + 1e-8)


@caught_by("options/each_has_an_effect", "nothing else")
class PPOComparesEnvironments(PPO):
    def compute_advantages(self, records):
        fields, metrics = super().compute_advantages(records)
        return {**fields, "policy_advantages": self.compared(fields["advantages"])}, metrics

    @graph_fn
    def compared(self, ops, advantages):
        return advantages - ops.mean(advantages, axis=1, keepdims=True)


@caught_by("experience/garbage_changes_nothing_with_memory")
class A2CRemembersTheEpisodeBefore(A2C):
    @rlgraph_api
    def update(self, records, progress=None):
        names = [name for name in ("observations", "next_observations") if "resets" in records[name]]
        others = {name: self.never_reset(records[name], records["weights"]) for name in names}
        return A2C.update.function(self, {**records, **others}, progress)

    def never_reset(self, observations, weights):
        return {**observations, "resets": self.after_gaps(observations["resets"], weights)}

    @graph_fn
    def after_gaps(self, ops, resets, weights):
        gaps = ops.logical_not(ops.astype(weights, "bool"))
        return ops.logical_and(resets, ops.logical_or(gaps, ops.concat([gaps[:1], gaps[:-1]], axis=0)))


@caught_by("masks/log_probabilities_with_masks")
class A2CLearnsWithoutMasks(A2C):
    @rlgraph_api
    def update(self, records, progress=None):
        observations = {name: x for name, x in records["observations"].items() if name != "action_mask"}
        return A2C.update.function(self, {**records, "observations": observations}, progress)


class PositivePartsOfAdvantages(IQLLoss):
    @graph_fn(returns=2)
    def _value_and_actor_loss(self, ops, state_values, evaluated_values, q_values_target, log_likelihood):
        values = ops.stop_gradient(self.target_value(ops, q_values_target))
        weights = ops.maximum(self.inverse_temperature * (values - ops.stop_gradient(evaluated_values)), 0.0)
        return expectile_loss(ops, values - state_values, self.expectile), -weights * log_likelihood


@caught_by("values/discounted_rewards")
class IQLImitatesTheBetterOnly(IQL):
    make_loss = PositivePartsOfAdvantages
