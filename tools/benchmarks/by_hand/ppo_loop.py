"""PPO on CartPole-v1 as one loop written by hand, over the environments of `rlgraph.environments`.

NumPy acts and estimates advantages; the update is `ppo_torch` or `ppo_tf`, eager or compiled.
Nothing is checked; sizes and options are fixed. Numeric libraries must be kept to one thread before this is imported.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from by_hand.ppo_learner import NAMES
from by_hand.sampler import (
    NUM_ENVIRONMENTS,
    STATE_SIZE,
    Rollout,
    Sampler,
    log_probs_of,
    network,
    starting_weights,
)

STEPS = 128
ROLLOUT = NUM_ENVIRONMENTS * STEPS
DISCOUNT, GAE_LAMBDA = 0.99, 0.95


class Learner:
    """4 epochs of 4 minibatches of each rollout.

    Args:
        backend: ``"torch"`` or ``"tf"``.
        compile: by AOTInductor or XLA.
        rows: of a rollout.
    """

    def __init__(self, backend: str, compile: bool, rows: int, seed: int):
        module = importlib.import_module(f"by_hand.ppo_{backend}")
        self.rng = rng = np.random.default_rng(seed)
        examples: dict[str, np.ndarray] = {
            name: np.zeros(rows, np.float32) for name in ("log_probs", "advantages", "values")
        }
        examples |= {
            "states": np.zeros((rows, STATE_SIZE), np.float32),
            "actions": np.zeros(rows, np.int64),
        }
        self.update = module.Update(starting_weights(NAMES, rng), examples, rng, compile)
        # torch shares its memory with NumPy; tf's weights are read after every update.
        self.views = [view.numpy() for view in getattr(self.update.parameters, "views", ())]
        self.weights = self.read_weights()

    def read_weights(self) -> list[np.ndarray]:
        """Weights of the policy, then of the value function."""
        return self.views or list(self.update.weights().values())

    @property
    def policy(self) -> list[np.ndarray]:
        return self.weights[:6]

    def learn(self, records: dict[str, np.ndarray]) -> None:
        self.update(records)
        self.weights = self.read_weights()


class ByHand:
    """Rollouts of 8 environments by 128 steps.

    Args:
        backend, compile: of the `Learner`.
        vectorization: as of `make_vector_env`.

    Attributes:
        returns: of the episodes that ended.
        seconds: that each part of `learn` took.
    """

    def __init__(
        self, backend: str = "torch", compile: bool = False, vectorization: str = "sequential", seed: int = 1
    ):
        self.learner = Learner(backend, compile, ROLLOUT, seed)
        self.sampler = Sampler(STEPS, vectorization, seed)
        self.returns = self.sampler.returns
        self.seconds = {"collecting": 0.0, "records": 0.0, "update": 0.0}

    def learn(self, steps: int) -> None:
        """Rollouts with an update each, until `steps` steps were made at least."""
        clock, seconds, learner = time.process_time, self.seconds, self.learner
        for _ in range(-(-steps // ROLLOUT)):
            times = [clock()]
            rollout = self.sampler.collect(learner.policy)
            times.append(clock())
            records = records_of(rollout, learner.weights, learner.rng)
            times.append(clock())
            learner.learn(records)
            times.append(clock())
            for name, before, after in zip(seconds, times, times[1:], strict=False):
                seconds[name] += after - before


def records_of(
    rollout: Rollout, weights: Sequence[np.ndarray], rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """The rollout with log-probabilities, values and advantages (generalized advantage estimation), ``[T N]``.

    In place of rows that are no steps some of the others are there twice: the size of a minibatch never changes.
    """
    steps, number = rollout.rewards.shape
    size, truncated = steps * number, rollout.truncated
    rows = rollout.states.reshape(-1, STATE_SIZE)
    if len(rollout.reached):
        rows = np.concatenate([rows, rollout.reached])
    values = network(weights[6:], rows)[:, 0]
    per_step = values[: size + number].reshape(steps + 1, number)
    following = per_step[1:]
    if len(rollout.reached):
        following = following.copy()
        following[truncated] = values[size + number :]
    advantages = rollout.rewards + DISCOUNT * following * ~rollout.terminals - per_step[:-1]
    decays = np.where(rollout.ends, np.float32(0), np.float32(DISCOUNT * GAE_LAMBDA))
    product = np.empty(number, np.float32)
    for t in range(steps - 2, -1, -1):
        advantages[t] += np.multiply(decays[t], advantages[t + 1], product)
    states, actions = rows[:size], rollout.actions.ravel()
    logits = network(weights[:6], states)
    logits -= logits.max(1, keepdims=True)
    records: dict[str, Any] = {
        "states": states,
        "actions": actions,
        "log_probs": log_probs_of(logits, actions),
        "advantages": advantages.ravel(),
        "values": values[:size],
    }
    if rollout.valid.all():
        return records
    kept = rollout.valid.ravel().nonzero()[0]
    kept = np.concatenate([kept, rng.choice(kept, size - len(kept))])
    return {name: rows[kept] for name, rows in records.items()}
