"""Many steps in one call, against numbers written down by hand; the environment counts 0, 1, 2, ... in each episode."""

from types import SimpleNamespace

import numpy as np
import pytest

from rlgraph.components import ActorComponent, EnvironmentStepper, Policy, QPolicy, Reshape
from rlgraph.core import (
    AssemblyError,
    Component,
    GraphExecutor,
    InputError,
    PluginError,
    SpecError,
    graph_fn,
    rlgraph_api,
)
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, SpaceError, Tuple
from rlgraph.testing import ComponentTest
from rlgraph.testing.environments import CountingEnvironment as Counting

LAYERS = [{"type": "dense", "units": 8}]
METHOD = "get_q_values_and_action"


class Half(Component):
    """The action is half of the state."""

    @rlgraph_api
    def get_action(self, states):
        return {"action": self._half(states), "doubled": self._double(states)}

    @graph_fn
    def _half(self, ops, states):
        return ops.astype(states[:, 0] / 2.0, "int64")

    @graph_fn
    def _double(self, ops, states):
        return states * 2.0


class Remembering(Component):
    """Adds up the states of an episode, and acts by the parity of the sum."""

    @rlgraph_api
    def get_action(self, observations):
        action, internal_states = self._add(observations["states"], observations["internal_states"])
        return {"action": action, "internal_states": internal_states}

    @graph_fn(returns=2)
    def _add(self, ops, states, internal_states):
        total = internal_states["total"] + states
        return ops.astype(total[:, 0], "int64") % 2, {"total": total}


class Echo(Component):
    """The action is the previous one plus one; other parts of what it is given come back."""

    def __init__(self, state="state"):
        self.state = state
        super().__init__(scope="echo")

    @rlgraph_api
    def get_action(self, states):
        return {"action": self._next(states["previous_action"]), "given": states}

    @graph_fn
    def _next(self, ops, previous_action):
        return (previous_action + 1) % 4


class Flat(Component):
    """State and previous action as numbers in a row, for a recurrent policy."""

    def __init__(self, policy):
        self.policy = policy
        super().__init__(policy, scope="flat")

    @rlgraph_api
    def get_action(self, observations):
        return self.policy.get_action({**observations, "states": self._join(observations["states"])})

    @graph_fn
    def _join(self, ops, states):
        previous = ops.astype(states["previous_action"], "float")
        return ops.concat([states["state"] * 0.01, ops.expand_dims(previous, -1)], axis=-1)


def stepper(environment, actor, num_steps=5, backend="numpy", spaces=None, seed=10, **options):
    component = EnvironmentStepper(environment, actor, num_steps, **options)
    return ComponentTest(component, spaces or {}, backend=backend, seed=seed)


# Usage.


def test_a_policy_acts_in_an_environment(backend):
    policy = Policy(LAYERS, IntBox(4), deterministic=False)
    test = stepper(
        Counting,
        policy,
        num_steps=7,
        backend=backend,
        actor_method="get_action_and_log_likelihood",
        extra_returns=["log_likelihood"],
    )
    found = test.test(("step", []))
    assert {name: values.shape for name, values in found.items()} == {
        "states": (8, 1),
        "actions": (7,),
        "rewards": (7,),
        "terminated": (7,),
        "truncated": (7,),
        "next_states": (7, 1),
        "log_likelihood": (7,),
    }
    assert (found["log_likelihood"] < 0.0).all()
    probability = GraphExecutor(
        Policy(LAYERS, IntBox(4)),
        {
            "observations": FloatBox(shape=(1,), add_batch_rank=True),
            "actions": IntBox(4, add_batch_rank=True),
        },
        backend="numpy",
    )
    probability.set_weights({n.partition("/")[2]: v for n, v in test.executor.get_weights().items()})
    expected = probability.execute("get_log_likelihood", found["states"][:-1], found["actions"])
    np.testing.assert_allclose(found["log_likelihood"], expected["log_likelihood"], atol=1e-5)


def test_one_environment_over_two_calls(backend):
    test = stepper(Counting(steps_to_end=4), Half(scope="half"), backend=backend)
    test.test(
        ("step", []),
        expected_outputs={
            "states": [[0.0], [1.0], [2.0], [3.0], [0.0], [1.0]],
            "actions": [0, 0, 1, 1, 0],
            "rewards": [0.0, 10.0, 21.0, 31.0, 0.0],
            "terminated": [False, False, False, True, False],
            "truncated": [False] * 5,
            "next_states": [[1.0], [2.0], [3.0], [4.0], [1.0]],
        },
    )
    test.test(
        ("step", []),
        expected_outputs={
            "states": [[1.0], [2.0], [3.0], [0.0], [1.0], [2.0]],
            "actions": [0, 1, 1, 0, 0],
            "rewards": [10.0, 21.0, 31.0, 0.0, 10.0],
            "terminated": [False, False, True, False, False],
            "truncated": [False] * 5,
            "next_states": [[2.0], [3.0], [4.0], [1.0], [2.0]],
        },
    )


def test_several_environments_and_both_ends(backend):
    environments = [Counting(2), Counting(3, truncates=True)]
    test = stepper(environments, Half(scope="half"), 4, backend, extra_returns=["doubled"])
    test.test(
        ("step", []),
        expected_outputs={
            "states": [[[0], [0]], [[1], [1]], [[0], [2]], [[1], [0]], [[0], [1]]],
            "actions": [[0, 0], [0, 0], [0, 1], [0, 0]],
            "rewards": [[0.0, 0.0], [10.0, 10.0], [0.0, 21.0], [10.0, 0.0]],
            "terminated": [[False, False], [True, False], [False, False], [True, False]],
            "truncated": [[False, False], [False, False], [False, True], [False, False]],
            "next_states": [[[1], [1]], [[2], [2]], [[1], [3]], [[2], [1]]],
            "doubled": [[[0], [0]], [[2], [2]], [[0], [4]], [[2], [0]]],
        },
    )
    one = stepper(Counting, Half(scope="half"), 4, backend, num_environments=1)
    assert one.test(("step", []))["states"].shape == (5, 1, 1)


def test_what_the_actor_remembers(backend):
    test = stepper(
        Counting(steps_to_end=3),
        Remembering(scope="remembering"),
        backend=backend,
        internal_states_space=Dict(total=FloatBox(shape=(1,))),
    )
    # The sums 0, 1, 3 of an episode, then again from 0: internal_states[t] is what states[t] came with.
    for states, totals, actions in (
        ([0, 1, 2, 0, 1, 2], [0, 0, 1, 0, 0, 1], [0, 1, 1, 0, 1]),
        ([2, 0, 1, 2, 0, 1], [1, 0, 0, 1, 0, 0], [1, 0, 1, 1, 0]),
    ):
        found = test.test(("step", []))
        assert found["states"][:, 0].tolist() == states
        assert found["internal_states"]["total"][:, 0].tolist() == totals
        assert found["actions"].tolist() == actions


def test_a_recurrent_policy(backend):
    """Step by step it does what the same policy makes of each episode's states as a sequence."""
    layers = [{"type": "lstm", "units": 4}]
    test = stepper(
        Counting(steps_to_end=3),
        Policy(layers, IntBox(4)),
        num_steps=5,
        backend=backend,
        actor_method="get_action_and_log_likelihood",
        extra_returns=["log_likelihood"],
    )
    found = [test.test(("step", [])) for _ in range(2)]
    states, actions, log_likelihood = (
        np.concatenate([each[name][:5] for each in found]) for name in ("states", "actions", "log_likelihood")
    )
    assert states[:, 0].tolist() == [0, 1, 2, 0, 1, 2, 0, 1, 2, 0]
    in_time = {"add_batch_rank": True, "add_time_rank": True, "time_major": True}
    whole = GraphExecutor(
        Policy(layers, IntBox(4)),
        {"observations": FloatBox(shape=(1,), **in_time), "actions": IntBox(4, **in_time)},
        backend="numpy",
    )
    whole.set_weights({n.partition("/")[2]: v for n, v in test.executor.get_weights().items()})
    for episode in (slice(0, 3), slice(3, 6), slice(6, 9)):
        expected = whole.execute("get_log_likelihood", states[episode, None], actions[episode, None])
        np.testing.assert_allclose(log_likelihood[episode], expected["log_likelihood"][:, 0], atol=1e-5)


def test_previous_action_and_reward(backend):
    test = stepper(
        Counting(steps_to_end=3),
        Echo(),
        backend=backend,
        add_previous_action_to_state=True,
        add_previous_reward_to_state=True,
        extra_returns=["given"],
    )
    found = test.test(("step", []))
    # 1, 2, 3 in every episode: nothing before its first step.
    assert found["actions"].tolist() == [1, 2, 3, 1, 2]
    assert found["rewards"].tolist() == [1.0, 12.0, 23.0, 1.0, 12.0]
    assert found["given"]["previous_action"].tolist() == [0, 1, 2, 0, 1]
    assert found["given"]["previous_reward"].tolist() == [0.0, 1.0, 12.0, 0.0, 1.0]
    np.testing.assert_array_equal(found["given"]["state"], found["states"][:-1])
    found = test.test(("step", []))
    assert found["given"]["previous_action"].tolist() == [2, 0, 1, 2, 0]
    assert found["given"]["previous_reward"].tolist() == [12.0, 0.0, 1.0, 12.0, 0.0]


def test_categories_of_states_and_previous_actions(backend):
    """What networks make one-hot vectors of keeps its number of categories from step to step."""

    class OneHot(Component):
        """The action is the state plus one; what it is given comes back one-hot."""

        def __init__(self):
            self.reshape = Reshape(flatten=True, scope="reshape")
            super().__init__(self.reshape, scope="one-hot")

        @rlgraph_api
        def get_action(self, states):
            one_hot = {name: self.reshape.call(states[name]) for name in ("state", "previous_action")}
            return {"action": self._next(states["state"]), "one_hot": one_hot}

        @graph_fn
        def _next(self, ops, state):
            return state + 1

    test = stepper(
        Counting(steps_to_end=3, state_space=IntBox(4)),
        OneHot(),
        backend=backend,
        add_previous_action_to_state=True,
        extra_returns=["one_hot"],
    )
    found = test.test(("step", []))
    assert found["states"].tolist() == [0, 1, 2, 0, 1, 2]
    np.testing.assert_array_equal(found["one_hot"]["state"], np.eye(4)[[0, 1, 2, 0, 1]])
    np.testing.assert_array_equal(found["one_hot"]["previous_action"], np.eye(4)[[0, 1, 2, 0, 1]])


def test_a_policy_of_action_values_acts_greedily(backend):
    policy = QPolicy(LAYERS, IntBox(4))
    found = stepper(
        Counting(), policy, backend=backend, extra_returns=["q_values"], actor_method=METHOD
    ).test("step")
    np.testing.assert_array_equal(found["actions"], found["q_values"].argmax(-1))
    again = stepper(Counting(), QPolicy(LAYERS, IntBox(4)), backend=backend).test("step")
    np.testing.assert_array_equal(again["actions"], found["actions"])


def test_parts_of_states_and_actions(backend):
    states = Dict(
        camera=IntBox(256, shape=(2,), dtype="uint8"), place=Tuple(FloatBox(), FloatBox(shape=(1,)))
    )
    actions = Dict(jump=BoolBox(), steer=FloatBox(-1.0, 1.0, shape=(2,)))

    class Driver(Component):
        @rlgraph_api
        def get_action(self, states):
            return {"action": self._drive(states), "parts": states}

        @graph_fn
        def _drive(self, ops, states):
            steer = ops.astype(states["camera"], "float") * 0.25
            return {"jump": states["place"][0] > 0.5, "steer": steer}

    environment = Counting(steps_to_end=2, state_space=states, action_space=actions)
    test = stepper(
        environment,
        Driver(scope="driver"),
        3,
        backend,
        add_previous_action_to_state=True,
        extra_returns=["parts"],
    )
    found = test.test(("step", []))
    assert found["states"]["camera"].dtype == np.uint8
    assert found["states"]["camera"].tolist() == [[0, 0], [1, 1], [0, 0], [1, 1]]
    assert found["states"]["place"][1].tolist() == [[0.0], [1.0], [0.0], [1.0]]
    assert found["next_states"]["place"][0].tolist() == [1.0, 2.0, 1.0]
    assert found["actions"]["jump"].tolist() == [False, True, False]
    assert found["actions"]["steer"].tolist() == [[0.0, 0.0], [0.25, 0.25], [0.0, 0.0]]
    assert found["rewards"].tolist() == [0.0, 11.5, 0.0]
    assert set(found["parts"]) == {"camera", "place", "previous_action"}
    assert found["parts"]["previous_action"]["steer"].tolist() == [[0.0, 0.0]] * 3
    given = environment.actions[1]
    assert given["jump"] and given["steer"].shape == (2,)


def test_the_actor_is_told_time_and_whether_to_explore(backend):
    class Timed(Component):
        @rlgraph_api
        def get_action(self, states, progress, use_exploration=None):
            return {"action": self._act(states, progress, use_exploration)}

        @graph_fn
        def _act(self, ops, states, progress, use_exploration=None):
            action = ops.astype(states[:, 0] * 0.0 + progress * 4.0, "int64")
            return action if use_exploration is None else ops.where(use_exploration, action, 0)

    spaces = {"progress": FloatBox(0.0, 1.0)}
    test = stepper(Counting, Timed(scope="timed"), 2, backend, spaces)
    assert test.test(("step", [np.float32(0.5)]))["actions"].tolist() == [2, 2]
    test = stepper(Counting, Timed(scope="timed"), 2, backend, {**spaces, "use_exploration": bool})
    assert test.test(("step", [np.float32(0.5), np.array(False)]))["actions"].tolist() == [0, 0]
    assert test.test(("step", [np.float32(0.5), np.array(True)]))["actions"].tolist() == [2, 2]


# Environments go on.


def test_results_are_the_callers(backend):
    test = stepper(Counting(4), Half(scope="half"), 3, backend)
    first = test.test(("step", []))
    for values in first.values():
        values[...] = 0
    kept = test.test(("step", []))
    assert kept["states"][:, 0].tolist() == [3.0, 0.0, 1.0, 2.0]
    test.test(("step", []))
    assert kept["states"][:, 0].tolist() == [3.0, 0.0, 1.0, 2.0]


@pytest.mark.parametrize("number", [None, 2])
@pytest.mark.parametrize("by_parts", [False, True])
def test_the_frame_stack_of_an_actor_component_begins_with_each_episode(number, by_parts):
    stack = [{"type": "sequence", "sequence_length": 2, "add_rank": False}]
    flat = [{"type": "reshape", "flatten": True}, {"type": "concat"}]
    network = [*flat, *LAYERS] if by_parts else LAYERS
    actor = ActorComponent({"state": stack} if by_parts else stack, Policy(network, IntBox(4)))
    stepper = EnvironmentStepper(
        lambda: Counting(3),
        actor,
        num_steps=5,
        num_environments=number,
        add_previous_reward_to_state=by_parts,
        extra_returns=["preprocessed_state"],
    )
    test = ComponentTest(stepper, {}, backend="numpy")
    for expected in (
        [[0, 0], [0, 1], [1, 2], [0, 0], [0, 1]],
        [[1, 2], [0, 0], [0, 1], [1, 2], [0, 0]],
    ):
        seen = test.test("step")["preprocessed_state"]
        seen = seen["state"] if by_parts else seen
        for stacks in (seen,) if number is None else (seen[:, 0], seen[:, 1]):
            assert stacks.tolist() == expected


def test_reset_begins_new_episodes():
    environment = Counting(10)
    test = stepper(environment, Half(scope="half"), 2)
    test.test(("step", []))
    assert test.test(("reset", [])) is None
    assert test.test(("step", []))["states"][:, 0].tolist() == [0.0, 1.0, 2.0]
    assert test.test(("step", []))["states"][:, 0].tolist() == [2.0, 3.0, 4.0]  # once
    assert len(environment.seeds) == 2


class Wandering(Counting):
    """Counts from a number that its own random numbers give."""

    def reset(self, seed=None):
        self.rng = np.random.default_rng(seed) if seed is not None else self.rng
        self.offset = self.rng.integers(100)
        return super().reset(seed)

    def _state(self):
        return super()._state() + np.float32(self.offset)


def test_a_checkpoint_is_a_reset_point(backend, tmp_path):
    def make(seed):
        policy = Policy([{"type": "lstm", "units": 4}], IntBox(4), deterministic=False)
        options = {
            "add_previous_action_to_state": True,
            "internal_states_space": policy.internal_states_space,
        }
        return stepper(lambda: Wandering(7), Flat(policy), 5, backend, seed=seed, **options).executor

    first, resumed = make(1), make(2)
    first.execute("step")
    first.save(tmp_path / "checkpoint")
    first.execute("reset")
    expected = [first.execute("step") for _ in range(2)]
    resumed.execute("step")  # what went on before is given up
    resumed.load(tmp_path / "checkpoint")
    for before in expected:
        found = resumed.execute("step")
        for name in ("states", "actions", "rewards", "terminated"):
            np.testing.assert_array_equal(found[name], before[name])
        np.testing.assert_equal(found["internal_states"], before["internal_states"])
    remembered = first.root.internal_space.flatten_sample(expected[0]["internal_states"])
    assert all(rows[1].any() and not rows[0].any() for rows in remembered.values())


def test_loading_a_part_of_it_lets_environments_go_on(tmp_path):
    made = stepper(Counting(9), Policy(LAYERS, IntBox(4)), 3).executor
    made.save(tmp_path / "checkpoint")
    made.execute("step")
    made.load(tmp_path / "checkpoint", scope="policy")
    assert made.execute("step")["states"][0] == 3.0
    made.load(tmp_path / "checkpoint")
    assert made.execute("step")["states"][0] == 0.0


def test_seeds():
    """First episodes have a seed of the component's stream, one for each environment; later ones go on from there."""
    runs = []
    for seed in (1, 1, 2):
        environments = [Counting(2), Counting(2)]
        stepper(environments, Half(scope="half"), 3, seed=seed).test(("step", []))
        runs.append([environment.seeds for environment in environments])
    assert runs[0] == runs[1] != runs[2]
    (one, two), later = [seeds[0] for seeds in runs[0]], [seeds[1:] for seeds in runs[0]]
    assert one != two and later == [[None], [None]]


def test_environments_are_made_as_said():
    made = EnvironmentStepper(lambda: Counting(5), Half(scope="half"), num_environments=3)
    assert len({id(environment) for environment in made.environments}) == 3
    listed = EnvironmentStepper([Counting(5), Counting, lambda: Counting(2)], Half(scope="half"))
    assert [environment.steps_to_end for environment in listed.environments] == [5, 3, 2]
    named = EnvironmentStepper({"type": Counting, "steps_to_end": 7}, Half(scope="half"), 2)
    assert named.environments[0].steps_to_end == 7
    imported = {"type": "rlgraph.testing.environments:CountingEnvironment", "steps_to_end": 8}
    assert EnvironmentStepper(imported, Half(scope="half")).environments[0].steps_to_end == 8
    named.terminate()
    assert named.environments[0].is_terminated


def test_acting_on_numpy(trainer):
    rows = []
    for acting_methods in ([], ["step"]):
        component = EnvironmentStepper(Counting(5), Policy(LAYERS, IntBox(4), deterministic=True), 9)
        spec = {"seed": 10, "acting_methods": acting_methods}
        executor = GraphExecutor(component, {}, backend=trainer, execution_spec=spec)
        assert executor.acting == ("numpy" if acting_methods else "backend")
        rows.append(executor.execute("step"))
    for name, values in rows[0].items():
        np.testing.assert_allclose(rows[1][name], values, atol=1e-6)


def test_floats_of_the_execution(backend):
    component = EnvironmentStepper(Counting, Half(scope="half"), 2)
    found = GraphExecutor(component, {}, backend=backend, execution_spec={"dtype": "float64"}).execute("step")
    assert found["states"].dtype == found["rewards"].dtype == np.float64


# What goes wrong.


def test_an_environment_that_raises(backend):
    environments = [Counting(9), Counting(9, fails_at=3)]
    test = stepper(environments, Half(scope="half"), 5, backend)
    with pytest.raises(RuntimeError, match="out of order") as error:
        test.test(("step", []))
    noted = "environment-stepper: environment 1, Counting, step 3 of its episode, action 1"
    assert noted.replace("Counting", "CountingEnvironment") in error.value.__notes__
    # After it everything begins anew.
    assert test.test(("step", []))["states"][:, 1, 0].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


def test_an_error_in_a_later_call():
    environment = Counting(9, fails_at=3)
    test = stepper(environment, Half(scope="half"), 2)
    test.test(("step", []))
    with pytest.raises(RuntimeError):
        test.test(("step", []))
    assert test.test(("step", []))["states"][:, 0].tolist() == [0.0, 1.0, 2.0]


def test_the_step_of_a_later_episode():
    environment = Wrong()
    test = stepper(environment, Half(scope="half"), 4)
    test.test(("step", []))  # an episode of 3 steps, and one step of the next
    environment.reward = float("nan")
    with pytest.raises(InputError, match="the reward is nan") as error:
        test.test(("step", []))
    assert "step 1 of its episode" in error.value.__notes__[0]


def test_states_are_checked_in_first_episodes():
    environment = Counting(3, state_space=FloatBox(0.0, 3.0, shape=(1,)))
    test = stepper(environment, Half(scope="half"), 3)
    test.test(("step", []))
    environment.steps_to_end = 9
    assert test.test(("step", []))["states"][-1] == 3.0
    assert test.test(("step", []))["states"][-1] == 6.0


def test_an_environment_may_use_its_arrays_again(backend):
    class Reusing(Counting):
        buffer = np.zeros(1, np.float32)

        def _state(self):
            self.buffer[...] = self.count
            return self.buffer

    found = stepper(Reusing(3), Half(scope="half"), 4, backend).test(("step", []))
    assert found["states"][:, 0].tolist() == [0.0, 1.0, 2.0, 0.0, 1.0]
    assert found["next_states"][:, 0].tolist() == [1.0, 2.0, 3.0, 1.0]


class Several(Counting):
    num_environments = 2


class Wrong(Counting):
    def __init__(self, state=None, reward=0.0, at_reset=False):
        super().__init__()
        self.given, self.reward, self.at_reset = state, reward, at_reset

    def reset(self, seed=None):
        right = super().reset(seed)
        return self.given if self.at_reset else right

    def step(self, action):
        state, _, *rest = super().step(action)
        return state if self.given is None else self.given, self.reward, *rest


@pytest.mark.parametrize(
    ("environment", "said", "place"),
    [
        (
            Wrong(reward=float("nan")),
            "the reward is nan; it must be finite",
            "step 0 of its episode, action 0",
        ),
        (Wrong(reward=float("inf")), "the reward is inf; it must be finite", "step 0"),
        (Wrong(state=np.zeros(2, np.float32)), r"the state array\(.* is not in the state Space", "step 0"),
        (Wrong(np.zeros(2), at_reset=True), r"the state array\(.* is not in the state Space", "reset"),
    ],
)
def test_what_an_environment_must_not_return(environment, said, place):
    with pytest.raises(InputError, match=said) as error:
        stepper(environment, Half(scope="half")).test(("step", []))
    assert "environment 0, Wrong, " in error.value.__notes__[0]
    assert place in error.value.__notes__[0]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"num_steps": 0}, "environment-stepper.num_steps: expected an integer >= 1, given 0"),
        ({"num_environments": 0}, r"num_environments: expected an integer in \[1, 1000\], given 0"),
        ({"environment_spec": 3}, r"environment_spec: expected an environment.*3 has no state_space"),
        (
            {"environment_spec": Several()},
            "environment_spec: expected single environments, given .*Several.*, a vector of 2.*: give a list",
        ),
        ({"environment_spec": {"steps": 3}}, r"environment_spec: a mapping needs 'type'"),
        ({"environment_spec": {"type": Counting, "steps": 3}}, r"environment_spec.steps: "),
        ({"environment_spec": []}, "environment_spec: expected some environments, given 0"),
        ({"environment_spec": [Counting], "num_environments": 2}, "expected 2 environments, given 1"),
        ({"environment_spec": Counting(), "num_environments": 2}, "2 environments need as many instances"),
        (
            {"environment_spec": [Counting(), Counting(action_space=IntBox(3))]},
            r"action_space of environment 1 is IntBox\(low=0, high=3\), expected that of the first",
        ),
        (
            {"environment_spec": SimpleNamespace(observation_space="as Gymnasium calls it")},
            "has no state_space, .*; one of Gymnasium is given as {'type': 'gym'",
        ),
        ({"actor_method": "act"}, "actor_method: half has no API method 'act'. .*get_action"),
        ({"extra_returns": "doubled"}, r"extra_returns: expected a list of names, given 'doubled'"),
        ({"internal_states_space": "nonsense"}, "internal_states_space: "),
    ],
)
def test_wrong_arguments(arguments, said):
    with pytest.raises(SpecError, match=said):
        EnvironmentStepper(
            **{"environment_spec": Counting, "actor_component_spec": Half(scope="half"), **arguments}
        )


def test_an_unknown_environment():
    with pytest.raises((SpecError, PluginError), match="nowhere_land"):
        EnvironmentStepper("nowhere_land", Half(scope="half"))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"extra_returns": ["value"]},
            r"half.get_action returns no 'value'; expected a dict with action, value",
        ),
        (
            {"internal_states_space": FloatBox(shape=(1,))},
            r"half.get_action returns no 'internal_states'; expected a dict with action, internal_states",
        ),
    ],
)
def test_wrong_actors(options, said):
    with pytest.raises(AssemblyError, match=said):
        stepper(Counting, Half(scope="half"), **options)


def test_an_actor_that_returns_no_dict():
    class Bare(Component):
        @rlgraph_api
        @graph_fn
        def get_action(self, ops, states):
            return ops.astype(states[:, 0], "int64")

    with pytest.raises(
        AssemblyError, match=r"bare.get_action returns no dict but .*; expected a dict with action"
    ):
        stepper(Counting, Bare(scope="bare"))


@pytest.mark.parametrize(
    ("wanted", "given"),
    [
        (IntBox(4), FloatBox(-1.0, 1.0)),
        (BoolBox(), FloatBox()),
        (IntBox(4), Dict(a=IntBox(4))),
        (Dict(a=IntBox(4), b=FloatBox()), Dict(a=FloatBox(), b=FloatBox())),
        (Dict(a=IntBox(4), b=FloatBox()), Dict(a=IntBox(4))),
    ],
)
def test_actions_for_another_environment(wanted, given):
    """A float would be cut off to an integer, and always be 0."""
    with pytest.raises(
        SpaceError, match="environment-stepper/action: expected one for the environment, .*given"
    ):
        stepper(Counting(action_space=wanted), Policy(LAYERS, given))
