"""Suites of benchmarks: documents, what is missing or stale, processes, tables."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from doubles import raising

from rlgraph.core import InputError, NumericalError, SpecError
from rlgraph.runs import RunFolderError, train
from rlgraph.runs.benchmarks import pictures, results, seed
from rlgraph.runs.benchmarks.pictures import _scores
from rlgraph.runs.benchmarks.published import published
from rlgraph.runs.benchmarks.report import write_page
from rlgraph.runs.benchmarks.results import Judged, SeedResult, State, read_result, result_file, run_place
from rlgraph.runs.benchmarks.running import run_missing
from rlgraph.runs.benchmarks.suite import Subject, Suite, read_suite, suite_names
from rlgraph.runs.benchmarks.tables import agent_markdown, suite_markdown
from rlgraph.runs.run_lock import run_lock


@pytest.fixture
def document(acting_run):
    document = acting_run(evaluation={"interval": 24, "episodes": 2, "final_episodes": 3, "policy": "last"})
    return {key: value for key, value in document.items() if key not in ("backend", "seed")}


@pytest.fixture
def subject(document):
    return Subject("tiny", document, "numpy", False)


@pytest.fixture
def suite(subject):
    return Suite("small", "A small one", "With two seeds.", [(subject, range(1, 3))])


def measured(subject, number, mean, **changes):
    last = None if mean is None else Judged(steps=60, mean=mean, std=0.0, lowest=mean)
    facts = {
        "steps": 60,
        "seconds": 90.0,
        "name": subject.name,
        "document": dict(subject.document),
        "backend": subject.backend,
    }
    versions = {"numpy": "2.0"}
    return SeedResult(**{**facts, "seed": number, "last": last, "versions": versions, **changes})


def put(folder, subject, *given):
    for result in given:
        results.write_result(result_file(folder, subject, result.seed), result)


# Documents.


@pytest.mark.parametrize("name", suite_names())
def test_shipped_suites(name):
    suite = read_suite(name)
    assert suite.description
    names = [(subject.name, subject.backend) for subject, _ in suite.subjects]
    assert len(names) == len(set(names))


def test_a_file_names_presets_and_documents(document, tmp_path):
    (tmp_path / "mine.json").write_text(json.dumps(document))
    rows = ["ppo/CartPole-v1", {"run": "mine.json", "seeds": 10, "backends": ["numpy"]}]
    (tmp_path / "suite.json").write_text(json.dumps({"runs": rows, "seeds": 3, "backends": ["torch", "tf"]}))
    suite = read_suite(tmp_path / "suite.json")
    assert [(s.name, s.backend, s.compiled, len(n)) for s, n in suite.subjects] == [
        ("ppo/CartPole-v1", "torch", False, 3),
        ("ppo/CartPole-v1", "tf", True, 3),
        ("mine", "numpy", False, 10),
    ]
    run = suite.subjects[1][0].run(2)
    assert (run["backend"], run["seed"], run["agent"]["execution_spec"]) == ("tf", 2, {"compile": True})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            {"runs": ["ppo/CartPole-v2"]},
            "there is no preset 'ppo/CartPole-v2'. Did you mean 'ppo/CartPole-v1'",
        ),
        ({"runs": []}, r"suite.runs: expected a list"),
        ({"runs": ["ppo/CartPole-v1"], "seeds": 101}, r"suite.seeds: .*100"),
        ({"runs": ["mine.json"]}, r"mine.json.seed: the suite says it: leave it out"),
        ({"run": []}, "suite.run"),
    ],
)
def test_wrong_suites(content, message, document, tmp_path):
    (tmp_path / "mine.json").write_text(json.dumps({**document, "seed": 3}))
    (tmp_path / "suite.json").write_text(json.dumps(content))
    with pytest.raises(SpecError, match=message):
        read_suite(tmp_path / "suite.json")


def test_documents_of_one_name(document, tmp_path):
    """Their results would have the same files."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "ppo.json").write_text(json.dumps(document))

    def read(*runs):
        (tmp_path / "suite.json").write_text(json.dumps({"runs": runs}))
        return read_suite(tmp_path / "suite.json")

    with pytest.raises(
        SpecError,
        match=r"suite.runs: a/ppo.json and b/ppo.json are both named 'ppo' on torch, .*: rename one",
    ):
        read("a/ppo.json", "b/ppo.json")
    with pytest.raises(SpecError, match=r"a/ppo.json is named twice on torch: name it once"):
        read("a/ppo.json", {"run": "a/ppo.json", "seeds": 9})
    apart = read("a/ppo.json", {"run": "b/ppo.json", "backends": ["tf"]})
    assert [subject.label for subject, _ in apart.subjects] == ["ppo on torch", "ppo on tf"]


def test_an_unknown_suite():
    with pytest.raises(
        SpecError, match="suite: there is no suite 'clasic_control'. Did you mean 'classic_control'"
    ):
        read_suite("clasic_control")


def test_an_extra_that_is_not_installed(document, tmp_path, monkeypatch):
    """It is said before anything is run, with the line that installs it."""
    monkeypatch.setitem(sys.modules, "ale_py", None)
    atari = Subject("pong", {**document, "environment": {"type": "atari", "game": "Pong"}}, "numpy", False)
    with pytest.raises(SpecError, match=r'pong on numpy: .*pip install "rlgraph-agents\[atari\]\"'):
        run_missing(Suite("games", "Games", "", [(atari, [1])]), tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_part_of_a_suite(suite, subject):
    assert [list(numbers) for _, numbers in suite.only(seeds=[2, 9]).subjects] == [[2]]
    assert suite.only(backends=["numpy"]).subjects
    longer = Suite(
        "two", "Two", "", [*suite.subjects, (Subject("b", subject.document, "numpy", False), [1, 2, 3])]
    )
    assert [(s.name, list(numbers)) for s, numbers in longer.only(seeds=[3]).subjects] == [("b", [3])]
    with pytest.raises(SpecError, match="small: the suite has no backend 'numpi'. Did you mean 'numpy'"):
        suite.only(backends=["numpi"])
    with pytest.raises(SpecError, match="small: expected seeds from 1 to 2, given 3"):
        suite.only(seeds=[3])


# Results.


def test_results_of_a_changed_document_are_stale(suite, subject, tmp_path):
    put(tmp_path, subject, measured(subject, 1, 7.0))
    old = measured(subject, 2, 5.0, document={**subject.document, "steps": 59})
    put(tmp_path, subject, old)
    state = State(suite, tmp_path)
    assert list(state.results[0]) == [1]
    assert state.missing == state.stale == [(subject, 2)]
    text = suite_markdown(suite, state)
    assert "| tiny | NumPy 2.0 | 60 | 1.5 | 7.0 |  | 7.0 |  |  |" in text
    assert "Not shown, since the document or its data set has changed: tiny on numpy, seed 2." in text


def test_results_of_another_data_set_are_stale(document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown, suite_file = tmp_path / "shown.npz", tmp_path / "cloning.yaml"
    (tmp_path / "tiny.yaml").write_text(yaml.safe_dump({**document, "data": {"file": "shown.npz"}}))
    suite_file.write_text("{runs: [tiny.yaml], seeds: 1, backends: [numpy]}")
    with pytest.raises(SpecError, match="tiny on numpy: data.file: shown.npz does not exist"):
        read_suite(suite_file).check()
    shown.write_bytes(b"old")
    suite = read_suite(suite_file)
    subject = suite.subjects[0][0]
    put(tmp_path, subject, measured(subject, 1, 7.0, data=subject.data))
    assert State(suite, tmp_path).missing == []
    shown.write_bytes(b"new")
    assert len(State(read_suite(suite_file), tmp_path).stale) == 1
    shown.unlink()  # the page of results can be made elsewhere
    assert State(read_suite(suite_file), tmp_path).missing == []


def test_tables_show_failures_and_never_average_over_versions(suite, subject, tmp_path):
    best = Judged(steps=24, mean=9.0, std=0.0, lowest=9.0)
    put(
        tmp_path,
        subject,
        measured(subject, 1, 7.0, best=best),
        measured(subject, 2, None, error="NumericalError"),
    )
    assert "| tiny | NumPy 2.0 | 60 | 1.5 | 7.0 | failed | 7.0 |  | 9.0 |" in suite_markdown(
        suite, State(suite, tmp_path)
    )
    assert "tiny on numpy, seed 2: failed: NumericalError." in suite_markdown(suite, State(suite, tmp_path))
    resumed = measured(subject, 2, 1.0, versions={"numpy": "2.1"}, departures=["step 9: it resumed"])
    put(tmp_path, subject, resumed)
    text = suite_markdown(suite, State(suite, tmp_path))
    assert "| tiny | NumPy 2.0 | 60 | 1.5 | 7.0 |  | 7.0 |  | 9.0 |" in text
    assert "| tiny | NumPy 2.1 | 60 | 1.5 |  | 1.0 | 1.0 |  |  |" in text
    assert "tiny on numpy, seed 2: step 9: it resumed." in text


def test_the_table_of_an_agent_has_all_environments_and_every_seed(document, tmp_path):
    """On its page; what has no result is in a sentence, and alone there is no table."""
    pole, car = (
        Subject(name, {**document, "environment": name, "agent": {"type": "ppo"}}, "numpy", False)
        for name in ("CartPole-v1", "MountainCar-v0")
    )
    suite = Suite("ppo", "PPO", "", [(pole, range(1, 5)), (car, range(1, 2))])
    text = agent_markdown(suite, State(suite, tmp_path))
    assert "|" not in text and "Each figure" not in text and "in italics" not in text
    assert "No result yet: CartPole-v1 on numpy, seeds 1, 2, 3, 4; MountainCar-v0 on numpy, seed 1." in text
    put(tmp_path, pole, measured(pole, 1, 7.0), measured(pole, 2, None, error="NumericalError"))
    put(tmp_path, pole, measured(pole, 4, 5.0, document={**pole.document, "steps": 59}))
    text = agent_markdown(suite, State(suite, tmp_path))
    assert "| CartPole-v1 | NumPy 2.0 | 60 | 1.5 | 7.0 failed – – | 7.0 |  |  |" in text
    assert "| CartPole-v1 | *CleanRL* | *500,000* |  |  | *490 ± 6* |  |  |" in text
    assert "| MountainCar-v0 |" not in text
    assert "No result yet: CartPole-v1 on numpy, seed 3; MountainCar-v0 on numpy, seed 1." in text
    assert "Not shown, since the document or its data set has changed: CartPole-v1 on numpy, seed 4." in text
    assert "CartPole-v1 on numpy, seed 2: failed: NumericalError." in text
    put(tmp_path, pole, *(measured(pole, seed, float(seed)) for seed in range(1, 5)))
    put(tmp_path, car, measured(car, 1, -100.0))
    text = agent_markdown(suite, State(suite, tmp_path))
    first, *_, last = (line for line in text.splitlines() if "NumPy" in line)
    assert first == "| CartPole-v1 | NumPy 2.0 | 60 | 1.5 | 1.0 2.0 3.0 4.0 | 2.5 | 2.5 |  |"
    assert last == "| MountainCar-v0 | NumPy 2.0 | 60 | 1.5 | -100.0 | -100.0 |  |  |"
    assert text.count("| run |") == 1 and "No result yet" not in text


@pytest.mark.parametrize("content", ['{"name": "tiny"', '{"name": "tiny"}', "[]"])
def test_a_damaged_file_is_named(content, suite, subject, tmp_path):
    file = result_file(tmp_path, subject, 1)
    file.parent.mkdir(parents=True)
    file.write_text(content)
    with pytest.raises((RunFolderError, SpecError), match=str(file)):
        State(suite, tmp_path)


def test_curves_are_thinned():
    curve = [(step, float(step)) for step in range(1000)]
    kept = seed.thinned(curve)
    assert len(kept) == seed.POINTS and (kept[0], kept[-1]) == (curve[0], curve[-1])
    assert seed.thinned(curve[:7]) == curve[:7]
    assert seed.thinned([]) == []


# Running.


def job(folder, subject, number=1):
    """The folder of a prepared job."""
    place = run_place(folder, subject, number)
    facts = {
        "name": subject.name,
        "document": subject.document,
        "backend": subject.backend,
        "seed": number,
    }
    seed.prepare(place, subject.run(number), facts, result_file(folder, subject, number))
    return place


def test_a_seed_is_that_of_a_run(subject, tmp_path, undrawn):
    """The results are those of `train` with the same document and seed; nothing of the run is left."""
    found = seed.measure(job(tmp_path, subject, 3))
    run = train(subject.run(3), tmp_path / "run")
    assert found.last.mean == pytest.approx(run.evaluation.mean, abs=1e-3)
    assert found.last.steps == found.steps == 60
    assert found.evaluations == [(e.timesteps, round(e.mean, 3)) for e in run.training.evaluations]
    assert found.best.steps == 48  # the policy never changes, and the latest of equal ones is kept
    assert found.versions["numpy"] and found.departures == []
    assert read_result(result_file(tmp_path, subject, 3)) == found
    assert not (tmp_path / results.UNFINISHED).exists()


@pytest.mark.parametrize("policy", ["last", "best"])
def test_the_last_and_the_best_policy_are_judged(policy, acting_run, tmp_path, undrawn):
    """Whichever the document ends the run with."""
    evaluation = {"interval": 24, "episodes": 2, "final_episodes": 3, "policy": policy}
    document = acting_run(evaluation=evaluation, steps=50)
    found = seed.measure(job(tmp_path, Subject("tiny", document, "numpy", False)))
    assert (found.last.steps, found.best.steps) == (50, 48)
    assert (
        found.last.mean == found.best.mean
    )  # nothing was learned between them, and the episodes are the same


def test_without_evaluations_no_policy_is_best(acting_run, tmp_path, undrawn):
    document = {**acting_run(evaluation={"interval": None}, steps=50)}
    found = seed.measure(job(tmp_path, Subject("tiny", document, "numpy", False)))
    assert found.best is None and found.evaluations == [] and found.last.steps == 50
    suite = Suite("small", "Small", "", [(Subject("tiny", document, "numpy", False), [1])])
    assert "over 20 new episodes" in suite_markdown(suite, State(suite, tmp_path))


def test_an_unfinished_seed_goes_on(subject, tmp_path, undrawn):
    place, after = job(tmp_path, subject), []

    class Killed(BaseException):
        pass

    def die(worker, metrics):
        after.append(metrics["timesteps"])
        if metrics["timesteps"] >= 50:
            raise Killed

    with pytest.raises(Killed):
        train(subject.run(1), place / seed.RUN, [die])
    job(tmp_path, subject)  # as the next call of the command does
    kept = place / seed.RUN / "checkpoints"
    assert (kept / "step-000000040").exists()
    resumed = seed.measure(place)
    whole = seed.measure(job(tmp_path / "other", subject))
    same = {"seconds": 0.0, "git": None}
    assert resumed.model_copy(update=same) == whole.model_copy(update=same)


@pytest.mark.parametrize("changed", ["document", "versions"])
def test_an_unfinished_seed_of_something_else_begins_again(changed, subject, tmp_path, monkeypatch):
    place = job(tmp_path, subject)
    (place / seed.RUN).mkdir()
    if changed == "versions":
        monkeypatch.setattr(seed, "installed_versions", lambda: {"numpy": "1.0"})
    else:
        subject = Subject("tiny", {**subject.document, "steps": 61}, "numpy", False)
    job(tmp_path, subject)
    assert not (place / seed.RUN).exists()


@pytest.mark.parametrize(
    "error", [NumericalError("the loss is not finite"), InputError("step 3: the mask forbids all actions")]
)
def test_a_failure_is_a_result(error, subject, tmp_path, monkeypatch):
    monkeypatch.setattr(seed, "train", raising(error))
    found = seed.measure(job(tmp_path, subject))
    assert (found.last, found.error) == (None, f"{type(error).__name__}: {error}")
    assert read_result(result_file(tmp_path, subject, 1)) == found


@pytest.mark.slow  # tests/cli/test_benchmark.py runs one, too
def test_processes_run_what_is_missing(suite, subject, tmp_path):
    put(tmp_path, subject, measured(subject, 1, 7.0))
    ended = []
    assert run_missing(suite, tmp_path, progress=ended.append) == []
    assert [(each.seed, each.problem, each.left) for each in ended] == [(2, "", 0)]
    assert ended[0].result.last.steps == 60
    assert State(suite, tmp_path).missing == []
    assert run_missing(suite, tmp_path, progress=ended.append) == [] and len(ended) == 1


def test_agents_compute_on_the_given_device(suite, tmp_path, monkeypatch):
    """The run's document says it, and the facts of the result; whether a result is stale does not depend on it."""
    jobs = []
    monkeypatch.setattr(
        seed, "prepare", lambda place, run, facts, *_: jobs.append((run, facts)) or place.mkdir(parents=True)
    )
    monkeypatch.setattr(seed, "__name__", "rlgraph.no_such_module")
    run_missing(suite, tmp_path, device="cpu")
    for run, facts in jobs:
        assert run["agent"]["execution_spec"]["device"] == facts["device"] == "cpu"
        assert "device" not in facts["document"]["agent"].get("execution_spec", {})
    assert len(jobs) == 2


def test_a_process_that_dies_is_no_result(suite, tmp_path, monkeypatch):
    """Such as one that is killed for its memory; the others are run."""
    monkeypatch.setattr(seed, "__name__", "rlgraph.no_such_module")
    failed = run_missing(suite, tmp_path, workers=2)
    assert [each.seed for each in failed] == [1, 2]
    assert "the process ended with 1: " in failed[0].problem and "no_such_module" in failed[0].problem


def test_a_seed_that_another_benchmark_trains_is_left_to_it(subject, tmp_path):
    place = job(tmp_path, subject)
    (place / seed.RUN).mkdir()
    with run_lock(place / seed.RUN):
        failed = run_missing(Suite("small", "Small", "", [(subject, [1])]), tmp_path)
    assert len(failed) == 1 and "is in use: the process" in failed[0].problem


def test_a_folder_right_below_a_root_may_be_of_several_suites(suite, tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "anchor", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "results"
    place.mkdir()
    (place / "other.txt").touch()
    with pytest.raises(RunFolderError, match="which holds other files"):
        write_page(suite, place)
    (place / "another_suite.md").touch()
    assert write_page(suite, place).exists()


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_benchmark_that_is_ended(how, document, tmp_path):
    """The process of the seed ends, too; the next call goes on."""
    (tmp_path / "long.json").write_text(json.dumps({**document, "steps": 10**7}))
    (tmp_path / "suite.json").write_text(
        json.dumps({"runs": ["long.json"], "seeds": 1, "backends": ["numpy"]})
    )
    command = [sys.executable, "-m", "rlgraph.cli", "benchmark", "suite.json"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE)
    place = tmp_path / "benchmarks" / "unfinished" / "long" / "numpy-1"
    limit = time.monotonic() + 60
    while not list(place.glob("run/checkpoints/step-*/manifest.json")):
        assert process.poll() is None and time.monotonic() < limit
        time.sleep(0.05)
    process.send_signal(how)
    process.communicate(timeout=60)
    assert process.returncode == (130 if how == signal.SIGTERM else -how)
    result = place / "run" / "result.json"
    while not result.exists():
        assert time.monotonic() < limit
        time.sleep(0.05)
    assert (place / "run" / "checkpoints" / "last").exists()
    assert json.loads(result.read_text())["outcome"] == "interrupted"


# Pages.


def test_a_page_has_what_others_published_and_pictures(document, tmp_path):
    document = {**document, "environment": "CartPole-v1", "agent": {"type": "dqn"}}
    subject = Subject("dqn/CartPole-v1", document, "numpy", False)
    other = Subject("dqn/CartPole-v1", document, "torch", False)  # without results
    suite = Suite("poles", "Poles", "Two of them.", [(other, [1]), (subject, [1, 2, 3, 4])])
    put(
        tmp_path,
        subject,
        measured(subject, 1, 500.0, evaluations=[(30, 100.0), (60, 500.0)]),
        measured(subject, 2, 261.5, steps=40, evaluations=[(30, 90.0), (60, 300.0)]),
        measured(subject, 3, 300.0, evaluations=[(30, 90.0), (60, 300.0)]),
        measured(subject, 4, 300.5, evaluations=[(30, 90.0), (60, 300.0)]),
    )
    page = write_page(suite, tmp_path)
    text = page.read_text()
    assert "## CartPole-v1" in text
    assert (
        "| dqn/CartPole-v1 | NumPy 2.0 | 40 to 60 | 1.5 | 500.0 | 261.5 | 300.0 | 300.5 | 340.5 | 300.2 |  |"
        in text
    )
    assert "| dqn | *RL Baselines3 Zoo* | *50,000* |  |  |  |  |  | *500* |  |  |" in text
    assert "[CleanRL](https://" in text and "Tianshou" not in text
    for name in ("poles_curves.png", "poles_profiles.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG") and f"]({name})" in text


def test_a_page_has_no_profile_of_less_than_four_runs(document, tmp_path):
    subject = Subject("dqn/CartPole-v1", {**document, "environment": "CartPole-v1"}, "numpy", False)
    suite = Suite("poles", "Poles", "One of them.", [(subject, [1, 2, 3])])
    evaluations = [(30, 100.0), (60, 500.0)]
    put(tmp_path, subject, *(measured(subject, seed, 400.0, evaluations=evaluations) for seed in (1, 2, 3)))
    (tmp_path / "poles_profiles.png").write_bytes(b"of an earlier suite")
    assert "profile" not in write_page(suite, tmp_path).read_text()
    assert not (tmp_path / "poles_profiles.png").exists() and (tmp_path / "poles_curves.png").exists()


def test_curves_of_two_documents_are_two_lines(document, tmp_path, monkeypatch):
    """Also where algorithm and name of the environment are the same."""
    drawn = []
    monkeypatch.setattr(
        pictures, "draw_comparison", lambda comparison, file, each_run: drawn.append(comparison)
    )
    world = {"type": "grid_world", "world": "4x4"}
    subjects = [
        Subject(name, {**document, "environment": {**world, **options}}, "numpy", False)
        for name, options in (("dqn/4x4", {}), ("dqn/4x4_ftj", {"action_type": "ftj"}))
    ]
    suite = Suite("grids", "Grids", "", [(subject, [1]) for subject in subjects])
    for subject in subjects:
        put(tmp_path, subject, measured(subject, 1, 1.0, evaluations=[(30, 0.5), (60, 1.0)]))
    assert pictures.draw_curves(State(suite, tmp_path), tmp_path / "curves.png")
    assert [group.key["label"] for group in drawn[0].groups] == ["dqn/4x4", "dqn/4x4_ftj"]


def test_scores_of_profiles(subject):
    """0 is a random policy's return, and a run that failed has it; 1 is a published one."""
    _, high = published().scales["CartPole-v1"]
    document = {**subject.document, "environment": "CartPole-v1"}
    given = [measured(subject, seed, mean, document=document) for seed, mean in ((1, high), (2, None))]
    given.append(measured(subject, 1, 5.0))  # of an environment without a scale
    given.append(measured(subject, 1, high, document=document, name="small/CartPole-v1"))
    assert _scores(given) == {"tiny": {"CartPole-v1": [1.0, 0.0]}, "small": {"CartPole-v1": [1.0]}}


def test_profiles_keep_versions_of_a_backend_apart(subject):
    _, high = published().scales["CartPole-v1"]
    document = {**subject.document, "environment": "CartPole-v1"}
    given = [measured(subject, 1, high, document=document)]
    given.append(measured(subject, 2, high, document=document, versions={"numpy": "2.4"}))
    assert _scores(given).keys() == {"tiny, NumPy 2.0", "tiny, NumPy 2.4"}


def test_all_published_scores_have_a_source_and_a_scale():
    for environment, agents in published().scores.items():
        low, high = published().scales[environment]
        assert low < high
        assert {score.source for scores in agents.values() for score in scores} <= published().sources.keys()
