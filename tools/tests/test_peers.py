"""Other libraries in the benchmark of training: their settings, and what is refused."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from devlib.project import ROOT

BENCHMARKS = ROOT / "tools" / "benchmarks"
NAMES = sorted(path.stem for path in (BENCHMARKS / "peers").glob("[a-z]*.py"))
#: Rates, batches, sizes, intervals and weights that every library must be given.
NUMBERS = {
    "dqn": {1e-3, 64, 50_000, 4},
    "qr_dqn": {1e-3, 64, 50_000, 4, 50},
    "ppo": {3e-4, 4, 0.2, 0.95, 0.01, 0.5},
    "a2c": {7e-4, 0.5},
    "sac": {3e-4, 256, 50_000},
    "td3": {3e-4, 256, 50_000},
}
#: Steps of a rollout, of one environment or of all eight.
ROLLOUTS = {"ppo": {128, 1024}, "a2c": {5, 40}}


@pytest.fixture
def peers(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(BENCHMARKS)
    import peers

    return peers


def numbers_in(options: Any) -> set[float]:
    if isinstance(options, dict):
        return set().union(*map(numbers_in, options.values()))
    if isinstance(options, list | tuple):
        return set().union(*map(numbers_in, options))
    return {options} if isinstance(options, int | float) else set()


@pytest.mark.parametrize("name", NAMES)
def test_a_library_has_the_settings_of_our_agents(peers: Any, name: str) -> None:
    """It needs no library: modules import theirs when they train."""
    module = peers.library(name)
    assert module.OPTIONS
    for kind, options in module.OPTIONS.items():
        assert numbers_in(options) >= NUMBERS[kind], kind
        assert kind not in ROLLOUTS or numbers_in(options) & ROLLOUTS[kind], kind


@pytest.mark.parametrize("name", NAMES)
def test_requirements_are_pinned(peers: Any, name: str) -> None:
    requirements = peers.library(name).REQUIREMENTS
    assert all("==" in requirement for requirement in requirements)
    tested = (ROOT / "tools/constraints.txt").read_text(encoding="utf-8").splitlines()
    assert all(each in tested for each in requirements if each.startswith("torch=="))


def test_settings_are_those_of_our_agents(peers: Any) -> None:
    import subject
    from micro import settings

    assert (settings.DQN_RATE, settings.DQN_BATCH) == (subject.LEARNING_RATE, subject.BATCH_SIZE)
    assert (settings.DQN_CLIP_NORM, settings.DISCOUNT) == (subject.CLIP_NORM, subject.DISCOUNT)
    for kind, options in settings.AGENTS.items():
        assert numbers_in(options) & NUMBERS[kind]


def test_environments_are_those_of_our_agents(peers: Any) -> None:
    one, _ = peers.recorded("sac")
    eight, _ = peers.recorded("ppo")
    assert one.spec.id == "Pendulum-v1"
    assert (eight.spec.id, eight.num_envs) == ("CartPole-v1", 8)


@pytest.mark.parametrize(("given", "ratio", "target"), [("sb3", 2.0, 2.4), ("sbx", 0.5, None)])
def test_ratios_are_over_the_first_library(
    peers: Any,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    given: str,
    ratio: float,
    target: float | None,
) -> None:
    """Targets are over Stable-Baselines3 only."""
    from micro import train, training

    rates = {"sb3": 10.0, "sbx": 40.0, "rlgraph tf": 20.0}

    def measured(python: Path | None, agent: str, _: str, subject: str, *options: str) -> dict[str, Any]:
        assert (agent, python) == ("sac", None if subject == "rlgraph tf" else Path(subject))
        return {"steps_per_second": rates[subject], "mean_return": None, "versions": "any"}

    monkeypatch.setattr(training, "in_process", measured)
    monkeypatch.setattr(peers, "interpreter", Path)
    file = tmp_path / "sac.json"
    arguments = ["sac", "--peer", given, "--only", given, "--only", "rlgraph tf", "--json", str(file)]
    monkeypatch.setattr(sys, "argv", ["micro/train", *arguments])
    train.main()
    ours = json.loads(file.read_text(encoding="utf-8"))["rows"][1]
    assert (ours["ratio"]["median"], ours["target"]) == (ratio, target)


@pytest.mark.parametrize(
    ("agent", "peer", "message"),
    [
        ("sac", "sb4", "--peer: expected a library out of"),
        ("qr_dqn", "rejax", "--peer: rejax is measured with ppo, sac, td3, not with qr_dqn"),
    ],
)
def test_what_cannot_be_measured_is_refused(agent: str, peer: str, message: str) -> None:
    command = [sys.executable, str(BENCHMARKS), "micro/train", agent, "--peer", peer]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert message in done.stderr
