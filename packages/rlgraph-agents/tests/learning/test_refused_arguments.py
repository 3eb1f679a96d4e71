"""What agents refuse: states that are not finite or not in their Space, and flags that are no bools."""

import re

import numpy as np
import pytest

from rlgraph.agents import ActorHandle, Agent
from rlgraph.core import InputError, SpecError
from rlgraph.experience.quick_checks import quick_check, quick_check_of_floats
from rlgraph.experience.step_reader import CHECKED_STEPS
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, Tuple
from rlgraph.workers import SingleThreadedWorker, record_data_set

VECTOR = FloatBox(shape=(3,))
PARTS = Dict(position=FloatBox(shape=(4,)), kind=IntBox(4))
PAIR = Tuple(FloatBox(shape=(2,)), IntBox(0, 9, shape=(2,)))
PICTURE = FloatBox(0.0, 1.0, shape=(4, 4, 1))
MASKED = Dict(numbers=VECTOR, action_mask=BoolBox(shape=(2,)))
LAYER = {"type": "dense", "units": 4}


@pytest.fixture(scope="module")
def agent_of():
    """Gives an agent on NumPy for states of a Space, the same one each time."""
    made = {}

    def give(space, kind="dqn", **options):
        key = (repr(space), kind, repr(options))
        if key not in made:
            network = {} if isinstance(space, Dict | Tuple) or space is PICTURE else {"network_spec": [LAYER]}
            spec = {"type": kind, "seed": 1, **network, **options}
            made[key] = Agent.from_spec(spec, state_space=space, action_space=IntBox(2), backend="numpy")
        return made[key]

    return give


def states_of(space, rows=3, **changes):
    """Zeros ``[rows, ...]``; by path, what stands elsewhere: ``(index, value)``."""
    flat = {path: np.zeros((rows, *box.shape), box.dtype) for path, box in space.flatten().items()}
    if "action_mask" in flat:
        flat["action_mask"][:] = True
    for path, (index, value) in changes.items():
        flat[{"_": "", "first": "0", "second": "1"}.get(path, path)][index] = value
    return space.unflatten_sample(flat)


FINITE = "expected finite numbers, given {} at {} of row {}"
#: Space, what is wrong in it, and what the message says of the place.
WRONG = [
    (VECTOR, {"_": ((2, 1), np.nan)}, "states: " + FINITE.format("nan", r"\[1\]", 2)),
    (VECTOR, {"_": ((0, 0), -np.inf)}, FINITE.format("-inf", r"\[0\]", 0)),
    (PICTURE, {"_": ((1, 3, 2, 0), np.nan)}, FINITE.format("nan", r"\[3, 2, 0\]", 1)),
    (PARTS, {"position": ((2, 3), np.nan)}, r"states\.position: " + FINITE.format("nan", r"\[3\]", 2)),
    (
        PARTS,
        {"kind": (1, 4)},
        r"states\.kind: expected integers of IntBox\(low=0, high=4\), given 4 in row 1",
    ),
    (PARTS, {"kind": (1, -1)}, "given -1 in row 1"),
    (PAIR, {"second": ((2, 1), 9)}, r"given 9 at \[1\] of row 2"),
    (PAIR, {"first": ((1, 0), np.inf)}, FINITE.format("inf", r"\[0\]", 1)),
    (MASKED, {"numbers": ((1, 2), np.nan)}, FINITE.format("nan", r"\[2\]", 1)),
]


@pytest.mark.parametrize(("space", "wrong", "said"), WRONG)
def test_states_to_act_on(agent_of, space, wrong, said):
    agent, states = agent_of(space), states_of(space, **wrong)
    handle = ActorHandle.of(agent)
    clients = [handle.begin() for _ in range(3)]
    for method, call in {
        "get_actions": lambda given: agent.get_actions(given, use_exploration=False),
        "preprocess_states": agent.preprocess_states,
        "act": lambda given: handle.act(given, clients),
    }.items():
        with pytest.raises(InputError, match=f"^{method}: argument .*{said}"):
            call(states)
    assert len(agent.get_actions(states_of(space), use_exploration=False)) == 3


@pytest.mark.parametrize(("space", "wrong", "said"), WRONG)
def test_a_single_state(agent_of, space, wrong, said):
    index = next(iter(wrong.values()))[0]
    row = index[0] if isinstance(index, tuple) else index
    flat = {path: array[row] for path, array in space.flatten_sample(states_of(space, **wrong)).items()}
    with pytest.raises(InputError, match="get_actions: argument states.*row 0"):
        agent_of(space).get_actions(space.unflatten_sample(flat))


def test_numbers_that_float32_cannot_hold(agent_of):
    agent = agent_of(VECTOR)
    with pytest.raises(InputError, match=r"given 1e\+39 at \[1\] of row 0"):
        agent.get_actions(np.array([[0.0, 1e39, -1e39]]))
    # Large ones that it can are taken, whatever the sum of their squares is.
    assert agent.get_actions(np.full((4, 3), 1e30, np.float32)).shape == (4,)


def test_preprocessed_and_recurrent_states(agent_of):
    for agent in (
        agent_of(VECTOR, preprocessing_spec=[{"type": "multiply", "factor": 2.0}]),
        agent_of(VECTOR, "ppo", network_spec=[LAYER, {"type": "lstm", "units": 4}]),
    ):
        for apply_preprocessing in (True, False):
            with pytest.raises(InputError, match=r"get_actions: .*given nan at \[2\] of row 1"):
                agent.get_actions(states_of(VECTOR, _=((1, 2), np.nan)), True, apply_preprocessing)


STEP = {"actions": np.zeros(3, int), "rewards": np.zeros(3, np.float32), "terminals": np.zeros(3, bool)}


@pytest.mark.parametrize("kind", ["dqn", "ppo"])
@pytest.mark.parametrize("steps", [0, CHECKED_STEPS])
@pytest.mark.parametrize("field", ["states", "next_states"])
def test_observed_states(kind, steps, field, agent_of):
    learning = {"update_spec": {"do_updates": False}} if kind == "dqn" else {"rollout_length": 10**4}
    agent = agent_of(VECTOR, kind, **learning)
    fine = {**STEP, "states": states_of(VECTOR), "next_states": states_of(VECTOR)}
    while agent.timesteps < steps:
        agent.observe(**fine, batched=True)
    before = agent.timesteps
    with pytest.raises(
        InputError, match=r"observe: argument \w+: expected finite numbers, given nan at \[1\] of row 2"
    ):
        agent.observe(**{**fine, field: states_of(VECTOR, _=((2, 1), np.nan))}, batched=True)
    assert agent.timesteps == before


def test_a_refused_batch_teaches_the_preprocessor_nothing(agent_of):
    agent = agent_of(
        VECTOR, preprocessing_spec=[{"type": "moving_standardize"}, {"type": "reshape", "new_shape": [3, 1]}]
    )
    states = states_of(VECTOR, _=((1, 0), np.nan))
    with pytest.raises(InputError, match=r"post_process: .*given nan at \[0\] of row 1"):
        agent.post_process({**STEP, "states": states, "next_states": states})
    assert np.isfinite(agent.preprocess_states(states_of(VECTOR) + 1.0)).all()


# Flags.

NO_BOOLS = ["no", "yes", 1, 0, None, [], {}, np.array([True]), 0.0]
BOOLS = [True, False, np.True_, np.False_]


@pytest.fixture(scope="module")
def flags(agent_of, tmp_path_factory):
    """Name -> a call with the flag."""
    agent = agent_of(VECTOR, update_spec={"do_updates": False})
    handle, states = ActorHandle.of(agent), states_of(VECTOR)
    client, folder = handle.begin(), tmp_path_factory.mktemp("flags")
    step = {name: column[0] for name, column in {**STEP, "states": states}.items()}
    return {
        "use_exploration": lambda flag: agent.get_actions(states, flag),
        "apply_preprocessing": lambda flag: agent.get_actions(states, True, flag),
        "handle": lambda flag: handle.act(states[:1], [client], use_exploration=flag),
        "client": lambda flag: client.act(states[0], use_exploration=flag),
        "actor": lambda flag: agent.new_actor(3).act(states, flag),
        "extras": lambda flag: agent.new_actor(3).act_with_extras(states, flag),
        "learns": lambda flag: agent.new_actor(learns=flag),
        "batched": lambda flag: agent.observe(
            **(step if not flag else {**STEP, "states": states}), batched=flag
        ),
        "stochastic": lambda flag: agent.evaluate(1, env=ENVIRONMENT, stochastic=flag),
        "memory": lambda flag: agent.store_model(folder / "stored", memory=flag),
        "worker": lambda flag: SingleThreadedWorker(agent, ENVIRONMENT).execute_timesteps(
            1, use_exploration=flag
        ),
        "recorded": lambda flag: record_data_set(
            agent, ENVIRONMENT, 1, folder / "a.npz", use_exploration=flag
        ),
    }


ENVIRONMENT = {
    "type": "random",
    "state_space": {"type": "float_box", "shape": [3]},
    "action_space": {"type": "int_box", "low": 0, "high": 2},
    "terminal_prob": 1.0,
}
FLAGS = ["use_exploration", "apply_preprocessing", "handle", "client", "actor", "extras", "learns", "batched"]


@pytest.mark.parametrize("name", [*FLAGS, "stochastic", "memory", "worker", "recorded"])
def test_flags_are_bools(flags, name):
    for value in NO_BOOLS:
        with pytest.raises((InputError, SpecError), match="expected (True or False|true or false), given"):
            flags[name](value)
    for value in BOOLS:
        flags[name](value)


@pytest.mark.parametrize("how", [{"timesteps": 1, "env": ENVIRONMENT}, {"updates": 1}])
@pytest.mark.parametrize("value", ["no", 0, ()])
def test_a_progress_bar_that_is_no_bool(agent_of, how, value):
    match = re.escape(f"learn: argument progress_bar: expected True or False, given {value!r}")
    with pytest.raises(InputError, match=match):
        agent_of(VECTOR).learn(**how, progress_bar=value)


@pytest.mark.parametrize("episodes", [0, 1.5, True, "3", None])
def test_numbers_of_episodes(agent_of, episodes):
    with pytest.raises(SpecError, match="episodes: expected an integer >= 1, given"):
        agent_of(VECTOR).evaluate(episodes, env=ENVIRONMENT)


@pytest.mark.parametrize("value", [True, 0, 1.0, [1], b"states"])
def test_extra_returns(agent_of, value):
    with pytest.raises(InputError, match="extra_returns: expected a name, a list of names, or None, given"):
        agent_of(VECTOR).get_actions(states_of(VECTOR), True, True, value)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((None, True), {}),
        (({"lstm": np.zeros(4)}, False), {}),
        (([], True, True), {}),
        ((None, True, True, "preprocessed_states"), {}),
        ((), {"internals": None}),
        ((False,), {"time_percentage": 0.5}),
    ],
)
def test_calls_written_for_0_5(agent_of, arguments, named):
    with pytest.raises(InputError) as caught:
        agent_of(VECTOR).get_action(states_of(VECTOR), *arguments, **named)
    assert (
        "is now get_actions(states, use_exploration=..., apply_preprocessing=..., extra_returns=...)"
        in str(caught.value)
    )


def test_a_terminated_agent_refuses_by_both_names():
    agent = Agent.from_spec("random", state_space=VECTOR, action_space=IntBox(2), backend="numpy")
    agent.terminate()
    for act in (agent.get_actions, agent.get_action):
        with pytest.raises(Exception, match="the agent was terminated"):
            act(states_of(VECTOR))


# The quick checks against a close look.


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [1, 4, 6, 7, 40])
def test_quick_checks_of_floats(dtype, size):
    records = np.dtype(dtype)
    check, check_two = quick_check(VECTOR, records), quick_check_of_floats(VECTOR, records)
    rng = np.random.default_rng(size)
    for given in ("float16", "float32", "float64"):
        fine = rng.normal(size=size).astype(given)
        assert check(fine) and check_two(fine, fine)
        for wrong in (np.nan, np.inf, -np.inf):
            for index in range(size):
                array = fine.copy()
                array[index] = wrong
                assert (
                    not check(array)
                    and not check_two(array, fine)
                    and not check_two(np.zeros_like(fine), array)
                )
    if dtype == "float32":
        assert not check(np.append(np.zeros(size), [1e39, -1e39]))


@pytest.mark.parametrize(
    "box",
    [IntBox(5), IntBox(-3, 5), IntBox([3, 5]), IntBox(0, None, shape=(2,)), IntBox(0, 9, dtype="uint8")],
)
@pytest.mark.parametrize("rows", [0, 1, 40])
def test_quick_checks_of_integers(box, rows):
    check = quick_check(box, np.dtype("float32"))
    for low, high in ((0, 3), (0, 6), (-4, 3), (0, 10)):
        drawn = np.random.default_rng(rows).integers(low, high, size=(rows, *box.shape))
        for array in (drawn, drawn.astype(box.dtype)):
            assert check(array) == (box.with_batch_rank().explain(array) is None)


@pytest.mark.parametrize("fraction", [float("nan"), -0.1, 1.1, float("inf"), "0.5", None, True])
def test_a_fraction_that_is_none(agent_of, fraction):
    agent = agent_of(VECTOR)
    agent.set_progress(0.25)
    with pytest.raises(
        InputError, match="set_progress: argument fraction: expected a number from 0 to 1, given"
    ):
        agent.set_progress(fraction)
    assert float(agent.learner.progress) == 0.25
    for allowed in (0, 1, 0.5, np.float32(0.5), np.float64(1.0)):
        agent.set_progress(allowed)


@pytest.mark.parametrize("slots", [0, -1, 1.5, "2", True])
def test_an_actor_without_slots(agent_of, slots):
    with pytest.raises(SpecError, match=r"new_actor\.slots: expected an integer >= 1, given"):
        agent_of(VECTOR).new_actor(slots)


@pytest.mark.parametrize("video", [True, 3, b"film.gif"])
def test_a_film_that_is_no_file(agent_of, video):
    with pytest.raises(SpecError, match="video: expected the name of a .gif or .mp4 file, given"):
        agent_of(VECTOR).evaluate(1, env=ENVIRONMENT, video=video)
