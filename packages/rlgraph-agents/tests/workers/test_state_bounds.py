"""Floats outside their bounds are reported once, in whatever episode; anything else that is wrong is a fault always."""

import importlib
import inspect
import sys
import types
import warnings
from contextlib import contextmanager

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from rlgraph.agents import Agent
from rlgraph.core import SpecError
from rlgraph.environments import (
    EnvironmentFault,
    ProcessVectorEnv,
    SequentialVectorEnv,
    StateBoundsWarning,
    make_vector_env,
)
from rlgraph.runs import resume, train
from rlgraph.workers import SingleThreadedWorker, record_data_set

DQN = {"type": "dqn", "network_spec": [2], "update_spec": {"do_updates": False}}


class Leaving(gymnasium.Env):
    """Episodes of three steps with states of 0; from an episode on, a step has another one."""

    observation_space = gymnasium.spaces.Box(-1.0, 1.0, (2,))
    action_space = gymnasium.spaces.Discrete(2)
    #: Since which episode, in which step, and what is there.
    episode, step_of_it, state = 1, 2, np.array([0.0, 1.5], np.float32)

    def __init__(self, render_mode=None):
        self.ended = 0

    def _now(self):
        leaves = self.ended >= self.episode and self.at == self.step_of_it
        return self.state if leaves else self.observation_space.sample() * 0

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.at = 0
        return self._now(), {}

    def step(self, action):
        self.at += 1
        state, ends = self._now(), self.at == 3
        self.ended += ends
        return state, 1.0, ends, False, {}


def leaving(episode=1, step=2, state=Leaving.state, space=Leaving.observation_space):
    changes = {"episode": episode, "step_of_it": step, "state": state, "observation_space": space}
    return type("Leaving", (Leaving,), changes)


@contextmanager
def reported():
    """The messages of the warnings inside."""
    messages = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield messages
    assert {each.category for each in caught} <= {StateBoundsWarning}
    messages += [str(each.message) for each in caught]


def make(env, **options):
    return Agent.from_spec({**DQN, **options}, env=env, backend="numpy", seed=1)


def message(name="Leaving, environment 0", step=2, part="state[1]", value=1.5, bounds="[-1.0, 1.0]"):
    where = f"outside the bounds {bounds} of its Space"
    return f"{name}, step {step}: {part} is {value}, {where}. Each bound is reported once"


class Pool(SyncVectorEnv):
    """A pool of EnvPool, as far as the adapter uses it."""

    def __init__(self, task_id, num_envs, **options):
        super().__init__([Leaving] * num_envs, autoreset_mode=AutoresetMode.NEXT_STEP)
        self.observation_space, self.action_space = Leaving.observation_space, Leaving.action_space

    def step(self, actions):
        self.action_space = gymnasium.vector.utils.batch_space(Leaving.action_space, self.num_envs)
        return super().step(actions)


@pytest.fixture(params=["sequential", "processes", "native", "SAME_STEP", "NEXT_STEP", "DISABLED", "envpool"])
def vector(request, monkeypatch, tmp_path):
    """What is given to `learn` for two environments of each vector class, and their name."""
    kind = request.param
    if kind == "processes":
        module = "import gymnasium\nimport numpy as np\n\n" + inspect.getsource(Leaving)
        (tmp_path / "leaving_environment.py").write_text(module)
        monkeypatch.syspath_prepend(tmp_path)
        made = importlib.import_module("leaving_environment").Leaving
        yield {"env": made, "num_envs": 2, "vectorization": kind, "processes": 2}, "Leaving"
        del sys.modules["leaving_environment"]
    elif kind == "envpool":
        monkeypatch.setitem(sys.modules, kind, types.SimpleNamespace(make_gymnasium=Pool))
        yield {"env": {"type": kind, "task_id": "Leaving-v0"}, "num_envs": 2}, "Leaving-v0"
    elif kind == "native":
        gymnasium.register(
            "Leaving-v0", vector_entry_point=lambda num_envs: SyncVectorEnv([Leaving] * num_envs)
        )
        yield {"env": "Leaving-v0", "num_envs": 2, "vectorization": kind}, "Leaving-v0"
        del gymnasium.registry["Leaving-v0"]
    elif kind == "sequential":
        yield {"env": Leaving, "num_envs": 2}, "Leaving"
    else:
        env = SyncVectorEnv([Leaving] * 2, autoreset_mode=AutoresetMode[kind])
        yield {"env": env}, "SyncVectorEnv"


def test_every_vector_class(vector):
    given, name = vector
    agent = make(Leaving)
    with reported() as messages:
        agent.learn(60, report_interval=10, **given)
    assert sorted(messages) == [message(f"{name}, environment {i}") for i in range(2)]
    with reported() as messages:
        agent.learn(60, **given)
    assert messages == []


def test_they_are_faults_where_that_is_asked_for(vector):
    given, name = vector
    if isinstance(given["env"], SyncVectorEnv):
        pytest.skip("an environment that exists has no options")
    said = rf"^{name}, environment 0, step 2: state.* 1\.5"
    with pytest.raises(EnvironmentFault, match=said):
        make(Leaving).learn(60, validate_states=True, **given)


@pytest.mark.parametrize("episode", [0, 1, 2, 400])
@pytest.mark.parametrize("step", [0, 1, 3])
def test_every_episode_and_step(episode, step):
    env = leaving(episode, step)
    agent = make(env)
    with reported() as messages:
        agent.learn(3 * episode + 12)
    assert messages == [message(step=step)]
    with pytest.raises(EnvironmentFault, match=rf"Leaving, environment 0, step {step}: state.* 1\.5"):
        agent.learn(3 * episode + 12, validate_states=True)


SCALARS = gymnasium.spaces.Dict(
    angle=gymnasium.spaces.Box(-1.0, 1.0, ()), free=gymnasium.spaces.Box(-np.inf, np.inf, (1,))
)


@pytest.mark.parametrize(
    ("space", "state", "expected"),
    [
        # Bounds that all numbers share are one bound, others are one of each number.
        (Leaving.observation_space, np.array([-2.0, 3.0], np.float32), [("state[0]", -2.0, "[-1.0, 1.0]")]),
        (
            gymnasium.spaces.Box(np.float32([-1, -2]), np.float32([1, np.inf])),
            np.array([-1.5, -2.5], np.float32),
            [("state[0]", -1.5, "[-1.0, 1.0]"), ("state[1]", -2.5, "[-2.0, inf]")],
        ),
        (
            SCALARS,
            {"angle": np.float32(1.5), "free": np.full(1, 1e9, np.float32)},
            [("state/angle", 1.5, "[-1.0, 1.0]")],
        ),
    ],
)
def test_what_is_named(space, state, expected):
    class Parts(Leaving):
        observation_space = space

        def _now(self):
            zero = {"angle": np.float32(0), "free": np.zeros(1, np.float32)}
            inside = zero if isinstance(space, gymnasium.spaces.Dict) else np.zeros(2, np.float32)
            return state if self.ended and self.at == 2 else inside

    agent = make(Parts)
    with reported() as messages:
        agent.learn(30)
    assert messages == [message("Parts, environment 0", 2, *each) for each in expected]


@pytest.mark.parametrize("episode", [0, 1, 7])
@pytest.mark.parametrize(
    ("space", "state", "said"),
    [
        (Leaving.observation_space, np.array([0.0, np.nan], np.float32), "nan"),
        (Leaving.observation_space, np.array([-np.inf, 0.0], np.float32), r"state\[0\] is -inf"),
        (
            Leaving.observation_space,
            np.zeros(3, np.float32),
            r"expected float32 of shape \(2,\), given .*\(3,\)",
        ),
        (Leaving.observation_space, np.zeros(2, "U1"), "expected float32"),
        (gymnasium.spaces.Discrete(3), np.int64(3), r"from 0 to 2 \(inclusive\), given 3"),
        (gymnasium.spaces.Discrete(3), np.int64(-1), r"from 0 to 2 \(inclusive\), given -1"),
        (gymnasium.spaces.Box(0, 9, (2,), np.uint8), np.array([0, 10], np.uint8), "from 0 to 9 .*given 10"),
        (gymnasium.spaces.Box(0, 255, (2,), np.uint8), np.array([0, 256]), "uint8.* 256"),
        (gymnasium.spaces.Box(0, 255, (2,), np.uint8), np.array([-1, 0]), "uint8.* -1"),
        (gymnasium.spaces.MultiDiscrete([2] * 40), np.full(40, 2), "from 0 to 1 .*given 2"),
    ],
)
def test_what_is_always_a_fault(episode, space, state, said):
    env = leaving(episode, 2, state, space)
    agent = make(env)
    for act in (lambda: agent.learn(3 * episode + 12, num_envs=2), lambda: agent.evaluate(12)):
        with pytest.raises(EnvironmentFault, match=rf"^Leaving, environment 0, step 2: .*{said}"):
            act() if episode < 2 else agent.learn(6 * episode + 12, num_envs=2)


@pytest.mark.parametrize("state", [[300, 0], [0, -1]])
def test_integers_that_arrays_of_a_batch_cannot_hold(state):
    env = leaving(1, 2, np.array(state), gymnasium.spaces.Box(0, 255, (2,), np.int64))
    pool = SyncVectorEnv([env] * 2)
    pool.single_observation_space = gymnasium.spaces.Box(0, 255, (2,), np.uint8)
    with pytest.raises(EnvironmentFault, match="environment 0: observations: expected uint8 values, given"):
        make(pool).learn(60)


# Whatever acts.


def test_an_evaluation():
    agent = make(Leaving)
    with reported() as messages:
        agent.evaluate(3, env=Leaving())
        agent.evaluate(3, env=Leaving())
    assert messages == [message()]
    with reported() as messages:
        make(Leaving).evaluate(12)  # ten environments
    assert len(messages) == len(set(messages)) > 1


@pytest.mark.parametrize("act", [None, lambda state: 1])
def test_a_data_set(tmp_path, act):
    with reported() as messages:
        record_data_set(act or make(Leaving), Leaving, 4, tmp_path / "data.npz")
    assert messages == [message()]
    with pytest.raises(EnvironmentFault, match=r"^Leaving, environment 0, step 2: state.* nan"):
        record_data_set(act or make(Leaving), leaving(1, 2, np.full(2, np.nan)), 4, tmp_path / "data.npz")


def test_a_run_and_its_resume(tmp_path):
    """Evaluations and checkpoints are made in it; each begins new episodes in this environment."""
    with gymnasium_id("Leaving-v0", Leaving):
        document = {
            "agent": {
                **DQN,
                "update_spec": {"steps_before_update": 8, "update_interval": 4, "batch_size": 4},
            },
            "environment": "Leaving-v0",
            "backend": "torch",
            "steps": 60,
            "seed": 1,
            "evaluation": {"interval": 20, "episodes": 2, "final_episodes": 2},
            "checkpoints": {"interval": 30},
            "logging": {"report_interval": 10, "tensorboard": False},
        }
        with reported() as messages:
            train(document, tmp_path / "run")
        assert messages == [message("Leaving-v0, environment 0")]
        with reported() as messages:
            assert resume(tmp_path / "run", steps=90).training.timesteps == 90
        assert messages == [message("Leaving-v0, environment 0")]
        document["worker"] = {"validate_states": True}
        with pytest.raises(EnvironmentFault, match=r"Leaving-v0, environment 0, step 2: state.* 1\.5"):
            train(document, tmp_path / "other")


@contextmanager
def gymnasium_id(name, made):
    gymnasium.register(name, entry_point=made)
    yield
    del gymnasium.registry[name]


def test_what_a_fault_does_not_hide():
    class Both(Leaving):
        def _now(self):
            return np.full(2, np.nan, np.float32) if self.ended == 2 else super()._now()

    with reported() as messages, pytest.raises(EnvironmentFault, match="nan"):
        make(Both).learn(60)
    assert messages == [message("Both, environment 0")]


@pytest.mark.parametrize("gives_next", [True, False])
@pytest.mark.parametrize("batched", [True, False])
@pytest.mark.parametrize("episode", [1, 2, 400])
def test_a_loop_of_a_user(batched, gives_next, episode):
    """Arrays are trusted after the first thousand steps; where no next states come, the last ones are not seen."""
    env, agent = leaving(episode)(), make(Leaving)
    state, steps = env.reset()[0][None], 0
    with reported() as messages:
        while env.ended < episode + 2:
            action = agent.get_actions(state)
            reached, reward, terminal, *_ = env.step(action[0])
            reached, steps = reached[None], steps + 1
            given = state, action, np.float32([reward]), np.array([terminal]), reached if gives_next else None
            if batched:
                agent.observe(*given, batched=True)
            else:
                agent.observe(*(None if each is None else each[0] for each in given))
            state = env.reset()[0][None] if terminal else reached
        agent.experience_state()  # as when it is stored
    step = 3 * episode + (2 if gives_next else 3)
    assert messages == [message("observe: environment env_0", step)]


# The name of the option.


@pytest.mark.parametrize(
    "use",
    [
        lambda **given: make(Leaving).learn(3, **given),
        lambda **given: make_vector_env(Leaving, 2, **given),
        lambda **given: SequentialVectorEnv([Leaving], **given),
        lambda **given: ProcessVectorEnv(Leaving, 1, **given),
        lambda **given: SingleThreadedWorker(make(Leaving), Leaving, **given),
    ],
)
def test_the_former_name_is_answered(use):
    with pytest.raises(SpecError, match=r"validate: .*'?validate_states"):
        use(validate=True)
