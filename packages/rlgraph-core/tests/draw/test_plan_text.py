"""The page of a plan: valid Python, and what the NumPy backend runs."""

import ast

import pytest

from rlgraph.core import GraphExecutor, RLGraphError, assemble
from rlgraph.draw import plan_text


def test_the_page_of_a_small_plan(two):
    page = plan_text(two, "run")
    assert page.startswith(
        "# The plan of two.run: 2 nodes in 1 segment, 0 host calls between them.\n\ndef run(inputs):\n"
    )
    assert "# segment_0: (inputs: float32[B, 3]) -> (v3: float32[B, 3])\n" in page
    assert "    v2 = adder__add(inputs)\n    v3 = two__double(v2)\n    return v3,\n" in page


def test_every_page_is_python(built):
    for method in built.graph.methods:
        functions = [
            n.name for n in ast.parse(plan_text(built, method)).body if isinstance(n, ast.FunctionDef)
        ]
        assert functions[0] == method


def test_gradients_are_shown_though_numpy_has_none(dqn):
    page = plan_text(dqn, "update_from_memory")
    assert "1 host call between them" in page and "memory__sample(num_records)" in page
    assert "# It writes 17 variables of optimizer, 8 variables of policy.\n" in page
    assert "# gradients_" in page and ": by 8 variables, through v" in page
    assert "[0:4675] (8 variables)" in page
    assert " = gradients_" in page and "optimizer__apply(" in page


def test_it_shows_what_runs(two):
    executor = GraphExecutor(
        two.graph.components["two"].copy(), {"inputs": two.input_spaces["run"]["inputs"]}, backend="numpy"
    )
    assert executor.program("run").__source__ in plan_text(executor, "run")


def test_wrong_arguments(two, unbuilt):
    with pytest.raises(RLGraphError, match=r"two has no API method 'rum'\. Did you mean 'run'\?"):
        plan_text(two, "rum")
    with pytest.raises(RLGraphError, match="a plan needs a build"):
        plan_text(assemble(unbuilt), "run")
