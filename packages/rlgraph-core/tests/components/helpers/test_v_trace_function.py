import numpy as np
import pytest

from rlgraph.components import VTraceFunction
from rlgraph.core import SpecError
from rlgraph.spaces import BoolBox, FloatBox, IntBox, SpaceError
from rlgraph.testing import ComponentTest

RANKS = {"add_batch_rank": True, "add_time_rank": True, "time_major": True}
FLOATS, LOGITS = FloatBox(**RANKS), FloatBox(shape=(2,), **RANKS)
SPACES = {
    "logits_actions_pi": LOGITS,
    "log_probs_actions_mu": LOGITS,
    "actions": IntBox(2, **RANKS),
    "discounts": FLOATS,
    "rewards": FLOATS,
    "values": FLOATS,
    "bootstrapped_values": FloatBox(add_batch_rank=True),
}
#: The example of RLgraph's test, and the results in its comment: three steps, two trajectories.
LOG_RATIOS = np.array([[1.0, 0.65], [-0.4, 0.2], [1.5, -1.0]])
DISCOUNTS = np.array([[0.99, 0.98], [0.97, 0.96], [0.5, 0.4]])
REWARDS = np.array([[1.0, 0.0], [2.0, 1.0], [-5.0, 2.0]])
VALUES = np.array([[2.3, -1.1], [1.563, -2.0], [0.9, -0.3]])
BEHIND = np.array([2.3, -1.0])
TARGETS = [[0.35909343, 1.35535192], [-0.64738037, 1.38301216], [-3.85, 0.398971]]
ADVANTAGES = [[-1.94090657, 2.45535192], [-2.21038035, 3.38301216], [-4.75, 0.69897094]]


def policies(log_ratios):
    """Logits, log-probabilities and actions of two policies with these ratios."""
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(*log_ratios.shape, 2)).astype(np.float32)
    log_probs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    actions = rng.integers(0, 2, log_ratios.shape)
    taken = np.take_along_axis(log_probs, actions[..., None], -1)
    behaviour = np.full_like(log_probs, 77.0)
    np.put_along_axis(behaviour, actions[..., None], taken - log_ratios[..., None], -1)
    return logits, behaviour, actions


def test_published_by_rlgraph(backend):
    test = ComponentTest(VTraceFunction(), SPACES, backend=backend)
    arguments = (*policies(LOG_RATIOS), DISCOUNTS, REWARDS, VALUES, BEHIND)
    test.test("calc_v_trace_values", *arguments, expected_outputs=(TARGETS, ADVANTAGES), decimals=4)


def test_limits(backend):
    """One step: the correction is limited by rho_bar, the advantage by rho_bar_pg."""
    test = ComponentTest(VTraceFunction(rho_bar=2.0, rho_bar_pg=None), SPACES, backend=backend)
    one = np.ones((1, 1))
    arguments = (*policies(np.log(4.0 * one)), 0.5 * one, one, one, [3.0])
    # An error of 1 + 3/2 - 1.
    test.test("calc_v_trace_values", *arguments, expected_outputs=([[4.0]], [[6.0]]), decimals=5)


def test_limit_of_the_trace(backend):
    """Two steps with ratios of 4 and errors of 0 and 1."""
    column = np.ones((2, 1))
    arguments = (*policies(np.log(4.0 * column)), column, [[0.0], [1.0]], column, [1.0])
    for c_bar, trace in ((0.5, 0.5), (2.0, 2.0), (None, 4.0)):
        test = ComponentTest(VTraceFunction(c_bar=c_bar), SPACES, backend=backend)
        test.test(
            "calc_v_trace_values", *arguments, which=0, expected_outputs=[[1.0 + trace], [2.0]], decimals=5
        )


def test_a_fragment_that_is_cut(backend):
    """The first trajectory of the example, cut behind its second step: two trajectories one after the other."""
    flat = {"add_batch_rank": True}
    spaces = {
        **dict.fromkeys(("logits_actions_pi", "log_probs_actions_mu"), FloatBox(shape=(2,), **flat)),
        "actions": IntBox(2, dtype="int32", **flat),
        **dict.fromkeys(("discounts", "rewards", "values", "bootstrapped_values"), FloatBox(**flat)),
        "sequence_indices": BoolBox(**flat),
    }
    test = ComponentTest(VTraceFunction(), spaces, backend=backend)
    logits, behaviour, actions = policies(LOG_RATIOS[:, 0])
    steps = DISCOUNTS[:, 0], REWARDS[:, 0], VALUES[:, 0]
    behind, ends = [99.0, 0.9, 2.3], [False, True, False]
    # With 0.9 behind the cut as before, the errors stay: 0.24737, 0.87811947, -4.75; the last trace is gone.
    targets = [2.3 + 0.24737 + 0.99 * 0.87811947, 1.563 + 0.87811947, -3.85]
    advantages = [targets[0] - 2.3, 0.87811947, -4.75]
    arguments = (logits, behaviour, actions.astype("int32"), *steps, behind, ends)
    test.test("calc_v_trace_values", *arguments, expected_outputs=(targets, advantages), decimals=4)


@pytest.mark.parametrize(("name", "value"), [("rho_bar", 0.0), ("rho_bar_pg", "1"), ("c_bar", -1.0)])
def test_wrong_limits(name, value):
    with pytest.raises(
        SpecError, match=f"v-trace-function.{name}: expected a number > 0, or None, given {value!r}"
    ):
        VTraceFunction(**{name: value})


@pytest.mark.parametrize(
    ("spaces", "message"),
    [
        ({"logits_actions_pi": FLOATS}, "logits_actions_pi: expected a FloatBox of rank 1"),
        ({"actions": LOGITS}, 'actions: expected an IntBox of rank 0.*"to_dtype": "int"'),
        ({"values": FloatBox(shape=(1,), **RANKS)}, 'values: .*"reshape", "new_shape": \\[\\]'),
        ({"rewards": FloatBox(add_batch_rank=True, add_time_rank=True)}, "rewards: .*transpose"),
        ({"bootstrapped_values": FloatBox()}, "bootstrapped_values: expected one float per step, as values"),
        *(
            (
                {name: space},
                f"{name}: expected the ranks of logits_actions_pi, .*, given {type(space).__name__}",
            )
            for name, space in {
                "log_probs_actions_mu": FloatBox(shape=(2,), add_batch_rank=True),
                "actions": IntBox(2, add_batch_rank=True),
                "discounts": FloatBox(add_batch_rank=True),
                "rewards": FloatBox(add_batch_rank=True),
                "values": FloatBox(add_batch_rank=True),
                "sequence_indices": BoolBox(add_batch_rank=True),
            }.items()
        ),
        (
            {"log_probs_actions_mu": FloatBox(shape=(1,), **RANKS)},
            "log_probs_actions_mu: expected the shape \\[2\\] of logits_actions_pi, given \\[1\\]",
        ),
        ({"sequence_indices": BoolBox(**RANKS)}, "bootstrapped_values: with sequence_indices expected"),
    ],
)
def test_wrong_spaces(spaces, message):
    with pytest.raises(SpaceError, match=f"v-trace-function: {message}"):
        ComponentTest(VTraceFunction(), {**SPACES, **spaces}, backend="numpy")
