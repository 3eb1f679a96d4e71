import math

import numpy as np
import pytest

from rlgraph.components import Schedule
from rlgraph.components.common.schedules import (
    Constant,
    CosineDecay,
    ExponentialDecay,
    LinearDecay,
    PolynomialDecay,
)
from rlgraph.core import Component, InputError, SpecError, graph_fn, rlgraph_api
from rlgraph.spaces import FloatBox
from rlgraph.testing import ComponentTest


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (0.3, Constant(0.3)),
        (1, Constant(1.0)),
        (["constant", 2], Constant(2.0)),
        ({"type": "constant", "constant": 2.0}, Constant(2.0)),
        ((1.0, 0.1), LinearDecay(1.0, 0.1)),
        ([1, 0], LinearDecay(1.0, 0.0)),
        (["linear", 1.0, 0.1], LinearDecay(1.0, 0.1)),
        (["lin", 1.0, 0.1], LinearDecay(1.0, 0.1)),
        ({"type": "linear", "from": 1.0, "to": 0.5, "end": 0.2}, LinearDecay(1.0, 0.5, 0.2)),
        ({"type": "linear_decay", "from": 1.0, "to": 0.5, "start": 0.1}, LinearDecay(1.0, 0.5, start=0.1)),
        ({"type": "linear-decay", "from_": 1.0, "to_": 0.5}, LinearDecay(1.0, 0.5)),
        (["Linear-Decay", 1.0, 0.5], LinearDecay(1.0, 0.5)),
        (["polynomial", 1.0, 0.1], PolynomialDecay(1.0, 0.1, power=2.0)),
        (["poly", 1.0, 0.1, 3], PolynomialDecay(1.0, 0.1, power=3.0)),
        (
            {"type": "polynomial_decay", "from": 1.0, "to": 0.5, "power": 0.5},
            PolynomialDecay(1.0, 0.5, power=0.5),
        ),
        (["exponential", 1.0, 0.1], ExponentialDecay(1.0, 0.1, decay_rate=0.1)),
        (["exp", 1.0, 0.1, 0.01], ExponentialDecay(1.0, 0.1, decay_rate=0.01)),
        (["cosine", 1.0, 0.1], CosineDecay(1.0, 0.1)),
        ({"type": "cosine_decay", "from": 1.0, "to": 0.5}, CosineDecay(1.0, 0.5)),
    ],
)
def test_specs(spec, expected):
    assert Schedule.from_spec(spec) == expected
    assert Schedule.from_spec(expected) is expected


#: spec -> (progress, value), computed by hand from RLgraph 0.5's definitions.
VALUES = [
    (0.25, [(-1.0, 0.25), (0.5, 0.25), (2.0, 0.25)]),
    ([1.0, 0.2], [(-0.5, 1.0), (0.0, 1.0), (0.25, 0.8), (0.5, 0.6), (1.0, 0.2), (1.5, 0.2)]),
    (
        {"type": "lin", "from": 0.0, "to": 10.0, "end": 0.1},
        [(0.0, 0.0), (0.05, 5.0), (0.1, 10.0), (0.5, 10.0)],
    ),
    (
        {"type": "lin", "from": 4.0, "to": 2.0, "start": 0.2, "end": 0.6},
        [(0.0, 4.0), (0.2, 4.0), (0.3, 3.5), (0.4, 3.0), (0.6, 2.0), (1.0, 2.0)],
    ),
    (["poly", 1.0, 0.0], [(0.0, 1.0), (0.5, 0.25), (0.9, 0.01), (1.0, 0.0), (1.1, 0.0)]),
    (["poly", 3.0, 1.0, 3], [(0.0, 3.0), (0.5, 1.25), (1.0, 1.0)]),
    (["exp", 1.0, 0.0], [(0.0, 1.0), (0.5, math.sqrt(0.1)), (1.0, 0.1), (2.0, 0.1)]),
    (["exp", 3.0, 1.0, 0.25], [(0.0, 3.0), (0.5, 2.0), (1.0, 1.5)]),
    (["cosine", 3.0, 1.0], [(0.0, 3.0), (1 / 3, 2.5), (0.5, 2.0), (2 / 3, 1.5), (1.0, 1.0)]),
]


@pytest.mark.parametrize(("spec", "points"), VALUES)
def test_values_on_the_host(spec, points):
    schedule = Schedule.from_spec(spec)
    assert [schedule.value(t) for t, _ in points] == pytest.approx([value for _, value in points], abs=1e-12)
    assert all(type(schedule.value(t)) is float for t, _ in points)


class Rate(Component):
    def __init__(self, spec):
        self.schedule = Schedule.from_spec(spec)
        super().__init__(scope="rate")

    @rlgraph_api
    @graph_fn
    def call(self, ops, progress):
        return progress * 0.0 + self.schedule.tensor(ops, progress)


@pytest.mark.parametrize(("spec", "points"), VALUES)
def test_values_in_a_graph_function(spec, points, backend):
    test = ComponentTest(Rate(spec), {"progress": FloatBox()}, backend=backend)
    for t, value in points:
        test.test("call", np.float32(t), expected_outputs=value, decimals=5)


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
        ({"type": "quadratic"}, "agent.rate.type: unknown schedule 'quadratic'"),
        (["linear", 1.0, 0.1, 0.5], "agent.rate: expected a number, "),
        (["poly", 1.0, 0.1, 2.0, 3.0], "agent.rate: expected a number, "),
        (["poly", 1.0, 0.1, 0], "agent.rate.power: expected a number > 0, given 0"),
        (["exp", 1.0, 0.1, 1.5], "agent.rate.decay_rate: expected a number in (0, 1), given 1.5"),
        ({"type": "lin", "from": "a", "to": 1.0}, "agent.rate.from: expected a number, given 'a'"),
        ([float("nan"), 1.0], "agent.rate.from: expected a number, given nan"),
        (
            {"type": "lin", "from": 1.0, "to": 0.0, "start": 0.5, "end": 0.5},
            "agent.rate.start: expected a fraction in [0, 0.5), given 0.5",
        ),
        (
            {"type": "linear", "form": 1.0, "to": 2.0},
            "agent.rate.form: LinearDecay has no such key. Did you mean 'from",
        ),
        ({"type": "linear", "from": 1.0}, "agent.rate"),
        (["linear", "a", "b"], "agent.rate"),
        (["constant", 1.0, 2.0], "agent.rate"),
        (
            {"type": "linear", "from": 1.0, "to": 0.0, "end": 0.0},
            "agent.rate.end: expected a fraction in (0, 1], given 0.0",
        ),
        (
            {"type": "linear", "from": 1.0, "to": 0.0, "end": 1000},
            "agent.rate.end: expected a fraction in (0, 1], given 1000.0; it is a fraction of training, not a number",
        ),
        ({"type": "linear", "from": 1.0}, "agent.rate.to: LinearDecay needs it, given {'type'"),
        ({"type": "poly", "to": 1.0}, "agent.rate.from: PolynomialDecay needs it, given"),
        (
            {"type": "linear", "from": 1.0, "from_": 1.0, "to": 0.0},
            "agent.rate: 'from' and 'from_' are one key, given both",
        ),
        (
            {"type": "linear", "from": 1.0, "to": 0.0, "to_": 0.0},
            "agent.rate: 'to_' and 'to' are one key, given both",
        ),
        (
            {"type": "linear", "from": 1.0, "to": 0.0, "num_timesteps": 1000},
            "agent.rate.num_timesteps: LinearDecay has no such key. It is 'end' here.",
        ),
        (
            {"type": "linear", "xyz": 1.0, "from": 1.0, "to": 0.0},
            "agent.rate.xyz: LinearDecay has no such key. Known: end, from, start, to.",
        ),
        (
            {"type": "constant", "value": 1.0},
            "agent.rate.value: Constant has no such key. It is 'constant' here.",
        ),
        ({"type": "ape_x", "worker": 3, "num_workers": 3}, "agent.rate.worker: expected 0 to 2, given 3"),
        (["ape_x", 0, 0], "agent.rate.num_workers: expected an integer >= 1, given 0"),
        (["ape_x", 0.5, 2], "agent.rate.worker: expected an integer, given 0.5"),
        ({"type": "ape_x", "worker": 0}, "agent.rate.num_workers: ApeXEpsilon needs it"),
        (
            {"type": "ape_x", "worker": 0, "num_workers": 2, "base": 1.0},
            "agent.rate.base: expected a number in (0, 1), given 1.0",
        ),
        (
            {"type": "ape_x", "worker": 0, "num_workers": 2, "alpha": -1.0},
            "agent.rate.alpha: expected a number >= 0, given -1.0",
        ),
        ({"type": "linear", "from": 1.0, "to": 0.0, "end": 1.1}, "agent.rate.end"),
    ],
)
def test_wrong_specs(spec, message):
    with pytest.raises(SpecError) as error:
        Schedule.from_spec(spec, path="agent.rate")
    assert message in str(error.value)


def test_epsilons_of_workers():
    """0.4^(1 + 7 i / (N - 1)) of Horgan et al. (2018): 0.4 of the first, 0.4^8 of the last; one worker has 0.4."""
    epsilons = [Schedule.from_spec(["ape_x", i, 8]).value(0.7) for i in range(8)]
    assert epsilons == pytest.approx([0.4 ** (1 + i) for i in range(8)])
    assert Schedule.from_spec({"type": "ape_x", "worker": 2, "num_workers": 5}).value(0.0) == pytest.approx(
        0.4**4.5
    )
    one = {"type": "ape_x", "worker": 0, "num_workers": 1, "base": 0.3, "alpha": 2.0}
    assert Schedule.from_spec(one).value(0.0) == pytest.approx(0.3)
    assert Schedule.from_spec(one).is_constant


def test_no_number_for_the_time():
    with pytest.raises(InputError, match=r"progress: expected the fraction of training .*, given nan"):
        LinearDecay(1.0, 0.0).value(float("nan"))
