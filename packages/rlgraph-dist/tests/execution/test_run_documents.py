"""Documents of runs whose actors are elsewhere."""

import json

import gymnasium
import pytest

from rlgraph.cli import training
from rlgraph.cli.main import main
from rlgraph.core import SpecError
from rlgraph.core.errors import Fault
from rlgraph.execution import ImpalaExecutor, SyncBatchExecutor
from rlgraph.runs import train
from rlgraph.runs.configuration import check
from rlgraph.runs.executors import options_placed, worker_class
from rlgraph.workers import SingleThreadedWorker, record_data_set


@pytest.mark.parametrize(
    ("spec", "agent", "kind", "options"),
    [
        (None, "ppo", SingleThreadedWorker, {}),
        ("ray", "ppo", SyncBatchExecutor, {"engine": "ray"}),
        ("distributed_tf", "impala", ImpalaExecutor, {"engine": "distributed_tf"}),
        ("distributed_tf", "a2c", SyncBatchExecutor, {"engine": "distributed_tf"}),
        ({"actors": 3}, "impala", ImpalaExecutor, {"actors": 3}),
        ({"type": "sync_batch", "engine": {"type": "in_process"}}, "impala", SyncBatchExecutor, None),
    ],
)
def test_the_agent_chooses_an_executor_where_none_is_named(spec, agent, kind, options):
    found = worker_class(spec, {"type": agent})
    assert found == (kind, {"engine": {"type": "in_process"}} if options is None else options)


def test_what_actors_elsewhere_cannot_do_is_refused_before_any_starts():
    ppo = {"type": "ppo", "network_spec": [4], "rollout_length": 8}
    standardized = {**ppo, "preprocessing_spec": [{"type": "moving_standardize"}]}
    for spec, env, options, message in (
        (ppo, gymnasium.make("CartPole-v1"), {}, "env_spec: expected a spec or an importable function"),
        (ppo, gymnasium.make_vec("CartPole-v1", 2), {}, "env_spec: .* given one CartPoleVectorEnv"),
        (ppo, lambda: None, {}, "env_spec: cannot be sent to another process .*instead of lambdas"),
        (standardized, "CartPole-v1", {}, "preprocessing_spec: expected layers that learn nothing"),
        (ppo, "CartPole-v1", {"fragment_length": 4}, "fragment_length: expected None: .* rollout_length, 8"),
    ):
        with pytest.raises(SpecError, match=message):
            SyncBatchExecutor(spec, env, backend="numpy", **options)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("rayy", "executor_spec: unknown executor or engine 'rayy'. Did you mean 'ray'"),
        ("sync", "executor_spec: unknown executor or engine 'sync'. Known: apex, .* sync_batch"),
        ({"weights_interval": 2}, "executor_spec.weights_interval: .* no such key. (?!.*report_interval)"),
        ({"actor": 2}, "executor_spec.actor: .* Did you mean 'actors'"),
        ({"num_envs": 2}, "executor_spec.num_envs: expected in the run's 'worker.num_envs', given here"),
        (
            {"report_interval": 2},
            "executor_spec.report_interval: expected in the run's 'logging.report_interval'",
        ),
        ({"actors": 0}, "executor_spec.actors: expected an integer >= 1, given 0"),
        ({"actors": 2.5}, "executor_spec.actors: expected an integer >= 1, given 2.5"),
        ({"max_actor_restarts": -1}, "executor_spec.max_actor_restarts: expected an integer >= 0, given -1"),
        ({"sample_timeout": 0}, "executor_spec.sample_timeout: expected a number > 0, given 0"),
        ({"type": "apex", "replay_shards": 0}, "executor_spec.replay_shards: expected an integer >= 1"),
        ({"engine": {"type": "ray", "cpus": 1}}, "executor_spec.engine.cpus: .* Did you mean 'num_cpus'"),
        (
            {"engine": {"type": "ray", "num_cpus": 0}},
            "engine.num_cpus: expected an integer >= 1 or null, given 0",
        ),
        (
            {"engine": {"cpus": 1}},
            "executor_spec.engine: expected the name of an engine, or a mapping with 'type'",
        ),
        ({"engine": {"type": 3}}, "executor_spec.engine: expected the name of an engine, or a mapping"),
        (5, "executor_spec: expected the name of an executor or an engine, or a mapping, given 5"),
    ],
)
def test_mistakes(spec, message):
    document = {"agent": "ppo", "environment": "CartPole-v1", "steps": 100, "executor_spec": spec}
    with pytest.raises(SpecError, match=message):
        check(document)


def test_mistakes_that_are_found_later_have_their_place_in_the_document(tmp_path):
    agent = {"type": "ppo", "network_spec": [4], "rollout_length": 8}
    document = {"agent": agent, "environment": "CartPole-v1", "backend": "torch", "steps": 8}
    with pytest.raises(
        SpecError, match=r"^executor_spec\.fragment_length: expected None: .* rollout_length, 8"
    ):
        train({**document, "executor_spec": {"fragment_length": 4}}, folder=tmp_path / "run")
    with pytest.raises(SpecError) as caught, options_placed({"engine"}):
        raise SpecError(Fault("no cluster", "engine.address"), Fault("too few", "agent"))
    assert [fault.path for fault in caught.value.faults] == ["executor_spec.engine.address", "agent"]


def test_replay_shards_take_no_data_set(tmp_path):
    spec = {"engine": "in_process", "actors": 1}
    shown = record_data_set(lambda state: 1, "CartPole-v1", 1, tmp_path / "shown.npz", seed=1)
    document = {"environment": "CartPole-v1", "backend": "torch", "steps": 8, "data": {"file": str(shown)}}
    with pytest.raises(
        SpecError, match=r"data\.file: expected none, since ApexExecutor keeps records in other"
    ):
        train({**document, "agent": {"type": "apex"}, "executor_spec": spec}, folder=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_actors_on_the_command_line(monkeypatch, capsys, tmp_path):
    """They change those of a document; without an executor they are refused."""
    documents, file = [], tmp_path / "run.json"
    monkeypatch.setattr(training, "_train", lambda document, folder: documents.append(document))
    document = {"agent": "random", "environment": "CartPole-v1", "steps": 8, "backend": "numpy"}
    file.write_text(json.dumps({**document, "executor_spec": "in_process"}))
    monkeypatch.setattr("sys.argv", ["rlgraph", "train", str(file), "--actors", "3"])
    assert main() == 0
    assert documents[0]["executor_spec"] == {"type": "in_process", "actors": 3}
    monkeypatch.setattr(
        "sys.argv", ["rlgraph", "train", "--agent", "random", "--backend", "numpy", "--actors", "3"]
    )
    assert main() == 2 and len(documents) == 1
    assert "expected --executor beside it, given --actors 3 alone" in capsys.readouterr().err
