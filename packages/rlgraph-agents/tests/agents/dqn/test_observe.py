"""What `observe` puts into the memory; it lives on the host, whichever backend learns from it."""

import numpy as np
import pytest

from rlgraph.core import InputError


def rows(agent):
    """The memory's records, oldest first as long as it is not full."""
    host = agent.executor.storage.host
    size = int(agent.call_api_method("get_memory_size"))
    prefix = "memory/rows/"
    return {name.removeprefix(prefix): v[:size] for name, v in host.items() if name.startswith(prefix)}


def test_one_step(make_agent):
    agent = make_agent("numpy")
    agent.observe([1.0, 2.0, 3.0], 2, -0.5, False, [4.0, 5.0, 6.0])
    agent.observe(
        np.array([7.0, 8.0, 9.0], np.float32), np.int64(0), np.float32(1.5), np.True_, np.zeros(3, np.float32)
    )
    stored = rows(agent)
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
    stored = rows(agent)
    assert sorted(stored) == sorted(first)
    for name, values in stored.items():
        np.testing.assert_array_equal(values, np.concatenate([first[name], second[name]]))
    assert agent.timesteps == 8


def test_a_batch_of_lists(make_agent, make_batch):
    agent, batch = make_agent("numpy"), make_batch(4)
    agent.observe(**{name: values.tolist() for name, values in batch.items()}, batched=True)
    for name, values in rows(agent).items():
        np.testing.assert_array_equal(values, batch[name])


def test_the_oldest_are_overwritten(make_agent, make_batch):
    agent, batch = make_agent("numpy", memory_spec={"capacity": 4}), make_batch(6)
    for i in range(6):
        agent.observe(**{name: values[i] for name, values in batch.items()})
    np.testing.assert_array_equal(rows(agent)["rewards"], batch["rewards"][[4, 5, 2, 3]])
    assert agent.timesteps == 6


def test_what_is_observed_is_copied(make_agent, make_batch):
    agent, batch = make_agent("numpy"), make_batch(4)
    kept = batch["states"].copy()
    agent.observe(**batch, batched=True)
    batch["states"][...] = 99.0
    np.testing.assert_array_equal(rows(agent)["states"], kept)


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
            r"argument states: expected float32\[B, 3\], given float32\[3, 7\]",
        ),
        ({"actions": np.zeros(3, np.float32)}, r"argument actions: expected int64\[B\], given float32\[3\]"),
        ({"terminals": np.zeros(3, np.int64)}, r"argument terminals: expected bool\[B\], given int64\[3\]"),
    ],
)
def test_values_that_do_not_fit(make_agent, make_batch, change, said):
    agent = make_agent("numpy")
    with pytest.raises(InputError, match=said):
        agent.observe(**{**make_batch(3), **change}, batched=True)
    assert agent.call_api_method("get_memory_size") == 0
    assert agent.timesteps == 0


def test_a_single_state_that_does_not_fit(make_agent):
    with pytest.raises(
        InputError, match="observe: argument next_states: expected 1 axes, or 2 with a batch rank"
    ):
        make_agent("numpy").observe(np.zeros(3), 0, 0.0, False, 0.0)
