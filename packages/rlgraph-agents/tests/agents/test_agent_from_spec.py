"""`Agent.from_spec`: every way to describe an agent, and what each mistake is answered with."""

import ast
import json
import sys

import gymnasium
import numpy as np
import pytest
from doubles import Episodes, kept

from rlgraph.agents import Agent, DQNAgent, PPOAgent
from rlgraph.core import PluginError, SpecError, find_backend, registry
from rlgraph.environments import OpenAIGymEnv
from rlgraph.spaces import FloatBox, IntBox, SpaceError

STATES, ACTIONS = FloatBox(shape=(3,)), IntBox(4)
SPACES = {"state_space": STATES, "action_space": ACTIONS, "backend": "numpy"}


def refusal(spec, expected=SpecError, **kwargs):
    with pytest.raises(expected) as caught:
        Agent.from_spec(spec, **{**SPACES, **kwargs})
    return str(caught.value)


# What a spec can be.


@pytest.mark.parametrize("spec", ["dqn", "DQN", {"type": "dqn"}, DQNAgent, {"type": DQNAgent}])
def test_names_and_classes(spec):
    agent = Agent.from_spec(spec, **SPACES)
    assert type(agent) is DQNAgent
    assert (agent.state_space, agent.action_space) == (STATES, ACTIONS)
    assert agent.executor.backend.name == "numpy"


def test_a_subclass_needs_no_type():
    assert type(DQNAgent.from_spec({}, **SPACES)) is DQNAgent
    assert type(DQNAgent.from_spec({"discount": 0.5}, **SPACES)) is DQNAgent


def test_an_agent_is_passed_through():
    agent = Agent.from_spec("dqn", **SPACES)
    assert Agent.from_spec(agent) is agent


def test_json_file(tmp_path):
    file = tmp_path / "agent.json"
    content = {
        "type": "dqn",
        "state_space": {"type": "float", "shape": [3]},
        "action_space": {"type": "int", "low": 0, "high": 4},
        "network_spec": [{"type": "dense", "units": 5}],
        "update_spec": {"batch_size": 7},
        "seed": 11,
    }
    file.write_text(json.dumps(content))
    for path in (file, str(file)):
        agent = Agent.from_spec(path, backend="numpy")
        assert (agent.state_space, agent.action_space) == (STATES, ACTIONS)
        assert agent.learner.experience.updates.batch_size == 7
        assert agent.seed == 11
        assert agent.get_weights()["dqn/policy/network/dense-0/weights"].shape == (3, 5)


def test_the_spec_is_not_changed_and_arguments_override_it():
    spec = {"type": "dqn", "seed": 1, "update_spec": {"batch_size": 7}, "state_space": FloatBox(shape=(9,))}
    before = json.dumps(spec, default=repr)
    agent = Agent.from_spec(spec, **SPACES, seed=5)
    assert json.dumps(spec, default=repr) == before
    assert agent.seed == 5
    assert agent.state_space == STATES
    assert agent.learner.experience.updates.batch_size == 7


def test_the_seed_overrides_the_execution_spec():
    assert Agent.from_spec({"type": "dqn", "execution_spec": {"seed": 4}}, **SPACES).seed == 4
    assert Agent.from_spec({"type": "dqn", "execution_spec": {"seed": 4}, "seed": 6}, **SPACES).seed == 6


def test_the_environment_variable_names_the_backend(monkeypatch, backend):
    monkeypatch.setenv("RLGRAPH_BACKEND", backend)
    assert Agent.from_spec("dqn", **{**SPACES, "backend": None}).executor.backend.name == backend


# Spaces.


@pytest.mark.parametrize("env", ["CartPole-v1", {"type": "openai_gym", "gym_env": "CartPole-v1"}])
def test_an_environment_gives_the_spaces(env):
    agent = Agent.from_spec("dqn", env=env, backend="numpy")
    assert agent.state_space.shape == (4,)
    assert agent.action_space == IntBox(2)
    assert agent.env_spec == env


def test_the_environment_may_stand_in_the_spec():
    spec = {"type": "dqn", "env": {"type": "deterministic"}}
    agent = Agent.from_spec(spec, backend="numpy")
    assert agent.env_spec == {"type": "deterministic"}
    assert agent.state_space == FloatBox(shape=(1,))
    assert Agent.from_spec(spec, env="CartPole-v1", backend="numpy").env_spec == "CartPole-v1"


def test_explicit_spaces_go_before_those_of_the_environment():
    bounded = FloatBox(-5.0, 5.0, shape=(1,))
    agent = Agent.from_spec("dqn", env={"type": "deterministic"}, state_space=bounded, backend="numpy")
    assert agent.state_space == bounded
    assert agent.action_space == IntBox(2)


def test_shorthand_spaces():
    agent = Agent.from_spec(
        "dqn", state_space={"type": "float", "shape": (3,)}, action_space=IntBox(4), backend="numpy"
    )
    assert agent.state_space == STATES


def test_spaces_of_gymnasium(tmp_path):
    states = gymnasium.spaces.Dict(at=gymnasium.spaces.Box(-1.0, 1.0, (2,), np.float64))
    actions = gymnasium.spaces.Discrete(2)
    spaces = {"state_space": states, "action_space": actions}
    made = Agent.from_spec("dqn", **spaces, backend="numpy")
    called = DQNAgent(states, actions, backend="numpy")
    assert DQNAgent(states, action_space=actions, backend="numpy").state_space == made.state_space
    state = states.sample()
    for agent in (made, called):
        assert agent.action_space == IntBox(2) and list(agent.state_space) == ["at"]
        assert agent.get_actions(state) in actions
        loaded = Agent.load(agent.store_model(tmp_path / "stored"))
        assert loaded.state_space == agent.state_space


def test_an_instance_stays_open_and_what_was_made_is_closed():
    mine, (made, factory) = Episodes(), kept(Episodes)
    Agent.from_spec("dqn", env=mine, backend="numpy")
    assert not mine.closed
    Agent.from_spec("dqn", env=factory, backend="numpy")
    assert [environment.closed for environment in made] == [True]


def test_a_gymnasium_instance_stays_open():
    class Closing(gymnasium.Wrapper):
        closed = False

        def close(self):
            self.closed = True

    env = Closing(gymnasium.make("CartPole-v1"))
    agent = Agent.from_spec("dqn", env=env, backend="numpy")
    assert len(agent.evaluate(3).returns) == 3
    assert not env.closed


# Mistakes.


def test_unknown_agent():
    assert refusal("dqm") == "agent.type: unknown agent 'dqm'. Did you mean 'dqn'?"
    assert refusal("ppo/CartPole-v1").endswith("give the agent 'ppo' and the environment 'CartPole-v1'")
    assert "preset: there is no preset 'ppo/CartPole'. Did you" in refusal("ppo/CartPole")
    assert refusal({"type": "dqm"}, path="agents[2]").startswith("agents[2].type: unknown agent 'dqm'.")


@pytest.mark.parametrize("given", [3, ["dqn"]])
def test_a_type_that_is_no_name(given):
    assert refusal({"type": given}) == f"agent.type: expected a name, a class or a function, given {given!r}"


def test_a_class_that_is_no_agent():
    assert refusal({"type": OpenAIGymEnv}).endswith("is a OpenAIGymEnv, expected a Agent")


def test_no_type():
    known = ", ".join(registry("rlgraph.agents").names())
    assert refusal({}) == f"agent.type is missing. Known: {known}."


def test_no_spec():
    assert refusal(5) == "agent: expected a mapping with 'type', a name or a file, given 5"


FORMS = "expected a number, [from, to], [type, from, to], [type, from, to, argument] or a mapping with 'type'"
LAYERS = [{"type": "dense", "units": 4}, {"type": "dense", "units": -1}]


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("netwrk_spec", [], "DQNAgent has no such key. Did you mean 'network_spec'?"),
        ("memory_spec.capacity", 0, "expected an integer >= 1, given 0"),
        ("exploration_spec.epsilon_spec", "linear", f"{FORMS}, given 'linear'"),
        ("optimizer_spec.type", "adm", "unknown component 'adm'. Did you mean 'adam'?"),
        ("optimizer_spec.learning_rate", "fast", f"{FORMS}, given 'fast'"),
        ("optimizer_spec.beta1", 3, "expected a number in [0, 1), given 3"),
        ("optimizer_spec.lr", 0.1, "Adam has no such key. It is 'learning_rate' here."),
        ("execution_spec", [1], "expected a mapping or null, given [1]"),
        ("execution_spec.dtyp", 1, "ExecutionSpec has no such key. Did you mean 'dtype'?"),
        ("execution_spec.threads", 0, "expected an integer from 1 to 1024, given 0"),
        ("acting", "np", "expected 'auto', 'numpy' or 'backend', given 'np'"),
        ("discount", 1.5, "expected a number in [0, 1], given 1.5"),
        ("discount", 2, "expected a number in [0, 1], given 2"),
        ("discount", "0.9", "expected a number, given '0.9'"),
    ],
)
def test_wrong_arguments(path, value, said):
    spec = value
    for key in reversed(path.split(".")):
        spec = {key: spec}
    assert refusal({"type": "dqn", **spec}) == f"agent.{path}: {said}"


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"seed": -1}, "execution_spec.seed: expected an integer >= 0, given -1"),
        ({"network_spec": []}, "network_spec.layers: expected a list of layer specs, given []"),
        (
            {"network_spec": [{"type": "dens"}]},
            "network_spec[0].type: unknown component 'dens'. Did you mean 'dense'?",
        ),
        ({"network_spec": LAYERS}, "network_spec[1].units: expected an integer >= 1, given -1"),
    ],
)
def test_places_within_an_argument(spec, said):
    assert refusal({"type": "dqn", **spec}) == f"agent.{said}"


def test_all_mistakes_of_the_update_spec_at_once():
    updates = {"batch_size": 0, "update_intervl": 2, "update_steps": "1"}
    assert refusal({"type": "dqn", "update_spec": updates}).splitlines() == [
        "agent.update_spec.update_steps: expected an integer >= 1, given '1'",
        "agent.update_spec.batch_size: expected an integer >= 1 and <= 1000000, given 0",
        "agent.update_spec.update_intervl: there is no such key. Did you mean 'update_interval'?",
    ]


def test_all_mistakes_of_a_mapping_at_once():
    spec = {"type": "dqn", "netwrk_spec": 3, "double_q": "yes", "memory_spec": {"capacity": 0, "capcity": 3}}
    assert refusal(spec).splitlines() == [
        "agent.netwrk_spec: DQNAgent has no such key. Did you mean 'network_spec'?",
        "agent.double_q: expected true or false, given 'yes'",
    ]
    del spec["netwrk_spec"], spec["double_q"]
    said = "agent.memory_spec.capcity: ReplayMemory has no such key. Did you mean 'capacity'?"
    assert refusal(spec) == said


@pytest.mark.parametrize("space", [FloatBox(shape=(2,)), IntBox(), IntBox(1, 4)])
def test_actions_that_are_no_categories(space):
    message = refusal("dqn", action_space=space)
    assert "Q-learning needs categorical actions, an IntBox(n)" in message
    assert repr(space) in message


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ({}, "state_space"),
        ({"state_space": STATES}, "action_space"),
        ({"action_space": ACTIONS}, "state_space"),
    ],
)
def test_missing_spaces(given, missing):
    with pytest.raises(
        SpecError, match=rf"agent\.{missing} is missing: give state_space= and action_space=, or env="
    ):
        Agent.from_spec("dqn", backend="numpy", **given)


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"state_space": "flot"}, SpaceError, "did you mean 'float'?"),
        ({"env": "CartPol-v1"}, SpecError, "The nearest is 'CartPole-v1'"),
        ({"backend": "nmpy"}, SpecError, "backend: unknown backend 'nmpy'. Did you mean 'numpy'?"),
    ],
)
def test_unknown_names(options, error, said):
    assert said in refusal("dqn", error, **options)


@pytest.mark.parametrize(
    ("name", "framework"), [("torch", "torch"), ("pytorch", "torch"), ("tf", "tf"), ("tensorflow", "tf")]
)
def test_a_backend_that_is_not_installed(monkeypatch, name, framework):
    known = registry("rlgraph.backends")
    monkeypatch.setattr(known, "_plugins", {"numpy": known._plugins["numpy"]})
    said = f"backend: backend {name!r} is not installed: pip install rlgraph-{framework}"
    assert refusal("dqn", backend=name) == said


def test_a_backend_without_its_framework(monkeypatch, backend):
    descriptor = find_backend(backend)
    monkeypatch.setitem(sys.modules, descriptor.factory.split(":")[0], None)
    message = refusal("dqn", PluginError, backend=backend)
    assert message.startswith(f"backend {backend!r} cannot be loaded: ")
    assert message.endswith(f"pip install {descriptor.framework}")


def test_json_that_cannot_be_read(tmp_path):
    missing, broken, no_mapping = (tmp_path / f"{name}.json" for name in ("missing", "broken", "list"))
    broken.write_text('{"type": "dqn",}')
    no_mapping.write_text('["dqn"]')
    assert refusal(missing) == f"agent: file {str(missing)!r} does not exist"
    assert refusal(str(broken)).startswith(f"agent: {str(broken)!r} is not valid JSON: ")
    assert refusal(no_mapping) == "agent: expected a mapping with 'type', a name or a file, given ['dqn']"


# What follows from the arguments.


@pytest.mark.parametrize(("units", "acting"), [(4, "numpy"), (450, "backend")])
def test_small_networks_act_on_numpy(units, acting, backend):
    layers = [{"type": "dense", "units": units}, {"type": "dense", "units": units}]
    agent = Agent.from_spec({"type": "dqn", "network_spec": layers}, **{**SPACES, "backend": backend})
    assert agent.acting == acting


def test_the_target_starts_as_the_policy(make_agent, backend):
    weights = make_agent(backend).get_weights()
    names = [name for name in weights if name.startswith("dqn/policy/")]
    assert len(names) == 6
    assert any(weights[name].any() for name in names)
    for name in names:
        np.testing.assert_array_equal(weights[name.replace("dqn/", "dqn/target-policy/", 1)], weights[name])


def test_an_agent_that_exists_takes_no_arguments():
    agent = Agent.from_spec("dqn", env="CartPole-v1", backend="numpy")
    assert Agent.from_spec(agent) is agent
    with pytest.raises(SpecError, match="takes no further arguments, given seed"):
        Agent.from_spec(agent, seed=3)


def test_none_overrides_nothing():
    agent = Agent.from_spec({"type": "dqn", "backend": "numpy"}, env="CartPole-v1", backend=None)
    assert agent.executor.backend.name == "numpy"


def test_an_agent_says_what_it_is():
    bounds = FloatBox(low=np.arange(300.0), high=np.arange(300.0) + 1)
    agent = DQNAgent({"network_spec": [8]}, state_space=bounds, action_space=IntBox(2), backend="numpy")
    agent.observe(np.arange(300.0) + 0.5, 1, 1.0, True)
    kind, states, *others = repr(agent).splitlines()
    assert kind == "<DQNAgent on numpy"
    assert states.startswith("  states FloatBox(low=[0.0, 1.0, 2.0,") and len(states) <= 120
    assert others == [
        "  actions IntBox(low=0, high=2)",
        "  network dense 8",
        "  trained for 1 steps, 0 updates>",
    ]


@pytest.mark.parametrize("number", [1e-3, 1])
@pytest.mark.parametrize("agent", ["dqn", "ppo", "sac"])
def test_a_learning_rate_in_place_of_an_optimizer(agent, number):
    env = "Pendulum-v1" if agent == "sac" else "CartPole-v1"
    with pytest.raises(SpecError) as caught:
        Agent.check_spec({"type": agent, "optimizer_spec": number}, env=env)
    said = str(caught.value)
    assert "optimizer_spec" in said and "expected an Optimizer, " in said
    assert "a learning rate alone is {'type': 'adam', 'learning_rate': 0.001}" in said


def test_more_than_the_agent_by_position():
    for arguments, example in (
        (("MlpPolicy", "CartPole-v1"), "('ppo', env='CartPole-v1'); given 'MlpPolicy', 'CartPole-v1'"),
        (("dqn", "Acrobot-v1", 1), "('dqn', env='Acrobot-v1'); given 'dqn', 'Acrobot-v1', 1"),
        (({"type": "dqn"}, object), "({'type': 'dqn'}, env=env); given {'type': 'dqn'}, <class"),
        (("dqn", {"type": "grid_world"}), "('dqn', env={'type': 'grid_world'}); given"),
        (({}, "CartPole-v1"), "('ppo', env='CartPole-v1'); given {}"),
    ):
        with pytest.raises(SpecError) as caught:
            Agent.from_spec(*arguments)
        said = f"expected the agent by position and all else by name, as in Agent.from_spec{example}"
        assert said in str(caught.value)
    with pytest.raises(SpecError, match=r"as in PPOAgent\.from_spec\('ppo', env='CartPole-v1'\)"):
        PPOAgent.from_spec("ppo", "CartPole-v1")


def test_the_example_for_a_class_is_of_the_class():
    class Mine(DQNAgent):
        pass

    for kind, spec, shown in (
        (DQNAgent, "MlpPolicy", "'dqn'"),
        (DQNAgent, "ppo", "'dqn'"),
        (DQNAgent, {"type": "ppo"}, "'dqn'"),
        (DQNAgent, {"discount": 0.5}, "{'discount': 0.5}"),
        (Mine, "MlpPolicy", "{}"),
    ):
        with pytest.raises(SpecError) as caught:
            kind.from_spec(spec, "CartPole-v1")
        assert f"as in {kind.__name__}.from_spec({shown}, env='CartPole-v1'); given" in str(caught.value)
        kind.check_spec(ast.literal_eval(shown), env="CartPole-v1")


@pytest.mark.parametrize(
    "make",
    [
        lambda: Agent.from_spec("MlpPolicy", "CartPole-v1"),
        lambda: Agent.from_spec("MlpPolicy", env="CartPole-v1"),
        lambda: Agent.from_spec({"type": "MlpPolicy"}, env="CartPole-v1"),
        lambda: PPOAgent("MlpPolicy", "CartPole-v1"),
        lambda: PPOAgent("MlpPolicy", env="CartPole-v1"),
    ],
)
def test_a_policy_in_place_of_an_agent(make):
    said = "[^.]. Agents make their policy: leave 'MlpPolicy' out, and give its layers as network_spec"
    with pytest.raises(SpecError, match=said):
        make()


@pytest.mark.parametrize("device", ["cuda", "cuda:1", "GPU", "cpu", "mps"])
def test_a_device_in_place_of_a_backend(device):
    with pytest.raises(SpecError, match=rf"execution_spec\.device .*--set execution_spec\.device={device}\)"):
        Agent.from_spec("dqn", env="CartPole-v1", backend=device)
