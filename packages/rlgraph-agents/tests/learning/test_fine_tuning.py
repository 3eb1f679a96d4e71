"""Weights of another agent: which are taken over, and what is refused."""

import numpy as np
import pytest

from rlgraph.agents import Agent
from rlgraph.core import CheckpointError, InputError, SpecError
from rlgraph.spaces import Dict, FloatBox, IntBox

STATES = Dict(position=FloatBox(shape=(3,)), speed=FloatBox(shape=(2,)))
DENSE = [{"type": "dense", "units": 6, "activation": "tanh"}]


VECTOR = FloatBox(shape=(3,))


def make(kind="dqn", seed=1, actions=None, **options):
    actions = actions or (FloatBox(-1.0, 1.0, shape=(2,)) if kind == "sac" else IntBox(4))
    spec = {"type": kind, "network_spec": DENSE, **options}
    return Agent.from_spec(spec, state_space=VECTOR, action_space=actions, backend="numpy", seed=seed)


@pytest.fixture
def stored(tmp_path):
    """Makes a checkpoint of an agent whose variables are all different from those of others."""

    def stored(agent):
        weights = agent.get_weights()
        agent.set_weights(
            {name: np.full_like(value, i + 2) for i, (name, value) in enumerate(weights.items())}
        )
        return agent, agent.store_model(tmp_path / "stored")

    return stored


def changed(before, after):
    return {name for name in before if not np.array_equal(before[name], after[name])}


@pytest.mark.parametrize("kind", ["dqn", "ppo", "a2c", "sac"])
def test_all_weights_and_nothing_of_the_optimizer(stored, kind):
    other, path = stored(make(kind))
    agent = make(kind, seed=2)
    before, names = agent.get_weights(), agent.load_weights(path)
    after, given = agent.get_weights(), other.get_weights()
    targets = {name for name in before if "target-" in name}
    assert changed(before, after) == {*names, *targets}
    assert not any("optimizer" in name for name in names) and bool(targets) == (kind in ("dqn", "sac"))
    for name in names:
        np.testing.assert_array_equal(after[name], given[name])
    for name in targets:  # "sac/target-critic-0/critic-0/..." follows "sac/critic-0/..."
        root, _, rest = name.split("/", 2)
        np.testing.assert_array_equal(after[name], given[f"{root}/{rest}"])
    assert (agent.timesteps, agent.updates) == (0, 0)


@pytest.mark.parametrize(
    "only", ["dqn/policy/network", "*policy/network/*", "*/network", ["dqn/policy/network/dense-0"]]
)
def test_a_part_for_other_actions(stored, only):
    _, path = stored(make(actions=IntBox(7)))
    agent = make()
    before = agent.get_weights()
    names = agent.load_weights(path, only=only)
    layer = {"dqn/policy/network/dense-0/biases", "dqn/policy/network/dense-0/weights"}
    assert set(names) == layer
    copies = {name.replace("dqn/policy", "dqn/target-policy/policy") for name in layer}
    assert changed(before, agent.get_weights()) == layer | copies


def test_statistics_go_on(stored):
    options = {"normalize_states": True, "scale_rewards": True}
    other = make("ppo", **options)
    totals = {
        "states/": {"count": 9, "mean": [1.0, 2.0, 3.0], "variance": [4.0, 4.0, 4.0], "epsilon": 0.0},
        "returns": {"count": 9, "mean": 0.0, "variance": 16.0, "epsilon": 0.0},
    }
    other.learner.statistics.set_counters(totals)
    other, path = stored(other)
    agent, part = make("ppo", **options), make("ppo", **options)
    fresh = part.learner.statistics.counters()
    agent.load_weights(path)
    assert agent.learner.statistics.counters() == totals
    part.load_weights(path, only="normalizer")
    assert part.learner.statistics.counters() == {"states/": totals["states/"], "returns": fresh["returns"]}
    part = make("ppo", **options)
    part.load_weights(path, only="ppo")
    assert part.learner.statistics.counters() == fresh


def test_weights_that_do_not_fit(stored, tmp_path):
    _, path = stored(make(actions=IntBox(7)))
    agent = make()
    before = agent.get_weights()
    with pytest.raises(InputError) as error:
        agent.load_weights(path)
    message = str(error.value)
    assert "dqn/policy/advantages/biases has shape [7] there, [4] here; " in message
    assert "network" not in message and message.endswith("Name those that do with only=")
    with pytest.raises(
        InputError, match=r"critic-0/network/dense-0/biases has nothing there, \[6\] here.*and 8 more"
    ):
        make("sac").load_weights(path)
    with pytest.raises(
        InputError, match=r"no weight matches 'dqn/polcy/network/dense-0/biases'. Did you mean 'dqn/policy"
    ):
        agent.load_weights(path, only=["dqn/policy/value", "dqn/polcy/network/dense-0/biases"])
    with pytest.raises(InputError, match=r"no weight matches 'dqn/optimizer'"):
        agent.load_weights(path, only="dqn/optimizer")
    with pytest.raises(
        CheckpointError, match=r"expected a run folder, .*, or a checkpoint, .*does not exist"
    ):
        agent.load_weights(tmp_path / "nowhere")
    assert not changed(before, agent.get_weights())


def test_an_environment_of_other_parts_is_refused():
    agent = Agent.from_spec("random", state_space=STATES, action_space=IntBox(4), backend="numpy")
    seen = Dict(position=FloatBox(shape=(3,)), speed=FloatBox(shape=(1,)), time=FloatBox())
    env = {"type": "random_env", "state_space": seen, "action_space": IntBox(4)}
    with pytest.raises(
        SpecError, match=r"those of the environment are Dict.* \(they differ in 'speed', 'time'\); make"
    ):
        agent.learn(10, env=env)
