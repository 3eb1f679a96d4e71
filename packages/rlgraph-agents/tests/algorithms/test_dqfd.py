"""DQfD: how it is used, what it keeps, and an update against a second implementation in NumPy."""

import logging
from functools import partial

import numpy as np
import pytest
from doubles import memory

from rlgraph.agents import Agent
from rlgraph.core import InputError, SpecError
from rlgraph.environments import RandomEnv
from rlgraph.experience.data_sets import RecordedEpisode, write_data_set
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, Tuple
from rlgraph.workers import record_data_set

STATES, ACTIONS = FloatBox(shape=(2,)), IntBox(3)
ONE_LAYER = [{"type": "dense", "units": 4, "activation": "tanh"}]


def make(backend="numpy", states=STATES, actions=ACTIONS, **options):
    spec = {"type": "dqfd", "network_spec": ONE_LAYER, "memory_spec": {"capacity": 60}, **options}
    return Agent.from_spec(spec, state_space=states, action_space=actions, backend=backend, seed=3)


def episode(steps, first=0.0, terminal=True):
    """States count from `first`, and rewards are powers of two."""
    numbers = first + np.arange(steps + 1.0)
    states = np.stack([numbers, -numbers], axis=1).astype(np.float32)
    last = np.arange(steps) == steps - 1
    return RecordedEpisode(
        states, np.arange(steps) % 3, 2.0 ** np.arange(steps), last & terminal, last & False
    )


@pytest.fixture
def shown(tmp_path):
    return write_data_set(tmp_path / "shown.npz", [episode(4), episode(2, 10.0, False)], STATES, ACTIONS)


def rows(agent):
    """The records of the memory, by field, in the order of the first number of their states."""
    found = memory(agent)
    order = np.argsort(found["states"][:, 0], kind="stable")
    return {name: column[order] for name, column in found.items()}


def observe(agent, number, first=100.0):
    states = np.stack([first + np.arange(number), np.zeros(number)], axis=1).astype(np.float32)
    flags = np.zeros(number, bool)
    agent.observe(
        states, np.zeros(number, int), np.ones(number), ~flags, states, env_id="env_0", batched=True
    )


# How it is used.


def test_usage(one_backend, tmp_path):
    options = {"env": "CartPole-v1", "backend": one_backend, "seed": 1}
    teacher = Agent.from_spec("random", **options)
    record_data_set(teacher, "CartPole-v1", 5, tmp_path / "shown.npz")
    agent = Agent.from_spec({"type": "dqfd", "network_spec": [16]}, **options)
    pretrained = agent.learn(updates=20, data=tmp_path / "shown.npz")
    demonstrations = agent.learner.demonstrations
    assert (pretrained.updates, pretrained.timesteps) == (20, 0) and demonstrations > 40
    agent.learn(60)
    assert agent.timesteps == 60 and agent.updates > 30 and agent.learner.demonstrations == demonstrations


def test_forgotten_demonstrations_are_reported(one_backend, shown, caplog):
    agent, env = make(one_backend), partial(RandomEnv, STATES, ACTIONS)
    with pytest.raises(
        InputError, match="learn: the memory is empty: give data=, the file or folder of a data"
    ):
        agent.learn(updates=10)
    with caplog.at_level(logging.WARNING):
        agent.import_observations(shown)
        agent.learn(8, env=env)
        assert not caplog.text
        make(one_backend).learn(8, env=env)
    expected = "DQFDAgent has no demonstrations, and learns from its own steps only: give learn(updates=N, data=FILE)"
    assert expected in caplog.text


def test_a_memory_without_room_for_the_demonstrations_is_refused(shown):
    with pytest.raises(InputError, match=r'has 6 steps, and the memory keeps 5: give .*{"capacity": 6}'):
        make(memory_spec={"capacity": 5}).import_observations(shown)
    agent = make(memory_spec={"capacity": 11})
    agent.import_observations(shown)
    with pytest.raises(InputError, match=r'keeps 11, 6 of them demonstrations that .*{"capacity": 12}'):
        agent.import_observations(shown)
    assert agent.learner.demonstrations == 6


def test_demonstrations_that_fill_the_memory_are_for_learning_offline(one_backend, shown):
    agent = make(one_backend, memory_spec={"capacity": 6})
    agent.learn(updates=2, data=shown)
    with pytest.raises(
        SpecError, match="memory_spec.capacity: expected more than 6, the number of demonstrations"
    ):
        agent.learn(8, env=partial(RandomEnv, STATES, ACTIONS))


def test_a_memory_that_overwrites_demonstrations_is_refused():
    with pytest.raises(
        SpecError, match="memory_spec.type: expected 'demonstration_replay', given a Prioritized"
    ):
        make(memory_spec={"type": "prioritized_replay"})
    with pytest.raises(SpecError, match="network_spec: expected layers without memory"):
        make(network_spec=[{"type": "lstm", "units": 4}])


# What the memory holds.


def test_records_have_one_step_and_several(shown):
    agent = make(n_step=3, discount=0.5)
    agent.import_observations(str(shown))
    found = rows(agent)
    np.testing.assert_array_equal(found["states"][:, 0], [0, 1, 2, 3, 10, 11])
    np.testing.assert_array_equal(found["next_states"][:, 0], [1, 2, 3, 4, 11, 12])
    np.testing.assert_array_equal(found["rewards"], [1, 2, 4, 8, 1, 2])
    np.testing.assert_array_equal(found["terminals"], [0, 0, 0, 1, 0, 0])
    np.testing.assert_array_equal(found["n_step_next_states"][:, 0], [3, 4, 4, 4, 12, 12])
    np.testing.assert_array_equal(found["n_step_rewards"], [3, 6, 8, 8, 2, 2])
    np.testing.assert_array_equal(found["n_step_terminals"], [0, 1, 1, 1, 0, 0])
    np.testing.assert_array_equal(found["n_step_discounts"], [1 / 8, 1 / 8, 1 / 4, 1 / 2, 1 / 4, 1 / 2])
    assert found["demonstrations"].all()


def test_the_same_records_from_files_lists_and_steps(shown):
    """The three ways to bring demonstrations; own steps differ in the mark only."""
    agent, other, own = (make(n_step=3, discount=0.5) for _ in range(3))
    agent.import_observations(shown)
    steps = [
        {
            "states": one.observations[t],
            "actions": one.actions[t],
            "rewards": one.rewards[t],
            "terminals": one.terminals[t],
            "next_states": one.observations[t + 1],
            "truncations": t == len(one.rewards) - 1 and not one.terminals[t],
        }
        for one in (episode(4), episode(2, 10.0, False))
        for t in range(len(one.rewards))
    ]
    assert other.import_observations(steps) == 6
    for step in steps:
        own.observe(**step)
    expected = rows(agent)
    for name, column in expected.items():
        np.testing.assert_array_equal(rows(other)[name], column, err_msg=name)
        wanted = ~column if name == "demonstrations" else column
        np.testing.assert_array_equal(rows(own)[name], wanted, err_msg=name)


def test_demonstrations_stay_and_checkpoints_have_them(shown, tmp_path):
    agent = make(n_step=1, memory_spec={"capacity": 10})
    agent.import_observations(shown)
    observe(agent, 30)
    found = rows(agent)
    np.testing.assert_array_equal(found["states"][:, 0], [0, 1, 2, 3, 10, 11, 126, 127, 128, 129])
    np.testing.assert_array_equal(found["demonstrations"], np.arange(10) < 6)
    assert "n_step_rewards" not in found
    other = make(n_step=1, memory_spec={"capacity": 10})
    other.load_model(agent.store_model(tmp_path / "model"))
    observe(agent, 3, 200.0)
    observe(other, 3, 200.0)
    for name, column in rows(agent).items():
        np.testing.assert_array_equal(rows(other)[name], column, err_msg=name)


# An update.


def dense(x, weights, scope):
    return x @ weights[f"{scope}/weights"] + weights[f"{scope}/biases"]


def q_values(weights, states, policy):
    hidden = np.tanh(dense(states, weights, f"{policy}/network/dense-0"))
    return dense(hidden, weights, f"{policy}/q-values")


def targets_and_values(weights, records, n_step=""):
    """Double Q-learning, of one step or of several."""
    later = records[f"{n_step}next_states"]
    best = q_values(weights, later, "dqn/policy").argmax(axis=1)
    following = q_values(weights, later, "dqn/target-policy/policy")[np.arange(len(best)), best]
    discounts = records["n_step_discounts"] if n_step else 0.9
    continues = np.where(records[f"{n_step}terminals"], 0.0, discounts)
    values = q_values(weights, records["states"], "dqn/policy")[np.arange(len(best)), records["actions"]]
    return records[f"{n_step}rewards"] + continues * following, values


def losses(weights, records, targets):
    """J_DQ, J_n and J_E, per item."""
    q = q_values(weights, records["states"], "dqn/policy")
    items = np.arange(len(q)), records["actions"]
    margins = np.full(q.shape, 0.8)
    margins[items] = 0.0
    margin = np.where(records["demonstrations"], (q + margins).max(axis=1) - q[items], 0.0)
    td, n_step = (0.5 * (target - q[items]) ** 2 for target in targets)
    return {"td_loss": td, "n_step_loss": n_step, "margin_loss": margin}


def test_an_update_by_hand(backend, execution):
    rate, penalty = 0.1, 0.2
    agent = Agent.from_spec(
        {
            "type": "dqfd",
            "network_spec": ONE_LAYER,
            "dueling_q": False,
            "discount": 0.9,
            "supervised_weight": 2.0,
            "n_step_weight": 0.5,
            "optimizer_spec": {"type": "sgd", "learning_rate": rate, "l2_penalty": penalty},
            "memory_spec": {"capacity": 8},
        },
        state_space=STATES,
        action_space=ACTIONS,
        backend=backend,
        seed=3,
        execution_spec=execution(backend, dtype="float64"),
    )
    rng = np.random.default_rng(1)
    names = [name for name in agent.get_weights() if "policy" in name]
    weights = {name: rng.normal(size=agent.get_weights()[name].shape) for name in names}
    agent.set_weights(weights)
    records = {
        "states": rng.normal(size=(6, 2)),
        "actions": np.array([0, 1, 2, 0, 1, 2]),
        "rewards": rng.normal(size=6),
        "terminals": np.arange(6) == 2,
        "next_states": rng.normal(size=(6, 2)),
        "demonstrations": np.arange(6) < 4,
        "n_step_rewards": rng.normal(size=6),
        "n_step_terminals": np.arange(6) < 3,
        "n_step_next_states": rng.normal(size=(6, 2)),
        "n_step_discounts": 0.9 ** np.arange(1.0, 7.0),
    }
    item_weights = np.linspace(0.5, 1.0, 6)
    # Constants: no gradient goes through them.
    targets = [targets_and_values(weights, records, which)[0] for which in ("", "n_step_")]

    def total(given):
        parts = losses(given, records, targets)
        items = parts["td_loss"] + 0.5 * parts["n_step_loss"] + 2.0 * parts["margin_loss"]
        return np.mean(item_weights * items)

    numbers = agent.executor.execute("update", records, importance_weights=item_weights)
    parts = losses(weights, records, targets)
    assert min(np.count_nonzero(part) for part in parts.values()) >= 3
    for name, items in parts.items():
        np.testing.assert_allclose(numbers[name], np.mean(item_weights * items), rtol=1e-9, err_msg=name)
    np.testing.assert_allclose(numbers["loss"], total(weights), rtol=1e-9)
    target, values = targets_and_values(weights, records)
    np.testing.assert_allclose(numbers["priorities"], np.abs(target - values), rtol=1e-9)
    found, step = agent.get_weights(), 1e-6
    for name, before in weights.items():
        expected = before.copy()
        for place in np.ndindex(before.shape) if name.startswith("dqn/policy/") else ():
            ends = []
            for sign in (1, -1):
                moved = before.copy()
                moved[place] += sign * step
                ends.append(total({**weights, name: moved}))
            gradient = (ends[0] - ends[1]) / (2 * step) + penalty * before[place]
            expected[place] -= rate * gradient
        np.testing.assert_allclose(found[name], expected, rtol=1e-6, atol=1e-8, err_msg=name)


def test_priorities_of_demonstrations_are_larger_by_their_epsilon(one_backend, shown):
    memory = {"capacity": 7, "alpha": 1.0, "epsilon": 0.5, "demonstration_epsilon": 100.0}
    agent = make(one_backend, n_step=1, memory_spec=memory, update_spec={"batch_size": 200})
    agent.import_observations(shown)
    observe(agent, 1)
    agent.update()
    nodes = agent.executor.storage.host["memory/priorities"]
    priorities = nodes[len(nodes) // 2 :][:7]
    assert (priorities[:6] >= 100.0).all() and 0.5 <= priorities[6] < 100.0


# Options together.


@pytest.mark.parametrize(
    "options",
    [
        {"n_step": 1},
        {
            "n_step": 3,
            "dueling_q": False,
            "double_q": False,
            "huber_loss": True,
            "memory_spec": {"alpha": 0.0},
        },
        {"policy_spec": {"noisy": True}, "exploration_spec": {"epsilon_spec": 0.0}},
        {"normalize_states": True, "scale_rewards": True},
        {"preprocessing_spec": [{"type": "sequence", "sequence_length": 2}], "network_spec": None},
        {"previous_action_and_reward": True, "optimizer_spec": "adam"},
    ],
    ids=["one step", "uniform", "noisy", "normalized", "stacked", "previous"],
)
def test_options_combine(options, one_backend, shown):
    agent = make(one_backend, update_spec={"batch_size": 16}, **options)
    agent.learn(updates=3, data=shown)
    agent.learn(20, env=partial(RandomEnv, STATES, ACTIONS), num_envs=2)
    assert agent.updates == 8 and np.isfinite(list(agent.update().values())).all()


def test_all_rewards_are_scaled(one_backend, shown):
    """Of last steps the targets of one step and of several are the same, whatever the scale."""
    agent = make(one_backend, n_step=2, scale_rewards=True, discount=0.5)
    agent.learn(updates=2, data=shown)
    batch = {"states": np.ones((3, 2), np.float32), "actions": np.zeros(3, int), "rewards": np.full(3, 100.0)}
    results = agent.update({**batch, "terminals": np.ones(3, bool)}, sequence_indices=[0, 1, 2])
    assert results["td_loss"] == pytest.approx(results["n_step_loss"]) and results["td_loss"] < 4000.0


def test_nested_states_masks_and_container_actions(one_backend, tmp_path):
    states = Dict(x=Tuple(FloatBox(shape=(2,)), IntBox(3)), action_mask=BoolBox(shape=(3,)))
    masks = np.ones((4, 3), bool)
    masks[:, 2] = False
    observations = {"x": (np.ones((4, 2), np.float32), np.arange(4) % 3), "action_mask": masks}
    flags = np.zeros(3, bool)
    one = RecordedEpisode(observations, np.array([0, 1, 0]), np.ones(3), flags, flags)
    agent = make(one_backend, states, network_spec=None, n_step=2, update_spec={"batch_size": 8})
    result = agent.learn(updates=2, data=write_data_set(tmp_path / "a.npz", [one], states, ACTIONS))
    assert result.updates == 2 and agent.get_actions(observations, False).max() < 2
    # An action that the mask forbids is never better than the demonstrated one by the margin.
    assert agent.update()["margin_loss"] < 10.0
    parts = Dict(jump=BoolBox(), move=IntBox(3))
    agent = make(one_backend, actions=parts, n_step=2)
    actions = {"jump": np.array([True, False, True]), "move": np.array([0, 2, 1])}
    one = RecordedEpisode(np.ones((4, 2), np.float32), actions, np.ones(3), flags, flags)
    agent.learn(updates=2, data=write_data_set(tmp_path / "b.npz", [one], STATES, parts))
    assert np.isfinite(list(agent.update().values())).all()


def test_external_batches(one_backend):
    batch = {
        "states": np.ones((3, 2), np.float32),
        "actions": np.zeros(3, int),
        "rewards": np.ones(3, np.float32),
        "terminals": np.zeros(3, bool),
        "next_states": np.ones((3, 2), np.float32),
    }
    agent = make(one_backend, n_step=2)
    with pytest.raises(
        InputError, match="update: expected fragments, since a target has 2 rewards: give seq"
    ):
        agent.update(batch)
    own = agent.update(batch, sequence_indices=[2])
    shown = agent.update({**batch, "demonstrations": np.ones(3, bool)}, sequence_indices=[2])
    assert own["margin_loss"] == 0.0 < shown["margin_loss"]
    loss, per_item = make(one_backend, n_step=1).get_td_loss({**batch, "demonstrations": np.ones(3, bool)})
    assert per_item.shape == (3,) and loss == pytest.approx(per_item.mean(), rel=1e-5)
    with pytest.raises(InputError, match=r"update: demonstrations: expected bool\[3\], given int64\[3\]"):
        agent.update({**batch, "demonstrations": np.ones(3, int)}, sequence_indices=[2])
