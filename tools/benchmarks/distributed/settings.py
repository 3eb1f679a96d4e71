"""What the subjects of `executors` have in common, whichever library they are of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: Environments of each sampler, and units of two dense layers with tanh.
NUM_ENVIRONMENTS, UNITS = 8, 64
#: IMPALA: steps of a fragment, fragments of an update, and the limit of the gradient's norm.
IMPALA_STEPS, IMPALA_FRAGMENTS, IMPALA_RATE, IMPALA_CLIP_NORM = 64, 2, 5e-4, 40.0
#: PPO: an update learns from a rollout of every sampler.
PPO_STEPS, PPO_EPOCHS, PPO_MINIBATCHES, PPO_RATE, PPO_CLIP_NORM, PPO_EPSILON = 128, 4, 4, 3e-4, 0.5, 1e-5
WEIGHT_ENTROPY, WEIGHT_VALUES = 0.01, 0.5


@dataclass(frozen=True)
class Apex:
    """Ape-X on one task.

    Attributes:
        env: CartPole-v1 or Pong.
        samplers, environments: how many, and environments of each.
        batch_size, update_interval: records of an update, and environment steps between two.
        capacity: records of the memory.
        learns: False: the samples are only taken in.
    """

    env: str
    samplers: int
    environments: int
    batch_size: int
    update_interval: int
    capacity: int
    learns: bool = True


APEX = {
    "cartpole": Apex("CartPole-v1", 2, 8, 64, 16, 50_000),
    "pong": Apex("Pong", 2, 4, 32, 32, 5_000),
    **{f"pong {n}": Apex("Pong", 1, n, 32, 32, 5_000, learns=False) for n in (1, 2, 4, 8, 16)},
}
N_STEP, LEARNING_STARTS, TARGET_INTERVAL, APEX_RATE = 3, 1000, 500, 5e-4
#: Filters, kernel size and strides of each convolution, and units of the dense layer after them.
CONVOLUTIONS, CONVOLUTION_UNITS = ((32, 8, 4), (64, 4, 2), (64, 3, 1)), 512


@dataclass(frozen=True)
class Subject:
    """What is measured, built.

    Attributes:
        advance: goes on, for about half a second.
        counts: what was done so far: ``"steps"``, and ``"updates"`` where they are counted.
        returns: of the last episodes.
        distributions: whose versions are reported.
    """

    advance: Callable[[], Any]
    counts: Callable[[], Mapping[str, float]]
    returns: Callable[[], Sequence[float]]
    distributions: tuple[str, ...]
