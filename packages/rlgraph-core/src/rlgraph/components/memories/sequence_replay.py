"""Replay of sequences, for recurrent networks."""

from __future__ import annotations

from typing import Any

from rlgraph.components.common.argument_checks import check_number, check_whole
from rlgraph.components.memories.prioritized_replay import PrioritizedReplay
from rlgraph.core import SpecError
from rlgraph.core.specs.spec_types import ScheduleSpec


class SequenceReplay(PrioritizedReplay):
    """A prioritized memory whose records are sequences of steps: R2D2, Kapturowski et al. (2019).

    https://openreview.net/forum?id=r1lyTjAqYX. An agent's sequences never cross the end of an episode, and each keeps
    the internal states of the networks before its first step. Networks are unrolled over the first `burn_in` steps
    without learning from them. An episode's first steps are learned from too: what its first sequence burns in is
    padding.

    Args:
        capacity: number of steps to learn from that are kept; a sequence counts as all of its own, padding included.
        sequence_length: steps of a sequence, those of the burn-in included.
        burn_in: steps that only bring the internal states up to date.
        overlap: steps that one sequence of an episode shares with the next; default: `burn_in`, with which each step is
            learned from in one sequence.
        eta: share of the largest error of a sequence in its priority, beside the mean error.
        alpha, beta, epsilon: see `PrioritizedReplay`; an `alpha` of 0 draws uniformly.

    Raises:
        SpecError: a number outside its range, or lengths that do not fit together.
        SpaceError: as `PrioritizedReplay`.
    """

    def __init__(
        self,
        capacity: int = 10_000,
        sequence_length: int = 40,
        burn_in: int = 20,
        overlap: int | None = None,
        eta: float = 0.9,
        alpha: float = 0.9,
        beta: ScheduleSpec = 0.6,
        epsilon: float = 1e-6,
        scope: str = "memory",
        **kwargs: Any,
    ):
        self.sequence_length = check_whole(sequence_length, f"{scope}.sequence_length", least=1)
        self.burn_in = check_whole(burn_in, f"{scope}.burn_in", least=0)
        self.overlap = self.burn_in if overlap is None else check_whole(overlap, f"{scope}.overlap", least=0)
        for name, steps in (("burn_in", self.burn_in), ("overlap", self.overlap)):
            if steps >= self.sequence_length:
                raise SpecError(
                    f"expected fewer steps than sequence_length, {self.sequence_length}, given {steps}",
                    path=f"{scope}.{name}",
                )
        if self.overlap < self.burn_in:
            raise SpecError(
                f"expected at least burn_in, {self.burn_in}, given {self.overlap}: the steps between two sequences "
                "would never be learned from",
                path=f"{scope}.overlap",
            )
        self.eta = check_number(eta, f"{scope}.eta", least=0, most=1)
        steps = check_whole(capacity, f"{scope}.capacity", least=self.learned_steps)
        super().__init__(steps // self.learned_steps, alpha, beta, epsilon, scope=scope, **kwargs)

    @property
    def learned_steps(self) -> int:
        """The steps of a sequence that are learned from."""
        return self.sequence_length - self.burn_in
