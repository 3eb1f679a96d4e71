"""Fragments: rollouts of weights that may be older than those that learn from them."""

from __future__ import annotations

from rlgraph.components.common.argument_checks import check_whole
from rlgraph.experience.rollouts import Rollouts


class Fragments(Rollouts):
    """Rollouts whose actors may have acted with older weights; records are those of `Rollouts`.

    Args:
        rollout_length: T, steps of each environment in a fragment.
        max_age: by how many updates the weights that acted may be older; None: by any number.
    """

    def __init__(self, *, rollout_length: int = 20, max_age: int | None = None):
        super().__init__(rollout_length=rollout_length)
        self.max_age = None if max_age is None else check_whole(max_age, "max_age", least=0)

    def suited_to(self, is_recurrent: bool) -> Fragments:
        """Networks are unrolled over whole fragments, as in IMPALA."""
        return self
