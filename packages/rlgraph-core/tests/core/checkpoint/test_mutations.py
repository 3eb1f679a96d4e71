"""Damage at random: a changed checkpoint is refused, or it loads exactly what was saved. Nothing else happens."""

import json
import shutil

import numpy as np
import pytest

from rlgraph.core import CheckpointError

FACTS = {"steps": 10, "nested": {"list": [1.5, None, "text"]}}
FILES = ("manifest.json", "variables.safetensors", "host.safetensors")


def mutated(content, rng):
    """`content` with one change: bits or bytes are flipped, cut off, inserted, removed, exchanged, doubled."""
    content = bytearray(content)
    first, second = sorted(int(place) for place in rng.integers(0, len(content), 2))
    length = int(rng.integers(1, 9))
    kind = rng.integers(8)
    if kind == 0:
        content[first] ^= 1 << int(rng.integers(8))
    elif kind == 1:
        content[first] = int(rng.integers(256))
    elif kind == 2:
        del content[first:]
    elif kind == 3:
        content[first:first] = rng.bytes(length)
    elif kind == 4:
        del content[first : first + length]
    elif kind == 5:
        content[first], content[second] = content[second], content[first]
    elif kind == 6:
        content[second:second] = content[first : first + length]
    else:
        content[first : first + length] = bytes(len(content[first : first + length]))
    return bytes(content)


def attempt(executor, directory, state, before, wanted=None):
    """Load; whether that went well. Refused, nothing has changed; else the state is the `wanted` one."""
    try:
        facts = executor.load(directory)
    except CheckpointError as error:
        assert str(directory) in str(error)
        assert state(executor) == before
        return False
    if wanted is not None:
        assert (state(executor), facts) == (wanted, FACTS)
    return True


@pytest.fixture
def saved(make, tmp_path):
    executor = make(past=3)
    executor.save(tmp_path / "model", facts=FACTS)
    return executor


@pytest.mark.parametrize("name", FILES)
def test_random_damage(make, saved, state, tmp_path, name):
    rng, file = np.random.default_rng(FILES.index(name)), tmp_path / "model" / name
    original, target = file.read_bytes(), make(past=5)
    before, wanted = state(target), state(saved)
    survived = 0
    for _ in range(400):
        file.write_bytes(content := mutated(original, rng))
        if attempt(target, tmp_path / "model", state, before, wanted):
            survived += 1
            before = wanted
            # Only spaces and line ends are free, and only in the manifest.
            assert content == original or name == "manifest.json"
    assert survived < 100


@pytest.mark.parametrize("name", FILES[1:])
def test_random_damage_with_checksums_that_fit(make, saved, state, resign, tmp_path, name):
    """Then the checks of the format itself stand alone: other values may come, but nothing in halves."""
    rng, file = np.random.default_rng(FILES.index(name)), tmp_path / "model" / name
    original, target = file.read_bytes(), make(past=5)
    length = 8 + int.from_bytes(original[:8], "little")
    loaded = refused = 0
    for _ in range(200):
        before = state(target)
        file.write_bytes(mutated(original[:length], rng) + original[length:])
        resign(tmp_path / "model")
        if attempt(target, tmp_path / "model", state, before):
            loaded += 1
        else:
            refused += 1
    assert refused > 100
    assert loaded > 0


def test_random_manifests_with_checksums_that_fit(make, saved, state, resign, tmp_path):
    rng, target = np.random.default_rng(0), make(past=5)
    shutil.copytree(tmp_path / "model", tmp_path / "kept")
    values = [None, True, 0, -1, 1 << 200, 0.5, "", "text", "a/../b", [], [0], {}, {"a": 1}]
    loaded = refused = 0
    for _ in range(300):
        before = state(target)
        manifest = json.loads((tmp_path / "kept" / "manifest.json").read_text())
        *way, last = _random_way(manifest, rng)
        part = manifest
        for key in way:
            part = part[key]
        if rng.integers(4):
            part[last] = values[rng.integers(len(values))]
        else:
            del part[last]
        (tmp_path / "model" / "manifest.json").write_text(json.dumps(manifest))
        if isinstance(manifest.get("files"), dict):
            resign(tmp_path / "model", lambda found, manifest=manifest: found.update(files=manifest["files"]))
        if attempt(target, tmp_path / "model", state, before):
            loaded += 1
        else:
            refused += 1
    assert min(loaded, refused) > 20


def _random_way(part, rng):
    """Keys that lead to some part of a manifest."""
    way = []
    while isinstance(part, dict | list) and part and (not way or rng.integers(4)):
        keys = list(part) if isinstance(part, dict) else range(len(part))
        way.append(keys[rng.integers(len(keys))])
        part = part[way[-1]]
    return way
