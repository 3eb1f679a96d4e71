"""An environment that crashes is replaced, counted, and its episode thrown away."""

import warnings

import numpy as np
import pytest

from rlgraph.core.errors import SpecError
from rlgraph.environments import (
    DeterministicEnv,
    EnvironmentFault,
    FaultyEnv,
    SequentialVectorEnv,
    environment_seed,
    make_vector_env,
)
from rlgraph.spaces import FloatBox, IntBox

ACTIONS = np.zeros(2, np.int64)


def one_faulty(**options):
    """Environment 0 raises in step 2 of its second episode; environment 1 never; episodes have 3 steps."""
    return SequentialVectorEnv(
        [lambda: FaultyEnv("raise", 2, steps_to_terminal=3), lambda: DeterministicEnv(3, 0.0)], **options
    )


def run(env, steps):
    for _ in range(steps):
        result = env.step(ACTIONS)
    return result


def test_a_crash_drops_its_row_and_no_other():
    env = one_faulty()
    env.reset(seed=0)
    run(env, 4)
    assert env.dropped == [] and env.restarts == 0
    with pytest.warns(
        RuntimeWarning, match=r"environment 0: crashed .*RuntimeError: a fault that was asked for"
    ):
        states, rewards, terminated, truncated, infos = env.step(ACTIONS)
    assert (env.dropped, env.finished, env.restarts) == ([0], [], 1)
    assert states.tolist() == [[0.0], [2.0]] and rewards.tolist() == [0.0, 1.0]
    assert not terminated.any() and not truncated.any() and infos == [{}, {}]
    states, *_ = env.step(ACTIONS)
    assert env.dropped == [] and states.tolist() == [[1.0], [0.0]] and env.finished == [1]
    assert env.final_states.tolist() == [[1.0], [3.0]]


def test_it_is_warned_of_once_and_raised_when_the_limit_is_reached():
    env = one_faulty(max_restarts=2)
    env.reset()
    with (
        pytest.warns(RuntimeWarning) as warned,
        pytest.raises(EnvironmentFault, match=r"asked for .*; after 2 restarts \(max_restarts\)"),
    ):
        run(env, 100)
    assert len(warned) == 1 and env.restarts == 2


def test_no_restart_in_the_first_episode_of_instances_or_with_limit_zero():
    for env in (
        SequentialVectorEnv([lambda: FaultyEnv("raise", 2, 0)]),
        SequentialVectorEnv([FaultyEnv("raise", 2, steps_to_terminal=3)]),
        SequentialVectorEnv([lambda: FaultyEnv("raise", 2, steps_to_terminal=3)], max_restarts=0),
    ):
        env.reset()
        with warnings.catch_warnings(), pytest.raises(EnvironmentFault, match="step 2: raised .*asked for"):
            warnings.simplefilter("error")
            for _ in range(9):
                env.step(ACTIONS[:1])
        assert env.restarts == 0


class Broken(DeterministicEnv):
    """Its rewards are no numbers from the second episode on: a mistake, no crash."""

    episode = -1

    def reset(self, seed=None):
        self.episode += 1
        return super().reset(seed)

    def step(self, action):
        state, reward, *rest = super().step(action)
        return state, float("nan") if self.episode else reward, *rest


def test_a_broken_contract_is_raised():
    env = SequentialVectorEnv([lambda: Broken(1)])
    env.reset()
    env.step(ACTIONS[:1])
    with pytest.raises(EnvironmentFault, match="environment 0, step 1: the reward is nan"):
        env.step(ACTIONS[:1])


class FailsToReset(DeterministicEnv):
    resets = 0

    def reset(self, seed=None):
        type(self).resets += 1
        if self.resets == 2:
            raise OSError("gone")
        return super().reset(seed)


def test_a_reset_that_fails_after_an_end_costs_no_transition():
    env = SequentialVectorEnv([lambda: FailsToReset(1, 5.0)])
    env.reset()
    with pytest.warns(RuntimeWarning, match="OSError: gone"):
        states, rewards, terminated, *_ = env.step(ACTIONS[:1])
    assert (env.finished, env.dropped, env.restarts) == ([0], [], 1)
    assert rewards.tolist() == [5.0] and terminated.tolist() == [True] and states.tolist() == [[0.0]]


def test_a_replacement_with_other_spaces_is_a_mistake():
    made = []

    def make():
        env = FaultyEnv("raise", 1, steps_to_terminal=1)
        if made:
            env.action_space, env.state_space = IntBox(3), FloatBox(shape=(1,))
        made.append(env)
        return env

    env = SequentialVectorEnv([make])
    env.reset()
    env.step(ACTIONS[:1])
    with pytest.warns(RuntimeWarning), pytest.raises(EnvironmentFault, match="the same action_space"):
        env.step(ACTIONS[:1])


@pytest.mark.parametrize("limit", [-1, 1.5, True, "3"])
def test_wrong_limits(limit):
    with pytest.raises(SpecError, match="max_restarts: expected an integer >= 0"):
        make_vector_env({"type": "deterministic"}, 2, max_restarts=limit)


class Seeded(DeterministicEnv):
    """Tells its seeds; raises in the first step of its second episode."""

    seeds = ()

    def reset(self, seed=None):
        self.seeds.append(seed)
        self.number = 0 if seed is not None else self.number + 1
        return super().reset(seed)

    def step(self, action):
        if self.number:
            raise RuntimeError("again")
        return super().step(action)


def test_each_replacement_has_a_seed_of_its_own(monkeypatch):
    monkeypatch.setattr(Seeded, "seeds", [])
    env = SequentialVectorEnv([lambda: Seeded(1)], first_index=5)
    env.reset(seed=3)
    with pytest.warns(RuntimeWarning):
        for _ in range(4):
            env.step(ACTIONS[:1])
    given = [seed for seed in Seeded.seeds if seed is not None]
    assert given == [environment_seed(3, 5), environment_seed(3, 5, 0, 1), environment_seed(3, 5, 0, 2)]
