"""Options of executors that are given in Python: each mistake is found before anything starts."""

import math

import pytest

from rlgraph.agents import Agent
from rlgraph.core import SpecError
from rlgraph.execution import ApexExecutor, ImpalaExecutor, SyncBatchExecutor
from rlgraph.execution.ray import SyncBatchExecutor as RaySyncBatchExecutor

PPO = {"type": "ppo", "network_spec": [4], "rollout_length": 8}


def make(kind=SyncBatchExecutor, agent=PPO, env_spec="CartPole-v1", **options):
    if not isinstance(agent, Agent):
        options = {"backend": "numpy", **options}
    return kind(agent, env_spec, **options)


@pytest.fixture(scope="module")
def agent():
    return Agent.from_spec(PPO, env="CartPole-v1", backend="numpy", seed=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_actors": 2}, r"num_actors: SyncBatchExecutor has no such key\. Did you mean 'actors'\?"),
        ({"replay_shards": 2}, r"replay_shards: SyncBatchExecutor has no such key"),
        ({"actors": 0}, "actors: expected an integer >= 1, given 0"),
        ({"vectorization": "nativ"}, "vectorization: expected one of 'auto', .* given 'nativ'"),
        ({"max_restarts": "x"}, "max_restarts: expected an integer >= 0, given 'x'"),
        ({"processes": 0}, "processes: expected an integer >= 1 or null, given 0"),
        ({"processes": "a"}, "processes: expected an integer >= 1 or null, given 'a'"),
        ({"step_timeout": 0}, "step_timeout: expected a number > 0 or null, given 0"),
        ({"validate_states": "yes"}, "validate_states: expected true or false, given 'yes'"),
        ({"report_interval": "a"}, "report_interval: expected an integer, given 'a'"),
        ({"engine": False}, "engine: expected the name of an engine, or a mapping with 'type', given False"),
        ({"engine": {"type": 3}}, "engine: expected the name of an engine"),
        ({"engine": "none"}, "engine: unknown engine 'none'"),
        ({"engine": {"type": "ray", "cpus": 1}}, r"engine\.cpus: RayEngine has no such key"),
        ({"agent_config": PPO}, "agent_config: expected 'agent' or 'agent_config', given both"),
        ({"environment_spec": "Acrobot-v1"}, "environment_spec: expected 'env_spec' or 'environment_spec'"),
    ],
)
def test_mistakes(options, message):
    with pytest.raises(SpecError, match=rf"^{message}"):
        make(**options)


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (ImpalaExecutor, {"fragments_per_update": 0}, "fragments_per_update: expected an integer >= 1"),
        (ImpalaExecutor, {"fragment_per_update": 2}, ".* Did you mean 'fragments_per_update'"),
        (ApexExecutor, {"batches_ahead": 0.5}, "batches_ahead: expected an integer >= 1, given 0.5"),
    ],
)
def test_mistakes_in_options_of_one_executor(kind, options, message):
    with pytest.raises(SpecError, match=message):
        make(kind, **options)


def test_an_agent_that_exists(agent):
    for options, message in (
        ({"env_spec": "Acrobot-v1"}, "does not fit the environment Acrobot-v1: it was made for states"),
        ({"backend": "torch"}, "backend: expected None, since the agent exists, given 'torch'"),
        ({"seed": 0}, "seed: expected None, since the agent exists, given 0"),
    ):
        with pytest.raises(SpecError, match=message):
            make(agent=agent, **options)
    assert make(agent=agent).agent is agent


@pytest.mark.parametrize(
    ("workload", "message"),
    [
        (1000, "workload: expected a mapping with 'num_timesteps', given 1000"),
        ({"report_interval": 10}, r"workload\.num_timesteps: missing"),
        ({"num_timesteps": 10, "intervall": 1}, r"workload\.intervall: Workload has no such key"),
        ({"num_timesteps": math.nan}, r"workload\.num_timesteps: expected an integer >= 0, given nan"),
        (
            {"num_timesteps": 10, "report_interval": "a"},
            r"workload\.report_interval: expected an integer >= 1",
        ),
        (
            {"num_timesteps": 10, "report_interval": -5},
            r"workload\.report_interval: expected an integer >= 1",
        ),
        (
            {"num_timesteps": 10, "report_interval_min_seconds": None},
            r"workload\.report_interval_min_seconds: expected a number >= 0, given None",
        ),
    ],
)
def test_mistakes_in_a_workload(agent, workload, message):
    with pytest.raises(SpecError, match=message):
        make(agent=agent).execute_workload(workload)


def test_steps_are_a_number(agent):
    with pytest.raises(SpecError, match="timesteps: expected a number of steps >= 0, given nan"):
        make(agent=agent).execute(steps=math.nan)


def test_options_of_ray_spec_that_the_executor_lacks():
    spec = {"ray_spec": {"executor_spec": {"num_replay_workers": 2}}}
    with pytest.raises(
        SpecError,
        match=r"ray_spec\.executor_spec\.num_replay_workers: SyncBatchExecutor has no 'replay_shards': leave it out",
    ):
        make(RaySyncBatchExecutor, {**PPO, "execution_spec": spec})
