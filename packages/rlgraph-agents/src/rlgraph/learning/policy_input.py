"""What an algorithm sees of raw states: preprocessed ones, with the steps before them, and a mask."""

from __future__ import annotations

from typing import Any

from rlgraph.components import DictPreprocessorStack, PreprocessorStack
from rlgraph.environments.masked_states import OBSERVATION, MaskedStates
from rlgraph.experience.previous_steps import PREVIOUS, PreviousSteps
from rlgraph.spaces import Space


class PolicyInput:
    """The structure of states as the algorithm sees them.

    Args:
        preprocessor: what raw states go through; None: nothing.
        masked: the raw states, if a part of them is a mask.
        previous: what the states have of the steps before them; None: nothing.
    """

    def __init__(
        self,
        preprocessor: PreprocessorStack | DictPreprocessorStack | None,
        masked: MaskedStates | None,
        previous: PreviousSteps | None,
    ):
        self._preprocessor, self._previous = preprocessor, previous
        if masked is not None and preprocessor is not None:
            masked = masked.preprocessed(self._preprocessed(masked.rest_space))
        self._preprocessed_mask = masked
        #: These states, if a part of them is a mask.
        self.mask = masked if masked is None or previous is None else masked.preprocessed(previous.space)

    def space(self, state_space: Space) -> Space:
        """One state as the algorithm sees it, from one raw state; both without ranks."""
        if self.mask is not None and (self._previous is not None or self._preprocessor is not None):
            return self.mask.space
        if self._previous is not None:
            return self._previous.space
        return state_space if self._preprocessor is None else self._preprocessed(state_space)

    def without_mask(self, seen: Any) -> Any:
        """States as the algorithm sees them, or their Space, without the mask and what is kept of the step before."""
        rest = seen if self.mask is None else self.mask.split(seen)[0]
        return rest if self._previous is None else rest[OBSERVATION]

    def with_previous(self, states: Any, previous: Any) -> Any:
        """Preprocessed states ``[N, ...]`` as the algorithm sees them, with what is kept of the steps before them."""
        masked = self._preprocessed_mask
        rest, mask = (states, None) if masked is None else masked.split(states)
        seen = {OBSERVATION: rest, PREVIOUS: previous}
        return seen if masked is None else masked.join(seen, mask)

    def _preprocessed(self, space: Space) -> Space:
        """The Space of one preprocessed state, from that of one."""
        assert self._preprocessor is not None
        preprocessed: Space = self._preprocessor.get_preprocessed_space(space.with_batch_rank())
        return preprocessed.without_ranks()
