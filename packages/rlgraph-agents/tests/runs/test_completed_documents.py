"""A completed document describes the same agent as the document that was completed."""

import json
import random
from contextlib import suppress
from itertools import islice

import numpy as np
import pytest

from rlgraph.agents import Agent, DQNAgent
from rlgraph.algorithms.ppo import PPO
from rlgraph.algorithms.sac import SAC
from rlgraph.components import Adam, Dense, Multiply, NeuralNetwork, NoisyDense, ReplayMemory, SACValueNetwork
from rlgraph.core import RLGraphError, SpecError, allow_imports, registry
from rlgraph.core.specs.parameters import parameters_of
from rlgraph.environments.adapters.native_vector_env import NativeVectorEnv
from rlgraph.environments.factory import make_vector_env
from rlgraph.runs import configuration, resume, train
from rlgraph.runs.config_file import read_config
from rlgraph.runs.configuration import resolve
from rlgraph.spaces import SpaceError

#: Documents for each agent.
EXAMPLES = 3
SCALARS = (bool, int, float, str, type(None))

FLOATS = {
    "type": "random_env",
    "state_space": {"type": "float", "shape": [3]},
    "action_space": {"type": "int", "low": 0, "high": 2},
}
PARTS = {
    "type": "random_env",
    "state_space": {
        "a": {"type": "float", "shape": [2]},
        "b": {"c": {"type": "int", "low": 0, "high": 3}, "d": {"type": "float", "shape": [2, 2]}},
    },
    "action_space": {"type": "int", "low": 0, "high": 3},
}
ONE_ACTION = {"type": "float", "low": -1.0, "high": 2.0, "shape": [2]}
ENVIRONMENTS = [
    FLOATS,
    FLOATS,
    PARTS,
    {**FLOATS, "state_space": {"type": "int", "low": 0, "high": 4}},
    {**FLOATS, "action_space": ONE_ACTION},
    {**FLOATS, "action_space": ONE_ACTION},
    {**PARTS, "action_space": ONE_ACTION},
    {
        **FLOATS,
        "action_space": {
            "x": {"type": "int", "low": 0, "high": 2},
            "y": {"type": "int", "low": 0, "high": 3},
        },
    },
    {"type": "random_env", "state_space": {"type": "float", "shape": [6, 6, 2]}, "action_space": ONE_ACTION},
    "bit_flip",
    {"type": "bit_flip", "bits": 3},
    "grid_world",
    "legal_moves",
    "CartPole-v1",
    {"type": "gym", "env_id": "CartPole-v1", "max_episode_steps": 9},
    {"type": "partially_observed", "env": "CartPole-v1", "observed": [0, 2]},
]
DENSE = [
    {"type": "dense", "units": 4},
    {"type": "dense", "units": 3, "activation": "tanh", "weights_spec": {"type": "normal", "stddev": 0.1}},
    {"type": "noisy_dense", "units": 4},
    {"type": "fc", "units": 3, "scope": "mine"},
    {"type": "dense", "_args": [3, "tanh"]},
]
LAYERS = [
    [4],
    [4, 3],
    [5, 4, 3],
    ["layer_norm", 4],
    [{"type": "residual", "residual_unit": [4, 6], "repeats": 2}, 4],
    [
        {"type": "reshape", "flatten": True},
        {"type": "convert_type", "to_dtype": "float"},
        {"type": "dense", "units": 3},
    ],
    [{"type": "lstm", "units": 3}],
    [4, {"type": "gru", "units": 3}],
    {"layers": [4, 3]},
    {"type": "network", "layers": [{"type": "dense", "units": 4}], "fold_time_rank": True},
    {"type": "neural_network", "layers": [3], "scope": "network"},
    [{"type": "network", "layers": [3, 2]}, 4],
    [{"type": "multi_input_stream_network", "input_network_specs": {"a": [3], "b": None}}, 4],
    [{"type": "stack", "_args": [{"type": "dense", "units": 3}]}],
    *([layer] for layer in DENSE),
    DENSE[:4],
]
SCHEDULES = [
    0.1,
    [0.3, 0.1],
    ["exponential", 0.2, 0.1],
    {"type": "linear", "from": 0.2, "to": 0.1, "end": 0.5},
]
OPTIMIZERS = ["adam", "sgd", {"learning_rate": [1e-3, 1e-4]}, {"type": "rmsprop", "clip_grad_norm": 1.0}]
OPTIONS = {
    "network_spec": LAYERS,
    "value_network_spec": [*LAYERS, "shared", "shared"],
    "optimizer_spec": [*OPTIMIZERS, {"type": "adamw", "_args": [0.01]}],
    "policy_spec": [
        {"units_state_value_stream": 3},
        {"type": "q_policy"},
        {"type": "dueling_policy", "noisy": True},
        {"network_spec": [3, 5]},
    ],
    "exploration_spec": [
        {"epsilon_spec": [1.0, 0.25]},
        {"epsilon_spec": 0.1},
        "epsilon_greedy",
        {"noise_spec": {"type": "gumbel", "scale": 0.1}},
        {"noise_spec": {"type": "gaussian", "stddev": [0.3, 0.1]}},
        {"noise_spec": {"stddev": 0.2}},
        {"type": "ornstein_uhlenbeck_noise", "sigma": 0.1},
    ],
    "memory_spec": [
        {"capacity": 40},
        "replay_memory",
        {"type": "prioritized_replay", "capacity": 32, "beta": [0.4, 1.0]},
        {"type": "sequence_replay", "capacity": 64, "sequence_length": 4},
    ],
    "update_spec": [
        {"batch_size": 8},
        {"batch_size": 4, "update_interval": 2},
        {"batch_size": 4, "sync_interval": 7},
        {"sync_tau": 0.5},
    ],
    "hindsight_spec": [{}, {"strategy": "final"}, {"goals": 2}],
    "intrinsic_reward": [
        "rnd",
        {"type": "icm", "hidden_spec": [3], "num_features": 4},
        {"type": "rnd", "network_spec": [3], "optimizer_spec": "sgd", "num_features": 4},
        {"type": "rnd", "optimizer_spec": {"learning_rate": 0.1}, "weight": 1.0},
    ],
    "distributions_spec": [
        {"bounded_distribution_type": "squashed_normal"},
        {"bounded_distribution_type": {"type": "beta_distribution_adapter", "pre_network_spec": [3]}},
    ],
    "preprocessing_spec": [
        [{"type": "multiply", "factor": 2.0}],
        [{"type": "sequence", "sequence_length": 2}, {"type": "reshape", "flatten": True}],
        {"layers": [{"type": "divide", "divisor": 2.0}]},
        {"a": [{"type": "multiply", "factor": 2.0}], "b/d": [{"type": "clip", "min": 0.0, "max": 1.0}]},
        {"observation": [{"type": "normalize"}]},
    ],
    "execution_spec": [None, {"dtype": "float64"}, {"threads": 1}],
    "normalize_states": [True, ["a"]],
    "scale_rewards": [True],
    "previous_action_and_reward": [True],
    "double_q": [True, False],
    "dueling_q": [True, False],
    "n_step": [1, 3],
    "discount": [0.9],
    "num_critics": [1, 3],
    "random_before_update": [True],
    "standardize_advantages": ["batch", False],
    "rollout_length": [16],
    "sync_interval": [5],
    "num_atoms": [7],
    "num_quantiles": [5],
    **dict.fromkeys(("clip_ratio", "weight_entropy", "weight_vf", "weight_pg", "value_clipping"), SCHEDULES),
}
#: Agents that learn from a data set alone.
DATA = {kind: {"steps": 0, "data": {"file": "steps.json"}} for kind in ("bc", "iql")}
#: Options that are given more often than others.
OFTEN = ("network_spec", "value_network_spec", "intrinsic_reward", "policy_spec")


def documents(kind):
    """Documents of an agent without end: some of its options at once."""
    draw = random.Random(kind)
    names = [name for name in parameters_of(Agent.of(kind)).named if name in OPTIONS]
    while True:
        chosen = [name for name in names if draw.random() < (0.5 if name in OFTEN else 0.2)]
        options = {name: draw.choice(OPTIONS[name]) for name in chosen}
        environment = draw.choice(ENVIRONMENTS)
        yield {
            "agent": {"type": kind, **options},
            "environment": environment,
            **DATA.get(kind, {"steps": 10}),
        }


def made(document):
    execution = document["agent"].get("execution_spec") or {}
    agent = {**document["agent"], "execution_spec": {**execution, "threads": None}}
    return Agent.from_spec(agent, env=document["environment"], backend="numpy", seed=3)


def scalars(thing):
    public = ((name, value) for name, value in vars(thing).items() if not name.startswith("_"))
    return {name: value for name, value in public if isinstance(value, SCALARS)}


def parts(agent):
    """Path -> class and numbers of each component, and of what stands beside them."""
    components = agent.executor.built.graph.components.items()
    found = {path: (type(part).__name__, scalars(part)) for path, part in components}
    experience = agent.learner.experience
    beside = {"experience": experience, "updates": getattr(experience, "updates", None)}
    return {**found, **{name: scalars(thing) for name, thing in beside.items() if thing is not None}}


def assert_same(agent, other):
    expected, found = agent.get_weights(), other.get_weights()
    assert {n: v.shape for n, v in found.items()} == {n: v.shape for n, v in expected.items()}
    for name, value in expected.items():
        assert found[name].dtype == value.dtype
        np.testing.assert_array_equal(found[name], value, err_msg=name)
    expected, found = parts(agent), parts(other)
    assert list(found) == list(expected)
    assert {path: found[path] for path in found if found[path] != expected[path]} == {}


def assert_completing_changes_nothing(document, agent=None):
    agent = made(document) if agent is None else agent
    resolved = resolve(document)
    assert resolve(json.loads(json.dumps(resolved))) == resolved
    assert_same(agent, made(resolved))


def possible(documents):
    """The documents whose options go together, with their agents."""
    for document in documents:
        with suppress(RLGraphError, SpaceError):
            yield document, made(document)


@pytest.mark.parametrize("kind", registry("rlgraph.agents").names())
def test_any_completed_document_describes_the_same_agent(kind):
    for document, agent in islice(possible(documents(kind)), EXAMPLES):
        assert_completing_changes_nothing(document, agent)


# Cases that were completed to something else.

CONTINUOUS = {**FLOATS, "action_space": ONE_ACTION}


def units(layers):
    return [layer["units"] for layer in layers]


@pytest.mark.parametrize("value_layers", [[3], [3, 3], [3, 3, 3]])
@pytest.mark.parametrize("network", [{}, {"network_spec": [4, 5]}])
@pytest.mark.parametrize("kind", ["sac", "td3", "ppo"])
def test_layers_of_critics_are_no_layers_of_the_policy(kind, network, value_layers):
    agent = {"type": kind, **network, "value_network_spec": value_layers}
    document = {"agent": agent, "environment": CONTINUOUS, "steps": 10}
    assert_completing_changes_nothing(document)
    resolved = resolve(document)["agent"]
    assert units(resolved["network_spec"]) == network.get("network_spec", [64, 64])
    assert units(resolved["value_network_spec"]) == value_layers


def test_faults_of_critics_have_the_place_of_their_option():
    agent = {"type": "ppo", "value_network_spec": [4, {"type": "dense", "units": "x"}]}
    with pytest.raises(SpecError, match=r"^agent\.value_network_spec\[1\]\.units: expected an integer"):
        resolve({"agent": agent, "environment": FLOATS, "steps": 10})


@pytest.mark.parametrize("kind", ["sac", "td3", "ppo"])
def test_default_layers_are_written_out_beside_those_of_critics(kind):
    """Also for states that other layers come first for."""
    environment = {**PARTS, "action_space": ONE_ACTION}
    agent = {"type": kind, "value_network_spec": [3, 3, 3]}
    document = {"agent": agent, "environment": environment, "steps": 10}
    assert_completing_changes_nothing(document)
    layers = resolve(document)["agent"]["network_spec"]
    assert [layer["type"] for layer in layers][-2:] == ["dense", "dense"]


class OwnCritics(SAC):
    """A plug-in whose critics have layers of their own, and which makes them first."""

    def __init__(self, state_space, action_space, **options):
        self.own = [SACValueNetwork([5, 4, 3], scope=f"critic-{i}") for i in range(2)]
        super().__init__(state_space, action_space, **options)

    def make_critics(self, state_space, layers, tau, number=2, new=None):
        made = iter(self.own)
        super().make_critics(state_space, layers, tau, number, lambda scope: next(made))


class OwnCriticsAgent(Agent):
    algorithm_class = OwnCritics


class OwnPolicy(PPO):
    """A plug-in whose policy is an object, unless it is given layers."""

    def __init__(self, state_space, action_space, *, network_spec=None, **options):
        layers = NeuralNetwork([6]) if network_spec is None else network_spec
        options |= {"network_spec": layers, "value_network_spec": [5]}
        super().__init__(state_space, action_space, **options)


class OwnPolicyAgent(Agent):
    algorithm_class = OwnPolicy


@pytest.mark.parametrize("network", [{}, {"network_spec": [4, 5]}, {"network_spec": [5, 4, 3]}])
@pytest.mark.parametrize("kind", [OwnCriticsAgent, OwnPolicyAgent])
def test_layers_that_no_option_gives(kind, network):
    document = {
        "agent": {"type": f"{__name__}:{kind.__name__}", **network},
        "environment": CONTINUOUS,
        "steps": 10,
    }
    with allow_imports(__name__):
        assert_completing_changes_nothing(document)


def test_a_layer_that_is_a_class():
    agent = {"type": DQNAgent, "network_spec": [{"type": NoisyDense, "units": 4}]}
    document = {"agent": agent, "environment": FLOATS, "steps": 10}
    assert_completing_changes_nothing(document)
    resolved = resolve(document)["agent"]
    assert (resolved["type"], resolved["network_spec"][0]["type"]) == ("dqn", "noisy_dense")


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ({"network_spec": [Dense(4)]}, r"agent\.network_spec\[0\]"),
        ({"network_spec": NeuralNetwork([4])}, r"agent\.network_spec"),
        ({"network_spec": {"layers": [4, Dense(3)]}}, r"agent\.network_spec\.layers\[1\]"),
        (
            {"network_spec": [{"type": "dense", "units": 3, "weights_spec": np.zeros((3, 3))}]},
            r".*weights_spec",
        ),
        ({"preprocessing_spec": [Multiply(2.0)]}, r"agent\.preprocessing_spec\[0\]"),
        ({"optimizer_spec": Adam()}, r"agent\.optimizer_spec"),
        ({"memory_spec": ReplayMemory(10)}, r"agent\.memory_spec"),
    ],
)
def test_objects_are_refused_with_their_place(options, place):
    """A run that left them out would train another agent."""
    document = {"agent": {"type": "dqn", **options}, "environment": FLOATS, "steps": 10}
    with pytest.raises(SpecError, match=rf"{place}: expected a value that JSON can hold"):
        resolve(document)


@pytest.mark.parametrize("name", ["gym_env", "env_id"])
def test_a_completed_environment_has_the_same_vectorised_class(name):
    environment = {"type": "gym", name: "CartPole-v1"}
    document = {"agent": {"type": "dqn", "network_spec": [4]}, "environment": environment, "steps": 10}
    completed = resolve(document)["environment"]
    assert completed["force_float32"]
    for vectorization in ("auto", "native"):
        vector = make_vector_env(completed, 8, vectorization)
        assert isinstance(vector, NativeVectorEnv)
        vector.terminate()


# Run folders that were completed wrongly.


def test_a_run_that_was_completed_wrongly_goes_on_with_what_it_trained(tmp_path, undrawn, monkeypatch):
    layers = [{"type": "dense", "units": size, "activation": "relu"} for size in (4, 4, 6)]
    document = {
        "agent": {
            "type": "sac",
            "network_spec": layers,
            "value_network_spec": [6, 6, 6],
            "memory_spec": {"capacity": 50},
            "update_spec": {"batch_size": 4, "update_interval": 10},
        },
        "environment": CONTINUOUS,
        "backend": "torch",
        "steps": 20,
        "evaluation": {"interval": None, "final_episodes": 1},
        "logging": {"tensorboard": False},
        "checkpoints": {"interval": 10},
    }
    with monkeypatch.context() as patched:  # as if nothing completed the critics
        patched.setattr(configuration, "completed", lambda given, place, records: given)
        train(document, tmp_path)
    written = read_config(tmp_path)["run"]["agent"]
    assert (written["network_spec"], written["value_network_spec"]) == (layers, [6, 6, 6])
    assert_same(made(resolve(document)), made(document))
    resume(tmp_path, steps=30)
    agent = Agent.load(tmp_path)
    assert agent.network == "dense 4, dense 4, dense 6"
    again = resume(tmp_path, steps=40, overrides=["agent.execution_spec.learners=null"])
    assert again.training.timesteps == 40
