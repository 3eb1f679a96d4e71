"""Actions that cannot be, for policies of action values: never greedy, and never the maximum of a target."""

import numpy as np
import pytest

from rlgraph.components import ActorComponent, DuelingPolicy, Policy, QPolicy
from rlgraph.core import BuildError, Component, graph_fn, rlgraph_api
from rlgraph.core.functional.distributions.categorical import IMPOSSIBLE
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, SpaceError, Tuple
from rlgraph.testing import ComponentTest
from rlgraph.testing.observation_parts import ObservationParts

STATES = FloatBox(shape=(3,), add_batch_rank=True)
NETWORK = [{"type": "dense", "units": 4, "activation": "tanh"}]
KINDS = pytest.mark.parametrize("kind", [QPolicy, DuelingPolicy])
X = np.random.default_rng(0).normal(size=(40, 3)).astype("float32")
METHOD = "get_preprocessed_state_and_action"


def mask_of(*shape, **ranks):
    return BoolBox(shape=shape, **(ranks or {"add_batch_rank": True}))


def masks_like(*shape):
    """Random masks, none of which allows nothing."""
    drawn = np.random.default_rng(1).random(shape) < 0.4
    drawn[..., 0] |= ~drawn.any(axis=-1)
    return drawn


def best_of(values, mask):
    """The index of the largest value that is allowed, one element after the other."""
    flat = zip(values.reshape(-1, values.shape[-1]), mask.reshape(-1, values.shape[-1]), strict=True)
    best = [max(np.flatnonzero(allowed), key=row.__getitem__) for row, allowed in flat]
    return np.reshape(best, values.shape[:-1])


def greedy(test, mask, states=X):
    """The action that both methods give, and the action values beside it."""
    given = {"states": states, "action_mask": mask}
    both = test.test(("get_q_values_and_action", given))
    np.testing.assert_equal(both["q_values"], test.test(("get_q_values", given))["q_values"])
    np.testing.assert_equal(both["action"], test.test(("get_deterministic_action", given))["action"])
    return both["action"], both["q_values"]


def without_mask(test, mask):
    """The action values where everything is allowed."""
    return greedy(test, np.ones_like(mask))[1]


@KINDS
def test_what_is_masked_is_never_greedy(kind, backend):
    test = ComponentTest(
        ObservationParts(kind(NETWORK, IntBox(5))),
        {"states": STATES, "action_mask": mask_of(5)},
        backend=backend,
    )
    mask = masks_like(40, 5)
    action, q_values = greedy(test, mask)
    assert action.dtype == np.int64
    unmasked = without_mask(test, mask)
    np.testing.assert_array_equal(action, best_of(unmasked, mask))
    assert (action != unmasked.argmax(axis=-1)).any()
    np.testing.assert_array_equal(q_values, np.where(mask, unmasked, np.float32(IMPOSSIBLE)))


def test_by_hand(backend):
    """The state is the action values; the second best where the best is masked, also where all are negative."""
    policy = QPolicy([{"type": "reshape", "flatten": True}], IntBox(3))
    test = ComponentTest(
        ObservationParts(policy), {"states": STATES, "action_mask": mask_of(3)}, backend=backend
    )
    test.executor.set_weights({"policy/q-values/weights": np.eye(3, dtype="float32")})
    values = np.float32([[1.0, 3.0, 2.0], [-5.0, -1.0, -2.0], [0.0, 9.0, 9.0], [4.0, 5.0, 6.0]])
    mask = np.array([[1, 0, 1], [1, 0, 0], [1, 1, 1], [0, 0, 0]], bool)
    action, q_values = greedy(test, mask, values)
    np.testing.assert_array_equal(action, [2, 0, 1, 2])
    impossible = np.float32(IMPOSSIBLE)
    masked = [[1.0, impossible, 2.0], [-5.0, *[impossible] * 2], *values[2:].tolist()]
    np.testing.assert_array_equal(q_values, np.float32(masked))


@KINDS
def test_elements_with_different_numbers_of_actions(kind, backend):
    """What an element does not have is no action, whether the mask allows it or nothing at all."""
    spaces = {"states": STATES, "action_mask": mask_of(2, 5)}
    test = ComponentTest(ObservationParts(kind(NETWORK, IntBox([3, 5]))), spaces, backend=backend)
    mask = masks_like(40, 2, 5)
    mask[:, 0, 3:] = True
    mask[:10] = False
    action, q_values = greedy(test, mask)
    existing = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], bool)
    allowed = mask & existing
    allowed |= ~allowed.any(axis=-1, keepdims=True) & existing
    unmasked = without_mask(test, mask)
    np.testing.assert_array_equal(action, best_of(unmasked, allowed))
    np.testing.assert_array_equal(q_values[allowed], unmasked[allowed])
    assert q_values[~allowed].max() <= np.float32(IMPOSSIBLE)
    assert action[:, 0].max() < 3


NESTED = Dict(jump=BoolBox(), move=Tuple(IntBox(3), IntBox(4, shape=(2,), dtype="uint8")))


@KINDS
def test_nested_actions(kind, backend):
    masks = Dict(jump=mask_of(2), move=Tuple(mask_of(3), mask_of(2, 4)))
    test = ComponentTest(
        ObservationParts(kind(NETWORK, NESTED)), {"states": STATES, "action_mask": masks}, backend=backend
    )
    mask = {"jump": masks_like(40, 2), "move": (masks_like(40, 3), masks_like(40, 2, 4))}
    action, q_values = greedy(test, mask)
    assert NESTED.with_batch_rank().contains(action)
    np.testing.assert_array_equal(action["jump"], best_of(q_values["jump"], mask["jump"]).astype(bool))
    for part in (0, 1):
        np.testing.assert_array_equal(
            action["move"][part], best_of(q_values["move"][part], mask["move"][part])
        )


def test_masks_of_some_parts(backend):
    space = Dict(a=IntBox(4), b=IntBox(4))
    spaces = {"states": STATES, "action_mask": Dict(b=mask_of(4))}
    test = ComponentTest(ObservationParts(QPolicy(NETWORK, space)), spaces, backend=backend)
    mask = masks_like(40, 4)
    action, q_values = greedy(test, {"b": mask})
    np.testing.assert_array_equal(action["a"], q_values["a"].argmax(axis=-1))
    np.testing.assert_array_equal(action["b"], best_of(q_values["b"], mask))


@pytest.mark.parametrize("actions", [Tuple(IntBox(3), IntBox(4)), Tuple(IntBox(3))])
def test_tuples(actions):
    shapes = [(40, box.num_categories) for box in actions.flatten().values()]
    spaces = {"states": STATES, "action_mask": Tuple(*(mask_of(shape[1]) for shape in shapes))}
    test = ComponentTest(ObservationParts(QPolicy(NETWORK, actions)), spaces, backend="numpy")
    masks = tuple(masks_like(*shape) for shape in shapes)
    action, q_values = greedy(test, masks)
    assert isinstance(action, tuple)
    for part, mask in enumerate(masks):
        np.testing.assert_array_equal(action[part], best_of(q_values[part], mask))


@pytest.mark.parametrize("time_major", [False, True])
@pytest.mark.parametrize("has_ranks", [True, False])
def test_sequences(time_major, has_ranks, backend):
    """Masks have the ranks of the states, or none, and are then the same for all."""
    ranks = {"add_batch_rank": True, "add_time_rank": True, "time_major": time_major}
    network = [{"type": "lstm", "units": 4}]
    mask_space = mask_of(5, **ranks) if has_ranks else BoolBox(shape=(5,))
    spaces = {"states": FloatBox(shape=(3,), **ranks), "action_mask": mask_space}
    test = ComponentTest(ObservationParts(QPolicy(network, IntBox(5))), spaces, backend=backend)
    mask = masks_like(4, 10, 5) if has_ranks else np.array([True, False, False, True, False])
    action, q_values = greedy(test, mask, X.reshape(4, 10, 3))
    np.testing.assert_array_equal(action, best_of(q_values, np.broadcast_to(mask, (4, 10, 5))))


class OnlyEven(Component):
    """A mask that is computed in the graph."""

    def __init__(self):
        self.policy = QPolicy(NETWORK, IntBox(4))
        super().__init__(self.policy, scope="only-even")

    @rlgraph_api
    def act(self, states):
        return self.policy.get_deterministic_action({"states": states, "action_mask": self._even(states)})[
            "action"
        ]

    @graph_fn
    def _even(self, ops, states):
        return ops.arange(4) % 2 == ops.full((ops.shape(states)[0], 1), 0, "int64")


def test_a_mask_that_is_computed(backend):
    test = ComponentTest(OnlyEven(), {"states": STATES}, backend=backend)
    assert set(test.test(("act", X)).tolist()) <= {0, 2}


@pytest.mark.parametrize(
    ("actions", "mask", "said"),
    [
        (
            IntBox(4),
            mask_of(3),
            r"action_mask: expected a BoolBox of shape \[4\], given BoolBox\(shape=\(3,\)",
        ),
        (IntBox(4), FloatBox(shape=(4,), add_batch_rank=True), r"expected a BoolBox of shape \[4\], given F"),
        (IntBox(4), Dict(a=mask_of(4)), r"expected a BoolBox of shape \[4\], given Dict"),
        (IntBox([3, 5]), mask_of(5), r"expected a BoolBox of shape \[2, 5\], given"),
        (BoolBox(), mask_of(), r"expected a BoolBox of shape \[2\], given"),
        (Dict(a=IntBox(4)), mask_of(4), "expected a container of masks by parts of the action, a, given one"),
        (Dict(a=IntBox(4)), Dict(a=mask_of(3)), r"action_mask/a: expected a BoolBox of shape \[4\], given"),
        (
            Dict(jump=IntBox(4)),
            Dict(jum=mask_of(4)),
            "has a part 'jum', which the action does not have. .*jump",
        ),
    ],
)
@KINDS
def test_masks_that_do_not_fit(kind, actions, mask, said):
    with pytest.raises((BuildError, SpaceError), match=said):
        ComponentTest(
            ObservationParts(kind(NETWORK, actions)), {"states": STATES, "action_mask": mask}, backend="numpy"
        )


@pytest.mark.parametrize("kind", [Policy, QPolicy])
@pytest.mark.parametrize(("has_time", "mask_has_time"), [(True, False), (False, True)])
def test_a_mask_of_other_ranks_than_the_states(kind, has_time, mask_has_time):
    states, mask = (s.with_extra_ranks(True, t) for s, t in ((STATES, has_time), (mask_of(4), mask_has_time)))
    spaces = {"states": states, "action_mask": mask}
    if kind is Policy:
        spaces["actions"] = IntBox(4, add_batch_rank=True)
    said = r"action_mask: expected the batch and time ranks of the action values, float32\[B.*4\], or none, given bool"
    with pytest.raises(SpaceError, match=said):
        ComponentTest(ObservationParts(kind(NETWORK, IntBox(4))), spaces, backend="numpy")


# With an exploration.


@pytest.mark.parametrize(
    "exploration", [None, {"epsilon_spec": 1.0}, {"noise_spec": {"type": "gumbel", "scale": 50.0}}]
)
def test_an_actor_never_takes_what_is_masked(exploration, backend):
    actor = ActorComponent(None, QPolicy(NETWORK, IntBox(5)), exploration)
    spaces = {"states": STATES, "use_exploration": bool, "action_mask": mask_of(5)}
    test = ComponentTest(ObservationParts(actor), spaces, backend=backend)
    mask = np.tile(masks_like(40, 5), (10, 1))
    for use in (True, False):
        given = {"states": np.tile(X, (10, 1)), "use_exploration": use, "action_mask": mask}
        action = test.test((METHOD, given))["action"]
        assert mask[np.arange(400), action].all()


def test_an_actor_that_samples(backend):
    actor = ActorComponent(None, Policy(NETWORK, IntBox(5), deterministic=False))
    test = ComponentTest(
        ObservationParts(actor), {"states": STATES, "action_mask": mask_of(5)}, backend=backend
    )
    mask = masks_like(40, 5)
    given = {"states": X, "action_mask": mask}
    acted = test.test(("get_preprocessed_state_action_and_action_probs", given))
    assert mask[np.arange(40), acted["action"]].all()
    # The least that the softmax component gives (see `Softmax`).
    assert (acted["action_probs"][~mask] <= 1e-6).all()
    np.testing.assert_allclose(acted["action_probs"].sum(axis=-1), np.ones(40), rtol=1e-5)


def test_noise_leaves_masked_parts_alone(backend):
    actions = Dict(jump=IntBox(3), steer=FloatBox(-1.0, 1.0))
    noise = {"noise_spec": {"type": "gaussian_noise", "stddev": 0.5}}
    actor = ActorComponent(None, Policy(NETWORK, actions), noise)
    spaces = {"states": STATES, "action_mask": Dict(jump=mask_of(3))}
    test = ComponentTest(ObservationParts(actor), spaces, backend=backend)
    mask = masks_like(40, 3)
    action = test.test((METHOD, {"states": X, "action_mask": {"jump": mask}}))["action"]
    assert mask[np.arange(40), action["jump"]].all()
