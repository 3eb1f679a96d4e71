"""A run evaluates, resumes and exports its own weights: checkpoints of another run of the same shape are refused."""

import json
import os
import shutil
from threading import Thread

import pytest

from rlgraph.agents import ActorHandle, Agent
from rlgraph.core.checkpoint.manifest import MANIFEST, read_manifest, write_manifest
from rlgraph.runs import RunFolderError, fork, resume, run_differences, train
from rlgraph.runs.checkpoints import BEST, FAILED, LAST, RunCheckpoints
from rlgraph.runs.loading import load_agent
from rlgraph.runs.run_folder import RunFolder

pytestmark = pytest.mark.usefixtures("undrawn")
STEP = "step-000000060"
#: Each loads the policy that a run ended with.
READERS = {
    "Agent.load": Agent.load,
    "evaluate": load_agent,
    "ActorHandle": ActorHandle.load,
    "load_weights": lambda folder: Agent.load(folder / "checkpoints" / LAST).load_weights(folder),
}


def contents(folder):
    return {str(file): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


@pytest.fixture(scope="module")
def runs(acting_run, tmp_path_factory):
    """Two runs that differ in nothing but their seed."""
    folder = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RunFolder, "draw_graph", lambda self: None)
        patch.setattr("rlgraph.runs.curve.draw_curve", lambda *arguments: None)
        for seed in (2, 3):
            train(acting_run(seed=seed), folder / f"seed-{seed}")
    return folder


@pytest.fixture
def mixed(runs, tmp_path):
    """Copies a checkpoint of one run into a copy of the other."""

    def mix(name, into=None):
        folder = shutil.copytree(runs / "seed-2", tmp_path / "mixed", dirs_exist_ok=True)
        place = folder / "checkpoints" / (into or name)
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(runs / "seed-3" / "checkpoints" / name, place)
        return folder

    return mix


def refused(name):
    return pytest.raises(
        RunFolderError,
        match=rf"mixed/checkpoints/{name} is not a checkpoint of this run: it belongs to another config\.json\. "
        r"Expected the digest [0-9a-f]{12} of .*mixed/config\.json, given [0-9a-f]{12}\. Move the checkpoint away",
    )


@pytest.mark.parametrize("reader", READERS)
def test_the_best_policy_of_another_run_is_not_evaluated(mixed, reader):
    folder = mixed(BEST)
    with refused(BEST):
        READERS[reader](folder)


@pytest.mark.parametrize(("name", "into"), [(BEST, None), (LAST, None), (STEP, None), (LAST, FAILED)])
def test_no_checkpoint_of_another_run_is_evaluated_by_its_name(mixed, name, into):
    folder = mixed(name, into)
    with refused(into or name):
        load_agent(folder, checkpoint=into or name)
    # Alone it belongs to no run.
    assert Agent.load(folder / "checkpoints" / (into or name)).seed == 3


@pytest.mark.parametrize("continued", [resume, lambda folder: fork(folder, folder.parent / "fork", steps=80)])
def test_a_full_checkpoint_of_another_run_is_not_continued(mixed, continued):
    folder = mixed(STEP)
    shutil.rmtree(folder / "checkpoints" / LAST)
    before = contents(folder)
    with refused(STEP):
        continued(folder)
    assert contents(folder) == before


@pytest.mark.parametrize("keep", [True, False])
def test_the_best_policy_of_another_run_is_not_resumed(mixed, keep):
    """Nor is it overwritten, where the run would begin again."""
    folder = mixed(BEST)
    if not keep:
        for path in [*(folder / "checkpoints").glob("step-*"), folder / "checkpoints" / LAST]:
            shutil.rmtree(path)
    before = contents(folder)
    with refused(BEST):
        resume(folder, steps=80)
    assert contents(folder) == before


@pytest.mark.parametrize("reader", READERS)
def test_a_copy_or_a_renamed_folder_is_the_same_run(runs, tmp_path, reader):
    folder = shutil.copytree(runs / "seed-2", tmp_path / "copy").rename(tmp_path / "renamed")
    READERS[reader](folder)
    assert run_differences(runs / "seed-2", folder) == []
    assert resume(folder, steps=62).training.timesteps == 62
    READERS[reader](folder)  # the best policy may be one of before


def test_a_fork_has_checkpoints_of_its_own(runs, tmp_path):
    fork(runs / "seed-2", tmp_path / "mixed", steps=120)
    assert Agent.load(tmp_path / "mixed").timesteps > 60
    shutil.copytree(
        runs / "seed-2" / "checkpoints" / BEST, tmp_path / "mixed" / "checkpoints" / BEST, dirs_exist_ok=True
    )
    with refused(BEST):
        Agent.load(tmp_path / "mixed")


def test_the_same_document_trained_again_is_another_run(acting_run, runs, tmp_path):
    train(acting_run(), tmp_path / "mixed")
    earlier = train(acting_run(), tmp_path / "mixed").earlier_run
    assert run_differences(earlier, tmp_path / "mixed") == []  # but for the digests
    for folder in (earlier, tmp_path / "mixed"):
        load_agent(folder, checkpoint=BEST)
    shutil.rmtree(tmp_path / "mixed" / "checkpoints" / BEST)
    shutil.copytree(earlier / "checkpoints" / BEST, tmp_path / "mixed" / "checkpoints" / BEST)
    with refused(BEST):
        load_agent(tmp_path / "mixed")


def test_the_best_policy_of_an_older_version_has_no_digest(mixed):
    folder = mixed(BEST)
    place = folder / "checkpoints" / BEST
    manifest = read_manifest(place)
    del manifest.facts["config"]
    write_manifest(place, manifest)
    assert load_agent(folder)[2].name == BEST
    assert resume(folder, steps=80).training.timesteps == 80


def test_what_interrupted_saves_left_goes_with_the_next_save(runs, tmp_path):
    folder = shutil.copytree(runs / "seed-2", tmp_path / "run")
    checkpoints = folder / "checkpoints"
    kept = checkpoints / ".failed.77.old"
    for name in (".step-000000010.0f.new", ".step-000000060.1a.old", ".best.2b.old", ".last.3c.new"):
        shutil.copytree(checkpoints / LAST, checkpoints / name)
    shutil.copytree(checkpoints / LAST, kept)
    resume(folder, steps=read_steps(folder) + 20)
    assert [path for path in checkpoints.iterdir() if path.name.startswith(".")] == [kept]


def test_no_half_of_a_checkpoint_stays_when_its_removal_is_cut_off(tmp_path, monkeypatch):
    for name in ("step-000000001", "step-000000003"):
        (tmp_path / name).mkdir()
        (tmp_path / name / MANIFEST).touch()
    checkpoints = RunCheckpoints(tmp_path, 1, True)

    def cut_off(folder, **_):
        (folder / MANIFEST).unlink()
        raise KeyboardInterrupt

    monkeypatch.setattr(shutil, "rmtree", cut_off)
    with pytest.raises(KeyboardInterrupt):
        checkpoints.remove_oldest(9)
    names = [path.name for path in tmp_path.iterdir() if not path.name.startswith(".")]
    assert names == ["step-000000003"]  # else each resume warns of a damaged one
    monkeypatch.undo()
    checkpoints.remove_interrupted()
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
def test_pipes_in_place_of_checkpoints_do_not_block(tmp_path):
    for name in ("step-000000001", ".step-000000002.new-1"):
        os.mkfifo(tmp_path / name)
    (tmp_path / "step-000000003").mkdir()
    thread = Thread(target=RunCheckpoints(tmp_path, 0, True).remove_oldest, args=(9,), daemon=True)
    thread.start()
    thread.join(20)
    assert not thread.is_alive()
    assert not (tmp_path / "step-000000003").exists()


def read_steps(folder):
    return json.loads((folder / "config.json").read_text())["run"]["steps"]
