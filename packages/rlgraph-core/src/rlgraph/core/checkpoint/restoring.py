"""Restores a checkpoint into a storage; everything is verified before anything is written."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rlgraph.core.checkpoint.reading import Checkpoint
from rlgraph.core.errors import CheckpointError, InputError
from rlgraph.core.graph.variables import Variable
from rlgraph.core.random_streams import check_stream_state
from rlgraph.core.storage import Storage

if TYPE_CHECKING:
    from rlgraph.core.component.component import Component


def streams_stem(backend: str) -> str:
    """The file of a backend's own random streams, which no other backend can continue."""
    return f"streams_{backend}"


class Restoring:
    """The verified values of a checkpoint for a storage.

    Tensor variables are in memory already. Host variables may be many gigabytes: they are read directly into the
    existing arrays, from the file that was verified and is still open.

    Args:
        checkpoint: the source.
        storage: the target.
        variables: the variables to restore.
        below: prefix of the names of these variables; other names in the checkpoint are ignored.

    Raises:
        CheckpointError: something is damaged or does not fit.
    """

    def __init__(
        self, checkpoint: Checkpoint, storage: Storage, variables: Iterable[Variable], below: str = ""
    ):
        self._checkpoint, self._storage = checkpoint, storage
        members = list(variables)
        tensors, host = ([v for v in members if v.host is is_host] for is_host in (False, True))
        self._parts: dict[str, list[Variable]] = {}
        if tensors or not below:
            self._parts["variables"] = tensors
        # Without host variables in the checkpoint they keep their values, unless the component has no other variables.
        if ("host" in checkpoint.files and (host or not below)) or not self._parts:
            self._parts["host"] = host
        for stem, part in self._parts.items():
            expected = {variable.name: (variable.shape, variable.spec.dtype) for variable in part}
            checkpoint.require_tensors(stem, expected, below=below)
        checkpoint.verify(self._parts)
        self._values = {variable.name: self._read(variable) for variable in self._parts.get("variables", ())}
        self._tensor_streams: dict[str, np.ndarray] = {}
        self._streams: dict[str, Any] = {}

    def _read(self, variable: Variable) -> np.ndarray:
        value = np.empty(variable.shape, variable.spec.dtype)
        self._checkpoint.file("variables").read_into(variable.name, value)
        return value

    def check(self, components: Mapping[str, Component]) -> None:
        """Let components look at the values of their host variables, if these are restored.

        Raises:
            CheckpointError: a value does not fit.
        """
        names = {variable.name for variable in self._parts.get("host", ())}
        for path, component in components.items():
            if any(name.startswith(f"{path}/") for name in names):
                try:
                    component.check_stored(partial(self._stored, path))
                except CheckpointError as error:
                    raise CheckpointError(f"checkpoint {self._checkpoint.directory}: {error}") from None

    def _stored(self, path: str, name: str) -> np.ndarray:
        return self._checkpoint.file("host").read(f"{path}/{name}")

    def add_streams(self, backend: str, names: Collection[str]) -> None:
        """Restore random streams too: the NumPy streams `names`, and the backend's own if it wrote them.

        Raises:
            CheckpointError: a state is damaged or of another backend.
        """
        stem = streams_stem(backend)
        if stem in self._checkpoint.files:
            present = self._storage.read_tensor_streams()
            expected = {name: (state.shape, state.dtype.name) for name, state in present.items()}
            self._checkpoint.require_tensors(stem, expected)
            self._checkpoint.verify([stem])
            file = self._checkpoint.file(stem)
            self._tensor_streams = {name: file.read(name) for name in expected}
        for name, state in self._checkpoint.manifest.streams.items():
            if name in names:
                self._streams[name] = self._checked_state(name, state)

    def _checked_state(self, name: str, state: Mapping[str, Any]) -> Mapping[str, Any]:
        """`state` if a stream accepts it."""
        try:
            check_stream_state(name, state)
        except InputError as error:
            raise CheckpointError(f"checkpoint {self._checkpoint.directory}: {error}") from error
        return state

    def write(self) -> None:
        """Write all values.

        Raises:
            CheckpointError: the backend refuses the states of its streams (nothing changes), or the file of host
                variables can no longer be read.
        """
        self._write_tensor_streams()
        self._write_host()
        if self._values:
            self._storage.write_all(self._values)
        for name, state in self._streams.items():
            self._storage.stream(name).bit_generator.state = state

    def _write_tensor_streams(self) -> None:
        if not self._tensor_streams:
            return
        before = self._storage.read_tensor_streams()
        try:
            self._storage.write_tensor_streams(self._tensor_streams)
        except Exception as error:
            self._storage.write_tensor_streams(before)
            raise CheckpointError(
                f"checkpoint {self._checkpoint.directory}: the states of the random streams are refused: {error}"
            ) from error

    def _write_host(self) -> None:
        try:
            for variable in self._parts.get("host", ()):
                file = self._checkpoint.file("host")
                file.read_into(variable.name, self._storage.host[variable.name])
        except CheckpointError as error:
            raise CheckpointError(
                f"{error}. Host variables are partly replaced: load a valid checkpoint"
            ) from error
