"""Demonstrations: steps of others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from rlgraph.core import SpecError
from rlgraph.core.specs.spec_types import ComponentSpec
from rlgraph.experience.replay import Replay
from rlgraph.experience.specs import UpdateSpec


class Demonstrations(Replay):
    """A memory of transitions that others made: of a data set, or given to `Agent.observe`.

    Args:
        memory_spec: the memory, a `replay_memory`; it has to have room for all steps of a data set.
        update_spec: ``batch_size``, and when to learn from steps that are observed; see `UpdateSpec`.
    """

    is_recorded: ClassVar[bool] = True

    def __init__(
        self,
        *,
        memory_spec: ComponentSpec = None,
        update_spec: UpdateSpec | Mapping[str, Any] | None = None,
    ):
        super().__init__(memory_spec=memory_spec, update_spec=update_spec)

    def suited_to(self, is_recurrent: bool) -> Replay:
        refuse_recurrence(is_recurrent)
        return super().suited_to(is_recurrent)


def refuse_recurrence(is_recurrent: bool) -> None:
    """Raise `SpecError` if networks are recurrent."""
    if is_recurrent:
        raise SpecError(
            "expected layers without memory: demonstrations are learned from step by step; take frame stacks, "
            "preprocessing_spec: [{'type': 'sequence', 'sequence_length': 4}]",
            path="network_spec",
        )
