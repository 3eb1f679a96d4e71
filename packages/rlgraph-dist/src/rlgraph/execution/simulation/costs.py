"""What the parts of distributed training cost."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from rlgraph.core import SpecError
from rlgraph.core.errors import nearest


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

    acting: float
    stepping: float
    packing: float
    jitter: float
    fragment_bytes: int
    weights_bytes: int
    update: float
    update_fragment: float
    sending_weights: float
    asking: float
    receiving: float
    hosting: float
    waiting: float
    latency: float
    bandwidth: float
    batch_bytes: int = 0
    insert: float = 0.0
    draw: float = 0.0
    set_priorities: float = 0.0

    def with_cost(self, name: str, value: float) -> Costs:
        """With another value of one of them.

        Raises:
            SpecError: there is no such cost.
        """
        names = [field.name for field in fields(self)]
        if name not in names:
            raise SpecError(f"unknown cost {name!r}. {nearest(name, names)}")
        changed: dict[str, Any] = {name: int(value) if name.endswith("bytes") else value}
        return replace(self, **changed)

    def save(self, file: Path) -> None:
        """Write them as JSON."""
        file.write_text(json.dumps(asdict(self), indent=2) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, file: Path) -> Costs:
        """Read them.

        Raises:
            SpecError: the file has other numbers.
        """
        given, known = json.loads(file.read_text(encoding="utf-8")), {field.name for field in fields(cls)}
        if not isinstance(given, dict) or given.keys() != known:
            raise SpecError(f"expected the costs {', '.join(sorted(known))}, given {given!r}", path=str(file))
        return cls(**given)
