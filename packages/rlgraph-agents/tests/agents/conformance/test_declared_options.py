"""Algorithms declare the options of the suite, and other values of options; the suite says what is missing."""

from functools import partial
from typing import Any, ClassVar

import pytest

from rlgraph.agents.conformance import AgentUnderTest, load_rows, run_agent_conformance, run_row
from rlgraph.agents.conformance.options import alternatives
from rlgraph.algorithms.a2c import A2C
from rlgraph.algorithms.dqn import DQN
from rlgraph.core import registry

BACKENDS = [name for name in registry("rlgraph.backends").names() if name != "numpy"]
BACKEND = "torch" if "torch" in BACKENDS else BACKENDS[0]
ROWS = {row.id: row for row in load_rows()}


class Declared(A2C):
    test_options: ClassVar[dict[str, Any]] = {
        "network_spec": [{"type": "dense", "units": 3}],
        "discount": 0.7,
    }


def test_the_suite_takes_declared_options():
    agent = AgentUnderTest(Declared, "numpy").make()
    assert "dense 3" in agent.network and agent.learner.graph.algorithm.gae.discount == 0.7


def test_given_options_win():
    subject = AgentUnderTest(Declared, "numpy", {"discount": 0.6})
    assert subject.make().learner.graph.algorithm.gae.discount == 0.6
    assert subject.make(discount=0.5).learner.graph.algorithm.gae.discount == 0.5


class Slow(DQN):
    def __init__(self, state_space, action_space, *, optimizer_spec=None, **options):
        super().__init__(state_space, action_space, optimizer_spec={"learning_rate": 1e-9}, **options)


@pytest.mark.parametrize(
    ("declared", "message"),
    [({}, "Slow declares no test_options"), ({"sync_tau": 0.5}, "of Slow.test_options")],
)
def test_a_row_of_learning_says_that_options_may_not_suit(monkeypatch, declared, message):
    monkeypatch.setattr(Slow, "test_options", declared)
    monkeypatch.setattr("rlgraph.agents.conformance.learning.MOST_STEPS", 400)
    (outcome,) = run_agent_conformance(Slow, BACKEND, only=["learning/categories"])
    assert outcome.status == "failed"
    assert message in outcome.message


class WithOptions(A2C):
    def __init__(self, state_space, action_space, *, mode: str = "old", flag: bool = False, **options: Any):
        super().__init__(state_space, action_space, **options)


def test_alternatives():
    of = partial(alternatives, AgentUnderTest(WithOptions, "numpy"))
    assert of("flag") == [True]
    assert of("gae_lambda") == [0.98, 0.01]  # a near value of the search space, and a far one
    assert {"learning_rate": 1e-5} in of("optimizer_spec")  # a part of the search space
    assert of("weight_vf") == [0.25, 0.005]  # by type
    assert of("sequence_length") == [2, 1]
    WithOptions.test_alternatives = {"mode": ["new"], "flag": []}
    assert of("mode") == ["new"] and of("flag") == []


def test_an_option_without_a_known_second_value():
    WithOptions.test_alternatives = {"flag": []}
    outcome = run_row(ROWS["options/each_has_an_effect"], AgentUnderTest(WithOptions, BACKEND))
    assert outcome.status == "failed"
    assert "no second value is known of the option mode" in outcome.message
    assert "WithOptions.test_alternatives, as {'mode': [value, ...]}" in outcome.message


def test_a_refused_second_value():
    WithOptions.test_alternatives = {"mode": [], "flag": [], "gae_lambda": [7.0]}
    outcome = run_row(ROWS["options/each_has_an_effect"], AgentUnderTest(WithOptions, BACKEND))
    assert "every value tried of the option gae_lambda is refused, 7.0" in outcome.message


class Excused(A2C):
    test_exceptions: ClassVar[dict[str, str]] = {"targets/lag": "it has none"}


def test_an_algorithm_says_which_rows_do_not_concern_it():
    (outcome,) = run_agent_conformance(Excused, "numpy", only=["targets/lag"])
    assert (outcome.status, outcome.message) == ("gated", "the algorithm says: it has none")
