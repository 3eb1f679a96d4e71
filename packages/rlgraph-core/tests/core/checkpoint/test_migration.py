"""Checkpoints of older formats, and of newer ones."""

import hashlib
import json

import numpy as np
import pytest
from safetensors.numpy import save_file

from rlgraph.core.checkpoint import FORMAT_VERSION, read_manifest
from rlgraph.core.checkpoint.migration import MIGRATIONS, migrated


def write_format_1(directory, executor, **facts):
    """What rlgraph-core 0.1.0 wrote, with the library it used."""
    directory.mkdir()
    arrays = {"variables": executor.storage.read_all(), "host": executor.storage.host}
    files = {}
    for stem, named in arrays.items():
        file = directory / f"{stem}.safetensors"
        save_file({name: np.array(array, order="C") for name, array in named.items()}, file)
        files[file.name] = hashlib.sha256(file.read_bytes()).hexdigest()
    streams = {scope: rng.bit_generator.state for scope, rng in executor.storage.streams.items()}
    content = {"format": "rlgraph-checkpoint", "version": 1, "files": files, "dtype": "float32"}
    text = json.dumps({**content, "streams": streams, "facts": facts}, indent=2, sort_keys=True)
    (directory / "manifest.json").write_text(text)


def test_format_1_is_read(make, state, tmp_path):
    saved, other = make(past=3), make(past=5)
    write_format_1(tmp_path / "old", saved, steps=3)
    assert other.load(tmp_path / "old") == {"steps": 3}
    assert state(other) == state(saved)


def test_what_format_1_did_not_say_is_unknown(make, tmp_path):
    write_format_1(tmp_path / "old", make(past=3))
    manifest = read_manifest(tmp_path / "old")
    assert (manifest.dtype, manifest.choices) == ("float32", {})
    assert (manifest.backend, manifest.contract, manifest.rlgraph_core, manifest.seed) == (None,) * 4


def test_format_1_with_parts_of_format_2_is_refused(make, refused, tmp_path):
    make(past=3).save(tmp_path / "one")
    file = tmp_path / "one" / "manifest.json"
    file.write_text(file.read_text().replace('"version": 2', '"version": 1'))
    refused(make(past=5), tmp_path / "one", "manifest.json is damaged: it has the unknown key 'checksum'")


@pytest.mark.parametrize("key", ["files", "streams", "facts"])
def test_format_1_that_lacks_something_is_refused(make, refused, tmp_path, key):
    write_format_1(tmp_path / "old", make(past=3))
    file = tmp_path / "old" / "manifest.json"
    manifest = json.loads(file.read_text())
    del manifest[key]
    file.write_text(json.dumps(manifest))
    refused(make(past=5), tmp_path / "old", f"is damaged: '{key}' is missing, expected a dict")


@pytest.mark.parametrize(
    ("written_by", "said"),
    [
        ({"rlgraph_core": "0.7.1"}, "pip install 'rlgraph-core>=0.7.1'$"),
        ({"rlgraph_core": "evil' ; rm"}, "pip install --upgrade rlgraph-core$"),
        ({}, "pip install --upgrade rlgraph-core$"),
    ],
)
def test_newer_formats_are_refused_with_what_to_install(make, refused, tmp_path, written_by, said):
    (tmp_path / "new").mkdir()
    content = {"format": "rlgraph-checkpoint", "version": 3, "tensors": "elsewhere", **written_by}
    (tmp_path / "new" / "manifest.json").write_text(json.dumps(content))
    refused(make(), tmp_path / "new", f"format 3, this rlgraph-core reads up to {FORMAT_VERSION}: {said}")


def test_every_older_format_has_a_migration():
    assert sorted(MIGRATIONS) == list(range(1, FORMAT_VERSION))


def test_migrations_follow_each_other(monkeypatch):
    for version in (7, 8, 9):
        monkeypatch.setitem(MIGRATIONS, version, lambda m: {**m, "way": [*m["way"], m["version"]]})
    assert migrated({"version": 7, "way": []}, 10) == {"version": 10, "way": [7, 8, 9]}
    assert migrated({"version": 9, "way": []}, 10) == {"version": 10, "way": [9]}
    assert migrated({"version": 10, "way": []}, 10) == {"version": 10, "way": []}
