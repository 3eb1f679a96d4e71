"""TensorBoard reads what is written for it."""

import struct
import time

import pytest
from tensorboard.compat.proto.event_pb2 import Event

from rlgraph.runs.event_file import EventFile

_CASTAGNOLI = 0x82F63B78


def crc32c(data):
    """The checksum of the record format, bit by bit (RFC 3720, B.4), in its masked form."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (_CASTAGNOLI if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def read(directory):
    """The events of the only file below `directory`, by the definition of the format."""
    (file,) = directory.iterdir()
    content, events = file.read_bytes(), []
    while content:
        length, crc = content[:8], content[8:12]
        assert struct.unpack("<I", crc) == (crc32c(length),)
        (size,) = struct.unpack("<Q", length)
        data, crc = content[12 : 12 + size], content[12 + size : 16 + size]
        assert struct.unpack("<I", crc) == (crc32c(data),)
        events.append(Event.FromString(data))
        content = content[16 + size :]
    return events


def test_records(tmp_path):
    begin = time.time()
    events = EventFile(tmp_path / "runs" / "tensorboard")
    events.add_scalars(10, {"loss": 0.5, "mean_return": -3.0})
    events.add_scalars(20, {"loss": 0.25})
    first = read(tmp_path / "runs" / "tensorboard")  # written at once, not at the end
    events.close()
    assert read(tmp_path / "runs" / "tensorboard") == first
    head, *rest = first
    assert head.file_version == "brain.Event:2"
    assert [(event.step, {v.tag: v.simple_value for v in event.summary.value}) for event in rest] == [
        (10, {"loss": 0.5, "mean_return": -3.0}),
        (20, {"loss": 0.25}),
    ]
    assert all(begin - 1 <= event.wall_time <= time.time() for event in first)


def test_the_component_graph(tmp_path):
    events = EventFile(tmp_path)
    events.add_graph(b"definition")
    events.close()
    assert [event.graph_def for event in read(tmp_path)] == [b"", b"definition"]


def test_the_name_is_one_that_tensorboard_looks_for(tmp_path):
    EventFile(tmp_path).close()
    (file,) = tmp_path.iterdir()
    assert "tfevents" in file.name


def test_a_clock_that_is_set_back_keeps_the_order(tmp_path, monkeypatch):
    names = []
    for now in (2000.0, 1000.0, 3000.0, 500.0):
        monkeypatch.setattr(time, "time", lambda now=now: now)
        EventFile(tmp_path, first_step=len(names)).close()
        (added,) = {path.name for path in tmp_path.iterdir()} - set(names)
        names.append(added)
    assert names == sorted(names)


def test_tensorboard_itself_reads_it(tmp_path, python):
    events = EventFile(tmp_path)
    events.add_scalars(7, {"loss": 0.5})
    events.close()
    (file,) = tmp_path.iterdir()
    # In a process of its own: TensorBoard imports TensorFlow where there is one.
    program = (
        "import sys\n"
        "sys.modules['tensorflow'] = None\n"
        "from tensorboard.backend.event_processing.event_file_loader import EventFileLoader\n"
        "for event in EventFileLoader(sys.argv[1]).Load():\n"
        "    print(event.step, [(v.tag, v.tensor.float_val[0]) for v in event.summary.value])\n"
    )
    assert python("-c", program, str(file)).splitlines()[-1] == "7 [('loss', 0.5)]"


@pytest.mark.slow
def test_writing_imports_no_framework(tmp_path, python):
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from rlgraph.runs.run_folder import RunFolder\n"
        "from rlgraph.runs.event_file import EventFile\n"
        "events = EventFile(Path(sys.argv[1]))\n"
        "events.add_scalars(1, {'loss': 1.0})\n"
        "events.close()\n"
        "print([name for name in ('tensorflow', 'keras', 'torch', 'jax') if name in sys.modules])\n"
    )
    assert python("-c", program, str(tmp_path)).strip() == "[]"


@pytest.mark.parametrize(("data", "expected"), [(bytes(32), 0x8A9136AA), (b"123456789", 0xE3069283)])
def test_the_checksum_of_this_test(data, expected):
    """The examples of RFC 3720, unmasked."""
    masked = crc32c(data)
    rotated = (masked - 0xA282EAD8) & 0xFFFFFFFF
    assert (rotated >> 17 | rotated << 15) & 0xFFFFFFFF == expected
