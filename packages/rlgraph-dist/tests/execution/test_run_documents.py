"""Documents of runs whose actors are elsewhere."""

import gymnasium
import pytest

from rlgraph.agents import Agent
from rlgraph.core import SpecError
from rlgraph.execution import ImpalaExecutor, SyncBatchExecutor
from rlgraph.runs.configuration import check
from rlgraph.runs.executors import worker_class
from rlgraph.workers import SingleThreadedWorker


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
        (standardized, "CartPole-v1", {}, "preprocessing_spec: expected layers that learn nothing"),
        (ppo, "CartPole-v1", {"fragment_length": 4}, "fragment_length: expected None: .* rollout_length, 8"),
    ):
        with pytest.raises(SpecError, match=message):
            SyncBatchExecutor(spec, env, backend="numpy", **options)
    agent = Agent.from_spec(ppo, env="CartPole-v1", backend="numpy")
    executor = SyncBatchExecutor(agent, lambda: gymnasium.make("CartPole-v1"), engine="none")
    with pytest.raises(SpecError, match=r"executor: cannot be sent to another process .*instead of lambdas"):
        executor.execute(steps=100)  # before the engine is looked for
    executor = SyncBatchExecutor(ppo, "CartPole-v1", backend="numpy", fragment_length=8)
    with pytest.raises(SpecError, match=r"workload\.num_timesteps: missing"):
        executor.execute_workload({"report_interval": 10})


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("rayy", "executor_spec.engine: unknown engine 'rayy'. Did you mean 'ray'"),
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
        (5, "executor_spec: expected the name of an engine, or a mapping, given 5"),
    ],
)
def test_mistakes(spec, message):
    document = {"agent": "ppo", "environment": "CartPole-v1", "steps": 100, "executor_spec": spec}
    with pytest.raises(SpecError, match=message):
        check(document)
