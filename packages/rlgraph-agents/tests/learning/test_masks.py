"""Action masks: a part of the states that says which actions are legal, for every agent."""

import numpy as np
import pytest
from doubles import Episodes

from rlgraph.agents import ActorHandle, Agent
from rlgraph.core import InputError, SpecError, registry
from rlgraph.core.functional.distributions.categorical import IMPOSSIBLE
from rlgraph.draw import plan_text
from rlgraph.environments import Environment, EnvironmentFault, LegalMoves
from rlgraph.environments.factory import make_vector_env
from rlgraph.learning.sampler import FragmentSampler
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, Tuple

ALL = ("a2c", "dqn", "ppo", "random", "sac")
LEARNING = [name for name in ALL if name != "random"]
BACKENDS = [name for name in registry("rlgraph.backends").names() if name != "numpy"]
BACKEND = "torch" if "torch" in BACKENDS else BACKENDS[0]
DENSE = [{"type": "dense", "units": 6, "activation": "tanh"}]
STATES = Dict(observation=FloatBox(shape=(3,)), action_mask=BoolBox(shape=(5,)))
SMALL = {
    "dqn": {"update_spec": {"steps_before_update": 20, "update_interval": 4, "batch_size": 8}},
    "sac": {"update_spec": {"steps_before_update": 20, "update_interval": 4, "batch_size": 8}},
    "ppo": {"rollout_length": 8},
    "a2c": {"rollout_length": 8},
}
PARTS = {
    "elements": (IntBox([3, 5]), BoolBox(shape=(2, 5))),
    "some parts": (Dict(move=IntBox(4), turn=IntBox(3), jump=BoolBox()), Dict(turn=BoolBox(shape=(3,)))),
    "tuple": (Tuple(IntBox(3), IntBox(4, shape=(2,))), Tuple(BoolBox(shape=(3,)), BoolBox(shape=(2, 4)))),
    "flat": (IntBox([3, 5]), BoolBox(shape=(8,))),
    "flat 0 and 1": (
        Dict(a=Tuple(IntBox([[3, 3], [2, 4]]), IntBox(3)), b=IntBox(2)),
        Dict(a=Tuple(IntBox(0, 2, shape=(12,), dtype="int16"), BoolBox(shape=(3,)))),
    ),
    "0 and 1": (IntBox(5), IntBox(0, 2, shape=(5,), dtype="uint8")),
}


#: The shapes of masks with one element after the other.
FLAT = (8,), (12,)


def widened(mask, box):
    """A flat mask ``[B, sum of A]`` as ``[B, ..., A]``, element by element; another one as it is."""
    if mask.ndim == len(box.shape) + 2:
        return mask
    counts = np.broadcast_to(box.high - box.low, box.shape)
    wide, start = np.zeros((len(mask), *box.shape, counts.max()), bool), 0
    for place in np.ndindex(box.shape):
        count = counts[place]
        wide[(slice(None), *place, slice(count))] = mask[:, start : start + count]
        start += count
    return wide


def masks_like(space, number, seed=0):
    """Random masks ``[number, ...]`` of a Space, none of which allows nothing, in ``PARTS["elements"]`` either."""
    rng, parts = np.random.default_rng(seed), {}
    for path, box in space.flatten().items():
        mask = rng.random((number, *box.shape)) < 0.4
        if box.shape in FLAT:
            mask[..., ::2] = True  # each element has at least two actions
        mask[..., 0] |= ~mask[..., :3].any(axis=-1)
        parts[path] = mask.astype(box.dtype)
    return space.unflatten_sample(parts)


def batch(number=60, masks=STATES["action_mask"], seed=0):
    observation = np.random.default_rng(seed).normal(size=(number, 3)).astype(np.float32)
    return {"observation": observation, "action_mask": masks_like(masks, number, seed)}


def are_legal(actions, masks, action_space, mask_space):
    taken, legal = action_space.flatten_sample(actions), mask_space.flatten_sample(masks)
    for path, given in legal.items():
        mask = widened(given, action_space.flatten()[path])
        for place in np.ndindex(mask.shape[:-1]):
            if not mask[place][int(taken[path][place])]:
                return False
    return True


def make(name, actions=None, masks=STATES["action_mask"], backend="numpy", **options):
    spec = {"type": name, **SMALL.get(name, {}), **({} if name == "random" else {"network_spec": DENSE})}
    states = Dict(observation=FloatBox(shape=(3,)), action_mask=masks)
    spaces = {"state_space": states, "action_space": IntBox(5) if actions is None else actions}
    return Agent.from_spec({**spec, **options}, backend=backend, seed=3, **spaces)


class Scripted(Episodes):
    """Masks by a script: ``script[episode, step]``, where it says something; episodes of three steps."""

    def __init__(self, script=None, truncates=False):
        super().__init__(STATES, IntBox(5), reward=0.0, truncates=truncates)
        self.script = script or {}

    def state(self):
        mask = self.script.get((self.episode, self.steps), np.ones(5, bool))
        return {"observation": np.zeros(3, np.float32), "action_mask": mask}


# Acting and learning.


def test_usage():
    agent = Agent.from_spec("dqn", env="legal_moves", backend=BACKEND, seed=1, **SMALL["dqn"])
    result = agent.learn(160, num_envs=4)
    assert result.episodes * LegalMoves.LENGTH == 160  # an illegal action would have ended one early
    states = LegalMoves().reset(seed=0)
    assert states["action_mask"][agent.get_actions(states)]


@pytest.mark.parametrize("explores", [True, False])
@pytest.mark.parametrize("name", ALL)
def test_no_illegal_action(name, explores):
    agent, states = make(name), batch()
    assert states["action_mask"][np.arange(60), agent.get_actions(states, explores)].all()
    found = {int(agent.get_actions({k: v[0] for k, v in states.items()}, explores)) for _ in range(100)}
    legal = set(np.flatnonzero(states["action_mask"][0]).tolist())
    assert found <= legal
    if explores and name != "dqn":
        assert found == legal


def test_random_actions_are_uniform_among_legal_ones():
    mask = np.array([1, 0, 1, 1, 0], bool)
    states = {"observation": np.zeros((3000, 3), np.float32), "action_mask": np.tile(mask, (3000, 1))}
    for agent in (make("random"), make("dqn", exploration_spec={"epsilon_spec": 1.0})):
        counts = np.bincount(agent.get_actions(states), minlength=5)
        np.testing.assert_allclose(counts, [1000, 0, 1000, 1000, 0], atol=120)


@pytest.mark.parametrize("exploration", [{"epsilon_spec": 0.5}, {"noise_spec": {"type": "gumbel"}}])
@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("name", ["dqn", "ppo", "random"])
def test_parts_of_actions(name, parts, exploration):
    actions, masks = PARTS[parts]
    agent = make(name, actions, masks, **({"exploration_spec": exploration} if name == "dqn" else {}))
    states = batch(masks=masks)
    for explores in (True, False):
        taken = agent.get_actions(states, explores)
        assert are_legal(taken, states["action_mask"], actions, masks)


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("name", ["dqn", "ppo"])
def test_parts_of_actions_learn(name, parts):
    actions, masks = PARTS[parts]
    agent = make(name, actions, masks, BACKEND)

    class Task(Environment):
        def __init__(self):
            super().__init__(agent.state_space, actions)
            self.steps = 0

        def _state(self):
            return {key: agent_row(value) for key, value in batch(1, masks, self.steps).items()}

        def reset(self, seed=None):
            self.steps = 0
            return self._state()

        def step(self, action):
            many = actions.flatten_sample(action)
            mask = masks.flatten_sample(self._state()["action_mask"])
            for path, given in mask.items():
                legal = widened(given[None], actions.flatten()[path])[0]
                assert np.take_along_axis(legal, np.asarray(many[path], np.int64)[..., None], -1).all()
            self.steps += 1
            return self._state(), 1.0, self.steps == 7, False, {}

    agent.learn(60, env=Task, num_envs=2)
    assert agent.updates > 0


def test_a_flat_mask_is_the_wide_one(backend, execution):
    """The same actions and weights, bit for bit: an agent of either form learns in the task of the other one's."""
    actions, weights, acted = IntBox([3, 5]), [], []

    class Task(Environment):
        def __init__(self, flat):
            mask = BoolBox(shape=(8,) if flat else (2, 5))
            super().__init__(Dict(observation=FloatBox(shape=(3,)), action_mask=mask), actions)
            self.flat, self.steps = flat, 0

        def _state(self):
            state = batch(1, BoolBox(shape=(8,)), self.steps)
            mask = state["action_mask"] if self.flat else widened(state["action_mask"], actions)
            return {"observation": state["observation"][0], "action_mask": mask[0]}

        def reset(self, seed=None):
            self.steps = 0
            return self._state()

        def step(self, action):
            self.steps += 1
            return self._state(), float(np.sum(action)), self.steps == 7, False, {}

    for flat in (True, False):
        masks = BoolBox(shape=(8,) if flat else (2, 5))
        agent = make("dqn", actions, masks, backend, execution_spec=execution(backend))
        states = batch(masks=BoolBox(shape=(8,)))
        if not flat:
            states["action_mask"] = widened(states["action_mask"], actions)
        if backend != "numpy":
            agent.learn(40, env=lambda flat=flat: Task(flat), num_envs=2)
        acted.append([agent.get_actions(states, explores) for explores in (True, False)])
        weights.append({key: value for key, value in agent.get_weights().items() if "memory" not in key})
    np.testing.assert_array_equal(*acted)
    for key, value in weights[0].items():
        np.testing.assert_array_equal(value, weights[1][key], err_msg=key)


@pytest.mark.parametrize(("shape", "legal"), [((8,), [0, 2]), ((2, 5), [(0, 3), (0, 4), (1, 0)])])
def test_an_element_without_a_legal_action(shape, legal):
    """In either form; an action that the element does not have is not legal."""
    agent = make("random", IntBox([3, 5]), BoolBox(shape=shape))
    states = batch(3, BoolBox(shape=(8,)))
    states["action_mask"] = np.ones((3, *shape), bool)
    states["action_mask"][1] = False
    for place in legal:
        states["action_mask"][1][place] = True
    with pytest.raises(InputError, match="the action mask of row 1 allows no action"):
        agent.get_actions(states)


def agent_row(value):
    if isinstance(value, dict):
        return {key: agent_row(part) for key, part in value.items()}
    return tuple(map(agent_row, value)) if isinstance(value, tuple) else value[0]


class Short(LegalMoves):
    """Its episodes begin within sequences."""

    LENGTH = 3


def entropies_by_hand(weights, fragment, length):
    """Of the policy in each sequence of each environment, unrolled from its own internal states, ``[T, N]``."""
    layer, head = "ppo/policy/network/lstm-0/", "ppo/policy/action-adapter/action-layer/"
    entropies = np.zeros(fragment.rewards.shape)
    for n, t in np.ndindex(entropies.T.shape):
        if t % length == 0:
            c, h = (state[t // length, n] for state in fragment.internal_states["policy"]["lstm_0"])
        if fragment.begins[t, n]:
            c, h = np.zeros_like(c), np.zeros_like(h)
        x = fragment.states["observation"][t, n] @ weights[layer + "weights"] + weights[layer + "biases"]
        i, f, g, o = np.split(x + h @ weights[layer + "recurrent_weights"], 4)
        c = c / (1.0 + np.exp(-f)) + np.tanh(g) / (1.0 + np.exp(-i))
        h = np.tanh(c) / (1.0 + np.exp(-o))
        logits = (h @ weights[head + "weights"] + weights[head + "biases"])[
            fragment.states["action_mask"][t, n]
        ]
        p = np.exp(logits) / np.exp(logits).sum()
        entropies[t, n] = -(p * np.log(p)).sum()
    return entropies


def test_sequences_with_masks_are_unrolled_as_by_hand():
    """The entropy of PPO's minibatches, of one sequence each, whose weights stay."""
    options = {"sequence_length": 4, "network_spec": [{"type": "lstm", "units": 4}], "num_epochs": 1}
    agent = Agent.from_spec(
        {"type": "ppo", **SMALL["ppo"], **options, "optimizer_spec": {"type": "sgd", "learning_rate": 0.0}},
        env=Short,
        backend=BACKEND,
        seed=3,
    )
    rng = np.random.default_rng(0)
    agent.set_weights(weights := {name: rng.normal(size=x.shape) for name, x in agent.get_weights().items()})
    actor, environments = agent.learner.spec.build(2), make_vector_env(Short, 2)
    actor.set_weights(agent.learner.weights_message())
    fragment = FragmentSampler(actor, environments, 8, internal_state_interval=4).collect()
    expected = entropies_by_hand(weights, fragment, 4)
    assert expected.std() > 0.1
    found = agent.learner.learn_from([fragment])
    assert found["num_updates"] == 4
    assert found["entropy"] == pytest.approx(expected.mean(), rel=1e-5)


@pytest.mark.parametrize("name", LEARNING)
def test_actors_elsewhere(name):
    """An actor alone, and a handle for serving, never take an illegal action, and act greedily as the agent does."""
    agent, states = make(name), batch(6)
    expected = agent.get_actions(states, use_exploration=False)
    alone = agent.learner.spec.build(6)
    alone.set_weights(agent.learner.weights_message())
    np.testing.assert_array_equal(alone.act(alone.preprocess(states), use_exploration=False), expected)
    handle = ActorHandle.of(agent)
    np.testing.assert_array_equal(handle.act(states, [handle.begin() for _ in range(6)]), expected)
    np.testing.assert_array_equal(agent.call_api_method("get_greedy_actions", states), expected)
    assert states["action_mask"][np.arange(6), alone.act(alone.preprocess(states))].all()


@pytest.mark.parametrize("double_q", [True, False])
@pytest.mark.parametrize("dueling_q", [True, False])
def test_targets(reference, double_q, dueling_q):
    """Double Q's choice and the target's maximum are among legal actions, one row after the other."""
    agent = make("dqn", double_q=double_q, dueling_q=dueling_q, n_step=1)
    agent.set_weights(weights := reference.randomised(agent.get_weights(), seed=1))
    before, after = batch(seed=1), batch(seed=2)
    rng = np.random.default_rng(3)
    terminals = rng.random(60) < 0.2
    after["action_mask"][np.flatnonzero(terminals)[0]] = False  # nobody acts in terminal states
    actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in before["action_mask"]])
    rewards = rng.normal(size=60).astype(np.float32)
    values = reference.q_values(weights, before["observation"])
    target = reference.q_values(weights, after["observation"], "dqn/target-policy/policy")
    chooser = reference.q_values(weights, after["observation"]) if double_q else target
    expected = []
    for i in range(60):
        legal = np.flatnonzero(after["action_mask"][i])
        reached = 0.0 if terminals[i] else target[i, max(legal, key=lambda a, i=i: chooser[i, a])]
        expected.append(0.5 * (rewards[i] + 0.99 * reached - values[i, actions[i]]) ** 2)
    given = {"states": before, "actions": actions, "rewards": rewards, "terminals": terminals}
    mean, per_item = agent.get_td_loss({**given, "next_states": after})
    np.testing.assert_allclose(per_item, expected, rtol=1e-3, atol=1e-5)
    assert mean == pytest.approx(np.mean(expected), rel=1e-3)


def test_action_values_of_illegal_actions():
    agent, states = make("dqn"), batch()
    _, values = agent.get_actions(states, extra_returns="q_values")
    np.testing.assert_array_equal(values == np.float32(IMPOSSIBLE), ~states["action_mask"])


# States.


def test_preprocessing_leaves_masks_alone():
    agent = make("dqn", preprocessing_spec=[{"type": "multiply", "factor": 2.0}])
    states = batch()
    seen = agent.preprocess_states(states)
    np.testing.assert_array_equal(seen["action_mask"], states["action_mask"])
    np.testing.assert_allclose(seen["observation"], 2.0 * states["observation"])
    plain = make("dqn")
    plain.set_weights(agent.get_weights())
    np.testing.assert_array_equal(
        agent.get_actions(states, use_exploration=False), plain.get_actions(seen, use_exploration=False)
    )


def test_frame_stacks():
    spec = [{"type": "sequence", "sequence_length": 2}, {"type": "reshape", "flatten": True}]
    agent = make("ppo", backend=BACKEND, preprocessing_spec=spec)
    assert agent.learner.state_space["observation"].shape == (6,)
    agent.learn(40, env=Scripted, num_envs=2)
    assert agent.updates > 0


def test_further_parts_and_another_name():
    states = Dict(far=FloatBox(shape=(2,)), near=FloatBox(shape=(3,)), moves=BoolBox(shape=(4,)))
    agent = Agent.from_spec(
        "ppo", state_space=states, action_space=IntBox(4), action_mask="moves", backend="numpy", seed=1
    )
    given = states.with_batch_rank().sample(30, rng=np.random.default_rng(0))
    given["moves"][:, 2] = True
    assert given["moves"][np.arange(30), agent.get_actions(given)].all()


def test_a_part_that_is_no_mask():
    agent = make(
        "dqn",
        action_mask=None,
        network_spec=[{"type": "concat"}, *DENSE],
        preprocessing_spec={
            "observation": [],
            "action_mask": [{"type": "convert_type", "to_dtype": "float"}],
        },
    )
    states = batch()
    actions = agent.get_actions(states, use_exploration=False)
    assert not states["action_mask"][np.arange(60), actions].all()


def test_without_masks_nothing_is_computed():
    """The plans of an agent whose states have no mask are those of one that looks for none, line by line."""
    spaces = {"state_space": Dict(x=FloatBox(shape=(2,)), y=FloatBox(shape=(3,))), "action_space": IntBox(4)}
    for name, update in (("ppo", "update"), ("dqn", "update_from_memory"), ("sac", "update_from_memory")):
        agents = [
            Agent.from_spec(name, backend=BACKEND, seed=1, action_mask=mask, **spaces)
            for mask in ("action_mask", None)
        ]
        for method in ("act", "act_greedily", "get_greedy_actions", update):
            pages = [plan_text(agent.executor, method) for agent in agents]
            assert pages[0] == pages[1]
            assert "mask" not in pages[0]


# Mistakes.


@pytest.mark.parametrize(
    ("actions", "masks", "said"),
    [
        (
            IntBox(5),
            BoolBox(shape=(4,)),
            r"expected bools or 0 and 1 of shape \[5\] for IntBox.*, given BoolBox",
        ),
        (IntBox(5), FloatBox(shape=(5,)), r"expected bools or 0 and 1 of shape \[5\]"),
        (IntBox(5), IntBox(3, shape=(5,)), r"expected bools or 0 and 1 of shape \[5\]"),
        (IntBox([3, 5]), BoolBox(shape=(9,)), r"of shape \[2, 5\] or \[8\]"),
        (IntBox([3, 5]), BoolBox(shape=(5, 2)), r"of shape \[2, 5\] or \[8\]"),
        (IntBox(5), Dict(a=BoolBox(shape=(5,))), "expected one mask for IntBox"),
        (FloatBox(-1.0, 1.0), BoolBox(shape=(2,)), r"masks need categories, IntBox\(n\), and FloatBox"),
        (Dict(a=BoolBox()), Dict(a=BoolBox(shape=(2,))), "'a': masks need categories"),
        (Dict(jump=IntBox(2)), Dict(jum=BoolBox(shape=(2,))), "'jum', which the action does not have"),
    ],
)
def test_masks_that_do_not_fit(actions, masks, said):
    with pytest.raises(SpecError, match=f"agent.action_mask: .*{said}.* or the agent action_mask=None"):
        make("ppo", actions, masks)


def test_names_that_do_not_fit():
    with pytest.raises(SpecError, match="the parts action_mask, observation; given 'legal'"):
        make("ppo", action_mask="legal")
    with pytest.raises(SpecError, match=r"given 'legal'"):
        Agent.from_spec("ppo", state_space=FloatBox(), action_space=IntBox(2), action_mask="legal")
    with pytest.raises(SpecError, match="expected states with a further part besides 'action_mask'"):
        Agent.from_spec("ppo", state_space=Dict(action_mask=BoolBox(shape=(2,))), action_space=IntBox(2))


@pytest.mark.parametrize("place", [(0, 0), (1, 0), (1, 2)])
def test_a_state_without_legal_actions(place):
    agent, nothing = make("a2c", backend=BACKEND), np.zeros(5, bool)
    with pytest.raises(
        EnvironmentFault, match=rf"Scripted, environment 0, step {place[1]}: the action mask allows no action"
    ):
        agent.learn(40, env=Scripted({place: nothing}))


def test_terminal_states_need_no_legal_action():
    agent, nothing = make("a2c", backend=BACKEND), np.zeros(5, bool)
    agent.learn(40, env=Scripted({(1, 3): nothing}))


@pytest.mark.parametrize(
    ("kind", "bootstraps"), [("a2c", False), ("random", False), ("dqn", True), ("sac", True)]
)
def test_truncated_states_need_a_legal_action_where_their_actions_are_valued(kind, bootstraps):
    """A value function needs no action there, Q-learning does; nobody learns from an evaluation."""
    agent, script = make(kind, backend=BACKEND), {(1, 3): np.zeros(5, bool)}
    agent.evaluate(4, env=Scripted(script, truncates=True))
    if not bootstraps:
        agent.learn(40, env=Scripted(script, truncates=True))
        return
    with pytest.raises(
        EnvironmentFault, match=r"step 3: .* allows no action: the episode was truncated there"
    ):
        agent.learn(40, env=Scripted(script, truncates=True))


def test_rows_without_legal_actions():
    agent, states = make("dqn"), batch(6)
    states["action_mask"][4] = False
    with pytest.raises(InputError, match="get_actions: argument states: the action mask of row 4 allows no"):
        agent.get_actions(states)
    handle = ActorHandle.of(agent)
    with pytest.raises(InputError, match="act: argument states: the action mask of row 4 allows no action"):
        handle.act(states, [handle.begin() for _ in range(6)])


@pytest.mark.parametrize("name", ["a2c", "dqn"])
def test_illegal_actions_from_outside(name):
    number = 1001  # later steps of plain arrays are not checked closely
    agent, states = make(name), batch(number)
    actions = states["action_mask"].argmax(axis=-1)
    steps = {
        "rewards": np.zeros(number, np.float32),
        "terminals": np.zeros(number, bool),
        "next_states": batch(number, seed=1),
    }
    agent.observe(states, actions, batched=True, **steps)
    actions[2] = states["action_mask"][2].argmin()
    with pytest.raises(InputError, match="observe: the action of row 2 is one that the action mask"):
        agent.observe(states, actions, batched=True, **steps)
    with pytest.raises(InputError, match="update: the action of row 2 is one that the action mask"):
        agent.update({"states": states, "actions": actions, **steps})
