"""No document, run folder or option runs code that it names, in any command; `--allow-imports` lets it."""

import json
import shutil
import sys

import pytest

from rlgraph.core import SpecError
from rlgraph.runs import resume
from rlgraph.runs.loading import load_agent

CANARY = """
from pathlib import Path
Path({file!r}).touch()
from rlgraph.components import Dense
from rlgraph.environments import DeterministicEnv
class Layer(Dense): pass
class Env(DeterministicEnv): pass
def run(**kwargs): Path({file!r}).touch()
"""
LAYERS = [{"type": "dense", "units": 4}]


@pytest.fixture
def canary(tmp_path, monkeypatch):
    """A module that leaves a file when it is imported or called; the file."""
    file = tmp_path / "executed"
    (tmp_path / "canary_module.py").write_text(CANARY.format(file=str(file)))
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])  # nothing but the rule keeps it out
    sys.modules.pop("canary_module", None)
    yield file
    sys.modules.pop("canary_module", None)


@pytest.fixture
def importable(canary, tmp_path, monkeypatch):
    """The file, and nothing but the policy keeps the module from being imported."""
    monkeypatch.syspath_prepend(tmp_path)
    return canary


def document(agent=None, environment="deterministic"):
    agent = {"type": "dqn", "network_spec": LAYERS, "update_spec": {"do_updates": False}, **(agent or {})}
    return {
        "agent": agent,
        "environment": environment,
        "backend": "numpy",
        "steps": 4,
        "worker": {"num_envs": 1},
        "evaluation": {"final_episodes": 1},
    }


def mkdir(file):
    return {"type": "os:mkdir", "path": str(file)}


#: Where a spec can stand -> a document with `spec` there.
PLACES = {
    "environment": lambda spec: document(environment=spec),
    "gym_env": lambda spec: document(environment={"type": "gym", "gym_env": spec}),
    "dm_env": lambda spec: document(environment={"type": "dm_env", "environment": spec}),
    "wrappers": lambda spec: document(
        environment={"type": "gym", "gym_env": "CartPole-v1", "wrappers": [spec]}
    ),
    "agent": lambda spec: {**document(), "agent": spec},
    "agent.env": lambda spec: document({"env": spec}),
    "layer": lambda spec: document({"network_spec": [*LAYERS, spec]}),
    "initializer": lambda spec: document({"network_spec": [{**LAYERS[0], "weights_spec": spec}]}),
    **{
        name: lambda spec, name=name: document({name: spec})
        for name in (
            "preprocessing_spec",
            "network_spec",
            "policy_spec",
            "memory_spec",
            "exploration_spec",
            "optimizer_spec",
            "update_spec",
            "execution_spec",
        )
    },
    "epsilon": lambda spec: document({"exploration_spec": {"epsilon_spec": spec}}),
    "noise": lambda spec: document({"exploration_spec": {"noise_spec": spec}}),
    "learning_rate": lambda spec: document({"optimizer_spec": {"learning_rate": spec}}),
    "worker": lambda spec: {**document(), "worker": spec},
    "backend": lambda spec: {**document(), "backend": spec},
}


@pytest.mark.parametrize("place", PLACES)
def test_no_spec_of_a_document_runs_code(rlgraph, importable, place):
    for spec in (
        mkdir(importable),
        "canary_module:run",
        {"type": "canary_module:run"},
        "canary_module:Env-v0",
    ):
        with open("run.json", "w") as file:
            json.dump(PLACES[place](spec), file)
        outcome = rlgraph("config", "show", "run.json", "--make-environment")
        # An initializer is looked up when its variable is made.
        assert outcome.code == (0 if place == "initializer" else 2) and "Traceback" not in outcome.err
        assert not importable.exists(), spec


ENVIRONMENT = json.dumps({"type": "canary_module:run"})


@pytest.mark.parametrize(
    "arguments",
    [
        ["train", "run.json"],
        ["train", "--env", ENVIRONMENT],
        ["train", "--env", "canary_module:Env"],
        ["train", "--env", "canary_module:Env-v0"],
        ["train", "--agent", "canary_module:run"],
        ["train", "--agent", "agent.json"],
        ["train", "--set", 'network_spec=["canary_module:Layer"]'],
        ["config", "show", "run.json"],
        ["config", "show", "run.json", "--set", "environment=canary_module:Env"],
        ["config", "show", "run.json", "--set", "agent.type=canary_module:run", "--set", "discount=0.5"],
        ["config", "init", "--env", ENVIRONMENT],
        ["config", "init", "--agent", "canary_module:run"],
        ["check-env", ENVIRONMENT],
        ["check-env", "canary_module:Env-v0"],
        ["graph", "--agent", "agent.json"],
        ["graph", "--env", "canary_module:Env"],
        ["plan", "get_actions", "--agent", "canary_module:run"],
        ["quickstart", "--backend", "canary_module:run"],
        ["agents", "canary_module:run"],
        ["environments", "canary_module:run"],
        ["components", "canary_module:run"],
    ],
)
def test_no_command_runs_code(rlgraph, importable, arguments):
    with open("run.json", "w") as run, open("agent.json", "w") as agent:
        json.dump(document({"network_spec": ["canary_module:Layer"]}), run)
        json.dump({"type": "dqn", "network_spec": ["canary_module:Layer"]}, agent)
    outcome = rlgraph(*arguments)
    assert outcome.code == 2 and "Traceback" not in outcome.err
    assert not importable.exists()


@pytest.mark.parametrize(
    ("place", "spec", "vectorization"),
    [
        ("environment", "canary_module:Env", "processes"),
        ("layer", {"type": "canary_module:Layer", "units": 4}, "sequential"),
    ],
)
def test_a_run_with_classes_of_ones_own(rlgraph, canary, undrawn, tmp_path, place, spec, vectorization):
    """Trained with the option, in processes of environments too; its folder is data again."""
    run = PLACES[place](spec)
    run["worker"]["vectorization"] = vectorization
    (tmp_path / "run.json").write_text(json.dumps(run))
    allowed = ["--allow-imports", "canary_module"]
    outcome = rlgraph("train", "run.json", "--folder", "run", *allowed)
    assert outcome.code == 0, outcome.err
    sys.modules.pop("canary_module"), canary.unlink()
    shutil.copytree("run", "other")
    for command in (
        ["resume", "run", "--steps", 8],
        ["evaluate", "run"],
        ["export", "run"],
        ["compare", "run"],
    ):
        outcome = rlgraph(*command)
        assert outcome.code == 2 and (
            command[0] == "compare" or "--allow-imports canary_module" in outcome.err
        )
        assert not canary.exists()
    for use in (load_agent, resume):
        with pytest.raises(SpecError, match="--allow-imports canary_module"):
            use("run")
    assert not canary.exists()
    assert rlgraph("evaluate", "run", "--episodes", 1, *allowed).code == 0
    assert rlgraph("resume", "other", "--steps", 8, *allowed).code == 0
