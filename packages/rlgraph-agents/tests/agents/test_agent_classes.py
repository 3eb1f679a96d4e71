"""The class of an agent comes from its algorithm."""

import copy
import pickle

import pytest

from rlgraph.agents import A2CAgent, Agent, ApexAgent, DQNAgent, PPOAgent
from rlgraph.algorithms.a2c import A2C
from rlgraph.algorithms.dqn import DQN
from rlgraph.algorithms.ppo import PPO
from rlgraph.core import SpecError, registry
from rlgraph.learning.agent_spec import stored_spec
from rlgraph.learning.base_agent import BaseAgent
from rlgraph.spaces import FloatBox, IntBox

ENV = {"type": "deterministic", "steps_to_terminal": 4}


class Doubled(A2C):
    """A2C by another name."""


@pytest.fixture
def doubled():
    known = registry("rlgraph.agents")
    known.register("doubled", f"{__name__}:Doubled")
    yield
    del known._plugins["doubled"]


def test_an_algorithm_of_ours_has_the_class_that_is_written():
    assert Agent.of(PPO) is Agent.of("ppo") is BaseAgent.of(PPO) is PPOAgent.of(PPO) is PPOAgent
    assert Agent.of(DQN) is DQNAgent and Agent.of("apex") is ApexAgent


def test_a_plug_in_registers_an_algorithm_and_nothing_else(doubled):
    agent = Agent.from_spec({"type": "doubled", "rollout_length": 4}, env=ENV, backend="numpy", seed=1)
    kind = type(agent)
    assert kind is Agent.of(Doubled) and issubclass(kind, Agent)
    assert kind.__name__ == "DoubledAgent" and repr(agent).startswith("<DoubledAgent on numpy")
    assert stored_spec(kind, agent._arguments)["type"] == "doubled"
    assert kind.check_spec({"rollout_length": 4}, env=ENV).algorithm is Doubled
    with pytest.raises(SpecError, match="agent.rolout_length: DoubledAgent has no such key"):
        kind.from_spec({"rolout_length": 4}, env=ENV)


def test_an_algorithm_that_is_not_registered_is_stored_by_its_import_path():
    class Unregistered(A2C):
        """A2C again."""

    assert stored_spec(Agent.of(Unregistered), {})["type"] == f"{__name__}:{Unregistered.__qualname__}"


@pytest.mark.parametrize("kind", [PPOAgent, Agent.of(Doubled), Agent])
def test_classes_are_pickled(kind):
    assert pickle.loads(pickle.dumps(kind)) is kind


def test_agents_of_ones_own_have_every_algorithm():
    class Mine(Agent):
        """Says so."""

    kind = Mine.of("ppo")
    assert issubclass(kind, Mine) and kind.algorithm_class is PPO and kind is Mine.of(PPO) is not PPOAgent
    assert isinstance(Mine.from_spec("a2c", env=ENV, backend="numpy"), Mine.of(A2C))


def test_an_algorithm_of_another_kind_of_agent_is_refused():
    with pytest.raises(SpecError, match="type"):
        DQNAgent.from_spec("ppo", env=ENV)
    assert A2CAgent.of(A2C) is A2CAgent


def test_behaviour_outputs_may_have_their_name_of_version_0_2():
    class Older(A2C):
        remembers = {"log_likelihood": FloatBox()}  # noqa: RUF012 - as it was written

    class Derived(Older):
        pass

    assert Older.behaviour_outputs == Derived.behaviour_outputs == Older.remembers
    assert A2C.behaviour_outputs == {}


@pytest.mark.parametrize("make", [pickle.dumps, copy.copy, copy.deepcopy], ids=lambda make: make.__name__)
def test_an_agent_is_not_copied(make):
    agent = DQNAgent(FloatBox(shape=(2,)), IntBox(2), backend="numpy")
    with pytest.raises(TypeError, match=r"neither pickled nor copied: store_model\(folder\) and Agent.load"):
        make(agent)
