"""The command line run in this process, and a small agent for it."""

import json
import sys
from dataclasses import dataclass

import pytest

from rlgraph.cli.main import main
from rlgraph.runs.run_folder import RunFolder


@dataclass
class Outcome:
    """Exit code and what was written."""

    code: int
    out: str
    err: str


@pytest.fixture
def rlgraph(monkeypatch, capsys, tmp_path):
    """Runs `rlgraph ARGUMENTS` in an empty folder."""
    monkeypatch.chdir(tmp_path)

    # The threads of TensorFlow are set once a process, and other tests may have started it in this one.
    if "rlgraph.tf.backend" in sys.modules:
        monkeypatch.setattr("rlgraph.tf.backend.set_threads", lambda threads: None)

    monkeypatch.setattr("shutil.which", lambda name: name)  # the commands are found, wherever the tests run

    # Click takes the program's name from here, which is pytest's package where that was started as a module.
    monkeypatch.setattr(sys.modules["__main__"], "__package__", None, raising=False)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["rlgraph", *map(str, arguments)])
        capsys.readouterr()
        try:
            code = main()
        except SystemExit as end:  # completion ends the process
            code = end.code
        written = capsys.readouterr()
        return Outcome(code, written.out, written.err)

    return run


@pytest.fixture
def refused(rlgraph):
    """Runs `rlgraph ARGUMENTS`, which must be a mistake: what is said, exit code 2, no traceback."""

    def run(said, *arguments):
        outcome = rlgraph(*arguments)
        assert outcome.code == 2 and said in outcome.err, outcome.err
        assert "Traceback" not in outcome.out + outcome.err
        return outcome

    return run


@pytest.fixture
def tiny(tmp_path):
    """Writes the spec of an agent of a few dozen parameters; gives the file's name."""

    def write(**options):
        spec = {
            "type": "dqn",
            "network_spec": [{"type": "dense", "units": 8, "activation": "tanh"}],
            # As many threads as the framework has: TensorFlow cannot change them once it has run in this process.
            "execution_spec": {"threads": None},
            "memory_spec": {"capacity": 200},
            "update_spec": {"batch_size": 8},
            **options,
        }
        file = tmp_path / "tiny.json"
        file.write_text(json.dumps(spec))
        return file.name

    return write


@pytest.fixture
def undrawn(monkeypatch):
    """Pictures take longer than short runs."""
    monkeypatch.setattr(RunFolder, "draw_graph", lambda self: None)
    monkeypatch.setattr("rlgraph.runs.curve.draw_curve", lambda *arguments: None)
