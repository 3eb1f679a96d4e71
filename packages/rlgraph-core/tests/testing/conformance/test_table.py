"""The table of the component library: every component, every property, and a reason for every gap."""

import pytest

from rlgraph.core.numpy.backend import NumpyBackend
from rlgraph.core.numpy.ops import NumpyOps
from rlgraph.testing.__main__ import main
from rlgraph.testing.conformance.cases import GAPS
from rlgraph.testing.conformance.table import (
    COLUMNS,
    cases_of,
    checks_of,
    component_table,
    gap_of,
    shipped_components,
    table_markdown,
)


@pytest.mark.parametrize("component", shipped_components())
def test_every_property_has_checks_or_a_reason(component):
    for column, checks in checks_of(component).items():
        gap = gap_of(component, column)
        assert checks or gap, f"{component} has no case for {column!r}, and cases/gaps.py gives no reason"
        assert not (checks and gap), f"{component} has cases for {column!r}; take it out of cases/gaps.py"


def test_gaps_name_what_there_is():
    assert GAPS.keys() <= set(COLUMNS)
    names = [name for reasons in GAPS.values() for listed in reasons.values() for name in listed.split()]
    assert set(names) <= set(shipped_components())
    for column, reasons in GAPS.items():
        listed = [name for names in reasons.values() for name in names.split()]
        assert len(listed) == len(set(listed)), f"{column}: two reasons for one component"


def test_the_cases_of_a_component():
    assert {"dense", "dense_elu"} <= set(cases_of("dense"))
    assert "dueling_policy" not in cases_of("q_policy")
    assert checks_of("adam")["gradient"][0] == "components/adam"  # it trains
    assert checks_of("dense")["gradient"][0] == "derivatives/dense"


def test_cells():
    table = component_table(["numpy"], ["dqn_loss", "sequence"])
    loss, sequence = table["dqn_loss"], table["sequence"]
    assert str(loss["forward"]) == str(loss["nested Space"]) == str(loss["save/load"]) == "✓"
    assert loss["gradient"].backends("gated") == ["numpy"]
    assert str(sequence["gradient"]) == gap_of("sequence", "gradient")
    rows = table_markdown(table).splitlines()
    assert rows[0] == "| component | forward | gradient | save/load | nested Space | time rank |"
    assert rows[2].startswith("| `dqn_loss` | ✓ | not on numpy | ✓ | ✓ | ")


def test_what_is_not_executed_has_the_same_ticks():
    components = ["sequence", "dqn_loss", "clip"]
    run, assumed = (component_table(["numpy"], components, execute=execute) for execute in (True, False))
    assert table_markdown(run) == table_markdown(assumed)


def test_a_failure_is_seen(failures, capsys):
    def relu(x):
        return NumpyOps.abs(x)

    class Broken(NumpyBackend):
        def __init__(self, execution):
            super().__init__(execution)
            self.ops = type("BrokenOps", (NumpyOps,), {"relu": staticmethod(relu)})(execution.dtype)

    failures(Broken, only=["contract"])  # registers it
    cell = component_table(["numpy", "broken"], ["dense"])["dense"]["forward"]
    assert (str(cell), cell.backends("passed")) == ("✗ broken", ["numpy"])


def test_the_command(capsys, monkeypatch):
    monkeypatch.setattr(
        "rlgraph.testing.conformance.table.shipped_components", lambda: ["clip", "dense", "synchronizer"]
    )
    assert main(["--backend", "numpy", "--table"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    assert lines[2].startswith("| `clip` | ✓ |")
