"""The options of DQN, through the agent: what an update does with each of them."""

import numpy as np
import pytest

from rlgraph.core import InputError, SpecError
from rlgraph.core.functional.prioritized_replay import importance_weights
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, Tuple

PRIORITIZED = {"type": "prioritized_replay", "capacity": 32, "alpha": 0.5, "beta": [0.5, 1.0], "epsilon": 0.0}


def priorities(agent):
    nodes = agent.executor.storage.host["memory/priorities"]
    return nodes[len(nodes) // 2 :].copy()


# Prioritized replay.


def test_an_update_gives_what_was_drawn_its_priority(make_agent, make_batch, backend):
    """Rate 0, so that the errors stay; drawn several times over, every record gets the root of its error."""
    agent = make_agent(
        backend,
        memory_spec=PRIORITIZED,
        optimizer_spec={"learning_rate": 0.0},
        update_spec={"batch_size": 30},
    )
    batch = make_batch(6)
    agent.observe(**batch, batched=True)
    np.testing.assert_allclose(priorities(agent)[:7], [1, 1, 1, 1, 1, 1, 0])
    _, per_item = agent.get_td_loss(batch)
    for _ in range(20):
        agent.update()
    np.testing.assert_allclose(priorities(agent)[:6], np.sqrt(2 * per_item) ** 0.5, rtol=1e-5)
    # A new one has the largest so far.
    largest = priorities(agent).max()
    agent.observe(**{name: values[:1] for name, values in batch.items()}, batched=True)
    np.testing.assert_allclose(priorities(agent)[6], max(largest, 1.0), rtol=1e-6)


@pytest.mark.parametrize("time", [0.0, 1.0])
def test_the_loss_is_weighted(make_agent, make_batch, backend, time):
    """What was drawn is told by the loss: with two records and stratified draws it is known which they are."""
    agent = make_agent(
        backend,
        memory_spec=PRIORITIZED,
        optimizer_spec={"learning_rate": 0.0},
        update_spec={"batch_size": 4},
    )
    batch = make_batch(2)
    agent.observe(**batch, batched=True)
    agent.set_progress(time)
    _, per_item = agent.get_td_loss(batch)
    agent.call_api_method("sync_target")
    # Equal priorities: two draws of each, all weights 1.
    assert agent.update()["loss"] == pytest.approx(per_item.mean(), rel=1e-5)
    p = priorities(agent)[:2]
    weights = importance_weights(p, 0.5 + 0.5 * time)
    share = p / p.sum()
    loss = agent.update()["loss"]
    counts = [np.array([k, 4 - k]) for k in (int(4 * share[0]), int(4 * share[0]) + 1)]
    # A batch of one kind only has weights 1.
    expected = [(count * (weights if count.all() else 1.0) * per_item).sum() / 4 for count in counts]
    assert min(abs(loss - value) for value in expected) < 1e-4 * max(1.0, loss)


def test_importance_weights_of_an_external_batch(make_agent, make_batch, backend):
    agent, batch = make_agent(backend, memory_spec=PRIORITIZED), make_batch(4)
    loss, per_item = agent.get_td_loss(batch)
    assert loss == pytest.approx(per_item.mean(), rel=1e-5)
    weights = np.array([0.0, 1.0, 0.5, 2.0], np.float32)
    weighted = agent.update({**batch, "importance_weights": weights})
    assert weighted["loss"] == pytest.approx((weights * per_item).sum() / np.count_nonzero(weights), rel=1e-5)
    np.testing.assert_allclose(weighted["loss_per_item"], per_item * (weights > 0.0), rtol=1e-5)


# n steps.


def test_the_records_of_three_steps(make_agent, backend):
    agent = make_agent(backend, n_step=3, discount=0.5)
    for i in range(5):
        state = np.full(3, i, np.float32)
        agent.observe(state, i % 4, float(2**i), i == 4, state + 1)
    host = agent.executor.storage.host
    rows = {name.removeprefix("memory/rows/"): value[:5] for name, value in host.items() if "rows" in name}
    np.testing.assert_array_equal(rows["states"][:, 0], [0, 1, 2, 3, 4])
    # 1 + 0.5*2 + 0.25*4, and so on; the last two windows are shorter.
    np.testing.assert_allclose(rows["rewards"], [3.0, 6.0, 12.0, 16.0, 16.0])
    np.testing.assert_allclose(rows["discounts"], [0.125, 0.125, 0.125, 0.25, 0.5])
    np.testing.assert_array_equal(rows["terminals"], [False, False, True, True, True])
    np.testing.assert_array_equal(rows["next_states"][:2, 0], [3, 4])
    assert agent.update()["loss"] > 0


def test_the_discount_of_an_external_batch(make_agent, make_batch, backend, reference):
    agent, batch = make_agent(backend, n_step=3, discount=0.9), make_batch(8)
    agent.set_weights(reference.randomised(agent.get_weights(), seed=1))
    weights = agent.get_weights()
    for given, discount in (({}, 0.9**3), ({"discounts": np.full(8, 0.4, np.float32)}, 0.4)):
        expected, items = reference.loss(weights, batch, discount)
        loss, per_item = agent.get_td_loss({**batch, **given})
        assert loss == pytest.approx(expected, rel=1e-5)
        np.testing.assert_allclose(per_item, items, rtol=1e-4, atol=1e-5)


# Learning rates.


@pytest.mark.parametrize("memory", [{"capacity": 10}, PRIORITIZED])
def test_the_learning_rate_follows_training(make_agent, make_batch, backend, memory):
    agent = make_agent(backend, memory_spec=memory, optimizer_spec={"learning_rate": ["linear", 0.1, 0.0]})
    batch = make_batch(4)
    agent.observe(**batch, batched=True)
    for learn in (agent.update, lambda: agent.update(batch)):
        steps = []
        for time in (0.0, 1.0):
            agent.set_progress(time)
            before = agent.get_weights()["dqn/policy/value/weights"]
            learn()
            steps.append(np.abs(agent.get_weights()["dqn/policy/value/weights"] - before).max())
        assert steps[0] > 1e-3 and steps[1] == 0.0


# Actions.

NESTED = Dict(jump=BoolBox(), move=Tuple(IntBox(3), IntBox(4, shape=(2,))))


@pytest.mark.parametrize("dueling", [True, False])
@pytest.mark.parametrize(
    "options", [{}, {"shared_container_action_target": True, "td_aggregation": "mean_error"}]
)
def test_nested_actions(make_agent, backend, dueling, options):
    agent = make_agent(
        backend,
        state_space=FloatBox(shape=(3,)),
        action_space=NESTED,
        dueling_q=dueling,
        memory_spec=PRIORITIZED,
        n_step=2,
        update_spec={"batch_size": 8},
        exploration_spec={"epsilon_spec": 0.5},
        **options,
    )
    rng, batch = np.random.default_rng(0), NESTED.with_batch_rank()
    states = rng.normal(size=(6, 3)).astype(np.float32)
    for explore in (True, False):
        assert batch.contains(agent.get_actions(states, use_exploration=explore))
        assert NESTED.contains(agent.get_actions(states[0], use_exploration=explore))
    greedy = agent.get_actions(states, use_exploration=False)
    values = agent.call_api_method("get_q_values", states)
    np.testing.assert_array_equal(greedy["jump"], values["jump"].argmax(axis=1))
    np.testing.assert_array_equal(greedy["move"][1], values["move"][1].argmax(axis=2))
    for i in range(12):
        state = rng.normal(size=3).astype(np.float32)
        agent.observe(state, NESTED.sample(rng=rng), float(i), i % 5 == 4, state + 1)
    before = agent.get_weights()
    assert all(np.isfinite(agent.update()["loss"]) for _ in range(3))
    changed = {
        name
        for name, value in agent.get_weights().items()
        if name.startswith("dqn/policy/") and not np.array_equal(value, before[name])
    }
    # Every head learns.
    assert {name for name in before if name.startswith("dqn/policy/")} == changed


def test_a_bool_as_action(make_agent, backend):
    agent = make_agent(
        backend, state_space=FloatBox(shape=(3,)), action_space=BoolBox(), update_spec={"batch_size": 4}
    )
    states = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
    actions = agent.get_actions(states)
    assert actions.dtype == bool
    agent.observe(states, actions, np.ones(5, np.float32), np.zeros(5, bool), states, batched=True)
    assert agent.update()["loss"] > 0


# Acting.


def test_noise_instead_of_epsilon(make_agent, make_batch, backend):
    agent = make_agent(backend, exploration_spec={"noise_spec": {"type": "gumbel", "scale": [1e3, 1e-6]}})
    states = np.repeat(make_batch(1)["states"], 400, axis=0)
    assert (np.bincount(agent.get_actions(states), minlength=4) > 60).all()
    assert agent.metrics() == {"noise_scale": 1e3}
    agent.set_progress(1.0)
    np.testing.assert_array_equal(agent.get_actions(states), agent.get_actions(states, use_exploration=False))


def test_the_q_values_of_actions(make_agent, make_batch, backend):
    agent, states = make_agent(backend), make_batch(3)["states"]
    actions, values = agent.get_actions(states, use_exploration=False, extra_returns="q_values")
    np.testing.assert_array_equal(actions, values.argmax(axis=1))


# Preprocessing.


def test_what_policy_and_memory_see(make_agent, backend):
    agent = make_agent(
        backend,
        state_space=IntBox(5),
        action_space=IntBox(2),
        preprocessing_spec=[{"type": "reshape", "flatten": True}],
        update_spec={"batch_size": 4},
        memory_spec=PRIORITIZED,
    )
    states = np.arange(5)
    assert agent.get_actions(states).shape == (5,)
    actions, seen = agent.get_actions(states, extra_returns="preprocessed_states")
    np.testing.assert_array_equal(seen, np.eye(5))
    zeros = np.zeros(5, np.float32)
    agent.observe(states, actions, zeros, zeros > 0, states[::-1], batched=True)
    host = agent.executor.storage.host
    np.testing.assert_array_equal(host["memory/rows/states"][:5], np.eye(5))
    np.testing.assert_array_equal(host["memory/rows/next_states"][:5], np.eye(5)[::-1])
    assert agent.update()["loss"] >= 0


# Specs.


def test_the_streams_of_the_dueling_policy(make_agent):
    agent = make_agent("numpy", policy_spec={"units_state_value_stream": 5, "activation": "tanh"})
    assert agent.get_weights()["dqn/policy/value-hidden/weights"].shape == (8, 5)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"n_step": 0}, r"n_step: expected an integer >= 1, given 0"),
        ({"n_step": True}, r"n_step: expected an integer.*, given True"),
        ({"memory_spec": {"type": "priorized_replay"}}, r"memory_spec.type: .*prioritized_replay"),
        ({"memory_spec": {"type": "prioritized_replay", "alfa": 1.0}}, r"memory_spec.alfa: .*alpha"),
        ({"memory_spec": {"capacity": 10, "alpha": 1.0}}, r"memory_spec.alpha: ReplayMemory has no such key"),
        (
            {"exploration_spec": {"epsilon_spec": 0.1, "noise_spec": {}}},
            r"exploration_spec: expected epsilon_spec .* or noise_spec .*, given both",
        ),
        ({"policy_spec": {"units": 3}}, r"policy_spec.units: DuelingPolicy has no such key"),
        (
            {"policy_spec": {"network_spec": []}},
            r"network_spec: given twice, here and as policy_spec.network_spec",
        ),
        (
            {"policy_spec": "dueling"},
            r"agent.policy_spec: expected a mapping or null, given 'dueling'",
        ),
        ({"td_aggregation": "sum"}, r"agent.td_aggregation: unknown 'sum'"),
        ({"preprocessing_spec": [{"type": "resape"}]}, r"preprocessing_spec\[0\].type: .*reshape"),
        ({"action_space": FloatBox(shape=(2,))}, r"Q-learning needs categorical actions"),
        ({"action_space": Dict(a=IntBox(2), b=FloatBox())}, r"categorical actions.*part 'b' of Dict"),
    ],
)
def test_wrong_specs(make_agent, options, said):
    with pytest.raises(SpecError, match=said):
        make_agent("numpy", **{"state_space": FloatBox(shape=(3,)), "action_space": IntBox(2), **options})


@pytest.mark.parametrize(
    ("dueling_q", "kind", "said"),
    [
        (False, "dueling_policy", "dueling_q: false contradicts policy_spec.type"),
        (True, "q_policy", "policy_spec.type: 'q_policy' is a QPolicy, expected a DuelingPolicy"),
    ],
)
def test_a_policy_that_contradicts_dueling_q(make_agent, dueling_q, kind, said):
    with pytest.raises(SpecError, match=said):
        make_agent("numpy", dueling_q=dueling_q, policy_spec={"type": kind})


def test_memories_of_dqn(make_agent):
    assert make_agent(
        "numpy", memory_spec={"type": "prioritized_replay", "capacity": 5}
    ).learner.experience.is_prioritized
    assert make_agent("numpy", memory_spec={"capacity": 5}).executor.root.memory.capacity == 5
    assert make_agent("numpy", memory_spec="replay_memory").executor.root.memory.capacity == 1000
    with pytest.raises(
        SpecError, match=r"agent\.memory_spec\.type: expected 'replay_memory' or .*, given a RingBuffer"
    ):
        make_agent("numpy", memory_spec={"type": "ring_buffer", "capacity": 5})


@pytest.mark.parametrize(
    "options", [{}, {"n_step": 2, "memory_spec": PRIORITIZED}, {"td_aggregation": "mean_error"}]
)
@pytest.mark.parametrize(
    "action_space", [IntBox([3, 2]), IntBox(3, shape=(2,)), Tuple(IntBox([4, 2]), BoolBox())]
)
def test_arrays_of_actions_learn(make_agent, backend, action_space, options):
    """As Gymnasium's MultiDiscrete: the loss of what was done falls, and no action is drawn that there is not."""
    agent = make_agent(backend, action_space=action_space, optimizer_spec={"learning_rate": 0.01}, **options)
    rng = np.random.default_rng(0)
    batch = {
        "states": rng.normal(size=(16, 3)).astype(np.float32),
        "actions": action_space.with_batch_rank().sample(16, rng=rng),
        "rewards": rng.normal(size=16).astype(np.float32),
        "terminals": np.ones(16, bool),
        "next_states": np.zeros((16, 3), np.float32),
    }
    losses = [agent.update(batch)["loss"] for _ in range(60)]
    assert np.isfinite(losses).all() and losses[-1] < 0.7 * losses[0]
    for explores in (True, False):
        assert action_space.with_batch_rank().contains(agent.get_actions(batch["states"], explores))
    with pytest.raises(InputError, match="the action"):
        agent.observe(batch["states"][0], _beyond(action_space), 0.0, True)


def _beyond(space):
    """An action with one number too many in its last element."""
    first = space[0] if isinstance(space, Tuple) else space
    array = np.broadcast_to(np.asarray(first.high), first.shape).copy()
    return (array, np.array(True)) if isinstance(space, Tuple) else array
