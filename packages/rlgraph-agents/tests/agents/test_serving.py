"""Actor handles: many clients of one trained policy, each with state of its own, on NumPy."""

import threading

import numpy as np
import pytest

from rlgraph.agents import ActorHandle, Agent
from rlgraph.components import Dense
from rlgraph.core import CheckpointError, InputError
from rlgraph.core.checkpoint.tensor_file import TensorFile
from rlgraph.learning.actor import Actor
from rlgraph.runs import train
from rlgraph.spaces import Dict, FloatBox, IntBox

DENSE = {"type": "dense", "units": 6, "activation": "tanh"}
SPACES = {"state_space": FloatBox(shape=(3,)), "action_space": FloatBox(-2.0, 2.0, shape=(2,))}
#: A policy that remembers in both ways: two frames in the stack, and a recurrent network.
REMEMBERS = {
    "type": "ppo",
    "preprocessing_spec": [{"type": "sequence", "sequence_length": 2}, {"type": "reshape", "flatten": True}],
    "network_spec": [DENSE, {"type": "lstm", "units": 4}],
}
PLAIN = {"type": "ppo", "network_spec": [DENSE]}
STATES = np.random.default_rng(5).normal(size=(6, 2, 3)).astype(np.float32)


def make(spec=PLAIN, **spaces):
    """An agent on NumPy with weights that differ from those of another seed and from starting values."""
    agent = Agent.from_spec(spec, backend="numpy", seed=4, **(spaces or SPACES))
    rng = np.random.default_rng(9)
    agent.set_weights(
        {
            n: w + rng.normal(scale=0.3, size=w.shape)
            for n, w in agent.get_weights().items()
            if w.dtype == np.float32
        }
    )
    return agent


@pytest.fixture(scope="module")
def remembering():
    return make(REMEMBERS)


def alone(agent, states):
    """The greedy actions of one environment, by the agent's own slots."""
    agent.reset()
    return [agent.get_actions(state, use_exploration=False) for state in states]


# Acting.


def test_interleaved_clients_act_as_two_alone(remembering):
    handle = ActorHandle.of(remembering)
    with handle.begin() as one, handle.begin() as other:
        actions = [(one.act(a), other.act(b)) for a, b in STATES]
    np.testing.assert_allclose([a for a, _ in actions], alone(remembering, STATES[:, 0]), atol=1e-6)
    np.testing.assert_allclose([b for _, b in actions], alone(remembering, STATES[:, 1]), atol=1e-6)
    # The slot's next client remembers nothing of those.
    with handle.begin() as third:
        np.testing.assert_array_equal(third.act(STATES[0, 1]), actions[0][1])


def test_several_clients_in_one_call(remembering):
    handle = ActorHandle.of(remembering)
    one, other = handle.begin(), handle.begin()
    actions = [handle.act(STATES[0], [one, other])]
    actions.append([one.act(STATES[1, 0]), other.act(STATES[1, 1])])
    actions += [handle.act(pair[::-1], [other, one])[::-1] for pair in STATES[2:]]
    for i in range(2):
        expected = alone(remembering, STATES[:, i])
        np.testing.assert_allclose([step[i] for step in actions], expected, atol=1e-6)


def test_each_slot_draws_from_a_stream_of_its_own():
    handle, another = (ActorHandle.of(make()) for _ in range(2))
    clients = handle.begin(), handle.begin()
    drawn = [[client.act(STATES[0, 0], use_exploration=True) for client in clients] for _ in range(4)]
    assert len(np.unique(drawn)) == 16
    for i in range(2):
        client = another.begin()
        again = [client.act(STATES[0, 0], use_exploration=True) for _ in range(4)]
        np.testing.assert_array_equal(again, [step[i] for step in drawn])
    # The slot's next client continues the stream.
    client.end()
    assert not np.isin(another.begin().act(STATES[0, 0], use_exploration=True), again).any()
    shared = another.act(STATES[[0, 0], 0], [another.begin(), another.begin()], use_exploration=True)
    assert len(np.unique(shared)) == 4


def test_containers():
    spaces = {
        "state_space": Dict(a=FloatBox(shape=(2,)), b=IntBox(3)),
        "action_space": Dict(x=IntBox(4), y=FloatBox(-1.0, 1.0)),
    }
    agent = make({"type": "ppo"}, **spaces)
    client = ActorHandle.of(agent).begin()
    state = {"a": [0.5, 2.0], "b": 1}
    action, expected = client.act(state), agent.get_actions(state, False)
    assert action.keys() == {"x", "y"} and action["x"] == expected["x"]
    np.testing.assert_allclose(action["y"], expected["y"], rtol=1e-6)
    with pytest.raises(InputError, match="'b'"):
        client.act({"a": [0.5, 2.0]})


def test_layers_that_learn_are_frozen():
    spec = {"type": "dqn", "preprocessing_spec": [{"type": "moving_standardize"}], "network_spec": [DENSE]}
    agent = make(spec, state_space=SPACES["state_space"], action_space=IntBox(5))
    handle = ActorHandle.of(agent)
    client, states = handle.begin(), STATES.reshape(-1, 3) * 10
    actions = [int(client.act(state)) for state in states]
    assert actions == [int(client.act(state)) for state in states]
    assert actions == agent.get_actions(states, False).tolist() and len(set(actions)) > 1


# Weights.


def test_new_weights_are_swapped_in():
    agent = make(REMEMBERS)
    handle = ActorHandle.of(agent)
    client = handle.begin()
    before = client.act(STATES[0, 0])
    agent.set_weights({name: value * 0.5 for name, value in agent.get_weights().items()})
    agent.learner.version = 7
    assert handle.version == 0
    np.testing.assert_array_equal(handle.begin().act(STATES[0, 0]), before)
    handle.set_weights(agent.learner.weights_message())
    assert handle.version == 7
    np.testing.assert_allclose(handle.begin().act(STATES[0, 0]), alone(agent, STATES[:1, 0])[0], atol=1e-6)
    with pytest.raises(InputError, match="weights: expected the layout"):
        handle.set_weights(make().learner.weights_message())


@pytest.mark.parametrize("several", [False, True])
def test_weights_do_not_change_within_a_call(monkeypatch, several):
    agent = make()
    handle = ActorHandle.of(agent)
    client = handle.begin()

    def act():
        return handle.act(STATES[0, :1], [client])[0] if several else client.act(STATES[0, 0])

    before = act()
    agent.set_weights({name: value * 0.5 for name, value in agent.get_weights().items()})
    agent.learner.version = 7
    setting = threading.Thread(target=handle.set_weights, args=(agent.learner.weights_message(),))
    preprocess = Actor.preprocess

    def preprocess_and_set(self, states, slots=None):
        seen = preprocess(self, states, slots)
        setting.start()
        setting.join(0.05)
        assert handle.version == 0
        return seen

    with monkeypatch.context() as patched:
        patched.setattr(Actor, "preprocess", preprocess_and_set)
        np.testing.assert_array_equal(act(), before)
    setting.join()
    assert handle.version == 7
    assert not np.array_equal(act(), before)


# From files.


@pytest.mark.parametrize("kind", ["ppo", "dqn", "sac"])
def test_of_a_checkpoint(tmp_path, kind, monkeypatch):
    action_space = IntBox(4) if kind == "dqn" else SPACES["action_space"]
    agent = make({"type": kind, "network_spec": [DENSE]}, **{**SPACES, "action_space": action_space})
    agent.learner.version = 12
    read, names = TensorFile.read, []
    monkeypatch.setattr(TensorFile, "read", lambda file, name: names.append(name) or read(file, name))
    handle = ActorHandle.load(agent.store_model(tmp_path / "stored"))
    assert names and all(name.startswith(f"{kind}/policy/") for name in names)
    assert handle.version == 12
    states = STATES[:, 0]
    actions = handle.act(states, [handle.begin() for _ in states])
    np.testing.assert_allclose(actions, agent.get_actions(states, False), atol=1e-6)
    agent.learner.version = 13
    handle.set_weights(agent.learner.weights_message())
    assert handle.version == 13


@pytest.mark.parametrize("way", ["load", "of"])
def test_schedules_follow_the_progress(tmp_path, way):
    epsilon = {"type": "linear", "from": 1.0, "to": 0.0}
    spec = {"type": "dqn", "network_spec": [DENSE], "exploration_spec": {"epsilon_spec": epsilon}}
    agent = make(spec, **{**SPACES, "action_space": IntBox(50)})
    explored = ActorHandle.of(agent).begin()
    greedy = explored.act(STATES[0, 0])
    assert len({int(explored.act(STATES[0, 0], use_exploration=True)) for _ in range(20)}) > 5
    agent.set_progress(1.0)
    handle = (
        ActorHandle.of(agent) if way == "of" else ActorHandle.load(agent.store_model(tmp_path / "stored"))
    )
    client = handle.begin()
    assert {int(client.act(STATES[0, 0], use_exploration=True)) for _ in range(20)} == {int(greedy)}


def test_of_a_run(tmp_path, one_backend, monkeypatch):
    document = {
        "agent": {"type": "ppo", "network_spec": [DENSE], "rollout_length": 16},
        "environment": "CartPole-v1",
        "backend": one_backend,
        "steps": 64,
        "seed": 2,
    }
    train(document, folder=tmp_path / "run")
    with monkeypatch.context() as patched:  # the Spaces are stored: no environment is made
        patched.setattr("rlgraph.learning.agent_spec.environment_spaces", None)
        handle = ActorHandle.load(tmp_path / "run")
    agent = Agent.load(tmp_path / "run")
    states = np.random.default_rng(1).normal(size=(20, 4)).astype(np.float32)
    actions = handle.act(states, [handle.begin() for _ in states])
    np.testing.assert_array_equal(actions, agent.get_actions(states, False))
    assert len(set(actions.tolist())) == 2 and handle.version == agent.updates == 4


def test_files_that_are_none(tmp_path):
    with pytest.raises(CheckpointError, match="expected a run folder"):
        ActorHandle.load(tmp_path)
    agent = Agent.from_spec(
        "dqn", network_spec=[Dense(5)], backend="numpy", **{**SPACES, "action_space": IntBox(2)}
    )
    with pytest.raises(CheckpointError, match="does not know its agent's spec"):
        ActorHandle.load(agent.store_model(tmp_path / "stored"))
    damaged = make().store_model(tmp_path / "damaged")
    file = damaged / "variables.safetensors"
    file.write_bytes(file.read_bytes()[:-1] + b"!")
    with pytest.raises(CheckpointError, match="damaged"):
        ActorHandle.load(damaged)


SERVE = """
import sys
from rlgraph.agents import ActorHandle
with ActorHandle.load(sys.argv[1]).begin() as client:
    print(client.act([0.1, 0.2, 0.3], use_exploration=True).shape)
print([name for name in ("torch", "tensorflow", "keras") if name in sys.modules])
"""


def test_no_framework_is_imported(tmp_path, python, one_backend):
    agent = Agent.from_spec(REMEMBERS, backend=one_backend, **SPACES)
    assert python("-c", SERVE, str(agent.store_model(tmp_path / "stored"))) == "(2,)\n[]\n"


# Bad input.


def test_slots_are_limited_and_freed():
    handle = ActorHandle.of(make(), clients=2)
    one, other = handle.begin(), handle.begin()
    with pytest.raises(InputError, match="begin: all 2 slots are taken: end clients"):
        handle.begin()
    one.end()
    one.end()
    third = handle.begin()
    with pytest.raises(InputError, match="all 2 slots"):
        handle.begin()
    for use in (lambda: one.act(STATES[0, 0]), lambda: handle.act(STATES[0], [third, one])):
        with pytest.raises(InputError, match="it has ended"):
            use()
    stranger = ActorHandle.of(make()).begin()
    with pytest.raises(InputError, match="of another handle"):
        handle.act(STATES[0], [third, stranger])
    assert handle.act(STATES[0], [third, other]).shape == (2, 2)


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (np.zeros(4), r"act: argument states: expected float32\[B, 3\], given float64\[1, 4\]"),
        (np.zeros((2, 3)), "a client takes one state, the handle a batch"),
        ([0.0, np.nan, 1.0], r"expected finite numbers, given nan at \[1\] of row 0"),
        (["a", "b", "c"], r"expected float32\[B, 3\]"),
        ([[1.0], [2.0, 3.0]], "expected an array"),
    ],
)
def test_a_state_that_does_not_fit_changes_nothing(remembering, state, said):
    handle = ActorHandle.of(remembering)
    client, untouched = handle.begin(), handle.begin()
    for each in (client, untouched):
        each.act(STATES[0, 0])
    with pytest.raises(InputError, match=said):
        client.act(state)
    with pytest.raises(InputError, match="act: argument states: |act: the states"):
        handle.act([state, state], [client, untouched])
    with pytest.raises(InputError, match="expected 1 states, one per client, given 2"):
        handle.act(STATES[1], [client])
    np.testing.assert_array_equal(client.act(STATES[1, 0]), untouched.act(STATES[1, 0]))


def test_a_client_belongs_to_one_thread_at_a_time(remembering):
    handle = ActorHandle.of(remembering)
    client, said = handle.begin(), []

    class State:
        """Lets another thread use the client while this one acts."""

        def __array__(self, dtype=None, copy=None):
            thread = threading.Thread(target=use)
            thread.start()
            thread.join()
            return STATES[0, 0]

    def use():
        for call in (lambda: client.act(STATES[0, 0]), client.end):
            with pytest.raises(InputError) as error:
                call()
            said.append(str(error.value))

    client.act(State())
    assert len(said) == 2 and all("it is in use" in text for text in said)
    with pytest.raises(InputError, match="it is in use"):
        handle.act(STATES[0], [client, client])
    client.act(STATES[0, 0])


def test_many_threads(remembering):
    handle, found = ActorHandle.of(remembering), {}

    def serve(number):
        with handle.begin() as client:
            found[number] = [client.act(state) for state in STATES[:, number % 2]]

    threads = [threading.Thread(target=serve, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, actions in found.items():
        np.testing.assert_allclose(actions, alone(remembering, STATES[:, number % 2]), atol=1e-6)
    assert len(found) == 6
