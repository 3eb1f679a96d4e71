"""Two algorithms learn from two actors that are built from their specs and send fragments as bytes.

Episodes are truncated, environments are reset in the middle of fragments, and actors are killed: a new one begins with
the newest weights, and what the old one sends late is not learned from.
"""

import numpy as np

from rlgraph.algorithms.dqn import DQN
from rlgraph.algorithms.ppo import PPO
from rlgraph.core import ExecutionSpec
from rlgraph.environments.vector_env import VectorEnv
from rlgraph.experience.fragment import FragmentFormat, Origin
from rlgraph.experience.replay import Replay
from rlgraph.experience.rollouts import Rollouts
from rlgraph.learning.actor_spec import ActorSpec
from rlgraph.learning.learner import Learner
from rlgraph.learning.sampler import FragmentSampler
from rlgraph.spaces import FloatBox, IntBox


def execution_of(backend):
    """One thread; TensorFlow's cannot change in a process that has used it."""
    return ExecutionSpec(threads=1 if backend == "torch" else None)


class SmallVectorEnv(VectorEnv):
    """N environments in NumPy; an episode is truncated after `length` steps."""

    length = 4

    def __init__(self, number):
        self.num_environments, self.finished, self.dropped = number, [], ()
        self._final = None

    def reset(self, seed=None):
        self.rng = np.random.default_rng(seed)
        self.time = np.zeros(self.num_environments, int)
        self.begin(np.arange(self.num_environments))
        self.finished, self._final = [], self.states()
        return self._final

    def step(self, actions):
        rewards = (np.asarray(actions) == self.answers()).astype(np.float32)
        self.time += 1
        self.advance()
        self._final = self.states()
        ends = self.time == self.length
        self.finished = np.flatnonzero(ends).tolist()
        self.time[ends] = 0
        self.begin(np.flatnonzero(ends))
        states = self.states() if self.finished else self._final
        return states, rewards, np.zeros_like(ends), ends, [{}] * len(ends)

    def advance(self):
        """One step of time."""

    @property
    def final_states(self):
        return self._final

    def describe(self, index):
        return f"environment {index}"

    def terminate(self):
        pass


class Cue(SmallVectorEnv):
    """The first state shows a cue that every action of the episode has to repeat: it takes a memory."""

    state_space, action_space = FloatBox(shape=(2,)), IntBox(2)

    def begin(self, rows):
        if not hasattr(self, "cue") or len(rows) == self.num_environments:
            self.cue = np.zeros(self.num_environments, int)
        self.cue[rows] = self.rng.integers(0, 2, len(rows))

    def answers(self):
        return self.cue

    def states(self):
        first = self.time == 0
        return np.stack([first * (2.0 * self.cue - 1.0), 1.0 - first], -1).astype(np.float32)


class Moving(SmallVectorEnv):
    """A dot moves left or right on a ring of six; the action has to name the direction, which takes two frames."""

    state_space, action_space = FloatBox(shape=(6, 1)), IntBox(2)

    def begin(self, rows):
        if not hasattr(self, "place") or len(rows) == self.num_environments:
            self.place, self.right = np.zeros((2, self.num_environments), int)
        self.place[rows] = self.rng.integers(0, 6, len(rows))
        self.right[rows] = self.rng.integers(0, 2, len(rows))

    def advance(self):
        self.place = (self.place + 2 * self.right - 1) % 6

    def answers(self):
        return self.right

    def states(self):
        return np.eye(6, dtype=np.float32)[self.place][..., None]


class Actors:
    """Two actors; each has its own environments, and everything passes as bytes."""

    def __init__(self, spec, learner, environment, length, frames=None):
        self.spec, self.learner, self.environment, self.length = spec, learner, environment, length
        self.format = FragmentFormat(
            learner.state_space,
            environment.action_space,
            learner.graph.algorithm.internal_states_space,
            frames=frames,
        )
        self.incarnations = [0, 0]
        self.samplers = [self.start(0), self.start(1)]

    def start(self, actor):
        sampler = FragmentSampler(
            self.spec.build(draw_seed=[self.spec.seed, actor, self.incarnations[actor]]),
            self.environment(8),
            self.length,
            actor,
            self.incarnations[actor],
        )
        sampler.reset(seed=10 * actor + self.incarnations[actor])
        return sampler

    def kill(self, actor):
        """Start the actor again; what the killed one still sends."""
        late = self.samplers[actor].collect()
        self.incarnations[actor] += 1
        self.samplers[actor] = self.start(actor)
        return self.format.from_bytes(self.format.to_bytes(late))

    def collect(self):
        message = self.learner.weights_message()
        fragments = []
        for sampler in self.samplers:
            sampler.actor.set_weights(message)
            fragments.append(self.format.from_bytes(self.format.to_bytes(sampler.collect())))
        return fragments


def test_ppo_with_a_memory_learns_from_truncated_episodes(backend):
    network = [{"type": "dense", "units": 16, "activation": "tanh"}, {"type": "lstm", "units": 16}]
    options = {
        "network_spec": network,
        "optimizer_spec": {"type": "adam", "learning_rate": 1e-2},
        "discount": 0.9,
        "num_minibatches": 2,
    }
    spec = ActorSpec(PPO, Cue.state_space.to_spec(), Cue.action_space.to_spec(), options, seed=3)
    learner = Learner(spec, Rollouts(rollout_length=8), backend, execution_of(backend))
    actors, rewards = Actors(spec, learner, Cue, 8), []
    for iteration in range(45):
        if iteration == 20:
            late = actors.kill(1)
            assert not learner.is_new(late.origin) or late.origin == Origin(1, 0, 20)
        if iteration == 25:
            actors.samplers[0].step()
            actors.samplers[0].reset(seed=99)
        fragments = actors.collect()
        learner.learn_from(fragments)
        rewards.append(np.mean([fragment.rewards.mean() for fragment in fragments]))
    assert rewards[0] < 0.75
    assert np.mean(rewards[-5:]) > 0.95


def test_dqn_with_frame_stacks_and_two_step_returns_learns(backend):
    options = {
        "network_spec": [
            {"type": "reshape", "flatten": True},
            {"type": "dense", "units": 32, "activation": "relu"},
        ],
        "optimizer_spec": {"type": "adam", "learning_rate": 3e-3},
        "exploration_spec": {"epsilon_spec": 0.2},
        "sync_interval": 256,
    }
    spec = ActorSpec(
        DQN,
        Moving.state_space.to_spec(),
        Moving.action_space.to_spec(),
        options,
        preprocessing_spec=[{"type": "sequence", "sequence_length": 2, "add_rank": False}],
        seed=3,
    )
    replay = Replay(discount=0.9, n_step=2, memory_spec={"capacity": 2000}, update_spec={"batch_size": 64})
    learner = Learner(spec, replay, backend, execution_of(backend))
    actors, rewards = Actors(spec, learner, Moving, 5, frames={"": 1}), []
    for iteration in range(50):
        if iteration == 15:
            late = actors.kill(0)
            learner.insert(actors.samplers[0].collect())
            assert not learner.insert(late)
        if iteration == 20:
            actors.samplers[1].step()
            actors.samplers[1].reset(seed=99)
        fragments = actors.collect()
        for fragment in fragments:
            assert learner.insert(fragment)
        for _ in range(10):
            learner.update()
        # The first state of an episode does not show where the dot goes.
        rewards.append(np.mean([fragment.rewards[~fragment.begins].mean() for fragment in fragments]))
    assert rewards[0] < 0.75
    assert np.mean(rewards[-5:]) > 0.85
