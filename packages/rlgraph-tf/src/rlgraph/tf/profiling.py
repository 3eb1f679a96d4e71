"""Profiles by graph function as a Chrome trace."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import tensorflow as tf

from rlgraph.core.errors import CapabilityError, RLGraphError
from rlgraph.core.graph.emission import Linker


class ScopedLinker(Linker):
    """Names operations after their graph functions: ``policy/dense-0/call/MatMul``."""

    def link(self, function: Any, view: Any, draws: Collection[str] = ()) -> Callable[..., Any]:
        linked = super().link(function, view, draws)
        # A trailing slash re-enters an existing scope.
        scope = re.sub(r"[^\w./-]", "_", f"{view.scope_path}/{function.name.lstrip('_')}/").lstrip("_/-")

        def scoped(*args: Any, **kwargs: Any) -> Any:
            with tf.name_scope(scope):
                return linked(*args, **kwargs)

        return scoped


@contextmanager
def profile(path: Path) -> Iterator[None]:
    """Profile the block and write a Chrome trace to `path`.

    Raises:
        RLGraphError: another profile is running.
        CapabilityError: this TensorFlow writes profiles in another format.
    """
    space = _space()
    with tempfile.TemporaryDirectory() as folder:
        try:
            tf.profiler.experimental.start(folder)
        except tf.errors.AlreadyExistsError:
            raise RLGraphError("another profile is running: end it first") from None
        try:
            yield
        finally:
            tf.profiler.experimental.stop()
        for file in Path(folder).rglob("*.xplane.pb"):
            space.ParseFromString(file.read_bytes())
    write_trace(path, list(_events(space)))


def write_trace(path: Path, events: list[dict[str, Any]]) -> None:
    """Write a Chrome trace."""
    path.write_text(json.dumps({"displayTimeUnit": "ms", "traceEvents": events}))


def _space() -> Any:
    try:
        from tensorflow.tsl.profiler.protobuf.xplane_pb2 import XSpace
    except ImportError as error:
        raise CapabilityError(
            f"the profiler of TensorFlow {tf.__version__} is not known here: {error}"
        ) from None
    return XSpace()


def _events(space: Any) -> Iterator[dict[str, Any]]:
    """The events of a profile; times in microseconds from the first event."""
    starts = [line.timestamp_ns for plane in space.planes for line in plane.lines]
    first = min(starts, default=0)
    for pid, plane in enumerate(space.planes):
        if not plane.lines:
            continue
        yield {"ph": "M", "pid": pid, "name": "process_name", "args": {"name": plane.name}}
        for tid, line in enumerate(plane.lines):
            yield {"ph": "M", "pid": pid, "tid": tid, "name": "thread_name", "args": {"name": line.name}}
            start = (line.timestamp_ns - first) / 1e3
            for event in line.events:
                if event.duration_ps:
                    # Operations are called "policy/dense-0/call/MatMul:MatMul".
                    name, _, kind = plane.event_metadata[event.metadata_id].name.partition(":")
                    times = {"ts": start + event.offset_ps / 1e6, "dur": event.duration_ps / 1e6}
                    yield {"ph": "X", "pid": pid, "tid": tid, "name": name, "cat": kind.strip(": "), **times}
