"""Agents of algorithms: PPO and A2C through the front."""

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
from doubles import told

from rlgraph.agents import A2CAgent, Agent, Algorithm, PPOAgent
from rlgraph.algorithms.a2c import A2C
from rlgraph.algorithms.dqn import DQN
from rlgraph.algorithms.ppo import PPO
from rlgraph.components import Policy
from rlgraph.core import AssemblyError, InputError, SpecError, graph_fn, rlgraph_api
from rlgraph.environments.factory import make_vector_env
from rlgraph.experience.experience import Experience
from rlgraph.experience.fragment import FragmentFormat
from rlgraph.experience.fragments import Fragments
from rlgraph.experience.nested_arrays import map_arrays
from rlgraph.experience.replay import Replay
from rlgraph.experience.rollouts import Rollouts, default_sequence_length
from rlgraph.learning.actor_spec import ActorSpec
from rlgraph.learning.learner import Learner
from rlgraph.learning.sampler import FragmentSampler
from rlgraph.spaces import FloatBox, IntBox

SMALL = {
    "network_spec": [{"type": "dense", "units": 8, "activation": "tanh"}],
    "rollout_length": 16,
    "num_minibatches": 2,
}
RECURRENT = {**SMALL, "network_spec": [{"type": "lstm", "units": 6}]}
PARTS = {**RECURRENT, "sequence_length": 4, "num_minibatches": 8, "normalize_states": True}
NORMALIZED = {**SMALL, "normalize_states": True, "scale_rewards": True}


def make(backend, spec=SMALL, kind="ppo", env="CartPole-v1", **options):
    execution = {"dtype": "float64"}
    return Agent.from_spec(
        {"type": kind, **spec}, env=env, backend=backend, execution_spec=execution, **options
    )


def same_weights(one, other):
    first, second = one.get_weights(), other.get_weights()
    return first.keys() == second.keys() and all(np.array_equal(first[n], second[n]) for n in first)


# Ten lines.


@pytest.mark.parametrize("spec", [SMALL, RECURRENT], ids=["dense", "lstm"])
@pytest.mark.parametrize("kind", ["ppo", "a2c"])
def test_it_learns_acts_evaluates_and_loads(backend, kind, spec, tmp_path):
    spec = {key: value for key, value in spec.items() if key != "num_minibatches" or kind == "ppo"}
    agent = make(backend, spec, kind, seed=3)
    result = agent.learn(200, num_envs=4)
    assert result.updates == 200 // (4 * 16) == agent.updates
    assert agent.timesteps == 200
    assert len(agent.evaluate(3).returns) == 3
    agent.store_model(tmp_path / "model")
    other = make(backend, spec, kind, seed=4)
    other.load_model(tmp_path / "model")
    states = np.linspace(-0.1, 0.1, 20).reshape(5, 4)
    np.testing.assert_array_equal(agent.get_actions(states, False), other.get_actions(states, False))
    assert agent.get_actions(states[0]) in (0, 1)


@pytest.mark.parametrize("container", [False, True])
def test_a_users_loop_teaches_statistics_and_greedy_calls_do_not(container):
    space, layers = FloatBox(shape=(2,)), [{"type": "moving_standardize"}]
    agent = Agent.from_spec(
        {"type": "dqn", "preprocessing_spec": {"a": layers} if container else layers},
        state_space={"a": space} if container else space,
        action_space=IntBox(2),
        backend="numpy",
    )
    states = np.arange(12.0, dtype=np.float32).reshape(6, 2)
    states = {"a": states} if container else states

    def seen():
        return agent.get_actions(states, False, extra_returns="preprocessed_states")[1]

    first = seen()
    agent.get_actions(states, False)
    np.testing.assert_equal(seen(), first)
    agent.get_actions(states)
    values = seen()["a"] if container else seen()
    np.testing.assert_allclose(values.mean(axis=0), 0.0, atol=1e-5)
    np.testing.assert_allclose(values.std(axis=0), 1.0, rtol=0.01)


# Likely mistakes.


def test_mistakes_are_named():
    spaces = {"state_space": FloatBox(shape=(2,)), "action_space": IntBox(2), "backend": "numpy"}
    with pytest.raises(
        SpecError, match="agent.clip_ration: PPOAgent has no such key. Did you mean 'clip_ratio'"
    ):
        Agent.from_spec({"type": "ppo", "clip_ration": 0.1}, **spaces)
    with pytest.raises(SpecError, match="rollout_length: expected an integer >= 1, given 0"):
        Agent.from_spec({"type": "ppo", "rollout_length": 0}, **spaces)
    learning = Agent.from_spec(
        {"type": "ppo", "preprocessing_spec": [{"type": "moving_standardize"}]}, **spaces
    )
    with pytest.raises(SpecError, match="preprocessing_spec: expected layers that learn nothing"):
        learning.learner.spec.build()
    agent = Agent.from_spec({"type": "a2c"}, **spaces)
    with pytest.raises(InputError, match="there is no 'q_values'"):
        agent.get_actions(np.zeros((1, 2)), extra_returns="q_values")


class NoLoss(Algorithm):
    experience = Rollouts.of()

    def __init__(self, state_space, action_space):
        self.policy = Policy([{"type": "dense", "units": 2}], action_space)
        super().__init__(self.policy, scope="no-loss")

    @rlgraph_api
    def update(self, records):
        return {"steps": self.policy.get_entropy(records["observations"])["entropy"]}


def test_an_update_without_loss_says_what_it_returned():
    agent = type("NoLossAgent", (Agent,), {"algorithm_class": NoLoss})(
        FloatBox(shape=(2,)), IntBox(2), rollout_length=1, backend="numpy"
    )
    step = {"actions": [0], "rewards": [0.0], "terminals": [True]}
    agent.observe(np.zeros((1, 2)), **{name: np.array(x) for name, x in step.items()}, batched=True)
    message = r"NoLoss.update: expected a dict of numbers \[\] with the key 'loss', given .*float32\[1, 1\]"
    with pytest.raises(AssemblyError, match=message):
        agent.update()


def with_experience(experience):
    return type("Mine", (A2C,), {"experience": experience})


class Seeded(A2C):
    def __init__(self, state_space, action_space, *, seed: int = 1):
        super().__init__(state_space, action_space)


@pytest.mark.parametrize(
    ("algorithm", "message"),
    [
        (type("Mine", (Algorithm,), {}), r"Mine.experience: expected .* such as Rollouts.of\(\), given None"),
        (type("Mine", (A2C,), {"experience": Rollouts}), "Mine.experience: expected .*given <class"),
        (type("Mine", (Algorithm,), {"experience": Rollouts.of()}), "Mine has no API method 'update'"),
        (type("Mine", (A2C,), {"schedule": {"sync": ("x", "steps")}}), "Mine has no API method 'sync'"),
        (
            type("Mine", (DQN,), {"schedule": {"sync_target": ("sync_interval", "episodes")}}),
            r"Mine.schedule\['sync_target'\]: expected .* 'steps' or 'updates'\), given \(.*'episodes'\)",
        ),
        (Seeded, "Seeded: every agent has an option 'seed'"),
        (with_experience(Rollouts.of(rollout_lenght=3)), "Rollouts has no option.*mean 'rollout_length'"),
        (with_experience(Rollouts.of("discount")), "Rollouts has no option 'discount'"),
        (with_experience(Replay.of("n_step")), "Mine has no option 'n_step'"),
        (with_experience(Replay.of("discount", discount=0.9)), r"defaults 0.99 and 0.9: expected the same"),
    ],
)
def test_a_class_that_is_no_algorithm_is_refused_when_it_is_defined(algorithm, message):
    with pytest.raises(SpecError, match=message):
        type("MineAgent", (Agent,), {"algorithm_class": algorithm})


def test_a_dict_of_a_graph_function_is_no_result_with_a_memory():
    class Mine(Unweighted):
        @rlgraph_api
        def update(self, records):
            return self._losses(records["rewards"])

        @graph_fn
        def _losses(self, ops, rewards):
            return {"loss": ops.mean(rewards)}

    with pytest.raises(AssemblyError, match="Mine.update: with a memory expected a dict, such as"):
        Agent.of(Mine)(FloatBox(shape=(2,)), IntBox(2), backend="numpy")


class Unweighted(DQN):
    """Its update knows no importance weights."""

    @rlgraph_api
    def update(self, records):
        return {"loss": self.loss.loss(*[records["rewards"]] * 7)["loss"]}


def test_an_algorithm_without_importance_weights_has_no_prioritized_replay():
    replay = Replay(memory_spec={"type": "prioritized_replay"})
    spec = ActorSpec(Unweighted, FloatBox(shape=(4,)).to_spec(), IntBox(2).to_spec())
    with pytest.raises(
        SpecError, match="memory_spec.type: expected 'replay_memory': update of Unweighted takes no"
    ):
        spec.make_graph(replay)
    with pytest.raises(SpecError, match="network_spec: expected layers without memory: update of Unweighted"):
        Agent.of(Unweighted)(FloatBox(shape=(4,)), IntBox(2), network_spec=[{"type": "lstm", "units": 2}])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rewards": np.array([0.0, np.nan])}, "the reward of row 1 is nan"),
        ({"actions": np.array([0, 2])}, "the action in row 1, 2, is not in"),
        ({"states": np.full((2, 2), np.inf)}, "states: expected finite numbers, given inf at"),
        ({"next_states": None, "truncations": [True, False]}, "row 0 is truncated: give next_states"),
        ({"rewards": np.zeros(3)}, "batches differ in length: .*3 rewards"),
        ({"actions": None}, "argument actions is missing"),
        ({"env_id": ["a", "b"]}, "env_id: expected None"),
        ({"internals": [1]}, "internals: the policy has no internal states"),
    ],
)
def test_what_does_not_fit_is_not_taken_in(change, message):
    agent = PPOAgent(FloatBox(shape=(2,)), IntBox(2), backend="numpy", rollout_length=2)
    step = {
        "states": np.zeros((2, 2)),
        "actions": np.zeros(2, np.int64),
        "rewards": np.zeros(2),
        "terminals": np.zeros(2, bool),
        "next_states": np.zeros((2, 2)),
        "batched": True,
    }
    with pytest.raises(InputError, match=message):
        agent.observe(**{**step, **change})
    assert agent.timesteps == 0
    agent.observe(**step)
    assert agent.timesteps == 2


def test_internal_states_are_those_of_each_step():
    """Of a single step as `get_actions` gives them, and of consecutive steps of one environment."""
    spec = {"network_spec": RECURRENT["network_spec"], "rollout_length": 4, "sequence_length": 1}
    one, together = (A2CAgent(FloatBox(shape=(2,)), IntBox(2), backend="numpy", **spec) for _ in range(2))
    steps = []
    for t in range(4):
        state = np.full(2, 0.1 * t)
        action, internals = one.get_actions(state, extra_returns="internal_states")
        wrong = {"policy": {"lstm_0": internals["policy"]["lstm_0"][0]}}
        for refused in (wrong, {}, [internals], map_arrays(lambda x: np.stack([x, x]), internals)):
            with pytest.raises(InputError, match="internals"):
                one.observe(state, action, 1.0, False, state, internals=refused)
        one.observe(state, action, 1.0, False, state, internals=internals)
        steps.append((state, action, np.float64(1.0), np.False_, state, internals))
    states, actions, rewards, terminals, following = (np.stack(x) for x in list(zip(*steps, strict=True))[:5])
    internals = map_arrays(lambda *x: np.stack(x), *(step[5] for step in steps))
    together.observe(
        states, actions, rewards, terminals, following, internals=internals, batched=True, env_id="x"
    )
    kept = [agent.learner.experience.get_state()["fields"]["internal_states"] for agent in (one, together)]
    np.testing.assert_equal(kept[1], kept[0])
    assert not np.array_equal(kept[0]["policy"]["lstm_0"][0][0], kept[0]["policy"]["lstm_0"][0][3])


# One actor per loop.


@pytest.mark.parametrize("spec", [SMALL, RECURRENT], ids=["dense", "lstm"])
def test_evaluations_and_other_callers_do_not_disturb_training(backend, spec):
    quiet, disturbed = make(backend, spec, seed=5), make(backend, spec, seed=5)
    quiet.learn(200, num_envs=2)

    disturbing = told(on_step=lambda *_: disturbed.get_actions(np.ones(4)))
    disturbed.learn(200, num_envs=2, evaluation_interval=60, evaluation_episodes=2, callbacks=disturbing)
    assert same_weights(quiet, disturbed)


class Telling(A2C):
    """Returns the actions beside themselves."""

    @rlgraph_api
    def act(self, observations):
        acted = self.policy.get_stochastic_action(observations)
        return {"action": acted["action"], "drawn": acted["action"]}


def test_extras_are_those_of_the_actions():
    agent = type("TellingAgent", (Agent,), {"algorithm_class": Telling})(
        FloatBox(shape=(2,)), IntBox(2), backend="numpy"
    )
    actions, drawn = agent.get_actions(np.zeros((64, 2)), extra_returns="drawn")
    assert actions.tolist() == drawn.tolist()
    assert set(actions.tolist()) == {0, 1}


def test_get_actions_remembers_each_environment(backend):
    agent = make(backend, RECURRENT, seed=5)
    states = np.random.default_rng(0).normal(size=(3, 2, 4))
    together = [agent.get_actions(x, False, extra_returns="internal_states")[1] for x in states]
    agent.reset()
    first = [agent.get_actions(x, False, extra_returns="internal_states")[1] for x in states[:2]]
    agent.reset([1])
    _, last = agent.get_actions(states[2], False, extra_returns="internal_states")
    hidden, begun = together[2]["policy"]["lstm_0"][1], last["policy"]["lstm_0"][1]
    assert len(first) == 2
    np.testing.assert_allclose(begun[0], hidden[0])
    assert not np.allclose(begun[1], hidden[1])


# Resuming.


@pytest.mark.parametrize("spec", [SMALL, PARTS], ids=["dense", "parts"])
def test_a_rollout_that_is_half_filled_continues(backend, spec, tmp_path):
    """`learn` ends within a rollout; another agent that loads its checkpoint has the rest of it."""
    env = {"type": "deterministic", "steps_to_terminal": 7}
    agent = make(backend, spec, env=env, seed=5)
    agent.learn(20, num_envs=2)
    agent.store_model(tmp_path / "model")
    other = make(backend, spec, env=env, seed=5)
    other.load_model(tmp_path / "model")
    for each in (agent, other):
        each.learn(60, num_envs=2)
    assert agent.updates == other.updates == 2
    assert same_weights(agent, other)


def test_episodes_are_cut_between_two_calls(one_backend):
    agent = make(one_backend, seed=5)
    agent.learn(10, num_envs=2)
    half_filled = agent.learner.experience
    ends = half_filled.get_state()["fields"]["truncations"][4].tolist()
    agent.learn(2, num_envs=2)
    fields = half_filled.get_state()["fields"]
    assert ends == [False, False]
    assert fields["truncations"][4].tolist() == [True, True]
    assert fields["begins"][5].tolist() == [True, True]


# Rows that are no steps.


@pytest.mark.parametrize(("kind", "options"), [("ppo", {"num_minibatches": 1}), ("a2c", {})])
def test_a_step_that_is_left_out_changes_nothing(one_backend, kind, options):
    """Rows 1 and 3 end fragments, and where they led is not known: their rewards reach no other step."""
    agents = []
    for reward in (1.0, 1000.0):
        agent = make(one_backend, {"network_spec": SMALL["network_spec"], **options}, kind, seed=5)
        batch = {
            "states": np.arange(16.0).reshape(4, 4) / 16,
            "actions": [0, 1, 1, 0],
            "rewards": [1.0, reward, 1.0, 1.0],
            "terminals": np.zeros(4, bool),
        }
        agent.update(batch, sequence_indices=[1, 3])
        agents.append(agent)
    assert same_weights(*agents)


# Rollouts in parts.


@pytest.mark.parametrize(("kind", "options"), [("ppo", {"num_minibatches": 2}), ("a2c", {})])
def test_a_part_as_long_as_the_rollout_changes_nothing(backend, kind, options):
    spec = {"network_spec": RECURRENT["network_spec"], "rollout_length": 8, **options}
    whole, part = (make(backend, {**spec, **more}, kind, seed=5) for more in ({}, {"sequence_length": 8}))
    for agent in (whole, part):
        agent.learn(16, num_envs=2)
    assert part.updates == 1
    assert same_weights(whole, part)


def test_parts_cut_gradients_and_nothing_else(backend):
    """A2C's loss is that of whole rollouts; without memory, recurrent weights of 0, the update is, too."""
    spec = {"network_spec": [{"type": "gru", "units": 3}], "rollout_length": 8}
    options = {"optimizer_spec": {"type": "sgd", "learning_rate": 0.1}}
    one, other = (
        make(backend, {**spec, **options, **more}, "a2c", seed=5) for more in ({}, {"sequence_length": 2})
    )
    start = one.get_weights()
    losses = [agent.learn(16, num_envs=2) and agent.learner.version for agent in (one, other)]
    assert losses == [1, 1]
    changes = [{n: x - start[n] for n, x in agent.get_weights().items()} for agent in (one, other)]
    for name, change in changes[0].items():
        is_cut = "gru" in name
        assert np.allclose(change, changes[1][name], rtol=0, atol=1e-12) != is_cut, name


def test_one_environment_has_a_sequence_for_each_minibatch(backend):
    agent = make(backend, {"network_spec": RECURRENT["network_spec"]}, seed=5)
    numbers = []
    agent.learn(128, callbacks=told(on_update=lambda _, results: numbers.append(results["num_updates"])))
    assert agent.learner.experience.internal_state_interval == 32
    assert numbers == [16]


def test_lengths_of_parts_by_default():
    """Divisors from 8 to 32; rollouts that have none, or are no longer than 32 steps, stay whole, as IMPALA's do."""
    lengths = {128: 32, 100: 25, 66: 22, 34: 17, 33: 11, 32: None, 20: None, 127: None, 74: None}
    assert {steps: default_sequence_length(steps) for steps in lengths} == lengths
    assert Fragments(rollout_length=128).suited_to(True).internal_state_interval is None


@pytest.mark.parametrize("kind", ["ppo", "a2c"])
def test_a_value_function_alone_may_be_recurrent(one_backend, kind):
    spec = {"network_spec": [4], "value_network_spec": RECURRENT["network_spec"], "rollout_length": 40}
    agent = make(one_backend, spec, kind, seed=5)
    agent.learn(80, num_envs=2)
    assert (agent.learner.experience.internal_state_interval, agent.updates) == (20, 1)


def test_lengths_of_parts_that_do_not_do(one_backend):
    for spec, length, message in (
        (PARTS, 5, "expected a number that divides rollout_length, 16, given 5"),
        (PARTS, 0, ".*integer >= 1"),
        (SMALL, 4, "expected recurrent layers"),
    ):
        with pytest.raises(SpecError, match=f"sequence_length: {message}"):
            make(one_backend, {**spec, "sequence_length": length})
    agent = make(one_backend, {**PARTS, "num_minibatches": 9})
    with pytest.raises(
        SpecError, match=r"agent\.num_minibatches: expected at most 8, given 9: a rollout has 8 sequences"
    ):
        agent.learn(32, num_envs=2)
    spec, environments = agent.learner.spec, make_vector_env("CartPole-v1", 2)
    sampler = FragmentSampler(spec.build(), environments, 16)
    with pytest.raises(InputError, match="sequence_length: expected .* 4 sequences of a fragment, given 1"):
        agent.learner.learn_from([sampler.collect()])


# An actor alone.


@pytest.mark.parametrize("spec", [SMALL, PARTS, NORMALIZED], ids=["dense", "parts", "normalized"])
def test_a_learner_fed_by_an_actor_alone_equals_local_learning(backend, spec):
    agent = make(backend, spec, seed=7, acting="numpy")
    agent.learn(4 * 16 * 3, num_envs=4)
    environments = make_vector_env("CartPole-v1", 4)
    actor_spec = pickle.loads(pickle.dumps(agent.learner.spec))
    learner = Learner(
        actor_spec, Rollouts(rollout_length=16, sequence_length=spec.get("sequence_length")), backend
    )
    interval = learner.experience.internal_state_interval
    layout = FragmentFormat(
        learner.state_space,
        environments.action_space,
        learner.graph.algorithm.internal_states_space,
        dtype="float64",
        internal_state_interval=interval,
    )
    sampler = FragmentSampler(actor_spec.build(), environments, 16, internal_state_interval=interval)
    sampler.reset(seed=7)
    for _ in range(3):
        sampler.actor.set_weights(learner.weights_message())
        fragment = sampler.collect()
        learner.learn_from([layout.from_bytes(layout.to_bytes(fragment))])
    weights = agent.get_weights()
    for name, value in learner.executor.get_weights().items():
        np.testing.assert_array_equal(value, weights[name], err_msg=name)


def test_fragments_of_other_weights_are_refused(one_backend):
    spec = ActorSpec(
        PPO, FloatBox(shape=(4,)).to_spec(), IntBox(2).to_spec(), {"network_spec": SMALL["network_spec"]}
    )
    learner = Learner(spec, Rollouts(rollout_length=4), one_backend)
    sampler = FragmentSampler(spec.build(), make_vector_env("CartPole-v1", 4), 4)
    sampler.actor.set_weights(learner.weights_message())
    learner.learn_from([sampler.collect()])
    with pytest.raises(
        InputError, match="expected fragments of the weights of version 1, given version 0 of actor 0"
    ):
        learner.learn_from([sampler.collect()])
    other = ActorSpec(PPO, FloatBox(shape=(3,)).to_spec(), IntBox(2).to_spec()).build()
    with pytest.raises(InputError, match="weights: expected the layout"):
        other.set_weights(learner.weights_message())


ALONE = """
import json, pickle, sys, time
started = time.perf_counter()
spec = pickle.loads(bytes.fromhex(sys.argv[1]))
imported = time.perf_counter()
import numpy as np
actor = spec.build(4)
built = time.perf_counter()
actions = actor.act(np.zeros((4, 4), np.float32))
frameworks = [name for name in ("torch", "tensorflow", "keras") if name in sys.modules]
print(json.dumps({"actions": actions.tolist(), "frameworks": frameworks, "build": built - imported}))
"""


def test_an_actor_in_a_process_of_its_own_imports_no_framework():
    spec = ActorSpec(PPO, FloatBox(shape=(4,)).to_spec(), IntBox(2).to_spec())
    process = subprocess.run(
        [sys.executable, "-c", ALONE, pickle.dumps(spec).hex()], capture_output=True, text=True, check=True
    )
    found = json.loads(process.stdout)
    assert found["frameworks"] == []
    assert len(found["actions"]) == 4


# Other kinds of experience.


class NewestSteps(Experience):
    """What a plug-in may write; it is no `Rollouts`, but has one."""

    is_sequential = True

    def __init__(self, *, steps: int = 3):
        self._rollouts = Rollouts(rollout_length=steps)
        self.fields, self.input_spaces = self._rollouts.fields, self._rollouts.input_spaces
        self.make_writer, self.take = self._rollouts.make_writer, self._rollouts.take
        self.records_of, self.take_due = self._rollouts.records_of, self._rollouts.take_due

    def fields(self, is_recurrent):
        """See `Experience`; the instance has the rollout's."""

    input_spaces = make_writer = take_due = fields


class LearnsFromNewestSteps(A2C):
    experience = NewestSteps.of()


def test_an_experience_of_a_plug_in_learns_as_the_one_that_it_wraps(one_backend, tmp_path):
    kind = type("PlugInAgent", (Agent,), {"algorithm_class": LearnsFromNewestSteps})
    layers = {"network_spec": SMALL["network_spec"], "seed": 5, "backend": one_backend}
    plug_in = kind(FloatBox(shape=(4,)), IntBox(2), steps=4, **layers)
    wrapped = A2CAgent(FloatBox(shape=(4,)), IntBox(2), rollout_length=4, **layers)
    for agent in (plug_in, wrapped):
        agent.learn(22, env="CartPole-v1", num_envs=2)
    assert plug_in.updates == wrapped.updates == 2
    assert same_weights(plug_in, wrapped)
    other = kind(FloatBox(shape=(4,)), IntBox(2), steps=4, **layers)
    other.load_model(plug_in.store_model(tmp_path / "model"))
    np.testing.assert_equal(other.experience_state()["learner"], plug_in.experience_state()["learner"])


def observed_rollout():
    agent = PPOAgent(FloatBox(shape=(2,)), IntBox(2), backend="numpy", rollout_length=3)
    step = {"actions": np.zeros(2, np.int64), "rewards": np.zeros(2), "terminals": np.zeros(2, bool)}
    agent.observe(np.zeros((2, 2)), next_states=np.ones((2, 2)), **step, batched=True)
    return agent, agent.learner.experience


def test_buffers_that_are_reset_end_the_episodes_of_a_rollout():
    agent, rollouts = observed_rollout()
    agent.reset_env_buffers("env_1")
    assert rollouts.get_state()["fields"]["truncations"][0].tolist() == [False, True]


def test_a_checkpoint_without_experience_leaves_none(tmp_path):
    agent, rollouts = observed_rollout()
    agent.load_model(agent.store_model(tmp_path / "model", memory=False))
    assert rollouts.get_state() is None


@pytest.mark.parametrize("kind", ["a2c", "impala", "ppo"])
def test_a_policy_and_its_value_function_may_share_a_network(one_backend, kind):
    """With memory, whose internal states the actor carries once."""
    spec = {"network_spec": RECURRENT["network_spec"], "value_network_spec": "shared"}
    agent = make(one_backend, {**spec, "rollout_length": 8}, kind, seed=5)
    before = agent.get_weights()
    agent.learn(64, num_envs=4)
    changed = {name for name, value in agent.get_weights().items() if not np.array_equal(value, before[name])}
    assert {
        f"{kind}/policy/{layer}/weights" for layer in ("value-layer", "action-adapter/action-layer")
    } <= changed
    assert not any(name.startswith(f"{kind}/value-function") for name in before)
    assert len(agent.learner.graph.algorithm.recurrent_parts) == 1
