"""Does an agent learn in one program with its environment as it does from outside?

Trains presets in environment components with every seed, in the graph and from outside (``in_graph`` false), with the
same settings, each run in a process of its own. TensorFlow is compiled, PyTorch in the graph only. Judged are the last
policy and the best of the evaluations, acting greedily, over 20 episodes never used before. Training's own evaluations
and these are in Gymnasium's environment of the same task.

ppo_cartpole   the preset: 100,000 steps, 8 copies
ppo_pendulum   the preset: 200,000 steps, 8 copies
dqn_cartpole   the preset: 50,000 steps, all of which are made, 1 copy, but the learning rate goes down to 0

A file of results has an entry for each task on each backend, written when all its seeds are done.

    python tools/benchmarks learning/in_graph --results docs/results/in_graph_learning.json
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from learning.seeds import facts_of_machine
from processes import FRAMEWORKS, in_process

from rlgraph.agents import Agent
from rlgraph.algorithms.presets import preset
from rlgraph.workers import Callback, Evaluation

EPISODES, EVALUATIONS, SEEDS = 20, 5, (11, 12, 13, 14, 15)
#: Task -> its preset, environment steps, and the learning rate in place of the preset's. The preset of DQN stops at the
#: first good policy: those that come after it forget at times.
TASKS: dict[str, tuple[str, int, list[float] | None]] = {
    "ppo_cartpole": ("ppo/CartPole-v1", 100_000, None),
    "ppo_pendulum": ("ppo/Pendulum-v1", 200_000, None),
    "dqn_cartpole": ("dqn/CartPole-v1", 50_000, [0.0023, 0.0]),
}


class KeepBest(Callback):
    """Evaluates at every report, and keeps the weights of the best policy.

    Args:
        env: the environment that is evaluated in.
        seed: of the run.
    """

    def __init__(self, env: str, seed: int):
        self.env, self.seed = env, seed
        self.evaluations: list[Evaluation] = []
        self.weights: Mapping[str, Any] = {}

    def on_report(self, worker: Any, metrics: Mapping[str, float]) -> None:
        seed = 10_000 * self.seed + len(self.evaluations)
        found = worker.agent.evaluate(EPISODES, env=self.env, seed=seed)
        if not self.evaluations or found.mean > max(each.mean for each in self.evaluations):
            self.weights = worker.agent.get_weights()
        self.evaluations.append(found)


def settings_of(task: str) -> dict[str, Any]:
    """What all runs of a task share."""
    name, steps, rate = TASKS[task]
    found = preset(name)
    agent = found.agent
    if rate is not None:
        agent["optimizer_spec"]["learning_rate"] = rate
    return {
        "agent": agent,
        "environment": f"rlgraph/{found.document['environment']}",
        "evaluated_in": found.document["environment"],
        "num_envs": found.worker_options.get("num_envs", 1),
        "steps": steps,
        "evaluations": EVALUATIONS,
        "episodes": EPISODES,
    }


def one_run(task: str, backend: str, in_graph: bool, seed: int) -> dict[str, Any]:
    """Train and judge one seed."""
    settings = settings_of(task)
    env, steps, compiled = settings["evaluated_in"], settings["steps"], in_graph or backend == "tf"
    agent = Agent.from_spec(
        {**settings["agent"], "execution_spec": {"threads": 1, "compile": compiled}},
        env=settings["environment"],
        backend=backend,
        seed=seed,
    )
    kept = KeepBest(env, seed)
    training = agent.learn(
        steps,
        num_envs=settings["num_envs"],
        in_graph=in_graph,
        report_interval=steps // EVALUATIONS,
        callbacks=[kept],
    )
    final = {"env": env, "seed": 1_000_000 + seed}
    last = agent.evaluate(EPISODES, **final).mean
    agent.set_weights(kept.weights)
    return {
        "seed": seed,
        "in_graph": in_graph,
        "compiled": compiled,
        "last": round(last, 1),
        "best": round(agent.evaluate(EPISODES, **final).mean, 1),
        "evaluations": [[each.timesteps, round(each.mean, 1)] for each in kept.evaluations],
        "steps": training.timesteps,
    }


def entry_of(task: str, backend: str, seeds: list[int]) -> dict[str, Any]:
    """All runs of a task on a backend."""
    runs = []
    for seed in seeds:
        for in_graph in (True, False):
            how = "in the graph" if in_graph else "from outside"
            runs.append(in_process(None, "--measure", task, backend, str(int(in_graph)), str(seed)))
            print(
                task,
                backend,
                f"seed {seed}",
                how,
                *(f"{of} {runs[-1][of]}" for of in ("last", "best")),
                flush=True,
            )
    return {"task": task, "backend": backend, **settings_of(task), **facts_of_machine(), "runs": runs}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tasks", nargs="*", metavar="TASK", help=f"of {', '.join(TASKS)}; default: all")
    parser.add_argument("--backend", choices=FRAMEWORKS, help="default: each of them")
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS)
    parser.add_argument("--results", type=Path, help="where they are written")
    parser.add_argument("--measure", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        task, backend, in_graph, seed = options.measure
        print(json.dumps(one_run(task, backend, bool(int(in_graph)), int(seed))))
        return
    if wrong := set(options.tasks) - set(TASKS):
        parser.error(f"expected tasks of {list(TASKS)}, given {sorted(wrong)}")
    for task in options.tasks or TASKS:
        for backend in [options.backend] if options.backend else FRAMEWORKS:
            entry = entry_of(task, backend, options.seeds)
            if options.results:
                write_entry(options.results, entry)


def write_entry(file: Path, entry: dict[str, Any]) -> None:
    """Add the runs of a task on a backend to a file of results, in place of those there."""
    entries = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
    others = [
        each for each in entries if (each["task"], each["backend"]) != (entry["task"], entry["backend"])
    ]
    order = [(task, backend) for task in TASKS for backend in FRAMEWORKS]
    entries = sorted([*others, entry], key=lambda each: order.index((each["task"], each["backend"])))
    file.write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")
