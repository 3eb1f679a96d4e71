"""Running statistics: states normalized and rewards scaled by what the learner has observed."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from doubles import Episodes

from rlgraph.agents import Agent
from rlgraph.components import Normalizer
from rlgraph.core import SpecError, memory_group
from rlgraph.experience.step import VectorStep
from rlgraph.learning.statistics import Moments, pooled
from rlgraph.spaces import Dict, FloatBox, IntBox
from rlgraph.testing import ComponentTest
from rlgraph.workers import Callback

PPO = {
    "type": "ppo",
    "network_spec": [{"type": "dense", "units": 4}],
    "rollout_length": 8,
    "num_epochs": 1,
    "num_minibatches": 1,
}
DQN = {
    "type": "dqn",
    "network_spec": [{"type": "dense", "units": 4}],
    "update_spec": {"steps_before_update": 8, "update_interval": 8, "batch_size": 4},
}


class Scaled(Episodes):
    """States far from 0 and of very different sizes, one of which never changes; a reward of 5 per step."""

    def __init__(self):
        super().__init__(FloatBox(shape=(3,)), length=5, reward=5.0)

    def state(self):
        return np.array([1e4 + 50 * self.rng.normal(), 1e-3 * self.rng.normal(), 7.0], np.float32)


class Seen(Callback):
    """The states and rewards of all steps, and at how many of them there was an update."""

    def __init__(self):
        self.states, self.rewards, self.terminals, self.updated = [], [], [], []

    def on_step(self, worker, step):
        self.states.append(step.states.copy())
        self.rewards.append(step.rewards.copy())
        self.terminals.append(step.terminated.copy())

    def on_update(self, worker, results):
        self.updated.append(len(self.states))


def counted(updated):
    """The steps before the last update at which twice as many were observed as before: those that constants are of."""
    steps = 0
    for done in updated:
        steps = done if done >= 2 * steps else steps
    return steps


def constants(agent):
    return {name: value for name, value in agent.get_weights().items() if name.startswith(("norm", "scale"))}


@pytest.mark.parametrize("spec", [PPO, DQN], ids=["ppo", "dqn"])
def test_constants_are_of_the_states_observed_when_these_had_doubled(backend, spec):
    agent = Agent.from_spec(spec, env=Scaled, backend=backend, seed=3, normalize_states=True)
    start = constants(agent)
    np.testing.assert_array_equal(start["normalizer/mean"], 0.0)
    np.testing.assert_array_equal(start["normalizer/scale"], 1.0)
    agent.learn(60, env=Scaled, num_envs=2, callbacks=(seen := Seen()))
    assert 8 <= counted(seen.updated) < seen.updated[-1]
    observed = np.concatenate(seen.states[: counted(seen.updated)]).astype(np.float64)
    held = constants(agent)
    np.testing.assert_allclose(held["normalizer/mean"], observed.mean(axis=0), rtol=1e-6)
    deviation = observed[:, :2].std(axis=0)
    np.testing.assert_allclose(held["normalizer/scale"][:2], 1 / deviation, rtol=1e-5)
    assert held["normalizer/scale"][2] == 1.0


def test_the_policy_sees_normalized_states(one_backend):
    """The same weights act on a state as an agent without statistics does on its normalized one."""
    agent = Agent.from_spec(PPO, env=Scaled, backend=one_backend, seed=3, normalize_states=True)
    agent.learn(64, env=Scaled, num_envs=2)
    plain = Agent.from_spec(PPO, env=Scaled, backend=one_backend, seed=3)
    weights = agent.get_weights()
    mean, scale = weights.pop("normalizer/mean"), weights.pop("normalizer/scale")
    plain.set_weights(weights)
    states = np.random.default_rng(0).normal([1e4, 0.0, 7.0], [500.0, 0.02, 1e-3], (64, 3)).astype(np.float32)
    normalized = np.clip((states - mean) * scale, -10.0, 10.0)
    assert np.abs(normalized).max() == 10.0
    np.testing.assert_array_equal(agent.get_actions(states, False), plain.get_actions(normalized, False))


def test_acting_and_evaluating_change_no_statistics(one_backend):
    agent = Agent.from_spec(PPO, env=Scaled, backend=one_backend, seed=3, normalize_states=True)
    agent.learn(64, env=Scaled, num_envs=2)
    before, counted = constants(agent), agent.learner.statistics.counters()
    agent.evaluate(2, env=Scaled)
    agent.get_actions(np.ones((4, 3), np.float32))
    agent.update(agent_batch())
    assert agent.learner.statistics.counters() == counted
    for name, value in constants(agent).items():
        np.testing.assert_array_equal(value, before[name], err_msg=name)


def agent_batch():
    return {
        "states": np.ones((4, 3), np.float32),
        "actions": np.zeros(4, np.int64),
        "rewards": np.ones(4, np.float32),
        "terminals": np.array([False, False, False, True]),
    }


def test_rewards_are_divided_by_the_deviation_of_returns(one_backend):
    agent = Agent.from_spec(
        DQN, env=Scaled, backend=one_backend, seed=3, scale_rewards=True, discount=0.5, n_step=1
    )
    agent.learn(33, env=Scaled, num_envs=1, callbacks=(seen := Seen()))
    returns, sums = [], 0.0
    for reward, terminal in zip(seen.rewards[: counted(seen.updated)], seen.terminals, strict=False):
        sums = 0.5 * sums + float(reward[0])
        returns.append(sums)
        sums = 0.0 if terminal[0] else sums
    scale = constants(agent)["scale-rewards/scale"]
    np.testing.assert_allclose(scale, 1 / np.std(returns), rtol=1e-6)
    held = agent.executor.execute("get_memory_size")
    assert held == 33
    # The loss of a terminal transition is that of its scaled reward: (r * scale - q)^2 / 2.
    batch = {
        "states": np.zeros((1, 3), np.float32),
        "actions": np.zeros(1, np.int64),
        "rewards": np.array([5.0], np.float32),
        "terminals": np.array([True]),
        "next_states": np.zeros((1, 3), np.float32),
    }
    loss, _ = agent.get_td_loss(batch)
    q_value = agent.executor.execute("get_q_values", batch["states"])[0, 0]
    np.testing.assert_allclose(loss, (5.0 * scale - q_value) ** 2 / 2, rtol=1e-5)


@pytest.mark.parametrize("spec", [PPO, {**DQN, "n_step": 3}], ids=["ppo", "dqn"])
def test_a_resumed_agent_has_the_same_statistics(one_backend, spec, tmp_path):
    options = {"normalize_states": True, "scale_rewards": True, "seed": 3, "backend": one_backend}
    agent = Agent.from_spec(spec, env=Scaled, **options)
    agent.learn(37, env=Scaled, num_envs=1)
    agent.store_model(tmp_path)
    other = Agent.load(tmp_path, one_backend)
    for each in (agent, other):
        each.learn(40, env=Scaled, num_envs=1)
    assert other.learner.statistics.counters() == agent.learner.statistics.counters()
    for name, value in other.get_weights().items():
        np.testing.assert_array_equal(value, agent.get_weights()[name], err_msg=name)


NESTED = Dict(place=FloatBox(shape=(2,)), colour=IntBox(3), speed=FloatBox())


@pytest.mark.parametrize(
    ("wanted", "parts"), [(True, {"place", "speed"}), (["speed"], {"speed"})], ids=["all", "one"]
)
def test_parts_of_nested_states(one_backend, wanted, parts):
    agent = Agent.from_spec(
        {"type": "ppo", "rollout_length": 4, "num_minibatches": 1},
        state_space=NESTED,
        action_space=IntBox(2),
        backend=one_backend,
        normalize_states=wanted,
    )
    assert {name.split("/")[-1] for name in constants(agent)} == parts


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"normalize_states": ["sped"]},
            "list of parts that are floats: 'place', 'speed', given \\['sped'\\]",
        ),
        ({"normalize_states": ["colour"]}, "agent.normalize_states: expected true, or a list of parts"),
        ({"normalize_states": True, "state_space": IntBox(4)}, "the states have none"),
        (
            {"scale_rewards": True, "type": "random"},
            "agent.scale_rewards: expected false: the agent has no disc",
        ),
    ],
    ids=["misspelt", "categories", "no-floats", "no-returns"],
)
def test_what_cannot_be_normalized_is_refused(one_backend, changes, message):
    spec = {
        "type": "ppo",
        "state_space": NESTED,
        "action_space": IntBox(2),
        "backend": one_backend,
        **changes,
    }
    with pytest.raises(SpecError, match=message):
        Agent.from_spec(spec)


def test_moments_are_those_of_all_rows():
    """Rows a million times farther from 0 than from each other, in batches of any size, merged at any time."""
    rng = np.random.default_rng(0)
    rows = rng.normal([1e6, -3.0], [1.0, 1e-3], (500, 2))
    moments, at = Moments((2,)), 0
    for size in rng.integers(0, 9, 200):
        moments.add(rows[at : at + size])
        at += size
        if size % 3 == 0:
            moments.merge()
    moments.merge()
    assert moments.count == min(at, 500) > 400
    np.testing.assert_allclose(moments.mean, rows[:at].mean(axis=0), rtol=1e-14)
    np.testing.assert_allclose(moments.variance, rows[:at].var(axis=0), rtol=1e-6)


def test_rows_that_are_no_steps_are_not_counted(one_backend):
    agent = Agent.from_spec(PPO, env=Scaled, backend=one_backend, normalize_states=True, scale_rewards=True)
    statistics = agent.learner.statistics
    states, flags = np.array([[1.0, 2.0, 3.0], [np.nan] * 3], np.float32), np.zeros(2, bool)
    rewards, valid = np.array([1.0, np.nan], np.float32), np.array([True, False])
    statistics.add(VectorStep(states, None, rewards, flags, flags, states, flags, valid), 0)
    statistics.publish(agent.executor)
    assert statistics.counters()["returns"]["count"] == 1
    np.testing.assert_array_equal(constants(agent)["normalizer/mean"], states[0])


def test_what_never_changes_becomes_zero():
    """Its deviation is 0, of which nothing is divided: the mean is subtracted, and later changes keep their size."""
    moments = Moments((2,))
    for size in (3, 1, 4):
        rows = np.full((size, 2), np.float32(1e6 + 0.1))
        rows[:, 1] = np.arange(size)
        moments.add(rows)
        moments.merge()
    assert moments.mean[0] == np.float32(1e6 + 0.1)
    assert moments.scale[0] == 1.0
    assert moments.scale[1] != 1.0


@pytest.mark.parametrize("change", [1e-30, 1e-3, 1e3, 1e30])
def test_what_was_constant_may_change_later(change):
    """A single other value among 1000 is as far from the mean as can be, and no farther."""
    moments = Moments(())
    moments.add(np.zeros(999))
    moments.merge()
    moments.add(np.array([change]))
    moments.merge()
    normalized = (change - moments.mean) * moments.scale
    assert 0.0 <= normalized <= np.sqrt(999) * (1 + 1e-6)


def test_the_moments_of_a_group_are_those_of_all_rows():
    rng = np.random.default_rng(0)
    rows = rng.normal(100.0, 3.0, (40, 2))
    parts = (rows[:3], rows[3:], rows[:0])
    learners = [(Moments((2,)), Moments()) for _ in parts]
    for (states, returns), part in zip(learners, parts, strict=True):
        states.add(part)
        returns.add(part[:, 0])

    def merge(learner, collective):
        parts = pooled([moments.part() for moments in learner], collective)
        for moments, part in zip(learner, parts, strict=True):
            moments.merge(part)

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(merge, learners, memory_group(3)))
    for states, returns in learners:
        assert (states.count, returns.count) == (40, 40)
        np.testing.assert_allclose(states.mean, rows.mean(axis=0), rtol=1e-14)
        np.testing.assert_allclose(states.variance, rows.var(axis=0), rtol=1e-12)
        np.testing.assert_allclose(returns.variance, rows[:, 0].var(), rtol=1e-12)
    assert np.array_equal(learners[0][0].mean, learners[1][0].mean)


@pytest.mark.parametrize(
    ("middle", "deviation"),
    [(0.0, 1e-5), (0.0, 1e-7), (0.0, 1e-30), (0.0, 1e30), (1e6, 1.0), (-3.0, 1e-4), (1e-7, 1e-7)],
)
def test_states_of_any_scale_get_a_deviation_of_1(middle, deviation, one_backend):
    rng = np.random.default_rng(0)
    rows = (middle + deviation * rng.standard_normal((4000, 1))).astype(np.float32)
    moments = Moments((1,))
    for some in np.split(rows, 8):
        moments.add(some)
        moments.merge()
    test = ComponentTest(
        Normalizer(), {"inputs": FloatBox(shape=(1,), add_batch_rank=True)}, backend=one_backend
    )
    test.executor.set_weights({"normalizer/mean": moments.mean, "normalizer/scale": moments.scale})
    normalized = test.test("normalize", rows)
    assert normalized.std() == pytest.approx(1.0, abs=0.01)
    assert normalized.mean() == pytest.approx(0.0, abs=0.05)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e6 + 0.3, 1e-38])
def test_constants_stay_0_and_finite(value):
    """Also those of several learners, whose pooled mean is rounded."""
    rows = np.full((7, 1), value, np.float32)
    moments = [Moments((1,)) for _ in range(2)]
    for each in moments:
        each.add(rows)
        each.add(rows[:3])
    number, mean, variance = moments[0].part()
    moments[0].merge()
    moments[1].merge((number, mean * (1.0 + 2e-16), variance + np.square(mean * 2e-16)))
    for each in moments:
        assert each.scale == 1.0
        np.testing.assert_allclose((rows - each.mean) * each.scale, 0.0, atol=abs(value) * 1e-7)


def test_moments_of_an_older_checkpoint_keep_their_epsilon():
    moments = Moments((1,))
    moments.set_totals({"count": 10, "mean": [0.0], "variance": [1e-10]})
    np.testing.assert_allclose(moments.scale, 1 / np.sqrt(1e-10 + 1e-8))
    again = Moments((1,))
    again.set_totals(moments.get_totals())
    np.testing.assert_array_equal(again.scale, moments.scale)
    fresh = Moments((1,))
    fresh.set_totals({**moments.get_totals(), "epsilon": 0.0})
    np.testing.assert_allclose(fresh.scale, 1e5)
