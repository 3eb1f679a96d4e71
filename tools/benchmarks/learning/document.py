"""Does an agent learn, on every seed?

Trains a run's document with every seed, one after the other and each in a new process, and writes what the policies
reach to a file of results. The judged policy plays greedily, in episodes never used before: the last policy, or the
best of the evaluations if the document has some. A file of results holds its document, so it can be given in place of
one.

Documents are tuned on seeds from 101 on; seeds 1 to 5 are reported, every one of them. They may name the wrapper in
`badly_scaled.py`.

    python tools/benchmarks learning/document run.yaml --backend torch --results docs/agents/results/ppo_t_maze.json
    python tools/benchmarks learning/document docs/agents/results/ppo_t_maze.json --backend tf
    python tools/benchmarks learning/document run.yaml --learners 2 --collective gloo \
        --results docs/agents/results/ppo_cartpole_v1_two_learners.json

`rlgraph benchmark` does this for presets.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from learning.seeds import facts_of_machine

from rlgraph.core import allow_imports, allow_network
from rlgraph.runs.configuration import read_document
from rlgraph.runs.training import train


@allow_network()  # for servers of TensorFlow
@allow_imports("badly_scaled")
def measure(
    document: Mapping[str, Any], backend: str, execution: Mapping[str, Any], seed: int
) -> dict[str, Any]:
    """Train and judge one seed, in a folder that is thrown away."""
    own = document["agent"].get("execution_spec", {})
    spec = {
        **document,
        "agent": {**document["agent"], "execution_spec": {"threads": 1, **own, **execution}},
        "backend": backend,
        "seed": seed,
        "checkpoints": {"interval": None},
    }
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        summary = train(spec, folder)
    judged = summary.evaluation
    assert judged is not None
    return {
        "seed": seed,
        "mean": round(judged.mean, 3),
        "std": round(judged.std, 3),
        "lowest": round(min(judged.returns), 3),
        "policy_of_step": judged.timesteps,
        "steps": summary.training.timesteps,
        "seconds": round(time.perf_counter() - started, 1),
    }


@allow_imports("badly_scaled")
def main() -> None:
    sys.path.append(str(Path(__file__).parent))  # of the wrapper, by the name that documents have for it
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("document", type=Path, help="a run's document, or a file of results")
    parser.add_argument("--backend", default="torch")
    parser.add_argument("--compile", action="store_true", help="compile the agent's programs")
    parser.add_argument("--learners", type=int, default=1, help="learners of a group")
    parser.add_argument("--collective", help="what adds their gradients up")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument(
        "--results",
        type=Path,
        help="where the figures of this backend and collective are written, in place of those there; default: a given "
        "file of results",
    )
    options = parser.parse_args()
    given = json.loads(options.document.read_text()) if options.document.suffix == ".json" else {}
    document = given["document"] if "document" in given else read_document(options.document)
    file = options.results or (options.document if "document" in given else None)
    known = json.loads(file.read_text()) if file and file.exists() else {}
    measurements = known["measurements"] if known.get("document") == document else {}
    runs: list[dict[str, Any]] = []
    group = {"learners": options.learners, "collective": options.collective} if options.collective else {}
    subject = " ".join(filter(None, (options.backend, options.collective)))
    execution = {"compile": options.compile, **group}
    for seed in options.seeds:
        # A process can be in one group of TensorFlow's only.
        with ProcessPoolExecutor(1, get_context("spawn")) as process:
            run = process.submit(measure, document, options.backend, execution, seed).result()
        runs.append(run)
        print(
            f"{options.document.name} {subject} seed {seed}: {run['mean']:.1f} +- {run['std']:.1f} "
            f"(policy of step {run['policy_of_step']:,} of {run['steps']:,}, {run['seconds']:.0f} s)",
            flush=True,
        )
        if file:
            measurement = {"compiled": options.compile, **group, **facts_of_machine(), "runs": runs}
            content = {"document": document, "measurements": {**measurements, subject: measurement}}
            file.parent.mkdir(exist_ok=True)
            file.write_text(json.dumps(content, indent=2) + "\n")
