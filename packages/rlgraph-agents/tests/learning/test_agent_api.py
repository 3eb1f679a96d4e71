"""The rest of an agent's front: what it returns besides actions, preprocessing, external batches, its end."""

import json

import numpy as np
import pytest
from doubles import memory

from rlgraph.agents import ActorHandle, Agent, DQNAgent
from rlgraph.core import InputError, RLGraphError
from rlgraph.environments import RandomEnv
from rlgraph.spaces import FloatBox, IntBox
from rlgraph.workers import SingleThreadedWorker, evaluate

SPACES = {"state_space": FloatBox(shape=(3,)), "action_space": IntBox(4)}


@pytest.fixture
def states():
    return np.random.default_rng(8).normal(size=(5, 3)).astype(np.float32)


# A spec in place of the Spaces, as the README of RLgraph 0.5 has it.


def test_a_class_called_with_a_spec(tmp_path):
    file = tmp_path / "config.json"
    file.write_text(json.dumps({"type": "dqn", "update_spec": {"batch_size": 7}}))
    for spec in (str(file), file, {"update_spec": {"batch_size": 7}}):
        agent = DQNAgent(spec, **SPACES, backend="numpy")
        assert type(agent) is DQNAgent
        assert agent.learner.experience.updates.batch_size == 7
        assert agent.state_space == SPACES["state_space"]
    assert type(Agent({"type": "dqn"}, **SPACES, backend="numpy")) is DQNAgent
    assert type(DQNAgent(*SPACES.values(), backend="numpy")) is DQNAgent


# Extra returns.


def test_one_extra_and_several(make_agent, states):
    agent = make_agent("numpy", exploration_spec={"epsilon_spec": 0.0})
    actions, seen = agent.get_actions(states, extra_returns="preprocessed_states")
    np.testing.assert_array_equal(seen, states)
    also, extras = agent.get_actions(states, extra_returns=["q_values", "preprocessed_states"])
    np.testing.assert_array_equal(also, actions)
    np.testing.assert_array_equal(extras["q_values"].argmax(axis=1), actions)
    assert sorted(extras) == ["preprocessed_states", "q_values"]
    action, q_values = agent.get_action(states[2], extra_returns="q_values")
    assert (action, q_values.shape) == (actions[2], (4,))
    with pytest.raises(InputError, match=r"extra_returns: there is no 'q_value'\. Did you mean 'q_values'"):
        agent.get_actions(states, extra_returns="q_value")


# Preprocessing.

DIVIDE = [{"type": "divide", "divisor": 10.0}]
SEQUENCE = [
    {"type": "sequence", "sequence_length": 2, "add_rank": True},
    {"type": "reshape", "flatten": True},
]


@pytest.mark.parametrize("acting", ["numpy", "backend"])
def test_without_state_raw_states_are_acted_on_at_once(make_agent, backend, acting, states):
    agent = make_agent(backend, preprocessing_spec=DIVIDE, acting=acting)
    seen = agent.preprocess_states(states)
    np.testing.assert_allclose(seen, states / 10, rtol=1e-6)
    np.testing.assert_allclose(agent.preprocess_states(states[1]), states[1] / 10, rtol=1e-6)
    raw = agent.get_actions(states, use_exploration=False)
    np.testing.assert_array_equal(raw, agent.get_actions(seen, False, apply_preprocessing=False))
    q_values = agent.call_api_method("get_q_values", states / np.float32(10))
    np.testing.assert_array_equal(raw, q_values.argmax(axis=1))
    also, extras = agent.get_actions(states, False, extra_returns=["q_values", "preprocessed_states"])
    np.testing.assert_array_equal(also, raw)
    np.testing.assert_allclose(extras["q_values"], q_values, rtol=1e-5, atol=1e-6)


def test_the_memory_sees_preprocessed_states(make_agent, make_batch):
    agent, batch = make_agent("numpy", preprocessing_spec=DIVIDE), make_batch(4)
    agent.observe(**batch, batched=True)
    states, next_states = batch.pop("states"), batch.pop("next_states")
    agent.observe(
        **batch, preprocessed_states=states / 10, next_states=next_states / 10, batched=True
    )  # of one kind
    batch = {name: values[0] for name, values in batch.items()}
    agent.observe(**batch, preprocessed_states=states[0] / 10, next_states=next_states[0])  # the README's way
    rows = memory(agent)
    np.testing.assert_allclose(rows["states"], np.concatenate([states, states, states[:1]]) / 10, rtol=1e-5)
    np.testing.assert_allclose(
        rows["next_states"], np.concatenate([next_states, next_states, next_states[:1]]) / 10, rtol=1e-5
    )


def test_a_preprocessor_with_state_keeps_environments_apart(make_agent, states):
    agent = make_agent("numpy", preprocessing_spec=SEQUENCE)
    first = agent.preprocess_states(states[:2])
    np.testing.assert_array_equal(first, np.stack([np.repeat(states[:2], 2, 0)[::2]] * 2, -1).reshape(2, 6))
    second = agent.preprocess_states(states[2:4])
    np.testing.assert_array_equal(second, np.stack([states[:2], states[2:4]], axis=-1).reshape(2, 6))
    agent.reset(0)
    third = agent.preprocess_states(states[[4, 4]])
    np.testing.assert_array_equal(third[0], np.stack([states[4]] * 2, -1).ravel())
    np.testing.assert_array_equal(third[1], np.stack([states[3], states[4]], -1).ravel())


def test_the_documents_loop_with_a_preprocessor_with_state(make_agent):
    """Raw next states are not shown to it twice; the next step completes the record, a truncation by itself."""
    agent = make_agent("numpy", preprocessing_spec=SEQUENCE)
    states = np.arange(7, dtype=np.float32)[:, None].repeat(3, axis=1)
    for t in range(6):
        action, seen = agent.get_action(states[t], extra_returns="preprocessed_states")
        agent.observe(
            preprocessed_states=seen,
            actions=action,
            internals=[],
            rewards=1.0,
            terminals=t == 2,
            next_states=states[t + 1],
            truncations=t == 5,
        )
    rows = memory(agent)
    assert [row[:2].tolist() for row in rows["states"]] == [[0, 0], [0, 1], [1, 2], [3, 3], [3, 4], [4, 5]]
    nexts = [row[:2].tolist() for row in rows["next_states"]]
    assert nexts[:2] + nexts[3:] == [[0, 1], [1, 2], [3, 4], [4, 5], [5, 6]]
    np.testing.assert_array_equal(agent.preprocess_states(states[0])[:2], [0, 0])  # it was reset


def test_raw_states_would_be_shown_twice(make_agent, make_batch):
    agent = make_agent("numpy", preprocessing_spec=SEQUENCE)
    with pytest.raises(
        InputError, match="observe: the preprocessor remembers states.*give preprocessed_states"
    ):
        agent.observe(**make_batch(2), batched=True)


def test_slots_are_part_of_a_checkpoint(make_agent, states, tmp_path):
    first, second = (make_agent("numpy", preprocessing_spec=SEQUENCE) for _ in range(2))
    first.preprocess_states(states[:2], env_id=["b", "a"])
    second.load_model(first.store_model(tmp_path / "model"))
    for agent in (first, second):
        agent.reset("b")
        np.testing.assert_array_equal(
            agent.preprocess_states(states[2:4], env_id=["a", "b"]),
            np.stack([states[[1, 3]], states[2:4]], axis=-1).reshape(2, 6),
        )


# External batches.


def test_fragments_are_their_transitions(make_agent, make_batch, backend):
    """Rows 0-2 end in a terminal state, 3-4 go on: row 4 has no next state."""
    batch = make_batch(5)
    batch["terminals"] = np.array([False, False, True, False, False])
    by_hand = {name: values[:4] for name, values in batch.items()}
    by_hand["next_states"] = batch["states"][[1, 2, 2, 4]]
    del batch["next_states"]
    results = []
    for given, indices in (
        (by_hand, None),
        (batch, np.array([2, 4])),
        ({**batch, "sequence_indices": [False, False, True, False, True]}, None),
    ):
        agent = make_agent(backend)
        results.append(agent.get_td_loss(given, indices))
        updated = agent.update(given, indices)
        assert updated["loss"] == pytest.approx(results[-1][0])
        assert updated["loss_per_item"].shape == (4,)
    for loss, per_item in results:
        assert loss == pytest.approx(results[0][0], rel=1e-6)
        np.testing.assert_allclose(per_item, results[0][1], rtol=1e-5)


def test_n_steps_of_an_external_batch_are_those_of_observe(make_agent, make_batch):
    agent, batch = make_agent("numpy", n_step=3), make_batch(9)
    del batch["next_states"]
    agent.observe(**batch, batched=True, env_id=0)
    transitions, rows = agent.post_process(batch), memory(agent)
    for name, values in rows.items():
        np.testing.assert_allclose(transitions[name], values, rtol=1e-6)


def test_priorities_are_the_sizes_of_the_errors(make_agent, make_batch, reference):
    agent, batch = make_agent("numpy", discount=0.9), make_batch(6)
    weights = reference.randomised(agent.get_weights(), seed=1)
    agent.set_weights(weights)
    targets = reference.targets(weights, batch, 0.9, True)
    chosen = reference.q_values(weights, batch["states"])[np.arange(6), batch["actions"]]
    priorities = agent.post_process(batch)["priorities"]
    np.testing.assert_allclose(priorities, np.abs(targets - chosen), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"next_states": None}, "next_states.*sequence_indices= says so"),
        ({"reward": 1}, "there is no 'reward'. Did you mean 'rewards'"),
        ({"sequence_indices": [7]}, r"sequence_indices: expected bool\[3\]"),
        ({"actions": np.array([0, 9, 0])}, "update: the action in row 1, 9, is not in"),
        ({"states": np.zeros((3, 5), np.float32)}, r"update: argument states: expected float32\[B, 3\]"),
    ],
)
def test_wrong_batches(make_agent, make_batch, backend, change, said):
    agent = make_agent(backend)
    with pytest.raises(InputError, match=said):
        agent.update({**make_batch(3), **change})
    with pytest.raises(InputError, match="update: sequence_indices without a batch"):
        agent.update(sequence_indices=[1])
    assert agent.updates == 0


# The end.


REFUSED = {
    "get_actions": lambda agent, states: agent.get_actions(states),
    "get_action": lambda agent, states: agent.get_action(states[0], use_exploration=False),
    "preprocess_states": lambda agent, states: agent.preprocess_states(states),
    "new_actor": lambda agent, states: agent.new_actor(),
    "reset": lambda agent, states: agent.reset(),
    "observe": lambda agent, states: agent.observe(states[0], 0, 0.0),
    "import_observations": lambda agent, states: agent.import_observations([]),
    "update": lambda agent, states: agent.update(),
    "update_if_due": lambda agent, states: agent.update_if_due(),
    "update_offline": lambda agent, states: agent.update_offline(),
    "call_api_method": lambda agent, states: agent.call_api_method("get_memory_size"),
    "set_weights": lambda agent, states: agent.set_weights(agent.get_weights()),
    "set_policy_weights": lambda agent, states: agent.set_policy_weights(agent.get_policy_weights()),
    "load_model": lambda agent, states: agent.load_model("model"),
    "load_weights": lambda agent, states: agent.load_weights("model"),
    "learn": lambda agent, states: agent.learn(
        4, env=lambda: RandomEnv(agent.state_space, agent.action_space)
    ),
    "evaluate": lambda agent, states: agent.evaluate(1, env="CartPole-v1"),
}


@pytest.mark.parametrize("method", REFUSED)
def test_a_terminated_agent_refuses(make_agent, states, method):
    agent = make_agent("numpy")
    agent.terminate()
    agent.terminate()
    said = rf"DQNAgent\.{method}: the agent was terminated.*store_model it.*Agent\.load"
    with pytest.raises(RLGraphError, match=said):
        REFUSED[method](agent, states)
    assert agent.is_terminated and not make_agent("numpy").is_terminated


def test_a_terminated_agent_is_not_trained_by_a_worker(make_agent, one_backend):
    agent = make_agent(one_backend)
    env = RandomEnv(agent.state_space, agent.action_space)
    worker = SingleThreadedWorker(agent, env)
    agent.terminate()
    for run in (worker.execute_timesteps, worker.execute_episodes):
        with pytest.raises(RLGraphError, match="the agent was terminated"):
            run(2)
    with pytest.raises(RLGraphError, match="the agent was terminated"):
        evaluate(agent, env, 1, seed=0)
    assert agent.timesteps == 0


def test_learning_does_not_terminate(make_agent, states, one_backend):
    agent = make_agent(one_backend)
    env = RandomEnv(agent.state_space, agent.action_space)
    agent.learn(4, env=env)
    agent.evaluate(1, env=env)
    assert not agent.is_terminated and len(agent.get_actions(states)) == len(states)


def test_what_a_terminated_agent_learned_is_kept(make_agent, make_batch, states, tmp_path):
    agent = make_agent("numpy")
    agent.observe(**make_batch(12), batched=True)
    actor, expected = agent.new_actor(), agent.get_actions(states, use_exploration=False)
    agent.terminate()
    loaded = Agent.load(agent.store_model(tmp_path / "model"))
    np.testing.assert_equal(loaded.get_weights(), agent.get_weights())
    assert loaded.timesteps == agent.timesteps == 12 and not loaded.is_terminated
    np.testing.assert_array_equal(loaded.get_actions(states, use_exploration=False), expected)
    actor.resize(len(states))
    np.testing.assert_array_equal(actor.act(states, use_exploration=False), expected)
    np.testing.assert_array_equal(ActorHandle.of(agent).begin().act(states[0]), expected[0])


# Who acts.


def test_convolutions_stay_on_the_backend(make_agent, backend):
    image = {"state_space": FloatBox(shape=(6, 6, 1)), "action_space": IntBox(2)}
    layers = [
        {"type": "conv2d", "filters": 2, "kernel_size": 3, "strides": 1},
        {"type": "reshape", "flatten": True},
    ]
    agent = make_agent(backend, **image, network_spec=layers)
    assert (agent.acting, agent.executor.choices["acting"]) == ("backend", "backend (it convolves)")
    assert make_agent(backend, **image, network_spec=layers, acting="numpy").acting == "numpy"
    dense = make_agent(backend)
    assert dense.executor.choices["acting"].startswith("numpy (")
    assert "acting" not in make_agent(backend, acting="backend").executor.choices
