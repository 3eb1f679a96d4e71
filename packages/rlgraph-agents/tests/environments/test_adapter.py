"""Adapters of other distributions, which are found as RLgraph's own."""

from copy import copy

import numpy as np
import pytest

from rlgraph.agents import Agent
from rlgraph.algorithms.presets import find_preset
from rlgraph.core import SpecError, registry
from rlgraph.environments import (
    Environment,
    EnvironmentAdapter,
    OpenAIGymEnv,
    SequentialVectorEnv,
    make_environment,
    make_vector_env,
)
from rlgraph.environments.adapter import adapters
from rlgraph.environments.factory import environment_settings, is_instance, is_vector, is_vector_instance
from rlgraph.spaces import FloatBox, IntBox


class Game:
    """An environment of another library; neither `reset` nor `step` is there."""

    def __init__(self, length):
        self.length = length

    def restart(self):
        self.at = 0


class GameEnvironment(Environment):
    def __init__(self, game):
        super().__init__(FloatBox(0.0, 1.0, shape=(1,)), IntBox(2))
        self.game = game

    def reset(self, seed=None):
        self.game.restart()
        return self.state()

    def step(self, action):
        self.game.at += 1
        return self.state(), float(action), self.game.at == self.game.length, False, {}

    def state(self):
        return np.array([self.game.at / self.game.length], np.float32)


class Games(SequentialVectorEnv):
    """Several games."""


class GameAdapter(EnvironmentAdapter):
    """``"game:5"``, ``{"type": "games", "length": 5}`` (only several at once), and objects."""

    vectorization = "games"

    def understands(self, spec):
        if isinstance(spec, dict):
            return spec.get("type") == "games"
        return isinstance(spec, Game) or (isinstance(spec, str) and spec.startswith("game/"))

    def is_vector(self, spec):
        return isinstance(spec, dict)

    def make(self, spec, path):
        if self.is_vector(spec):
            raise SpecError("only several games", path=path)
        return GameEnvironment(spec if isinstance(spec, Game) else Game(int(spec.removeprefix("game/"))))

    def prefers_vector(self, spec, num_envs):
        return not isinstance(spec, Game) and num_envs > 3

    def make_vector(self, spec, num_envs=1):
        length = spec["length"] if self.is_vector(spec) else int(spec.removeprefix("game/"))
        return Games([lambda: GameEnvironment(Game(length))] * num_envs)


@pytest.fixture
def known(monkeypatch):
    found = registry("rlgraph.environment_adapters")
    for name in ("_plugins", "_objects"):
        monkeypatch.setattr(found, name, copy(getattr(found, name)))
    return found


@pytest.fixture
def games(known):
    known.register("games", GameAdapter)


def test_ours_are_registered_in_this_order():
    names = [type(adapter).__name__ for adapter in adapters()]
    assert names == [
        "ComponentAdapter",
        "GymnasiumAdapter",
        "DmEnvAdapter",
        "EnvPoolAdapter",
        "ProtocolAdapter",
    ]


def test_single_environments(games):
    for spec in ("game/5", Game(5), lambda: "game/5", lambda: Game(5), {"type": lambda: Game(5)}):
        env = make_environment(spec)
        assert isinstance(env, GameEnvironment) and env.game.length == 5
    assert is_instance(Game(5)) and not is_instance("game/5") and not is_vector("game/5")
    with pytest.raises(SpecError, match=r"^here: only several games"):
        make_environment({"type": "games", "length": 5}, path="here")


def test_vector_environments(games):
    assert type(make_vector_env("game/5", 3)) is SequentialVectorEnv
    assert type(make_vector_env("game/5", 4, "sequential")) is SequentialVectorEnv
    assert type(make_vector_env("game/5", 4, validate_states=True)) is SequentialVectorEnv
    spec = {"type": "games", "length": 5}
    assert is_vector(spec) and not is_vector_instance(spec) and not is_instance(spec)
    for vector in (
        make_vector_env("game/5", 4),
        make_vector_env("game/5", 2, "games", validate_states=True),
        make_vector_env(spec, 2, validate_states=True),
    ):
        assert type(vector) is Games and vector.reset().shape == (vector.num_environments, 1)
        assert vector.validate_states == (vector.num_environments == 2)
    with pytest.raises(SpecError, match="num_envs: expected an id, a spec or a function, of which 2"):
        make_vector_env(Game(5), 2)
    with pytest.raises(
        SpecError, match="expected one of auto, sequential, processes, games, native, envpool, given"
    ):
        make_vector_env("game/5", 2, "game")


@pytest.mark.parametrize("env", ["game/5", Game(5), {"type": "games", "length": 5}])
def test_agents_learn_in_them(games, env):
    agent = Agent.from_spec({"type": "random"}, env=env, backend="numpy")
    assert agent.state_space == FloatBox(0.0, 1.0, shape=(1,))
    assert agent.learn(10).timesteps == 10 and agent.evaluate(2).lengths == (5, 5)


def test_presets_need_settings(games, monkeypatch):
    assert environment_settings("game/5") is None and find_preset("ppo", "game/5") is None
    assert environment_settings(Game(5)) is None
    monkeypatch.setattr(
        GameAdapter, "settings", lambda self, spec: {"type": "openai_gym", "gym_env": "CartPole-v1"}
    )
    assert find_preset("ppo", "game/5").name == "ppo/CartPole-v1"


def test_the_order_decides(known):
    class Cart(GameAdapter):
        def understands(self, spec):
            return spec in ("CartPole-v1", "deterministic")

        def make(self, spec, path):
            return GameEnvironment(Game(2))

    known.register("cart", Cart)
    assert isinstance(make_environment("CartPole-v1"), GameEnvironment)
    assert not isinstance(make_environment("deterministic"), GameEnvironment)  # registered names go first
    Cart.order = 100
    assert isinstance(make_environment("CartPole-v1"), OpenAIGymEnv)


def test_a_broken_adapter_leaves_the_others(known):
    class Half(EnvironmentAdapter):
        def understands(self, spec):
            return True

    known.register("broken", "no_such_package.thing:Thing")
    with pytest.warns(
        RuntimeWarning, match=r"environment adapter 'broken' of this program cannot be loaded from "
    ):
        assert isinstance(make_environment("CartPole-v1"), OpenAIGymEnv)
    known.register("broken", Half)
    with pytest.warns(RuntimeWarning, match="abstract class Half .*'?make'?.* Its environments are left out"):
        assert isinstance(make_environment("CartPole-v1"), OpenAIGymEnv)


def test_not_every_adapter_makes_vector_environments(known):
    class Single(GameAdapter):
        make_vector = EnvironmentAdapter.make_vector

    known.register("single", Single)
    with pytest.raises(NotImplementedError, match="Single makes no vector environments"):
        make_vector_env("game/5", 4)
