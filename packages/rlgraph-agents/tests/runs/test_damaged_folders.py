"""Run folders that were damaged or tampered with: one message that names the place, or the result of a whole one."""

import inspect
import json
import os
import shutil
import sys

import pytest
from doubles import killed_run, raising, told

from rlgraph.core import CheckpointError
from rlgraph.core.checkpoint.manifest import read_manifest, write_manifest
from rlgraph.runs import RunFolderError, resume, run_differences, train
from rlgraph.runs.checkpoints import RunCheckpoints
from rlgraph.runs.config_file import config_digest, read_config
from rlgraph.runs.loading import load_agent
from rlgraph.runs.recorded_run import find_runs, read_run
from rlgraph.runs.records import NAMES
from rlgraph.runs.result_file import read_result

pytestmark = pytest.mark.usefixtures("undrawn")


@pytest.fixture(scope="module")
def whole(acting_run, tmp_path_factory):
    """A finished run, and the same one that died after its second checkpoint."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rlgraph.runs.run_folder.RunFolder.draw_graph", lambda self: None)
        patch.setattr("rlgraph.runs.curve.draw_curve", lambda *arguments: None)
        train(acting_run(), folder / "finished")
        killed_run(acting_run(), folder / "killed", 50)
    return folder


@pytest.fixture
def finished(whole, tmp_path):
    return shutil.copytree(whole / "finished", tmp_path / "finished")


@pytest.fixture
def killed(whole, tmp_path):
    return shutil.copytree(whole / "killed", tmp_path / "killed")


def newest(folder):
    return max((folder / "checkpoints").glob("step-*"))


def edit_state(folder, edit):
    """Change the state of the run in its newest checkpoint; all checksums are right."""
    path = newest(folder)
    manifest = read_manifest(path)
    edit(manifest.facts["run"])
    write_manifest(path, manifest)


def edit_json(file, edit):
    content = json.loads(file.read_text())
    edit(content)
    file.write_text(json.dumps(content))


def test_the_whole_one_is_resumed_to_an_equal_run(whole, killed):
    assert resume(killed).departures == ()
    assert run_differences(whole / "finished", killed) == []


# Records.


def test_a_changed_record_is_no_run_to_resume(killed):
    file = killed / "episodes.csv"
    content = file.read_bytes()
    records = {name: (killed / name).stat().st_size for name in NAMES}
    file.write_bytes(content.replace(b",7", b",8", 1))
    with pytest.raises(RunFolderError, match=r"episodes\.csv was changed since the run wrote it.*Restore it"):
        resume(killed)
    assert {name: (killed / name).stat().st_size for name in NAMES} == records  # nothing was cut
    file.write_bytes(content)
    assert resume(killed).departures == ()


def test_records_after_the_checkpoint_are_cut(whole, killed):
    with (killed / "metrics.jsonl").open("a") as file:
        file.write("{]")
    resume(killed)
    assert run_differences(whole / "finished", killed) == []


def test_a_changed_figure_is_not_compared(finished):
    file = finished / "metrics.csv"
    file.write_text(file.read_text().replace(".0", ".5", 1))
    with pytest.raises(RunFolderError, match=r"metrics\.csv was changed since the run wrote it"):
        read_run(finished)


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda rows: rows.insert(2, "5.0"), "line 3: expected a number|line 3: expected [0-9]+ columns"),
        (lambda rows: rows.insert(2, "inf"), "line 3: expected [0-9]+ columns"),
        (lambda rows: rows.append(rows[1]), "timesteps: expected a number >= 50, the one before, given 10"),
        (
            lambda rows: rows.__setitem__(slice(None), ["steps,loss", "1,2"]),
            "line 2: expected a column timesteps",
        ),
    ],
)
def test_a_damaged_table_of_an_unfinished_run(killed, edit, said):
    rows = (killed / "metrics.csv").read_text().splitlines()
    edit(rows)
    (killed / "metrics.csv").write_text("\n".join(rows) + "\n")
    with pytest.raises(RunFolderError, match=rf"metrics\.csv cannot be read: .*({said})"):
        read_run(killed)


# The configuration.


def test_a_configuration_that_was_edited(killed):
    edit_json(killed / "config.json", lambda config: config["run"].update(seed=3))
    for read in (resume, load_agent, read_run):
        with pytest.raises(
            RunFolderError, match=r"config\.json was changed since the run wrote it.*Restore it"
        ):
            read(killed)


def test_the_configuration_of_another_run(whole, killed):
    shutil.copy(whole / "finished" / "config.json", killed)
    with pytest.raises(
        RunFolderError, match=r"is not a checkpoint of this run: it belongs to another config\.json"
    ):
        resume(killed)


def test_what_the_digest_of_a_configuration_covers(killed):
    config = read_config(killed)
    same = {
        **config,
        "run": {**config["run"], "steps": 1},
        "history": [],
        "chosen": {**config["chosen"], "acting": "x"},
    }
    assert config_digest(same) == config_digest(config)
    assert config_digest({**config, "identity": "x"}) != config_digest(config)
    assert config_digest({**config, "run": {**config["run"], "seed": 9}}) != config_digest(config)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"run": []}, "run: expected a mapping"),
        ({"chosen": {}}, "chosen.backend: missing"),
        ({"chosen": {"backend": 3}}, "chosen.backend: expected a text, given 3"),
        ({"versions": {"numpy": 2}}, "versions"),
        ({"history": [1]}, "history"),
        ({"identity": ["x"]}, "identity"),
    ],
)
def test_parts_of_the_configuration(killed, change, said):
    edit_json(killed / "config.json", lambda config: (config.update(change), config.pop("checksum")))
    message = rf"killed is not a run folder: config\.json cannot be read .*{said}"
    with pytest.raises(RunFolderError, match=message):
        resume(killed)


def deep(levels):
    return [deep(levels - 1)] if levels else []


@pytest.mark.parametrize(
    ("network", "said"),
    [
        (deep(900), "run.agent.network_spec.*: the document is nested more than 32 levels deep"),
        ([{"type": "dense", "units": 4}] * 4000, "run.agent.network_spec.*more than 10,000 values"),
        ([{"type": "x" * 10_001}], "expected a text of at most 10,000 characters"),
    ],
)
def test_a_forged_document_has_the_limits_of_any_other(killed, network, said):
    edit_json(
        killed / "config.json",
        lambda config: (config["run"]["agent"].update(network_spec=network), config.pop("checksum")),
    )
    for read in (resume, load_agent, read_run):
        with pytest.raises(RunFolderError, match=said):
            read(killed)


def test_a_forged_history_says_nothing_of_the_run(whole, killed):
    def forge(config):
        config["history"][0].update(run=5, chosen={"backend": "none"}, seeds=[])

    whole_run = read_config(whole / "finished")["run"]
    edit_json(killed / "config.json", lambda config: (forge(config), config.pop("checksum")))
    resume(killed)
    config = read_config(killed)
    assert (config["run"], config["chosen"]["backend"]) == (whole_run, "numpy")
    assert set(config["seeds"]) == {"root", "environments"}


@pytest.mark.parametrize("content", ["", "[", "[]", "[" * 100_000, '{"run": 1' + 5000 * "0" + "}", "\xff"])
def test_a_configuration_that_is_none(killed, content):
    (killed / "config.json").write_text(content, encoding="latin-1")
    with pytest.raises(RunFolderError, match=r"is not a run folder: config\.json cannot be read"):
        resume(killed)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda file: os.symlink("/dev/zero", file)])
@pytest.mark.parametrize("name", ["config.json", "result.json", "episodes.csv"])
def test_what_is_no_file(killed, make, name):
    (killed / name).unlink()
    make(killed / name)
    with pytest.raises(RunFolderError, match=name):
        resume(killed)


# The result.


def test_a_result_that_is_none(finished):
    for content in ("{}", '{"outcome": "fine"}', "nothing", '{"outcome": "finished", "records": {}}'):
        (finished / "result.json").write_text(content)
        for read in (read_result, read_run, resume):
            with pytest.raises(RunFolderError, match=r"result\.json"):
                read(finished)


def test_a_finished_run_that_is_made_longer_is_no_longer_finished(finished):
    with pytest.raises(SystemExit):  # no result is written then, as after kill -9
        resume(finished, steps=100, callbacks=[told(on_start=raising(SystemExit))])
    assert read_result(finished) is None
    assert not read_run(finished).finished


# The state in a checkpoint whose checksums are right.


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda run: run.update(worker=5), "worker: expected a mapping, given 5"),
        (lambda run: run.pop("worker"), "worker: missing"),
        (lambda run: run.update(more=5), "more: there is no such key"),
        (lambda run: run["worker"].update(done="20"), "worker.done: expected an integer"),
        (lambda run: run["worker"].update(done=-1), "worker.done: expected an integer >= 0"),
        (lambda run: run["worker"].update(timesteps=10**30), "worker.timesteps: expected an integer"),
        (lambda run: run["worker"].update(seconds=True), "worker.seconds: expected a number"),
        (lambda run: run["worker"]["report"].update(loss=None), "worker.report.loss: expected a number"),
        (lambda run: run["worker"]["running"]["returns"].pop(), "worker.running: expected one episode per"),
        (lambda run: run["worker"].update(environments={}), "worker.environments: expected a list"),
        (
            lambda run: run["worker"].update(
                environments=[{"__array__": "AAAA", "dtype": "f4", "shape": [7]}] * 2
            ),
            "worker.environments: .*is no array",
        ),
        (lambda run: run["best"].update(returns=[]), "best.returns: expected"),
        (lambda run: run["best"].update(lengths=[1]), "best.lengths: expected as many"),
        (lambda run: run["records"].pop("episodes_csv"), "records.episodes_csv: missing"),
        (
            lambda run: run["records"]["episodes_csv"].update(size=-5),
            "records.episodes_csv.size: expected an integer",
        ),
        (
            lambda run: run["records"]["episodes_csv"].update(sha256="x"),
            "records.episodes_csv.sha256: expected",
        ),
        (lambda run: run.update(departures="none"), "departures: expected a list"),
        (lambda run: run.update(version="2"), "version: expected 2"),
    ],
)
def test_a_damaged_state_is_passed_over(killed, edit, said):
    """The message has its file, the path inside it, what is expected; the checkpoint before it is taken."""
    edit_state(killed, edit)
    with pytest.warns(UserWarning, match=rf"step-000000040/manifest\.json, facts\.run: {said}.*skipped"):
        path, state = RunCheckpoints(killed / "checkpoints", 2, True).newest()
    assert (path.name, state.worker.done) == ("step-000000020", 20)


def test_a_newer_state(killed):
    edit_state(killed, lambda run: run.update(version=3))
    shutil.rmtree(min((killed / "checkpoints").glob("step-*")))
    with pytest.raises(
        CheckpointError, match=r"version 3, this rlgraph-agents reads up to 2: pip install --upgrade"
    ):
        resume(killed)


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda run: run.update(steps=1000), "steps: 1000 there, 60 in config.json"),
        (lambda run: run["worker"].update(done=62), "worker.done: 62 of 60 steps"),
        (
            lambda run: run["worker"].update(environments=[0], running={"returns": [0.0], "lengths": [0]}),
            "worker.environments: 1 there, 2 in config.json",
        ),
    ],
)
def test_a_state_that_does_not_fit_the_configuration(killed, edit, said):
    edit_state(killed, edit)
    with pytest.raises(RunFolderError, match=f"is not a checkpoint of this run: {said}"):
        resume(killed)


def test_folders_of_version_0_1(whole, killed):
    """They have no digests: what was changed in records is not found, all else is as it was."""

    def to_1(run):
        del run["version"], run["config"]
        run["records"] = {name.replace("_", "."): prefix["size"] for name, prefix in run["records"].items()}

    edit_state(killed, to_1)
    best = read_manifest(killed / "checkpoints" / "best")
    del best.facts["config"]
    write_manifest(killed / "checkpoints" / "best", best)
    # Nor has their document what became part of it later; it stays as it is, so that its digest does.
    edit_json(killed / "config.json", lambda config: (config.pop("checksum"), config["run"].pop("stop")))
    assert resume(killed).departures == ()
    assert run_differences(whole / "finished", killed) == ["checkpoints/step-000000040/manifest.json differs"]
    config = read_config(killed)
    assert "checksum" in config and "stop" not in config["run"]


@pytest.mark.parametrize("dtype", ["(,)f4", "(1,f4", "O", "f4,O", "x", None, [["a", "f4"]]])
def test_dtypes_that_are_none(killed, dtype):
    array = {"__array__": "AAAA", "dtype": dtype, "shape": [1]}
    edit_state(killed, lambda run: run["worker"].update(environments=[array, array]))
    shutil.rmtree(next((killed / "checkpoints").glob("step-000000020")))
    with pytest.raises(CheckpointError, match=r"worker\.environments: .* is no array"):
        resume(killed)


# Links.


@pytest.mark.parametrize(
    "name", ["checkpoints", "checkpoints/best", "checkpoints/last", "tensorboard", "wandb"]
)
def test_nothing_is_written_through_a_linked_folder(killed, tmp_path, name):
    place, elsewhere = killed / name, tmp_path / "elsewhere"
    if place.exists():
        place.rename(elsewhere)
    else:
        shutil.copytree(newest(killed), elsewhere)
    place.symlink_to(elsewhere)
    before = {file: file.stat().st_mtime_ns for file in elsewhere.rglob("*")}
    with pytest.raises(
        RunFolderError, match=f"{name} is a symbolic link: a run writes into its own folder only"
    ):
        resume(killed)
    assert {file: file.stat().st_mtime_ns for file in elsewhere.rglob("*")} == before


@pytest.mark.parametrize("make", [os.mkfifo, lambda file: os.symlink(file.with_name("outside"), file)])
def test_a_picture_is_not_written_through_what_is_in_its_place(finished, make, monkeypatch):
    def draw(history, evaluations, file, *_):
        with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK), "w") as handle:
            handle.write("picture")

    monkeypatch.setattr("rlgraph.runs.curve.draw_curve", draw)
    (finished / "outside").write_text("outside")
    (finished / "curve.png").unlink(missing_ok=True)
    make(finished / "curve.png")
    resume(finished, steps=62)
    assert (finished / "curve.png").read_text() == "picture"
    assert (finished / "outside").read_text() == "outside"


# Folders of folders.


def test_folders_that_contain_themselves(finished, tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).symlink_to(tmp_path)
    assert list(find_runs(tmp_path)) == [finished]


def test_folders_deeper_than_the_stack(tmp_path):
    (tmp_path / "/".join(["a"] * 200)).mkdir(parents=True)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 120)
    try:
        assert list(find_runs(tmp_path)) == []
    finally:
        sys.setrecursionlimit(limit)
