"""Where a run comes from."""

import subprocess

import pytest

from rlgraph.runs.provenance import git_state, installed_versions


@pytest.fixture
def repository(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def git(*arguments):
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], check=True, capture_output=True
        )

    git("init")
    (tmp_path / "file").write_text("one")
    git("add", "file")
    git("commit", "-m", "one")
    return git


def test_changes_since_the_revision(repository, tmp_path):
    before = git_state()
    assert len(before["revision"]) == 40 and before["dirty"] is False
    (tmp_path / "new").write_text("not part of the repository")
    assert git_state() == before
    (tmp_path / "file").write_text("changed")
    assert git_state() == {**before, "dirty": True}


def test_a_repository_runs_no_commands(repository, tmp_path):
    """A folder from somebody else may be a repository, whose configuration names commands."""
    repository("config", "core.fsmonitor", f"touch {tmp_path / 'executed'}; false")
    repository("config", "filter.any.clean", f"touch {tmp_path / 'executed'}; cat")
    (tmp_path / ".gitattributes").write_text("* filter=any\n")
    (tmp_path / "file").write_text("changed")
    assert git_state()["dirty"] is True
    assert not (tmp_path / "executed").exists()


def test_what_is_left_of_a_broken_installation_is_no_version(tmp_path, monkeypatch):
    versions = installed_versions()
    (tmp_path / "broken-1.0.dist-info").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    assert installed_versions() == versions
    assert versions["rlgraph-agents"] and versions["rlgraph-core"]
