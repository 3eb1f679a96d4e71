"""Keys by the names of other libraries, or a level too high: refused, with the place where they stand here."""

from dataclasses import fields

import pytest

from rlgraph.agents import Agent, DQNAgent
from rlgraph.agents.other_names import IN_A_RUN, IN_AN_AGENT, IN_UPDATES
from rlgraph.agents.specs import UpdateSpec
from rlgraph.core import ExecutionSpec, SpecError
from rlgraph.core.specs.parameters import parameters_of
from rlgraph.runs.configuration import apply_overrides, check
from rlgraph.runs.run_spec import RunSpec
from rlgraph.runs.schema import run_schema
from rlgraph.spaces import FloatBox, IntBox

SPACES = {"state_space": FloatBox(shape=(3,)), "action_space": IntBox(4)}


KNOWN = parameters_of(DQNAgent).named
#: The names that DQN lacks, and has under another one.
OF_DQN = {
    name: hint if isinstance(hint, str) else hint[0]
    for name, hint in IN_AN_AGENT.items()
    if name not in KNOWN
}
OF_DQN = {name: hint for name, hint in OF_DQN.items() if hint.partition(".")[0] in KNOWN}


@pytest.mark.parametrize("name", OF_DQN)
def test_every_name_is_refused_with_a_place_that_there_is(name):
    place = OF_DQN[name]
    document = {"agent": {"type": "dqn", name: 1}, "environment": "CartPole-v1", "steps": 1}
    with pytest.raises(SpecError) as caught:
        check(document)
    assert str(caught.value) == f"agent.{name}: DQNAgent has no such key. It is {place!r} here."


def test_the_last_part_of_every_place_is_a_key_somewhere():
    known = str([run_schema(), *(f.name for f in fields(ExecutionSpec)), "env"])
    places = {place for place in IN_A_RUN.values() if not place.endswith(".")}
    assert [place for place in places if f"'{place.rpartition('.')[2]}'" not in known] == []


def test_names_of_updates_and_runs():
    assert {hint for hint in IN_UPDATES.values() if not hint.endswith(".")} <= set(UpdateSpec.model_fields)
    places = {place for place in IN_A_RUN.values() if not place.endswith(".")}
    assert {place.partition(".")[0] for place in places} <= set(RunSpec.model_fields)
    with pytest.raises(SpecError) as caught:
        check(
            {
                "agent": {"type": "dqn", "update_spec": {"train_freq": 4}},
                "env": "CartPole-v1",
                "environment": "CartPole-v1",
                "steps": 1,
                "lr": 1,
                "n_envs": 2,
            }
        )
    assert str(caught.value).splitlines() == [
        "env: there is no such key. It is 'environment' here.",
        "lr: there is no such key. It is 'agent.optimizer_spec.learning_rate' here.",
        "n_envs: there is no such key. It is 'worker.num_envs' here.",
        "agent.update_spec.train_freq: there is no such key. It is 'update_interval' here.",
    ]


def test_arguments_of_the_class():
    with pytest.raises(SpecError) as caught:
        DQNAgent(**SPACES, gamma=0.9, buffer_size=100, dobule_q=True)
    assert str(caught.value).splitlines() == [
        "DQNAgent.gamma: DQNAgent has no such key. It is 'discount' here.",
        "DQNAgent.buffer_size: DQNAgent has no such key. It is 'memory_spec.capacity' here.",
        "DQNAgent.dobule_q: DQNAgent has no such key. Did you mean 'double_q'?",
    ]


def test_a_place_that_the_class_lacks_is_not_offered():
    class Plain(DQNAgent):
        def __init__(self, state_space, action_space, *, discount=0.9):
            raise AssertionError("it is not called")

    with pytest.raises(SpecError, match="Plain has no such key. It is 'discount' here"):
        Agent.from_spec({"type": Plain, "gamma": 1}, **SPACES)
    with pytest.raises(
        SpecError, match=r"Plain has no such key\. Known: action_space, discount, state_space"
    ):
        Agent.from_spec({"type": Plain, "tau": 1}, **SPACES)


def test_overrides():
    document = {"agent": {"type": "dqn"}, "environment": "CartPole-v1", "steps": 1}
    with pytest.raises(SpecError, match=r"^gamma: there is no 'gamma'\. It is 'discount' here\.$"):
        apply_overrides(document, ["gamma=0.9"])
