"""For each row an agent with one mistake, which fails this row, and no other one that takes milliseconds."""

from collections.abc import Mapping
from dataclasses import fields, replace

import numpy as np
import pytest

from rlgraph.agents import A2CAgent
from rlgraph.agents.conformance import AgentUnderTest, load_rows, run_row
from rlgraph.agents.conformance.tasks import CueTask, CueVectorEnv
from rlgraph.algorithms.a2c import A2C
from rlgraph.algorithms.dqn import DQN
from rlgraph.algorithms.sac import SAC
from rlgraph.components import Target
from rlgraph.core import NumericalError, SpecError, graph_fn, registry, rlgraph_api
from rlgraph.core.specs.parameters import parameters_of
from rlgraph.experience.nested_arrays import map_arrays
from rlgraph.learning.actor_spec import ActorSpec
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox

pytestmark = pytest.mark.slow

BACKENDS = [name for name in registry("rlgraph.backends").names() if name != "numpy"]
BACKEND = "torch" if "torch" in BACKENDS else BACKENDS[0]
OPTIONS = {"execution_spec": {"threads": 1}} if BACKEND == "torch" else {}
#: Sections whose rows take milliseconds.
QUICK = ("faults", "documentation")

BROKEN = {}


def broken(row):
    """Register the decorated class of an agent, or of an algorithm for A2C's agent."""

    def register(kind):
        BROKEN[row] = (
            type(kind.__name__, (A2CAgent,), {"algorithm_class": kind}) if issubclass(kind, A2C) else kind
        )
        return kind

    return register


def update_of(change):
    """A2C's `update` on records that ``change(algorithm, records)`` returns."""

    @rlgraph_api
    def update(self, records, progress=None):
        return A2C.update.function(self, change(self, records), progress)

    return update


def unmasked(observations):
    return {name: part for name, part in observations.items() if name != "action_mask"}


def remembers(agent):
    return agent.actor.internal_states is not None


class Contrary(A2C):
    """Rewards of actions of this kind are costs."""

    kind = IntBox

    @graph_fn
    def negated(self, ops, x):
        return -x

    update = update_of(
        lambda self, records: (
            {**records, "rewards": self.negated(records["rewards"])}
            if isinstance(self.policy.action_space, self.kind)
            else records
        )
    )


broken("learning/categories")(Contrary)


@broken("learning/floats")
class ContraryInFloats(Contrary):
    kind = FloatBox


@broken("learning/containers")
class ContraryInContainers(Contrary):
    kind = Dict


@broken("learning/data_sets")
class TakesUpdatesAsSteps(A2CAgent):
    def learn(self, timesteps=None, *, updates=None, data=None, **options):
        if updates is None:
            super().learn(timesteps, **options)


@broken("learning/same_seed")
class Seedless(A2CAgent):
    def __init__(self, state_space, action_space, **options):
        super().__init__(state_space, action_space, **{**options, "seed": 1})


@broken("learning/is_not_disturbed")
class ActsWithTrainingsDraws(A2CAgent):
    def get_actions(self, *args, **kwargs):
        if not remembers(self):
            self.actor.act(np.zeros((self.actor.slots, 4), self.learner.spec.dtype))
        return super().get_actions(*args, **kwargs)


@broken("learning/is_not_disturbed_with_memory")
class ActsInTrainingsTable(A2CAgent):
    def get_actions(self, *args, **kwargs):
        self.actor.reset()
        return super().get_actions(*args, **kwargs)


@broken("learning/recurrent_networks")
class Forgetful(A2CAgent):
    def get_actions(self, *args, extra_returns=None, **kwargs):
        if extra_returns is None:
            self.reset()
        return super().get_actions(*args, extra_returns=extra_returns, **kwargs)


@broken("acting/log_probabilities")
class RoundsStates(A2CAgent):
    def observe(self, states=None, internals=None, **kwargs):
        states = np.round(states, 2) if internals is None else states
        super().observe(states=states, internals=internals, **kwargs)


@broken("acting/log_probabilities_with_memory")
class ForgetsInternalStates(A2CAgent):
    def observe(self, *args, internals=None, **kwargs):
        super().observe(*args, internals=map_arrays(np.zeros_like, internals), **kwargs)


@broken("exploration/drawn_actions_vary")
@broken("acting/draws_follow_the_probabilities")
class Greedy(A2C):
    @rlgraph_api
    def act(self, observations):
        return self.policy.get_deterministic_action(observations)


@broken("acting/backends_act_the_same")
class StartsElsewhere(A2CAgent):
    def __init__(self, state_space, action_space, **options):
        super().__init__(state_space, action_space, **options)
        if options["backend"] != "numpy":
            self.set_weights({name: x + 0.1 for name, x in self.get_weights().items() if "biases" in name})


@broken("acting/an_actor_alone")
class ActorsOfAnotherSeed(A2CAgent):
    def __init__(self, state_space, action_space, **options):
        super().__init__(state_space, action_space, **options)
        self.learner.spec = replace(self.learner.spec, seed=1234)


class BecomesAnother(ActorSpec):
    def __reduce__(self):
        return ActorSpec, tuple(getattr(self, field.name) for field in fields(self))


@broken("acting/a_spec_is_data")
class SpecIsAnotherAfterPickling(A2CAgent):
    def __init__(self, state_space, action_space, **options):
        super().__init__(state_space, action_space, **options)
        self.learner.spec = BecomesAnother(**vars(self.learner.spec))


@broken("acting/weights_without_the_optimizer")
class ActsWithTargets(A2C):
    def __init__(self, state_space, action_space, **options):
        super().__init__(state_space, action_space, **options)
        self.lagging = Target(self.value_function)
        self.add_components(self.lagging)

    @rlgraph_api
    def act(self, observations):
        found = self.policy.get_stochastic_action(observations)
        values = self.lagging.get_state_values(observations)["state_values"]
        return {"action": self._same(found["action"], values)}

    @graph_fn
    def _same(self, ops, actions, values):
        return actions + ops.astype(0.0 * ops.sum(values), "int64")


@broken("experience/cut_episodes_never_join")
class JoinsCutEpisodes(A2CAgent):
    """Where the network remembers, or where it does not."""

    recurrent = False

    def cut(self, slots):
        if slots is not None or remembers(self) != self.recurrent:
            super().cut(slots)

    def flush_buffers(self, env_id=None):
        if remembers(self) != self.recurrent:
            super().flush_buffers(env_id)


@broken("experience/cut_episodes_never_join_with_memory")
class JoinsCutEpisodesOfSequences(JoinsCutEpisodes):
    recurrent = True


@broken("experience/garbage_changes_nothing")
class CountsAllRows(A2C):
    """Garbage counts where the network remembers, or where it does not."""

    recurrent = False

    @graph_fn
    def ones(self, ops, x):
        return ops.ones_like(x)

    update = update_of(
        lambda self, records: (
            {**records, "weights": self.ones(records["weights"])}
            if bool(self.recurrent_parts) == self.recurrent
            else records
        )
    )


@broken("experience/garbage_changes_nothing_with_memory")
class CountsAllRowsOfSequences(CountsAllRows):
    recurrent = True


@broken("resuming/resumed_runs")
class KeepsNoRollout(A2CAgent):
    """Checkpoints of runs in environments that reset late, or in others, have no rollouts."""

    resets_late = False

    def make_sampler(self, environments):
        self.is_hit = isinstance(environments, CueVectorEnv) == self.resets_late and not remembers(self)
        return super().make_sampler(environments)

    def experience_state(self):
        state = super().experience_state()
        return {**state, "learner": {}} if getattr(self, "is_hit", False) else state


@broken("resuming/resumed_runs_with_late_resets")
class KeepsNoRolloutOfLateResets(KeepsNoRollout):
    resets_late = True


@broken("resuming/resumed_runs_with_memory")
class KeepsNoInternalStates(A2CAgent):
    def experience_state(self):
        state = super().experience_state()
        sampler = {name: part for name, part in (state["sampler"] or {}).items() if name != "actor"}
        return {**state, "sampler": sampler or None}


@broken("resuming/checkpoints_change_nothing")
class DrawsForCheckpoints(A2CAgent):
    def store_model(self, *args, **kwargs):
        if not remembers(self):
            self.actor.act(np.zeros((self.actor.slots, 4), self.learner.spec.dtype))
        return super().store_model(*args, **kwargs)


@broken("resuming/loaded_agents_act_the_same")
class ForgetsCounters(A2CAgent):
    def load_model(self, *args, **kwargs):
        super().load_model(*args, **kwargs)
        self.learner.version = 0


@broken("spaces/actions")
class FailsToBuild(A2C):
    """Fails with bools as actions and these states."""

    states = CueTask.STATES

    def __init__(self, state_space, action_space, **options):
        if isinstance(action_space, BoolBox) and isinstance(state_space, type(self.states)):
            raise ValueError("something deep inside")
        super().__init__(state_space, action_space, **options)


@broken("spaces/states")
class FailsToBuildWithDicts(FailsToBuild):
    states = Dict(x=float)


@broken("spaces/parts_of_states")
class SeesNoPictures(A2C):
    def __init__(self, state_space, action_space, **options):
        super().__init__(state_space, action_space, **options)
        self.has_pictures = isinstance(state_space, Dict) and "picture" in state_space

    @rlgraph_api
    def act_greedily(self, observations):
        if self.has_pictures:
            states = observations["states"]
            states = {name: states[name] for name in ("category", "body")}
            states["picture"] = self._blank(observations["states"]["picture"])
            observations = {**observations, "states": states}
        return self.policy.get_deterministic_action(observations)

    @graph_fn
    def _blank(self, ops, picture):
        return ops.zeros_like(picture)


@broken("masks/legal_actions")
class ExploresIllegalActions(A2C):
    @rlgraph_api
    def act(self, observations):
        return self.policy.get_stochastic_action(unmasked(observations))


@broken("masks/log_probabilities_with_masks")
class RemembersNoMasks(A2CAgent):
    def observe(self, states=None, **kwargs):
        if isinstance(states, dict):
            states = {**states, "action_mask": np.ones_like(states["action_mask"])}
        super().observe(states=states, **kwargs)


@broken("inputs/normalized_states")
class CountsEvaluatedStates(A2CAgent):
    def evaluate(self, *args, **kwargs):
        if self.learner.statistics is not None:
            self.set_weights({"normalizer/mean": np.ones(4)})
        return super().evaluate(*args, **kwargs)


@broken("inputs/previous_steps")
class ForgetsRewards(A2CAgent):
    def new_actor(self, *args, **kwargs):
        actor = super().new_actor(*args, **kwargs)
        actor.record_rewards = lambda rewards, slots=None: None
        return actor


@broken("inputs/exported_policies")
class ExportsPreprocessing(A2CAgent):
    def export_graph(self, directory, methods=None, format=None):
        return super().export_graph(directory, ["preprocess"], format)


@broken("faults/bad_steps")
class TakesAnyReward(A2CAgent):
    def observe(self, *args, rewards=None, **kwargs):
        super().observe(*args, rewards=np.nan_to_num(rewards), **kwargs)


@broken("faults/poisoned_updates")
class HidesErrors(A2CAgent):
    def update_if_due(self):
        try:
            return super().update_if_due()
        except NumericalError:
            return None


@broken("faults/unknown_options")
class IgnoresOptions(A2CAgent):
    @classmethod
    def from_spec(cls, spec, **kwargs):
        known = {"type", *parameters_of(cls).named}
        return super().from_spec({name: value for name, value in spec.items() if name in known}, **kwargs)


@broken("options/each_has_an_effect")
class IgnoresItsDiscount(A2C):
    def __init__(self, state_space, action_space, *, discount: float = 0.99, **options):
        super().__init__(state_space, action_space, **options)


@broken("exploration/noise_and_entropy")
class FearsEntropy(A2C):
    def __init__(self, state_space, action_space, *, weight_entropy: float = 0.01, **options):
        super().__init__(state_space, action_space, weight_entropy=weight_entropy, **options)
        self.weight_entropy = weight_entropy

    def minimize(self, losses, records, progress):
        loss = self.with_cost(losses["loss"], losses["entropy"])
        return super().minimize({**losses, "loss": loss}, records, progress)

    @graph_fn
    def with_cost(self, ops, loss, entropy):
        return loss + 2.0 * self.weight_entropy * entropy


@broken("updates/importance_weights")
class IgnoresImportanceWeights(DQN):
    @rlgraph_api
    def update(self, records, importance_weights=None, progress=None):
        return DQN.update.function(self, records, None, progress)


@broken("updates/priorities")
class ReturnsNoPriorities(DQN):
    @rlgraph_api
    def update(self, records, importance_weights=None, progress=None):
        results = DQN.update.function(self, records, importance_weights, progress)
        return {**results, "priorities": self.ones(results["priorities"])}

    @graph_fn
    def ones(self, ops, x):
        return ops.ones_like(x)


@broken("updates/order_of_records")
class AddsTheFirstReward(A2C):
    @graph_fn
    def with_first(self, ops, rewards):
        return rewards + ops.expand_dims(rewards[:, 0], 1)

    update = update_of(lambda self, records: {**records, "rewards": self.with_first(records["rewards"])})


@broken("updates/records_teach_alone")
class AddsTheMeanReward(A2C):
    @graph_fn
    def with_mean(self, ops, rewards):
        return rewards + ops.mean(rewards)

    update = update_of(lambda self, records: {**records, "rewards": self.with_mean(records["rewards"])})


@broken("updates/every_reward_counts")
class RoundsRewards(A2C):
    @graph_fn
    def rounded(self, ops, rewards):
        return ops.astype(ops.astype(10.0 * rewards, "int64"), "float") / 10.0

    update = update_of(lambda self, records: {**records, "rewards": self.rounded(records["rewards"])})


@broken("updates/batches_of_one")
class DividesByOneLess(A2C):
    @graph_fn
    def divided(self, ops, x):
        return x / (ops.sum(ops.ones_like(x)) - 1.0)

    update = update_of(lambda self, records: {**records, "rewards": self.divided(records["rewards"])})


@broken("updates/every_part_learns")
@broken("values/discounted_rewards")
class LearnsNoValues(A2C):
    def __init__(self, state_space, action_space, *, weight_vf: float = 0.5, **options):
        super().__init__(state_space, action_space, weight_vf=0.0, **options)


@broken("runs/train_from_a_document")
class TakesNoDocuments(A2CAgent):
    def __init__(self, state_space, action_space, *, env=None, **options):
        if isinstance(env, Mapping):
            raise SpecError("expected an environment object", path="env")
        super().__init__(state_space, action_space, env=env, **options)


@broken("updates/schedules")
class RunsSchedulesBackwards(A2C):
    @rlgraph_api
    def update(self, records, progress=None):
        return A2C.update.function(self, records, self.rest(progress))

    @graph_fn
    def rest(self, ops, progress):
        return 1.0 - progress


@broken("targets/lag")
class IgnoresTau(DQN):
    def __init__(self, state_space, action_space, *, sync_tau: float = 1.0, **options):
        super().__init__(state_space, action_space, **options)


@broken("targets/reached_states_teach_nothing")
class TakesNextStatesForStates(A2C):
    update = update_of(lambda self, records: {**records, "observations": records["next_observations"]})


@broken("targets/values_of_reached_states")
class TrustsOneCritic(SAC):
    def values_of(self, critics, observations, actions):
        values = super().values_of(critics, observations, actions)
        return values[:1] * 2 if critics is self.targets else values


@broken("values/states_after_ends")
class TakesTruncationsForTerminations(A2C):
    update = update_of(lambda self, records: {**records, "terminals": records["ends"]})


@broken("documentation/options")
class Undescribed(A2C):
    def __init__(self, state_space, action_space, *, secret: int = 1, **options):
        super().__init__(state_space, action_space, **options)


@broken("documentation/metrics")
class Unexplained(A2C):
    @rlgraph_api
    def update(self, records, progress=None):
        results = A2C.update.function(self, records, progress)
        return {**results, "mystery": results["loss"]}


def test_there_is_one_for_each_row():
    assert BROKEN.keys() == {row.id for row in load_rows() if not row.is_slow}


@pytest.mark.parametrize("name", BROKEN)
def test_it_fails_its_row_and_no_other(name):
    """No other one of those that take milliseconds."""
    subject = AgentUnderTest(BROKEN[name], BACKEND, OPTIONS)
    rows = [row for row in load_rows() if row.id == name or (row.section in QUICK and not row.is_slow)]
    failed = {
        row.id: outcome.details for row in rows if (outcome := run_row(row, subject)).status == "failed"
    }
    assert list(failed) == [name], "\n".join(failed.values())
