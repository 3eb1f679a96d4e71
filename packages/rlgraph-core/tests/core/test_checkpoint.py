"""Checkpoints as files: what a failure at any moment leaves, and what is refused when reading."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from rlgraph.core import CheckpointError
from rlgraph.core.checkpoint import MANIFEST, read_checkpoint, write_checkpoint

FACTS = {"streams": {}, "facts": {"number": 1}}


def values(number: float) -> dict[str, dict[str, np.ndarray]]:
    return {"variables": {"a": np.full((2, 3), number), "b": np.array(number)}}


def test_what_is_written_is_read(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "one", values(1.5), FACTS)
    arrays, manifest = read_checkpoint(tmp_path / "one")
    assert arrays["variables"]["b"].shape == ()
    np.testing.assert_array_equal(arrays["variables"]["a"], np.full((2, 3), 1.5))
    assert manifest["facts"] == {"number": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["one"]


@pytest.mark.parametrize("moment", [1, 2])
def test_an_interruption_between_the_renames_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: int
) -> None:
    write_checkpoint(tmp_path / "one", values(1.0), FACTS)
    rename, calls = Path.rename, []

    def interrupted(self: Path, target: Path) -> Path:
        calls.append(self)
        if len(calls) == moment:
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_checkpoint(tmp_path / "one", values(2.0), FACTS)
    assert read_checkpoint(tmp_path / "one")[0]["variables"]["b"] == 1.0
    assert [path.name for path in tmp_path.iterdir()] == ["one"]


@pytest.mark.parametrize("key", ["files", "streams", "facts"])
def test_a_manifest_that_lacks_something_is_refused(tmp_path: Path, key: str) -> None:
    write_checkpoint(tmp_path / "one", values(1.0), FACTS)
    file = tmp_path / "one" / MANIFEST
    manifest = json.loads(file.read_text())
    del manifest[key]
    file.write_text(json.dumps(manifest))
    with pytest.raises(CheckpointError, match=f"is damaged: '{key}' is missing"):
        read_checkpoint(tmp_path / "one")
