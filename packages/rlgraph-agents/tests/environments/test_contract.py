"""What an environment does wrong, in its first episode and in later ones: a fault that says where, or a restart."""

import os
import re
import signal
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from rlgraph.agents import Agent
from rlgraph.environments import (
    Environment,
    EnvironmentFault,
    NativeVectorEnv,
    OpenAIGymEnv,
    ProcessVectorEnv,
    SequentialVectorEnv,
    check_environment,
    make_vector_env,
)
from rlgraph.environments.errors import last_line
from rlgraph.environments.interrupts import Interruption, interruptible
from rlgraph.environments.stepped_env import SteppedEnv
from rlgraph.environments.worlds.deterministic_env import DeterministicEnv
from rlgraph.runs.configuration import check
from rlgraph.spaces import Dict, FloatBox, IntBox, Tuple

GOOD = np.zeros(2, np.float32)
LONG = "x" * 5_000_000

#: The result of a step, and what the message says of it.
RESULTS = [
    (None, "got NoneType"),
    ((GOOD, 0.0, False, {}), "got a tuple of 4"),
    (
        (np.zeros(3, np.float32), 0.0, False, False, {}),
        r"float32 of shape \(2,\), given float32 of shape \(3,\)",
    ),
    ((np.zeros(1, np.float32), 0.0, False, False, {}), r"given float32 of shape \(1,\)"),
    ((np.zeros((), np.float32), 0.0, False, False, {}), r"given float32 of shape \(\)"),
    ((0.5, 0.0, False, False, {}), r"given float64 of shape \(\)"),
    ((np.zeros(2, np.int64), 0.0, False, False, {}), r"given int64 of shape \(2,\)"),
    ((np.zeros(2, np.complex64), 0.0, False, False, {}), "given complex64"),
    ((np.array(["1.5", "2"]), 0.0, False, False, {}), r"given <U3 of shape \(2,\)"),
    (("1.5", 0.0, False, False, {}), r"given <U3 of shape \(\)"),
    ((None, 0.0, False, False, {}), "given .*NoneType"),
    (([0.0, 0.0], 0.0, False, False, {}), "given .*list"),
    (({"x": GOOD}, 0.0, False, False, {}), "given .*dict"),
    ((GOOD, float("nan"), False, False, {}), "the reward is nan; it must be finite"),
    ((GOOD, np.float32("inf"), False, False, {}), "the reward is inf; it must be finite"),
    ((GOOD, 10**400, False, False, {}), "the reward is 10+.*; it must be finite"),
    ((GOOD, "1.5", False, False, {}), r"the reward is one number, got str \('1.5'\)"),
    ((GOOD, None, False, False, {}), "the reward is one number, got NoneType"),
    ((GOOD, 1j, False, False, {}), "the reward is one number, got complex"),
    ((GOOD, np.zeros(1), False, False, {}), r"the reward is one number, got ndarray of shape \(1,\)"),
    ((GOOD, 0.0, "no", False, {}), "terminated is a bool, got 'no'"),
    ((GOOD, 0.0, LONG, False, {}), "terminated is a bool, got 'xxx"),
    ((GOOD, 0.0, 0.0, False, {}), "terminated is a bool, got 0.0"),
    ((GOOD, 0.0, None, False, {}), "terminated is a bool, got None"),
    ((GOOD, 0.0, False, np.zeros(2, bool), {}), r"truncated is a bool, got array\("),
    ((GOOD, 0.0, False, 1, {}), "truncated is a bool, got 1"),
    ((GOOD, 0.0, False, False, None), "info is a dict, got NoneType"),
    ((GOOD, 0.0, False, False, [1]), "info is a dict, got list"),
]

#: What a step raises.
ERRORS = [
    ValueError("wrong"),
    EOFError("wrong"),
    OSError(28, "wrong", "file"),
    SystemExit(0),
    KeyboardInterrupt("wrong"),
    GeneratorExit("wrong"),
    ValueError(LONG),
]


class Wrong(Environment):
    """Action 0 ends an episode; action k returns or raises what is the k-th wrong thing."""

    def __init__(self):
        super().__init__(FloatBox(shape=(2,)), IntBox(1 + len(RESULTS) + len(ERRORS)))

    def reset(self, seed=None):
        return GOOD

    def step(self, action):
        if action == 0:
            return GOOD, 1.0, True, False, {}
        if action <= len(RESULTS):
            return RESULTS[action - 1][0]
        raise ERRORS[action - 1 - len(RESULTS)]

    def terminate(self):
        raise SystemExit("wrong here too")


class WrongPickles(Wrong):
    """Also gives infos that cannot be pickled (action 1) or not be read again (action 2), and long ones (action 3)."""

    def __init__(self):
        super().__init__()
        self.action_space = IntBox(5)

    def step(self, action):
        if action == 4:
            sys.stdout.write(LONG[:100_000])
            raise EOFError(LONG)
        info = [{}, {"f": lambda: None}, {"error": Unreadable()}, {"text": LONG}][action]
        return GOOD, 1.0, action == 0, False, info


class Unreadable:
    def __reduce__(self):
        return sys.exit, ("read",)


@pytest.mark.parametrize("episodes_before", [0, 1])
@pytest.mark.parametrize("fault", range(len(RESULTS)), ids=[message for _, message in RESULTS])
def test_a_wrong_result_is_a_fault(fault, episodes_before):
    env = SequentialVectorEnv([Wrong, Wrong])
    env.reset()
    for _ in range(episodes_before):
        env.step([0, 0])
    with pytest.raises(EnvironmentFault, match=RESULTS[fault][1]) as caught:
        env.step([0, fault + 1])
    assert str(caught.value).startswith("Wrong, environment 1, step 1: ")
    assert len(str(caught.value)) < 300 and env.restarts == 0


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_is_a_fault_at_first_and_a_restart_later(error):
    action = 1 + len(RESULTS) + ERRORS.index(error)
    with interruptible():  # as in a worker: Ctrl-C would be an Interruption
        env = SequentialVectorEnv([Wrong, Wrong])
        env.reset()
        with pytest.raises(EnvironmentFault) as caught:
            env.step([0, action])
        message = str(caught.value)
        assert message.startswith(f"Wrong, environment 1, step 1: raised {type(error).__name__}")
        assert len(message) < 2000 and caught.value.__cause__ is error
        env.reset()
        env.step([0, 0])
        with pytest.warns(RuntimeWarning, match=f"environment 1: crashed .*{type(error).__name__}") as warned:
            env.step([0, action])
        assert (env.dropped, env.restarts, env.finished) == ([1], 1, [0])
        assert len(str(warned[0].message)) < 2000
        env.step([0, 0])


def test_a_signal_passes_through_environments():
    with interruptible():
        env = SequentialVectorEnv([lambda: Raising(Interruption("SIGTERM"))])
        env.reset()
        with pytest.raises(Interruption):
            env.step([0])
    env = SequentialVectorEnv([lambda: Raising(KeyboardInterrupt())])  # Python's own handler would raise this
    env.reset()
    with pytest.raises(KeyboardInterrupt):
        env.step([0])


class Raising(Wrong):
    def __init__(self, error):
        super().__init__()
        self.error = error

    def step(self, action):
        raise self.error


def test_states_of_containers_and_numbers():
    space = Dict(a=FloatBox(shape=(2,)), b=Tuple(IntBox(3), FloatBox()))
    good = {"a": GOOD, "b": (np.int64(1), np.float32(0.5))}
    for state, message in [
        ({"a": GOOD}, r"state: expected a dict with the keys \['a', 'b'\], given \['a'\]"),
        (GOOD, "state: expected a dict .*given ndarray"),
        ({**good, "b": (1,)}, "state/b: expected a tuple of 2, given 1"),
        ({**good, "b": 1}, "state/b: expected a tuple of 2, given int"),
        ({**good, "b": (1.0, 0.5)}, r"state/b/0: expected int64 of shape \(\), given float64 of shape \(\)"),
        (
            {**good, "a": GOOD[:1]},
            r"state/a: expected float32 of shape \(2,\), given float32 of shape \(1,\)",
        ),
    ]:
        env = SequentialVectorEnv([lambda state=state: Stating(space, good, state)])
        assert env.reset()["b"][0].tolist() == [1]
        env.step([0])
        with pytest.raises(EnvironmentFault, match=f"Stating, environment 0, step 1: {message}"):
            env.step([1])
    for state in (2, np.int32(2), np.array(2)):
        env = SequentialVectorEnv([lambda state=state: Stating(IntBox(3), 1, state)])
        env.reset()
        env.step([0])
        assert env.step([1])[0].tolist() == [2]


class Stating(Environment):
    def __init__(self, space, first, then):
        super().__init__(space, IntBox(2))
        self.first, self.then = first, then

    def reset(self, seed=None):
        return self.first

    def step(self, action):
        return (self.then if action else self.first), 0, not action, np.False_, {}


def test_a_wrong_state_of_a_later_reset():
    class Resets(Wrong):
        count = 0

        def reset(self, seed=None):
            self.count += 1
            return GOOD if self.count < 3 else GOOD[:1]

    env = SequentialVectorEnv([Resets])
    env.reset()
    env.step([0])
    with pytest.raises(
        EnvironmentFault, match=r"Resets, environment 0, reset: state: expected .*\(2,\), given"
    ):
        env.step([0])


# In processes.


@pytest.mark.slow
def test_in_a_process():
    """One process for all faults: they are faults of one step each."""
    with pytest.warns(RuntimeWarning, match="Wrong, terminate: raised SystemExit: wrong here too"):
        env = ProcessVectorEnv(Wrong, 2, 1, max_restarts=len(ERRORS))
    try:
        for episodes_before in (0, 1):
            for fault, (_, message) in enumerate(RESULTS):
                env.reset()
                for _ in range(episodes_before):
                    env.step([0, 0])
                with pytest.raises(EnvironmentFault, match=rf"environment 1, step 1: .*{message}"):
                    env.step([0, fault + 1])
        env.reset()
        env.step([0, 0])
        with pytest.warns(RuntimeWarning):
            for i in range(len(ERRORS)):
                env.step([0, 1 + len(RESULTS) + i])
                assert env.dropped == [1]
                env.step([0, 0])
        assert env.restarts == len(ERRORS)
        with pytest.raises(EnvironmentFault, match=r"raised ValueError: .*; after 7 restarts") as caught:
            env.step([0, 1 + len(RESULTS)])
        assert "in step" in str(caught.value.__cause__)
    finally:
        env.terminate()


@pytest.mark.slow
def test_what_does_not_fit_between_processes():
    with pytest.warns(RuntimeWarning, match="terminate"):
        env = ProcessVectorEnv(WrongPickles, 2, 1, max_restarts=1)
    try:
        env.reset()
        env.step([0, 0])
        for action, message in [
            (1, "environment 1, step 1: info goes to another process and cannot be pickled: .*lambda"),
            (2, "environments 0 to 1: an info cannot be read: SystemExit: read"),
        ]:
            with pytest.raises(EnvironmentFault, match=message):
                env.step([0, action])
            env.reset()
        *_, infos = env.step([0, 3])
        assert infos[1]["text"] == LONG
        with pytest.warns(RuntimeWarning, match="EOFError"):
            env.step([0, 4])
        assert env.dropped == [1]
        env.step([0, 0])
        with pytest.raises(EnvironmentFault, match="raised EOFError") as caught:
            env.step([0, 4])
        assert len(str(caught.value)) < 2000 and len(str(caught.value.__cause__)) < 20_000
    finally:
        env.terminate()


# Gymnasium.


class GymWrong(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-1, 1, (2,), np.float32)
    action_space = gymnasium.spaces.Discrete(1 + len(RESULTS))

    def reset(self, seed=None, options=None):
        return GOOD, {}

    def step(self, action):
        return RESULTS[action - 1][0] if action else (GOOD, 1.0, True, False, {})


#: Gymnasium's observations are cast where that loses nothing, and lists of numbers are arrays there.
CAST = [6, 11]
#: Without a tuple Gymnasium's own code, or the adapter, stumbles: a crash.
CRASH = [0]


@pytest.mark.parametrize("frameskip", [None, 2])
@pytest.mark.parametrize("episodes_before", [0, 1])
def test_in_gymnasium(episodes_before, frameskip):
    for fault, (_, message) in enumerate(RESULTS):
        env = SequentialVectorEnv([lambda: OpenAIGymEnv(GymWrong(), frameskip=frameskip)])
        env.reset()
        for _ in range(episodes_before):
            env.step([0])
        if fault in CAST and (frameskip or not episodes_before):
            env.step([fault + 1])
            continue
        match = r"GymWrong, environment 0, step 1: "
        if episodes_before and frameskip is None:
            match += f".*{message}"
        if fault in CRASH and episodes_before and frameskip:
            with pytest.warns(RuntimeWarning):
                env.step([fault + 1])
            continue
        with pytest.raises(EnvironmentFault, match=match):
            env.step([fault + 1])


def test_integers_for_numbers_stay_welcome_in_later_episodes():
    class Whole(GymWrong):
        def reset(self, seed=None, options=None):
            return np.zeros(2, np.int64), {}

        def step(self, action):
            return np.ones(2, np.int64), 1, True, False, {}

    env = SequentialVectorEnv([lambda: OpenAIGymEnv(Whole())])
    env.reset()
    for _ in range(3):
        env.step([0])
        assert env.final_states.tolist() == [[1.0, 1.0]]


def test_repeated_actions_and_a_limit_hide_no_fault():
    for options in ({"frameskip": 3}, {"max_timesteps": 1}):
        for fault in (20, 22, 23, 24, 25):  # the flags
            env = SequentialVectorEnv([lambda options=options: SteppedEnv(Wrong(), **options)])
            env.reset()
            env.step([0])
            with pytest.raises(EnvironmentFault, match=f"environment 0, step 1: {RESULTS[fault][1]}"):
                env.step([fault + 1])


class Vector(gymnasium.vector.VectorEnv):
    """Returns what it is told to from the second step on."""

    num_envs = 2
    single_observation_space = GymWrong.observation_space
    single_action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, **changed):
        self.metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}
        self.changed, self.count = changed, 0

    def reset(self, *, seed=None, options=None):
        return np.zeros((2, 2), np.float32), {}

    def step(self, actions):
        self.count += 1
        good = {
            "observations": np.zeros((2, 2), np.float32),
            "rewards": np.zeros(2),
            "terminated": np.zeros(2, bool),
            "truncated": np.zeros(2, bool),
            "infos": {},
        }
        if self.count == 1:
            return tuple(good.values())
        if "error" in self.changed:
            raise self.changed["error"]
        return tuple({**good, **self.changed}.values())


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"observations": np.zeros((2, 3), np.float32)},
            r"observations: expected .*\(2, 2\), given .*\(2, 3\)",
        ),
        ({"observations": np.zeros(2, np.float32)}, r"given float32 of shape \(2,\)"),
        ({"observations": np.full((2, 2), "1")}, "given <U1"),
        (
            {"rewards": np.zeros(3)},
            r"rewards: expected numbers of shape \(2,\), given float64 of shape \(3,\)",
        ),
        ({"rewards": np.zeros((2, 1))}, r"rewards: .*\(2, 1\)"),
        ({"rewards": ["a", "b"]}, "rewards: expected numbers of shape .*given <U1"),
        ({"rewards": np.array([0.0, np.nan])}, "environment 1: the reward is nan; it must be finite"),
        ({"rewards": np.array([1e39, 0.0])}, "environment 0: the reward is 1e.39"),
        ({"rewards": np.array([1e200, 0.0])}, "environment 0: the reward is 1e.200"),
        ({"terminated": np.zeros(2)}, "terminated: expected bools of shape .*given float64"),
        ({"terminated": ["no", "no"]}, "terminated: expected bools .*given <U2"),
        ({"truncated": False}, r"truncated: expected bools of shape \(2,\), given bool of shape \(\)"),
        ({"infos": None}, "infos is a dict, got NoneType"),
        ({"infos": {"n": [1]}}, "raised IndexError"),
        ({"more": 1}, "got a tuple of 6"),
        ({"error": EOFError("wrong")}, "raised EOFError: wrong"),
        ({"error": SystemExit(0)}, "raised SystemExit: 0"),
        ({"error": KeyboardInterrupt()}, "raised KeyboardInterrupt"),
    ],
)
def test_in_a_vector_environment_of_gymnasium(changed, message):
    env = NativeVectorEnv(Vector(**changed))
    with interruptible():
        env.reset()
        env.step(np.zeros(2, np.int64))
        with pytest.raises(EnvironmentFault, match=rf"Vector, step 2 of all environments: .*{message}"):
            env.step(np.zeros(2, np.int64))
    with pytest.raises(EnvironmentFault, match=r"call reset\(\)"):
        env.step(np.zeros(2, np.int64))
    assert env.reset().shape == (2, 2)


@pytest.mark.parametrize("number", [2, 40])
@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf, -1e39])
def test_rewards_of_few_and_of_many_environments(wrong, number):
    class Many(Vector):
        num_envs = number

        def reset(self, *, seed=None, options=None):
            return np.zeros((number, 2), np.float32), {}

        def step(self, actions):
            flags = np.zeros(number, bool)
            return np.zeros((number, 2), np.float32), self.rewards, flags, flags, {}

    env = NativeVectorEnv(Many())
    env.reset()
    for rewards in (
        np.full(number, -3e38, np.float32),  # their sum, and their squares, are not numbers of float32
        np.where(np.arange(number) % 2, 3e38, -3e38),
        np.full(number, -7),
        np.ones(number, bool),
    ):
        env.gym_env.rewards = rewards
        received = env.step(np.zeros(number, np.int64))[1]
        np.testing.assert_array_equal(received, rewards.astype(np.float32), strict=True)
    env.gym_env.rewards = np.append(np.zeros(number - 1), wrong)
    with pytest.raises(
        EnvironmentFault, match=f"environment {number - 1}: the reward is {re.escape(str(wrong))}"
    ):
        env.step(np.zeros(number, np.int64))


def test_a_check_survives_every_error():
    for error in ERRORS:
        step, end = [
            each for each in check_environment(lambda error=error: Raising(error)) if each.level == "error"
        ]
        assert (step.check, end.check) == ("step", "terminate")
        assert type(error).__name__ in step.message and "SystemExit: wrong here too" in end.message


@pytest.mark.parametrize(  # a ValueError is a mistake in the spec: SpecError
    "error", ERRORS[1:6], ids=lambda error: type(error).__name__
)
def test_an_error_of_a_constructor(error):
    class Fails(Wrong):
        made = 0

        def __init__(self):
            super().__init__()
            type(self).made += 1
            if self.made in failing:
                raise error

    failing = [1]
    with (
        interruptible(),
        pytest.raises(EnvironmentFault, match=f"environment: raised {type(error).__name__}") as caught,
    ):
        make_vector_env({"type": Fails}, 1)
    assert caught.value.__cause__ is error
    Fails.made = 1
    failing = [3, 4]
    env = make_vector_env({"type": Fails}, 1)
    env.reset()
    env.step([0])
    with interruptible(), pytest.warns(RuntimeWarning, match="crashed"):  # restarts that fail are restarts
        env.step([1 + len(RESULTS)])
    assert env.restarts == 3 and Fails.made == 5


def test_a_second_sigterm_cuts_nothing_off():
    before = signal.getsignal(signal.SIGTERM)
    with interruptible():
        with pytest.raises(Interruption, match="SIGTERM"):
            os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is before


def test_the_line_of_a_syntax_error_names_it():
    try:
        compile("(,)", "file", "eval")
    except SyntaxError as error:
        assert last_line(error) == "SyntaxError: invalid syntax"


@pytest.mark.parametrize("error", [RuntimeError("not closed"), SystemExit(0)])
def test_an_environment_that_cannot_be_closed_is_a_warning(error, monkeypatch):
    """Where environments are made only to learn their Spaces."""

    def terminate(self):
        raise error

    monkeypatch.setattr(DeterministicEnv, "terminate", terminate)
    spec, network = {"type": "deterministic"}, [{"type": "dense", "units": 2}]
    document = {"agent": {"type": "dqn", "network_spec": network}, "environment": spec, "steps": 1}
    with pytest.warns(RuntimeWarning, match=f"environment, terminate: raised {type(error).__name__}"):
        check(document)
    with pytest.warns(RuntimeWarning, match=f"environment, terminate: raised {type(error).__name__}"):
        Agent.from_spec(document["agent"], env=spec, backend="numpy")
