"""Safetensors files: named arrays, written and read as streams without a second copy.

The format (https://huggingface.co/docs/safetensors): eight bytes with the length of a JSON header, little endian; the
header, ``name -> {"dtype", "shape", "data_offsets"}``; the values, one array after the other.
"""

from __future__ import annotations

import hashlib
import math
import os
import reprlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rlgraph.core.checkpoint.files import open_regular
from rlgraph.core.checkpoint.strict_json import check_size, from_json, to_json
from rlgraph.core.errors import CheckpointError

#: NumPy dtype -> name in the format. Values are little endian.
TAGS = {
    "bool": "BOOL",
    **{f"int{bits}": f"I{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"U{bits}" for bits in (8, 16, 32, 64)},
    **{f"float{bits}": f"F{bits}" for bits in (16, 32, 64)},
}
_DTYPES = {tag: np.dtype(name) for name, tag in TAGS.items()}
_CHUNK = 1 << 24
#: Of arrays that every NumPy can make.
_MAX_RANK, _MAX_ELEMENTS = 32, 2**59


@dataclass(frozen=True)
class TensorEntry:
    """The header entry of one array; `start` is relative to the beginning of the values."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    start: int

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def stop(self) -> int:
        return self.start + self.size * self.dtype.itemsize


def write_tensors(file: Path, arrays: Mapping[str, np.ndarray]) -> str:
    """Write `arrays`, sync them to disk, and return the SHA-256 of the file.

    Raises:
        CheckpointError: an array has an unsupported dtype.
        OSError: as `open` and `write`.
    """
    # Wide elements first, so that all are aligned.
    named = sorted(arrays.items(), key=lambda item: (-item[1].dtype.itemsize, item[0]))
    header, position = {}, 0
    for name, array in named:
        if array.dtype.name not in TAGS:
            raise CheckpointError(
                f"variable {name!r} has dtype {array.dtype}, which checkpoints do not support"
            )
        offsets = [position, position + array.nbytes]
        header[name] = {"dtype": TAGS[array.dtype.name], "shape": array.shape, "data_offsets": offsets}
        position += array.nbytes
    text = to_json(file, header)
    text += b" " * (-len(text) % 8)
    digest = hashlib.sha256()
    with file.open("wb") as handle:
        for piece in (len(text).to_bytes(8, "little"), text, *(_bytes(array) for _, array in named)):
            digest.update(piece)
            handle.write(piece)
        handle.flush()
        os.fsync(handle.fileno())
    return digest.hexdigest()


def _bytes(array: np.ndarray) -> Any:
    """The memory of `array` in row-major order; a copy only if its order differs."""
    little = array.astype(array.dtype.newbyteorder("<"), order="C", copy=False)
    return little.reshape(-1).view(np.uint8).data


class TensorFile:
    """An open file of arrays with a consistent header; no value has been read.

    Attributes:
        entries: name -> header entry.

    Raises:
        CheckpointError: it is missing, not a regular file, or its header is wrong.
    """

    def __init__(self, path: Path):
        self.path = path
        self._handle = open_regular(path)
        try:
            self._size = os.fstat(self._handle.fileno()).st_size
            self.entries = self._read_header()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._handle.close()

    def _read_header(self) -> dict[str, TensorEntry]:
        # Check the length before using it, since it may be wrong.
        if self._size < 8:
            raise self._damaged("it is shorter than the length of a header")
        length = int.from_bytes(self._read(0, 8), "little")
        if length > self._size - 8:
            raise self._damaged(f"a header of {length:,} bytes in a file of {self._size:,}")
        check_size(f"the header of {self.path}", length)
        self._values = 8 + length
        header = from_json(f"the header of {self.path}", self._read(8, length))
        if not isinstance(header, dict):
            raise self._damaged("its header is not a mapping")
        header.pop("__metadata__", None)
        # Core 0.1 wrote a slash after the names of some variables.
        entries = {name.removesuffix("/"): self._entry(name, content) for name, content in header.items()}
        position = 0
        for name, entry in sorted(entries.items(), key=lambda item: (item[1].start, item[1].stop)):
            if entry.start != position:
                raise self._damaged(f"{reprlib.repr(name)} begins at {entry.start}, expected {position}")
            position = entry.stop
        if position != self._size - self._values:
            raise self._damaged(
                f"its header expects {position:,} bytes of values, it has {self._size - self._values:,}"
            )
        return entries

    def _entry(self, name: str, content: Any) -> TensorEntry:
        match content:
            case {"dtype": str(tag), "shape": list(shape), "data_offsets": [start, stop]} if (
                len(content) == 3
                and tag in _DTYPES
                and _is_shape(shape)
                and _is_size(start)
                and _is_size(stop)
            ):
                entry = TensorEntry(_DTYPES[tag], tuple(shape), start)
                if entry.stop == stop:
                    return entry
        raise self._damaged(f"{reprlib.repr(name)} is {reprlib.repr(content)}")

    def verify(self, digest: str) -> None:
        """Verify the checksum of the whole file.

        Raises:
            CheckpointError: it differs.
        """
        found = hashlib.sha256()
        for start in range(0, self._size, _CHUNK):
            found.update(self._read(start, min(_CHUNK, self._size - start)))
        if found.hexdigest() != digest:
            raise self._damaged("its checksum differs from the manifest's")

    def read(self, name: str) -> np.ndarray:
        """The array `name`."""
        entry = self.entries[name]
        array = np.empty(entry.shape, entry.dtype)
        self.read_into(name, array)
        return array

    def read_into(self, name: str, array: np.ndarray) -> None:
        """Read `name` into the memory of `array`, which has its shape; values are converted to its dtype.

        Raises:
            CheckpointError: the file cannot be read to its end, or a value is too large for the dtype of `array`; part
                of it may be in `array`.
        """
        flat, position = array.reshape(-1, copy=False), 0
        try:
            with np.errstate(over="raise"):
                for piece in self._pieces(self.entries[name]):
                    flat[position : position + len(piece)] = piece
                    position += len(piece)
        except FloatingPointError:
            raise CheckpointError(
                f"{self.path}: {name!r} has values that are not finite as {array.dtype}"
            ) from None

    def _pieces(self, entry: TensorEntry) -> Iterator[np.ndarray]:
        start = self._values + entry.start
        stop = self._values + entry.stop
        for position in range(start, stop, _CHUNK):
            content = self._read(position, min(_CHUNK, stop - position))
            if entry.dtype == np.bool_:
                # Any byte except 0 is true; NumPy bools must be 0 or 1.
                yield np.frombuffer(content, np.uint8) != 0
            else:
                yield np.frombuffer(content, entry.dtype.newbyteorder("<"))

    def _read(self, start: int, size: int) -> bytes:
        pieces = []
        try:
            self._handle.seek(start)
            while size and (piece := self._handle.read(size)):
                pieces.append(piece)
                size -= len(piece)
        except OSError as error:
            raise CheckpointError(f"{self.path} cannot be read: {error}") from error
        if size:
            raise self._damaged(f"it ends {size:,} bytes too early")
        return b"".join(pieces)

    def _damaged(self, reason: str) -> CheckpointError:
        return CheckpointError(f"{self.path} is damaged: {reason}")


def _is_shape(sizes: list[Any]) -> bool:
    """Whether there can be an array of this shape; NumPy counts no size as 0 there."""
    return (
        len(sizes) <= _MAX_RANK
        and all(map(_is_size, sizes))
        and math.prod(size for size in sizes if size) < _MAX_ELEMENTS
    )


def _is_size(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**63
