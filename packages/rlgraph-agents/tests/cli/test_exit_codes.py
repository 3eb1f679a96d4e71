"""Exit codes, what `--debug` and `--quiet` change, and what stays on standard error."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from doubles import raising

from rlgraph.cli.exit_codes import ExitCode
from rlgraph.core import CheckpointError, NumericalError, SpecError
from rlgraph.core.registry import Registry
from rlgraph.environments.errors import EnvironmentFault
from rlgraph.environments.worlds.deterministic_env import DeterministicEnv


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (SpecError("wrong"), 2),
        (CheckpointError("wrong"), 2),
        (EnvironmentFault("wrong"), 3),
        (NumericalError("wrong"), 3),
        (KeyboardInterrupt(), 130),
    ],
)
@pytest.mark.parametrize("command", [["graph"], ["agents", "--json"]])
def test_codes(rlgraph, monkeypatch, error, code, command):
    monkeypatch.setattr("rlgraph.draw.draw", raising(error))
    monkeypatch.setattr(Registry, "plugins", raising(error))
    outcome = rlgraph(*command)
    assert (outcome.code, outcome.out) == (code, "")
    assert "Traceback" not in outcome.err
    assert code == 130 or outcome.err == f"{type(error).__name__}: wrong\n"


def test_debug_prints_the_traceback(rlgraph):
    outcome = rlgraph("graph", "--agent", "dqm", "--debug")
    assert outcome.code == 2
    assert outcome.err.startswith("Traceback (most recent call last):")
    assert "SpecError: agent.type: unknown agent 'dqm'" in outcome.err
    # The next command is itself again.
    assert "Traceback" not in rlgraph("graph", "--agent", "dqm").err


@pytest.fixture
def train(rlgraph, tiny, undrawn, monkeypatch):
    """Trains an agent that learns nothing in the deterministic environment with another `step`."""

    def run(step, *more):
        monkeypatch.setattr(DeterministicEnv, "step", step)
        agent = tiny(update_spec={"do_updates": False})
        arguments = ["--agent", agent, "--env", "deterministic", "--backend", "numpy", "--steps", 10]
        return rlgraph("train", *arguments, "--folder", "run", *more)

    return run


def test_a_run_that_fails(train):
    outcome = train(lambda self, action: (float("nan"), float("nan"), False, False, {}), "--json")
    assert (outcome.code, outcome.out) == (ExitCode.RUN_FAILED, "")
    assert "EnvironmentFault: " in outcome.err


def test_with_json_only_results_are_printed(train):
    step = DeterministicEnv.step

    def chatty(self, action):
        print("a step")
        return step(self, action)

    outcome = train(chatty, "--json")
    assert json.loads(outcome.out)["folder"] == "run"
    assert "a step" in outcome.err


def test_with_json_a_process_of_an_environment_prints_no_results():
    program = (
        "import os; from rlgraph.cli.output import output; output.json = True\n"
        "with output.results_alone():\n"
        "    os.write(1, b'said '); print('written'); output.result('', {'a': 1})\n"
        "print('after')"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout == '{\n  "a": 1\n}\nafter\n'
    assert sorted(ended.stderr.split()) == ["said", "written"]


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (EOFError("wrong"), ExitCode.RUN_FAILED),
        (SystemExit(0), ExitCode.RUN_FAILED),
        (KeyboardInterrupt(), ExitCode.RUN_FAILED),
        (OSError(2, "no such file", "wrong"), ExitCode.RUN_FAILED),
        ("SIGTERM", ExitCode.INTERRUPTED),
    ],
    ids=str,
)
def test_what_environments_raise_and_signals(train, answer, code):
    def fail(self, action):
        if isinstance(answer, BaseException):
            raise answer
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(60)  # the signal ends it

    outcome = train(fail)
    assert outcome.code == code and "Traceback" not in outcome.err
    place = "EnvironmentFault: DeterministicEnv, environment 0, step 1: raised " + type(answer).__name__
    assert (place in outcome.err) is (code is ExitCode.RUN_FAILED)


def test_a_backend_that_cannot_learn_leaves_no_folder(rlgraph, tiny, tmp_path):
    outcome = rlgraph("train", "--agent", tiny(), "--backend", "numpy", "--steps", 10, "--folder", "run")
    assert outcome.code == ExitCode.BAD_INPUT
    assert "CapabilityError: API method 'update_from_memory' needs gradients" in outcome.err
    assert not (tmp_path / "run").exists()


def test_a_place_that_cannot_be_written(rlgraph, tiny, undrawn, tmp_path):
    (tmp_path / "taken").write_text("a file")
    agent = tiny(update_spec={"do_updates": False})
    arguments = ["train", "--agent", agent, "--env", "deterministic", "--backend", "numpy", "--steps", 20]
    outcome = rlgraph(*arguments, "--folder", "taken")
    assert outcome.code == ExitCode.BAD_INPUT
    assert "FileExistsError: " in outcome.err and "taken or give another path" in outcome.err
    assert "Traceback" in rlgraph(*arguments, "--folder", "taken", "--debug").err


def test_a_quiet_run_for_machines(rlgraph, tiny, undrawn):
    agent = tiny(update_spec={"do_updates": False})
    arguments = ["train", "--agent", agent, "--env", "deterministic", "--backend", "numpy", "--steps", 20]
    loud = rlgraph(*arguments, "--folder", "a", "--json")
    quiet = rlgraph(*arguments, "--folder", "b", "--json", "-q")
    assert "dqn learns deterministic" in loud.err and quiet.err == ""
    data = [json.loads(outcome.out) for outcome in (loud, quiet)]
    assert [entry["folder"] for entry in data] == ["a", "b"]
    assert data[0]["evaluation"]["returns"] == data[1]["evaluation"]["returns"]
    assert data[0]["training"]["timesteps_executed"] == 20
    human = rlgraph(*arguments, "--folder", "c", "--quiet")
    assert "Done" in human.out and "learns" not in human.out and "next" not in human.out


def test_every_code_is_described():
    assert [int(code) for code in ExitCode] == [0, 1, 2, 3, 130]
    assert all(code.description.endswith(".") for code in ExitCode)
