"""What the parts of distributed training cost."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from rlgraph.core import SpecError
from rlgraph.core.specs.documents import read_spec_file
from rlgraph.core.specs.spec_types import Amount, Times
from rlgraph.core.specs.specifiable import call_checked, check_arguments, check_values


@dataclass(frozen=True)
class Costs:
    """Seconds of one core, and sizes in bytes. `measure` fills it in.

    Attributes:
        acting: of the actions of all environments of an actor, once.
        stepping: of a step of these environments.
        packing: of the message of a fragment, and of setting weights.
        jitter: standard deviation of the time of a fragment, as a share of it.
        fragment_bytes, weights_bytes, batch_bytes: sizes of messages.
        update, update_fragment: of one update, and of each fragment that it learns from.
        sending_weights: of their message, and of putting it where actors find it.
        asking: of a call, in the learner's process.
        receiving: of the facts of a result there, and of the body of a fragment.
        hosting: of a call, in the process of an actor, besides what it does.
        waiting: in the learner's process, per call that is under way, whenever it
            waits.
        latency: seconds on the way of a call or a result.
        bandwidth: bytes per second.
        insert, draw, set_priorities: of a replay shard; 0: there are none.
    """

    acting: Amount
    stepping: Amount
    packing: Amount
    jitter: Amount
    fragment_bytes: Times
    weights_bytes: Times
    update: Amount
    update_fragment: Amount
    sending_weights: Amount
    asking: Amount
    receiving: Amount
    hosting: Amount
    waiting: Amount
    latency: Amount
    bandwidth: Amount
    batch_bytes: Times = 0
    insert: Amount = 0.0
    draw: Amount = 0.0
    set_priorities: Amount = 0.0

    def with_cost(self, name: str, value: float) -> Costs:
        """With another value of one of them.

        Raises:
            SpecError: there is no such cost, or the value is negative.
        """
        changed: dict[str, Any] = {name: int(value) if name.endswith("bytes") else value}
        check_arguments(Costs, changed)
        check_values(Costs, changed)
        return replace(self, **changed)

    def save(self, file: Path) -> None:
        """Write them as JSON."""
        file.write_text(json.dumps(asdict(self), indent=2) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, file: Path) -> Costs:
        """Read them.

        Raises:
            SpecError: the file is missing, or has other numbers.
        """
        given = read_spec_file(file, "costs")
        if not isinstance(given, dict):
            raise SpecError(f"expected a mapping, as 'measure' writes it, given {given!r}", path=str(file))
        costs: Costs = call_checked(cls, (), given, str(file))
        return costs
