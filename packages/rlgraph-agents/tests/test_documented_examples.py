# ruff: noqa: C408 - the documents write dict(...)
"""The code of RLgraph 0.5's own documents: blog post, paper, README, documentation.

As it stands there, but for what had to move (docs/migration/from_rlgraph_0_5.md) and for what a typesetter lost. What
needs Ray, TensorFlow servers or Horovod is not here, nor agents that there are none of yet.
"""

import json

import numpy as np
import pytest

from rlgraph.agents import Agent, DQNAgent
from rlgraph.components import Policy, ReplayMemory
from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.environments import OpenAIGymEnv
from rlgraph.spaces import BoolBox, ContainerSpace, Dict, FloatBox, IntBox
from rlgraph.testing import ComponentTest
from rlgraph.workers import SingleThreadedWorker


@pytest.fixture(scope="module")
def spec(execution):
    """What stood in ``configs/config.json``: the file of the original's CartPole example."""

    def make(backend):
        return {
            "type": "dqn",
            "network_spec": [{"type": "dense", "units": 20, "activation": "tanh"}],
            "memory_spec": {"type": "replay_memory", "capacity": 128},
            "exploration_spec": {
                "epsilon_spec": {"decay_spec": {"type": "linear_decay", "from": 1.0, "to": 0.05}}
            },
            "optimizer_spec": {"type": "adam", "learning_rate": 0.02},
            "update_spec": {"update_interval": 4, "batch_size": 16, "sync_interval": 32},
            "execution_spec": execution(backend),
        }

    return make


# README: "Import and use agents".


def test_readme(spec, backend, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "config.json").write_text(json.dumps(spec(backend)))

    environment = OpenAIGymEnv("CartPole-v1")

    # Create from .json file or dict, see agent API for all
    # possible configuration parameters.
    agent = DQNAgent(
        "configs/config.json",
        state_space=environment.state_space,
        action_space=environment.action_space,
        backend=backend,
    )

    # Get an action, take a step, observe reward.
    state = environment.reset()
    action, preprocessed_state = agent.get_action(states=state, extra_returns="preprocessed_states")

    # Execute step in environment.
    next_state, reward, _terminal, _truncated, _info = environment.step(action)

    # Observe result.
    agent.observe(
        preprocessed_states=preprocessed_state,
        actions=action,
        internals=[],
        next_states=next_state,
        rewards=reward,
    )

    # Call update when desired:
    loss = agent.update()
    assert np.isfinite(loss["loss"])
    assert (agent.timesteps, agent.updates) == (1, 1)


# Blog post: "API examples".


def test_blog_agent(spec, backend):
    # Describe inputs via powerful space objects which manage batch and time ranks.
    states = FloatBox(shape=(4,), add_batch_rank=True)

    # Nested container spaces are used throughout RLgraph
    # to describe state and perform shape inference.
    actions = Dict(int_action=IntBox(low=0, high=5), bool_action=bool, add_batch_rank=True)

    agent = Agent.from_spec(spec(backend), state_space=states, action_space=actions, backend=backend)

    # Use agent locally, control behaviour with flags.
    rng = np.random.default_rng(1)
    state_values = rng.normal(size=(6, 4)).astype(np.float32)
    action_values = agent.get_actions(state_values, use_exploration=True, apply_preprocessing=True)
    assert sorted(action_values) == ["bool_action", "int_action"]

    # Batch observe multi-environment settings.
    rewards, terminals = rng.normal(size=6), np.array([False, False, True, False, False, True])
    agent.observe(state_values, action_values, rewards, terminals, batched=True, env_id="env_3")
    assert agent.call_api_method("get_memory_size") == 6

    # Updates by sampling from buffer after observing.
    loss = agent.update()
    assert np.isfinite(loss["loss"])

    # Update from an external batch which may contain
    # arbitrary (non-terminal) sub-episode fragments from multiple environments,
    # identified via sequence indices:
    sequence_indices = np.array([False, True, False, False, False, True])
    loss = agent.update(
        batch=dict(
            states=state_values,
            actions=action_values,
            rewards=rewards,
            terminals=terminals,
            sequence_indices=sequence_indices,
        )
    )
    assert loss["loss_per_item"].shape == (
        5,
    )  # row 1 ends a fragment that goes on: its next state is unknown


def test_blog_agent_with_ppo(backend):
    """Rows are environments, or the consecutive steps of one; an external batch is a fragment."""
    agent = Agent.from_spec(
        {
            "type": "ppo",
            "rollout_length": 2,
            "num_minibatches": 1,
            "network_spec": [{"type": "dense", "units": 8}],
        },
        state_space=FloatBox(shape=(4,), add_batch_rank=True),
        action_space=Dict(int_action=IntBox(low=0, high=5), bool_action=bool, add_batch_rank=True),
        backend=backend,
    )
    rng = np.random.default_rng(1)
    states, next_states = rng.normal(size=(2, 6, 4)).astype(np.float32)
    rewards, terminals = rng.normal(size=6), np.array([False, False, True, False, False, True])
    for _ in range(2):
        actions = agent.get_actions(states, use_exploration=True, apply_preprocessing=True)
        agent.observe(states, actions, rewards, terminals, next_states, batched=True)
    assert np.isfinite(agent.update()["loss"])
    two = {name: value[:2] for name, value in actions.items()}
    agent.observe(states[:2], two, rewards[:2], terminals[:2], next_states[:2], batched=True, env_id="env_3")
    assert np.isfinite(agent.update()["loss"])
    batch = dict(states=states, actions=actions, rewards=rewards, terminals=terminals)
    assert np.isfinite(agent.update(batch=batch, sequence_indices=[3])["loss"])
    assert agent.updates == 3


def test_blog_worker(spec, backend):
    # Single-threaded, vectorized execution.
    env_spec = {"type": "openai", "env_id": "CartPole-v1"}
    agent = Agent.from_spec(spec(backend), env=env_spec, backend=backend)
    worker = SingleThreadedWorker(env_spec=env_spec, agent=agent, num_envs=8)
    stats = worker.execute_timesteps(800)
    assert stats["timesteps_executed"] == stats.timesteps == 800
    assert stats["episodes_executed"] == len(stats.returns) > 8
    worker.terminate()


def test_blog_component(backend):
    record_space = Dict(
        states=dict(state1=float, state2=float),
        actions=dict(action1=float, action2=IntBox(10)),
        # For scalar spaces, use Python primitives
        next_states=dict(state1=float, state2=float),
        rewards=float,
        add_batch_rank=True,
    )

    # Memory exposes insert, sample..methods
    memory = ReplayMemory(capacity=1000)

    # Input spaces contain spaces for all arguments.
    input_spaces = dict(records=record_space, num_records=int)

    # Builds the memory with variables, placeholders for these spaces.
    graph = ComponentTest(component=memory, input_spaces=input_spaces, backend=backend)

    # Generate a sample batch from the nested space.
    observation = record_space.sample(size=32)

    # Calls session, fetches ops, prepares inputs, executes API method.
    graph.test(memory.insert_records, observation)

    # Get some samples providing the "num_records" int-arg.
    samples = graph.test((memory.get_records, 10))
    assert samples["actions"]["action2"].shape == (10,)
    assert np.isin(samples["states"]["state1"], observation["states"]["state1"]).all()


# Paper.


def test_paper_listing_1(backend, tmp_path, monkeypatch):
    """A policy's sub-graph alone. The typesetter lost the number of discrete actions, 3 here."""
    monkeypatch.chdir(tmp_path)
    layers = [{"type": "dense", "units": 8, "activation": "tanh"}, {"type": "lstm", "units": 4}]
    (tmp_path / "recurrent_policy.json").write_text(json.dumps(layers))

    state_space = FloatBox(shape=(64,), add_batch_rank=True, add_time_rank=True)
    # Dict space: 1 discrete, 1 continuous action.
    action_space = Dict(discrete=IntBox(3), cont=FloatBox(), add_batch_rank=True)
    policy = Policy("recurrent_policy.json", action_space)

    # Construct sub graph from spaces, auto-gen placeholders.
    test = ComponentTest(policy, dict(observations=state_space), action_space=action_space, backend=backend)
    # Test with any inputs in the input space.
    action = test.test(policy.get_action, state_space.sample(), which="action")
    assert {part: value.shape for part, value in action.items()} == {"discrete": (1, 1), "cont": (1, 1)}

    # The greedy action: the category with the largest output, and the mean, the first output.
    states = state_space.sample(size=(2, 5))
    outputs = test.test(policy.get_adapter_outputs, states, which="adapter_outputs")
    greedy = {"discrete": outputs["discrete"].argmax(-1), "cont": outputs["cont"][..., 0]}
    test.test(policy.get_action, states, which="action", expected_outputs=greedy)
    # The network is recurrent: a step changes the features of those after it, not of those before.
    changed = states.copy()
    changed[:, 2] += 1.0
    before, after = (test.test(policy.get_nn_outputs, x, which="nn_outputs") for x in (states, changed))
    steps = [bool(np.any(before[:, t] != after[:, t])) for t in range(5)]
    assert steps == [False, False, True, True, True]


def test_paper_listing_2():
    """The high level agent API."""
    for name in (
        "get_actions",
        "update",
        "observe",
        "get_weights",
        "set_weights",
        "import_model",
        "export_model",
    ):
        assert callable(getattr(Agent, name))


def test_paper_figure_3(spec, backend):
    """`update`: sample, split, loss, variables, step; here it is the root component's own plan."""
    agent = Agent.from_spec(spec(backend), env="CartPole-v1", backend=backend)
    called = {
        node.component
        for node in agent.executor.plan("update_from_memory").nodes
        if hasattr(node, "component")
    }
    for part in ("memory", "dqn/loss", "dqn/optimizer"):
        assert any(scope.startswith(part) for scope in called)


# Documentation.


def test_documentation_environment():
    # Create the env.
    env = OpenAIGymEnv("CartPole-v1")
    # Reset the env.
    env.reset(seed=1)
    # Execute 100 random actions in the env.
    episodes, rng = 0, np.random.default_rng(1)
    for _ in range(100):
        _state, _reward, is_terminal, is_truncated, _info = env.step(env.action_space.sample(rng=rng))
        # Reset if terminal state was reached.
        if is_terminal or is_truncated:
            env.reset()
            episodes += 1
    assert episodes > 0


class MyComponent(Component):
    """The documentation's "custom component from scratch", with `ops` where it has TensorFlow."""

    def __init__(self, initial_value=1.0, scope="my-component", **kwargs):
        # It is good practice to pass through **kwargs to parent class.
        super().__init__(scope=scope, **kwargs)
        self.initial_value = initial_value
        self.value = None

    @rlgraph_api
    def get_value(self):
        return self._graph_fn_get()

    @rlgraph_api
    def set_value(self, value):
        return self._graph_fn_set(value)

    @rlgraph_api
    def get_value_plus_n(self, n):
        return self._graph_fn_get_value_plus_n(n)

    def check_input_spaces(self, input_spaces, action_space=None):
        # Make sure, we have a non-container space.
        in_space = input_spaces["value"]
        assert not isinstance(in_space, ContainerSpace), "ERROR: No containers allowed!"

    def create_variables(self, input_spaces, action_space=None):
        in_space = input_spaces["value"]
        self.value = self.get_variable("value", in_space, trainable=False, initializer=self.initial_value)

    @graph_fn
    def _graph_fn_get(self, ops):
        return ops.read(self.value)

    @graph_fn(returns=0)
    def _graph_fn_set(self, ops, value):
        ops.assign(self.value, value)

    @graph_fn
    def _graph_fn_get_value_plus_n(self, ops, n):
        return ops.read(self.value) + n


def test_documentation_component(backend):
    component = MyComponent(initial_value=2.0)
    test = ComponentTest(
        component=component,
        input_spaces=dict(value=FloatBox(shape=(3,)), n=float),
        backend=backend,
    )
    test.test(component.get_value, expected_outputs=[2.0, 2.0, 2.0])
    test.test(component.set_value, [1.0, 2.0, 3.0])
    test.test(component.get_value, expected_outputs=[1.0, 2.0, 3.0])
    test.test((component.get_value_plus_n, 0.5), expected_outputs=[1.5, 2.5, 3.5])
    with pytest.raises(AssertionError, match="No containers allowed"):
        ComponentTest(MyComponent(), dict(value=Dict(a=float, b=BoolBox()), n=float), backend=backend)
