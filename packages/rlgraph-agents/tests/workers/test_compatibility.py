"""An agent in an environment that it was not made for, and arguments that are no callbacks."""

import pytest

from rlgraph.core import SpecError
from rlgraph.environments import RandomEnv
from rlgraph.spaces import Dict, FloatBox, IntBox
from rlgraph.workers import Callback, SingleThreadedWorker, StopAtReturn, evaluate

QUIET = {"update_spec": {"do_updates": False}}


def environment(states=None, actions=4):
    return lambda: RandomEnv(FloatBox(shape=(3,)) if states is None else states, IntBox(actions), seed=1)


@pytest.fixture(scope="module")
def agent(make_agent):
    return make_agent("numpy", **QUIET)


@pytest.mark.parametrize(
    ("env", "said"),
    [
        (
            environment(actions=3),
            r"actions IntBox\(low=0, high=4\), and those of the environment are IntBox\(low=0, high=3",
        ),
        (
            environment(FloatBox(shape=(4,))),
            r"states FloatBox\(shape=\(3,\)\), and .* FloatBox\(shape=\(4,\)\)",
        ),
        (environment(IntBox(0, 9, shape=(3,))), r"states FloatBox\(shape=\(3,\)\), and .* IntBox"),
        (
            environment(Dict(a=FloatBox(shape=(3,)))),
            "states FloatBox.* and those of the environment are Dict",
        ),
    ],
)
def test_another_environment_is_refused(agent, env, said):
    for go in (
        lambda: SingleThreadedWorker(agent, env, num_envs=2),
        lambda: agent.learn(3, env=env),
        lambda: evaluate(agent, env, 2, 0),
        lambda: agent.evaluate(2, env=env),
    ):
        with pytest.raises(
            SpecError, match=f"the agent does not fit the environment RandomEnv: it was made for {said}"
        ):
            go()


def test_bytes_with_other_bounds_are_another_environment(make_agent):
    """Networks scale bytes by their bounds, and have an input for each category."""
    board, whole = (IntBox(low, high, (3,), "uint8") for low, high in ((0, 2), (0, 256)))
    agent = make_agent("numpy", state_space=board, network_spec=None, **QUIET)
    with pytest.raises(SpecError, match="the agent does not fit the environment"):
        agent.learn(3, env=environment(whole))
    unbounded = make_agent("numpy", state_space=IntBox(shape=(3,), dtype="uint8"), network_spec=None, **QUIET)
    assert unbounded.learn(3, env=environment(whole)).timesteps == 3


def test_other_bounds_are_no_other_environment(agent):
    assert agent.learn(3, env=environment(FloatBox(-1.0, 1.0, shape=(3,)))).timesteps == 3


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"callbacks": "print"},
            r"callbacks: expected an object of a subclass of rlgraph\.workers\.Callback.*given 'print'",
        ),
        ({"callbacks": [Callback(), 3]}, r"callbacks: expected .*; given 3$"),
        ({"callbacks": Callback}, r"callbacks: expected .*did you mean Callback\(\.\.\.\)\?"),
        (
            {"stop": 400},
            r"stop: expected a condition such as rlgraph\.workers\.StopAtReturn\(475\.0\).*; given 400$",
        ),
        ({"stop": StopAtReturn}, r"did you mean StopAtReturn\(\.\.\.\)\?"),
        ({"num_env": 3}, r"learn\.num_env: .*Did you mean 'num_envs'\?"),
    ],
)
def test_what_is_no_callback(agent, options, said):
    with pytest.raises(SpecError, match=said):
        agent.learn(3, env=environment(), **options)
