"""Samplers, apart from agents."""

import numpy as np
import pytest
from doubles import Episodes

from rlgraph.agents import DQNAgent, PPOAgent
from rlgraph.environments import Environment, EnvironmentFault, SequentialVectorEnv
from rlgraph.environments.factory import make_vector_env
from rlgraph.learning.sampler import FragmentSampler, Sampler
from rlgraph.spaces import FloatBox, IntBox
from rlgraph.testing.environments import CountingEnvironment


def make(seed):
    layers = [{"type": "dense", "units": 2}]
    return PPOAgent(FloatBox(shape=(4,)), IntBox(2), backend="numpy", seed=seed, network_spec=layers)


def store_running(folder):
    """Store an agent whose episodes have begun; gives its sampler."""
    agent = make(1)
    sampler = agent.make_sampler(make_vector_env("CartPole-v1", 2))
    sampler.reset(seed=1)
    agent.observe_step(sampler.step())
    agent.store_model(folder)
    return sampler


def test_it_continues_from_a_file_where_actors_have_no_table(tmp_path):
    """Empty tables are not in the file."""
    sampler = store_running(tmp_path / "model")
    other = make(2)
    other.load_model(tmp_path / "model")
    continued = other.make_sampler(make_vector_env("CartPole-v1", 2))
    continued.restore(sampler.get_states())
    for _ in range(3):
        np.testing.assert_array_equal(continued.step().next_states, sampler.step().next_states)


def test_a_loaded_agent_that_is_stored_again_keeps_the_running_episodes(tmp_path):
    """A run that is resumed and interrupted before its first step stores what it loaded."""
    sampler = store_running(tmp_path / "model")
    other, third = make(2), make(3)
    other.load_model(tmp_path / "model")
    other.store_model(tmp_path / "again")
    third.load_model(tmp_path / "again")
    continued = third.make_sampler(make_vector_env("CartPole-v1", 2))
    continued.restore(sampler.get_states())
    np.testing.assert_array_equal(continued.states, sampler.states)
    # Steps of a user's own loop end these episodes.
    other.load_model(tmp_path / "model")
    other.observe(np.zeros((2, 4)), [0, 1], [0.0, 0.0], [False, False], batched=True)
    assert other.experience_state()["sampler"] is None


def test_environments_that_got_lost_may_be_a_tuple(monkeypatch):
    """`VectorEnv.dropped` is any sequence."""
    environments = make_vector_env("CartPole-v1", 3)
    sampler = make(1).make_sampler(environments)
    sampler.reset(seed=1)
    step = environments.step

    def losing(actions):
        result = step(actions)
        environments.dropped = (0, 2)
        return result

    monkeypatch.setattr(environments, "step", losing)
    assert sampler.step().valid.tolist() == [False, True, False]


class Breaking(Episodes):
    """Counts its steps; the state has `width` numbers, and one of them is not finite in step 3."""

    def __init__(self, width, value):
        super().__init__(FloatBox(shape=(width,)), length=None, reward=0.0)
        self.value = value

    def state(self):
        state = np.full(self.state_space.shape, self.steps, np.float32)
        state[1] = self.value if self.steps == 3 else self.steps
        return state


@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("width", [2, 40])
def test_states_that_are_not_finite(width, value):
    """They are found whoever collects the steps, few numbers and many."""
    environments = SequentialVectorEnv([lambda: Breaking(width, value)] * 2)
    layers = [{"type": "dense", "units": 2}]
    agent = PPOAgent(FloatBox(shape=(width,)), IntBox(2), backend="numpy", network_spec=layers)
    sampler = FragmentSampler(agent.new_actor(2), environments, length=5)
    with pytest.raises(EnvironmentFault, match=rf"Breaking, environment 0, step 3: state\[1\] is {value}"):
        sampler.collect()


def test_messages_count_the_steps_before_a_resume(tmp_path):
    sampler, other = store_running(tmp_path / "model"), make(2)
    other.load_model(tmp_path / "model")
    continued = other.make_sampler(environments := make_vector_env("CartPole-v1", 2))
    continued.restore(sampler.get_states())
    continued.step()
    broken = np.full((2, 4), np.nan, np.float32)
    with pytest.raises(EnvironmentFault, match="CartPole-v1, environment 0, step 3: "):
        continued._checks.step(broken, np.zeros(2, bool), np.zeros(2, bool))
    environments.terminate()


# Preprocessors.


class Counting(CountingEnvironment, Environment):
    def __init__(self, steps_to_end):
        CountingEnvironment.__init__(self, steps_to_end, action_space=IntBox(2))


def make_counting(*spec):
    """An agent for environments that count their steps from 0, and two of them, with episodes of 2 and 3 steps."""
    agent = DQNAgent(FloatBox(shape=(1,)), IntBox(2), backend="numpy", preprocessing_spec=list(spec))
    return agent, SequentialVectorEnv([Counting(2), Counting(3)])


def test_each_state_is_preprocessed_once_and_in_order():
    agent, environments = make_counting({"type": "sequence", "sequence_length": 2, "add_rank": False})
    sampler = agent.make_sampler(environments)
    sampler.reset()
    steps = [sampler.step() for _ in range(4)]
    assert [step.states.tolist() for step in steps] == [
        [[0, 0], [0, 0]],
        [[0, 1], [0, 1]],
        [[0, 0], [1, 2]],
        [[0, 1], [0, 0]],
    ]
    assert [step.next_states.tolist() for step in steps] == [
        [[0, 1], [0, 1]],
        [[1, 2], [1, 2]],
        [[0, 1], [2, 3]],
        [[1, 2], [0, 1]],
    ]


def test_only_the_actor_of_training_teaches_the_preprocessor():
    agent, environments = make_counting({"type": "moving_standardize"})
    probe = np.full((1, 1), 5.0, np.float32)

    def seen():
        return agent.new_actor().preprocess(probe).tolist()

    untaught = seen()
    player = Sampler(agent.new_actor(), environments)
    player.reset()
    player.step()
    assert seen() == untaught
    teacher = agent.make_sampler(environments)
    teacher.reset()
    teacher.step()
    assert seen() != untaught
