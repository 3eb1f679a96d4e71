import pytest

from rlgraph.components import Schedule
from rlgraph.components.common.schedules import Constant, LinearDecay
from rlgraph.core import SpecError


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (0.3, Constant(0.3)),
        (1, Constant(1.0)),
        ((1.0, 0.1), LinearDecay(1.0, 0.1)),
        ([1, 0], LinearDecay(1.0, 0.0)),
        (["linear", 1.0, 0.1], LinearDecay(1.0, 0.1)),
        ({"type": "linear", "from": 1.0, "to": 0.5, "end": 0.2}, LinearDecay(1.0, 0.5, 0.2)),
        ({"type": "linear_decay", "from": 1.0, "to": 0.5}, LinearDecay(1.0, 0.5)),
        ({"type": "constant", "constant": 2.0}, Constant(2.0)),
    ],
)
def test_specs(spec, expected):
    assert Schedule.from_spec(spec) == expected
    assert Schedule.from_spec(expected) is expected


def test_values():
    schedule = LinearDecay(1.0, 0.2)
    assert [schedule.value(t) for t in (-0.5, 0.0, 0.25, 0.5, 1.0, 1.5)] == pytest.approx(
        [1.0, 1.0, 0.8, 0.6, 0.2, 0.2]
    )
    early = LinearDecay(0.0, 10.0, end=0.1)
    assert [early.value(t) for t in (0.0, 0.05, 0.1, 0.5)] == pytest.approx([0.0, 5.0, 10.0, 10.0])
    assert [Constant(3.0).value(t) for t in (0.0, 2.0)] == [3.0, 3.0]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("fast", "agent.rate: expected a number, "),
        (True, "agent.rate: expected a number, "),
        (None, "agent.rate: expected a number, "),
        ([1.0], "agent.rate: expected a number, "),
        ([], "agent.rate: expected a number, "),
        ({"from": 1.0}, "agent.rate: expected a number, "),
        (["lineal", 1.0, 0.1], "agent.rate.type: unknown schedule 'lineal'. Did you mean 'linear'?"),
        ({"type": "exponential"}, "agent.rate.type: unknown schedule 'exponential'"),
        (
            {"type": "linear", "form": 1.0, "to": 2.0},
            "agent.rate.form: LinearDecay has no such key. Did you mean 'from",
        ),
        ({"type": "linear", "from": 1.0}, "agent.rate"),
        (["linear", "a", "b"], "agent.rate"),
        (["constant", 1.0, 2.0], "agent.rate"),
        (
            {"type": "linear", "from": 1.0, "to": 0.0, "end": 0.0},
            r"linear_decay.end: expected a fraction in (0, 1]",
        ),
        ({"type": "linear", "from": 1.0, "to": 0.0, "end": 1.1}, r"linear_decay.end"),
    ],
)
def test_wrong_specs(spec, message):
    with pytest.raises(SpecError) as error:
        Schedule.from_spec(spec, path="agent.rate")
    assert message in str(error.value)
