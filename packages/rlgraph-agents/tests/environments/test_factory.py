"""make_environment with environments of other classes."""

import pickle

import gymnasium
import numpy as np
import pytest

from rlgraph.core import data_specs, registry
from rlgraph.core.errors import SpecError
from rlgraph.environments import (
    DeterministicEnv,
    Environment,
    GridWorld,
    OpenAIGymEnv,
    ProtocolEnv,
    check_environment,
    factory,
    make_environment,
    make_vector_env,
)
from rlgraph.spaces import FloatBox, IntBox


class Corridor:
    """Somebody's own class: five fields, the last one is the end."""

    state_space = IntBox(5)

    def __init__(self, length=5):
        self.action_space = {"type": "int", "low": 0, "high": 2}  # the spec of a Space will do
        self.length, self.terminated = length, False

    def reset(self, seed=None):
        self.at = 0
        return self.at

    def step(self, action):
        self.at += int(action)
        done = self.at == self.length - 1
        return self.at, float(done), done, False, {}

    def terminate(self):
        self.terminated = True


def test_an_object_with_the_protocol_is_an_environment():
    mine = Corridor()
    env = make_environment(mine)
    assert isinstance(env, Environment) and isinstance(env, ProtocolEnv) and env.name == "Corridor"
    assert env.action_space == IntBox(2) and env.render() is None and env.get_state() is None
    assert env.reset(seed=1) == 0 and env.step(1) == (1, 0.0, False, False, {})
    with pytest.raises(NotImplementedError, match="Corridor cannot restore its state"):
        env.set_state({})
    env.terminate()
    assert mine.terminated


def test_what_it_has_beyond_the_protocol_is_used():
    class More(Corridor):
        name = "the long corridor"

        def render(self):
            return "picture"

        def get_state(self):
            return {"at": self.at}

        def set_state(self, state):
            self.at = state["at"]
            return self.at

        def unchecked_step(self):
            return self.fast

        def fast(self, action):
            return 4, 1.0, True, False, {}

    env = make_environment(More())
    env.reset()
    assert (env.name, env.render(), env.get_state()) == ("the long corridor", "picture", {"at": 0})
    assert env.set_state({"at": 3}) == 3 and env.unchecked_step()(0)[0] == 4


@pytest.mark.parametrize(
    "spec",
    [
        Corridor,
        lambda: Corridor(5),
        {"type": Corridor, "length": 5},
        {"type": f"{__name__}:Corridor", "length": 5},
    ],
)
def test_classes_functions_and_mappings(spec):
    assert isinstance(make_environment(spec), ProtocolEnv)
    vector = make_vector_env(spec, 2)
    assert vector.reset(seed=1).tolist() == [0, 0]
    for _ in range(4):
        states, rewards, terminated, *_ = vector.step(np.array([1, 0]))
    assert rewards.tolist() == [1, 0] and terminated.tolist() == [True, False] and states.tolist() == [0, 0]


def test_everything_that_is_missing_is_listed():
    class Half:
        state_space = FloatBox(shape=(2,))

        def reset(self):
            pass

        def step(self, action):
            pass

    with pytest.raises(SpecError) as error:
        make_environment(Half(), path="run.environment")
    message = str(error.value)
    assert message.startswith("run.environment: Half is not an environment; it lacks")
    assert "action_space: a Space" in message and "terminate: def terminate(self): pass" in message
    assert "state_space:" not in message and "step:" not in message


def test_one_object_is_one_environment():
    with pytest.raises(SpecError, match="num_envs: expected an id, a spec or a function, of which 2"):
        make_vector_env(Corridor(), 2)


def test_what_is_no_environment():
    with pytest.raises(SpecError, match=r"environment.type: .*gives a dict, no Environment"):
        make_environment({"type": dict})
    with pytest.raises(
        SpecError, match=r"environment.type: expected a single environment, given the vector env"
    ):
        make_environment({"type": lambda: make_vector_env("CartPole-v1", 2)})
    with pytest.raises(SpecError, match="expected an environment, its name, a gymnasium id"):
        make_environment(3)
    with pytest.raises(SpecError, match=r"environment.lenght: .*Did you mean 'length'"):
        make_environment({"type": Corridor, "lenght": 3})


def test_check_environment_takes_it():
    checks = {finding.check: finding.level for finding in check_environment(Corridor())}
    assert "error" not in checks.values()


def test_names():
    known = registry("rlgraph.environments")
    assert all(known.load(name) is OpenAIGymEnv for name in ("openai", "openai_gym", "gym"))
    assert isinstance(make_environment("deterministic"), DeterministicEnv)


def test_a_class_by_its_place():
    environment = make_environment("rlgraph.environments.worlds.deterministic_env:DeterministicEnv")
    assert isinstance(environment, DeterministicEnv)
    with pytest.raises(SpecError, match=r"module 'rlgraph.environments' has no 'DeterministikEnv'"):
        make_environment("rlgraph.environments:DeterministikEnv")


def test_processes_import_what_may_be_imported_here(monkeypatch):
    monkeypatch.setattr(factory, "ProcessVectorEnv", lambda make, number: make)
    spec = "rlgraph.environments.worlds.deterministic_env:DeterministicEnv"
    with data_specs():
        make = factory.make_process_vector_env(spec, 1)
    with pytest.raises(SpecError, match="--allow-imports rlgraph.environments.worlds.deterministic_env"):
        pickle.loads(pickle.dumps(make))()
    assert isinstance(factory.make_process_vector_env(spec, 1)(), DeterministicEnv)


class ManyAgents:
    """What PettingZoo's environments have in common."""

    possible_agents = ("left", "right")

    def observation_space(self, agent):
        return FloatBox(shape=(2,))

    def reset(self, seed=None, options=None):
        return {}, {}

    def step(self, actions):
        raise AssertionError("a refused environment is not used")


class Parallel(ManyAgents, gymnasium.Env):
    """As the class of Ray's RLlib, which is a `gymnasium.Env` with spaces by agent."""

    observation_space = action_space = gymnasium.spaces.Dict(left=gymnasium.spaces.Discrete(2))


@pytest.mark.parametrize(
    "env",
    [ManyAgents, ManyAgents(), Parallel(), gymnasium.Wrapper(Parallel()), f"{__name__}:Parallel"],
)
def test_several_agents_are_refused(env):
    with pytest.raises(
        SpecError, match=r"environment.*expected an environment of one agent, given a .* of several: if "
    ):
        make_environment(env)
    with pytest.raises(SpecError, match="a vector environment with a row for each"):
        make_vector_env(env, 1)


class Unchanged:
    """As written for gym before 0.26."""

    def __init__(self):
        self.observation_space, self.action_space = gymnasium.spaces.Discrete(2), gymnasium.spaces.Discrete(2)

    def reset(self):
        return 0

    def step(self, action):
        return 0, 0.0, False, {}


OldGymEnv = type("OldGymEnv", (type("Env", (Unchanged,), {"__module__": "gym.core"}),), {})


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (OldGymEnv, "OldGymEnv is of the old package gym"),
        (Unchanged, "Unchanged has an observation_space, but is no gymnasium.Env"),
    ],
)
def test_environments_of_the_old_gym_are_told_what_to_change(kind, said):
    said += r".*derive the class from gymnasium\.Env.*gymnasium\.spaces.*reset\(\*, seed.*terminated, truncated, info\)"
    for spec in (kind(), kind, {"type": kind}, f"{__name__}:{kind.__name__}"):
        with pytest.raises(SpecError, match=rf"^environment[a-z.]*: {said}"):
            make_environment(spec)
        with pytest.raises(SpecError, match=said):
            make_vector_env(spec, 1)
    with pytest.raises(SpecError, match=said) as error:
        OpenAIGymEnv(kind())
    assert ("GymV21CompatibilityV0" in str(error.value)) == (kind is OldGymEnv)


def test_a_class_makes_environments_from_specs():
    env = Environment.from_spec({"type": "grid_world", "world": "2x2"})
    assert isinstance(env, GridWorld) and isinstance(OpenAIGymEnv.from_spec("CartPole-v1"), OpenAIGymEnv)
    with pytest.raises(
        SpecError, match="environment: expected the spec of a GridWorld, given that of <CartPole-v1"
    ):
        GridWorld.from_spec("CartPole-v1")
