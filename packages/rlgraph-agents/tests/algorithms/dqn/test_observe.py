"""What `observe` puts into the memory; it lives on the host, whichever backend learns from it."""

import numpy as np
import pytest
from doubles import memory

from rlgraph.core import InputError


def test_one_step(make_agent):
    agent = make_agent("numpy")
    agent.observe([1.0, 2.0, 3.0], 2, -0.5, False, [4.0, 5.0, 6.0])
    agent.observe(
        np.array([7.0, 8.0, 9.0], np.float32), np.int64(0), np.float32(1.5), np.True_, np.zeros(3, np.float32)
    )
    stored = memory(agent)
    np.testing.assert_array_equal(stored["states"], [[1, 2, 3], [7, 8, 9]])
    np.testing.assert_array_equal(stored["actions"], [2, 0])
    np.testing.assert_array_equal(stored["rewards"], np.array([-0.5, 1.5], np.float32))
    np.testing.assert_array_equal(stored["terminals"], [False, True])
    np.testing.assert_array_equal(stored["next_states"], [[4, 5, 6], [0, 0, 0]])
    assert agent.timesteps == 2


def test_a_batch(make_agent, make_batch):
    agent = make_agent("numpy")
    first, second = make_batch(5, seed=1), make_batch(3, seed=2)
    agent.observe(**first, batched=True)
    agent.observe(**second, batched=True)
    stored = memory(agent)
    assert sorted(stored) == sorted(first)
    for name, values in stored.items():
        np.testing.assert_array_equal(values, np.concatenate([first[name], second[name]]))
    assert agent.timesteps == 8


def test_a_batch_of_lists(make_agent, make_batch):
    agent, batch = make_agent("numpy"), make_batch(4)
    agent.observe(**{name: values.tolist() for name, values in batch.items()}, batched=True)
    for name, values in memory(agent).items():
        np.testing.assert_array_equal(values, batch[name])


def test_the_oldest_are_overwritten(make_agent, make_batch):
    agent, batch = make_agent("numpy", memory_spec={"capacity": 4}), make_batch(6)
    for i in range(6):
        agent.observe(**{name: values[i] for name, values in batch.items()})
    np.testing.assert_array_equal(memory(agent)["rewards"], batch["rewards"][[4, 5, 2, 3]])
    assert agent.timesteps == 6


@pytest.mark.parametrize("close", [False, True])
def test_what_waits_for_its_next_state_is_copied(make_agent, make_batch, close):
    """The caller writes the next states into the same arrays, as environments do."""
    agent, batch = make_agent("numpy"), make_batch(4)
    if not close:
        agent._observer._reader.unchecked = 0
    states, actions = np.zeros((1, 3), np.float32), batch["actions"][:1].copy()
    for i in range(4):
        states[0], actions[0] = batch["states"][i], batch["actions"][i]
        agent.observe(states, actions, np.ones(1, np.float32), np.array([i == 3]), batched=True)
    stored = memory(agent)
    np.testing.assert_array_equal(stored["states"], batch["states"])
    np.testing.assert_array_equal(stored["actions"], batch["actions"])
    np.testing.assert_array_equal(stored["next_states"][:3], batch["states"][1:])


@pytest.mark.parametrize("close", [False, True])
def test_next_states_of_a_window_are_copied(make_agent, close):
    agent, reached = make_agent("numpy", n_step=3), np.zeros((1, 3), np.float32)
    if not close:
        agent._observer._reader.unchecked = 0
    for i in range(2):
        reached[:] = i + 1
        states, actions = np.full((1, 3), i, np.float32), np.zeros(1, np.int64)
        agent.observe(states, actions, np.ones(1), np.zeros(1, bool), reached, batched=True)
    reached[:] = 99.0
    agent.flush_buffers()
    assert memory(agent)["next_states"].tolist() == [[2.0] * 3] * 2


@pytest.mark.parametrize("close", [False, True])
def test_a_step_that_waits_goes_first(make_agent, close):
    """One step without its next state, then one that brings its own: both are records, in their order."""
    agent = make_agent("numpy")
    if not close:
        agent._observer._reader.unchecked = 0
    first, second, third = (np.full(3, i, np.float32) for i in range(3))
    agent.observe(first, 0, 1.0, False)
    agent.observe(second, 1, 2.0, False, third)
    stored = memory(agent)
    assert stored["rewards"].tolist() == [1.0, 2.0]
    np.testing.assert_array_equal(stored["next_states"], [second, third])


def test_what_is_observed_is_copied(make_agent, make_batch):
    agent, batch = make_agent("numpy"), make_batch(4)
    kept = batch["states"].copy()
    agent.observe(**batch, batched=True)
    batch["states"][...] = 99.0
    np.testing.assert_array_equal(memory(agent)["states"], kept)


@pytest.mark.parametrize("field", ["states", "actions", "rewards", "terminals", "next_states"])
def test_batches_of_different_length(make_agent, make_batch, field):
    agent, batch = make_agent("numpy"), make_batch(3)
    batch[field] = batch[field][:2]
    with pytest.raises(InputError, match=f"observe: batches differ in length: .*2 {field}"):
        agent.observe(**batch, batched=True)
    assert agent.call_api_method("get_memory_size") == 0
    assert agent.timesteps == 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"states": np.zeros((3, 7), np.float32)},
            r"states: expected float32\[B, 3\], given float32\[3, 7\]",
        ),
        ({"actions": np.zeros(3, np.float32)}, r"actions: expected int64\[B\], given float32\[3\]"),
        ({"terminals": np.zeros(3, np.int64)}, r"terminals: expected bool\[B\], given int64\[3\]"),
    ],
)
def test_values_that_do_not_fit(make_agent, make_batch, change, said):
    agent = make_agent("numpy")
    with pytest.raises(InputError, match=f"argument {said}"):
        agent.observe(**{**make_batch(3), **change}, batched=True)
    assert agent.call_api_method("get_memory_size") == agent.timesteps == 0


def test_a_single_state_that_does_not_fit(make_agent):
    said = "observe: argument next_states: expected 1 axes, or 2 with a batch rank"
    with pytest.raises(InputError, match=said):
        make_agent("numpy").observe(np.zeros(3), 0, 0.0, False, 0.0)


# Steps that wait.


def test_the_next_state_comes_with_the_next_step(make_agent):
    agent = make_agent("numpy")
    agent.observe(np.full(3, 1.0), 0, 0.5, False)
    assert len(memory(agent)["states"]) == 0
    assert agent.timesteps == 1
    agent.observe(np.full(3, 2.0), 1, 0.25, False)
    agent.observe(np.full(3, 3.0), 2, -1.0, True)
    stored = memory(agent)
    assert stored["states"][:, 0].tolist() == [1, 2, 3]
    assert stored["next_states"][:, 0].tolist() == [2, 3, 3]
    assert stored["rewards"].tolist() == [0.5, 0.25, -1.0]
    assert stored["terminals"].tolist() == [False, False, True]
    assert agent.timesteps == 3


def test_environments_wait_apart(make_agent):
    agent = make_agent("numpy")
    for env_id, value in ((0, 1.0), (1, 5.0), ("env_0", 2.0), ("env_1", 6.0)):
        agent.observe(np.full(3, value), 0, value, env_id=env_id)
    assert memory(agent)["states"][:, 0].tolist() == [1, 5]
    assert memory(agent)["next_states"][:, 0].tolist() == [2, 6]


@pytest.mark.parametrize("env_id", [None, [0, 1], ["left", "right"]])
def test_a_batch_is_one_step_of_each_environment(make_agent, env_id):
    agent = make_agent("numpy")
    for time in range(3):
        states = np.array([[time] * 3, [10 + time] * 3], np.float32)
        agent.observe(states, [0, 1], [time, -time], [False, time == 1], batched=True, env_id=env_id)
    stored = memory(agent)
    pairs = set(zip(stored["states"][:, 0].tolist(), stored["next_states"][:, 0].tolist(), strict=True))
    assert pairs == {(0, 1), (10, 11), (11, 11), (1, 2)}


def test_a_batch_of_one_environment_is_consecutive(make_agent):
    """The documents' meaning: ``agent.observe(..., batched=True, env_id="env_3")``."""
    agent = make_agent("numpy")
    states = np.arange(5, dtype=np.float32)[:, None].repeat(3, axis=1)
    terminals = np.array([False, True, False, False, False])
    agent.observe(states, np.arange(5) % 4, np.arange(5), terminals, batched=True, env_id="env_3")
    assert memory(agent)["states"][:, 0].tolist() == [0, 1, 2, 3]
    assert memory(agent)["next_states"][:, 0].tolist() == [1, 1, 3, 4]
    agent.observe(np.full(3, 5.0), 0, 5.0, env_id="env_3")
    assert memory(agent)["next_states"][-1, 0] == 5


def test_the_first_next_state_given_wins_over_waiting(make_agent):
    """A step that waits is completed by the state observed, then the new one stands for itself."""
    agent = make_agent("numpy")
    agent.observe(np.full(3, 1.0), 0, 0.0)
    agent.observe(np.full((1, 3), 2.0), [0], [1.0], [False], np.full((1, 3), 7.0), batched=True)
    assert memory(agent)["next_states"][:, 0].tolist() == [2, 7]


def test_what_waits_can_be_thrown_away_or_cut(make_agent):
    agent = make_agent("numpy", n_step=3)
    for env_id in (0, 1, 2):
        agent.observe(np.full(3, 1.0 + env_id), 0, 1.0, next_states=np.full(3, 9.0), env_id=env_id)
    agent.reset_env_buffers(1)
    assert len(memory(agent)["states"]) == 0
    agent.flush_buffers()
    assert memory(agent)["states"][:, 0].tolist() == [1, 3]
    assert memory(agent)["next_states"][:, 0].tolist() == [9, 9]
    np.testing.assert_allclose(memory(agent)["discounts"], 0.99)
    assert agent.timesteps == 3


def test_n_steps_by_hand(make_agent):
    agent = make_agent("numpy", n_step=2, discount=0.5)
    for time in range(3):
        states, following = np.full((1, 3), time), np.full((1, 3), time + 1)
        agent.observe(states, [0], [2.0**time], [False], following, [time == 2], batched=True)
    stored = memory(agent)
    assert stored["rewards"].tolist() == [1 + 0.5 * 2, 2 + 0.5 * 4, 4]
    assert stored["discounts"].tolist() == [0.25, 0.25, 0.5]
    assert stored["next_states"][:, 0].tolist() == [2, 3, 3]
    assert not stored["terminals"].any()


def test_close_looks_end_and_nothing_changes(make_agent, make_batch):
    """The first steps are checked more; both ways store the same."""
    agent, batch = make_agent("numpy"), make_batch(7)
    agent.observe(**batch, batched=True)
    agent._observer._reader.unchecked = 0
    agent.observe(**batch, batched=True)
    for values in memory(agent).values():
        np.testing.assert_array_equal(values[:7], values[7:])
    for field, values, said in (
        ("states", batch["states"][:, :2], r"observe: argument states: expected float32\[B, 3\]"),
        ("rewards", np.where(np.arange(7) == 2, np.nan, 1), "observe: the reward of row 2 is nan"),
        ("actions", batch["actions"][:2], "differ"),
        ("terminals", batch["rewards"], "observe: argument terminals"),
    ):
        with pytest.raises(InputError, match=said):
            agent.observe(**{**batch, field: values}, batched=True)
    assert agent.timesteps == len(memory(agent)["states"]) == 14
    agent.observe(**{**batch, "terminals": None}, batched=True)
    assert not memory(agent)["terminals"][14:].any()


@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize("n_step", [1, 3])
def test_what_waits_is_the_same_without_close_looks(make_agent, make_batch, batched, waits, n_step):
    """Two environments, or one; rewards of more digits than records have; ends of both kinds."""
    close, plain = make_agent("numpy", n_step=n_step), make_agent("numpy", n_step=n_step)
    plain._observer._reader.unchecked = 0
    batch = make_batch(24)
    batch["rewards"] = batch["rewards"].astype(np.float64) / 3
    batch["truncations"] = np.arange(24) % 8 == 7 if not waits else np.zeros(24, bool)
    if waits:
        del batch["next_states"]
    for agent in (close, plain):
        for i in range(0, 24, 2):
            given = {
                name: values[i : i + 2].copy() if batched else values[i] for name, values in batch.items()
            }
            agent.observe(**given, batched=batched, env_id=None if batched else 5)
            for name in ("states", "next_states"):
                if batched and name in given:
                    given[name][:] = -1.0  # the caller's own to use again
    stored, expected = memory(plain), memory(close)
    assert stored.keys() == expected.keys()
    assert len(expected["rewards"]) >= 8
    for name, values in expected.items():
        np.testing.assert_array_equal(stored[name], values)
    assert plain.timesteps == close.timesteps


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"states": np.zeros((3, 2), np.float32)}, "observe: argument states"),
        ({"rewards": np.array([0.0, np.nan, 0.0])}, "observe: the reward of row 1 is nan"),
        ({"rewards": np.zeros(2)}, "observe: batches differ in length"),
        ({"truncations": np.array([False, True])}, "observe: batches differ in length"),
        ({"truncations": np.array([0.5, 0.0, 0.0])}, "observe: argument truncations"),
        ({"truncations": np.array([False, True, False])}, "observe: row 1 is truncated: give next_states"),
    ],
)
def test_what_waits_is_refused_without_close_looks_too(make_agent, make_batch, change, said):
    agent, batch = make_agent("numpy"), make_batch(3)
    agent._observer._reader.unchecked = 0
    with pytest.raises(InputError, match=said):
        agent.observe(**{**batch, "next_states": None, **change}, batched=True)
    assert agent.timesteps == len(agent._observer._waiting) == 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"actions": [0, 4, 1]}, r"observe: the action in row 1, 4, is not in IntBox\(low=0, high=4\)"),
        ({"actions": [0, -1, 1]}, "observe: the action in row 1, -1, is not in"),
        ({"rewards": [0.0, np.inf, 0.0]}, "observe: the reward of row 1 is inf: rewards must be finite"),
        (
            {"next_states": None, "truncations": [False, True, False]},
            "observe: row 1 is truncated: give next_states",
        ),
        ({"rewards": None}, "observe: argument rewards is missing"),
        ({"states": None}, "observe: expected either states or preprocessed_states"),
        ({"preprocessed_states": np.zeros((3, 3))}, "observe: expected either states or preprocessed_states"),
        ({"internals": [1]}, "observe: internals: the policy has no internal states"),
        ({"env_id": [0, 1]}, "env_id: expected one environment for each of 3 rows, given 2"),
        ({"batched": False}, "observe: argument states: expected one, given a batch; batched=False"),
        ({"states": np.zeros(3)}, "observe: argument states: expected a batch, given one; batched=True"),
        ({"rewards": 1.0}, "observe: batches differ in length"),
    ],
)
def test_wrong_calls(make_agent, make_batch, change, said):
    agent = make_agent("numpy")
    with pytest.raises(InputError, match=said):
        agent.observe(**{**make_batch(3), "batched": True, **change})
    assert agent.timesteps == len(memory(agent)["states"]) == 0
    agent.flush_buffers()
    assert len(memory(agent)["states"]) == 0


# Steps made elsewhere.


def test_imported_steps_are_no_steps_of_its_own(make_agent, make_batch):
    batch = make_batch(6)
    steps = [{name: values[i] for name, values in batch.items()} for i in range(6)]
    for observations in (batch, steps, {**batch, "sequence_indices": [2]}):
        agent = make_agent("numpy")
        assert agent.import_observations(observations) == 6
        for name, values in memory(agent).items():
            np.testing.assert_array_equal(values, batch[name])
        assert agent.timesteps == 0


def test_imported_episodes_need_no_next_states(make_agent, make_batch):
    batch = make_batch(6)  # rows 2 and 5 are terminal
    del batch["next_states"]
    agent = make_agent("numpy")
    assert agent.import_observations(batch) == 6
    np.testing.assert_array_equal(memory(agent)["next_states"][[0, 1, 3, 4]], batch["states"][[1, 2, 4, 5]])


@pytest.mark.parametrize(
    ("observations", "said"),
    [
        ([], "the list of steps is empty"),
        ([{"states": 1}, {"rewards": 1}], "expected dicts with the same keys; step 1 has rewards"),
        ({"states": np.zeros((2, 3))}, "expected a batch of states, actions, .*, given states"),
    ],
)
def test_imports_that_are_no_steps(make_agent, observations, said):
    with pytest.raises(InputError, match="import_observations: " + said):
        make_agent("numpy").import_observations(observations)


# What is refused leaves a preprocessor that remembers states where it was.


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"preprocessed_states": np.zeros((2, 2), np.float32)},
            "observe: argument preprocessed_states: expected",
        ),
        ({"preprocessed_states": np.zeros((3, 3)).astype(str)}, "observe: argument preprocessed_states"),
        ({"next_states": None}, "observe: row 0 is truncated: give next_states"),
        ({"rewards": np.nan}, "observe: the reward of row 0 is nan"),
        ({"actions": 4}, "observe: the action in row 0, 4, is not in"),
    ],
)
def test_a_refused_step_does_not_move_the_preprocessor(make_agent, change, said):
    layers = [{"type": "sequence", "sequence_length": 2, "add_rank": False}]
    agent, other = (make_agent("numpy", preprocessing_spec=layers) for _ in range(2))
    frames = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
    for each in (agent, other):
        _, seen = each.get_action(frames[0], extra_returns="preprocessed_states")
    step = {"preprocessed_states": seen, "actions": 1, "rewards": 1.0, "next_states": frames[1]}
    with pytest.raises(InputError, match=said):
        agent.observe(**{**step, "truncations": True, **change})
    for frame in frames[2:]:
        np.testing.assert_array_equal(agent.preprocess_states(frame), other.preprocess_states(frame))
