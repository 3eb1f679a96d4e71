"""Hindsight experience replay: steps are kept again with goals that their episodes achieved."""

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlgraph.agents import Agent, DQNAgent
from rlgraph.core import InputError, SpecError
from rlgraph.environments import BitFlip, EnvironmentFault, make_vector_env
from rlgraph.experience.hindsight import CHECKED, Hindsight, HindsightWriter
from rlgraph.experience.step import VectorStep
from rlgraph.runs.configuration import check
from rlgraph.runs.training import train
from rlgraph.spaces import BoolBox, Dict
from rlgraph.workers import record_data_set

SMALL = {"network_spec": [16], "execution_spec": {"threads": 1}, "seed": 3, "backend": "torch"}
BITS = 4


def test_ten_lines_learn_with_hindsight(backend, execution):
    agent = DQNAgent(
        env={"type": "bit_flip", "bits": BITS},
        hindsight_spec={"strategy": "future"},
        network_spec=[64],
        discount=0.98,
        optimizer_spec={"type": "adam", "learning_rate": 3e-3},
        exploration_spec={"epsilon_spec": [0.3, 0.05]},
        update_spec={"update_interval": 2},
        execution_spec=execution(backend),
        seed=1,
        backend=backend,
    )
    agent.learn(1500)
    judged = agent.evaluate(episodes=40)
    assert sum(total > -BITS for total in judged.returns) >= 36


# The three likeliest mistakes, and others.


def test_an_environment_without_goals_is_refused():
    with pytest.raises(
        SpecError, match=r"hindsight_spec: .*with goals: states of CartPole-v1 have no observation"
    ):
        DQNAgent(env="CartPole-v1", hindsight_spec={}, **SMALL)


def test_agents_without_a_memory_of_single_own_steps_refuse_it():
    for agent in ("ppo", "a2c", "impala", "bc", "dqfd"):
        with pytest.raises(SpecError, match=r"hindsight_spec.*take an agent that learns from a memory"):
            Agent.from_spec({"type": agent, "hindsight_spec": {}}, env={"type": "bit_flip"})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hindsight_spec": {"strategy": "futur"}}, r"hindsight_spec\.strategy: expected .*'future'"),
        ({"hindsight_spec": {"n_sampled_goal": 4}}, r"hindsight_spec\.n_sampled_goal: .*'goals'"),
        ({"hindsight_spec": {"strategy": "final", "goals": 4}}, r"hindsight_spec\.goals: expected 1"),
        ({"n_step": 3}, r"hindsight_spec: expected n_step: 1, given 3"),
        ({"network_spec": [{"type": "lstm", "units": 8}]}, r"hindsight_spec: .*recurrent"),
        ({"previous_action_and_reward": True}, r"hindsight_spec: expected states as the environment gives"),
        (
            {"preprocessing_spec": {"observation": [{"type": "multiply", "factor": 2.0}]}},
            r"hindsight_spec: expected states as the environment gives",
        ),
        ({"n_sampled_goal": 4}, r"n_sampled_goal.*hindsight_spec\.goals"),
    ],
)
def test_what_it_cannot_be_combined_with_is_refused(options, message):
    with pytest.raises(SpecError, match=message):
        DQNAgent(env={"type": "bit_flip"}, **{**SMALL, "hindsight_spec": {}, **options})


def test_without_an_environment_nobody_judges_goals():
    env = BitFlip(BITS)
    agent = DQNAgent(env.state_space, env.action_space, hindsight_spec={}, **SMALL)
    state = env.reset(seed=1)
    with pytest.raises(InputError, match=r"hindsight_spec: expected an environment.*give env= to the agent"):
        for _ in range(BITS):
            agent.observe(state, 0, -1.0, False, state, truncations=True)
    agent.learn(2 * BITS, env={"type": "bit_flip", "bits": BITS})
    with pytest.raises(SpecError, match=r"hindsight_spec: expected a single environment or its spec"):
        DQNAgent(env.state_space, env.action_space, hindsight_spec={}, **SMALL).learn(
            8, env=make_vector_env({"type": "bit_flip", "bits": BITS}, 2)
        )


def test_documents_of_runs_take_it_and_refuse_environments_without_goals(tmp_path):
    document = {
        "agent": {"type": "dqn", "hindsight_spec": {}, "network_spec": [16]},
        "environment": {"type": "bit_flip", "bits": BITS},
        "backend": "torch",
        "steps": 12,
    }
    assert train(document, tmp_path / "run").training.timesteps == 12
    Agent.load(tmp_path / "run", backend="numpy").get_actions(BitFlip(BITS).reset(), use_exploration=False)
    with pytest.raises(SpecError, match=r"agent\.hindsight_spec: expected an environment with goals"):
        check({**document, "environment": "CartPole-v1"})


def test_replay_shards_are_refused():
    agent = Agent.from_spec(
        {"type": "apex", "n_step": 1, "hindsight_spec": {}, **SMALL}, env={"type": "bit_flip"}
    )
    with pytest.raises(SpecError, match=r"hindsight_spec: expected none with replay shards"):
        agent.learner.experience.options_of_shard(2)


# Records.


def hindsight(strategy="future", goals=None, env=None, seed=0):
    env = BitFlip(BITS) if env is None else env
    made = Hindsight({"strategy": strategy, "goals": goals})
    made.use_environment(env, getattr(env, "state_space", None), seed)
    return made


def an_episode(steps, rng, bits=BITS):
    """An episode of BitFlip that never reaches its goal, as records."""
    env = BitFlip(bits, max_steps=steps)
    state = env.reset(seed=int(rng.integers(1000)))
    env._goal = np.full(bits, 2.0, np.float32)  # out of reach
    state["desired_goal"] = env._goal
    rows = []
    for _ in range(steps):
        action = int(rng.integers(bits))
        next_state, reward, terminal, _, _ = env.step(action)
        rows.append((state, action, reward, terminal, next_state))
        state = next_state
    columns = list(zip(*rows, strict=True))
    nested = lambda states: {name: np.stack([s[name] for s in states]) for name in states[0]}  # noqa: E731
    return {
        "states": nested(columns[0]),
        "actions": np.array(columns[1]),
        "rewards": np.array(columns[2], np.float32),
        "terminals": np.array(columns[3]),
        "next_states": nested(columns[4]),
    }


@settings(max_examples=40, deadline=None)
@given(
    steps=st.integers(1, 12),
    strategy=st.sampled_from(["future", "final", "episode"]),
    goals=st.integers(1, 5),
    seed=st.integers(0, 99),
)
def test_records_are_those_of_a_loop_over_steps_and_goals(steps, strategy, goals, seed):
    goals = 1 if strategy == "final" else goals
    episode = an_episode(steps, np.random.default_rng(seed))
    chosen = hindsight(strategy, goals, seed=seed).draw(steps)
    records = hindsight(strategy, goals, seed=seed).relabelled(episode)
    assert chosen.shape == (steps, goals)
    i = 0
    for t in range(steps):
        for k in range(goals):
            source = chosen[t, k]
            first, last = {
                "future": (t, steps - 1),
                "final": (steps - 1, steps - 1),
                "episode": (0, steps - 1),
            }[strategy]
            assert first <= source <= last
            goal = episode["next_states"]["observation"][source]
            reached = episode["next_states"]["observation"][t]
            same = bool((goal == reached).all())
            for name in ("states", "next_states"):
                np.testing.assert_array_equal(records[name]["desired_goal"][i], goal)
                for part in ("observation", "achieved_goal"):
                    np.testing.assert_array_equal(records[name][part][i], episode[name][part][t])
            assert records["actions"][i] == episode["actions"][t]
            assert records["rewards"][i] == (0.0 if same else -1.0)
            assert records["terminals"][i] == same
            i += 1
    assert i == len(records["rewards"]) and records["rewards"].dtype == np.float32


def test_goals_are_drawn_uniformly_of_the_steps_that_the_strategy_names():
    drawn = np.concatenate([hindsight("future", 5, seed=seed).draw(4) for seed in range(400)], axis=1)
    for t in range(4):
        counts = np.bincount(drawn[t], minlength=4)
        assert counts[:t].sum() == 0
        np.testing.assert_allclose(counts[t:] / 2000, 1 / (4 - t), atol=0.05)
    drawn = np.concatenate([hindsight("episode", 5, seed=seed).draw(4) for seed in range(400)], axis=1)
    np.testing.assert_allclose(np.bincount(drawn[3]) / 2000, 0.25, atol=0.05)


def test_the_episode_itself_stays_as_it_was():
    episode = an_episode(5, np.random.default_rng(0))
    before = episode["states"]["desired_goal"].copy()
    hindsight().relabelled(episode)
    np.testing.assert_array_equal(episode["states"]["desired_goal"], before)


class Plain:
    """The writer of the steps as they are."""

    def __init__(self):
        self.rows = 0

    def add(self, step, slots=None):
        self.rows += len(step.rewards)


def writer(longest=100):
    inserted = []
    plain = Plain()
    return HindsightWriter(hindsight("future", 2), plain, inserted.append, longest), plain, inserted


def a_step(t, slots, ends=(), valid=None):
    """Step t of slots whose states are the pair (slot, t); goals are 7, out of reach."""
    pair = lambda time: np.array([[slot, time, 0, 0] for slot in slots], np.float32)  # noqa: E731
    goal = np.full((len(slots), 4), 7, np.float32)
    state, reached = (
        {"observation": x, "achieved_goal": x, "desired_goal": goal} for x in (pair(t), pair(t + 1))
    )
    no = np.zeros(len(slots), bool)
    rewards = np.full(len(slots), -1.0, np.float32)
    ends = np.isin(slots, ends)
    return VectorStep(state, np.zeros(len(slots), int), rewards, no, ends, reached, no, valid)


def test_episodes_of_slots_end_one_by_one():
    made, plain, inserted = writer()
    for t in range(3):
        made.add(a_step(t, [0, 1, 2], ends=[1] if t == 1 else []))
    assert plain.rows == 9 and [len(records["rewards"]) for records in inserted] == [4]
    made.cut([0])
    assert [len(records["rewards"]) for records in inserted] == [4, 6]
    made.drop([2])
    made.cut()
    # Slot 1 began anew with step 2; what slot 2 had was dropped.
    assert [len(records["rewards"]) for records in inserted] == [4, 6, 2]
    for records in inserted:
        slots = records["states"]["observation"][:, 0]
        assert (slots == slots[0]).all() and (records["states"]["desired_goal"][:, 0] == slots[0]).all()
        # A goal was achieved at or after the step.
        assert (records["states"]["desired_goal"][:, 1] > records["states"]["observation"][:, 1]).all()


def test_rows_that_are_no_steps_are_left_out():
    made, plain, inserted = writer()
    made.add(a_step(0, [0, 1], valid=np.array([True, False])))
    made.cut()
    assert plain.rows == 1 and [len(records["rewards"]) for records in inserted] == [2]


def test_an_endless_episode_gets_its_goals_when_it_is_as_long_as_the_memory():
    made, _, inserted = writer(longest=70)
    for t in range(150):
        made.add(a_step(t, [0]))
    assert [len(records["rewards"]) for records in inserted] == [140, 140]


def test_a_restored_writer_goes_on_with_running_episodes():
    made, _, inserted = writer()
    made.add(a_step(0, [0, 1]))
    other, _, others = writer()
    other.set_state(made.get_state())
    for each in (made, other):
        each.add(a_step(1, [0, 1], ends=[0, 1]))
    for ours, theirs in zip(inserted, others, strict=True):
        np.testing.assert_array_equal(ours["states"]["desired_goal"], theirs["states"]["desired_goal"])


# What environments compute of goals.


class Point(gymnasium.Env):
    """Moves on a line towards a goal; a subclass breaks what relabelled steps need."""

    def __init__(self):
        box = gymnasium.spaces.Box(-9.0, 9.0, (1,), np.float64)
        names = ("observation", "achieved_goal", "desired_goal")
        self.observation_space = gymnasium.spaces.Dict(dict.fromkeys(names, box))
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float64)

    def _state(self):
        return {"observation": self.x, "achieved_goal": self.x, "desired_goal": self.goal}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x, self.goal, self.t = np.zeros(1), self.np_random.uniform(-3, 3, 1), 0
        return self._state(), {}

    def step(self, action):
        self.x = np.clip(self.x + action, -9, 9)
        self.t += 1
        reward = float(self.compute_reward(self.x, self.goal, {"t": self.t}))
        return self._state(), reward, False, self.t == 5, {}

    def compute_reward(self, achieved, desired, info):
        return -(np.linalg.norm(achieved - desired, axis=-1) > 0.5).astype(float)


class Single(Point):
    def compute_reward(self, achieved, desired, info):
        return -float(np.linalg.norm(achieved - desired) > 0.5)


class Mixed(Point):
    def compute_reward(self, achieved, desired, info):
        return -np.linalg.norm(achieved - desired) * np.ones(np.shape(achieved)[:-1])


class NeedsInfo(Point):
    def compute_reward(self, achieved, desired, info):
        return -np.linalg.norm(achieved - desired, axis=-1) - info["t"]


class Costly(Point):
    def step(self, action):
        state, reward, *rest = super().step(action)
        return (state, reward - 0.1, *rest)


@pytest.mark.parametrize(
    ("kind", "error", "message"),
    [
        (
            Single,
            EnvironmentFault,
            r"Single: compute_reward.* of 5 goals at once: expected 5 values.*axis=-1",
        ),
        (Mixed, EnvironmentFault, r"Mixed: compute_reward.* for goal 0, and .* if it is the only one"),
        (NeedsInfo, EnvironmentFault, r"an empty info raised KeyError: 't'.*records do not keep info"),
        (
            Costly,
            InputError,
            r"step 1 of an episode of Costly has reward .*compute_reward.*depends on these goals",
        ),
    ],
)
def test_rewards_that_cannot_be_computed_of_goals_are_named(kind, error, message):
    agent = Agent.from_spec({"type": "sac", "hindsight_spec": {}, **SMALL}, env=kind())
    with pytest.raises(error, match=message):
        agent.learn(20)


@pytest.mark.parametrize("agent", ["sac", "td3"])
def test_gymnasium_environments_with_goals(agent):
    env = gymnasium.wrappers.TimeLimit(Point(), 4)
    agent = Agent.from_spec(
        {
            "type": agent,
            "hindsight_spec": {"strategy": "episode"},
            "update_spec": {"update_interval": 8},
            **SMALL,
        },
        env=env,
    )
    agent.learn(24)
    assert agent.updates > 0
    # Six episodes of four steps, each with four more goals.
    assert int(agent.executor.execute("get_memory_size")) == 24 + 24 * 4


def test_a_goal_that_ends_episodes_ends_relabelled_ones():
    episode = an_episode(3, np.random.default_rng(0))
    records = hindsight("final").relabelled(episode)
    assert records["terminals"][-1] and records["rewards"][-1] == 0.0


def test_only_the_first_episodes_are_compared():
    made = hindsight()
    episode = an_episode(3, np.random.default_rng(0))
    for _ in range(CHECKED):
        made.relabelled(episode)
    made.relabelled({**episode, "rewards": np.zeros(3, np.float32)})


# Agents.


@pytest.mark.parametrize("agent", ["dqn", "c51", "qr_dqn"])
def test_agents_of_the_family_with_a_prioritized_memory(agent):
    spec = {
        "type": agent,
        "hindsight_spec": {"strategy": "final"},
        "memory_spec": {"type": "prioritized_replay", "capacity": 1000},
        **SMALL,
    }
    made = Agent.from_spec(spec, env={"type": "bit_flip", "bits": BITS})
    made.learn(40, num_envs=3)
    assert made.updates > 0 and int(made.executor.execute("get_memory_size")) > 40


def test_iql_learns_from_a_data_set_with_goals_that_its_episodes_achieved(tmp_path):
    """Episodes of random actions, few of which reach their own goals."""
    env = {"type": "bit_flip", "bits": BITS}
    chance = Agent.from_spec("random", env=env, backend="numpy", seed=1)
    data = record_data_set(chance, env, 200, tmp_path / "random.npz", seed=1)
    spec = {
        **SMALL,
        "type": "iql",
        "hindsight_spec": {},
        "network_spec": [32],
        "expectile": 0.9,
        "inverse_temperature": 10.0,
        "tau": 0.05,
        "discount": 0.9,
        "optimizer_spec": {"learning_rate": 3e-3},
    }
    small = Agent.from_spec({**spec, "memory_spec": {"capacity": 100}}, env=env)
    steps = 714
    with pytest.raises(
        InputError, match=rf'{steps} steps, .* keeps 20: give memory_spec {{"capacity": {5 * steps}}}'
    ):
        small.learn(updates=1, data=data)
    agent = Agent.from_spec({**spec, "memory_spec": {"capacity": 5 * steps}}, env=env)
    agent.learn(updates=600, data=data)
    assert int(agent.executor.execute("get_memory_size")) == 5 * steps
    assert sum(total > -BITS for total in agent.evaluate(50).returns) >= 35


class Masked(BitFlip):
    """Says that every bit may be flipped."""

    def __init__(self):
        super().__init__(BITS)
        self.state_space = Dict({**dict(self.state_space.items()), "action_mask": BoolBox(shape=(BITS,))})

    def _observed(self):
        return {**super()._observed(), "action_mask": np.ones(BITS, bool)}


def test_masks_and_normalized_states():
    spec = {"type": "dqn", "hindsight_spec": {}, "normalize_states": True, "scale_rewards": True, **SMALL}
    agent = Agent.from_spec(spec, env=Masked())
    agent.learn(24)
    assert agent.updates > 0 and int(agent.executor.execute("get_memory_size")) > 24


def test_a_resumed_run_equals_one_that_went_on(tmp_path):
    def steps(agent, number, env):
        weights = []
        agent.learn(number, env=env)
        for name, array in sorted(agent.get_weights().items()):
            weights.append((name, np.array(array)))
        return weights

    spec = {"type": "dqn", "hindsight_spec": {}, **SMALL, "update_spec": {"batch_size": 8}}
    env = {"type": "bit_flip", "bits": BITS}
    one = Agent.from_spec(spec, env=env)
    one.learn(18)
    one.store_model(tmp_path / "stored")
    other = Agent.load(tmp_path / "stored", backend="torch")
    for ours, theirs in zip(steps(one, 30, env), steps(other, 30, env), strict=True):
        assert ours[0] == theirs[0]
        np.testing.assert_array_equal(ours[1], theirs[1])
