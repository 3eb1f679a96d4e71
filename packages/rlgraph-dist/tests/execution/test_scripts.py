"""The scripts of the documentation, with small budgets and on actors of this process."""

import json
import re
import runpy
import sys
import threading
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[4] / "docs" / "examples" / "distributed"

pytestmark = pytest.mark.skipif(not SCRIPTS.is_dir(), reason="outside of the repository")


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    def run(name, changed, *options):
        config = tmp_path / "config.json"
        config.write_text(json.dumps({**json.loads((SCRIPTS / f"{name}.json").read_text()), **changed}))
        arguments = ["--config", config, "--engine", "in_process", *options]
        monkeypatch.setattr(sys, "argv", [name, *map(str, arguments)])
        runpy.run_path(str(SCRIPTS / f"{name}.py"), run_name="__main__")
        return capsys.readouterr().out

    return run


def test_ppo_pendulum(run):
    changed = {"rollout_length": 32, "num_minibatches": 2, "execution_spec": {"threads": 1}}
    printed = run("ppo_pendulum", changed, "--actors", 2, "--steps", 256)
    assert printed.startswith("256 steps, 2 updates, mean return -")


def test_apex_cartpole(capsys):
    # Updates begin at 2,000 steps.
    runpy.run_path(str(SCRIPTS / "apex_cartpole.py"))["main"](2100)
    assert re.match(r"21\d\d steps, [1-9]\d* updates, mean return ", capsys.readouterr().out)


@pytest.mark.slow
def test_two_learners(capsys):
    runpy.run_path(str(SCRIPTS / "two_learners.py"))["main"](512)
    assert "mean return " in capsys.readouterr().out


def test_an_address_without_ray(run, capsys):
    with pytest.raises(SystemExit, match="2"):
        run("apex_pong", {}, "--address", "auto")
    assert "--address is for --engine ray, given --engine in_process" in capsys.readouterr().err


@pytest.mark.slow
def test_apex_pong(run, tmp_path):
    pytest.importorskip("ale_py")
    changed = {
        "network_spec": [
            {"type": "divide", "divisor": 255.0},
            {"type": "conv2d", "filters": 4, "kernel_size": 8, "strides": 8, "activation": "relu"},
            {"type": "reshape", "flatten": True},
        ],
        "update_spec": {"steps_before_update": 64, "update_interval": 32, "batch_size": 8},
        "execution_spec": {"threads": 1},
    }
    saved = tmp_path / "saved"
    assert "timesteps_executed: 128" in run(
        "apex_pong", changed, "--actors", 1, "--steps", 128, "--folder", saved
    )
    assert (saved / "manifest.json").is_file()


@pytest.mark.slow
def test_impala_distributed(tmp_path, capsys):
    """Learner and actors, each of which is a program of its own elsewhere."""
    pytest.importorskip("tensorflow")
    from rlgraph.core.addresses import free_address

    cluster = tmp_path / "cluster.json"
    cluster.write_text(json.dumps({"learner": [free_address()], "actor": [free_address(), free_address()]}))
    config = tmp_path / "config.json"
    # Threads of TensorFlow cannot change once other tests have used it.
    agent = {**json.loads((SCRIPTS / "impala_distributed.json").read_text()), "execution_spec": {}}
    config.write_text(json.dumps(agent))
    main = runpy.run_path(str(SCRIPTS / "impala_distributed.py"))["main"]
    given = ["--config", str(config), "--cluster_spec", str(cluster), "--steps", "1280"]
    actors = [threading.Thread(target=main, args=(["--actor", "--task", str(i), *given],)) for i in range(2)]
    for actor in actors:
        actor.start()
    main(["--learner", *given])
    for actor in actors:
        actor.join()
    assert capsys.readouterr().out.startswith("1280 steps, 10 updates, mean return ")
