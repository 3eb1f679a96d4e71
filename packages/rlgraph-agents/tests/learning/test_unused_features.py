"""What an agent does not use costs nothing: its plans do not have it."""

import pytest

from rlgraph.agents import Agent
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox

DENSE, LSTM = {"type": "dense", "units": 4}, {"type": "lstm", "units": 4}
PLAIN = {"state_space": FloatBox(shape=(3,)), "network_spec": [DENSE]}
EVERYTHING = {
    "state_space": Dict(observation=FloatBox(shape=(3,)), action_mask=BoolBox(shape=(2,))),
    "network_spec": [{"type": "reshape", "flatten": True}, {"type": "concat"}, DENSE, LSTM],
    "preprocessing_spec": [{"type": "sequence", "sequence_length": 2}],
    "previous_action_and_reward": True,
    "normalize_states": True,
    "scale_rewards": True,
}
#: Words in the plans of agents that have all of this.
WORDS = ("action_mask", "internal_states", "lstm", "preprocess", "previous", "normalize", "scale_rewards")


def plans_of(kind, options):
    """The source of all plans with which an agent acts and learns."""
    executor = Agent.from_spec(kind, action_space=IntBox(2), backend="numpy", **options).executor
    methods = {"preprocess", "act", "act_greedily", "update", "update_from_memory", "insert_records"}
    return "\n".join(executor.plan(method).source for method in sorted(methods & set(executor.methods)))


@pytest.mark.parametrize("kind", ["dqn", "ppo"])
def test_plans_have_only_what_was_asked_for(kind):
    plain, full = plans_of(kind, PLAIN), plans_of(kind, EVERYTHING)
    assert [word for word in WORDS if word not in full] == []
    assert [word for word in WORDS if word in plain] == []
