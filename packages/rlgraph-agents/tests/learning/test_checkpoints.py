"""`store_model` and `load_model`: going on as if nothing had happened, on any backend, and damage of every kind."""

import json
import re
from pathlib import Path
from unittest.mock import ANY

import numpy as np
import pytest

import rlgraph.core.checkpoint.writing as writing
from rlgraph.core import CheckpointError, CheckpointWarning, InputError, SpecError
from rlgraph.core.checkpoint import Checkpoint, Manifest, write_checkpoint
from rlgraph.learning.stored_meaning import MEANING
from rlgraph.testing import installed_backends


def assert_equal_weights(first, second):
    first, second = first.get_weights(), second.get_weights()
    assert list(first) == list(second)
    for name, value in first.items():
        np.testing.assert_array_equal(value, second[name], err_msg=name)


def host(agent):
    return {name: value.copy() for name, value in agent.executor.storage.host.items()}


def everything(agent):
    """All a checkpoint is about, in a form that can be compared."""
    streams = {scope: str(rng.bit_generator.state) for scope, rng in agent.executor.storage.streams.items()}
    return {
        "weights": agent.get_weights(),
        "host": host(agent),
        "streams": streams,
        "facts": agent.progress_facts(),
    }


def trained(make_agent, make_batch, backend, **options):
    """An agent with a past: updates, memory, draws, progress."""
    agent = make_agent(
        backend, update_spec={"update_interval": 3, "sync_interval": 6, "batch_size": 8}, **options
    )
    for step in range(5):
        agent.set_progress(step / 10)
        agent.get_actions(make_batch(4, seed=step)["states"])
        agent.observe(**make_batch(2, seed=step), batched=True)
        agent.update_if_due()
    return agent


# Going on.


def test_external_batches_go_on_bit_for_bit(make_agent, make_batch, backend, tmp_path):
    uninterrupted = trained(make_agent, make_batch, backend)
    resumed = make_agent(backend, seed=99)
    resumed.load_model(uninterrupted.store_model(tmp_path / "model"))
    assert_equal_weights(uninterrupted, resumed)
    for seed in range(10):
        losses = [agent.update(make_batch(16, seed=100 + seed))["loss"] for agent in (uninterrupted, resumed)]
        assert losses[0] == losses[1]
    assert_equal_weights(uninterrupted, resumed)


def test_memory_draws_and_exploration_go_on_bit_for_bit(make_agent, make_batch, backend, tmp_path):
    uninterrupted = trained(make_agent, make_batch, backend)
    uninterrupted.store_model(tmp_path / "model")
    resumed = make_agent(
        backend, seed=99, update_spec={"update_interval": 3, "sync_interval": 6, "batch_size": 8}
    )
    resumed.get_actions(make_batch(3)["states"])
    resumed.load_model(tmp_path / "model")
    np.testing.assert_equal(everything(resumed), everything(uninterrupted))
    for step in range(12):
        for agent in (uninterrupted, resumed):
            agent.set_progress(0.5 + step / 30)
        states = make_batch(6, seed=step)["states"]
        np.testing.assert_array_equal(uninterrupted.get_actions(states), resumed.get_actions(states))
        for agent in (uninterrupted, resumed):
            agent.observe(**make_batch(2, seed=50 + step), batched=True)
        assert uninterrupted.update_if_due() == resumed.update_if_due()
    assert uninterrupted.updates == resumed.updates > 8
    np.testing.assert_equal(everything(resumed), everything(uninterrupted))


def test_storing_changes_nothing(make_agent, make_batch, backend, tmp_path):
    agent = trained(make_agent, make_batch, backend)
    before = everything(agent)
    agent.store_model(tmp_path / "model")
    np.testing.assert_equal(everything(agent), before)


def test_counters(make_agent, make_batch, backend, tmp_path):
    agent = trained(make_agent, make_batch, backend)
    agent.store_model(tmp_path / "model")
    other = make_agent(backend)
    other.load_model(tmp_path / "model")
    assert (other.timesteps, other.updates) == (agent.timesteps, agent.updates) == (10, 3)
    assert other.progress_facts() == agent.progress_facts()
    assert other.metrics() == agent.metrics()
    facts = json.loads((tmp_path / "model" / "manifest.json").read_text())["facts"]
    assert facts.pop("agent")["type"] == "dqn"
    assert facts == {
        "timesteps": 10,
        "updates": 3,
        "time_percentage": pytest.approx(0.4),
        "learner": {"version": 3, "steps": 10, "next_update": 12, "due": {"sync_target": 12}},
        "observer": {"environments": ["env_0", "env_1"], "streams": ANY},
        "meaning": MEANING,
    }


def test_without_memory(make_agent, make_batch, backend, tmp_path):
    agent = trained(make_agent, make_batch, backend)
    agent.store_model(tmp_path / "model", memory=False)
    assert sorted(file.name for file in (tmp_path / "model").iterdir()) == [
        "manifest.json",
        "variables.safetensors",
    ]
    other = make_agent(backend)
    other.observe(**make_batch(4, seed=7), batched=True)
    own_memory = host(other)
    other.load_model(tmp_path / "model")
    assert_equal_weights(agent, other)
    np.testing.assert_equal(host(other), own_memory)


def test_other_names(make_agent, backend, tmp_path, reference):
    first, second = make_agent(backend), make_agent(backend)
    first.set_policy_weights(reference.randomised(first.get_weights(), seed=4))
    second.import_model(first.export_model(tmp_path / "model"))
    np.testing.assert_equal(second.get_weights(), first.get_weights())


def test_calls_written_for_0_5(make_agent, make_batch, tmp_path):
    agent, other = make_agent("numpy"), make_agent("numpy", seed=99)
    place = tmp_path / "model.v1"
    agent.store_model(path=place, add_timestep=True)
    agent.observe(**make_batch(12), batched=True)
    assert agent.store_model(path=str(place), add_timestep=True) == tmp_path / "model.v1-12"
    assert agent.export_model(place, add_timestep=True, memory=False) == tmp_path / "model.v1-12"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.v1-0", "model.v1-12"]
    other.load_model(path=tmp_path / "model.v1-12")
    assert other.timesteps == 12
    assert_equal_weights(agent, other)
    (tmp_path / "model.v1-best").mkdir()
    with pytest.raises(CheckpointError, match=r"model\.v1 does not exist: .* wrote model\.v1-12 beside it"):
        other.load_model(place)
    assert agent.store_model(path=place) == place  # without the steps, as ever
    other.load_model(place, scope="dqn/policy")


def test_one_place_is_given(make_agent, tmp_path):
    agent = make_agent("numpy")
    for call in (agent.store_model, agent.load_model, agent.export_model, agent.import_model):
        with pytest.raises(InputError, match="expected directory, or path, .*; given neither"):
            call()
        with pytest.raises(InputError, match="given both"):
            call(tmp_path / "model", path=tmp_path / "model")
    with pytest.raises(SpecError, match="store_model.add_timestep: expected true or false"):
        agent.store_model(tmp_path / "model", add_timestep="yes")
    with pytest.raises(InputError, match="expected a path with a name, to which the step is added, given"):
        agent.store_model(".", add_timestep=True)
    assert not [*tmp_path.iterdir()]


# Other backends.


def test_weights_are_at_home_on_every_backend(make_agent, make_batch, backend, backends, tmp_path):
    agent = trained(make_agent, make_batch, backend)
    agent.store_model(tmp_path / "model")
    states = make_batch(100)["states"]
    q_values = agent.call_api_method("get_q_values", states)
    for other_backend in [*backends, "numpy"]:
        other = make_agent(other_backend, seed=99)
        other.load_model(tmp_path / "model")
        assert_equal_weights(agent, other)
        np.testing.assert_allclose(other.call_api_method("get_q_values", states), q_values, rtol=0, atol=1e-6)
        np.testing.assert_array_equal(
            other.get_actions(states, use_exploration=False), agent.get_actions(states, use_exploration=False)
        )
        assert other.timesteps == agent.timesteps


def test_what_numpy_stored_is_trained_further(make_agent, make_batch, backend, tmp_path, reference):
    first = make_agent("numpy")
    first.set_weights(reference.randomised(first.get_weights(), seed=4))
    first.observe(**make_batch(8), batched=True)
    agent = make_agent(backend, seed=99)
    agent.load_model(first.store_model(tmp_path / "model"))
    assert_equal_weights(first, agent)
    expected, _ = reference.loss(first.get_weights(), make_batch(5))
    assert agent.update(make_batch(5))["loss"] == pytest.approx(expected, rel=1e-5)
    assert agent.update()["loss"] > 0


def test_single_precision_is_read_into_double(make_agent, make_batch, backend, tmp_path):
    agent = trained(make_agent, make_batch, backend)
    agent.store_model(tmp_path / "model")
    other = make_agent(backend, dtype="float64")
    other.load_model(tmp_path / "model")
    for name, value in agent.get_weights().items():
        assert other.get_weights()[name].dtype == np.float64
        np.testing.assert_array_equal(other.get_weights()[name], value.astype(np.float64))


def ordered_pairs():
    names = installed_backends()
    return [
        (first, second) for first in installed_backends("gradients") for second in names if first != second
    ]


@pytest.mark.parametrize(("first", "second"), ordered_pairs())
def test_training_goes_on_on_another_backend(make_agent, make_batch, tmp_path, first, second):
    """Weights, moments and the step counter are bit-equal there, so are the losses but for rounding."""
    agent, other = trained(make_agent, make_batch, first), make_agent(second, seed=99)
    for seed in range(4):
        agent.update(make_batch(16, seed=200 + seed))
    own_streams = {name: value.copy() for name, value in other.executor.storage.read_tensor_streams().items()}
    other.load_model(agent.store_model(tmp_path / "model"))
    weights = other.get_weights()
    assert weights["dqn/optimizer/steps"] == agent.get_weights()["dqn/optimizer/steps"] == 7
    assert any(np.any(weights[name]) for name in weights if name.startswith("dqn/optimizer/second_moments/"))
    assert_equal_weights(agent, other)
    np.testing.assert_equal(host(other), host(agent))
    np.testing.assert_equal(other.executor.storage.read_tensor_streams(), own_streams)
    states = make_batch(50)["states"]
    outputs = [each.call_api_method("get_q_values", states) for each in (agent, other)]
    np.testing.assert_allclose(outputs[1], outputs[0], rtol=0, atol=1e-6)
    if second in installed_backends("gradients"):
        for seed in range(10):
            losses = [each.update(make_batch(16, seed=300 + seed))["loss"] for each in (agent, other)]
            assert losses[1] == pytest.approx(losses[0], rel=1e-5)


# Parts.


def test_the_policy_alone(make_agent, make_batch, backend, tmp_path):
    """From an agent whose other components differ: it has another memory and optimizer."""
    agent = make_agent(backend, memory_spec={"capacity": 30}, double_q=False)
    agent.update(make_batch(8))
    agent.store_model(tmp_path / "model")
    other = trained(make_agent, make_batch, backend, seed=99)
    before = everything(other)
    with pytest.raises(CheckpointError, match="variable 'memory/.*' has shape"):
        other.load_model(tmp_path / "model")
    other.load_model(tmp_path / "model", scope="dqn/policy")
    after = everything(other)
    for name, value in other.get_weights().items():
        origin = agent.get_weights()[name] if name.startswith("dqn/policy/") else before["weights"][name]
        np.testing.assert_array_equal(value, origin, err_msg=name)
    del before["weights"], after["weights"]
    np.testing.assert_equal(after, before)
    with pytest.raises(InputError, match="there is no component 'polcy'. Did you mean 'dqn/policy'?"):
        other.load_model(tmp_path / "model", scope="polcy")


# Damage. After a refusal everything is as it was.


def refused(agent, directory, said):
    before = everything(agent)
    with pytest.raises(CheckpointError, match=said):
        agent.load_model(directory)
    np.testing.assert_equal(everything(agent), before)


@pytest.fixture
def stored(make_agent, make_batch, tmp_path):
    """A checkpoint; files are files, whichever backend reads and writes them."""
    agent = make_agent("numpy", seed=8)
    agent.observe(**make_batch(10), batched=True)
    return agent.store_model(tmp_path / "model")


def test_no_checkpoint(make_agent, tmp_path):
    refused(make_agent("numpy"), tmp_path / "nowhere", "nowhere is not a checkpoint: it has no manifest.json")
    (tmp_path / "empty").mkdir()
    refused(make_agent("numpy"), tmp_path / "empty", "empty is not a checkpoint: it has no manifest.json")


@pytest.mark.parametrize("name", ["variables.safetensors", "host.safetensors"])
def test_a_damaged_file(make_agent, stored, name):
    content = bytearray((stored / name).read_bytes())
    content[-3] ^= 1
    (stored / name).write_bytes(content)
    refused(make_agent("numpy"), stored, f"{name} is damaged: its checksum differs")


@pytest.mark.parametrize("name", ["variables.safetensors", "host.safetensors"])
def test_a_missing_file(make_agent, stored, name):
    (stored / name).unlink()
    refused(make_agent("numpy"), stored, f"model is incomplete: {name} is missing")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "manifest.json cannot be read"),
        ("[]", "manifest.json is not the manifest of an RLgraph checkpoint"),
        ('{"format": "other"}', "manifest.json is not the manifest of an RLgraph checkpoint"),
        (
            '{"format": "rlgraph-checkpoint", "version": 99}',
            "has checkpoint format 99, this rlgraph-core reads up to 2: pip install --upgrade rlgraph-core",
        ),
    ],
)
def test_a_damaged_manifest(make_agent, stored, text, said):
    (stored / "manifest.json").write_text(text)
    refused(make_agent("numpy"), stored, said)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"dueling_q": False},
            "belongs to another component graph: missing .*'dqn/policy/q-values/weights'.* not expected",
        ),
        ({"units": 9}, r"variable '.*' has shape \(\d.*\), expected \("),
        ({"memory_spec": {"capacity": 5}}, "variable 'memory/rows/.*' has shape"),
    ],
)
def test_another_graph_or_memory(make_agent, stored, options, said):
    refused(make_agent("numpy", **options), stored, said)


@pytest.mark.parametrize("value", ["many", None, [3], 1.5, True])
def test_counters_of_another_type(make_agent, stored, value):
    """A manifest that somebody wrote by hand, with checksums that fit: nothing is loaded before they are looked at."""
    with Checkpoint(stored) as checkpoint:
        values = {stem: {n: file.read(n) for n in file.entries} for stem, file in checkpoint.files.items()}
        facts = {**checkpoint.manifest.facts, "updates": value}
    write_checkpoint(stored, values, Manifest(facts=facts))
    refused(make_agent("numpy"), stored, f"the fact 'updates' is {re.escape(repr(value))}, expected int")


# Saving that fails.


def test_a_save_that_was_cut_off_between_two_renames(make_agent, stored):
    stored.rename(stored.with_name(".model.4b1d.old"))
    agent = make_agent("numpy")
    with pytest.warns(CheckpointWarning, match="model is missing because a save was cut off; using"):
        agent.load_model(stored)
    assert agent.timesteps == 10
    agent.store_model(stored)
    assert [path.name for path in stored.parent.iterdir()] == ["model"]


@pytest.mark.parametrize("number", [1, 2])
def test_a_save_that_fails_leaves_the_old_one(make_agent, stored, monkeypatch, number):
    """The disk is full at the first file, or at the second."""
    agent, calls, write_tensors = make_agent("numpy"), [], writing.write_tensors

    def full(file, arrays):
        calls.append(file)
        if len(calls) == number:
            raise OSError(28, "No space left on device")
        return write_tensors(file, arrays)

    kept = {file.name: file.read_bytes() for file in stored.iterdir()}
    monkeypatch.setattr(writing, "write_tensors", full)
    with pytest.raises(CheckpointError, match="model could not be written: .*No space left on device"):
        agent.store_model(stored)
    assert len(calls) == number
    assert {file.name: file.read_bytes() for file in stored.iterdir()} == kept
    assert [path.name for path in stored.parent.iterdir()] == ["model"]
    agent.load_model(stored)
    assert agent.timesteps == 10


def test_the_last_rename_fails(make_agent, stored, monkeypatch):
    agent, rename = make_agent("numpy"), Path.rename

    def broken(path, target):
        if path.name.endswith(".new"):
            raise OSError(5, "Input/output error")
        return rename(path, target)

    kept = {file.name: file.read_bytes() for file in stored.iterdir()}
    monkeypatch.setattr(Path, "rename", broken)
    with pytest.raises(CheckpointError, match="could not be written: .*Input/output error"):
        agent.store_model(stored)
    assert {file.name: file.read_bytes() for file in stored.iterdir()} == kept
    assert [path.name for path in stored.parent.iterdir()] == ["model"]


def test_a_new_one_replaces_the_old_one(make_agent, stored):
    agent = make_agent("numpy")
    agent.store_model(stored, memory=False)
    assert sorted(file.name for file in stored.iterdir()) == ["manifest.json", "variables.safetensors"]
    other = make_agent("numpy", seed=5)
    other.learner.steps = 3
    other.load_model(stored)
    assert_equal_weights(agent, other)
    assert (other.timesteps, other.updates) == (0, 0)


def test_folders_above_are_made(make_agent, tmp_path):
    agent = make_agent("numpy")
    agent.store_model(tmp_path / "a" / "b" / "model")
    agent.load_model(str(tmp_path / "a" / "b" / "model"))


def test_nothing_in_it_is_executable(stored):
    """Pickles begin with byte 0x80; safetensors with the length of a JSON header."""
    for file in stored.iterdir():
        content = file.read_bytes()
        if file.suffix == ".safetensors":
            length = int.from_bytes(content[:8], "little")
            assert "data_offsets" in json.dumps(json.loads(content[8 : 8 + length]))
        else:
            assert isinstance(json.loads(content), dict)


def test_a_checkpoint_without_counters_changes_nothing(make_agent, tmp_path):
    agent, other = make_agent("numpy", seed=1), make_agent("numpy", seed=2)
    agent.executor.save(tmp_path / "bare")
    before = other.get_weights()
    with pytest.raises(
        CheckpointError,
        match="lacks the facts learner, .*rlgraph-agents 0.2 and older kept other",
    ):
        other.load_model(tmp_path / "bare")
    for name, value in other.get_weights().items():
        np.testing.assert_array_equal(value, before[name], err_msg=name)
