"""What a graph function does besides computing its outputs: recorded while it is evaluated, never declared."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Effects:
    """The recorded effects of one graph-function call.

    Attributes:
        reads: names of the variables it reads.
        writes: names of the variables it writes.
        host: it runs as plain Python on the host.
        hazard: it writes a variable that it has read before (a read must then be a copy).
        aliases: per output the variables whose memory the output may share.
        views: per output the arguments whose memory the output may share.
        carries: names of the arguments that some output can be differentiated by.
    """

    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    host: bool = False
    hazard: bool = False
    aliases: tuple[frozenset[str], ...] = ()
    views: tuple[frozenset[str], ...] = ()
    carries: frozenset[str] = frozenset()

    @property
    def pure(self) -> bool:
        """Nothing but the outputs is left behind."""
        return not self.writes and not self.host


@dataclass
class EffectRecorder:
    """Collects the events of one abstract evaluation."""

    reads: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)
    hazard: bool = False
    last_write: dict[str, int] = field(default_factory=dict)
    count: int = 0

    def read(self, variable: str) -> None:
        self.reads.add(variable)

    def write(self, variable: str) -> None:
        self.hazard = self.hazard or variable in self.reads
        self.writes.add(variable)
        self.count += 1
        self.last_write[variable] = self.count
