"""Our reading and writing of safetensors, held against the reference library."""

import tracemalloc

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from rlgraph.core import CheckpointError
from rlgraph.core.checkpoint.tensor_file import TAGS, TensorFile, write_tensors


def arrays():
    rng = np.random.default_rng(0)
    found = {name: (rng.random((2, 3)) * 2).astype(name) for name in TAGS}
    return {
        **found,
        "scalar": np.array(2.5),
        "empty": np.zeros((0, 4), np.float32),
        "transposed": np.arange(6.0).reshape(2, 3).T,
        "strided": np.arange(10)[::-3],
        "big endian": np.arange(3, dtype=">i4"),
        "not finite": np.array([np.nan, np.inf, -np.inf, -0.0], np.float32),
        'a "name" with \\ and α': np.ones(1),
    }


def assert_same(first, second):
    assert first.keys() == second.keys()
    for name, value in first.items():
        native = value.dtype.newbyteorder("=")
        assert (value.shape, native) == (second[name].shape, second[name].dtype), name
        assert value.astype(native).tobytes() == second[name].tobytes(), name


def test_the_reference_library_reads_what_we_write(tmp_path):
    write_tensors(tmp_path / "a.safetensors", arrays())
    assert_same(arrays(), load_file(tmp_path / "a.safetensors"))


def test_we_read_what_the_reference_library_writes(tmp_path):
    save_file(
        {n: np.array(v, v.dtype.newbyteorder("="), order="C") for n, v in arrays().items()}, tmp_path / "a"
    )
    file = TensorFile(tmp_path / "a")
    assert_same(arrays(), {name: file.read(name) for name in file.entries})
    file.close()


def test_a_slash_behind_a_name(tmp_path):
    """Core 0.1 wrote one behind some names."""
    write_tensors(tmp_path / "file", {"layer/mean/": np.ones(3)})
    file = TensorFile(tmp_path / "file")
    assert list(file.entries) == ["layer/mean"]
    file.close()


def test_values_are_aligned(tmp_path):
    write_tensors(tmp_path / "a", arrays())
    file = TensorFile(tmp_path / "a")
    length = int.from_bytes((tmp_path / "a").read_bytes()[:8], "little")
    assert all((8 + length + entry.start) % entry.dtype.itemsize == 0 for entry in file.entries.values())
    file.close()


def test_an_empty_file(tmp_path):
    write_tensors(tmp_path / "a", {})
    assert load_file(tmp_path / "a") == {}
    file = TensorFile(tmp_path / "a")
    assert file.entries == {}
    file.close()


def test_other_dtypes_are_refused(tmp_path):
    with pytest.raises(
        CheckpointError, match="variable 'a' has dtype object, which checkpoints do not support"
    ):
        write_tensors(tmp_path / "a", {"a": np.array([None])})


def test_other_widths_are_converted_while_reading(tmp_path):
    write_tensors(tmp_path / "a", {"a": np.array([0.1, np.inf]), "large": np.array([0.1, -1e300])})
    file, target = TensorFile(tmp_path / "a"), np.zeros(2, np.float32)
    file.read_into("a", target)
    assert target.tolist() == [float(np.float32(0.1)), np.inf]
    with pytest.raises(CheckpointError, match="'large' has values that are not finite as float32"):
        file.read_into("large", target)
    file.close()


def test_a_bool_is_a_bool_whatever_its_byte(tmp_path):
    write_tensors(tmp_path / "a", {"a": np.array([0, 1, 2, 255], np.uint8)})
    (tmp_path / "a").write_bytes((tmp_path / "a").read_bytes().replace(b'"U8"', b'"BOOL"'.ljust(4)))
    content = (tmp_path / "a").read_bytes()
    text = content[8:].replace(b"  ", b"", 1)
    (tmp_path / "a").write_bytes((len(text) - 4).to_bytes(8, "little") + text)
    file = TensorFile(tmp_path / "a")
    value = file.read("a")
    assert value.view(np.uint8).tolist() == [0, 1, 1, 1]
    file.close()


def test_large_arrays_are_not_copied(tmp_path):
    """Eight megabytes are written and read back in place with pieces of them in memory only."""
    array = np.arange(1 << 20, dtype=np.float64)
    tracemalloc.start()
    try:
        digest = write_tensors(tmp_path / "a", {"a": array})
        file = TensorFile(tmp_path / "a")
        written = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    file.verify(digest)
    target = np.zeros_like(array)
    file.read_into("a", target)
    np.testing.assert_array_equal(target, array)
    assert written < 1 << 20
    file.close()
