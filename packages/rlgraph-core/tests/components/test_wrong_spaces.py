"""Every shipped component is given Spaces that it cannot take, one argument at a time; the error says which."""

import re

import pytest

from rlgraph.core import GraphExecutor, RLGraphError
from rlgraph.spaces import FloatBox, SpaceError, TextBox, from_spec
from rlgraph.testing.conformance.cases import CASES
from rlgraph.testing.conformance.table import cases_of

pytestmark = pytest.mark.slow

#: What only moves values, whatever they are.
MOVES = (
    "batch_splitter",
    "container_merger",
    "container_splitter",
    "rank_reinterpreter",
    "reshape",
    "sampler",
    "slice",
    "transpose",
)
TAKES_TEXT = {
    case
    for component in (*MOVES, "instruction_encoder", "string_to_hash_bucket")
    for case in cases_of(component)
}
#: Arguments that are given and, with the options of a component's cases, not looked at.
UNUSED = {
    ("categorical_dqn_loss", "q_next"),
    ("dqn_loss", "q_next"),
    ("epsilon_greedy", "observations"),
    ("noisy_greedy", "observations"),
    ("ornstein_uhlenbeck_noise", "observations"),
    ("ppo_loss", "entropy"),
    ("quantile_dqn_loss", "q_next"),
}
ALLOWED = {(case, argument) for name, argument in UNUSED for case in cases_of(name)}
#: By its own name, or by that of the argument that it becomes inside; or which part of it is not there.
NAMED = (
    r"\(argument \w+\)|[\w./-]+[/:] ?[\w.]+: expected|\w+: (str|\{)|\w+ must|there is no (part|leaf) |"
    r"different Spaces for"
)


def error_of(case, argument, wrong):
    """The message of the build with one Space replaced; empty: there is none."""
    try:
        GraphExecutor(case.make(), {**case.spaces, argument: wrong}, backend="numpy")
    except (RLGraphError, SpaceError) as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore::rlgraph.core.BuildWarning")
def test_text(name):
    case = CASES[name]
    for argument, given in case.spaces.items():
        message = error_of(case, argument, TextBox(**from_spec(given).ranks.options()))
        if not message:
            assert name in TAKES_TEXT or (name, argument) in ALLOWED, f"{argument} takes text"
            continue
        assert re.search(r"\bstr\b|TextBox|given|Known", message), f"{argument}: given what? {message}"
        assert re.search(rf"\b{argument}\b|{NAMED}", message), f"{argument} is not named: {message}"


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore::rlgraph.core.BuildWarning")
def test_other_ranks(name):
    """No exception of Python or NumPy comes out, whatever the shape."""
    case = CASES[name]
    for argument, given in case.spaces.items():
        ranks = from_spec(given).ranks.options()
        for wrong in (
            FloatBox(shape=(2, 3, 4, 5), **ranks),
            FloatBox(**ranks),
            from_spec(given).without_ranks(),
        ):
            error_of(case, argument, wrong)
