"""A memory that fragments of remote actors fill equals one that local steps fill."""

from functools import partial

import numpy as np
import pytest

from rlgraph.agents.conformance.tasks import CueTask, CueVectorEnv
from rlgraph.algorithms.dqn import DQN
from rlgraph.algorithms.sac import SAC
from rlgraph.core import InputError
from rlgraph.experience.fragment import FragmentFormat
from rlgraph.experience.replay import Replay
from rlgraph.learning.actor_spec import ActorSpec
from rlgraph.learning.learner import Learner
from rlgraph.learning.sampler import FragmentSampler, Sampler
from rlgraph.spaces import FloatBox, IntBox

LSTM = [{"type": "dense", "units": 4, "activation": "tanh"}, {"type": "lstm", "units": 4}]
SEQUENCES = {"capacity": 40, "sequence_length": 4, "burn_in": 1, "overlap": 2}
TRANSITIONS = {"type": "prioritized_replay", "capacity": 200}
LENGTH = 5


def make(backend, algorithm, memory, actions, n_step=2):
    layers = LSTM if memory is SEQUENCES else LSTM[:1]
    spec = ActorSpec(
        algorithm,
        CueTask.STATES.to_spec(),
        actions.to_spec(),
        {"network_spec": layers},
        seed=3,
        dtype="float64",
    )
    replay = Replay(memory_spec=memory, n_step=n_step, update_spec={"batch_size": 4})
    learner = Learner(spec, replay, backend)
    lost = ((8, 1), (LENGTH * 3 + 1, 0))  # within a fragment, and in the first step of one
    return spec, learner, CueVectorEnv(partial(CueTask, actions), 2, lost)


@pytest.mark.parametrize(
    ("algorithm", "memory", "actions"),
    [
        (DQN, SEQUENCES, IntBox(3)),
        (SAC, SEQUENCES, FloatBox(-1.0, 1.0, shape=(1,))),
        (DQN, TRANSITIONS, IntBox(3)),
    ],
    ids=["dqn", "sac", "dqn without memory"],
)
def test_a_memory_of_fragments_equals_a_local_one(one_backend, algorithm, memory, actions):
    spec, local, environments = make(one_backend, algorithm, memory, actions)
    sampler = Sampler(spec.build(), environments, local.cut)
    sampler.reset(seed=7)
    spec, remote, environments = make(one_backend, algorithm, memory, actions)
    every = remote.experience.internal_state_interval
    states, kept = remote.state_space, remote.graph.algorithm.internal_states_space
    layout = FragmentFormat(states, actions, kept, dtype="float64", internal_state_interval=every)
    collector = FragmentSampler(spec.build(), environments, LENGTH, internal_state_interval=every)
    collector.reset(seed=7)
    for iteration in range(7):
        for learner, actor in ((local, sampler.actor), (remote, collector.actor)):
            actor.set_weights(learner.weights_message())
        for _ in range(LENGTH):
            local.add(sampler.step())
        assert remote.insert(layout.from_bytes(layout.to_bytes(collector.collect())))
        if iteration > 2:
            assert local.update() == remote.update()
        if iteration == 4:  # the running episodes are cut between two fragments
            sampler.reset(seed=8)
            collector.reset(seed=8)
    expected = local.executor.get_weights()
    assert local.steps == remote.steps
    for name, value in remote.executor.get_weights().items():
        np.testing.assert_array_equal(value, expected[name], err_msg=name)


def test_fragments_without_states_are_refused(one_backend):
    spec, learner, environments = make(one_backend, DQN, SEQUENCES, IntBox(3))
    with pytest.raises(
        InputError, match="expected the internal states before each step.*internal_state_interval=1"
    ):
        learner.insert(FragmentSampler(spec.build(), environments, LENGTH).collect())
