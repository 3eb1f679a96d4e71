"""The agents of this package pass the suite: on one backend all rows, on the others those that a backend could fail."""

import pytest

from rlgraph.agents.conformance import (
    AgentConformance,
    AgentUnderTest,
    load_rows,
    run_agent_conformance,
    run_row,
)
from rlgraph.core import registry

pytestmark = pytest.mark.slow

BACKENDS = [name for name in registry("rlgraph.backends").names() if name != "numpy"]
ONE_BACKEND = "torch" if "torch" in BACKENDS else BACKENDS[0]
OTHERS = [name for name in (*BACKENDS, "numpy") if name != ONE_BACKEND]


def options_of(backend):
    """One thread; TensorFlow's cannot change in a process that has used it."""
    return {"execution_spec": {"threads": 1}} if backend == "torch" else {}


class OnOneBackend(AgentConformance):
    """With the options that the algorithms declare, `Algorithm.test_options`."""

    backend = ONE_BACKEND
    options = options_of(ONE_BACKEND)


class TestA2C(OnOneBackend):
    agent = "a2c"


class TestApex(OnOneBackend):
    agent = "apex"


class TestBC(OnOneBackend):
    agent = "bc"


class TestC51(OnOneBackend):
    agent = "c51"


class TestDQFD(OnOneBackend):
    agent = "dqfd"


class TestDQN(OnOneBackend):
    agent = "dqn"


class TestIMPALA(OnOneBackend):
    agent = "impala"


class TestIQL(OnOneBackend):
    agent = "iql"


class TestPPO(OnOneBackend):
    agent = "ppo"


class TestQRDQN(OnOneBackend):
    agent = "qr_dqn"


class TestRainbow(OnOneBackend):
    agent = "rainbow"


class TestSAC(OnOneBackend):
    agent = "sac"


class TestTD3(OnOneBackend):
    agent = "td3"


AGENTS = [kind.agent for kind in OnOneBackend.__subclasses__()]


def test_all_agents_are_here():
    """Those of this package; a plug-in has its own tests."""
    found = registry("rlgraph.agents")
    own = {name for name in found.names() if found.load(name).__module__.startswith("rlgraph.algorithms.")}
    assert own - {"random"} == set(AGENTS)


def test_an_agent_that_does_not_learn():
    """Rows of learning do not concern it; it passes all others."""
    found = {outcome.status for outcome in run_agent_conformance("random", "numpy")}
    assert found == {"passed", "gated"}


@pytest.fixture(scope="module")
def subjects():
    return {
        (name, on): AgentUnderTest(name, on, options_of(on))
        for name in AGENTS
        for on in (ONE_BACKEND, *OTHERS)
    }


#: Agents between them with nearly all parts of the others, and rows that have more than these parts in them.
WITH_ALL_PARTS = ("dqn", "ppo", "sac")
OF_EACH = ("learning/categories", "learning/floats", "learning/data_sets", "learning/same_seed")
#: An agent that takes no categories.
ONLY_FLOATS = ("td3", "learning/floats")


def rows_of_others():
    for agent in AGENTS:
        for on in OTHERS:
            for row in load_rows():
                if row.on_every_backend or (agent, row.id) == ONLY_FLOATS:
                    repeated = agent not in WITH_ALL_PARTS and row.id not in OF_EACH and on != "numpy"
                    marks = pytest.mark.repetition if repeated else ()
                    yield pytest.param(agent, on, row, id=f"{agent}-{on}-{row.id}", marks=marks)


@pytest.mark.parametrize(("agent", "on", "row"), list(rows_of_others()))
def test_other_backends(subjects, agent, on, row):
    """A row may be gated where the agent, not the backend, is the reason."""
    outcome = run_row(row, subjects[agent, on])
    if outcome.status == "gated" and on != "numpy":
        outcome = run_row(row, subjects[agent, ONE_BACKEND])
        assert outcome.status == "gated", outcome.details
        return
    assert outcome.status in ("passed", *["gated"] * (on == "numpy")), outcome.details
