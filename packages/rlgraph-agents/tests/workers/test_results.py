"""Results: how they read, and what a `TrainingResult` is as a mapping."""

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rlgraph.core.errors import InputError
from rlgraph.runs.benchmarks.results import Judged, SeedResult
from rlgraph.runs.compare import Comparison, Group
from rlgraph.runs.recorded_run import RecordedRun
from rlgraph.runs.training import RunSummary
from rlgraph.runs.tuning import Tuning
from rlgraph.workers import Evaluation, TrainingResult
from rlgraph.workers.short_repr import LINE

FOLDER = Path("/a/very/long/path") / ("of-a-folder/" * 12) / "run"
LONG = tuple(float(i) for i in range(1000))
TRAINING = TrainingResult(10**12, 10**9, 10**9, 1e7, LONG, (Evaluation(LONG, (1,) * 1000, 10**9),) * 50, True)
RECORDED = RecordedRun(FOLDER, "label", "ppo", "env", "torch", 1, 10**12, True, {"a": LONG}, {"b": LONG})
GROUP = Group({"label": "x" * 300}, (RECORDED,), *[np.array(LONG)] * 5)
SEED = SeedResult(
    name="ppo/" + "x" * 99,
    document={"agent": {"type": "ppo"}},
    backend="torch",
    seed=1,
    last=Judged(steps=10**9, mean=1.23456789e-7, std=1.0, lowest=0.0),
    error="e" * 999,
)
RESULTS = [
    TRAINING,
    TRAINING.evaluations[0],
    RunSummary(FOLDER, TRAINING, TRAINING.evaluations[0], ("why " * 99,)),
    RECORDED,
    GROUP,
    Comparison("evaluation_return", (GROUP,), ("caution " * 99,)),
    Tuning(FOLDER, {"agent": LONG}, {"score": 1.5}, ({"number": 1, "options": LONG},), False),
    SEED,
]


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: type(result).__name__)
def test_a_result_fits_on_a_line(result):
    text = repr(result)
    assert text.startswith(f"{type(result).__name__}(") and text.endswith(")")
    assert len(text) <= LINE and "\n" not in text and "nan" not in text


def test_what_the_line_says():
    result = TrainingResult(20_000, 56, 1200, 12.3456, (1.0, 2.0), (), False)
    assert repr(result) == (
        "TrainingResult(timesteps=20000, episodes=56, updates=1200, mean_return=1.5, seconds=12.346)"
    )
    assert repr(replace(result, returns=(), interrupted=True)) == (
        "TrainingResult(timesteps=20000, episodes=56, updates=1200, seconds=12.346, interrupted=True)"
    )
    assert repr(Evaluation((1.0, 3.0), (5, 6), 7)) == "Evaluation(mean=2, std=1, episodes=2, timesteps=7)"
    assert "of-a-folder/run, timesteps" in repr(RESULTS[2])


def test_a_training_result_is_a_mapping_of_its_statistics():
    result = TrainingResult(100, 2, 10, 4.0, (1.0, 2.0), (), False)
    assert dict(result) == {**result} == result.statistics
    assert list(result) == list(result.keys()) == [key for key in result] == list(result.statistics)  # noqa: C416
    assert len(result) == len(result.statistics) and result["mean_episode_reward"] == 1.5
    assert "runtime" in result and "runtme" not in result and result.get("runtme") is None
    for error in (InputError, KeyError):
        with pytest.raises(error, match=r"^unknown statistic 'runtme'\. Did you mean 'runtime'\?$"):
            result["runtme"]
    again = pickle.loads(pickle.dumps(result))
    assert again == result and hash(again) == hash(result) and replace(result, updates=11) != result
