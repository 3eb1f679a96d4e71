"""Action Spaces times states: each pair trains, or is refused when the agent is made or its spec checked."""

import itertools

import numpy as np
import pytest

from rlgraph.agents import Agent
from rlgraph.core import SpecError
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, TextBox, Tuple

STATES = {
    "vector": FloatBox(shape=(3,)),
    "picture": IntBox(256, shape=(36, 36, 1), dtype="uint8"),
    "small_picture": IntBox(256, shape=(4, 4, 1), dtype="uint8"),
    "category": IntBox(4),
    "dict": Dict(place=FloatBox(shape=(2,)), room=IntBox(3)),
}
#: Actions -> what SAC says of them; None: it takes them.
ACTIONS = {
    "category": (IntBox(3), None),
    "bounded": (FloatBox(-1.0, 2.0, shape=(2,)), None),
    "half_bounded": (FloatBox(0.0, None), r"given FloatBox\(low=0.0, high=None\); PPO takes other actions"),
    "unbounded": (FloatBox(shape=(2,)), r"given FloatBox\(shape=\(2,\)\); PPO takes other actions"),
    "categories": (IntBox(3, shape=(2,)), r"given IntBox.*; PPO takes other actions"),
    "other_categories": (IntBox(np.array([0, 1]), np.array([2, 4])), r"given IntBox.*; PPO takes other"),
    "offset": (IntBox(2, 5), r"given IntBox\(low=2, high=5\); PPO takes other actions"),
    "bool": (BoolBox(), r"given BoolBox\(\); PPO takes other actions"),
    "dict_of_floats": (Dict(a=FloatBox(-1.0, 1.0), b=FloatBox(0.0, 1.0, shape=(2,))), None),
    "dict": (
        Dict(move=FloatBox(-1.0, 1.0), jump=IntBox(2)),
        r"given IntBox.* in part 'jump'; PPO takes other",
    ),
    "tuple": (
        Tuple(FloatBox(-1.0, 1.0), FloatBox(0.0, None)),
        r"given FloatBox.* in part '1'; PPO takes other",
    ),
}
#: Actions that no agent takes, and what is said.
REFUSED = {
    "text": (TextBox(), "expected .*(numbers|floats)"),
    "endless_integers": (IntBox(0, None), "expected .*both bounds"),
    "mixed_bounds": (FloatBox(np.array([0.0, -np.inf]), np.array([1.0, np.inf])), "expected .*both bounds"),
}
ROLLOUTS, REPLAY = {"rollout_length": 2}, {"update_spec": {"batch_size": 2}, "memory_spec": {"capacity": 10}}
KINDS = {"ppo": {**ROLLOUTS, "num_epochs": 1, "num_minibatches": 1}, "a2c": ROLLOUTS, "sac": REPLAY}


#: Every action with vectors; with other states one of each kind, since heads do not know what is before them.
PAIRS = [
    *itertools.product(KINDS, ACTIONS, ["vector"]),
    *itertools.product(
        ["ppo", "sac"], ["category", "bounded", "dict"], [name for name in STATES if name != "vector"]
    ),
]


def spaces_of(actions, states):
    return {"state_space": STATES[states], "action_space": actions}


def train(agent):
    """One update on random steps; its numbers."""
    rng, space = np.random.default_rng(0), agent.state_space.with_batch_rank()
    for _ in range(2):
        states = space.sample(2, rng=rng)
        actions = agent.get_actions(states)
        agent.observe(states, actions, np.ones(2), np.zeros(2, bool), space.sample(2, rng=rng), batched=True)
    return agent.update()


@pytest.mark.parametrize(("kind", "actions", "states"), PAIRS)
def test_each_pair_trains_or_is_refused(kind, actions, states, one_backend, execution):
    action_space, refusal = ACTIONS[actions]
    spec, spaces = {"type": kind, **KINDS[kind]}, spaces_of(action_space, states)
    if kind == "sac" and refusal is not None:
        for make in (Agent.check_spec, Agent.from_spec):
            with pytest.raises(SpecError, match=f"action_space: expected floats with both bounds.*{refusal}"):
                make(spec, **spaces)
        return
    Agent.check_spec(spec, **spaces)
    agent = Agent.from_spec(spec, **spaces, backend=one_backend, execution_spec=execution(one_backend))
    before = agent.get_weights()
    assert np.isfinite(list(train(agent).values())).all()
    assert any(not np.array_equal(before[name], x) for name, x in agent.get_weights().items())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("actions", REFUSED)
def test_actions_that_nobody_takes(kind, actions):
    action_space, message = REFUSED[actions]
    for make in (Agent.check_spec, Agent.from_spec):
        with pytest.raises(SpecError, match=f"action_space: {message}"):
            make({"type": kind, **KINDS[kind]}, **spaces_of(action_space, "vector"))


def test_states_without_a_default_network():
    states = Dict(camera=TextBox(shape=(2,)), speed=FloatBox(shape=(2,)))
    for kind, make in itertools.product(KINDS, (Agent.check_spec, Agent.from_spec)):
        with pytest.raises(SpecError, match="network_spec: there is no default network .*'camera'"):
            make({"type": kind}, state_space=states, action_space=IntBox(2))
