"""Effects of graph functions (reads, writes, draws), recorded during evaluation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from rlgraph.core.errors import InferenceError
from rlgraph.core.ops.random import Noise

_STREAM = "/~stream"


def stream_name(scope: str) -> str:
    """The name of the random stream of the component at `scope`.

    A draw counts as a write to the stream, since it changes the next draw. The tilde distinguishes streams from
    variables.
    """
    return scope + _STREAM


def stream_names(names: Iterable[str]) -> frozenset[str]:
    """The stream names among `names`."""
    return frozenset(name for name in names if name.endswith(_STREAM))


@dataclass(frozen=True)
class Effects:
    """The recorded effects of one graph-function call.

    Attributes:
        reads: names of the variables it reads.
        writes: names of the variables it writes, and of the streams it draws from (see `stream_name`).
        host: whether it runs as plain Python on the host.
        collective: whether it waits for all learners of the group.
        hazard: whether it writes a variable that it has read before (reads must then copy).
        aliases: per output, the variables whose memory the output may share.
        views: per output, the arguments whose memory the output may share.
        same: per output, the argument that it returns unchanged; empty if none.
        carries: names of the arguments with respect to which some output can be differentiated.
        whole_reads: names of the variables that it reads as a whole, by `ops.read` or by indexing.
        overwrites: those of `whole_reads` that it writes afterwards.
        families: families of the operations it uses, e.g. ``convolution``; empty if it is not evaluated.
        noise: what each of its draws needs, in order; None for one that needs values of tensors. None if it is not
            evaluated.
    """

    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    host: bool = False
    collective: bool = False
    hazard: bool = False
    aliases: tuple[frozenset[str], ...] = ()
    views: tuple[frozenset[str], ...] = ()
    same: tuple[str, ...] = ()
    carries: frozenset[str] = frozenset()
    whole_reads: frozenset[str] = frozenset()
    overwrites: frozenset[str] = frozenset()
    families: frozenset[str] = frozenset()
    noise: tuple[Noise | None, ...] = ()

    @property
    def draws(self) -> frozenset[str]:
        """Names of the streams it draws from."""
        return stream_names(self.writes)

    @property
    def pure(self) -> bool:
        """Whether the function has no effects but its outputs."""
        return not (self.writes or self.is_border)

    @property
    def is_border(self) -> bool:
        """Whether it runs between segments: on the host, or on all learners together."""
        return self.host or self.collective


def together(effects: Iterable[Effects]) -> Effects:
    """The combined effects of several calls in sequence, without outputs."""
    several = list(effects)

    def union(attribute: str) -> frozenset[str]:
        return frozenset[str]().union(*(getattr(e, attribute) for e in several))

    return Effects(
        reads=union("reads"),
        writes=union("writes"),
        host=any(e.host for e in several),
        collective=any(e.collective for e in several),
        whole_reads=union("whole_reads"),
        overwrites=union("overwrites"),
    )


@dataclass
class EffectRecorder:
    """Collects the events of one abstract evaluation.

    Args:
        stream: name of the stream that draws write to.
    """

    stream: str = ""
    reads: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)
    whole_reads: set[str] = field(default_factory=set)
    overwrites: set[str] = field(default_factory=set)
    families: set[str] = field(default_factory=set)
    noise: list[Noise | None] = field(default_factory=list)
    hazard: bool = False
    last_write: dict[str, int] = field(default_factory=dict)
    count: int = 0
    #: The control-flow operation whose body is being evaluated.
    region: str = ""

    def read(self, variable: str) -> None:
        self.reads.add(variable)

    def read_whole(self, variable: str) -> None:
        self.read(variable)
        self.whole_reads.add(variable)

    def write(self, variable: str) -> None:
        self.hazard = self.hazard or variable in self.reads
        self.writes.add(variable)
        if variable in self.whole_reads:
            self.overwrites.add(variable)
        self.count += 1
        self.last_write[variable] = self.count

    def draw(self, noise: Noise | None) -> None:
        self.writes.add(self.stream)
        self.noise.append(noise)

    def need_no_region(self, operation: str) -> None:
        """Check that no body of a control-flow operation is being evaluated.

        Raises:
            InferenceError: a body is being evaluated.
        """
        if self.region:
            raise InferenceError(
                f"{operation} inside {self.region}: control flow in a graph function must not write or draw. "
                "Write or draw before or after it (ops.scan can iterate over drawn values), "
                "or call graph functions in a `loop` or `branch` of an API method"
            )
