"""Two learners on parts of a batch do what one does on the whole, for every algorithm."""

from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

from rlgraph.agents import Agent
from rlgraph.agents.conformance.learner_groups import (
    CASES,
    CATEGORY,
    COLUMNS,
    LAYERS,
    STATES,
    Share,
    differences,
    run_case,
    run_in_processes,
)
from rlgraph.algorithms.ppo import PPO
from rlgraph.core import AssemblyError, memory_group, registry
from rlgraph.learning.agent_options import split_options
from rlgraph.learning.learner import Learner

#: What is run in processes, where it takes longer.
SOME = ("ppo", "ppo-statistics", "dqn", "sac")


def check_equal(whole, parts):
    for kind, difference in differences(whole, parts).items():
        assert difference < 1e-10, kind


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(
    "first",
    [COLUMNS // 2, pytest.param(COLUMNS // 4, marks=pytest.mark.repetition)],
    ids=["half", "quarter"],
)
def test_two_learners_are_one_on_the_whole_batch(case, first, backend, execution):
    def run(rank, collective):
        return run_case(case, backend, Share(first, rank), 20, execution(backend), collective)

    with ThreadPoolExecutor(2) as pool:
        parts = list(pool.map(run, (0, 1), memory_group(2)))
    check_equal(run(None, None), parts)


@pytest.mark.slow
@pytest.mark.parametrize(("framework", "collective"), [("torch", "gloo"), ("tf", "tensorflow")])
def test_two_processes_are_one_on_the_whole_batch(framework, collective, execution):
    if collective not in registry("rlgraph.collectives").names():
        pytest.skip(f"{collective} is not installed")
    execution_spec = execution(framework)
    spec = {"type": collective, **({"allow_network": True} if collective == "tensorflow" else {})}
    parts = run_in_processes(SOME, framework, spec, COLUMNS // 2, 5, execution_spec)
    for case in SOME:
        check_equal(run_case(case, framework, Share(COLUMNS // 2), 5, execution_spec), parts[case])


@pytest.mark.parametrize("n_step", [1, 2])
@pytest.mark.parametrize("env_id", [None, ["a", "b", "c"]])
def test_steps_that_are_observed_count_for_all_learners(n_step, env_id):
    """Whichever way they go into the memory, and also where they wait for their next states."""
    spec = {"type": "dqn", "network_spec": LAYERS, "n_step": n_step}
    agent = Agent.from_spec(spec, state_space=STATES, action_space=CATEGORY, backend="numpy")
    agent.learner.group = SimpleNamespace(size=2)
    rng = np.random.default_rng(0)
    states, actions = (space.with_batch_rank().sample(3, rng=rng) for space in (STATES, CATEGORY))
    given = {"rewards": np.ones(3), "terminals": np.zeros(3, bool), "env_id": env_id, "batched": True}
    for next_states in (states, states, None, states):
        agent.observe(states, actions, next_states=next_states, **given)
    assert agent.timesteps == 4 * 3 * 2


def test_intrinsic_rewards_are_refused():
    parts = split_options(PPO, STATES, CATEGORY, network_spec=LAYERS, intrinsic_reward="rnd")
    (alone,) = memory_group(1)
    with pytest.raises(
        AssemblyError, match="ppo/intrinsic-reward: a group of learners has no intrinsic rewards"
    ):
        Learner(*parts[:2], "numpy", parts[2], collective=alone)
