"""Opens a checkpoint and checks that it fits its target."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

import numpy as np

from rlgraph.core.checkpoint.manifest import read_manifest
from rlgraph.core.checkpoint.tensor_file import TensorEntry, TensorFile
from rlgraph.core.errors import CheckpointError

#: File of arrays that are kept beside the variables.
BESIDE = "beside"
#: Maximum number of names in a message.
_NAMED = 5


class Checkpoint:
    """An open checkpoint with consistent manifest and headers; no value has been read. A context manager.

    Attributes:
        directory: its directory.
        manifest: its `Manifest`.
        files: file name without suffix -> `TensorFile`.

    Raises:
        CheckpointError: it is missing, incomplete, damaged or of a newer format.
    """

    def __init__(self, directory: str | Path):
        self.directory = Path(directory)
        self.manifest = read_manifest(self.directory)
        self.files: dict[str, TensorFile] = {}
        with ExitStack() as stack:
            for name in self.manifest.files:
                file = TensorFile(self.directory / name)
                stack.callback(file.close)
                self.files[file.path.stem] = file
            self._close = stack.pop_all().close

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def file(self, stem: str) -> TensorFile:
        """The file `stem`.

        Raises:
            CheckpointError: the checkpoint has no such file.
        """
        if stem not in self.files:
            raise CheckpointError(f"checkpoint {self.directory} has no {stem}.safetensors")
        return self.files[stem]

    def verify(self, stems: Iterable[str] | None = None) -> None:
        """Verify the checksums of these files; default: all.

        Raises:
            CheckpointError: a file is damaged.
        """
        for stem in self.files if stems is None else stems:
            file = self.file(stem)
            file.verify(self.manifest.files[file.path.name])

    def require_facts(self, facts: Mapping[str, Any]) -> None:
        """Check that it has `facts` of the same names and types; None here allows any type.

        Raises:
            CheckpointError: a fact is missing or of another type.
        """
        there = self.manifest.facts
        if lacking := sorted(facts.keys() - there.keys()):
            raise CheckpointError(f"checkpoint {self.directory} lacks the facts {', '.join(lacking)}")
        for name, value in facts.items():
            kinds = (int, float) if type(value) is float else (type(value),)
            if value is not None and type(there[name]) not in kinds:
                raise CheckpointError(
                    f"checkpoint {self.directory}: the fact {name!r} is {there[name]!r:.80}, "
                    f"expected {kinds[-1].__name__}"
                )

    def require_tensors(
        self, stem: str, expected: Mapping[str, tuple[tuple[int, ...], str]], *, below: str = ""
    ) -> None:
        """Check that a file has exactly the `expected` arrays: name -> (shape, dtype).

        Args:
            stem: the file.
            expected: the expected arrays. Float widths may differ.
            below: check only arrays whose names begin with this.

        Raises:
            CheckpointError: an array is missing, unexpected, or of another shape or dtype.
        """
        entries = {n: e for n, e in self.file(stem).entries.items() if n.startswith(below)}
        missing, extra = expected.keys() - entries.keys(), entries.keys() - expected.keys()
        if missing or extra:
            raise CheckpointError(
                f"checkpoint {self.directory} belongs to another component graph: "
                f"missing {_names(missing, extra)}, not expected {_names(extra)}"
            )
        for name, (shape, dtype) in expected.items():
            if problem := _difference(entries[name], shape, np.dtype(dtype)):
                raise CheckpointError(f"checkpoint {self.directory}: variable {name!r} has {problem}")


def read_beside(directory: str | Path) -> dict[str, np.ndarray]:
    """The arrays that were saved beside the variables, by name; none if there are none.

    Raises:
        CheckpointError: the checkpoint is missing or damaged.
    """
    with Checkpoint(directory) as checkpoint:
        if BESIDE not in checkpoint.files:
            return {}
        checkpoint.verify([BESIDE])
        file = checkpoint.file(BESIDE)
        return {name: file.read(name) for name in file.entries}


def _difference(entry: TensorEntry, shape: tuple[int, ...], dtype: np.dtype[Any]) -> str:
    if entry.shape != shape:
        return f"shape {entry.shape!r:.80}, expected {shape}"
    if entry.dtype != dtype and not (entry.dtype.kind == dtype.kind == "f"):
        return f"dtype {entry.dtype}, expected {dtype}"
    return ""


def _names(names: Collection[str], others: Collection[str] = ()) -> str:
    """The shortest paths of `names`, each with the closest name among `others`."""
    shown = []
    for name in sorted(names, key=lambda name: (name.count("/"), name))[:_NAMED]:
        close = difflib.get_close_matches(name, others, n=1)
        shown.append(f"{name!r:.80}" + (f" (there is {close[0]!r:.80})" if close else ""))
    rest = len(names) - len(shown)
    return ", ".join(shown) + (f" and {rest} more" if rest else "") or "nothing"
