"""Files that mean harm: each is refused with what is wrong, before anything is allocated, executed or changed."""

import hashlib
import io
import json
import os
import pickle
import time
import tracemalloc
import zipfile

import numpy as np
import pytest

from rlgraph.core import CheckpointError

SEEN = []


class Harm:
    def __reduce__(self):
        return SEEN.append, ("executed",)


@pytest.fixture
def stored(make, tmp_path):
    return make(past=3).save(tmp_path / "model")


@pytest.fixture
def target(make):
    return make(past=5)


def tensors(header, values=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + values


def entry(start, stop, shape=(1,), dtype="F32"):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [start, stop]}


# In place of a file of values.


def zip_bomb():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("variables.safetensors", bytes(1 << 24))
    return file.getvalue()


def saved_arrays():
    file = io.BytesIO()
    np.save(file, np.array([Harm()], object), allow_pickle=True)
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is damaged: it is shorter than the length of a header"),
        (b"\x02\x00\x00", "is damaged: it is shorter than the length of a header"),
        (pickle.dumps(Harm()), "is damaged: a header of [0-9,]+ bytes in a file of"),
        (saved_arrays(), "is damaged: a header of [0-9,]+ bytes in a file of"),
        (zip_bomb(), "is damaged: a header of [0-9,]+ bytes in a file of"),
        ((1 << 40).to_bytes(8, "little") + b"{}", "a header of 1,099,511,627,776 bytes in a file of 10"),
        (b"\xff" * 8 + b"{}", "a header of 18,446,744,073,709,551,615 bytes"),
        (tensors(b""), "the header of .* cannot be read: Expecting value"),
        (tensors(b"\xff\xfe"), "the header of .* cannot be read: 'utf-8' codec"),
        (tensors(b"[" * 100_000), "the header of .* cannot be read: maximum recursion depth"),
        (tensors(b'{"a":' * 100_000), "the header of .* cannot be read: maximum recursion depth"),
        (tensors(b'{"a": NaN}'), "NaN is not a JSON number"),
        (tensors(b'{"a": ' + b"9" * 5000 + b"}"), "the header of .* cannot be read: Exceeds the limit"),
        (tensors([]), "its header is not a mapping"),
        (tensors(b'{"a": 1, "b": 2, "a": 3}'), "duplicate key 'a'"),
        (tensors({"a": None}), "'a' is None"),
        (tensors({"a": {}}), "'a' is {}"),
        (tensors({"a": {**entry(0, 4), "more": 1}}, bytes(4)), "'a' is {.*"),
        (tensors({"a": entry(0, 4, dtype="Q7")}, bytes(4)), "'a' is {.*'Q7'"),
        (tensors({"a": entry(0, 4, dtype=["F32"])}, bytes(4)), "'a' is {"),
        (tensors({"a": entry(0, 4, shape=[-1])}, bytes(4)), "'a' is {"),
        (tensors({"a": entry(0, 4, shape=[True])}, bytes(4)), "'a' is {"),
        (tensors({"a": entry(0, 4, shape=[1.0])}, bytes(4)), "'a' is {"),
        (tensors({"a": entry(0, 4, shape=["1"])}, bytes(4)), "'a' is {"),
        (tensors({"a": entry(0.0, 4)}, bytes(4)), "'a' is {"),
        (tensors({"a": entry(-4, 0)}, bytes(4)), "'a' is {"),
        (tensors({"a": entry(0, 8)}, bytes(8)), "'a' is {"),  # one float32 takes four
        (tensors({"a": entry(4, 0)}, bytes(4)), "'a' is {"),
        (tensors({"a": entry(0, 4, dtype="F64")}, bytes(4)), "'a' is {"),
        (tensors({"a": entry(0, 4)}, bytes(3)), "expects 4 bytes of values, it has 3"),
        (tensors({"a": entry(0, 4)}, bytes(5)), "expects 4 bytes of values, it has 5"),
        (tensors({"a": entry(4, 8)}, bytes(8)), "'a' begins at 4, expected 0"),
        (tensors({"a": entry(0, 4), "b": entry(0, 4)}, bytes(4)), "'b' begins at 0, expected 4"),
        (tensors({"a": entry(0, 8, [2]), "b": entry(4, 8)}, bytes(8)), "'b' begins at 4, expected 8"),
        (
            tensors({"a": entry(0, 1 << 50, [1 << 48])}, bytes(8)),
            "its header expects 1,125,899,906,842,624 bytes",
        ),
        (tensors({"a": entry(0, 0, [0, 10**40])}), "'a' is {"),
        (tensors({"a": entry(0, 0, [0, 2**62, 2**62])}), "'a' is {"),
        (tensors({"a": entry(0, 4, [1] * 33)}, bytes(4)), "'a' is {"),
        (tensors({"a": entry(0, 0, [10**4000] * 3000)}), "'a' is {"),
        (tensors({"x" * 10_000: entry(0, 4)}, bytes(4)), r"not expected 'x{70,80}$"),
    ],
)
@pytest.mark.parametrize("name", ["variables", "host"])
def test_what_is_no_file_of_values(stored, target, refused, resign, name, content, said):
    (stored / f"{name}.safetensors").write_bytes(content)
    refused(target, stored, ".", scope=None)
    resign(stored)
    refused(target, stored, said)
    assert not SEEN


def test_a_huge_header_is_not_read(stored, target, refused, resign):
    """A sparse file has room for what its length claims."""
    with (stored / "variables.safetensors").open("wb") as file:
        file.write((1 << 33).to_bytes(8, "little"))
        file.truncate(1 << 34)
    said = r"the header of .* has 8,589,934,592 bytes of JSON, at most 16,777,216 are read"
    cheaply(lambda: refused(target, stored, said))


def test_a_huge_file_is_refused_before_it_is_read(stored, target, refused):
    """All of it fits: only the component graph knows that it is too large."""
    text = json.dumps({"layer/weights": entry(0, 1 << 36, [1 << 34])}).encode()
    with (stored / "variables.safetensors").open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.truncate(8 + len(text) + (1 << 36))
    cheaply(lambda: refused(target, stored, "belongs to another component graph: missing 'layer/count'"))


def test_a_huge_variable_is_refused_before_it_is_read(stored, target, refused):
    content = (stored / "variables.safetensors").read_bytes()
    length = int.from_bytes(content[:8], "little")
    header, start = json.loads(content[8 : 8 + length]), 0
    header["layer/weights"]["shape"] = [3, 1 << 32]
    for described in sorted(header.values(), key=lambda each: each["data_offsets"]):
        size = int(np.prod(described["shape"])) * {"I64": 8, "F32": 4, "BOOL": 1}[described["dtype"]]
        described["data_offsets"], start = [start, start + size], start + size
    text = json.dumps(header).encode()
    with (stored / "variables.safetensors").open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.truncate(8 + len(text) + start)
    said = r"variable 'layer/weights' has shape \(3, 4294967296\), expected \(3, 2\)"
    cheaply(lambda: refused(target, stored, said))


def cheaply(action):
    tracemalloc.start()
    started = time.perf_counter()
    try:
        action()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert time.perf_counter() - started < 2
    assert peak < 1 << 22


# Not a regular file.


@pytest.mark.parametrize("name", ["variables.safetensors", "host.safetensors", "manifest.json"])
@pytest.mark.parametrize("kind", ["directory", "pipe", "link", "dangling link", "loop", "device"])
def test_what_is_no_regular_file(stored, target, refused, tmp_path, name, kind):
    file = stored / name
    file.rename(tmp_path / "outside")
    if kind == "directory":
        file.mkdir()
    elif kind == "pipe":
        os.mkfifo(file)
    else:
        file.symlink_to(
            {"link": "../outside", "dangling link": "nowhere", "loop": name}.get(kind, "/dev/zero")
        )
    said = (
        "is not a regular file"
        if kind in ("directory", "pipe")
        else "is a symbolic link: the files of a checkpoint"
    )
    refused(target, stored, f"{name} {said}")


def test_a_socket(stored, target, refused, monkeypatch):
    import socket

    (stored / "host.safetensors").unlink()
    monkeypatch.chdir(stored)  # its name must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("host.safetensors")
        refused(target, stored, "host.safetensors cannot be read: .*No such device")


def test_what_cannot_be_read(stored, target, refused, monkeypatch):
    def denied(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", denied)
    refused(target, stored, "manifest.json cannot be read: .*Permission denied")


# The manifest.


@pytest.mark.parametrize(
    "name",
    [
        "../outside.safetensors",
        "/etc/outside.safetensors",
        "a/b.safetensors",
        "a\\b.safetensors",
        "C:b.safetensors",
        "a\0.safetensors",
        "a\n.safetensors",
        "variables.safetensors\n",
        ".safetensors",
        "..",
        "",
        "variables.pkl",
        "variables.safetensors.pkl",
        "manifest.json",
        "\ud800.safetensors",
        "ａ.safetensors",
    ],
)
def test_files_outside_of_the_checkpoint(stored, target, refused, resign, name):
    digest = hashlib.sha256((stored / "variables.safetensors").read_bytes()).hexdigest()
    resign(stored, lambda manifest: manifest["files"].update({name: digest}))
    refused(target, stored, "manifest.json names '.*', which is not a file of a checkpoint")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "cannot be read: Expecting value"),
        (b"\x80\x04\x95", "cannot be read: 'utf-8' codec"),
        (b"\xef\xbb\xbf{}", "cannot be read: Unexpected UTF-8 BOM"),
        (b"null", "is not the manifest of an RLgraph checkpoint"),
        (b"[]", "is not the manifest of an RLgraph checkpoint"),
        (b'{"format": ["rlgraph-checkpoint"]}', "is not the manifest of an RLgraph checkpoint"),
        (b"[" * 1_000_000, "cannot be read: maximum recursion depth"),
        (b'{"a":' * 1_000_000, "cannot be read: maximum recursion depth"),
        (b'{"format": "rlgraph-checkpoint", "version": NaN}', "NaN is not a JSON number"),
        (b'{"format": "rlgraph-checkpoint", "version": -Infinity}', "-Infinity is not a JSON number"),
        (b'{"format": "x", "format": "rlgraph-checkpoint"}', "duplicate key 'format'"),
        (b'{"format": "rlgraph-checkpoint"}', "its version is None"),
        (b'{"format": "rlgraph-checkpoint", "version": true}', "its version is True"),
        (b'{"format": "rlgraph-checkpoint", "version": 0}', "its version is 0"),
        (b'{"format": "rlgraph-checkpoint", "version": 2.0}', "its version is 2.0"),
        (b'{"format": "rlgraph-checkpoint", "version": "2"}', "its version is '2'"),
        (b'{"format": "rlgraph-checkpoint", "version": 2}', "its content differs from its checksum"),
        (b'{"format": "rlgraph-checkpoint", "version": 2, "seed": 1e999}', "cannot be written as JSON"),
    ],
)
def test_what_is_no_manifest(stored, target, refused, text, said):
    (stored / "manifest.json").write_bytes(text)
    refused(target, stored, f"manifest.json .*{said}")


def test_nesting_that_is_just_deep_enough_to_be_read(stored, target, refused):
    """Whatever depth Python reads, it may not be able to write or compare."""
    for depth in range(300, 1000, 25):
        nested = "[" * depth + "]" * depth
        (stored / "manifest.json").write_text(
            f'{{"format": "rlgraph-checkpoint", "version": 2, "facts": {{"a": {nested}}}}}'
        )
        refused(target, stored, "manifest.json")


def test_a_huge_manifest_is_not_read(stored, target, refused):
    os.truncate(stored / "manifest.json", 1 << 34)
    cheaply(lambda: refused(target, stored, "manifest.json has 17,179,869,184 bytes of JSON, at most"))


WRONG = [None, True, -1, 1.5, "text", [], {}, [1], {"a": 1}, "\ud800", 10**400]


@pytest.mark.parametrize(
    "key", ["facts", "streams", "choices", "files", "dtype", "backend", "contract", "rlgraph_core", "seed"]
)
def test_wrong_types(stored, target, refused, resign, key):
    fine = {
        **dict.fromkeys(("facts", "choices"), lambda value: isinstance(value, dict)),
        "streams": lambda value: value == {},
        "files": lambda value: False,
        "seed": lambda value: value is None or type(value) is int,
    }.get(key, lambda value: value is None or isinstance(value, str))
    correct = (stored / "manifest.json").read_bytes()
    for value in WRONG:
        if not fine(value):
            (stored / "manifest.json").write_bytes(correct)
            resign(stored, lambda manifest, value=value: manifest.update({key: value}))
            refused(target, stored, "model")
    (stored / "manifest.json").write_bytes(correct)
    resign(stored, lambda manifest: manifest.pop(key))
    refused(target, stored, f"manifest.json is damaged: '{key}' is missing, expected a ")


def test_parts_that_do_not_belong_there(stored, target, refused, resign):
    resign(stored, lambda manifest: manifest.update({"on_load": "import os"}))
    refused(target, stored, "manifest.json is damaged: it has the unknown key 'on_load'")


def test_the_checksum_of_the_manifest(stored, target, refused):
    file = stored / "manifest.json"
    content = json.loads(file.read_text())
    content["seed"] += 1
    file.write_text(json.dumps(content))
    refused(target, stored, "manifest.json is damaged: its content differs from its checksum")


@pytest.mark.parametrize("digest", [None, 1, "", "0" * 63, "0" * 64 + "\n", "G" * 64, ["0" * 64]])
def test_checksums_of_files(stored, target, refused, resign, digest):
    resign(stored, lambda manifest: manifest["files"].update({"host.safetensors": digest}))
    refused(target, stored, "manifest.json is damaged: the checksum of host.safetensors is")


@pytest.mark.parametrize(
    "change",
    [
        {"bit_generator": "MT19937"},
        {"bit_generator": None},
        {"state": None},
        {"state": {}},
        {"state": {"state": "1", "inc": 1}},
        {"state": {"state": -1, "inc": 1}},
        {"state": {"state": 1 << 128, "inc": 1}},
        {"state": {"state": 1.5, "inc": 1}},
        {"state": {"state": 1, "inc": 1, "more": 1}},
        {"state": [1, 1]},
        {"has_uint32": 7.5},
        {"has_uint32": "0"},
        {"uinteger": 1 << 32},
        {"uinteger": -1},
        {"more": 1},
    ],
)
def test_states_of_streams(stored, target, refused, resign, change):
    resign(stored, lambda manifest: manifest["streams"]["memory"].update(change))
    refused(target, stored, "the stream 'memory' has the state {.*, expected one of PCG64")


def test_a_state_for_a_component_that_draws_nothing(stored, target, refused, resign):
    resign(stored, lambda manifest: manifest["streams"].update({"layer": {}}))
    refused(target, stored, "the stream 'layer' has the state {}, expected one of PCG64")


def test_streams_that_nobody_draws_from_are_left_out(stored, target, resign):
    resign(stored, lambda manifest: manifest["streams"].update({"x" * 1000: {"any": "thing"}}))
    target.load(stored)
    assert not any(name.startswith("x") for name in target.storage.streams)


def test_a_file_that_is_left_out(stored, target, refused, resign):
    resign(stored, lambda manifest: manifest["files"].pop("variables.safetensors"))
    refused(target, stored, "model has no variables.safetensors")


def test_two_files_exchanged(stored, target, refused, resign):
    (stored / "host.safetensors").rename(stored / "x")
    (stored / "variables.safetensors").rename(stored / "host.safetensors")
    (stored / "x").rename(stored / "variables.safetensors")
    refused(target, stored, "belongs to another component graph")
    resign(stored)
    refused(target, stored, "belongs to another component graph")


def test_no_checkpoint(target, refused, tmp_path):
    refused(target, tmp_path / "nowhere", "nowhere is not a checkpoint: it has no manifest.json")
    (tmp_path / "file").write_text("")
    refused(target, tmp_path / "file", "file is not a checkpoint: it has no manifest.json")


def test_errors_are_of_bearable_length(stored, target, resign):
    resign(stored, lambda manifest: manifest.update({"seed": "x" * 1_000_000}))
    with pytest.raises(CheckpointError) as caught:
        target.load(stored)
    assert len(str(caught.value)) < 500
