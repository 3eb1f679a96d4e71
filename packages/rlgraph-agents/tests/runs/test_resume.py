"""Going on with a run: equal to the one that was never left, or it says why not."""

import json
import os
import shutil
import signal

import numpy as np
import pytest
from doubles import Episodes, kill, killed_at, killed_run, told

from rlgraph.agents import Agent
from rlgraph.core import CheckpointError, SpecError, registry
from rlgraph.runs import resume, run_differences, train
from rlgraph.runs.checkpoints import RunCheckpoints
from rlgraph.runs.config_file import config_digest, read_config
from rlgraph.spaces import FloatBox
from rlgraph.workers import Evaluation

pytestmark = pytest.mark.slow


def make_spec(backend, execution, **changes):
    layer = {"type": "dense", "units": 8, "activation": "tanh"}
    return {
        "agent": {
            "type": "dqn",
            "network_spec": [layer],
            "execution_spec": execution(backend),
            "update_spec": {"update_interval": 4, "batch_size": 8, "sync_interval": 30},
            "memory_spec": {"capacity": 150},
        },
        "environment": "CartPole-v1",
        "backend": backend,
        "steps": 260,
        "seed": 2,
        "worker": {"num_envs": 2},
        "logging": {"report_interval": 20, "tensorboard": False},
        "evaluation": {"interval": 50, "episodes": 2, "final_episodes": 2},
        "checkpoints": {"interval": 60},
        **changes,
    }


@pytest.fixture
def spec(backend, execution):
    return make_spec(backend, execution)


@pytest.fixture
def actor(execution):
    """A run that learns nothing, on NumPy: for what has nothing to do with learning."""
    spec = make_spec("numpy", execution)
    spec["agent"]["update_spec"] = {"do_updates": False}
    return spec


def test_a_resumed_run_equals_the_one_that_was_never_left(spec, tmp_path, undrawn):
    train(spec, tmp_path / "one")
    killed_run(spec, tmp_path / "other", 200)
    summary = resume(tmp_path / "other")
    assert summary.departures == ()
    assert summary.training.timesteps == 260
    assert run_differences(tmp_path / "one", tmp_path / "other") == []


def test_a_run_killed_before_its_first_checkpoint_makes_the_same_choices(spec, tmp_path, undrawn):
    """Whether a program is compiled is decided when it is made, also if the run makes no update."""
    spec["agent"]["execution_spec"] |= {"compile": ["update_from_memory"]}
    spec["agent"]["update_spec"] |= {"steps_before_update": 1000}
    spec |= {"steps": 100, "evaluation": {"final_episodes": 1}}
    train(spec, tmp_path / "one")
    killed_run(spec, tmp_path / "other", 20)
    resume(tmp_path / "other")
    assert run_differences(tmp_path / "one", tmp_path / "other") == []


def test_a_run_killed_after_its_last_step(actor, tmp_path, undrawn):
    """Its last checkpoint is there, its result is not."""
    train(actor, tmp_path / "one")
    shutil.copytree(tmp_path / "one", tmp_path / "other")
    (tmp_path / "other" / "result.json").unlink()
    assert resume(tmp_path / "other").departures == ()
    assert run_differences(tmp_path / "one", tmp_path / "other") == []


def test_differences_are_found(spec, tmp_path, undrawn):
    """Of another seed everything differs but what no random number reaches."""
    train(spec, tmp_path / "one")
    train({**spec, "seed": 3}, tmp_path / "other")
    found = "\n".join(run_differences(tmp_path / "one", tmp_path / "other"))
    for name in ("metrics.csv", "metrics.jsonl", "episodes.csv", "evaluations.jsonl", "result.json"):
        assert f"{name} differs" in found
    for name in ("variables.safetensors", "host.safetensors", "manifest.json"):
        assert f"checkpoints/last/{name} differs" in found


def test_twice_and_before_the_first_checkpoint(actor, tmp_path, undrawn):
    train(actor, tmp_path / "one")
    killed_run(actor, tmp_path / "other", 40)
    other = tmp_path / "other"
    kill(lambda callbacks: resume(other, callbacks=callbacks), other, killed_at(140))
    assert resume(tmp_path / "other").departures == ()
    assert run_differences(tmp_path / "one", tmp_path / "other") == []
    history = json.loads((tmp_path / "other" / "config.json").read_text())["history"]
    assert len(history) == 3


def test_a_damaged_checkpoint_is_passed_over(actor, tmp_path, undrawn):
    train(actor, tmp_path / "one")
    killed_run(actor, tmp_path / "other", 200)
    damaged = tmp_path / "other" / "checkpoints" / "step-000000180" / "host.safetensors"
    damaged.write_bytes(damaged.read_bytes()[:-7])
    with pytest.warns(UserWarning, match="step-000000180.*skipped"):
        resume(tmp_path / "other")
    assert run_differences(tmp_path / "one", tmp_path / "other") == []


def test_all_checkpoints_are_damaged(actor, tmp_path, undrawn):
    killed_run(actor, tmp_path, 200)
    for file in tmp_path.glob("checkpoints/step-*/manifest.json"):
        file.write_text("{}")
    with pytest.raises(CheckpointError, match="no checkpoint to resume from"):
        resume(tmp_path)


def test_so_many_checkpoints_are_kept(actor, tmp_path, undrawn):
    train({**actor, "checkpoints": {"interval": 60, "keep_last": 3}}, tmp_path)
    names = sorted(path.name for path in (tmp_path / "checkpoints").iterdir())
    assert names == ["best", "last", "step-000000120", "step-000000180", "step-000000240"]


def test_a_run_killed_before_it_removed_the_oldest_checkpoint(actor, tmp_path, undrawn):
    killed_run(actor, tmp_path, 260)
    checkpoints = tmp_path / "checkpoints"
    shutil.copytree(checkpoints / "step-000000180", checkpoints / "step-000000120")
    resume(tmp_path)
    names = sorted(path.name for path in checkpoints.iterdir())
    assert names == ["best", "last", "step-000000180", "step-000000240"]


# Environments that can tell their state.


class Counting(Episodes):
    """Random states; episodes of 37 steps, so that checkpoints fall into their middle."""

    def __init__(self):
        super().__init__(FloatBox(shape=(2,)), length=37)

    def state(self):
        self.now = self.rng.normal(size=2).astype(np.float32)
        return self.now

    def get_state(self):
        return {"rng": self.rng.bit_generator.state, "steps": self.steps, "state": self.now}

    def set_state(self, state):
        self.rng.bit_generator.state = state["rng"]
        self.steps, self.now = state["steps"], state["state"]
        return self.now


class Mute(Counting):
    def get_state(self):
        return None


@pytest.fixture(scope="module")
def registered():
    for name, cls in (("counting", Counting), ("mute", Mute)):
        registry("rlgraph.environments").register(name, cls)


@pytest.mark.parametrize("environment", ["counting", "mute"])
@pytest.mark.parametrize("frameskip", [1, 2])
def test_environments_with_a_state_go_on_exactly(
    actor, tmp_path, undrawn, registered, environment, frameskip
):
    spec = {**actor, "environment": environment, "worker": {"num_envs": 2, "frameskip": frameskip}}
    result = train(spec, tmp_path / "one").training
    killed_run(spec, tmp_path / "other", 200)
    resume(tmp_path / "other")
    assert run_differences(tmp_path / "one", tmp_path / "other") == []
    # 130 steps of each. Cut at 30, 60, 90 and 120, no episode of 37 steps ends, and four do of 19.
    uncut, cut = {1: (3, 0), 2: (6, 4)}[frameskip]
    assert result.episodes == 2 * (uncut if environment == "counting" else cut)


def test_states_of_environments_are_used_once(actor, tmp_path, undrawn, registered):
    """Nothing else is written between the resume and the end: the last checkpoint has no states of before."""
    spec = {**actor, "environment": "counting", "checkpoints": {"interval": 140}}
    train(spec, tmp_path / "one")
    killed_run(spec, tmp_path / "other", 200)
    resume(tmp_path / "other")
    assert run_differences(tmp_path / "one", tmp_path / "other") == []


# What is no longer the same run.


def test_after_ctrl_c_it_goes_on_and_says_that_it_is_another_run(actor, tmp_path, undrawn):
    interrupted = train(actor, tmp_path, [killed_at(200, KeyboardInterrupt)])
    assert interrupted.training.interrupted
    assert json.loads((tmp_path / "result.json").read_text())["outcome"] == "interrupted"
    summary = resume(tmp_path)
    assert summary.training.timesteps == 260
    (reason,) = summary.departures
    assert "step 200: it resumed where training was ended" in reason
    rows = (tmp_path / "metrics.csv").read_text().splitlines()[1:]
    steps = [float(row.split(",")[0]) for row in rows]
    assert steps == sorted(steps)
    assert json.loads((tmp_path / "result.json").read_text())["departures"] == [reason]


def signal_at(step, number):
    """A callback that sends this process a signal at a step."""
    return told(
        on_step=lambda worker, _: os.kill(os.getpid(), number) if worker.timesteps_of_run == step else None
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_leave_a_checkpoint_in_train_and_resume(actor, tmp_path, undrawn, number):
    handlers = [signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGINT)]
    for steps, begin in (
        (130, lambda *c: train(actor, tmp_path, *c)),
        (190, lambda c: resume(tmp_path, callbacks=c)),
    ):
        summary = begin([signal_at(steps, number)])
        assert summary.training.interrupted and summary.training.timesteps == steps
        assert json.loads((tmp_path / "result.json").read_text())["outcome"] == "interrupted"
        assert (tmp_path / "checkpoints" / "last" / "manifest.json").exists()
    assert resume(tmp_path).training.timesteps == 260
    assert [signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGINT)] == handlers


def test_signals_that_somebody_handles_are_theirs(actor, tmp_path, undrawn):
    received = []
    before = signal.signal(signal.SIGTERM, lambda *_: received.append(1))
    try:
        assert not train(actor, tmp_path, [signal_at(130, signal.SIGTERM)]).training.interrupted
    finally:
        signal.signal(signal.SIGTERM, before)
    assert received == [1]


def test_a_finished_run_is_evaluated_again_and_stays_what_it_is(actor, tmp_path, undrawn):
    first = train(actor, tmp_path)
    again = resume(tmp_path)
    assert again.departures == ()
    assert again.training.returns == first.training.returns
    assert again.evaluation == first.evaluation


def test_more_steps(actor, tmp_path, undrawn):
    train(actor, tmp_path)
    summary = resume(tmp_path, steps=400)
    assert summary.training.timesteps == 400
    assert "schedules follow 400 steps, they followed 260" in summary.departures[0]
    assert json.loads((tmp_path / "config.json").read_text())["run"]["steps"] == 400


def test_a_best_policy_that_the_resumed_run_will_not_meet_again(actor, tmp_path, undrawn):
    """Of an evaluation after the checkpoint; with other schedules there may be none like it."""
    killed_run(actor, tmp_path, 220)
    checkpoints = RunCheckpoints(tmp_path / "checkpoints", 2, memory=True)
    agent = Agent.load(tmp_path / "checkpoints" / "step-000000180")
    digest = config_digest(read_config(tmp_path))
    checkpoints.store_best(agent, Evaluation((500.0, 500.0), (500, 500), 200), digest)
    summary = resume(tmp_path, steps=400)
    said = "step 180: the best policy so far is that of step 200 of a part of the run that was cut off"
    assert summary.departures[-1] == said
    assert json.loads((tmp_path / "result.json").read_text())["best"] == {
        "timesteps": 200,
        "mean_return": 500.0,
    }
    assert checkpoints.evaluation_of_best().timesteps == 200


def test_without_memory(actor, tmp_path, undrawn):
    spec = {**actor, "checkpoints": {"interval": 60, "memory": False}}
    killed_run(spec, tmp_path, 200)
    assert not list(tmp_path.glob("checkpoints/step-*/host.safetensors"))
    summary = resume(tmp_path)
    assert summary.departures == ("step 180: the checkpoint has no memory",)


def test_other_versions(actor, tmp_path, undrawn, monkeypatch):
    killed_run(actor, tmp_path, 200)
    versions = json.loads((tmp_path / "config.json").read_text())["versions"]
    monkeypatch.setattr("rlgraph.runs.resuming.installed_versions", lambda: {**versions, "numpy": "1.0"})
    assert resume(tmp_path).departures == ("step 180: other versions of numpy",)


def test_what_was_chosen_is_chosen_again(actor, tmp_path, undrawn):
    """Whatever a backend measured in the first part, it does not measure again."""

    def choose(worker, timesteps):
        worker.agent.executor.backend.choices["probe"] = "the slower one"

    found = []
    kill(lambda end: train(actor, tmp_path, [told(on_start=choose), *end]), tmp_path, killed_at(200))
    looking = told(on_start=lambda worker, timesteps: found.append(worker.agent.executor.choices["probe"]))
    resume(tmp_path, callbacks=[looking])
    assert found == ["the slower one"]


# Mistakes.


def test_only_the_steps_may_change(actor, tmp_path, undrawn):
    train(actor, tmp_path)
    changed = {**actor, "seed": 3, "agent": {**actor["agent"], "discount": 0.5}, "steps": 100}
    with pytest.raises(SpecError) as caught:
        resume(tmp_path, spec=changed)
    assert str(caught.value).splitlines() == [
        "a run keeps its options; fork it (resume --fork NEW_FOLDER) to change these:",
        "agent.discount: 0.99 in the run, 0.5 given",
        "seed: 2 in the run, 3 given",
        "steps: 260 in the run, 100 given; it may only increase",
    ]
    assert resume(tmp_path, spec=actor).departures == ()


def test_no_run(tmp_path):
    with pytest.raises(SpecError, match=r"is not a run folder: config\.json cannot be read"):
        resume(tmp_path)


def test_stop_conditions_of_the_document(actor, tmp_path, undrawn):
    summary = train({**actor, "stop": {"episodes": 3}}, tmp_path)
    assert 3 <= summary.training.episodes <= 4
    assert json.loads((tmp_path / "result.json").read_text())["outcome"] == "stopped"
