"""Ape-X (Horgan et al., 2018): what differs from DQN. Actors elsewhere are tested in rlgraph-dist."""

import numpy as np
import pytest

from rlgraph.agents import Agent
from rlgraph.core import NumericalError, SpecError
from rlgraph.experience.messages import unpack_message

SMALL = {"type": "apex", "network_spec": [{"type": "dense", "units": 4}], "backend": "numpy", "seed": 3}


def make(**options):
    return Agent.from_spec({**SMALL, **options}, env="CartPole-v1")


def epsilons(agent, count):
    """Of all actors, at the end of training."""
    specs = [agent.learner.spec.of_actor(number, count) for number in range(count)]
    return [spec.make_graph().algorithm.exploration.metrics(1.0)["epsilon"] for spec in specs]


def test_the_defaults():
    agent = make()
    experience, algorithm = agent.learner.experience, agent.learner.graph.algorithm
    assert (experience.n_step, experience.discount, experience.is_prioritized) == (3, 0.99, True)
    assert (experience.memory.alpha, experience.memory.beta.value(0.5)) == (0.6, 0.4)
    assert algorithm.loss.double_q
    assert type(algorithm.policy).__name__ == "DuelingPolicy"
    assert make(n_step=1).learner.experience.n_step == 1
    # Other options of a memory keep its capacity, however they are written.
    capacity = make().executor.root.memory.capacity
    assert make(memory_spec="prioritized_replay").executor.root.memory.capacity == capacity > 1000


def test_every_actor_has_its_own_epsilon():
    agent = make(exploration_spec={"epsilon_spec": [1.0, 0.25], "each_part": True})
    expected = [0.4 ** (1 + 7 * i / 3) for i in range(4)]  # Horgan et al. (2018), section 4
    np.testing.assert_allclose(epsilons(agent, 4), expected)
    assert epsilons(agent, 1) == [0.4]
    np.testing.assert_allclose(epsilons(make(epsilon_base=0.5, epsilon_alpha=2.0), 3), [0.5, 0.25, 0.125])
    assert agent.learner.graph.algorithm.exploration.metrics(1.0)["epsilon"] == 0.25
    assert agent.learner.spec.of_actor(1, 4).options["exploration_spec"]["each_part"]


def test_several_updates_at_a_time_synchronise_between_them(one_backend, monkeypatch):
    agent = make(
        backend=one_backend,
        sync_interval=2,
        memory_spec={"capacity": 16},
        update_spec={"steps_before_update": 8, "update_interval": 8, "update_steps": 5, "batch_size": 2},
        n_step=1,
    )
    program, called = agent.executor.program, []
    monkeypatch.setattr(agent.executor, "program", lambda name: called.append(name) or program(name))
    agent.observe(
        states=np.zeros((9, 4), np.float32),
        actions=np.zeros(9, int),
        rewards=np.ones(9),
        terminals=np.ones(9, bool),
        batched=True,
        env_id="x",
    )
    agent.update_if_due()
    done = [name for name in called if name in ("update_from_memory", "sync_target")]
    update, synchronise = "update_from_memory", "sync_target"
    assert done == [update, update, synchronise, update, update, synchronise, update]


def test_an_actor_with_its_own_epsilon_takes_the_weights_of_all():
    agent = make()
    actor = agent.learner.spec.of_actor(2, 4).build()
    actor.set_weights(message := agent.learner.weights_message())
    assert unpack_message(message)[0]["digest"] == actor._weights.digest
    states = np.random.default_rng(0).normal(size=(5, 4)).astype("float32")
    actor.resize(5)
    np.testing.assert_array_equal(actor.act(states, False), agent.get_actions(states, use_exploration=False))


def test_noise_is_the_same_for_all_actors():
    agent = make(exploration_spec={"noise_spec": {"type": "gumbel", "scale": 0.1}})
    assert agent.learner.spec.of_actor(1, 4) == agent.learner.spec


@pytest.mark.parametrize(("option", "value"), [("epsilon_base", 1.0), ("epsilon_alpha", -1.0)])
def test_invalid_epsilons_are_refused(option, value):
    with pytest.raises(SpecError, match=option):
        make(**{option: value})


def test_the_target_follows_by_updates(one_backend, execution):
    """From the fourth step on every step is an update; every third update moves the target."""
    agent = make(
        backend=one_backend,
        execution_spec=execution(one_backend),
        sync_interval=3,
        update_spec={"steps_before_update": 4, "update_interval": 1, "batch_size": 2},
    )
    followed = []
    for steps in (5, 2, 2):
        agent.learn(steps)
        weights = agent.get_weights()
        copies = {name: name.replace("target-policy/", "") for name in weights if "target-policy/" in name}
        assert copies
        same = all(np.array_equal(weights[copy], weights[name]) for copy, name in copies.items())
        followed.append((agent.updates, same))
    assert followed == [(2, False), (4, False), (6, True)]


def test_priorities_that_are_not_finite_are_named_as_the_loss(one_backend, execution):
    updates = {"steps_before_update": 8, "batch_size": 2}
    agent = make(update_spec=updates, backend=one_backend, execution_spec=execution(one_backend))
    agent.set_weights({"dqn/policy/value/biases": np.array([np.nan], np.float32)})
    with pytest.raises(NumericalError, match=r"the loss of update 1 \(step \d+\) is not finite: memory: "):
        agent.learn(50)
