"""Does DQN learn, on every seed?

Every task is a preset, tuned on seeds from 101 on; seeds 1 to 5 are reported, every
one of them. The judged policy plays episodes never used before, greedily.

cartpole    CartPole-v1, at most 50,000 steps. Every 1,000 steps 20 episodes are evaluated and the best policy is kept
            (the latest among equals); training ends early when an evaluation reaches 500. The kept policy is judged on
            100 episodes: a mean of at least 475.
acrobot     Acrobot-v1, 100,000 steps, no evaluation on the way. The last policy is judged on 100 episodes: a mean of
            at least -90.
grid_world  GridWorld "4x4", 9,000 steps; episodes are cut after 100 steps. The last policy is judged on one episode,
            there is no chance in it: the best return there is, 0.5 (six steps).
nested      GridWorld "4x4" with actions in three parts (turn, walk, jump) and states that tell where the actor looks,
            9,000 steps; episodes are cut after 100 steps. The last policy is judged on one episode: the best return
            there is, 0.8 (three actions). Each part has action values of its own, means over what the others do. Once
            the parts are greedy in a way of four actions (0.7) none can do better alone; with a discount of 0.9 only
            the best way withstands an exploration of 0.62 to 0.66 of each part (`equilibria.py`), so it stays there for
            half of the steps.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rlgraph.agents.presets import Preset, find_preset
from rlgraph.runs.provenance import installed_versions
from rlgraph.runs.training import RunSummary, train


@dataclass(frozen=True)
class Task:
    """A task, and what counts as having learned it.

    Attributes:
        environment: spec of the environment, which has a preset.
        target: mean return that is to be reached.
    """

    environment: Any
    target: float

    @property
    def preset(self) -> Preset:
        preset = find_preset("dqn", self.environment)
        assert preset is not None
        return preset


def grid_world(target: float, **options: Any) -> Task:
    """A GridWorld: nothing is random in it, so one episode says everything."""
    return Task({"type": "grid_world", "world": "4x4", **options}, target - 1e-6)


TASKS = {
    "cartpole": Task("CartPole-v1", 475.0),
    "acrobot": Task("Acrobot-v1", -90.0),
    "grid_world": grid_world(0.5),
    "nested": grid_world(0.8, action_type="ftj", state_representation="xy+orientation"),
}


def run(task: Task, seed: int, options: argparse.Namespace) -> RunSummary:
    """Train and judge, in a folder that is thrown away."""
    preset = task.preset
    spec = {
        **preset.document,
        "agent": {**preset.agent, "execution_spec": {"threads": 1, "compile": options.compile}},
        "backend": options.backend,
        "steps": options.steps or preset.document["steps"],
        "seed": seed,
        "checkpoints": {"interval": None},
    }
    with tempfile.TemporaryDirectory() as folder:
        return train(spec, folder)


def figures(task: Task, summary: RunSummary) -> dict[str, Any]:
    """What is reported of a run."""
    judged, evaluations = summary.evaluation, summary.training.evaluations
    assert judged is not None
    best = max(evaluations, key=lambda evaluation: (evaluation.mean, evaluation.timesteps), default=None)
    return {
        "steps": summary.training.timesteps,
        "selected_at": summary.training.timesteps if best is None else best.timesteps,
        "mean": judged.mean,
        "std": judged.std,
        "reached": judged.mean >= task.target,
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--task", choices=TASKS, default="cartpole")
    parser.add_argument("--backend", default="torch")
    parser.add_argument("--compile", action="store_true", help="compile the agent's programs")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("--steps", type=int, help="other than the task's")
    parser.add_argument("--json", type=Path, help="write the figures here")
    options = parser.parse_args()
    task, rows = TASKS[options.task], []
    for seed in options.seeds:
        started = time.perf_counter()
        row = {"task": options.task, "backend": options.backend, "compiled": options.compile, "seed": seed}
        row |= figures(task, run(task, seed, options)) | {"seconds": time.perf_counter() - started}
        rows.append(row)
        print(
            f"{options.task} {options.backend} seed {seed}: {row['mean']:.1f} +- {row['std']:.1f} (policy of step "
            f"{row['selected_at']:,} of {row['steps']:,}, {row['seconds']:.0f} s) "
            f"{'ok' if row['reached'] else 'BELOW'}",
            flush=True,
        )
    if options.json:
        options.json.write_text(json.dumps({"versions": installed_versions(), "rows": rows}, indent=2) + "\n")
    return 0 if all(row["reached"] for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
