#!/usr/bin/env python3
"""Training: environment steps per second of DQN on CartPole-v1, RLgraph against Stable-Baselines3.

One environment, one thread, an update of 64 transitions at every fourth step, equal hyper-parameters, the same network;
neither dueling nor double, which the other has not. Every measurement is a process of its own; the processes alternate.
Processor time is counted, not the clock, so that a busy machine disturbs less.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import subprocess
import sys
import time
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measure import Figure, Row, arguments, report, use_one_thread

STEPS, ROUNDS = 20_000, 3
#: Steps before the clock starts: the memory is filled and every program compiled.
WARM_UP = 1_500
#: Times SB3, where there is a target.
SUBJECTS = {
    "sb3": None,
    "rlgraph torch": 2.8,
    "rlgraph torch compiled": 8.0,
    "rlgraph tf": None,
    "rlgraph tf compiled": 6.5,
}
SB3_FOLDER = Path(__file__).resolve().parents[2] / ".venvs" / "bench-sb3"
#: Torch is pinned exactly, as in tools/constraints.txt; the rest is what this version of SB3 asks for.
SB3_REQUIREMENTS = ("torch==2.13.0", "stable-baselines3>=2.9,<2.10")


def main() -> None:
    parser = arguments(__doc__, backends=())
    parser.add_argument(
        "--sb3-python", type=Path, metavar="PATH", help="an interpreter that has Stable-Baselines3"
    )
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--only", action="append", choices=SUBJECTS, help="may be given several times")
    parser.add_argument("--measure", choices=SUBJECTS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        use_one_thread()
        print(json.dumps(measure(options.measure, options.steps)))
        return
    subjects = options.only or tuple(SUBJECTS)
    interpreters = dict.fromkeys(SUBJECTS, Path(sys.executable))
    if "sb3" in subjects:
        interpreters["sb3"] = options.sb3_python or sb3_environment()
    results: dict[str, list[dict[str, Any]]] = {subject: [] for subject in subjects}
    for _ in range(options.rounds):
        for subject in subjects:
            results[subject].append(in_process(interpreters[subject], subject, options.steps))
    figures = {
        subject: Figure(tuple(result["steps_per_second"] for result in found))
        for subject, found in results.items()
    }
    rows = []
    for subject, figure in figures.items():
        ratio = figure.over(figures["sb3"]) if "sb3" in figures and subject != "sb3" else None
        rows.append(
            Row(subject, figure, "steps/s", ratio, SUBJECTS[subject] if ratio else None, at_least=True)
        )
    report("train_cartpole", rows, (), options.json)
    for subject, found in results.items():
        returns = ", ".join(f"{result['mean_return']:.0f}" for result in found)
        print(f"  {subject}: {found[0]['versions']}; mean return of the last 100 episodes: {returns}")


def in_process(python: Path, subject: str, steps: int) -> dict[str, Any]:
    """One measurement in a process of its own."""
    command = [str(python), __file__, "--measure", subject, "--steps", str(steps)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{subject} failed:\n{done.stderr}")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def measure(subject: str, steps: int) -> dict[str, Any]:
    """Trains once in this process; everything is built, compiled and warm before the clock starts."""
    seed = 1
    if subject == "sb3":
        distributions, (train, last_returns) = ("stable-baselines3", "torch", "gymnasium"), sb3(seed)
    else:
        _, backend, *compiled = subject.split()
        framework = {"torch": "torch", "tf": "tensorflow"}[backend]
        distributions, (train, last_returns) = (
            ("rlgraph-agents", framework, "gymnasium"),
            rlgraph(backend, seed, bool(compiled)),
        )
    train(WARM_UP)
    started = time.process_time()
    train(steps)
    seconds = time.process_time() - started
    returns = last_returns()
    return {
        "steps_per_second": steps / seconds,
        "mean_return": sum(returns) / max(len(returns), 1),
        "versions": ", ".join(f"{name} {importlib.metadata.version(name)}" for name in distributions),
    }


Subject = tuple[Callable[[int], Any], Callable[[], list[float]]]


def rlgraph(backend: str, seed: int, compiled: bool) -> Subject:
    """Training function and returns of the last episodes."""
    if backend == "torch":
        import torch

        torch.set_num_threads(1)
    from subject import make_agent

    agent = make_agent(
        backend,
        double_q=False,
        dueling_q=False,
        exploration_spec={"epsilon_spec": {"type": "linear_decay", "from": 1.0, "to": 0.05, "end": 0.2}},
        update_spec={
            "steps_before_update": 1000,
            "update_interval": 4,
            "update_steps": 1,
            "batch_size": 64,
            "sync_interval": 500,
        },
        execution_spec={"threads": 1, "compile": ["update_from_memory"] if compiled else False},
        seed=seed,
    )
    results: list[Any] = []

    def train(steps: int) -> None:
        results.append(agent.learn(steps, env="CartPole-v1"))

    return train, lambda: list(results[-1].returns[-100:])


def sb3(seed: int) -> Subject:
    """Training function and returns of the last episodes."""
    import torch
    from stable_baselines3 import DQN

    torch.set_num_threads(1)
    model = DQN(
        "MlpPolicy",
        "CartPole-v1",
        learning_rate=1e-3,
        buffer_size=50_000,
        learning_starts=1000,
        batch_size=64,
        gamma=0.99,
        train_freq=4,
        gradient_steps=1,
        target_update_interval=500,
        exploration_initial_eps=1.0,
        exploration_final_eps=0.05,
        exploration_fraction=0.2,
        max_grad_norm=10,
        policy_kwargs={"net_arch": [64, 64]},
        seed=seed,
        device="cpu",
    )

    def train(steps: int) -> None:
        model.learn(steps, reset_num_timesteps=False)

    return train, lambda: [episode["r"] for episode in model.ep_info_buffer]


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


if __name__ == "__main__":
    main()
