"""Sampling, IMPALA and PPO on CartPole-v1, written by hand on Ray: samplers act on NumPy, the driver learns on PyTorch.

Nothing is checked, and nothing survives the death of a sampler; sizes and options are fixed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import ray
from by_hand.sampler import NUM_ENVIRONMENTS, POLICY_SHAPES, Rollout, Sampler, side_by_side, starting_weights

#: Steps of a rollout, and rollouts that IMPALA learns from together.
STEPS, IMPALA_STEPS, IMPALA_ROLLOUTS = 128, 64, 2
#: Rollouts that each sampler is asked for ahead.
AHEAD = 2


@ray.remote(num_cpus=1)
class RemoteSampler:
    """A `Sampler` in a process of its own; weights come as one array."""

    def __init__(self, steps: int, number: int, keeps_log_probs: bool):
        self._sampler = Sampler(steps, "auto", number, keeps_log_probs)
        self._told = 0

    def collect(self, weights: np.ndarray) -> tuple[Rollout, list[float]]:
        """The next rollout, and the returns of the episodes that ended in it."""
        rollout = self._sampler.collect(cut(weights))
        returns = self._sampler.returns[self._told :]
        self._told += len(returns)
        return rollout, returns


def cut(weights: np.ndarray) -> list[np.ndarray]:
    """The layers of a policy."""
    sizes = [int(np.prod(shape)) for shape in POLICY_SHAPES]
    parts = np.split(weights, np.cumsum(sizes)[:-1])
    return [part.reshape(shape) for part, shape in zip(parts, POLICY_SHAPES, strict=True)]


def joined(policy: Sequence[np.ndarray]) -> np.ndarray:
    """The inverse of `cut`."""
    return np.concatenate([array.ravel() for array in policy])


class Samplers:
    """Remote samplers, and the returns of their episodes."""

    def __init__(self, number: int, steps: int, keeps_log_probs: bool = False):
        if not ray.is_initialized():
            ray.init(num_cpus=max(number, 2), include_dashboard=False, log_to_driver=False)
        self.handles = [RemoteSampler.remote(steps, i + 1, keeps_log_probs) for i in range(number)]
        self.returns: list[float] = []
        self.weights: Any = None
        self._asked: dict[Any, int] = {}

    def send(self, policy: Sequence[np.ndarray]) -> None:
        """What rollouts that are asked for from now on act with."""
        self.weights = ray.put(joined(policy))

    def ask(self, number: int) -> None:
        self._asked[self.handles[number].collect.remote(self.weights)] = number

    def receive(self) -> list[tuple[int, Rollout]]:
        """Waits for a rollout; those that are there, each with the number of its sampler."""
        done, rest = ray.wait(list(self._asked), num_returns=1)
        done += ray.wait(rest, num_returns=len(rest), timeout=0)[0] if rest else []
        found = []
        for (rollout, returns), call in zip(ray.get(done), done, strict=True):
            self.returns += returns
            found.append((self._asked.pop(call), rollout))
        return found


class LocalSampling:
    """One sampler in this process."""

    def __init__(self) -> None:
        from by_hand.ppo_learner import NAMES

        self.policy = list(starting_weights(NAMES[:6], np.random.default_rng(1)).values())
        self._sampler = Sampler(STEPS, "auto", 1)
        self.returns = self._sampler.returns

    def learn(self, steps: int) -> None:
        for _ in range(-(-steps // (STEPS * NUM_ENVIRONMENTS))):
            self._sampler.collect(self.policy)


class Sampling:
    """One remote sampler, asked for this number of rollouts ahead."""

    def __init__(self, ahead: int):
        self._ahead, self._samplers = ahead, Samplers(1, STEPS)
        self._samplers.send(LocalSampling().policy)
        self.returns = self._samplers.returns

    def learn(self, steps: int) -> None:
        samplers, number = self._samplers, -(-steps // (STEPS * NUM_ENVIRONMENTS))
        for i in range(number):
            if i < self._ahead:
                samplers.ask(0)
        done = 0
        while done < number:
            for sampler, _ in samplers.receive():
                done += 1
                if done + self._ahead <= number:
                    samplers.ask(sampler)


class PPO:
    """Synchronous rounds: a rollout of each sampler, the learner of `ppo_loop` learns from all of them."""

    def __init__(self, samplers: int, compile: bool = False):
        from by_hand.ppo_loop import Learner

        self._number, self.rows = samplers, samplers * STEPS * NUM_ENVIRONMENTS
        self._learner = Learner("torch", compile, self.rows, 1)
        self._samplers = Samplers(samplers, STEPS)
        self.returns = self._samplers.returns

    def learn(self, steps: int) -> None:
        from by_hand.ppo_loop import records_of

        samplers, learner = self._samplers, self._learner
        for _ in range(-(-steps // self.rows)):
            samplers.send(learner.policy)
            for number in range(self._number):
                samplers.ask(number)
            found: dict[int, Rollout] = {}
            while len(found) < self._number:
                found |= dict(samplers.receive())
            rollout = side_by_side([found[number] for number in range(self._number)])
            learner.learn(records_of(rollout, learner.weights, learner.rng))


class IMPALA:
    """Samplers that never wait for updates; an update on the rollouts that come first."""

    def __init__(self, samplers: int, compile: bool = False):
        from by_hand.impala_torch import Learner

        self._learner = Learner(IMPALA_STEPS, IMPALA_ROLLOUTS * NUM_ENVIRONMENTS, compile)
        self._samplers = Samplers(samplers, IMPALA_STEPS, keeps_log_probs=True)
        self.returns = self._samplers.returns
        self._samplers.send(self._learner.policy)
        for number in [*range(samplers)] * AHEAD:
            self._samplers.ask(number)
        self._queue: list[Rollout] = []

    def learn(self, steps: int) -> None:
        samplers, learner = self._samplers, self._learner
        for _ in range(-(-steps // (IMPALA_STEPS * NUM_ENVIRONMENTS * IMPALA_ROLLOUTS))):
            while len(self._queue) < IMPALA_ROLLOUTS:
                for number, rollout in samplers.receive():
                    samplers.ask(number)
                    self._queue.append(rollout)
            taken, self._queue = self._queue[:IMPALA_ROLLOUTS], self._queue[IMPALA_ROLLOUTS:]
            learner.learn(side_by_side(taken))
            samplers.send(learner.policy)
