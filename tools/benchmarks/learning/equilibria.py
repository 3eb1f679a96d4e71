"""What can actions of several parts learn, if each part has action values of its own?

The values of a part are means over what the other parts do. They are worked out here without samples or networks, on
the world of the preset dqn/grid_world_4x4_ftj, for one probability of exploration (each part on its own) and discount
at a time, from random values on. Printed is how many of the starts end in which return of the greedy actions: 0.8 is
the best, 0.7 is a way of four actions in which no part can do better alone.

    python tools/benchmarks learning/equilibria --discount 0.8 0.9 --epsilon 0.3 0.5 0.62 0.66 0.7
"""

from __future__ import annotations

import argparse
from collections import Counter

import numpy as np

from rlgraph.environments import GridWorld

#: The parts of an action, in the order of the axes of the tables.
PARTS = {"forward": 3, "turn": 3, "jump": 2}
LIMIT = 100  # steps of an episode


class Tables:
    """The world as arrays `[states, forward, turn, jump]`: next states, rewards, ends."""

    def __init__(self) -> None:
        world = GridWorld("4x4", action_type="ftj", state_representation="xy+orientation")
        world.reset()
        start = world.get_state()
        self.start, states = start["at"], 4 * world.n_row * world.n_col
        shape = (states, *PARTS.values())
        self.following, self.rewards, self.ends = np.zeros(shape, int), np.zeros(shape), np.zeros(shape, bool)
        for at in np.ndindex(shape):
            world.set_state({**start, "at": at[0], "running": True})
            _, reward, terminated, _, _ = world.step(dict(zip(PARTS, at[1:], strict=True)))
            self.following[at], self.rewards[at] = world.get_state()["at"], reward
            self.ends[at] = terminated

    def greedy_return(self, values: list[np.ndarray]) -> float:
        """What an episode of the greedy actions brings."""
        state, total = self.start, 0.0
        for _ in range(LIMIT):
            at = (state, *(int(part[state].argmax()) for part in values))
            state, total = self.following[at], total + self.rewards[at]
            if self.ends[at]:
                break
        return round(float(total), 1)

    def improved(self, values: list[np.ndarray], discount: float, epsilon: float) -> list[np.ndarray]:
        """Every part's values from the shared target, the others being epsilon-greedy."""
        shared = np.mean([part.max(axis=1) for part in values], axis=0)
        targets = self.rewards + discount * np.where(self.ends, 0.0, shared[self.following])
        chosen = [
            (1 - epsilon) * np.eye(part.shape[1])[part.argmax(axis=1)] + epsilon / part.shape[1]
            for part in values
        ]
        return [
            np.einsum("sftj,st,sj->sf", targets, chosen[1], chosen[2]),
            np.einsum("sftj,sf,sj->st", targets, chosen[0], chosen[2]),
            np.einsum("sftj,sf,st->sj", targets, chosen[0], chosen[1]),
        ]


def learned(tables: Tables, discount: float, epsilon: float, seed: int, rounds: int = 100) -> float:
    """The return that one start ends in."""
    rng = np.random.default_rng(seed)
    values = [rng.normal(size=(len(tables.rewards), count)) for count in PARTS.values()]
    for _ in range(rounds):
        better = tables.improved(values, discount, epsilon)
        values = [(old + new) / 2 for old, new in zip(values, better, strict=True)]
    return tables.greedy_return(values)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--discount", type=float, nargs="+", default=[0.8, 0.9])
    parser.add_argument("--epsilon", type=float, nargs="+", default=[0.1, 0.3, 0.5, 0.58, 0.62, 0.66, 0.7])
    parser.add_argument("--starts", type=int, default=60)
    options = parser.parse_args()
    tables = Tables()
    for discount in options.discount:
        for epsilon in options.epsilon:
            found = Counter(learned(tables, discount, epsilon, seed) for seed in range(options.starts))
            ends = ", ".join(f"{value:g}: {count}" for value, count in sorted(found.items(), reverse=True))
            print(f"discount {discount:g}, epsilon {epsilon:g}: {ends}", flush=True)
