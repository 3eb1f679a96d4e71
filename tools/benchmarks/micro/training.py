"""Training against Stable-Baselines3: subjects in processes of their own that alternate."""

from __future__ import annotations

import importlib.metadata
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from measure import Figure, Row, arguments, report
from processes import add_rounds, alternating, chosen, environment, in_process

ROUNDS = 3
#: Backends, and whether the agent is compiled.
WAYS = (("torch", False), ("torch", True), ("tf", False), ("tf", True))
#: Torch is pinned exactly, as in tools/constraints.txt; the rest is what this version of SB3 asks for.
SB3_REQUIREMENTS = (
    "torch==2.13.0",
    "stable-baselines3>=2.9,<2.10",
    "sb3-contrib>=2.9,<2.10",
    "gymnasium[mujoco]",
    "pyyaml",
)


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


@dataclass(frozen=True)
class Comparison:
    """An agent against that of Stable-Baselines3.

    Attributes:
        sb3: builds the subject of Stable-Baselines3.
        ours: name -> builds a subject for a backend, compiled or not; one is called ``"rlgraph"``.
        targets: how many times as fast as Stable-Baselines3 ``"rlgraph"`` should be, for each of `WAYS`.
        steps: environment steps of one measurement.
        warm_up: steps before the clock starts.
    """

    sb3: Callable[[], Training]
    ours: Mapping[str, Callable[[str, bool], Training]]
    targets: tuple[float | None, ...]
    steps: int
    warm_up: int

    def subjects(self) -> dict[str, tuple[Callable[[], Training], float | None]]:
        """Name -> what builds the subject, and its target."""
        found: dict[str, tuple[Callable[[], Training], float | None]] = {"sb3": (self.sb3, None)}
        for (backend, compiled), target in zip(WAYS, self.targets, strict=True):
            for name, make in self.ours.items():
                subject = f"{name} {backend}{' compiled' if compiled else ''}"
                found[subject] = (partial(make, backend, compiled), target if name == "rlgraph" else None)
        return found


def compare(description: str | None, comparisons: Mapping[str, Comparison]) -> None:
    """Measures and reports environment steps per second of processor time.

    Args:
        description: of the script.
        comparisons: by the name of the agent, the script's argument.
    """
    parser = arguments(description, backends=())
    parser.add_argument("agent", choices=comparisons)
    parser.add_argument(
        "--sb3-python", type=Path, metavar="PATH", help="an interpreter that has Stable-Baselines3"
    )
    parser.add_argument("--steps", type=int, help="environment steps of one measurement")
    add_rounds(parser, ROUNDS)
    options = parser.parse_args()
    comparison = comparisons[options.agent]
    known, steps = comparison.subjects(), options.steps or comparison.steps
    if options.measure:
        print(json.dumps(_measure(known[options.measure][0](), steps, comparison.warm_up)))
        return
    subjects = chosen(parser, options.only, known)
    interpreters = dict.fromkeys(known, Path(sys.executable))
    if "sb3" in subjects:
        interpreters["sb3"] = options.sb3_python or sb3_environment()

    def measure(subject: str) -> dict[str, Any]:
        return in_process(interpreters[subject], options.agent, "--measure", subject, "--steps", str(steps))

    results = alternating(subjects, options.rounds, measure)
    figures = {
        subject: Figure(tuple(result["steps_per_second"] for result in found))
        for subject, found in results.items()
    }
    rows = []
    for subject, figure in figures.items():
        ratio = figure.over(figures["sb3"]) if "sb3" in figures and subject != "sb3" else None
        target = known[subject][1] if ratio else None
        rows.append(Row(subject, figure, "steps/s", ratio, target, at_least=True))
    report(f"train {options.agent}", rows, options)
    if options.json is not None:
        content = json.loads(options.json.read_text(encoding="utf-8"))
        trained = {subject: found[0]["versions"] for subject, found in results.items()}
        content |= {"agent": options.agent, "steps": steps, "trained_by": trained}
        options.json.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    for subject, found in results.items():
        returns = ", ".join(f"{result['mean_return']:.0f}" for result in found)
        print(f"  {subject}: {found[0]['versions']}; mean return of the last 100 episodes: {returns}")


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


def sb3_training(algorithm: Any, env: Any, **options: Any) -> Training:
    """A subject of an algorithm of Stable-Baselines3."""
    import torch

    torch.set_num_threads(1)
    model = algorithm("MlpPolicy", env, device="cpu", **options)

    def train(steps: int) -> None:
        model.learn(steps, reset_num_timesteps=False)

    distributions = ("stable-baselines3", "torch", "gymnasium")
    return Training(train, lambda: [episode["r"] for episode in model.ep_info_buffer], distributions)


def agent_training(agent: Any, backend: str, env: str, **options: Any) -> Training:
    """A subject of an agent; `options` of its `learn`."""
    results: list[Any] = []

    def train(steps: int) -> None:
        results.append(agent.learn(steps, env=env, **options))

    framework = {"torch": "torch", "tf": "tensorflow"}[backend]
    return Training(train, lambda: results[-1].returns, ("rlgraph-agents", framework, "gymnasium"))


def sb3_environment() -> Path:
    """The interpreter of an environment for Stable-Baselines3."""
    return environment("bench-sb3", "import sb3_contrib", SB3_REQUIREMENTS)
