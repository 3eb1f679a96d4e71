"""Options of executors where RLgraph 0.5 had them."""

import logging

import pytest

from rlgraph.core import SpecError
from rlgraph.execution import ApexExecutor as PlainApexExecutor
from rlgraph.execution.ray import ApexExecutor, SyncBatchExecutor
from rlgraph.execution.ray.ray_spec import NAMES, options_of

APEX = {
    "type": "apex",
    "network_spec": [8],
    "memory_spec": {"capacity": 200},
    "update_spec": {"steps_before_update": 64, "update_interval": 32, "batch_size": 8},
}
RAY_SPEC = {
    "executor_spec": {
        "redis_address": None,
        "num_sample_workers": 3,
        "num_worker_samples": 4,
        "env_interaction_task_depth": 1,
        "num_replay_workers": 2,
        "replay_sampling_task_depth": 3,
    },
    "worker_spec": {"num_worker_environments": 2, "worker_frame_skip": 2},
}


def test_the_code_of_the_documents_runs(caplog):
    """Their names of arguments; only the engine is not Ray."""
    agent_config = {**APEX, "execution_spec": {"threads": 1, "ray_spec": RAY_SPEC}}
    executor = ApexExecutor(
        environment_spec={"type": "openai", "gym_env": "CartPole-v1"},
        agent_config=agent_config,
        backend="torch",
        engine="in_process",
    )
    assert (executor.actors, executor.num_envs, executor.requests_per_actor) == (3, 6, 1)
    assert (executor.replay_shards, executor.batches_ahead, executor.frameskip) == (2, 3, 2)
    assert "ray_spec" in agent_config["execution_spec"]
    with caplog.at_level(logging.INFO, "rlgraph.execution"):
        result = executor.execute_workload(
            workload={"num_timesteps": 192, "report_interval": 96, "report_interval_min_seconds": 0}
        )
    assert result["timesteps_executed"] == 192 and executor.local_agent.updates == result.updates > 0
    assert [message.split(":")[0] for message in caplog.messages if "steps_per_second" in message] == [
        "step 96",
        "step 192",
    ]
    workload = {"num_timesteps": 96, "report_interval": 48, "report_interval_min_seconds": 1000}
    caplog.clear()
    with caplog.at_level(logging.INFO, "rlgraph.execution"):
        executor.execute_workload(workload)
    assert not any("steps_per_second" in message for message in caplog.messages)


def test_options_of_the_engine():
    spec = {
        "executor_spec": {"redis_address": "10.0.0.1:6379", "num_cpus": 4},
        "worker_spec": {"num_cpus": 0.5},
    }
    engine = {"type": "ray", "address": "10.0.0.1:6379", "num_cpus": 4, "cpus_per_actor": 0.5}
    assert options_of(spec, ApexExecutor) == {"engine": engine}


def test_every_other_key_is_answered():
    """All at once, each by what to do."""
    spec = {section: dict.fromkeys(keys) for section, keys in NAMES.items()}
    spec["executor_spec"]["num_sample_worker"] = 3
    with pytest.raises(SpecError) as caught:
        options_of(spec, ApexExecutor)
    faults = {fault.path.rpartition("ray_spec.")[2]: fault.text for fault in caught.value.faults}
    assert "weights_interval" in faults["executor_spec.weight_sync_steps"]
    assert "steps_before_update" in faults["apex_replay_spec.min_sample_memory_size"]
    assert faults["executor_spec.num_sample_worker"].endswith("Did you mean 'num_sample_workers'?")
    translated = {
        f"{section}.{key}"
        for section, keys in NAMES.items()
        for key, name in keys.items()
        if not name.endswith(".")
    }
    assert not translated & faults.keys() and len(translated) + len(faults) == 1 + sum(
        map(len, NAMES.values())
    )


def test_options_that_are_given_twice_are_refused():
    agent = {**APEX, "execution_spec": {"ray_spec": RAY_SPEC}}
    with pytest.raises(SpecError, match=r"given here and in execution_spec\.ray_spec: actors"):
        ApexExecutor(agent, "CartPole-v1", actors=2, backend="torch")
    with pytest.raises(SpecError, match=r"ray_spec: expected a mapping, given 3"):
        SyncBatchExecutor({**APEX, "execution_spec": {"ray_spec": 3}}, "CartPole-v1", backend="torch")
    with pytest.raises(SpecError, match=r"execution_spec\.ray_spec.*rlgraph\.execution\.ray"):
        PlainApexExecutor(agent, "CartPole-v1", backend="torch")
