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
    expected = EvaluationSpec(interval=2500, episodes=10, stop_at_return=None, final_episodes=20)
    assert run.evaluation == expected


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("steps", -1, "expected an integer >= 0, given -1"),
        ("steps", "10", "expected an integer >= 0, given '10'"),
        ("agent", "dqn", "expected a mapping, given 'dqn'"),
        ("seed", -1, "expected an integer >= 0"),
        ("worker.num_env", 3, "there is no such key. Did you mean 'num_envs'?"),
        ("worker.frameskip", 10**18, "expected an integer >= 1 and <= 10000"),
        ("stop.seconds", float("inf"), "expected a number > 0 or null, given inf"),
        ("evaluation.stop_at", 3, "there is no such key. Did you mean 'stop_at_return'?"),
        ("evaluation.stop_at_return", float("nan"), "expected a number or null, given nan"),
        ("evaluation.interval", 0, "expected an integer >= 1"),
    ],
)
def test_mistakes(path, value, said):
    section, _, key = path.partition(".")
    with pytest.raises(SpecError) as caught:
        parse_spec(RunSpec, {**SMALL, section: {key: value} if key else value}, "run")
    assert str(caught.value).startswith(f"run.{path}: {said}")


def test_what_is_missing():
    with pytest.raises(SpecError) as caught:
        parse_spec(RunSpec, {}, "run")
    lines = [line.split(";")[0] for line in str(caught.value).splitlines()]
    assert lines == [f"run.{name}: missing" for name in ("agent", "environment", "steps")]
