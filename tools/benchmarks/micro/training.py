"""Training against other libraries: subjects in processes of their own that alternate."""

from __future__ import annotations

import importlib.metadata
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import peers
from measure import Figure, Row, arguments, report
from processes import add_rounds, alternating, chosen, in_process

ROUNDS = 3
#: The library that the targets are of, and measured against by default.
PEER = "sb3"
#: Backends, and whether the agent is compiled.
WAYS = (("torch", False), ("torch", True), ("tf", False), ("tf", True))


@dataclass(frozen=True)
class Training:
    """One subject, built.

    Attributes:
        train: trains for a number of environment steps.
        returns: returns of the last episodes.
        distributions: whose versions are reported.
        prepare: compiles what training for a number of steps needs, where the number is a part of the program.
    """

    train: Callable[[int], Any]
    returns: Callable[[], Sequence[float]]
    distributions: tuple[str, ...]
    prepare: Callable[[int], Any] = lambda steps: None


@dataclass(frozen=True)
class Comparison:
    """Ways to train an agent, to be held against other libraries.

    Attributes:
        ours: name -> builds a subject for a backend, compiled or not; one is called ``"rlgraph"``.
        targets: how many times as fast as Stable-Baselines3 ``"rlgraph"`` should be, for each of `WAYS`.
        steps: environment steps of one measurement.
        warm_up: steps before the clock starts.
    """

    ours: Mapping[str, Callable[[str, bool], Training]]
    targets: tuple[float | None, ...]
    steps: int
    warm_up: int

    def subjects(self) -> dict[str, tuple[Callable[[], Training], float | None]]:
        """Name -> what builds the subject, and its target."""
        found: dict[str, tuple[Callable[[], Training], float | None]] = {}
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
        "--peer",
        action="append",
        metavar="LIBRARY[=PYTHON]",
        help=f"one of {', '.join(peers.NAMES)}, and an interpreter that has it; may be given several times",
    )
    parser.add_argument("--steps", type=int, help="environment steps of one measurement")
    add_rounds(parser, ROUNDS)
    options = parser.parse_args()
    comparison = comparisons[options.agent]
    ours, steps = comparison.subjects(), options.steps or comparison.steps
    if subject := options.measure:
        built = ours[subject][0]() if subject in ours else peers.training(subject, options.agent)
        print(json.dumps(_measure(built, steps, comparison.warm_up)))
        return
    given = dict(peer.partition("=")[::2] for peer in options.peer or [PEER])
    for name in given:
        if refused := peers.refusal(name, options.agent):
            parser.error(f"--peer: {refused}")
    subjects = chosen(parser, options.only, [*given, *ours])
    interpreters = {
        name: Path(python) if python else peers.interpreter(name)
        for name, python in given.items()
        if name in subjects
    }

    def measure(subject: str) -> dict[str, Any]:
        python = interpreters.get(subject)
        return in_process(python, options.agent, "--measure", subject, "--steps", str(steps))

    results = alternating(subjects, options.rounds, measure)
    figures = {
        subject: Figure(tuple(result["steps_per_second"] for result in found))
        for subject, found in results.items()
    }
    yardstick = next(iter(given))
    rows = []
    for subject, figure in figures.items():
        ratio = figure.over(figures[yardstick]) if yardstick in figures and subject != yardstick else None
        target = ours[subject][1] if ratio and yardstick == PEER and subject in ours else None
        rows.append(Row(subject, figure, "steps/s", ratio, target, at_least=True))
    report(f"train {options.agent}", rows, options)
    if options.json is not None:
        content = json.loads(options.json.read_text(encoding="utf-8"))
        trained = {subject: found[0]["versions"] for subject, found in results.items()}
        content |= {"agent": options.agent, "steps": steps, "trained_by": trained}
        options.json.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    for subject, found in results.items():
        known = [result["mean_return"] for result in found if result["mean_return"] is not None]
        returns = ", ".join(f"{value:.0f}" for value in known) or "not told"
        print(f"  {subject}: {found[0]['versions']}; mean return of the last 100 episodes: {returns}")


def _measure(training: Training, steps: int, warm_up: int) -> dict[str, Any]:
    """Trains once in this process; everything is built, compiled and warm before the clock starts."""
    training.train(warm_up)
    training.prepare(steps)
    started = time.process_time()
    training.train(steps)
    seconds = time.process_time() - started
    returns = list(training.returns())[-100:]
    return {
        "steps_per_second": steps / seconds,
        "mean_return": sum(returns) / len(returns) if returns else None,
        "versions": ", ".join(
            f"{name} {importlib.metadata.version(name)}" for name in training.distributions
        ),
    }


def agent_training(agent: Any, backend: str, env: str, **options: Any) -> Training:
    """A subject of an agent; `options` of its `learn`."""
    results: list[Any] = []

    def train(steps: int) -> None:
        results.append(agent.learn(steps, env=env, **options))

    framework = {"torch": "torch", "tf": "tensorflow"}[backend]
    return Training(train, lambda: results[-1].returns, ("rlgraph-agents", framework, "gymnasium"))
