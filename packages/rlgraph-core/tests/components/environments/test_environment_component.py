"""The base class of environment components: what it does once for all tasks, and what it refuses."""

import random
from typing import ClassVar

import numpy as np
import pytest

from rlgraph.components.environments.environment_component import EnvironmentComponent
from rlgraph.core import BuildError, RLGraphError, SpecError, graph_fn
from rlgraph.spaces import Dict, FloatBox, IntBox, SpaceError
from rlgraph.testing import ComponentTest

LAST, LIMIT = 3, 5


class Corridor(EnvironmentComponent):
    """Places 0 to 3, from a random one of the first two; actions are left and right; the last place ends an episode."""

    state_space, action_space, max_episode_steps = FloatBox(shape=(1,)), IntBox(2), LIMIT
    inner_space = Dict({"place": IntBox(LAST + 1), "wind": FloatBox(shape=(2,))})
    default_parameters: ClassVar = {"reward": -1.0}

    @graph_fn
    def begin(self, ops, count):
        return {"place": ops.random_integers((count,), 0, 2), "wind": ops.random_uniform((count, 2))}

    @graph_fn
    def transition(self, ops, inner, actions):
        place = ops.clip(inner["place"] + 2 * actions - 1, 0, LAST)
        rewards = ops.zeros_like(ops.astype(place, "float")) + ops.read(self.parameters["reward"])
        return {"place": place, "wind": inner["wind"]}, rewards, place == LAST

    @graph_fn
    def observe(self, ops, inner):
        return ops.expand_dims(ops.astype(inner["place"], "float"), -1)


def built(environment, number):
    environment = environment.copies(number)
    spaces = {"task": environment.task_space, "actions": environment.action_space.with_batch_rank(number)}
    return ComponentTest(environment, spaces, backend="numpy")


def task_at(places, steps, returns):
    number = len(places)
    inner = {"place": np.array(places), "wind": np.arange(2.0 * number, dtype=np.float32).reshape(number, 2)}
    return {"inner": inner, "steps": np.array(steps), "returns": np.array(returns, np.float32)}


def test_an_end_is_followed_by_a_new_episode_within_the_step():
    test = built(Corridor(), 4)
    before = task_at([2, 1, 2, 0], steps=[1, 2, 4, 4], returns=[-1.0, -2.0, -4.0, -4.0])
    after = test.test(("step", [before, [1, 0, 1, 0]]))
    np.testing.assert_array_equal(after["reached"][:, 0], [3, 0, 3, 0])
    np.testing.assert_array_equal(after["rewards"], [-1.0] * 4)
    np.testing.assert_array_equal(after["terminated"], [True, False, True, False])
    # The third reaches the end and the limit at once: it is terminated, not truncated.
    np.testing.assert_array_equal(after["truncated"], [False, False, False, True])
    np.testing.assert_array_equal(after["ends"], [True, False, True, True])
    np.testing.assert_array_equal(after["returns"], [-2.0, -3.0, -5.0, -5.0])
    np.testing.assert_array_equal(after["lengths"], [2, 3, 5, 5])
    task = after["task"]
    np.testing.assert_array_equal(task["steps"], [0, 3, 0, 0])
    np.testing.assert_array_equal(task["returns"], [0.0, -3.0, 0.0, 0.0])
    np.testing.assert_array_equal(after["states"][:, 0], task["inner"]["place"])
    assert task["inner"]["place"][1] == 0
    np.testing.assert_array_equal(task["inner"]["wind"][1], before["inner"]["wind"][1])
    ended = [0, 2, 3]
    assert np.isin(task["inner"]["place"][ended], [0, 1]).all()
    assert not np.isin(task["inner"]["wind"][ended], before["inner"]["wind"]).any()


def test_new_episodes_are_drawn_for_each_copy():
    begun = built(Corridor(), 200).test(("reset", []))
    assert 60 < begun["task"]["inner"]["place"].sum() < 140
    assert len(np.unique(begun["task"]["inner"]["wind"])) > 390
    np.testing.assert_array_equal(begun["states"][:, 0], begun["task"]["inner"]["place"])
    assert not begun["task"]["steps"].any()
    assert not begun["task"]["returns"].any()


def test_without_a_limit_only_terminations_end_an_episode():
    class Endless(Corridor):
        max_episode_steps = None

    after = built(Endless(), 2).test(("step", [task_at([2, 1], [10**6, 10**6], [0.0, 0.0]), [1, 1]]))
    np.testing.assert_array_equal(after["ends"], [True, False])
    assert not after["truncated"].any()


def test_parameters_are_variables():
    test = built(Corridor(parameters={"reward": 2.0}), 1)
    actions = [task_at([0], [0], [0.0]), [0]]
    assert test.test(("step", actions))["rewards"] == [2.0]
    test.executor.set_weights({"environment/parameters/reward": np.float32(-7.0)})
    assert test.test(("step", actions))["rewards"] == [-7.0]
    with pytest.raises(SpecError, match=r"environment\.parameters\.rewards: .*'reward'"):
        Corridor(parameters={"rewards": 1.0})


def test_a_class_says_all_that_is_needed():
    class Half(EnvironmentComponent):
        state_space, action_space, inner_space = FloatBox(shape=(1,)), IntBox(2), FloatBox()

    with pytest.raises(SpecError, match=r"Half\.max_episode_steps: .*None, where transition terminates"):
        Half()
    Half.max_episode_steps = 10
    with pytest.raises(SpecError, match=r"Half\.begin: expected a graph function of the class"):
        Half()
    Half.begin, Half.transition, Half.observe = Corridor.begin, Corridor.transition, Corridor.observe
    Half.max_episode_steps = 0
    with pytest.raises(SpecError, match=r"Half\.max_episode_steps"):
        Half()
    with pytest.raises(SpecError, match="num_envs"):
        Corridor().copies(0)


@pytest.mark.parametrize("number", [2, True])
def test_another_number_of_copies_is_named(number):
    spaces = {
        "task": Corridor().task_space.with_batch_rank(number),
        "actions": Corridor.action_space.with_batch_rank(number),
    }
    with pytest.raises(SpaceError, match=r"of 1 copies.*copies\(N\) makes them.*environment\.num_envs"):
        ComponentTest(Corridor(), spaces, backend="numpy")


def frozen(self, ops, count):
    return {"place": ops.zeros((count,), dtype="int64"), "wind": ops.zeros((count, 2)) + random.random()}


def test_numbers_that_are_drawn_once_are_warned_of():
    with pytest.warns(RuntimeWarning, match="numpy.random were drawn while the graph was built"):
        built(faulty(begin=frozen), 2)


def faulty(**functions):
    return type("Faulty", (Corridor,), {name: graph_fn(function) for name, function in functions.items()})()


def begin(self, ops, count):
    return {"place": ops.zeros((count,), dtype="int64"), "wind": ops.zeros((count, 3))}


def all_at_once(self, ops, count):
    return {"place": ops.zeros((), dtype="int64"), "wind": ops.zeros((2,))}


def turned(self, ops, inner, actions):
    place = ops.astype(inner["place"], "float")
    return {"place": place, "wind": inner["wind"]}, place, inner["place"] == LAST


def one_reward(self, ops, inner, actions):
    return inner, ops.sum(ops.astype(inner["place"], "float")), inner["place"] == LAST


def whole_rewards(self, ops, inner, actions):
    return inner, inner["place"], inner["place"] == LAST


def numbers_for_ends(self, ops, inner, actions):
    place = ops.astype(inner["place"], "float")
    return inner, place, place


def four_values(self, ops, inner, actions):
    place = ops.astype(inner["place"], "float")
    return inner, place, inner["place"] == LAST, {}


def two_values(self, ops, inner, actions):
    return inner, ops.astype(inner["place"], "float")


def small_integers(self, ops, inner, actions):
    place = ops.astype(inner["place"], "float")
    return {**inner, "place": ops.astype(inner["place"], "int32")}, place, inner["place"] == LAST


def two_states(self, ops, inner):
    return inner["wind"]


@pytest.mark.parametrize(
    "functions, said",
    [
        ({"begin": begin}, r"Faulty\.begin: .*inner_space of 2 copies"),
        ({"begin": all_at_once}, r"Faulty\.begin: .*inner_space of 2 copies"),
        ({"transition": turned}, r"Faulty\.transition: .*inner_space of 2 copies"),
        ({"transition": one_reward}, r"Faulty\.transition: .*rewards of 2 copies"),
        ({"transition": whole_rewards}, r"Faulty\.transition: .*rewards of 2 copies"),
        ({"transition": numbers_for_ends}, r"Faulty\.transition: .*terminated of 2 copies"),
        ({"transition": four_values}, r"Faulty\.transition: .*a tuple of inner, rewards and terminated"),
        ({"transition": two_values}, r"Faulty\.transition: .*a tuple of inner, rewards and terminated"),
        ({"transition": small_integers}, r"Faulty\.transition: .*inner_space of 2 copies.*int32"),
        ({"observe": two_states}, r"Faulty\.observe: .*state_space of 2 copies"),
    ],
)
def test_what_does_not_fit_is_named_at_the_build(functions, said):
    with pytest.raises((BuildError, SpaceError, RLGraphError), match=said):
        built(faulty(**functions), 2)
