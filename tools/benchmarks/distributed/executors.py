"""Distributed execution: environment steps per second of `rlgraph-dist`, against programs by hand and RLlib.

By the clock, every measurement a process with a Ray cluster of its own; processes alternate, three rounds. Networks,
batches, environments and samplers are equal (`settings.py`).

sampling       one sampler, 8 environments of CartPole-v1, fragments of 128 steps: in this process, and asked for one or
               two fragments ahead.
impala1, impala2, ppo1, ppo2
               CartPole-v1, 1 and 2 samplers of 8 environments, learning.
impala2-tf     CartPole-v1, 2 samplers, learning on PyTorch: on distributed TensorFlow, by hand there, and on Ray.
apex-sampling  Pong's frames, 1 sampler of 1 to 16 environments; steps go to a prioritized memory. ``appo`` does not
               keep them.
apex           CartPole-v1 and Pong, 2 samplers, learning from a prioritized memory: also updates per second.
weights        1.7 million numbers, from the learner until two actors have set them.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import peers
from measure import Figure, Row, arguments, report
from processes import add_rounds, alternating, chosen, in_process

ROUNDS, WARM_UP, SECONDS = 3, 5.0, 8.0


@dataclass(frozen=True)
class Comparison:
    """Subjects that are measured in turn, and what their figures are held against.

    Attributes:
        subjects: their names in `executors_rlgraph` and, where they end in it, ``rllib`` and ``appo``.
        targets: (subject, yardstick) -> how many times as fast it should be.
    """

    subjects: tuple[str, ...]
    targets: Mapping[tuple[str, str], float | None]


def learning(name: str, over_rllib: float) -> Comparison:
    """A flow and its program by hand, compiled or not."""
    ways = (name, f"{name} compiled")
    targets: dict[tuple[str, str], float | None] = {(way, f"{way} by hand"): 0.8 for way in ways}
    targets |= {(way, f"{name} rllib"): over_rllib for way in ways}
    return Comparison(
        (*(subject for way in ways for subject in (way, f"{way} by hand")), f"{name} rllib"), targets
    )


NUMBERS = (1, 2, 4, 8, 16)
COMPARISONS = {
    "sampling": Comparison(
        tuple(f"sampling {how}" for how in ("local", "1 ahead", "2 ahead"))
        + tuple(f"sampling {how}, by hand" for how in ("local", "1 ahead", "2 ahead")),
        {
            ("sampling 1 ahead", "sampling local"): 0.8,
            ("sampling 2 ahead", "sampling local"): 0.9,
            ("sampling 1 ahead, by hand", "sampling local, by hand"): None,
            ("sampling 2 ahead, by hand", "sampling local, by hand"): None,
        },
    ),
    "impala1": learning("impala 1", 15.0),
    "impala2": learning("impala 2", 20.0),
    "impala2-tf": Comparison(
        ("impala 2 distributed_tf", "impala 2 distributed_tf by hand", "impala 2"),
        {
            ("impala 2 distributed_tf", "impala 2 distributed_tf by hand"): 0.8,
            ("impala 2 distributed_tf", "impala 2"): None,
        },
    ),
    "ppo1": learning("ppo 1", 15.0),
    "ppo2": learning("ppo 2", 18.0),
    "apex-sampling": Comparison(
        tuple(f"apex pong {n}{whose}" for n in NUMBERS for whose in ("", " rllib", " appo")),
        {(f"apex pong {n}", f"apex pong {n} {whose}"): 1.0 for n in NUMBERS for whose in ("rllib", "appo")},
    ),
    "apex": Comparison(
        tuple(f"apex {task}{whose}" for task in ("cartpole", "pong") for whose in ("", " rllib")),
        {(f"apex {task}", f"apex {task} rllib"): 1.0 for task in ("cartpole", "pong")},
    ),
    "weights": Comparison(("weights",), {}),
}


def main() -> None:
    parser = arguments(__doc__, backends=())
    parser.add_argument("what", choices=COMPARISONS)
    parser.add_argument("--rllib-python", type=Path, metavar="PATH", help="an interpreter that has RLlib")
    add_rounds(parser, ROUNDS)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of a measurement, after its start")
    options = parser.parse_args()
    if options.measure:
        _measure(options.measure, options.seconds)
    comparison = COMPARISONS[options.what]
    subjects = chosen(parser, options.only, comparison.subjects)
    rllib = any(map(is_rllib, subjects)) and (options.rllib_python or peers.interpreter("rllib"))

    def measured(subject: str) -> dict[str, Any]:
        python = rllib if is_rllib(subject) else None
        return in_process(python, options.what, "--measure", subject, "--seconds", str(options.seconds))

    _report(options, comparison, alternating(subjects, options.rounds, measured))


def is_rllib(subject: str) -> bool:
    return subject.endswith((" rllib", " appo"))


def _measure(name: str, seconds: float) -> None:
    """Runs one subject until its time is over, prints its rates, and ends this process."""
    module = importlib.import_module(f"distributed.executors_{'rllib' if is_rllib(name) else 'rlgraph'}")
    subject = module.SUBJECTS[name]()
    _advance(subject.advance, WARM_UP)
    before = dict(subject.counts())
    passed = _advance(subject.advance, seconds)
    returns = list(subject.returns())[-100:]
    result = {
        "rates": {key: (value - before[key]) / passed for key, value in subject.counts().items()},
        "return": sum(returns) / max(len(returns), 1),
        "load": os.getloadavg()[0],
        "versions": {name: importlib.metadata.version(name) for name in subject.distributions},
    }
    print(json.dumps(result), flush=True)
    os._exit(0)  # Ray's processes end with the one that started them


def _advance(advance: Callable[[], Any], seconds: float) -> float:
    """Call until the time is over, once at least; the seconds that it took."""
    started = time.perf_counter()
    advance()
    while time.perf_counter() - started < seconds:
        advance()
    return time.perf_counter() - started


def _report(
    options: argparse.Namespace, comparison: Comparison, found: Mapping[str, list[dict[str, Any]]]
) -> None:
    figures = {
        (subject, key): Figure(tuple(result["rates"][key] for result in results))
        for subject, results in found.items()
        for key in results[0]["rates"]
        if key == "steps" or any(result["rates"][key] for result in results)
    }
    if options.what == "weights":
        times = Figure(tuple(1000.0 / rate for rate in figures["weights", "steps"].rounds))
        rows = [Row("weights of 1.7 million numbers", times, "ms", None, 6.0)]
    else:
        rows = [Row(subject, figure, f"{key}/s") for (subject, key), figure in figures.items()]
        for (subject, other), target in comparison.targets.items():
            if (subject, "steps") in figures and (other, "steps") in figures:
                figure = figures[subject, "steps"]
                ratio = figure.over(figures[other, "steps"])
                rows.append(Row(f"{subject} over {other}", figure, "steps/s", ratio, target, at_least=True))
    report(f"distributed {options.what}", rows, options)
    for subject, results in found.items():
        versions = ", ".join(f"{name} {version}" for name, version in results[0]["versions"].items())
        loads = ", ".join(f"{result['load']:.1f}" for result in results)
        returns = ", ".join(f"{result['return']:.0f}" for result in results)
        print(f"  {subject}: {versions}; load {loads}; mean return of the last episodes {returns}")
