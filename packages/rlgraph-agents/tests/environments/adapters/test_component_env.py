"""Environment components against Gymnasium's environments, and as ordinary and vector environments."""

from functools import partial

import gymnasium
import numpy as np
import pytest

from rlgraph.components.environments.cart_pole import CartPole
from rlgraph.components.environments.pendulum import Pendulum
from rlgraph.core import GraphExecutor, SpecError, allow_imports, registry
from rlgraph.environments import EnvironmentFault, check_environment, make_environment, make_vector_env
from rlgraph.environments.adapters.component_env import environment_component

BACKENDS = registry("rlgraph.backends").names()
NAMES = ["CartPole", "Catch", "MaskedGrid", "Pendulum"]
LIMIT = 50


def pendulum_state(inner):
    return np.array([inner["angle"][0], inner["speed"][0]])


def pendulum_inner(state):
    return {"angle": state[:1], "speed": state[1:]}


TWINS = {
    "CartPole-v1": (CartPole, lambda inner: inner[0], lambda state: state[None]),
    "Pendulum-v1": (Pendulum, pendulum_state, pendulum_inner),
}


def stepper(kind, backend, dtype):
    component = kind().copies(1)
    spaces = {"task": component.task_space, "actions": component.action_space.with_batch_rank(1)}
    executor = GraphExecutor(
        component, spaces, backend=backend, execution_spec={"dtype": dtype, "threads": None}
    )
    return partial(executor.execute, "step")


def task_of(inner, steps=0, dtype="float64"):
    return {"inner": inner, "steps": np.array([steps]), "returns": np.zeros(1, dtype)}


@pytest.mark.parametrize("stepping", BACKENDS)
@pytest.mark.parametrize("name", TWINS)
def test_a_thousand_steps_are_those_of_gymnasium(name, stepping):
    kind, state_of, inner_of = TWINS[name]
    step, env = stepper(kind, stepping, "float64"), gymnasium.make(name)
    rng, clean = np.random.default_rng(0), env.unwrapped
    observation, _ = env.reset(seed=0)
    inner, steps, ends = inner_of(np.array(clean.state, float)), 0, 0
    for _ in range(1000):
        action = np.array(rng.integers(2)) if name == "CartPole-v1" else rng.uniform(-2.5, 2.5, 1)
        observation, reward, terminated, truncated, _ = env.step(action if action.ndim else int(action))
        after = step(task_of(inner, steps), np.clip(action, -2.0, 2.0)[None] if action.ndim else action[None])
        np.testing.assert_allclose(after["reached"][0], observation, atol=1e-6)
        np.testing.assert_allclose(after["rewards"][0], reward, atol=1e-6)
        assert (bool(after["terminated"][0]), bool(after["truncated"][0])) == (terminated, truncated)
        if terminated or truncated:
            env.reset()
            inner, steps, ends = inner_of(np.array(clean.state, float)), 0, ends + 1
            continue
        np.testing.assert_allclose(state_of(after["task"]["inner"]), clean.state, atol=1e-6)
        inner, steps = after["task"]["inner"], steps + 1
    assert ends >= 5


@pytest.mark.parametrize("name", TWINS)
def test_one_step_in_float32(name):
    kind, _, inner_of = TWINS[name]
    step, env, rng = (
        stepper(kind, "numpy", "float32"),
        gymnasium.make(name).unwrapped,
        np.random.default_rng(1),
    )
    env.reset(seed=0)
    for _ in range(300):
        limits = [2.4, 3.0, 0.2, 3.0] if name == "CartPole-v1" else [np.pi, 8.0]
        env.state = rng.uniform(-1.0, 1.0, len(limits)).astype(np.float32).astype(float) * limits
        env.steps_beyond_terminated = None
        action = (
            np.array(rng.integers(2))
            if name == "CartPole-v1"
            else rng.uniform(-2.0, 2.0, 1).astype(np.float32)
        )
        inner = inner_of(np.array(env.state, np.float32))
        observation, reward, *_ = env.step(int(action) if not action.ndim else action)
        after = step(task_of(inner, dtype="float32"), action[None])
        np.testing.assert_allclose(after["reached"][0], observation, rtol=2e-6, atol=2e-6)
        np.testing.assert_allclose(after["rewards"][0], reward, rtol=2e-6, atol=2e-6)


def legal(states, number, space, rng):
    if isinstance(states, dict):
        return np.array([rng.choice(np.flatnonzero(mask)) for mask in states["action_mask"]])
    return space.sample(number, rng=rng)


@pytest.mark.parametrize("name", NAMES)
def test_as_a_vector_environment(name):
    env, rng = make_vector_env(f"rlgraph/{name}-v1", 3), np.random.default_rng(0)
    states, ends = env.reset(seed=1), 0
    for _ in range(220):
        states, _, terminated, truncated, _ = env.step(legal(states, 3, env.action_space, rng))
        assert env.finished == np.flatnonzero(terminated | truncated).tolist()
        assert env.state_space.with_batch_rank().contains(states)
        ends += len(env.finished)
    assert ends >= 3
    held, action = env.get_states(), legal(states, 3, env.action_space, rng)
    first = [env.step(action) for _ in range(1)]
    other = make_vector_env(f"rlgraph/{name}-v1", 3)
    np.testing.assert_equal(other.set_states(held), states)
    np.testing.assert_equal([other.step(action) for _ in range(1)], first)


@pytest.mark.parametrize("name", NAMES)
def test_as_an_environment(name):
    report = check_environment(f"rlgraph/{name}-v1")
    assert not getattr(report, "faults", None), report
    env = make_environment(f"rlgraph/{name}-v1")
    with pytest.raises(EnvironmentFault, match="reset"):
        env.step(env.action_space.sample())
    one, two = (env.reset(seed=7) for _ in range(2))
    np.testing.assert_equal(one, two)


def test_pictures_show_what_is_there():
    env = make_vector_env("rlgraph/Catch-v1", 2)
    assert env.render() is None
    states = env.reset(seed=0)
    for i in range(2):
        blue, black = (
            (env.render(i)[::24, ::24] == colour).all(axis=-1) for colour in ((70, 90, 200), (20, 20, 20))
        )
        np.testing.assert_array_equal(blue | black, states[i] == 1.0)
    pole = CartPole()
    upright, right = (pole.draw(np.array([x, 0.0, angle, 0.0])) for x, angle in ((0.0, 0.0), (1.0, 0.2)))
    brown = [
        np.argwhere((picture == (200, 140, 90)).all(axis=-1)).mean(axis=0) for picture in (upright, right)
    ]
    assert abs(brown[0][1] - 120) < 1
    assert brown[1][1] - brown[0][1] == pytest.approx(45 + 40 * np.sin(0.2), abs=2)
    up, left = (Pendulum().draw({"angle": np.array(x), "speed": np.array(0.0)}) for x in (0.0, np.pi / 2))
    tops = [np.argwhere((picture == (200, 140, 90)).all(axis=-1)).mean(axis=0) for picture in (up, left)]
    assert tops[0][0] < 70 and abs(tops[0][1] - 100) < 2
    assert tops[1][1] < 70 and abs(tops[1][0] - 100) < 2


def test_seeds_and_episodes():
    env = make_vector_env("rlgraph/CartPole-v1", 2)
    first = env.reset(seed=3)
    assert not np.array_equal(first[0], first[1])
    again = env.reset()
    assert not np.array_equal(first, again)
    np.testing.assert_array_equal(env.reset(seed=3), first)


def test_specs_of_components():
    with allow_imports("rlgraph"):
        path = f"{CartPole.__module__}:CartPole"
        for spec in (
            "rlgraph/CartPole-v1",
            CartPole,
            CartPole(),
            path,
            {"type": "rlgraph/cartpole-v1"},
            {"type": path},
        ):
            component = environment_component(spec, 4)
            assert isinstance(component, CartPole)
            assert component.num_envs == 4
            assert make_vector_env(spec, 2).num_environments == 2
            assert make_environment(spec).state_space == CartPole.state_space
    assert environment_component("CartPole-v1") is None
    env = make_vector_env({"type": "rlgraph/Pendulum-v1", "parameters": {"gravity": 3.0}}, 1)
    assert env.executor.get_weights()["environment/parameters/gravity"] == 3.0
    env.set_parameters(gravity=2.0)
    assert env.executor.get_weights()["environment/parameters/gravity"] == 2.0
    with pytest.raises(SpecError, match="gravty"):
        make_environment({"type": "rlgraph/Pendulum-v1", "gravty": 3.0})
    with pytest.raises(SpecError, match=r"size"):
        make_environment({"type": "rlgraph/MaskedGrid-v1", "size": 1})


@pytest.mark.parametrize("stepping", BACKENDS)
def test_any_backend_steps_it(stepping):
    env = make_vector_env({"type": "rlgraph/MaskedGrid-v1", "backend": stepping}, 2)
    rng, states = np.random.default_rng(0), env.reset(seed=1)
    for _ in range(20):
        states, *_ = env.step(legal(states, 2, env.action_space, rng))
    np.testing.assert_array_equal(env.reset(seed=1)["place"], env.reset(seed=1)["place"])
