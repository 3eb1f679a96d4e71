"""TensorBoard event files, written without a framework."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter

from rlgraph.runs.run_files import storing


class EventFile:
    """Scalars and the component graph for TensorBoard.

    Args:
        directory: the directory of the file.
        first_step: first step of a resumed run; TensorBoard drops later steps of earlier files.

    Raises:
        StorageError: it cannot be written; also raised by the methods.
    """

    def __init__(self, directory: Path, first_step: int | None = None):
        with storing(directory):
            directory.mkdir(parents=True, exist_ok=True)
            # TensorBoard reads files in the order of their names: two may be created within a second, and a clock may
            # have been set back since the last one.
            earlier = [path.name.split(".") for path in directory.glob("events.out.tfevents.*.rlgraph")]
            seconds = max([int(time.time()), *(int(parts[3]) for parts in earlier if parts[3].isdecimal())])
            number = len(list(directory.iterdir()))
            self._path = directory / f"events.out.tfevents.{seconds}.{number:03d}.rlgraph"
            self._file = self._path.open("xb")
        self._writer = RecordWriter(self._file)
        self._write(Event(wall_time=time.time(), file_version="brain.Event:2"))
        if first_step is not None:
            start = SessionLog(status=SessionLog.START)
            self._write(Event(wall_time=time.time(), step=first_step, session_log=start))

    def add_scalars(self, step: int, scalars: Mapping[str, float]) -> None:
        """Write one value per tag at `step`."""
        values = [Summary.Value(tag=tag, simple_value=value) for tag, value in scalars.items()]
        self._write(Event(wall_time=time.time(), step=step, summary=Summary(value=values)))

    def add_graph(self, definition: bytes) -> None:
        """Write the content of the graph page, from `rlgraph.draw.graph_definition`."""
        self._write(Event(wall_time=time.time(), graph_def=definition))

    def close(self) -> None:
        self._writer.close()

    def _write(self, event: Event) -> None:
        with storing(self._path):
            self._writer.write(event.SerializeToString())
            self._writer.flush()
