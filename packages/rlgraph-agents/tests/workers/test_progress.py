"""The live line."""

import re
from io import StringIO
from types import SimpleNamespace

import pytest
from doubles import told
from rich.console import Console

from rlgraph.algorithms.dqn import DQN
from rlgraph.algorithms.ppo import PPO
from rlgraph.algorithms.random import Random
from rlgraph.algorithms.sac import SAC
from rlgraph.spaces import IntBox
from rlgraph.workers import Evaluation, LiveProgress


@pytest.fixture
def console():
    return Console(file=StringIO(), width=120, force_terminal=False)


def worker_at(step, details=(), live_metrics=DQN.live_metrics):
    graph = SimpleNamespace(algorithm=SimpleNamespace(live_metrics=live_metrics))
    agent = SimpleNamespace(learner=SimpleNamespace(graph=graph))
    return SimpleNamespace(timesteps_of_run=step, details=lambda metrics: details, agent=agent)


def test_progress(console):
    progress, worker = LiveProgress(console), worker_at(0)
    progress.on_start(worker, 2000)
    worker.timesteps_of_run = 1000
    progress.on_report(
        worker, {"timesteps": 1500.0, "mean_return": 21.25, "steps_per_second": 4321.0, "epsilon": 0.5}
    )
    progress.on_evaluation(worker, Evaluation((10.0, 20.0), (10, 20), 1500))
    progress.on_end(worker)
    written = console.file.getvalue()
    assert "evaluation at step 1,500: mean return 15.0 over 2 episodes" in written
    assert "1,000 / 2,000" in written
    assert "return 21.2" in written
    assert "4,321 steps/s" in written
    assert "loss" not in written and "nan" not in written  # not known yet
    assert "epsilon 0.5" in written


@pytest.mark.parametrize(
    ("algorithm", "shown"),
    [(PPO, "loss 0.25 entropy 0.69 kl 0.012"), (SAC, "critic_loss 1.5 alpha 0.2"), (Random, "")],
)
def test_the_algorithm_says_what_is_shown(console, algorithm, shown):
    progress, worker = LiveProgress(console), worker_at(10, live_metrics=algorithm.live_metrics)
    progress.on_start(worker, 10)
    numbers = {"entropy": 0.6931, "kl": 0.0123, "critic_loss": 1.5, "alpha": 0.2, "epsilon": 0.1}
    progress.on_report(worker, {"loss": 0.25, "steps_per_second": 7.0, **numbers})
    progress.on_end(worker)
    assert console.file.getvalue().splitlines()[-1].rstrip().endswith(f"7 steps/s {shown}".rstrip())


def test_details_are_below_the_line(console):
    progress, worker = LiveProgress(console), worker_at(0, ["actor 0: [bold] 12 steps/s"])
    progress.on_start(worker, 10)
    progress.on_report(worker, {})
    progress.on_end(worker)
    lines = [line.rstrip() for line in console.file.getvalue().splitlines()]
    assert "0 / 10" in lines[-2] and lines[-1] == "actor 0: [bold] 12 steps/s"


def test_an_evaluation_does_not_end_the_training(console):
    progress, worker = LiveProgress(console), worker_at(0)
    progress.on_start(worker, 10)
    assert progress.on_evaluation(worker, Evaluation((1.0,), (1,), 1)) is None
    progress.on_end(worker)


def test_what_takes_its_time_before_and_after_training(console):
    console = Console(file=StringIO(), width=100, force_terminal=True)
    with LiveProgress(console) as progress:
        worker = worker_at(0)
        progress.on_start(worker, 10)
        progress.on_end(worker)
    written = console.file.getvalue()
    assert written.index("building and compiling the agent") < written.index("/ 10")
    assert written.index("/ 10") < written.index("evaluating the policy")


METRICS = {"mean_return": -123.4, "steps_per_second": 12345.0, "loss": 1.2345e-5, "epsilon": 0.05}


def test_a_run_that_goes_on_is_shown_as_a_whole(console):
    progress, worker = LiveProgress(console), worker_at(1500)
    progress.on_start(worker, 500)
    worker.timesteps_of_run = 1750
    progress.on_report(worker, METRICS)
    progress.on_end(worker)
    assert "1,750 / 2,000" in console.file.getvalue()


@pytest.mark.parametrize("width", [80, 120])
def test_it_fits_into_the_terminal(width):
    console = Console(file=StringIO(), width=width, force_terminal=True, color_system=None)
    progress, worker = LiveProgress(console), worker_at(0)
    progress.on_start(worker, 500_000)
    worker.timesteps_of_run = 123_456
    progress.on_report(worker, METRICS)
    progress._progress.refresh()
    progress._progress.stop()
    lines = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", console.file.getvalue()).replace("\r", "\n").splitlines()
    last = [line for line in lines if line.strip()][-1]
    assert re.search(
        r"123,456 / 500,000 (--:--|\d\d:\d\d) .*12,345 steps/s loss 1.2e-05 epsilon 0.05$", last.rstrip()
    )
    assert len(last.rstrip()) <= width and ("━" in last) == (width == 120)


def test_learn_shows_it(make_agent, capsys):
    steps, env = [], {"type": "random", "state_space": float, "action_space": IntBox(4)}
    agent = make_agent("numpy", env=env, update_spec={"do_updates": False}, network_spec=None)
    on_report = told(on_report=lambda worker, metrics: steps.append(worker.timesteps_of_run))
    agent.learn(30, progress_bar=True, callbacks=on_report)
    assert steps[-1] == 30 and "30 / 30" in capsys.readouterr().out
    agent.learn(30)
    assert capsys.readouterr().out == ""
