"""Data sets: recorded episodes in files, read and checked.

A file has a group ``episode_0``, ``episode_1``, ... per episode with ``observations`` [T+1], ``actions`` [T],
``rewards`` [T], ``terminations`` [T] and ``truncations`` [T]. Parts of a `Dict` are groups by name, those of a `Tuple`
groups ``_index_0``, ``_index_1``, ... HDF5 files of this form are those of Minari
(https://minari.farama.org/content/dataset_standards/); the arrays of an ``.npz`` file have names such as
``episode_0/observations``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rlgraph.core import InputError, SpecError
from rlgraph.environments.extras import import_extra
from rlgraph.environments.masked_states import MaskedStates
from rlgraph.experience.bounds import outside
from rlgraph.experience.nested_arrays import row
from rlgraph.spaces import BoolBox, Dict, FloatBox, Space, Tuple

HDF5, NPZ = (".hdf5", ".h5"), ".npz"
FIELDS = ("observations", "actions", "rewards", "terminations", "truncations")
#: Bytes in memory that an array of an HDF5 file may have for each stored one (gzip reaches 1,032), and beside these.
COMPRESSION, STORED_LEAST = 1100, 2**20
_EPISODE = re.compile(r"episode_(\d+)")

#: The array at a path of a file; None: there is none.
_Read = Callable[[str], np.ndarray | None]


class _Opened(NamedTuple):
    """An open file: the names of its episodes, and what reads an array, or only its shape and dtype.

    `outline` gives something of this shape and dtype that takes no room in memory.
    """

    names: list[str]
    read: _Read
    outline: _Read


class RecordedEpisode(NamedTuple):
    """One episode of T steps, or the first T steps of one.

    ``observations [T + 1, ...]`` are raw states; the last one was reached by the last step. ``actions [T, ...]`` and
    floats ``rewards [T]`` belong to steps; bools ``terminals [T]`` and ``truncations [T]`` are where the episode ended.
    """

    observations: Any
    actions: Any
    rewards: np.ndarray
    terminals: np.ndarray
    truncations: np.ndarray


class DataSetReader:
    """Reads data sets of one task.

    Args:
        states, actions: one raw state, and one action.
        dtype: of all floats.
        masked: `states`, if a part of them is a mask.
    """

    def __init__(self, states: Space, actions: Space, dtype: str, masked: MaskedStates | None = None):
        self._states, self._actions, self._masked = states, actions, masked
        self._dtype = np.dtype(dtype)

    def read(self, place: str | Path) -> list[RecordedEpisode]:
        """The episodes of a file, or of all files in a folder.

        An episode that ends without a flag was cut there, and counts as truncated.

        Raises:
            InputError: a file cannot be read or has no episodes, a field is missing, or a value does not fit; names
                file, episode and step.
        """
        episodes = []
        for file in _files(Path(place)):
            with _opened(file) as opened:
                episodes += self.check(file, opened.names, opened.read)
        return episodes

    def lengths(self, place: str | Path) -> list[int]:
        """The numbers of steps of the episodes, of which only shapes and dtypes are read and checked.

        A small file may hold what becomes large in memory.

        Raises:
            InputError: as `read`, of all but values.
        """
        lengths = []
        for file in _files(Path(place)):
            with _opened(file) as opened:
                for name in _named(file, opened.names):
                    found = self._fields(f"{file}, {name}", name, opened.outline)
                    lengths.append(np.size(found["rewards"][""]))
        return lengths

    def check(self, file: Path, names: Sequence[str], read: _Read) -> list[RecordedEpisode]:
        """The episodes with these names; raises as `read` does."""
        return [self._episode(f"{file}, {name}", name, read) for name in _named(file, names)]

    def _episode(self, where: str, name: str, read: _Read) -> RecordedEpisode:
        """The checked episode `name`; `where` names file and episode in errors."""
        found = self._fields(where, name, read)
        checked = {
            field: space.unflatten_sample(
                {
                    path: self._leaf(where, field, path, found[field][path], box)
                    for path, box in space.flatten().items()
                }
            )
            for field, space in _field_spaces(self._states, self._actions).items()
        }
        episode = RecordedEpisode(*checked.values())
        self._check_steps(where, episode)
        truncations = episode.truncations.copy()
        truncations[-1] = not episode.terminals[-1]
        return episode._replace(truncations=truncations)

    def _fields(self, where: str, name: str, read: _Read) -> dict[str, dict[str, np.ndarray]]:
        """The arrays of an episode by field and path, of which dtypes and shapes are checked."""
        spaces = _field_spaces(self._states, self._actions)
        found = {field: self._arrays(where, name, field, space, read) for field, space in spaces.items()}
        steps = np.size(found["rewards"][""])
        if not steps:
            raise InputError(f"{where}: expected at least one step, given none")
        for field, space in spaces.items():
            for path, box in space.flatten().items():
                self._check_form(where, field, path, found[field][path], box, steps)
        return found

    def _arrays(self, where: str, name: str, field: str, space: Space, read: _Read) -> dict[str, np.ndarray]:
        """The arrays of a field of an episode, by path in its Space."""
        found = {}
        for path, part in _parts(space):
            array = read(f"{name}/{field}{part}")
            if array is None:
                of = f", with the parts of {space!r}" if part else ""
                raise InputError(
                    f"{where}: the field {field}{part} is missing; expected {', '.join(FIELDS)}{of}"
                )
            found[path] = array
        return found

    def _check_steps(self, where: str, episode: RecordedEpisode) -> None:
        """Check that no step follows an end, and that all actions are legal."""
        if (ends := episode.terminals | episode.truncations)[:-1].any():
            raise InputError(
                f"{where}, step {int(np.argmax(ends))}: the episode ended here, and further steps follow: expected a "
                "new episode for these"
            )
        if self._masked is None:
            return
        acted_on = row(episode.observations, slice(len(ends)))
        index = self._masked.row_of_illegal_action(acted_on, episode.actions, self._actions)
        if index is not None:
            raise InputError(
                f"{where}, step {index}: expected an action that the action mask allows, given an illegal one"
            )

    def _check_form(self, where: str, field: str, path: str, array: Any, box: Any, steps: int) -> None:
        dtype = self._dtype_of(box)
        is_flag = isinstance(box, BoolBox) and array.dtype.kind in "iu"  # 0 and 1
        has_form = array.ndim > 0 and array.shape[1:] == box.shape
        if not has_form or not (is_flag or np.can_cast(array.dtype, dtype, "same_kind")):
            raise self._mismatch(where, field, path, array, box)
        expected_length = steps + (field == "observations")
        if len(array) != expected_length:
            raise InputError(
                f"{where}: expected {expected_length} {_name(field, path)} beside {steps} rewards, given {len(array)}"
            )

    def _dtype_of(self, box: Any) -> np.dtype[Any]:
        return self._dtype if isinstance(box, FloatBox) else np.dtype(box.dtype)

    def _mismatch(self, where: str, field: str, path: str, array: Any, box: Any) -> InputError:
        expected = ", ".join(["T", *map(str, box.shape)])
        return InputError(
            f"{where}: {_name(field, path)}: expected {self._dtype_of(box)}[{expected}] of {box!r}, given "
            f"{array.dtype}{list(array.shape)}"
        )

    def _leaf(self, where: str, field: str, path: str, array: Any, box: Any) -> np.ndarray:
        """A part of a field, its values checked, with the dtype of records."""
        if isinstance(box, BoolBox) and array.dtype.kind in "iu" and not np.isin(array, (0, 1)).all():
            raise self._mismatch(where, field, path, array, box)
        dtype = self._dtype_of(box)
        with np.errstate(over="ignore"):
            taken = array.astype(dtype, copy=False)
        if (wrong := outside(box, array, taken, field == "actions")).any():
            at = tuple(np.argwhere(wrong)[0].tolist())
            raise InputError(f"{where}, step {at[0]}: {_name(field, path)}: {array[at]} is not in {box!r}")
        return taken


def _name(field: str, path: str) -> str:
    """What errors call a part of a field."""
    return ".".join([field, *path.split("/")] if path else [field])


def _named(file: Path, names: Sequence[str]) -> Sequence[str]:
    """The names of the episodes of a file, if there are any."""
    if not names:
        raise InputError(f"{file}: expected episodes, groups episode_0, episode_1, ..., given none")
    return names


def _field_spaces(states: Space, actions: Space) -> dict[str, Space]:
    """The Spaces of one item of each of `FIELDS`, in their order."""
    return dict(zip(FIELDS, (states, actions, FloatBox(), BoolBox(), BoolBox()), strict=True))


def _parts(space: Space, path: str = "", part: str = "") -> Iterator[tuple[str, str]]:
    """The path of each part of a Space, and its path in a file."""
    items: Any = None
    if isinstance(space, Dict):
        items = [(key, f"{part}/{key}", inner) for key, inner in space.items()]
    elif isinstance(space, Tuple):
        items = [(str(i), f"{part}/_index_{i}", inner) for i, inner in enumerate(space)]
    if items is None:
        yield path, part
        return
    for key, inside, inner in items:
        yield from _parts(inner, f"{path}/{key}" if path else key, inside)


def write_data_set(file: str | Path, episodes: list[RecordedEpisode], states: Space, actions: Space) -> Path:
    """Write episodes as a data set.

    Args:
        file: an ``.npz`` file, or an HDF5 file, ``.hdf5`` or ``.h5``, which needs h5py; an existing one is replaced.
        episodes: at least one.
        states, actions: one state and one action.

    Raises:
        SpecError: another kind of file, or h5py is not installed.
        InputError: `DataSetReader` would refuse an episode; an existing file remains.
    """
    file = Path(file)
    check_suffix(file)
    arrays: dict[str, np.ndarray] = {}
    for number, episode in enumerate(episodes):
        for (field, space), value in zip(_field_spaces(states, actions).items(), episode, strict=True):
            flat = space.flatten_sample(value)
            arrays |= {f"episode_{number}/{field}{part}": flat[path] for path, part in _parts(space)}
    reader = DataSetReader(states, actions, "float64")
    reader.check(file, [f"episode_{number}" for number in range(len(episodes))], arrays.get)
    file.parent.mkdir(parents=True, exist_ok=True)
    aside = file.with_name(f".{file.stem}.new{file.suffix}")
    try:
        _write_arrays(aside, arrays, [len(episode.rewards) for episode in episodes])
        aside.replace(file)
    finally:
        aside.unlink(missing_ok=True)
    return file


def _write_arrays(file: Path, arrays: Mapping[str, np.ndarray], lengths: Sequence[int]) -> None:
    if file.suffix == NPZ:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]  # of its other argument
        return
    with _h5py(file).File(file, "w") as opened:
        for name, array in arrays.items():
            opened[name] = array
        for number, length in enumerate(lengths):
            opened[f"episode_{number}"].attrs.update(id=number, total_steps=length)


def fingerprint(place: str | Path) -> str:
    """The SHA-256 of the files of a data set: other contents have another one.

    Raises:
        InputError: there are no such files.
    """
    whole = hashlib.sha256()
    for file in _files(Path(place)):
        with file.open("rb") as opened:
            whole.update(hashlib.file_digest(opened, "sha256").digest())
    return whole.hexdigest()


def check_suffix(file: Path) -> None:
    """Check that data sets are written to such files.

    Raises:
        SpecError: another suffix, or h5py is not installed.
    """
    if file.suffix not in (NPZ, *HDF5):
        raise SpecError(f"expected a file .npz, .hdf5 or .h5, given {file.suffix!r}", path=str(file))
    if file.suffix in HDF5:
        _h5py(file)


def _files(place: Path) -> list[Path]:
    """The files of a data set, in the order of their names.

    Raises:
        InputError: there are none.
    """
    kinds = ", ".join((NPZ, *HDF5))
    if place.is_dir():
        files = sorted(file for file in place.rglob("*") if file.suffix in (NPZ, *HDF5) and file.is_file())
        if not files:
            raise InputError(f"{place}: expected files {kinds} in the folder, given none")
        return files
    if not place.exists():
        raise InputError(f"{place} does not exist: expected a file {kinds}, or a folder with such files")
    if not place.is_file() or place.suffix not in (NPZ, *HDF5):
        raise InputError(f"{place}: expected a file {kinds}, or a folder with such files, given another file")
    return [place]


@contextmanager
def _opened(file: Path) -> Iterator[_Opened]:
    """An open file, whose episodes are in the order of their numbers.

    Raises:
        InputError: it cannot be read.
    """
    try:
        if file.suffix == NPZ:
            # NumPy would not close a damaged file that it opened.
            with file.open("rb") as opened, np.load(opened, allow_pickle=False) as archive:
                yield _Opened(_episodes(archive), archive.get, partial(_npz_outline, archive))
        else:
            with _h5py(file).File(file, "r") as opened:
                yield _Opened(_episodes(opened), partial(_h5_array, opened), partial(_h5_node, opened))
    except InputError:
        raise
    except Exception as error:  # NumPy, zipfile and HDF5 meet damaged files with errors of any kind
        reason = "it has pickled objects, which could run code" if "pickle" in str(error) else error
        raise InputError(f"{file}: the file cannot be read: {reason}") from error


def _episodes(names: Any) -> list[str]:
    found = {match.group() for match in map(_EPISODE.match, names) if match}
    return sorted(found, key=lambda name: int(name.partition("_")[2]))


def _npz_outline(archive: Any, path: str) -> np.ndarray | None:
    """As `_Opened.outline`, of a member of an ``.npz`` file."""
    if path not in archive:
        return None
    with archive.zip.open(f"{path}.npy") as member:
        is_first = np.lib.format.read_magic(member) == (1, 0)
        read = np.lib.format.read_array_header_1_0 if is_first else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(member)
    return np.broadcast_to(np.empty((), dtype), shape)


def _h5_array(opened: Any, path: str) -> np.ndarray | None:
    node = _h5_node(opened, path)
    return None if node is None else np.asarray(node[()])


def _h5_node(opened: Any, path: str) -> Any:
    """A data set of an HDF5 file; links, and data in other files, are not followed."""
    h5py = _h5py(Path())
    node = opened
    for key in path.split("/"):
        is_group = isinstance(node, h5py.Group)
        if not is_group or not isinstance(node.get(key, getlink=True), h5py.HardLink):
            return None
        node = node[key]
    if not isinstance(node, h5py.Dataset) or node.is_virtual or node.external:
        return None
    # An array that was declared and never written takes no room in the file, whatever its size in memory.
    stored = node.id.get_storage_size()
    if node.nbytes > STORED_LEAST + COMPRESSION * stored:
        raise InputError(
            f"{opened.filename}: {path}: expected an array that is stored, given {node.shape} {node.dtype}, "
            f"{node.nbytes:,} bytes, of which the file has {stored:,}"
        )
    return node


def _h5py(file: Path) -> Any:
    return import_extra("h5py", "HDF5", str(file), "; .npz files need nothing")
