"""The best returns that Pendulum-v1 allows in the episodes that our runs are judged in, by dynamic programming.

The returns of this task depend mostly on the first states. The values of all states, for each number of steps that are
left, are computed backwards on a grid (Bellman, 1957); the actions that are best by them are then played from
the first states of the 100 episodes that a run with a seed is judged in. Half as many points in each direction lower
the results by 0.2 to 0.7. Writes a file of results:

    .venvs/dev/bin/python tools/benchmarks learning/pendulum_optimum --seeds 1 2 3 4 5 6 7 8 9 10
"""

from __future__ import annotations

import argparse
import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from processes import ROOT

from rlgraph.runs.training import FINAL_EVALUATION_SEED
from rlgraph.workers.evaluation import evaluation_environments

FILE = ROOT / "docs/results/pendulum_optimum.json"
ENVIRONMENT, STEPS, EPISODES = "Pendulum-v1", 200, 100
SECONDS, GRAVITY, LARGEST_SPEED, LARGEST_TORQUE = 0.05, 10.0, 8.0, 2.0


def step(angles: Any, speeds: Any, torques: Any) -> tuple[Any, Any, Any]:
    """One step of Pendulum-v1 with rod and mass of 1: the next angles and speeds, and the rewards."""
    upright = (angles + np.pi) % (2 * np.pi) - np.pi
    rewards = -(upright**2 + 0.1 * speeds**2 + 0.001 * torques**2)
    speeds = speeds + (1.5 * GRAVITY * np.sin(angles) + 3 * torques) * SECONDS
    speeds = np.clip(speeds, -LARGEST_SPEED, LARGEST_SPEED)
    return angles + speeds * SECONDS, speeds, rewards


class Corners:
    """Where states lie between the points of a grid of values `[angles, speeds]`."""

    def __init__(self, grid: tuple[int, int], angles: Any, speeds: Any):
        turns = ((angles + np.pi) % (2 * np.pi)) / (2 * np.pi) * grid[0]
        rows = (speeds + LARGEST_SPEED) / (2 * LARGEST_SPEED) * (grid[1] - 1)
        below = np.floor(turns).astype(int)
        self.left, self.right = below % grid[0], (below + 1) % grid[0]
        self.low = np.minimum(rows.astype(int), grid[1] - 2)
        self.along = (turns - below).astype(np.float32)
        self.up = (rows - self.low).astype(np.float32)

    def values(self, values: Any) -> Any:
        """Bilinear interpolation."""
        left, right = (
            (1 - self.up) * values[side, self.low] + self.up * values[side, self.low + 1]
            for side in (self.left, self.right)
        )
        return (1 - self.along) * left + self.along * right


def values_by_steps_left(grid: tuple[int, int], torques: int) -> list[Any]:
    """The best return that each state of the grid allows, for 0 to 200 steps that are left."""
    angles = np.linspace(-np.pi, np.pi, grid[0], endpoint=False)
    speeds = np.linspace(-LARGEST_SPEED, LARGEST_SPEED, grid[1])
    tried = np.linspace(-LARGEST_TORQUE, LARGEST_TORQUE, torques)
    *following, rewards = step(*np.meshgrid(angles, speeds, tried, indexing="ij"))
    corners, rewards = Corners(grid, *following), rewards.astype(np.float32)
    values = [np.zeros(grid, np.float32)]
    for _ in range(STEPS):
        values.append((rewards + corners.values(values[-1])).max(axis=-1))
    return values


def first_states(seed: int) -> tuple[Any, Any]:
    """Angles and speeds that the episodes begin with that a run with this seed is judged in."""
    vector: Any = evaluation_environments(ENVIRONMENT, EPISODES)
    states = [np.array(vector.reset(FINAL_EVALUATION_SEED + seed))]
    still = np.zeros((len(states[0]), 1), np.float32)
    while sum(map(len, states)) < EPISODES:
        for _ in range(STEPS):
            latest = vector.step(still)[0]
        states.append(np.array(latest))
    vector.terminate()
    cosines, sines, speeds = np.concatenate(states)[:EPISODES].astype(float).T
    return np.arctan2(sines, cosines), speeds


def best_returns(values: list[Any], angles: Any, speeds: Any) -> Any:
    """The returns of the actions that are best by the values."""
    tried, returns = np.linspace(-LARGEST_TORQUE, LARGEST_TORQUE, 201), np.zeros(len(angles))
    chosen = np.arange(len(angles))
    for left in reversed(values[:-1]):
        next_angles, next_speeds, rewards = step(angles[:, None], speeds[:, None], tried)
        found = Corners(left.shape, next_angles, next_speeds).values(left)
        best = (rewards + found).argmax(axis=-1)
        angles, speeds = next_angles[chosen, best], next_speeds[chosen, best]
        returns += rewards[chosen, best]
    return returns


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(1, 11)))
    parser.add_argument("--grid", type=int, nargs=3, default=(600, 641, 61), help="angles, speeds, torques")
    parser.add_argument("--file", type=Path, default=FILE)
    given = parser.parse_args()
    angles, speeds, torques = given.grid
    values = values_by_steps_left((angles, speeds), torques)
    means = {}
    for seed in given.seeds:
        means[seed] = round(float(best_returns(values, *first_states(seed)).mean()), 1)
        print(seed, means[seed], flush=True)
    found = {
        "environment": ENVIRONMENT,
        "episodes": EPISODES,
        "grid": list(given.grid),
        "gymnasium": version("gymnasium"),
        "best_means": means,
    }
    given.file.write_text(json.dumps(found, indent=2) + "\n")
