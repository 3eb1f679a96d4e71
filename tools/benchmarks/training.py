"""Training against Stable-Baselines3: subjects in processes of their own that alternate."""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import subprocess
import sys
import time
import venv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measure import Figure, Row, arguments, report, use_one_thread

ROUNDS = 3
SB3_FOLDER = Path(__file__).resolve().parents[2] / ".venvs" / "bench-sb3"
#: Torch is pinned exactly, as in tools/constraints.txt; the rest is what this version of SB3 asks for.
SB3_REQUIREMENTS = ("torch==2.13.0", "stable-baselines3>=2.9,<2.10")


@dataclass(frozen=True)
class Training:
    """One subject, built.

    Attributes:
        train: trains for a number of environment steps.
        returns: returns of the last episodes.
        distributions: whose versions are reported.
    """

    train: Callable[[int], Any]
    returns: Callable[[], Sequence[float]]
    distributions: tuple[str, ...]


def compare(
    title: str,
    description: str | None,
    make: Callable[[str], Training],
    targets: Mapping[str, float | None],
    steps: int,
    warm_up: int,
) -> None:
    """Measures and reports environment steps per second of processor time.

    Args:
        title: of the report.
        description: of the script.
        make: builds a subject.
        targets: subject -> how many times as fast as the subject ``"sb3"`` it should be; None: no target.
        steps: environment steps of one measurement.
        warm_up: steps before the clock starts: every program is compiled.
    """
    parser = arguments(description, backends=())
    parser.add_argument(
        "--sb3-python", type=Path, metavar="PATH", help="an interpreter that has Stable-Baselines3"
    )
    parser.add_argument("--steps", type=int, default=steps)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--only", action="append", choices=targets, help="may be given several times")
    parser.add_argument("--measure", choices=targets, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        use_one_thread()
        print(json.dumps(_measure(make(options.measure), options.steps, warm_up)))
        return
    subjects = options.only or tuple(targets)
    interpreters = dict.fromkeys(targets, Path(sys.executable))
    if "sb3" in subjects:
        interpreters["sb3"] = options.sb3_python or sb3_environment()
    results: dict[str, list[dict[str, Any]]] = {subject: [] for subject in subjects}
    for _ in range(options.rounds):
        for subject in subjects:
            results[subject].append(_in_process(interpreters[subject], subject, options.steps))
    figures = {
        subject: Figure(tuple(result["steps_per_second"] for result in found))
        for subject, found in results.items()
    }
    rows = []
    for subject, figure in figures.items():
        ratio = figure.over(figures["sb3"]) if "sb3" in figures and subject != "sb3" else None
        target = targets[subject] if ratio else None
        rows.append(Row(subject, figure, "steps/s", ratio, target, at_least=True))
    report(title, rows, (), options.json)
    for subject, found in results.items():
        returns = ", ".join(f"{result['mean_return']:.0f}" for result in found)
        print(f"  {subject}: {found[0]['versions']}; mean return of the last 100 episodes: {returns}")


def _in_process(python: Path, subject: str, steps: int) -> dict[str, Any]:
    """One measurement in a process of its own."""
    command = [str(python), sys.argv[0], "--measure", subject, "--steps", str(steps)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{subject} failed:\n{done.stderr}")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def _measure(training: Training, steps: int, warm_up: int) -> dict[str, Any]:
    """Trains once in this process; everything is built, compiled and warm before the clock starts."""
    training.train(warm_up)
    started = time.process_time()
    training.train(steps)
    seconds = time.process_time() - started
    returns = list(training.returns())[-100:]
    return {
        "steps_per_second": steps / seconds,
        "mean_return": sum(returns) / max(len(returns), 1),
        "versions": ", ".join(
            f"{name} {importlib.metadata.version(name)}" for name in training.distributions
        ),
    }


def sb3_training(model: Any) -> Training:
    """A subject of a model of Stable-Baselines3."""

    def train(steps: int) -> None:
        model.learn(steps, reset_num_timesteps=False)

    distributions = ("stable-baselines3", "torch", "gymnasium")
    return Training(train, lambda: [episode["r"] for episode in model.ep_info_buffer], distributions)


def agent_training(agent: Any, backend: str, **options: Any) -> Training:
    """A subject of an agent; `options` of its `learn`."""
    results: list[Any] = []

    def train(steps: int) -> None:
        results.append(agent.learn(steps, env="CartPole-v1", **options))

    framework = {"torch": "torch", "tf": "tensorflow"}[backend]
    return Training(train, lambda: results[-1].returns, ("rlgraph-agents", framework, "gymnasium"))


def sb3_environment() -> Path:
    """The interpreter of an environment for Stable-Baselines3, made where it is missing."""
    python = SB3_FOLDER / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    probe = [str(python), "-c", "import stable_baselines3"]
    if not python.exists() or subprocess.run(probe, capture_output=True).returncode != 0:
        print(
            f"Making {SB3_FOLDER} with {', '.join(SB3_REQUIREMENTS)}; PyPI's torch for Linux brings CUDA (3 GB)."
        )
        venv.create(SB3_FOLDER, clear=True, with_pip=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *SB3_REQUIREMENTS], check=True)
    return python
