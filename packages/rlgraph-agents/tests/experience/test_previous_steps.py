"""The previous action and reward as inputs of the network."""

from functools import partial

import numpy as np
import pytest

from rlgraph.agents import Agent
from rlgraph.agents.conformance.tasks import CueTask, CueVectorEnv
from rlgraph.agents.serving import ActorHandle
from rlgraph.core import InputError, SpecError
from rlgraph.experience.previous_steps import PreviousSteps
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, TextBox

LAYERS = [{"type": "dense", "units": 8, "activation": "tanh"}]
LSTM = [*LAYERS, {"type": "lstm", "units": 4}]
THREE, FLOATS = IntBox(3), FloatBox(-1.0, 1.0, shape=(2,))
SMALL = {
    "dqn": {"update_spec": {"steps_before_update": 16, "update_interval": 8, "batch_size": 8}},
    "sac": {"update_spec": {"steps_before_update": 16, "update_interval": 8, "batch_size": 8}},
    "ppo": {"rollout_length": 8, "num_epochs": 1, "num_minibatches": 2},
    "a2c": {"rollout_length": 8},
}


def make(kind, backend, actions=THREE, layers=LAYERS, states=CueTask.STATES, **options):
    spec = {
        "type": kind,
        "network_spec": layers,
        "previous_action_and_reward": True,
        **SMALL[kind],
        **options,
    }
    return Agent.from_spec(spec, state_space=states, action_space=actions, backend=backend, seed=5)


@pytest.mark.parametrize("layers", [LAYERS, LSTM], ids=["dense", "lstm"])
@pytest.mark.parametrize(
    ("kind", "actions"),
    [("dqn", IntBox(3)), ("sac", FLOATS), ("ppo", Dict(a=IntBox(2), b=FLOATS)), ("a2c", IntBox(3))],
)
def test_every_agent_learns_with_them(one_backend, kind, actions, layers):
    agent = make(kind, one_backend, actions, layers)
    agent.learn(48, env=partial(CueTask, actions), num_envs=2)
    assert agent.updates > 0
    weights = agent.executor.get_weights(trainable_only=True)
    inputs = {x.shape[0] for name, x in weights.items() if "/policy/" in name and x.ndim == 2}
    floats = {"dqn": 3, "sac": 2, "ppo": 4, "a2c": 3}[kind]
    assert CueTask.STATES.shape[0] + floats + 1 in inputs


def test_states_have_the_action_and_the_reward_of_the_step_before(one_backend):
    """Against a plain loop over the steps; environment 1 is lost in step 3, its actions are categories."""
    agent = make("dqn", one_backend)
    environments = CueVectorEnv(partial(CueTask, IntBox(3)), 2, ((3, 1),))
    environments.reset(seed=3)
    sampler = agent.make_sampler(environments)
    sampler.reset(3)
    expected, ends = np.zeros((2, 4)), 0
    for _ in range(30):
        step = sampler.step()
        expected[step.begins] = 0.0
        np.testing.assert_array_equal(step.states["previous"], expected)
        expected = np.concatenate([np.eye(3)[step.actions], step.rewards[:, None]], axis=1).astype(np.float32)
        rows = slice(None) if step.valid is None else step.valid
        np.testing.assert_array_equal(step.next_states["previous"][rows], expected[rows])
        ends += int((step.terminals | step.truncations).sum())
    assert ends > 1


def test_parts_of_an_action_follow_each_other():
    steps = PreviousSteps(FloatBox(shape=(1,)), Dict(a=IntBox(3), b=FLOATS, c=BoolBox()))
    actions = {"a": np.array([2]), "b": np.array([[0.5, -1.0]]), "c": np.array([True])}
    assert steps.after(actions, "float64").tolist() == [[0, 0, 1, 0.5, -1.0, 0, 1, 0]]


def test_the_network_sees_them(one_backend):
    agent = make("dqn", one_backend)
    state = np.ones((1, 4), np.float32)
    values = [
        agent.executor.execute(
            "get_q_values", {"observation": state, "previous": np.array([row], np.float32)}
        )
        for row in ([0, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1])
    ]
    assert len({x.tobytes() for x in values}) == 3


def test_a_user_tells_rewards_with_observe(one_backend):
    """`observe` after every action gives what a worker gives; an episode begins with zeros."""
    agent, state = make("dqn", one_backend), np.ones(4, np.float32)
    seen = []
    for t in range(4):
        action, states = agent.get_actions(state, extra_returns="preprocessed_states")
        seen.append((states["previous"].tolist(), action))
        agent.observe(
            preprocessed_states=states,
            actions=action,
            rewards=0.5 * (t + 1),
            terminals=t == 2,
            next_states=state,
        )
    assert [previous for previous, _ in seen] == [
        [0.0] * 4,
        [*np.eye(3)[seen[0][1]], 0.5],
        [*np.eye(3)[seen[1][1]], 1.0],
        [0.0] * 4,
    ]


def test_masks_and_statistics_beside_them(one_backend):
    states = Dict(vector=FloatBox(shape=(4,)), action_mask=BoolBox(shape=(3,)))
    agent = make("dqn", one_backend, states=states, normalize_states=True, scale_rewards=True)
    rng = np.random.default_rng(0)
    state = lambda: {"vector": rng.normal(size=4).astype(np.float32), "action_mask": np.eye(3, dtype=bool)[1]}  # noqa: E731
    for _ in range(20):
        action, seen = agent.get_actions(state(), extra_returns="preprocessed_states")
        assert action == 1
        agent.observe(preprocessed_states=seen, actions=action, rewards=1.0, terminals=False)
    agent.update()
    means = [x for name, x in agent.get_weights().items() if "normalizer/mean" in name]
    assert [x.shape for x in means] == [(4,)]


def test_a_run_continues_in_the_middle_of_episodes(one_backend, tmp_path):
    env = {"type": "deterministic", "steps_to_terminal": 9}
    make_it = partial(
        Agent.from_spec,
        {"type": "ppo", "network_spec": LSTM, "previous_action_and_reward": True, **SMALL["ppo"]},
        env=env,
        backend=one_backend,
        seed=5,
    )
    whole, first = make_it(), make_it()
    whole.learn(44, num_envs=2)
    whole.learn(44, num_envs=2)
    first.learn(44, num_envs=2)
    first.store_model(tmp_path / "half")
    second = make_it()
    second.load_model(tmp_path / "half")
    second.learn(44, num_envs=2)
    for name, value in whole.get_weights().items():
        np.testing.assert_array_equal(second.get_weights()[name], value, err_msg=name)


# Mistakes.


def test_what_cannot_know_rewards_is_refused(one_backend):
    agent = make("dqn", one_backend)
    with pytest.raises(InputError, match="preprocess_states: states come with the reward before them"):
        agent.preprocess_states(np.ones((2, 4), np.float32))
    with pytest.raises(InputError, match="give preprocessed_states="):
        agent.observe(states=np.ones(4, np.float32), actions=1, rewards=0.0, terminals=True)
    with pytest.raises(
        SpecError, match="previous_action_and_reward: expected false: clients do not tell rewards"
    ):
        ActorHandle.of(agent)
    with pytest.raises(SpecError, match="previous_action_and_reward: expected false: text is no input"):
        PreviousSteps(FloatBox(shape=(1,)), TextBox())


def test_without_the_option_states_and_actors_have_nothing_of_them(one_backend):
    options = {"state_space": CueTask.STATES, "action_space": IntBox(3), "backend": one_backend, "seed": 5}
    agent = Agent.from_spec({"type": "dqn", "network_spec": LAYERS}, **options)
    assert agent.learner.state_space == CueTask.STATES
    assert not agent.actor.has_table
