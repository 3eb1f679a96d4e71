"""Data sets: what is written is read, and what is wrong is named by file, episode and step."""

from contextlib import suppress
from functools import partial

import h5py
import numpy as np
import pytest
from doubles import Episodes

from rlgraph.agents import Agent
from rlgraph.agents.conformance.tasks import CueTask
from rlgraph.core import InputError, SpecError
from rlgraph.environments import EnvironmentFault, make_vector_env
from rlgraph.environments.masked_states import masked_states
from rlgraph.experience.data_sets import DataSetReader, RecordedEpisode, write_data_set
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, Tuple
from rlgraph.workers import record_data_set

STATES = Dict({"place": Tuple(FloatBox(shape=(2,)), IntBox(4)), "lamp": BoolBox()})
ACTIONS = Dict({"turn": FloatBox(-1.0, 1.0), "gear": IntBox(3)})


def episode(steps=3, **changes):
    """The arrays of an episode of this task, by path in the file."""
    arrays = {
        "observations/place/_index_0": np.arange(2.0 * steps + 2).reshape(-1, 2),
        "observations/place/_index_1": np.arange(steps + 1) % 4,
        "observations/lamp": np.arange(steps + 1) % 2,  # bools are often stored as integers
        "actions/turn": np.linspace(-1.0, 1.0, steps),
        "actions/gear": np.arange(steps) % 3,
        "rewards": np.arange(steps) * 0.5,
        "terminations": np.arange(steps) == steps - 1,
        "truncations": np.zeros(steps, bool),
    }
    return {name: array for name, array in (arrays | changes).items() if array is not None}


def write(file, *episodes):
    arrays = {f"episode_{i}/{name}": array for i, one in enumerate(episodes) for name, array in one.items()}
    if file.suffix == ".npz":
        np.savez(file, **arrays)
    else:
        with h5py.File(file, "w") as opened:
            for name, array in arrays.items():
                opened[name] = array
    return file


def read(place, states=STATES, actions=ACTIONS):
    return DataSetReader(states, actions, "float32").read(place)


@pytest.fixture(params=[".npz", ".hdf5"])
def file(request, tmp_path):
    return tmp_path / f"data{request.param}"


def test_episodes_are_read_with_the_dtypes_of_records(file):
    first, second = read(write(file, episode(3), episode(2)))
    assert (len(first.rewards), len(second.rewards)) == (3, 2)
    places, rooms = first.observations["place"]
    np.testing.assert_array_equal(places[-1], [6.0, 7.0])
    np.testing.assert_array_equal(rooms, [0, 1, 2, 3])
    np.testing.assert_array_equal(first.observations["lamp"], [False, True, False, True])
    np.testing.assert_array_equal(first.actions["gear"], [0, 1, 2])
    assert places.dtype == first.rewards.dtype == np.float32 and first.observations["lamp"].dtype == bool
    np.testing.assert_array_equal(first.terminals, [False, False, True])
    assert not first.truncations.any()


def test_episodes_are_in_the_order_of_their_numbers_and_files_in_that_of_their_names(tmp_path):
    (tmp_path / "data").mkdir()
    many = [episode(1, rewards=np.array([float(i)])) for i in range(11)]
    write(tmp_path / "data" / "b.hdf5", *many)
    write(tmp_path / "data" / "a.npz", episode(1, rewards=np.array([-1.0])))
    assert [one.rewards[0] for one in read(tmp_path)] == [-1.0, *range(11)]


def test_an_episode_that_ends_without_a_flag_was_cut(file):
    (cut,) = read(write(file, episode(terminations=np.zeros(3, bool))))
    np.testing.assert_array_equal(cut.truncations, [False, False, True])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rewards": None}, "episode_1: the field rewards is missing"),
        ({"actions/gear": None}, "episode_1: the field actions/gear is missing"),
        ({"rewards": np.array([0.0, np.nan, 0.0])}, "episode_1, step 1: rewards: nan"),
        ({"observations/place/_index_0": np.full((4, 2), np.inf)}, r"step 0: observations.place.0: inf"),
        (
            {"observations/place/_index_1": np.array([0, 1, 2, 4])},
            r"step 3: observations.place.1: 4 is not in",
        ),
        ({"actions/turn": np.array([0.0, 0.0, 1.5])}, "step 2: actions.turn: 1.5 is not in"),
        ({"actions/gear": np.zeros(3)}, r"actions.gear: expected int\d+\[T\] .* given float64\[3\]"),
        ({"actions/gear": np.zeros(2, int)}, "expected 3 actions.gear beside 3 rewards, given 2"),
        ({"observations/lamp": np.zeros(3, bool)}, "expected 4 observations.lamp beside 3 rewards"),
        ({"observations/place/_index_0": np.zeros((4, 3))}, r"expected float32\[T, 2\]"),
        ({"rewards": np.zeros((3, 1))}, r"rewards: expected float32\[T\] .* given float64\[3, 1\]"),
        ({"rewards": np.array([0.0, 1e300, 0.0])}, r"episode_1, step 1: rewards: 1e\+300 is not in"),
        ({"terminations": np.array(True)}, r"terminations: expected bool\[T\] .* given bool\[\]"),
        ({"truncations": np.array([False, True, False])}, "episode_1, step 1: the episode ended here"),
    ],
)
def test_what_is_wrong_is_named_by_file_episode_and_step(file, changes, message):
    write(file, episode(), episode(3, **changes))
    with pytest.raises(InputError, match=message) as error:
        read(file)
    assert str(file) in str(error.value)


def test_empty_files_episodes_and_folders_are_refused(tmp_path):
    nothing = {name: array[:0] for name, array in episode().items()}
    for file in (tmp_path / "a.npz", tmp_path / "a.h5"):
        with pytest.raises(InputError, match="expected at least one step"):
            read(write(file, nothing))
        with pytest.raises(InputError, match="expected episodes, .* given none"):
            read(write(file))
        file.write_bytes(b"no data set")
        with pytest.raises(InputError, match="the file cannot be read"):
            read(file)
        file.unlink()
        with pytest.raises(InputError, match="does not exist: expected a file"):
            read(file)
    with pytest.raises(InputError, match="expected files .* in the folder, given none"):
        read(tmp_path)


@pytest.mark.parametrize("suffix", ["npz", "h5"])
def test_a_damaged_file_is_read_or_refused(suffix, tmp_path):
    """Whatever the library raises that reads it."""
    rng = np.random.default_rng(1)
    whole = write(tmp_path / f"whole.{suffix}", episode()).read_bytes()
    file = tmp_path / f"damaged.{suffix}"
    for _ in range(60):
        damaged = bytearray(whole)
        for place in rng.integers(len(damaged), size=3):
            damaged[place] ^= 1 << rng.integers(8)
        file.write_bytes(damaged[: rng.integers(len(damaged))] if rng.random() < 0.3 else damaged)
        with suppress(InputError):
            read(file)


class Bomb:
    def __reduce__(self):
        return pytest.fail, ("a file was unpickled",)


def test_nothing_is_unpickled_and_no_link_is_followed(tmp_path):
    write(tmp_path / "a.npz", episode(rewards=np.array([Bomb()] * 3, object)))
    with pytest.raises(InputError, match="cannot be read"):
        read(tmp_path / "a.npz")
    write(tmp_path / "other.h5", episode())
    with h5py.File(write(tmp_path / "a.h5", episode(rewards=None)), "a") as opened:
        opened["episode_0/rewards"] = h5py.ExternalLink(str(tmp_path / "other.h5"), "episode_0/rewards")
    (tmp_path / "bytes").write_bytes(np.zeros(3).tobytes())
    with h5py.File(write(tmp_path / "b.h5", episode(rewards=None)), "a") as opened:
        outside = [(str(tmp_path / "bytes"), 0, 24)]
        opened.create_dataset("episode_0/rewards", (3,), "f8", external=outside)
    with h5py.File(write(tmp_path / "c.h5", episode(rewards=None)), "a") as opened:
        layout = h5py.VirtualLayout((3,), "f8")
        layout[:] = h5py.VirtualSource(tmp_path / "other.h5", "episode_0/rewards", (3,))
        opened.create_virtual_dataset("episode_0/rewards", layout)
    for name in "abc":
        with pytest.raises(InputError, match="rewards is missing"):
            read(tmp_path / f"{name}.h5")


def test_arrays_that_were_declared_and_never_written(tmp_path):
    """5 kB of a file would be 60 GB of memory."""
    with h5py.File(write(tmp_path / "a.h5", episode(rewards=None)), "a") as opened:
        shape, chunks = (15_000_000_000,), (1_000_000,)
        opened.create_dataset("episode_0/rewards", shape, "f4", chunks=chunks, compression="gzip")
    with pytest.raises(
        InputError, match=r"rewards: expected an array that is stored, .* 60,000,000,000 bytes"
    ):
        read(tmp_path / "a.h5")


def test_arrays_that_compress_well(tmp_path):
    steps = 400_000
    with h5py.File(write(tmp_path / "a.h5", episode(steps, rewards=None)), "a") as opened:
        rewards = np.zeros(steps)
        stored = opened.create_dataset("episode_0/rewards", data=rewards, chunks=(steps,), compression=9)
        assert stored.id.get_storage_size() * 1000 < rewards.nbytes
    assert not read(tmp_path / "a.h5")[0].rewards.any()


def test_actions_that_the_mask_forbids_are_refused(tmp_path):
    states, actions = Dict(x=FloatBox(shape=(1,)), action_mask=BoolBox(shape=(2,))), IntBox(2)
    masks = np.array([[True, True], [True, False], [False, False]])  # nobody acts in the last state
    arrays = {"observations/x": np.zeros((3, 1)), "observations/action_mask": masks, "rewards": np.zeros(2)}
    arrays |= {"terminations": np.array([False, True]), "truncations": np.zeros(2, bool)}
    reader = DataSetReader(states, actions, "float32", masked_states(states, actions, "action_mask"))
    assert reader.read(write(tmp_path / "good.npz", {**arrays, "actions": np.array([1, 0])}))
    with pytest.raises(InputError, match="episode_0, step 1: expected an action that the action mask allows"):
        reader.read(write(tmp_path / "bad.npz", {**arrays, "actions": np.array([0, 1])}))


class Nested(Episodes):
    """Three steps, then the end; rewards are the actions' turns."""

    def __init__(self):
        super().__init__(STATES, ACTIONS, reward=lambda env, action: float(action["turn"]), truncates=True)

    def state(self):
        return {"place": (np.full(2, self.steps, np.float32), self.steps), "lamp": self.steps == 1}


def test_a_recorded_agent_remembers_within_episodes_only(tmp_path):
    spec = {"type": "ppo", "network_spec": [{"type": "lstm", "units": 4}], "previous_action_and_reward": True}
    agent = Agent.from_spec(spec, env=partial(CueTask, IntBox(5)), backend="numpy", seed=1)
    agent.set_weights({name: 20.0 * x for name, x in agent.get_weights().items() if x.dtype.kind == "f"})
    file = record_data_set(agent, partial(CueTask, IntBox(5)), 20, tmp_path / "a.npz", use_exploration=False)
    actor = agent.new_actor()
    for one in read(file, agent.state_space, agent.action_space):
        actor.reset()
        for t, action in enumerate(one.actions):
            assert actor.act(actor.preprocess(one.observations[t : t + 1]), False) == action
            actor.record_rewards(one.rewards[t : t + 1])


class Faulty(Nested):
    def step(self, action):
        state, _, *others = super().step(action)
        return state, np.nan, *others


def test_faults_of_environments_are_named_where_they_are_recorded(file):
    agent = Agent.from_spec("random", env=Nested, backend="numpy", seed=1)
    with pytest.raises(EnvironmentFault, match="Faulty, environment 0, step 1: the reward is nan"):
        record_data_set(agent, Faulty, 2, file)
    with pytest.raises(SpecError, match="the agent does not fit the environment"):
        record_data_set(agent, partial(CueTask, IntBox(5)), 2, file)
    with pytest.raises(SpecError, match="env: expected a single environment, given the SequentialVectorEnv"):
        record_data_set(agent, make_vector_env(Nested, 2), 2, file)
    assert not file.exists()


def test_what_an_agent_did_is_recorded(file):
    agent = Agent.from_spec("random", env=Nested, backend="numpy", seed=1)
    assert record_data_set(agent, Nested, 2, file) == file
    episodes = read(file)
    assert [len(one.rewards) for one in episodes] == [3, 3]
    for one in episodes:
        np.testing.assert_array_equal(one.observations["place"][1], [0, 1, 2, 3])
        np.testing.assert_array_equal(one.observations["lamp"], [False, True, False, False])
        np.testing.assert_allclose(one.actions["turn"], one.rewards)
        np.testing.assert_array_equal(one.truncations, [False, False, True])
    assert not np.array_equal(episodes[0].rewards, episodes[1].rewards)
    with pytest.raises(SpecError, match=r"expected a file \.npz, \.hdf5 or \.h5"):
        record_data_set(agent, Nested, 2, file.with_suffix(".csv"))
    with pytest.raises(SpecError, match="episodes: expected an integer >= 1"):
        record_data_set(agent, Nested, 0, file)


def test_a_script_is_recorded(file):
    """A function of one state; its actions are checked as those of agents are."""

    def turn(state):
        return {"turn": 0.25 * state["place"][1], "gear": 2}

    (one,) = read(record_data_set(turn, Nested, 1, file))
    np.testing.assert_allclose(one.actions["turn"], [0.0, 0.25, 0.5])
    np.testing.assert_array_equal(one.actions["gear"], [2, 2, 2])


def test_what_could_not_be_read_is_not_written(file):
    """An action outside of its Space, that the environment took; the earlier file stays."""

    def shown(action):
        actions = {"turn": np.array([action, 0.0]), "gear": np.array([0, 1])}
        places = (np.zeros((3, 2)), np.zeros(3, int))
        states = {"place": places, "lamp": np.zeros(3, bool)}
        return [RecordedEpisode(states, actions, np.zeros(2), np.arange(2) == 1, np.zeros(2, bool))]

    write_data_set(file, shown(0.5), STATES, ACTIONS)
    before = file.read_bytes()
    with pytest.raises(InputError, match=r"data\.\w+, episode_0, step 0: actions\.turn: 2\.0 is not in"):
        write_data_set(file, shown(2.0), STATES, ACTIONS)
    with pytest.raises(InputError, match="expected episodes"):
        write_data_set(file, [], STATES, ACTIONS)
    assert file.read_bytes() == before and [path.name for path in file.parent.iterdir()] == [file.name]
    (one,) = read(file)
    np.testing.assert_array_equal(one.actions["turn"], [0.5, 0.0])
