"""Learning from data sets, without steps of one's own."""

import zipfile

import numpy as np
import pytest
from doubles import memory

from rlgraph.agents import Agent
from rlgraph.agents.conformance.tasks import CueTask
from rlgraph.core import InputError, SpecError
from rlgraph.experience.data_sets import FIELDS, DataSetReader, RecordedEpisode, write_data_set
from rlgraph.spaces import FloatBox, IntBox
from rlgraph.workers import SingleThreadedWorker

ACTIONS = IntBox(2)


def cues(rng, steps, states=CueTask.STATES):
    """States of `CueTask`, and the cues that they show."""
    shown = rng.integers(2, size=steps + 1)
    observations = np.zeros((steps + 1, *states.shape), np.float32)
    observations[:, 0], observations[:, 1] = 2.0 * shown - 1.0, 1.0 - 2.0 * shown
    return observations, shown


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """100 episodes of random answers to cues, and 100 of right ones: 800 steps."""
    rng, files = np.random.default_rng(0), {}
    for name in ("random", "right"):
        episodes = []
        for _ in range(100):
            observations, shown = cues(rng, 4)
            actions = shown[:-1] if name == "right" else rng.integers(2, size=4)
            ends = np.arange(4) == 3
            rewards = (actions == shown[:-1]).astype(np.float32)
            episodes.append(RecordedEpisode(observations, actions, rewards, ends, ~ends & False))
        file = tmp_path_factory.mktemp("data") / f"{name}.npz"
        files[name] = write_data_set(file, episodes, CueTask.STATES, ACTIONS)
    return files


def agent_of(kind, backend="torch", **options):
    spec = {"type": kind, "network_spec": [16], "optimizer_spec": {"learning_rate": 0.01}, **options}
    return Agent.from_spec(spec, state_space=CueTask.STATES, action_space=ACTIONS, backend=backend, seed=1)


def right_answers(agent):
    observations, shown = cues(np.random.default_rng(7), 500)
    return np.mean(agent.get_actions(observations, use_exploration=False) == shown)


@pytest.mark.parametrize(("kind", "name"), [("bc", "right"), ("dqn", "random"), ("sac", "random")])
def test_agents_learn_from_data(one_backend, data, kind, name):
    agent = agent_of(kind, one_backend, **({"discount": 0.0} if kind != "bc" else {}))
    result = agent.learn(updates=200, data=data[name])
    assert right_answers(agent) == 1.0
    assert (result.updates, result.timesteps, result.episodes, agent.timesteps) == (200, 0, 0, 0)
    assert agent.learn(updates=2).updates == 2  # from what is there
    assert agent.updates == 202 and float(agent.learner.progress) == 1.0


def test_the_loss_of_bc_is_the_mean_negative_log_likelihood(one_backend):
    agent = agent_of("bc", one_backend, update_spec={"batch_size": 3})
    states, actions = np.eye(3, 4, dtype=np.float32), np.array([0, 1, 1])
    greedy = {name: np.zeros_like(x) for name, x in agent.get_weights().items() if x.dtype.kind == "f"}
    agent.set_weights(greedy)  # both actions are as likely everywhere
    given = {"rewards": np.zeros(3), "terminals": np.ones(3, bool), "next_states": states}
    results = agent.update({"states": states, "actions": actions, **given})
    assert results["loss"] == pytest.approx(np.log(2.0), rel=1e-6)


def test_transitions_of_n_steps_end_with_their_episodes(tmp_path):
    observations = np.arange(5.0, dtype=np.float32)[:, None]
    first = RecordedEpisode(
        observations, np.zeros(4, int), np.array([1.0, 2.0, 4.0, 8.0]), np.arange(4) == 3, np.zeros(4, bool)
    )
    second = first._replace(observations=observations + 10.0, terminals=np.zeros(4, bool))  # cut
    file = write_data_set(tmp_path / "a.npz", [first, second], FloatBox(shape=(1,)), ACTIONS)
    agent = Agent.from_spec(
        {"type": "dqn", "n_step": 3, "discount": 0.5, "memory_spec": {"capacity": 8}},
        state_space=FloatBox(shape=(1,)),
        action_space=ACTIONS,
        backend="numpy",
    )
    assert agent.import_observations(str(file)) == 8
    rows = memory(agent)
    order = np.argsort(rows["states"][:, 0])
    found = {name: column[order].ravel() for name, column in rows.items()}
    np.testing.assert_array_equal(found["states"], [0, 1, 2, 3, 10, 11, 12, 13])
    np.testing.assert_array_equal(found["next_states"], [3, 4, 4, 4, 13, 14, 14, 14])
    np.testing.assert_array_equal(found["rewards"], [3.0, 6.0, 8.0, 8.0] * 2)
    np.testing.assert_array_equal(found["discounts"], [0.125, 0.125, 0.25, 0.5] * 2)
    np.testing.assert_array_equal(found["terminals"], [0, 1, 1, 1, 0, 0, 0, 0])


def test_targets_follow_by_the_steps_that_updates_stand_for(one_backend, data, tmp_path):
    agent = agent_of("dqn", one_backend, sync_interval=20, update_spec={"update_interval": 4})
    agent.import_observations(data["random"])
    name, synchronized = "dqn/policy/value/weights", []
    for _ in range(10):
        agent.learn(updates=1)
        weights = agent.get_weights()
        synchronized.append(np.array_equal(weights[name], weights["dqn/target-policy/policy/value/weights"]))
    assert synchronized == ([False] * 4 + [True]) * 2
    other = agent_of("dqn", one_backend, sync_interval=20, update_spec={"update_interval": 4})
    other.load_model(agent.store_model(tmp_path / "model"))
    assert other.progress_facts()["learner"] == agent.progress_facts()["learner"]


def test_schedules_run_over_the_updates(data, monkeypatch):
    agent, seen = agent_of("dqn", "numpy"), []
    monkeypatch.setattr(agent.learner, "update", lambda offline: seen.append(float(agent.learner.progress)))
    agent.learn(updates=4, data=data["right"])
    assert seen == [0.0, 0.25, 0.5, 0.75] and float(agent.learner.progress) == 1.0


def test_recurrent_networks_learn_from_sequences_with_the_states_before_them(one_backend, data):
    layers = [{"type": "lstm", "units": 4}]
    sequences = {"sequence_length": 3, "burn_in": 1, "capacity": 2000}
    options = {"memory_spec": sequences, "previous_action_and_reward": True}
    agent = agent_of("dqn", one_backend, network_spec=layers, **options)
    agent.import_observations(data["random"])
    rows = memory(agent)
    begins = np.flatnonzero(rows["begins"].any(axis=1))
    beginnings = next(rows[name] for name in rows if name.startswith("beginnings"))
    # An episode of 4 steps is in two sequences: the first burns in padding, the second its step 1.
    np.testing.assert_array_equal(np.diff(begins), 2)
    assert not beginnings[begins].any() and beginnings[begins + 1].any(axis=1).all()
    previous = rows["states/previous"][begins + 1]
    actions, rewards = rows["actions"][begins], rows["rewards"][begins]
    np.testing.assert_array_equal(previous[:, 0, :2], np.eye(2)[actions[:, 0]])
    np.testing.assert_array_equal(previous[:, 0, 2], rewards[:, 0])
    agent.learn(updates=3)
    assert agent.updates == 3


def test_statistics_are_those_of_the_data(one_backend, data):
    agent = agent_of("bc", one_backend, normalize_states=True)
    agent.learn(updates=1, data=data["right"])
    episodes = DataSetReader(CueTask.STATES, ACTIONS, "float64").read(data["right"])
    seen = np.concatenate([one.observations[:-1] for one in episodes])
    weights = agent.get_weights()
    (mean,) = (x for name, x in weights.items() if "mean" in name)
    np.testing.assert_allclose(mean, seen.mean(axis=0), atol=1e-6)


def test_of_a_file_that_is_large_in_memory_only_headers_are_read(tmp_path):
    steps, file = 300_000_000, tmp_path / "large.npz"
    kinds = {"observations": "<f4", "actions": "<i8", "rewards": "<f4", "terminations": "|b1"}
    with zipfile.ZipFile(file, "w") as archive:
        for field, dtype in {**kinds, "truncations": "|b1"}.items():
            shape = (steps + 1, 4) if field == "observations" else (steps,)
            with archive.open(f"episode_0/{field}.npy", "w") as member:
                header = {"descr": dtype, "fortran_order": False, "shape": shape}
                np.lib.format.write_array_header_1_0(member, header)  # its content would not be there
    agent = agent_of("dqn", "numpy", memory_spec={"capacity": 1000})
    with pytest.raises(InputError, match="300000000 steps, and the memory keeps 1000: give memory_spec"):
        agent.import_observations(file)


def test_data_that_is_larger_than_the_memory_is_refused(data):
    agent = agent_of("dqn", "numpy", memory_spec={"capacity": 399})
    with pytest.raises(InputError, match=r"400 steps, and the memory keeps 399: give memory_spec"):
        agent.import_observations(data["right"])
    assert agent.executor.execute("get_memory_size") == 0
    memory = {"sequence_length": 3, "burn_in": 1, "capacity": 399}
    agent = agent_of("dqn", "numpy", network_spec=[{"type": "lstm", "units": 4}], memory_spec=memory)
    with pytest.raises(InputError, match="400 steps, and the memory keeps 398"):
        agent.import_observations(data["right"])


@pytest.mark.parametrize("kind", ["bc", "dqn"])
def test_steps_that_are_more_than_the_memory_keeps_are_refused(kind):
    observations, shown = cues(np.random.default_rng(0), 20)
    steps = {
        "states": observations[:-1],
        "actions": shown[:-1],
        "rewards": np.ones(20),
        "terminals": np.ones(20, bool),
        "next_states": observations[1:],
    }
    agent = agent_of(kind, "numpy", memory_spec={"capacity": 19})
    with pytest.raises(InputError, match='import_observations: .* 20 steps, .* keeps 19: .*"capacity": 20'):
        agent.import_observations(steps)
    assert agent.executor.execute("get_memory_size") == 0


def test_sequences_of_episodes_of_all_lengths_have_room(tmp_path):
    """Each sequence takes all of its own steps in the memory: padding, and what it shares with another one."""
    rng, lengths = np.random.default_rng(0), range(1, 14)
    recorded = []
    for steps in lengths:
        observations, shown = cues(rng, steps)
        flags = np.zeros((2, steps), bool)
        recorded.append(RecordedEpisode(observations, shown[:-1], np.ones(steps, np.float32), *flags))
    file = write_data_set(tmp_path / "a.npz", recorded, CueTask.STATES, ACTIONS)
    # By length: 1 to 4 steps are one sequence, and each two further ones begin another.
    wanted = 4 * sum(1 + max(0, (steps - 3) // 2) for steps in lengths)
    memory = {"sequence_length": 5, "burn_in": 1, "overlap": 3}
    options = {"kind": "dqn", "backend": "numpy", "network_spec": [{"type": "lstm", "units": 4}]}
    small = agent_of(**options, memory_spec={**memory, "capacity": wanted - 4})
    with pytest.raises(InputError, match=f'has 91 steps, .* give memory_spec {{"capacity": {wanted}}}'):
        small.import_observations(file)
    agent = agent_of(**options, memory_spec={**memory, "capacity": wanted})
    agent.import_observations(file)
    assert agent.executor.execute("get_memory_size") == wanted // 4


@pytest.mark.parametrize("kind", ["bc", "iql", "dqfd", "dqn"])
def test_bad_data_is_refused_before_anything_is_taken_in(kind, tmp_path, data):
    (tmp_path / "a.npz").write_bytes(data["right"].read_bytes())
    rng = np.random.default_rng(0)
    observations, shown = cues(rng, 2)
    bad = (observations, shown[:-1], np.array([0.0, np.nan]), *np.zeros((2, 2), bool))
    np.savez(tmp_path / "b.npz", **{f"episode_0/{name}": x for name, x in zip(FIELDS, bad, strict=True)})
    agent = agent_of(kind, "numpy")
    with pytest.raises(InputError, match=r"b\.npz, episode_0, step 1: rewards: nan"):
        agent.learn(updates=1, data=tmp_path)
    assert agent.executor.execute("get_memory_size") == 0 and agent.updates == 0


@pytest.mark.parametrize("kind", ["dqfd", "dqn"])
def test_steps_of_a_cut_episode_are_not_joined_with_those_of_the_next(kind):
    agent = agent_of(kind, "numpy", n_step=3)
    states = np.arange(24.0, dtype=np.float32).reshape(6, 4)
    steps = {
        "states": states,
        "next_states": states + 4.0,
        "actions": np.zeros(6, int),
        "rewards": np.ones(6),
    }
    steps["terminals"] = np.arange(6) == 5
    steps["next_states"][2] += 1.0  # where the episode was cut, another state was reached
    expected = (
        "import_observations: expected next_states of row 2 to be the states of row 3, since row 2 ends no"
    )
    with pytest.raises(InputError, match=expected):
        agent.import_observations(steps)
    assert agent.executor.execute("get_memory_size") == 0
    assert agent.import_observations({**steps, "sequence_indices": [2]}) == 6
    assert agent.import_observations({**steps, "truncations": np.arange(6) == 2}) == 6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "expected either timesteps or updates, given neither"),
        ({"timesteps": 1, "updates": 1}, "expected either timesteps, .* given both"),
        ({"timesteps": 1, "data": "a.npz"}, "expected updates beside data, given timesteps"),
        ({"updates": 0}, "learn.updates: expected an integer >= 1, given 0"),
        ({"updates": 1, "env": "CartPole-v1"}, "learn.env: expected None beside updates"),
        ({"updates": 1, "folder": "runs/x"}, "learn.folder: expected None beside updates"),
    ],
)
def test_arguments_that_contradict_each_other_are_refused(arguments, message):
    with pytest.raises(SpecError, match=message):
        agent_of("dqn", "numpy").learn(**arguments)


def test_steps_in_a_list_are_refused_where_whole_episodes_are_needed():
    agent = agent_of("dqn", "numpy", normalize_states=True)
    state = CueTask.STATES.sample()
    step = {"states": state, "actions": 0, "rewards": 1.0, "terminals": False, "next_states": state}
    with pytest.raises(
        InputError, match="expected the file of a data set, since normalize_states, .* given steps"
    ):
        agent.import_observations([step])
    assert agent_of("dqn", "numpy").import_observations([step]) == 1


def test_agents_that_cannot_learn_so_say_what_to_do(one_backend):
    ppo = Agent.from_spec("ppo", state_space=CueTask.STATES, action_space=ACTIONS, backend="numpy")
    with pytest.raises(
        SpecError, match="learn.updates: expected an agent with a memory, .* given a PPOAgent"
    ):
        ppo.learn(updates=1)
    bc = agent_of("bc", one_backend)
    worker = SingleThreadedWorker(bc, "CartPole-v1")
    for learn in (
        lambda: bc.learn(10, env="CartPole-v1"),
        lambda: worker.execute_timesteps(10),
        lambda: worker.execute_episodes(1),
    ):
        with pytest.raises(SpecError, match=r"learns from a data set, .* give learn\(updates=N, data=FILE\)"):
            learn()
    with pytest.raises(SpecError, match="expected layers without memory"):
        agent_of("bc", "numpy", network_spec=[{"type": "lstm", "units": 4}])
