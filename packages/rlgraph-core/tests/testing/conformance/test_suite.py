import re
import subprocess
import sys
from pathlib import Path

import pytest

from rlgraph.core import Component, SpecError, graph_fn, rlgraph_api
from rlgraph.core.numpy.backend import NumpyBackend
from rlgraph.core.registry import Registry
from rlgraph.testing import BackendConformance
from rlgraph.testing.__main__ import main
from rlgraph.testing.conformance import Check, Outcome, Subject, load_checks, run_conformance, suite
from rlgraph.testing.conformance.budget import calls_of
from rlgraph.testing.conformance.cases import Case
from rlgraph.testing.conformance.components import lacks_kernels
from rlgraph.testing.conformance.suite import run_check


class TestNumpy(BackendConformance):
    backend = "numpy"


def test_every_module_that_declares_checks_is_loaded():
    modules = Path(suite.__file__).parent.glob("*.py")
    declaring = {m.stem for m in modules if re.search(r"^ *@?check(_each)?\(", m.read_text(), re.MULTILINE)}
    assert declaring == set(suite.MODULES)


def test_every_check_has_a_name_of_its_own():
    names = [check.id for check in load_checks()]
    assert len(set(names)) == len(names) > 200
    assert load_checks() == load_checks()


def test_the_table(capsys):
    assert (
        main(["--backend", "numpy", "--only", "contract", "variables/initial_values", "gradients/tanh"]) == 0
    )
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "backend numpy, contract 0.2; it declares: nothing"
    assert "variables   initial_values                    passed" in out
    assert "gradients   tanh                              gated   numpy does not declare gradients" in out
    assert out[-1].split(" in ")[0].endswith(" passed, 0 failed, 1 gated")


def test_the_table_of_a_failure(capsys, monkeypatch):
    def fails(subject):
        raise AssertionError(f"{subject.backend} is wrong\nhere")

    def breaks(subject):
        raise ValueError("no luck")

    checks = [Check("own", "fails", fails), Check("own", "breaks", breaks)]
    monkeypatch.setattr("rlgraph.testing.conformance.suite.load_checks", lambda: checks)
    assert main(["--backend", "numpy"]) == 1
    out = capsys.readouterr().out
    assert "own         fails                             failed  numpy is wrong\n" in out
    assert "own         breaks                            failed  ValueError: no luck\n" in out
    assert "\nown/fails\nTraceback" in out
    assert out.splitlines()[-1].startswith("0 passed, 2 failed, 0 gated in ")


def test_mistakes_on_the_command_line(capsys):
    assert main(["--backend", "nunpy"]) == 1
    assert "unknown backend 'nunpy'. Did you mean 'numpy'?" in capsys.readouterr().err
    assert main(["--backend", "numpy", "--only", "nothing"]) == 1
    assert "there is no check nothing" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([])


def test_agents_are_tested_by_the_suite_that_is_registered(capsys, monkeypatch):
    def run(agent, backend, *, only, options, report):
        status = "failed" if options["fails"] == agent else "passed"
        outcomes = [Outcome(Check("own", agent, print), status, f"on {backend}")] if agent not in only else []
        for outcome in outcomes:
            report(outcome)
        return outcomes

    suites = Registry("rlgraph.conformance", find=lambda group: [])
    suites.register("agent", run)
    monkeypatch.setattr("rlgraph.testing.__main__.registry", lambda group: suites)
    command = ["--agent", "one", "two", "--backend", "numpy", "--options"]
    assert main([*command, '{"fails": "three"}']) == 0
    out = capsys.readouterr().out
    assert "agent one, backend numpy\n" in out and "agent two, backend numpy\n" in out
    assert "own         two                               passed  on numpy\n" in out
    assert main([*command, '{"fails": "one"}']) == 1
    assert main([*command, '{"fails": ""}', "--only", "two"]) == 1
    assert "there is no check two" in capsys.readouterr().err


def test_without_the_package_of_agents(capsys, monkeypatch):
    suites = Registry("rlgraph.conformance", find=lambda group: [])
    monkeypatch.setattr("rlgraph.testing.__main__.registry", lambda group: suites)
    assert main(["--agent", "ppo"]) == 1
    expected = "conformance suite 'agent' is not installed: pip install rlgraph-agents"
    assert expected in capsys.readouterr().err


def test_without_hypothesis():
    """`rlgraph.testing` does without it; the suite says what to install."""
    lines = [
        "import sys",
        "sys.modules['hypothesis'] = None",
        "from rlgraph.testing import BackendConformance, ComponentTest",
        "from rlgraph.testing.__main__ import main",
        "sys.exit(main(['--backend', 'numpy']))",
    ]
    result = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True)
    assert result.returncode == 1
    assert result.stderr.strip().endswith("needs hypothesis: pip install 'rlgraph-core[testing]'")


def test_an_unknown_backend():
    with pytest.raises(SpecError, match="unknown backend 'nunpy'"):
        run_conformance("nunpy")


def test_gates(monkeypatch):
    def nothing(subject):
        pass

    for check, message in [
        (
            Check("s", "n", nothing, frozenset({"gradients", "wings"})),
            "numpy does not declare gradients, wings",
        ),
        (Check("s", "n", nothing, operations=frozenset({"exp", "fly"})), "contract 0.2 has no ops.fly"),
    ]:
        outcome = run_check(check, Subject("numpy"))
        assert (outcome.status, outcome.message) == ("gated", message)
    assert run_check(Check("s", "n", nothing), Subject("numpy")).status == "passed"
    pointless = Check("s", "n", nothing, unless=frozenset({"gradients"}))
    assert run_check(pointless, Subject("numpy")).status == "passed"
    monkeypatch.setattr(Subject, "capabilities", {"gradients"})
    assert run_check(pointless, Subject("numpy")).message == "numpy declares gradients"


def test_only_what_concerns_the_backend_is_collected():
    class Metafunc:
        fixturenames = ("check",)

        def parametrize(self, name, checks, ids):
            self.checks = checks

    metafunc = Metafunc()
    TestNumpy().pytest_generate_tests(metafunc)
    assert {check.section for check in metafunc.checks} >= {"contract", "loops", "graphs"}
    assert [check.id for check in metafunc.checks if "gradients" in check.capabilities] == []


@pytest.mark.parametrize("whose", ["backend", "component"])
def test_cases_that_meet_kernels(whose, monkeypatch):
    class Half(Component):
        @rlgraph_api
        @graph_fn
        def call(self, ops, x):
            return x / 2

    case = Case(lambda: Component(Half(), scope="root"), {"x": float}, ("call",))
    assert lacks_kernels(Subject("numpy"), case) == "numpy has no kernels for it"
    if whose == "backend":
        monkeypatch.setattr(NumpyBackend, "kernels", {Half.graph_functions()["_call"].key: None})
    else:
        Half.graph_functions()["_call"].kernel("numpy")(lambda self, ops, x: x * 0.5)
    assert lacks_kernels(Subject("numpy"), case) == ""


def test_counting_calls():
    def one():
        return len([1])

    assert calls_of(one) == ["builtins"]
    assert calls_of(lambda: [one(), one()]) == [__name__, "builtins", __name__, "builtins"]
