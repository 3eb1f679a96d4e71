"""DQN on CartPole-v1: does it learn, on every seed?

Protocol: at most 50,000 environment steps; every 1,000 steps a greedy evaluation over 20 episodes, the best policy is
kept; training ends early when an evaluation reaches 500. The kept policy is then judged on 100 episodes never used
before. The preset was tuned on the seeds 101 to 107; seeds 1 to 5 are reported, every one of them.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

from rlgraph.agents.presets import preset
from rlgraph.runs.run_folder import installed_versions
from rlgraph.runs.training import train

TARGET = 475.0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--backend", default="torch")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("--steps", type=int, default=50_000)
    parser.add_argument("--json", type=Path, help="write the figures here")
    options = parser.parse_args()
    rows = []
    for seed in options.seeds:
        started = time.perf_counter()
        spec = {
            "agent": {**(preset("dqn", "CartPole-v1") or {}), "execution_spec": {"threads": 1}},
            "environment": "CartPole-v1",
            "backend": options.backend,
            "steps": options.steps,
            "seed": seed,
            "evaluation": {"interval": 1000, "episodes": 20, "stop_at_return": 500.0, "final_episodes": 100},
        }
        with tempfile.TemporaryDirectory() as folder:
            summary = train(spec, folder)
        assert summary.evaluation is not None
        best = max(
            summary.training.evaluations, key=lambda evaluation: (evaluation.mean, evaluation.timesteps)
        )
        row = {
            "backend": options.backend,
            "seed": seed,
            "steps": summary.training.timesteps,
            "selected_at": best.timesteps,
            "mean": summary.evaluation.mean,
            "std": summary.evaluation.std,
            "seconds": time.perf_counter() - started,
        }
        rows.append(row)
        verdict = "ok" if row["mean"] >= TARGET else "BELOW"
        print(
            f"{options.backend} seed {seed}: {row['mean']:.1f} +- {row['std']:.1f} over 100 episodes "
            f"(selected at step {row['selected_at']:,}, {row['seconds']:.0f} s) {verdict}",
            flush=True,
        )
    if options.json:
        options.json.write_text(json.dumps({"versions": installed_versions(), "rows": rows}, indent=2) + "\n")
    return 0 if all(row["mean"] >= TARGET for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
