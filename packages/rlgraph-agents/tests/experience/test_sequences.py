"""Recurrent networks with a memory: sequences of each environment, cut where its episodes end."""

import warnings
from collections import Counter

import numpy as np
import pytest
from doubles import Episodes

from rlgraph.agents import Agent
from rlgraph.components import SequenceReplay
from rlgraph.core import InputError, SpecError
from rlgraph.experience.sequences import SequenceWriter
from rlgraph.experience.step import VectorStep
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox

LSTM = [{"type": "dense", "units": 8, "activation": "tanh"}, {"type": "lstm", "units": 6}]
#: Steps of a sequence: all, burn-in, shared ones.
LENGTHS = [(6, 2, 2), (6, 2, 4), (5, 0, 0), (5, 0, 2), (3, 2, 2)]


def make(backend, kind="dqn", env="CartPole-v1", **options):
    spec = {
        "type": kind,
        "network_spec": LSTM,
        "memory_spec": {"sequence_length": 6, "burn_in": 2, "capacity": 400},
        "update_spec": {"batch_size": 4, "update_interval": 20},
        **options,
    }
    return Agent.from_spec(spec, env=env, backend=backend, execution_spec={"dtype": "float64"}, seed=5)


# Ten lines.


@pytest.mark.parametrize("layer", ["lstm", "gru"])
def test_a_layer_with_memory_in_the_network_is_enough(one_backend, layer):
    network = [*LSTM[:1], {"type": layer, "units": 6}]
    agent = Agent.from_spec({"type": "dqn", "network_spec": network}, env="CartPole-v1", backend=one_backend)
    memory = agent.learner.experience.memory
    assert isinstance(memory, SequenceReplay)
    assert (memory.sequence_length, memory.burn_in, memory.overlap, memory.capacity) == (40, 20, 20, 500)
    agent.learn(100, num_envs=2)
    assert agent.updates > 0
    assert len(agent.evaluate(2).returns) == 2


# The three likeliest mistakes.


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"memory_spec": "replay_memory"},
            "memory_spec.type: expected 'sequence_replay', since network_spec has",
        ),
        ({"memory_spec": {"type": "prioritized_replay"}}, "memory_spec.type: expected 'sequence_replay'"),
        (
            {"network_spec": LSTM[:1], "memory_spec": {"type": "sequence_replay"}},
            "memory_spec.type: expected one of transitions, since network_spec has no recurrent layers",
        ),
        ({"memory_spec": {"burn_in": 40}}, "memory_spec.burn_in: expected fewer steps than sequence_length"),
        ({"n_step": 5}, "n_step: expected at most the steps that a sequence is learned from, 4, given 5"),
        ({"network_spec": LSTM[:1]}, "memory_spec.burn_in: ReplayMemory has no such key"),
    ],
)
def test_options_that_do_not_fit(one_backend, options, said):
    with pytest.raises(SpecError, match=said):
        make(one_backend, **options)


def test_batches_of_users_have_no_sequences(one_backend):
    agent = make(one_backend)
    step = {"states": np.zeros((3, 4)), "actions": np.zeros(3, int), "rewards": np.zeros(3)}
    for call in (agent.update, agent.post_process, agent.import_observations):
        with pytest.raises(InputError, match=r"expected no batch: recurrent networks learn from sequences"):
            call({**step, "terminals": np.zeros(3, bool), "next_states": np.zeros((3, 4))})


# The writer, against the episodes that it was given.


class RandomEpisodes:
    """Steps of N slots whose states say slot, episode and time; ends by chance."""

    def __init__(self, number, seed):
        self.rng, self.number = np.random.default_rng(seed), number
        self.episode, self.time = np.zeros(number, int), np.zeros(number, int)
        #: (slot, episode) -> steps.
        self.lengths, self.terminal = Counter(), set()

    def step(self, slots, is_lost=0.0):
        n = len(slots)
        at = np.stack([slots, self.episode[slots], self.time[slots]], axis=1).astype(float)
        valid = self.rng.random(n) >= is_lost
        terminals = (self.rng.random(n) < 0.1) & valid
        truncations = (self.rng.random(n) < 0.1) & valid
        for slot, episode, terminal in zip(
            slots[valid], self.episode[slots][valid], terminals[valid], strict=True
        ):
            self.lengths[slot, episode] += 1
            if terminal:
                self.terminal.add((slot, episode))
        reached = np.add(at, [0, 0, 1])
        states = {"net": {"lstm": (at[:, 2:] + 0.5,)}, "noise": at}
        step = VectorStep(
            at, slots * 1, at[:, 2] * 10, terminals, truncations, reached, at[:, 2] == 0, valid, states
        )
        self.time[slots[valid]] += 1
        self.end(slots[terminals | truncations])
        return step

    def end(self, slots):
        self.episode[slots] += 1
        self.time[slots] = 0


class Inserted(list):
    def __call__(self, records):
        for i in range(len(records["weights"])):
            self.append({name: field[i] for name, field in records.items() if name != "beginnings"})
            self[-1]["beginnings"] = records["beginnings"]["net"]["lstm"][0][i]


def check(inserted, episodes, length, burn_in, overlap, dropped=()):
    """Every step of every episode that has ended is learned from, in the right place, as often as it should be."""
    learned, starts = Counter(), {}
    for record in inserted:
        real = record["weights"] > 0
        count = int(real.sum())
        assert real[:count].all() and not real[count:].any() and count
        slot, episode, first = record["states"][burn_in].astype(int)
        times = np.arange(first - burn_in, first - burn_in + length)
        known = (times >= 0) & (times < first + count)
        np.testing.assert_array_equal(
            record["states"][:-1][known], [[slot, episode, t] for t in times[known]]
        )
        assert record["states"][burn_in + count].tolist() == [slot, episode, first + count]
        assert not record["states"][:-1][~known & (times != first + count)].any()
        assert record["begins"].tolist() == (times == 0).tolist()
        np.testing.assert_array_equal(record["rewards"][real], 10.0 * times[burn_in:][real])
        assert not record["rewards"][~real].any()
        assert (record["actions"][real] == slot).all()
        is_last = first + count == episodes.lengths[slot, episode]
        assert not record["terminals"][: count - 1].any()
        assert record["terminals"][count - 1] == (is_last and (slot, episode) in episodes.terminal)
        assert record["beginnings"] == max(first - burn_in, 0) + 0.5
        assert count == length - burn_in or is_last
        learned.update((slot, episode, t) for t in range(first, first + count))
        starts.setdefault((slot, episode), []).append(first)
    for (slot, episode), steps in episodes.lengths.items():
        if (slot, episode) in dropped:
            continue
        assert all(learned[slot, episode, t] >= 1 for t in range(steps))
        firsts = starts[slot, episode]
        assert firsts == [k * (length - overlap) for k in range(len(firsts))]


@pytest.mark.parametrize(("length", "burn_in", "overlap"), LENGTHS)
@pytest.mark.parametrize("is_lost", [0.0, 0.2])
def test_every_step_of_every_episode_is_in_a_sequence(length, burn_in, overlap, is_lost):
    memory = SequenceReplay(sequence_length=length, burn_in=burn_in, overlap=overlap)
    inserted, episodes = Inserted(), RandomEpisodes(4, seed=length)
    writer = SequenceWriter(memory, ["net"], inserted, "float64")
    for i in range(200):
        slots = np.arange(4) if i % 3 else np.array([2, 0])
        writer.add(episodes.step(slots, is_lost), None if i % 3 else slots)
        if i == 50:  # a user resets two environments
            writer.cut([1, 3])
            episodes.end(np.array([1, 3]))
    writer.cut()
    check(inserted, episodes, length, burn_in, overlap)
    assert len(inserted) > 20


def test_what_is_dropped_is_in_no_further_sequence():
    memory = SequenceReplay(sequence_length=6, burn_in=2)
    inserted, episodes = Inserted(), RandomEpisodes(2, seed=1)
    writer = SequenceWriter(memory, ["net"], inserted, "float64")
    for _ in range(3):
        writer.add(episodes.step(np.arange(2)))
    dropped = {(slot, int(episodes.episode[slot])) for slot in range(2)}
    before = len(inserted)
    writer.drop()
    writer.cut()
    assert len(inserted) == before
    episodes.end(np.arange(2))
    for _ in range(20):
        writer.add(episodes.step(np.arange(2)))
    writer.cut()
    check(inserted, episodes, 6, 2, 2, dropped)


def test_what_waits_survives_a_copy_at_every_step():
    memory = SequenceReplay(sequence_length=6, burn_in=2, overlap=3)
    inserted, copied, episodes = Inserted(), Inserted(), RandomEpisodes(3, seed=2)
    writer, other = (SequenceWriter(memory, ["net"], found, "float64") for found in (inserted, copied))
    for _ in range(60):
        step = episodes.step(np.arange(3))
        writer.add(step)
        other.add(step)
        state = other.get_state()
        other = SequenceWriter(memory, ["net"], copied, "float64")
        other.set_state(state)
    assert len(inserted) > 10
    assert str(inserted) == str(copied)


@pytest.mark.parametrize(("steps", "is_warned"), [(3, True), (4, False)])
def test_sequences_that_no_episode_fills_are_reported_once(steps, is_warned):
    writer = SequenceWriter(SequenceReplay(sequence_length=6, burn_in=2), ["net"], Inserted(), "float64")
    state = {"net": {"lstm": (np.zeros((10, 1)),)}}
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for t in range(30 * steps):
            ends, one = np.full(10, t % steps == steps - 1), np.zeros((10, 1))
            writer.add(VectorStep(one, one, one[:, 0], ends, ends & False, one, ~ends, None, state))
    said = "memory_spec.sequence_length: none of the first 100 episodes had the 4 steps"
    assert [str(warning.message).startswith(said) for warning in found] == [True] * is_warned


# The agent.


def test_sequences_keep_the_states_of_the_network_that_acted(one_backend):
    """From zeros at the beginning of an episode, the actor's own steps lead to the stored states."""
    agent = make(
        one_backend, update_spec={"do_updates": False}, memory_spec={"sequence_length": 4, "burn_in": 1}
    )
    inserted = []
    agent.learner._own._insert = inserted.append
    agent.learn(
        60, num_envs=1, env={"type": "partially_observed", "env": "CartPole-v1", "observed": [0, 1, 2, 3]}
    )
    state, beginnings, checked = None, None, 0
    for record in inserted:
        row = {name: field[0] for name, field in record.items() if name != "beginnings"}
        held = record["beginnings"]["policy"]["lstm_1"]
        if row["begins"][1]:
            state = tuple(np.zeros((1, 6)) for _ in range(2))
        else:
            for given, expected in zip(held, beginnings, strict=True):
                np.testing.assert_allclose(given, expected, rtol=1e-6)
            checked += 1
        for t in range(1, 4):
            if t == 3:  # the next sequence begins with this step
                beginnings = state
            acted = agent.executor.execute("act_greedily", row["states"][[t]], {"policy": {"lstm_1": state}})
            state = acted["internal_states"]["policy"]["lstm_1"]
    assert checked > 5


CHAIN = {"type": "deterministic", "steps_to_terminal": 9, "reward_start": 0.0}


@pytest.mark.parametrize(
    ("kind", "env"),
    [("dqn", CHAIN), ("sac", CHAIN), ("sac", "Pendulum-v1")],
    ids=["dqn", "categories", "floats"],
)
def test_a_run_continues_with_half_built_sequences(one_backend, kind, env, tmp_path):
    """In the middle of sequences of three environments, with updates before and after."""
    backend = one_backend
    agent = make(backend, kind, env)
    agent.learn(63, num_envs=3)
    agent.store_model(tmp_path / "model")
    other = make(backend, kind, env)
    other.load_model(tmp_path / "model")
    for each in (agent, other):
        each.learn(90, num_envs=3)
    assert agent.updates == other.updates == 7
    first, second = agent.get_weights(), other.get_weights()
    assert all(np.array_equal(first[name], second[name]) for name in first)


class OneLegalAction(Episodes):
    """One of three actions is legal, another one in each step; states are far from 0."""

    def __init__(self):
        states = Dict({"observation": FloatBox(shape=(2,)), "action_mask": BoolBox(shape=(3,))})
        super().__init__(states, IntBox(3), length=7)
        self.illegal = 0

    def state(self):
        seen = np.array([100.0 + self.steps, -50.0], np.float32)
        return {"observation": seen, "action_mask": np.arange(3) == self.steps % 3}

    def step(self, action):
        self.illegal += action != self.steps % 3
        return super().step(action)


@pytest.mark.parametrize("kind", ["dqn", "sac"])
def test_masks_and_statistics_beside_memory(one_backend, kind):
    env = OneLegalAction()
    agent = make(one_backend, kind, env, normalize_states=True, scale_rewards=True)
    agent.learn(100, num_envs=1, env=env)
    assert agent.updates == 5
    assert env.illegal == 0
    values = agent.get_weights()
    assert all(np.isfinite(value).all() for value in values.values() if value.dtype.kind == "f")
