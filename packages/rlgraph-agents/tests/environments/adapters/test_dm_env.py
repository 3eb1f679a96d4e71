"""The adapter for dm_env, against its own specs and time steps, and stand-ins for DeepMind Lab and dm_control."""

import dm_env
import numpy as np
import pytest
from dm_env import specs

from rlgraph.agents import Agent
from rlgraph.core import SpecError, allow_imports, data_specs
from rlgraph.environments import DmEnv, EnvironmentFault, make_environment
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, TextBox, Tuple


class Catch(dm_env.Environment):
    """A ball falls; after three steps the episode ends, by a limit if the last action was 2."""

    def __init__(self, seed=None, task_kwargs=None):
        self.rng = np.random.RandomState((task_kwargs or {}).get("random", seed))
        self.steps = 0

    def observation_spec(self):
        return specs.BoundedArray((3,), np.float64, -1.0, 1.0)

    def action_spec(self):
        return specs.DiscreteArray(3)

    def _seen(self):
        return self.rng.uniform(-1, 1, 3)

    def reset(self):
        self.steps = 0
        return dm_env.restart(self._seen())

    def step(self, action):
        self.steps += 1
        if self.steps < 3:
            return dm_env.transition(reward=0.5, observation=self._seen(), discount=0.9)
        end = dm_env.truncation if action == 2 else dm_env.termination
        return end(reward=np.float64(2.0), observation=self._seen())


class Lab(Catch):
    """The specs of DeepMind Lab (``deepmind_lab.dmenv_module.Lab``), which is not on PyPI."""

    def observation_spec(self):
        return {"RGB_INTERLEAVED": specs.Array((72, 96, 3), np.uint8), "INSTR": specs.StringArray(())}

    def action_spec(self):
        return {
            "LOOK_LEFT_RIGHT_PIXELS_PER_FRAME": specs.BoundedArray((), np.int32, -512, 512),
            "FIRE": specs.BoundedArray((), np.int32, 0, 1),
        }

    def _seen(self):
        return {"RGB_INTERLEAVED": np.zeros((72, 96, 3), np.uint8), "INSTR": "go"}


def test_ten_lines_learn_in_an_environment_of_dm_env():
    agent = Agent.from_spec({"type": "a2c", "rollout_length": 8}, env=Catch(seed=1), backend="torch", seed=1)
    result = agent.learn(32)
    assert result.timesteps == 32 and agent.evaluate(2).mean == pytest.approx(3.0)


def test_ends_are_terminal_where_the_discount_is_0():
    env = make_environment(Catch(seed=1))
    assert isinstance(env, DmEnv) and env.name == "Catch"
    for last, ends in ((0, (True, False)), (2, (False, True))):
        state = env.reset()
        assert state.dtype == np.float32 and env.state_space.contains(state)
        assert [env.step(0)[2:] for _ in range(2)] == [(False, False, {"discount": 0.9})] * 2
        _, reward, *ended, info = env.step(last)
        assert (reward, *ended) == (2.0, *ends) and info == {"discount": float(ends[1])}
        # dm_env itself would begin an episode here and ignore the action.
        with pytest.raises(EnvironmentFault, match=r"Catch: .*call reset"):
            env.step(0)


@pytest.mark.parametrize(
    ("spec", "space"),
    [
        (specs.Array((2,), np.float64), FloatBox(shape=(2,))),
        (
            specs.BoundedArray((2,), np.float32, [-1, 0], [1, np.inf]),
            FloatBox([-1, 0], [1, np.inf], shape=(2,)),
        ),
        (specs.Array((), np.bool_), BoolBox()),
        (specs.DiscreteArray(4), IntBox(4)),
        (specs.BoundedArray((2,), np.int32, 0, 3), IntBox([0, 0], [4, 4], shape=(2,), dtype="int32")),
        (specs.BoundedArray((), np.int64, 0, np.iinfo(np.int64).max - 1), IntBox(0, np.iinfo(np.int64).max)),
        (specs.Array((4, 4, 3), np.uint8), IntBox(256, shape=(4, 4, 3), dtype="uint8")),
        (specs.Array((3,), np.int8), IntBox(shape=(3,), dtype="int16")),
        (specs.StringArray(()), TextBox()),
        ([specs.DiscreteArray(2), (specs.DiscreteArray(3),)], Tuple(IntBox(2), Tuple(IntBox(3)))),
        ({"a": specs.DiscreteArray(2)}, Dict(a=IntBox(2))),
    ],
)
def test_spaces_are_those_of_the_specs(spec, space):
    env = Catch()
    env.observation_spec = lambda: spec
    assert make_environment(env).state_space.to_spec() == space.to_spec()


def test_specs_of_deepmind_lab():
    env = make_environment(Lab())
    assert (
        env.action_space["LOOK_LEFT_RIGHT_PIXELS_PER_FRAME"].to_spec()
        == IntBox(-512, 513, dtype="int32").to_spec()
    )
    env.reset()
    state, *_ = env.step(env.action_space.sample())
    assert env.state_space.contains(state) and state["INSTR"] == "go"


def test_a_seed_makes_a_new_environment():
    env = make_environment({"type": "dm_env", "environment": Catch, "seed_argument": "task_kwargs.random"})
    first, again, other = (env.reset(seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other) and not np.array_equal(env.reset(), other)
    assert env._arguments == {}


# The likeliest mistakes.


def test_errors_of_what_is_to_be_adapted():
    with pytest.raises(SpecError, match=r"environment: bsuite_x:load needs bsuite_x.*pip install bsuite-x"):
        DmEnv("bsuite_x:load")
    with pytest.raises(SpecError, match=r"DmEnv\.environment: 'json:load_nothing'"):
        DmEnv("json:load_nothing")
    with pytest.raises(SpecError, match=r"expected an environment of dm_env, given a dict"):
        DmEnv("builtins:dict")
    with pytest.raises(SpecError, match=r"or 'module:function', given 'catch/0'"):
        DmEnv("catch/0")
    with pytest.raises(SpecError, match=r"the environment exists: leave out its arguments"):
        DmEnv(Catch(), task="swingup")
    env = Catch()
    env.observation_spec = lambda: {"a": [specs.Array((), np.complex64)]}
    with pytest.raises(SpecError, match=r"DmEnv\.observation\.a\[0\]: a spec of dtype complex64"):
        make_environment(env)


def test_documents_import_what_the_user_allows():
    spec = {"type": "dm_env", "environment": "builtins:dict"}
    with data_specs():
        with pytest.raises(SpecError, match=r"allow it with --allow-imports builtins"):
            make_environment(spec)
        with allow_imports("builtins"), pytest.raises(SpecError, match="given a dict"):
            make_environment(spec)
