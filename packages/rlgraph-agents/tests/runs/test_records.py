"""The files a run appends to, and cuts back."""

import numpy as np
import pytest

from rlgraph.core import RLGraphError
from rlgraph.runs.records import Records, read_episodes, read_evaluations, read_metrics
from rlgraph.runs.state_json import from_json, to_json
from rlgraph.workers import Evaluation

FIRST, SECOND = {"timesteps": 1.0, "loss": 0.1}, {"timesteps": 2.0}


def fill(records, metrics, number):
    records.add_metrics(metrics)
    records.add_episode(number, number / 3, number)
    records.add_evaluation(Evaluation((number / 7,), (number,), number))


def test_rows_behind_a_checkpoint_are_cut_off(tmp_path):
    records = Records(tmp_path)
    fill(records, FIRST, 1)
    sizes = records.sync()
    before = {name: (tmp_path / name).read_bytes() for name in sizes}
    fill(records, SECOND, 2)
    records.close()
    Records(tmp_path, sizes).close()
    assert {name: (tmp_path / name).read_bytes() for name in sizes} == before
    again = Records(tmp_path, sizes)
    fill(again, SECOND, 3)
    again.close()
    assert read_metrics(tmp_path) == [FIRST, SECOND]
    assert read_episodes(tmp_path) == ([1 / 3, 1.0], [1, 3])
    assert read_evaluations(tmp_path) == [Evaluation((n / 7,), (n,), n) for n in (1, 3)]


def test_a_file_that_lost_rows(tmp_path):
    records = Records(tmp_path)
    sizes = records.sync()
    records.close()
    (tmp_path / "episodes.csv").write_text("")
    with pytest.raises(
        RLGraphError, match=r"episodes\.csv has 0 bytes, the checkpoint was written when it had"
    ):
        Records(tmp_path, sizes)


def test_a_last_line_that_was_cut_off_is_left_out(tmp_path):
    (tmp_path / "metrics.jsonl").write_text('{"timesteps": 1.0}\n{"timest')
    assert read_metrics(tmp_path) == [{"timesteps": 1.0}]


def test_states_of_environments_in_json():
    state = {
        "array": np.arange(6, dtype=np.uint8).reshape(2, 3)[:, ::-1],
        "empty": np.zeros((0, 2), np.float32),
        "number": np.float64(0.1),
        "list": [1, 2.5, "text", None, True, {"inner": np.array(2**63, np.uint64)}],
    }
    found = from_json(to_json(state))
    np.testing.assert_equal(found, state)
    assert found["array"].dtype == np.uint8
    assert found["empty"].dtype == np.float32
