"""The agents of this package pass the suite: on one backend all rows, on the others those that a backend could fail."""

from typing import Any, ClassVar

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
#: Those that other backends are tested with; `apex` is `dqn` with other options.
AGENTS = ("a2c", "bc", "dqn", "impala", "ppo", "sac")
OTHERS = [name for name in (*BACKENDS, "numpy") if name != ONE_BACKEND]


def options_of(backend):
    """One thread; TensorFlow's cannot change in a process that has used it."""
    return {"execution_spec": {"threads": 1}} if backend == "torch" else {}


class OnOneBackend(AgentConformance):
    backend, options = ONE_BACKEND, options_of(ONE_BACKEND)


class TestA2C(OnOneBackend):
    agent = "a2c"


class TestApex(OnOneBackend):
    agent = "apex"


class TestBC(OnOneBackend):
    agent = "bc"


class TestC51(OnOneBackend):
    agent = "c51"
    # The returns of the task lie between 0 and 6.
    options: ClassVar[dict[str, Any]] = {**options_of(ONE_BACKEND), "num_atoms": 31, "low": 0.0, "high": 6.0}


class TestDQFD(OnOneBackend):
    agent = "dqfd"


class TestDQN(OnOneBackend):
    agent = "dqn"


class TestIMPALA(OnOneBackend):
    agent = "impala"


class TestIQL(OnOneBackend):
    agent = "iql"
    options: ClassVar[dict[str, Any]] = {
        **options_of(ONE_BACKEND),
        "network_spec": [{"type": "dense", "units": 32, "activation": "relu"}],
        "inverse_temperature": 10.0,
        "tau": 0.1,
    }


class TestPPO(OnOneBackend):
    agent = "ppo"


class TestQRDQN(OnOneBackend):
    agent = "qr_dqn"
    # Sums over fewer quantiles have smaller gradients, and near returns are learned sooner.
    options: ClassVar[dict[str, Any]] = {**options_of(ONE_BACKEND), "num_quantiles": 10, "discount": 0.5}


class TestSAC(OnOneBackend):
    agent = "sac"


class TestTD3(OnOneBackend):
    agent = "td3"
    # The tiny network of the others has saturated before the critics know anything.
    options: ClassVar[dict[str, Any]] = {
        **options_of(ONE_BACKEND),
        "network_spec": [{"type": "dense", "units": 32, "activation": "relu"}] * 2,
        "exploration_spec": {"noise_spec": {"stddev": 0.5, "relative": True}},
        "normalize_states": True,
        "optimizer_spec": {"learning_rate": 0.003},
        "update_spec": {"steps_before_update": 16, "update_interval": 4, "batch_size": 64},
        "tau": 0.05,
        "discount": 0.5,
    }


def test_an_agent_that_does_not_learn():
    """Rows of learning do not concern it; it passes all others."""
    found = {outcome.status for outcome in run_agent_conformance("random", "numpy")}
    assert found == {"passed", "gated"}


@pytest.fixture(scope="module")
def subjects():
    return {(name, b): AgentUnderTest(name, b, options_of(b)) for name in AGENTS for b in OTHERS}


#: Agents whose parts are all those of `ppo`, and the rows that have more than these parts in them.
LIKE_PPO, OF_EACH = (
    ("a2c", "bc", "impala"),
    ("learning/categories", "learning/data_sets", "learning/same_seed"),
)


def rows_of_others():
    for agent in AGENTS:
        for on in OTHERS:
            for row in load_rows():
                if row.on_every_backend:
                    repeated = agent in LIKE_PPO and row.id not in OF_EACH and on != "numpy"
                    marks = pytest.mark.repetition if repeated else ()
                    yield pytest.param(agent, on, row, id=f"{agent}-{on}-{row.id}", marks=marks)


@pytest.mark.parametrize(("agent", "on", "row"), list(rows_of_others()))
def test_other_backends(subjects, agent, on, row):
    outcome = run_row(row, subjects[agent, on])
    # What `bc` refuses, recurrent networks and steps of its own, the class of one backend shows.
    may_be_gated = (
        on == "numpy" or agent == "bc" or (agent == "dqn" and row.id.startswith("acting/log_probabilities"))
    )
    assert outcome.status in (["passed", "gated"] if may_be_gated else ["passed"]), outcome.details
