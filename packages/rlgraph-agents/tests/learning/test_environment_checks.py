"""What an environment must not give is named in a program, too, as it is from outside."""

import warnings

import numpy as np
import pytest

from rlgraph.agents import Agent
from rlgraph.components import EnvironmentComponent
from rlgraph.core import graph_fn
from rlgraph.environments import EnvironmentFault, StateBoundsWarning
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox


class Wrong(EnvironmentComponent):
    """What is wrong comes with the third step: `inner` counts."""

    state_space = Dict(
        place=FloatBox(low=[-9.0, -9.0], high=[9.0, 20.0]), number=IntBox(5), action_mask=BoolBox(shape=(2,))
    )
    action_space, inner_space, max_episode_steps = IntBox(2), FloatBox(), 8

    def __init__(self, what="nothing", **kwargs):
        super().__init__(**kwargs)
        self.what = what

    @graph_fn
    def begin(self, ops, count):
        return ops.zeros((count,))

    @graph_fn
    def transition(self, ops, inner, actions):
        inner = inner + 1.0
        rewards = ops.where(inner == 3.0, inner + np.nan, inner) if self.what == "rewards" else inner
        return inner, rewards, inner > 99.0

    @graph_fn
    def observe(self, ops, inner):
        wrong = inner == 3.0
        place = ops.stack([inner, 2.0 * inner], axis=-1)
        if self.what == "states":
            place = ops.where(ops.expand_dims(wrong, -1), place + np.nan, place)
        if self.what == "bounds":
            place = ops.where(ops.expand_dims(wrong, -1), place + 8.0, place)
        if self.what == "first":
            place = ops.where(ops.expand_dims(inner == 0.0, -1), place + 30.0, place)
        number = ops.astype(wrong, "int64") * (7 if self.what == "numbers" else 1)
        legal = ops.logical_not(wrong) if self.what == "masks" else inner >= 0.0
        return {"place": place, "number": number, "action_mask": ops.stack([legal, legal], axis=-1)}


def agent_of(what, kind, backend):
    options = (
        {"rollout_length": 16} if kind == "ppo" else {"update_spec": {"update_interval": 4, "batch_size": 8}}
    )
    return Agent.from_spec(
        {"type": kind, "network_spec": [{"type": "dense", "units": 4}], **options},
        env={"type": f"{__name__}:Wrong", "what": what},
        backend=backend,
        seed=1,
        execution_spec={"threads": None},
    )


def learned(what, kind, backend, in_graph):
    return agent_of(what, kind, backend).learn(64, num_envs=4, in_graph=in_graph)


@pytest.mark.parametrize("kind", ["ppo", "dqn"])
@pytest.mark.parametrize(
    "what, said",
    [
        ("rewards", "Wrong, environment 0, step 3: a reward or a number of the state is not finite"),
        ("states", "Wrong, environment 0, step 3: a reward or a number of the state is not finite"),
        # The network of PyTorch refuses such a category itself.
        ("numbers", r"Wrong: state/number has 7, outside of IntBox|Class values must be smaller"),
        ("masks", "Wrong, environment 0, step 4: the action mask of the state before it allows no action"),
    ],
)
def test_it_is_a_fault_in_a_program_and_from_outside(what, said, kind, backend):
    with pytest.raises((EnvironmentFault, RuntimeError), match=said):
        learned(what, kind, backend, in_graph=True)
    with pytest.raises(EnvironmentFault):
        learned(what, kind, backend, in_graph=False)


def test_bounds_of_floats_are_warned_of_once(backend):
    with pytest.warns(StateBoundsWarning, match=r"Wrong: state/place has 11\.0, outside of") as found:
        learned("bounds", "ppo", backend, in_graph=True)
    assert len([each for each in found if each.category is StateBoundsWarning]) == 1


def test_states_of_new_episodes_are_checked(backend):
    with pytest.warns(StateBoundsWarning, match=r"Wrong: state/place has 30\.0, outside of"):
        learned("first", "ppo", backend, in_graph=True)


def test_a_fault_leaves_the_memory_and_what_is_due(backend):
    agent = agent_of("rewards", "dqn", backend)
    before = agent.learner.counters(), agent.executor.storage.host["memory/cursor"].copy()
    with pytest.raises(EnvironmentFault):
        agent.learn(64, num_envs=4, in_graph=True)
    assert agent.learner.counters()["due"] == before[0]["due"]
    np.testing.assert_array_equal(agent.executor.storage.host["memory/cursor"], before[1])
    assert np.isfinite(agent.executor.storage.host["memory/rows/rewards"]).all()


def test_nothing_is_said_of_what_is_right(backend):
    with warnings.catch_warnings():
        warnings.simplefilter("error", StateBoundsWarning)
        assert np.isfinite(learned("nothing", "dqn", backend, in_graph=True).mean_return)
