#!/usr/bin/env python3
"""Damages and forges data sets in many ways, and reads them into the memory of an agent.

Data sets of both kinds of files are made once. Each attack changes a copy: bytes, names, dtypes, shapes, numbers, what
the file is. It may be taken or refused with one message. Counted as faults are a traceback, a hang, a pickle that was
loaded (which would leave a file), and another file that changed.

    python3 tools/faults/attack_data_sets.py --attacks 300 --seed 0
"""

from __future__ import annotations

import argparse
import os
import pickle
import random
import resource
import shutil
import sys
import tempfile
import time
import traceback
import zipfile
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from harness import TimeLimit, parser_of, time_limit, verdict

#: Steps of the right data sets, in two episodes.
STEPS = 14
#: Bytes of this process at most.
MEMORY = 4 << 30
#: What may stand in the place of an array.
ARRAYS: tuple[Any, ...] = (
    np.zeros(0), np.zeros((0, 3), np.float32), np.array(1.0), np.array("text"), np.zeros(7, "M8[s]"),
    np.zeros(7, [("a", "i4"), ("b", "f8")]), np.full(7, np.nan), np.full((8, 2), np.inf), np.full(7, -1),
    np.full(7, 2**63, np.uint64), np.zeros((7, 2, 2)), np.ones(7, bool), np.ones((8, 2), complex), np.zeros(7, "S9"),
    np.full(7, 1e300), np.zeros((1,) * 60),
)  # fmt: skip
NAMES = (
    "episode_0",
    "episode_x",
    "episode_1/actions",
    "../outside",
    "/outside",
    "",
    "a" * 5000,
    "episode_" + "9" * 5000,
)


class Canary:
    """A file appears when it is unpickled."""

    def __reduce__(self) -> Any:
        return Path.touch, (Path(os.environ["CANARY"]),)


def main() -> int:
    parser = parser_of(__doc__, seed=0)
    parser.add_argument("--attacks", type=int, default=300)
    parser.add_argument("--only", type=int, help="one attack, with its traceback")
    parser.add_argument("--seconds", type=float, default=5.0, help="after which reading counts as a hang")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="attack_data_sets.") as name:
        os.environ["CANARY"] = str(Path(name, "canary"))
        return attack(Path(name), options)


def attack(place: Path, options: argparse.Namespace) -> int:
    """All attacks; 1 if anything happened that must not."""
    arrays, take = prepared(place)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    (place / "outside").write_text("outside")
    counts, slowest, problems = Counter[str](), 0.0, list[str]()
    for number in range(options.attacks) if options.only is None else [options.only]:
        draw = random.Random(f"{options.seed}/{number}")
        file = place / f"attacked{draw.choice(('.npz', '.h5'))}"
        name = draw.choice(list(ATTACKS))
        what = f"{number:4} {file.suffix} {name}: {ATTACKS[name](file, arrays, draw)}"
        begin = time.monotonic()
        outcome = outcome_of(partial(take, file), options)
        slowest = max(slowest, time.monotonic() - begin)
        counts[outcome.partition(":")[0]] += 1
        if outcome.startswith(("TRACEBACK", "HANG")):
            problems.append(f"{what}\n     {outcome}")
        if (place / "canary").exists() or (place / "outside").read_text() != "outside":
            problems.append(f"{what}\n     EXECUTED, or written outside of the file")
            (place / "canary").unlink(missing_ok=True)
        shutil.rmtree(file) if file.is_dir() and not file.is_symlink() else file.unlink(missing_ok=True)
    told = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return verdict(problems, f"{told}; slowest {slowest:.1f} s, peak memory {peak:.0f} MiB")


def prepared(place: Path) -> tuple[dict[str, np.ndarray], Callable[[Path], str]]:
    """The arrays of a right data set, which is written as both kinds of files, and what takes in a file."""
    from rlgraph.agents import Agent
    from rlgraph.experience.data_sets import RecordedEpisode, write_data_set
    from rlgraph.spaces import Dict, FloatBox, IntBox

    states, actions = Dict(place=FloatBox(-5, 5, shape=(2,)), kind=IntBox(3)), IntBox(2)
    rng, ended, episodes = np.random.default_rng(0), np.zeros(STEPS // 2, bool), []
    ended[-1] = True
    for _ in range(2):
        seen = {
            "place": rng.uniform(-1, 1, (STEPS // 2 + 1, 2)).astype(np.float32),
            "kind": rng.integers(0, 3, STEPS // 2 + 1),
        }
        taken = rng.integers(0, 2, STEPS // 2)
        episodes.append(RecordedEpisode(seen, taken, np.ones(STEPS // 2, np.float32), ended, ~ended & False))
    for suffix in (".npz", ".h5"):
        write_data_set(place / f"right{suffix}", episodes, states, actions)
    with np.load(place / "right.npz") as archive:
        arrays = dict(archive)
    spec = {"type": "dqn", "memory_spec": {"capacity": 100}}
    agent = Agent.from_spec(spec, state_space=states, action_space=actions, backend="numpy")

    def take(file: Path) -> str:
        agent.import_observations(file)
        return "taken"

    return arrays, take


def outcome_of(take: Callable[[], str], options: argparse.Namespace) -> str:
    from rlgraph.core import RLGraphError

    try:
        with time_limit(options.seconds):
            return take()
    except TimeLimit:
        return "HANG"
    except RLGraphError as error:
        if options.only is not None:
            print(error)
        return "refused" if len(str(error)) < 20_000 else "TRACEBACK: a message of 20,000 characters"
    except BaseException as error:
        if options.only is not None:
            traceback.print_exc()
        return f"TRACEBACK: {type(error).__name__}: {str(error)[:100]}"


# Attacks: each writes a file and says what is wrong with it.

Arrays = dict[str, np.ndarray]


def write(file: Path, arrays: Arrays) -> None:
    """The arrays under their names, as they are."""
    if file.suffix == ".npz":
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, array in arrays.items():
                with archive.open(f"{name}.npy", "w") as member:
                    np.lib.format.write_array(member, np.asarray(array))
        return
    import h5py

    with h5py.File(file, "w") as opened:
        for name, array in arrays.items():
            try:
                opened[name or "."] = array
            except (TypeError, ValueError, OSError, RuntimeError):  # what HDF5 cannot hold, or has there
                opened.attrs["left out"] = 1


def flip_bits(file: Path, arrays: Arrays, draw: random.Random) -> str:
    content = bytearray((file.parent / f"right{file.suffix}").read_bytes())
    for _ in range(draw.choice((1, 3, 30, 300))):
        content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    file.write_bytes(content)
    return "bits"


def truncate(file: Path, arrays: Arrays, draw: random.Random) -> str:
    content = (file.parent / f"right{file.suffix}").read_bytes()
    size = draw.choice((0, 1, 100, draw.randrange(len(content))))
    file.write_bytes(content[:size])
    return f"at {size}"


def other_file(file: Path, arrays: Arrays, draw: random.Random) -> str:
    """Something that is not such a file."""
    kinds: dict[str, Callable[[], Any]] = {
        "directory": file.mkdir,
        "pipe": lambda: os.mkfifo(file),
        "link to a device": lambda: file.symlink_to("/dev/zero"),
        "link to itself": lambda: file.symlink_to(file.name),
        "link to nothing": lambda: file.symlink_to("nowhere"),
        "pickle": lambda: file.write_bytes(pickle.dumps(Canary())),
        "random bytes": lambda: file.write_bytes(draw.randbytes(3000)),
        "array": lambda: file.write_bytes(
            b"\x93NUMPY\x01\x00v\x00" + b"{'descr': '<f8', 'shape': (" + b"9" * 80
        ),
        "the other kind": lambda: shutil.copy(
            file.parent / f"right{'.h5' if file.suffix == '.npz' else '.npz'}", file
        ),
    }
    kind = draw.choice(list(kinds))
    kinds[kind]()
    return kind


def other_array(file: Path, arrays: Arrays, draw: random.Random) -> str:
    name, array = draw.choice(list(arrays)), draw.choice(ARRAYS)
    write(file, {**arrays, name: array})
    return f"{name} = {array.dtype}{list(array.shape)}"


def other_value(file: Path, arrays: Arrays, draw: random.Random) -> str:
    """One number that is large, negative, not finite or not whole."""
    name = draw.choice(list(arrays))
    array = arrays[name].astype(draw.choice((arrays[name].dtype, np.float64, np.int64)))
    value = draw.choice((-1, 3, 2**31, 0.5, np.nan, np.inf, -1e30))
    if array.dtype.kind == "f" or value in (-1, 3):
        array.flat[draw.randrange(array.size)] = value
    write(file, {**arrays, name: array})
    return f"{name}: {value} as {array.dtype}"


def other_length(file: Path, arrays: Arrays, draw: random.Random) -> str:
    name, length = draw.choice(list(arrays)), draw.choice((0, 1, 6, 9, 50, 3000))
    kept = dict(arrays)
    for key in draw.choice(([name], [key for key in kept if key.startswith("episode_0")])):
        kept[key] = np.resize(kept[key], (length + ("observations" in key), *kept[key].shape[1:]))
    write(file, kept)
    return f"{name}: {length}"


def other_names(file: Path, arrays: Arrays, draw: random.Random) -> str:
    kept, name = dict(arrays), draw.choice(NAMES)
    gone = draw.choice(list(kept))
    kept[name] = kept.pop(gone)
    write(file, kept)
    return f"{gone} is called {name[:30]!r}"


def pickled(file: Path, arrays: Arrays, draw: random.Random) -> str:
    name = draw.choice(list(arrays))
    array = np.full(len(arrays[name]), Canary(), object)
    if file.suffix == ".npz":
        write(file, {**arrays, name: array})
    else:
        write(file, {**arrays, name: np.frombuffer(pickle.dumps(Canary()), np.uint8)})
    return name


def bomb(file: Path, arrays: Arrays, draw: random.Random) -> str:
    """Small in the file, large in memory; or a header that says so."""
    name, rows = draw.choice(list(arrays)), draw.choice((10**6, 10**8, 10**12))
    if rows == 10**6:  # an episode that fits together
        whole = {key: value for key, value in arrays.items() if key.startswith("episode_0")}
        longer = {
            key: np.zeros((rows + ("observations" in key), *value.shape[1:]), value.dtype)
            for key, value in whole.items()
        }
        write(file, arrays | longer)
        return f"an episode of {rows:,} steps"
    shape = (rows, *arrays[name].shape[1:])
    if file.suffix == ".h5":
        import h5py

        write(file, {key: value for key, value in arrays.items() if key != name})
        with h5py.File(file, "a") as opened:
            opened.create_dataset(
                name, shape, arrays[name].dtype, chunks=(1000, *shape[1:]), compression="gzip"
            )
        return f"{name}{list(shape)}"
    write(file, {key: value for key, value in arrays.items() if key != name})
    header = {
        "descr": np.lib.format.dtype_to_descr(arrays[name].dtype),
        "fortran_order": False,
        "shape": shape,
    }
    with (
        zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as archive,
        archive.open(f"{name}.npy", "w") as member,
    ):
        np.lib.format.write_array_header_1_0(member, header)
        for _ in range(min(rows // 10**4, 1000)):
            member.write(bytes(10**4 * arrays[name].dtype.itemsize))
    return f"{name}{list(shape)}"


def linked(file: Path, arrays: Arrays, draw: random.Random) -> str:
    """Links inside of an HDF5 file, to other files and in circles; members twice in a zip."""
    name = draw.choice(list(arrays))
    write(file, {key: value for key, value in arrays.items() if key != name})
    if file.suffix == ".npz":
        with zipfile.ZipFile(file, "a") as archive:
            info = zipfile.ZipInfo(f"{name}.npy")
            info.external_attr = 0o120777 << 16
            archive.writestr(info, "/etc/passwd")
        return f"{name} in a zip"
    import h5py

    with h5py.File(file, "a") as opened:
        opened[name] = draw.choice(
            (
                h5py.SoftLink("/episode_0"),
                h5py.SoftLink(f"/{name}"),
                h5py.ExternalLink(str(file.parent / "outside"), "/"),
                h5py.ExternalLink(str(file.parent / "right.h5"), f"/{name}"),
                h5py.ExternalLink("/dev/zero", "/"),
            )
        )
    return f"{name} in HDF5"


def long_header(file: Path, arrays: Arrays, draw: random.Random) -> str:
    """A header of many bytes, or of many brackets."""
    name, text = (
        draw.choice(list(arrays)),
        draw.choice((b"(" * 60_000, b" " * 60_000, b"{'descr': [" + b"[" * 900)),
    )
    write(file, {key: value for key, value in arrays.items() if key != name})
    if file.suffix == ".npz":
        with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(f"{name}.npy", b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text)
    return f"{name}: {len(text)} bytes"


ATTACKS: dict[str, Callable[[Path, Arrays, random.Random], str]] = {
    function.__name__: function
    for function in (
        *(flip_bits, truncate, other_file, other_array, other_value, other_length, other_names),
        *(pickled, bomb, linked, long_header),
    )
}


if __name__ == "__main__":
    sys.exit(main())
