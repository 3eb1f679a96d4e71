"""The document that describes a run."""

import pytest

from rlgraph.core import SpecError
from rlgraph.experience.specs import parse_spec
from rlgraph.runs.run_spec import EvaluationSpec, RunSpec

SMALL = {"agent": {"type": "dqn"}, "environment": "CartPole-v1", "steps": 10}


def test_defaults():
    run = parse_spec(RunSpec, SMALL, "run")
    assert (run.backend, run.seed, run.logging.report_interval) == (None, 0, 1000)
    assert (run.worker.num_envs, run.worker.validate_states) == (1, False)
    assert run.evaluation == EvaluationSpec(
        interval=2500, episodes=10, stop_at_return=None, final_episodes=20
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"steps": -1}, "run.steps: expected an integer >= 0, given -1"),
        ({"steps": "10"}, "run.steps: expected an integer >= 0, given '10'"),
        ({"agent": "dqn"}, "run.agent: expected a mapping, given 'dqn'"),
        ({"seed": -1}, "run.seed: expected an integer >= 0"),
        ({"worker": {"num_env": 3}}, "run.worker.num_env: there is no such key. Did you mean 'num_envs'?"),
        (
            {"evaluation": {"stop_at": 3}},
            "run.evaluation.stop_at: there is no such key. Did you mean 'stop_at_return'?",
        ),
        (
            {"evaluation": {"stop_at_return": float("nan")}},
            "stop_at_return: expected a number or null, given nan",
        ),
        ({"stop": {"seconds": float("inf")}}, "run.stop.seconds: expected a number > 0 or null, given inf"),
        ({"worker": {"frameskip": 10**18}}, "frameskip: expected an integer >= 1 and <= 10000"),
        (
            {"evaluation": {"interval": 0}},
            "run.evaluation.interval: expected an integer >= 1",
        ),
    ],
)
def test_mistakes(change, said):
    with pytest.raises(SpecError) as caught:
        parse_spec(RunSpec, {**SMALL, **change}, "run")
    assert said in str(caught.value)


def test_what_is_missing():
    with pytest.raises(SpecError) as caught:
        parse_spec(RunSpec, {}, "run")
    lines = [line.split(";")[0] for line in str(caught.value).splitlines()]
    assert lines == [f"run.{name}: missing" for name in ("agent", "environment", "steps")]
