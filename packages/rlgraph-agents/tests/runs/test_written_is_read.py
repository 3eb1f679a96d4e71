"""Whatever a run writes can be read again; what could not is refused, and its folder stays as it was."""

import json
import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rlgraph.agents import Agent
from rlgraph.core import CheckpointError, SpecError
from rlgraph.core.checkpoint.manifest import Manifest, read_manifest, write_manifest
from rlgraph.core.checkpoint.writing import write_checkpoint
from rlgraph.core.specs.documents import MAX_DEPTH, MAX_TEXT, MAX_VALUES
from rlgraph.environments import EnvironmentFault
from rlgraph.experience.specs import parse_spec
from rlgraph.runs import RunFolderError, resume, train
from rlgraph.runs.benchmarks.results import SeedResult
from rlgraph.runs.benchmarks.results import read_result as read_seed
from rlgraph.runs.benchmarks.results import write_result as write_seed
from rlgraph.runs.checkpoints import LAST, RunCheckpoints
from rlgraph.runs.config_file import read_config, write_config
from rlgraph.runs.configuration import apply_overrides
from rlgraph.runs.recorded_run import read_run
from rlgraph.runs.records import Records, read_episodes, read_evaluations, read_metrics
from rlgraph.runs.result_file import read_result, write_result
from rlgraph.runs.run_folder import DEPARTURES, STARTS
from rlgraph.runs.run_spec import MAX_EPISODES, RunSpec
from rlgraph.runs.run_state import read_state
from rlgraph.runs.training import complete
from rlgraph.runs.tuning import tune
from rlgraph.workers import Evaluation
from rlgraph.workers.episodes import Episodes

pytestmark = pytest.mark.usefixtures("undrawn")
TOO_LARGE = 10**19
REFUSED = (SpecError, CheckpointError)

NUMBERS = st.one_of(
    st.integers(-3, 3),
    st.sampled_from([2**63 - 1, 2**63, -(2**63) + 1, -(2**63), 10**400]),
    st.floats(),
    st.sampled_from([np.int64(3), np.float32(0.5), np.float64(math.inf), True, None]),
)
TEXTS = st.one_of(
    st.text(max_size=4), st.sampled_from(["\ud800", "1e3", "x" * MAX_TEXT, "x" * (MAX_TEXT + 1)])
)
DEEP = [json.loads("[" * depth + "]" * depth) for depth in (MAX_DEPTH - 2, MAX_DEPTH + 2)]
VALUES = st.one_of(
    NUMBERS,
    TEXTS,
    st.sampled_from([object(), b"x", {1: 2}, (1, 2), np.zeros(2), [0] * (MAX_VALUES + 1), *DEEP]),
    st.lists(st.one_of(NUMBERS, TEXTS), max_size=3),
    st.dictionaries(TEXTS, NUMBERS, max_size=3),
)


def bounded(examples):
    return settings(max_examples=examples, derandomize=True, deadline=None, database=None)


def contents(folder):
    return {str(file): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def written(folder, write):
    """Whether `write` took its values; if not, the folder is as it was."""
    before = contents(folder)
    try:
        write()
    except REFUSED:
        assert contents(folder) == before
        return False
    return True


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder for all examples of a property."""
    return tmp_path_factory.mktemp("run")


@pytest.fixture(scope="module")
def finished(acting_run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("finished") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rlgraph.runs.run_folder.RunFolder.draw_graph", lambda self: None)
        patch.setattr("rlgraph.runs.curve.draw_curve", lambda *arguments: None)
        train(acting_run(), folder)
    return folder


# config.json.


@bounded(150)
@given(st.sampled_from(["run", "versions", "history", "identity", "seeds"]), TEXTS, VALUES)
@example("run", "steps", TOO_LARGE)
def test_a_configuration_is_read_or_refused(place, part, key, value):
    content = {"run": {"steps": 1}, "chosen": {"backend": "numpy"}, "versions": {}, "history": []}
    given = {"history": [{key: value}], "identity": value}.get(part, {key: value})
    if written(place, lambda: write_config(place, {**content, part: given})):
        read = read_config(place)
        assert repr(write_config(place, read)) == repr(read)


PATHS = [
    "steps",
    "seed",
    "worker.num_envs",
    "worker.step_timeout",
    "evaluation.episodes",
    "checkpoints.interval",
    "logging.wandb.name",
    "agent.discount",
    "agent.memory_spec.capacity",
    "agent.update_spec.steps_before_update",
    "environment.steps_to_terminal",
    "data.file",
]


@bounded(60)
@given(st.sampled_from(PATHS), VALUES)
@example("steps", TOO_LARGE)
@example("agent.memory_spec.capacity", TOO_LARGE)
@example("agent.network_spec", [object()])
def test_a_document_that_is_accepted_is_read(acting_run, place, path, value):
    document = acting_run()
    *outer, last = path.split(".")
    inner = document
    for key in outer:
        inner = inner.setdefault(key, {})
    inner[last] = value
    try:
        run = complete(document)
    except SpecError:
        return
    content = {"run": run.model_dump(mode="json"), "chosen": {"backend": "numpy"}}
    write_config(place, content)  # what is accepted is not refused later
    assert repr(parse_spec(RunSpec, read_config(place)["run"], "")) == repr(run)


@pytest.mark.parametrize("steps", [TOO_LARGE, 2**63, -1, True, 70.5, "70", math.nan])
def test_no_number_of_steps_bricks_a_run(finished, steps):
    before = contents(finished)
    with pytest.raises(SpecError, match="^steps: expected an integer"):
        resume(finished, steps=steps)
    assert contents(finished) == before
    Agent.load(finished)


def test_steps_of_numpy(acting_run, tmp_path):
    train(acting_run(), tmp_path)
    assert resume(tmp_path, steps=np.int64(62)).training.timesteps == 62
    assert read_run(tmp_path).steps == 62


@pytest.mark.parametrize(
    "override", [f"steps={TOO_LARGE}", f"seed={TOO_LARGE}", f"worker.num_envs={TOO_LARGE}"]
)
def test_numbers_that_are_too_large_for_a_document(acting_run, tmp_path, override):
    path = override.partition("=")[0]
    with pytest.raises(SpecError, match=rf"^{path}: expected an integer of at most 64 bits"):
        train(apply_overrides(acting_run(), [override]), tmp_path / "run")
    agent = Agent.from_spec(acting_run()["agent"], env="deterministic", backend="numpy")
    with pytest.raises(SpecError, match=r"^steps: expected an integer of at most 64 bits"):
        agent.learn(TOO_LARGE, folder=tmp_path / "run")
    assert not (tmp_path / "run").exists()


# What grows with each start.


def test_a_run_that_is_resumed_often_is_read(acting_run, tmp_path):
    train(acting_run(), tmp_path)
    config = read_config(tmp_path)
    start = {**config["history"][0], "command": "rlgraph resume"}
    write_config(tmp_path, {**config, "history": [config["history"][0], *[start] * 2 * STARTS]})
    for checkpoint in (tmp_path / "checkpoints").glob("[sl]*"):
        manifest = read_manifest(checkpoint)
        manifest.facts["run"]["departures"] = [f"step {n}" for n in range(5 * DEPARTURES)]
        write_manifest(checkpoint, manifest)
    resume(tmp_path, steps=62)
    history, before = read_config(tmp_path)["history"], config["history"][0]
    assert len(history) == STARTS and history[0] == before and history[-1]["command"] == before["command"]
    departures = read_manifest(tmp_path / "checkpoints" / LAST).facts["run"]["departures"]
    assert len(departures) == DEPARTURES and departures[0] == "step 0" and "62 steps" in departures[-1]
    assert read_run(tmp_path).steps == 62


# The result and the records.


@bounded(100)
@given(st.sampled_from(["outcome", "evaluation", "records", "error", "departures", "best"]), VALUES)
def test_a_result_is_read_or_refused(place, key, value):
    if written(place, lambda: write_result(place, {"outcome": "finished", key: value})):
        assert read_result(place).outcome == "finished"


def test_a_result_of_numbers_that_json_does_not_have(acting_run, tmp_path, monkeypatch):
    from rlgraph.workers.results import TrainingResult

    monkeypatch.setattr(TrainingResult, "mean_return", math.inf)
    train(acting_run(), tmp_path)

    def refuse(constant):
        raise AssertionError(constant)

    assert json.loads((tmp_path / "result.json").read_text(), parse_constant=refuse)["mean_return"] is None


def test_evaluations_fit_into_their_files(acting_run, tmp_path):
    for key in ("episodes", "final_episodes"):
        with pytest.raises(SpecError, match=f"evaluation.{key}: expected an integer >= 1 and <= 100000"):
            train(acting_run(evaluation={key: MAX_EPISODES + 1}), tmp_path / "run")
    evaluation = Evaluation((-1.2345678901234567e-300,) * MAX_EPISODES, (2**31,) * MAX_EPISODES, 2**40)
    records = Records(tmp_path)
    records.add_evaluation(evaluation)
    records.close()
    assert read_evaluations(tmp_path) == [evaluation]
    write_result(tmp_path, {"outcome": "finished", "evaluation": vars(evaluation)})
    assert read_result(tmp_path).outcome == "finished"


@bounded(150)
@given(
    st.one_of(
        st.tuples(
            st.just("add_metrics"),
            st.fixed_dictionaries({"timesteps": st.integers(0, 2**63)}, optional={"loss": NUMBERS}),
        ),
        st.tuples(st.just("add_episode"), NUMBERS, NUMBERS, NUMBERS),
        st.tuples(
            st.just("add_evaluation"),
            st.builds(Evaluation, st.tuples(NUMBERS), st.tuples(NUMBERS), NUMBERS),
        ),
    )
)
@example(("add_metrics", {"timesteps": 1.0, "loss": math.inf}))
@example(("add_episode", 3, 1.0, -5))
@example(("add_evaluation", Evaluation((1.0,), (10**38,), 3)))
def test_a_row_is_read_or_refused(place, row):
    records = Records(place)
    method, *values = row
    if written(place, lambda: getattr(records, method)(*values)):
        read_metrics(place), read_episodes(place), read_evaluations(place)
        from rlgraph.runs import recorded_run

        recorded_run.read_metrics(place / "metrics.csv")
    records.close()


@pytest.mark.parametrize("length", [-1, 1e30])
def test_an_environment_that_tells_an_impossible_length(length):
    episodes = Episodes(1)
    with pytest.raises(
        EnvironmentFault, match=r"info\['episode_length'\] is .*; expected a number of steps >= 0"
    ):
        episodes.end(0, {"episode_return": 1.0, "episode_length": length})
    assert not episodes.returns


def test_a_result_of_a_benchmark(tmp_path):
    result = SeedResult(name="x", document={}, backend="numpy", seed=1, steps=2**63, versions={"a": "1"})
    write_seed(tmp_path / "a.json", result)
    assert read_seed(tmp_path / "a.json") == result
    with pytest.raises(
        RunFolderError, match=r"a\.json is not written, because it could not be read again: .*bytes"
    ):
        write_seed(tmp_path / "a.json", result.model_copy(update={"error": "x" * 2**24}))
    assert read_seed(tmp_path / "a.json") == result


# The state in a checkpoint.


class Stored:
    """An agent without weights, as far as checkpoints see it."""

    def get_weights(self):
        return {}

    def store_model(self, directory, *, memory, facts):
        return write_checkpoint(directory, {}, Manifest(facts=facts))


@bounded(100)
@given(
    st.sampled_from(["steps", "departures", "best", "worker.done", "worker.seconds", "worker.environments"]),
    VALUES,
)
@example("worker.environments", [np.array([object()]), np.array([object()])])
@example("worker.done", 2**63)
def test_a_state_is_read_or_refused(finished, place, path, value):
    state = read_manifest(finished / "checkpoints" / LAST).facts["run"]
    inner = state["worker"] if path.startswith("worker") else state
    inner[path.rpartition(".")[2]] = value
    checkpoints = RunCheckpoints(place, 2, True)
    if written(place, lambda: checkpoints.store(Stored(), LAST, state)):
        read_state(read_manifest(place / LAST).facts["run"], place / LAST)


def test_a_checkpoint_whose_agent_is_too_large_for_a_document(tmp_path):
    from rlgraph.spaces import FloatBox, IntBox

    low = np.arange(MAX_VALUES + 1.0)
    spec = {"type": "random", "state_space": FloatBox(low, low + 1), "action_space": IntBox(2)}
    agent = Agent.from_spec(spec, backend="numpy")
    with pytest.raises(CheckpointError, match=r"is too large for a document.*call its load_model"):
        Agent.load(agent.store_model(tmp_path / "stored"))
    agent.load_model(tmp_path / "stored")


# Searches.


def test_a_search_is_checked_before_its_files_are_written(acting_run, tmp_path):
    pytest.importorskip("optuna")
    document = acting_run(evaluation={"policy": "last"})
    for space, said in (
        ({"discount": [0.9, object()]}, r"space\.discount\[1\]: expected a value that JSON can hold"),
        ({"discount": [0.9, TOO_LARGE]}, r"space\.discount\[1\]: expected an integer of at most 64 bits"),
    ):
        with pytest.raises(SpecError, match=said):
            tune(document, tmp_path / "search", 1, space=space)
        assert not (tmp_path / "search").exists()


def test_numbers_of_an_environment_that_are_not_finite_are_kept(tmp_path, undrawn):
    states = {"type": "float", "low": -float("inf"), "high": float("inf"), "shape": [2]}
    environment = {"type": "random_env", "state_space": states, "action_space": {"type": "int", "low": 2}}
    document = {"agent": {"type": "random"}, "environment": environment, "backend": "numpy", "steps": 4}
    train(
        {**document, "logging": {"tensorboard": False}, "evaluation": {"final_episodes": 1}}, tmp_path / "run"
    )
    kept = read_config(tmp_path / "run")["run"]["environment"]["state_space"]
    assert kept["low"] == -float("inf") and kept["high"] == float("inf")
    assert Agent.load(tmp_path / "run").timesteps == 4
