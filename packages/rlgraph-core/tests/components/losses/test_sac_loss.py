import numpy as np

from rlgraph.components import SACLoss
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, Tuple
from rlgraph.testing import ComponentTest

FLOATS = FloatBox(add_batch_rank=True)
TWO = Tuple(FloatBox(), FloatBox(), add_batch_rank=True)
SPACES = {
    "alpha": FloatBox(),
    "log_probs_next_sampled": FLOATS,
    "q_values_next_sampled": TWO,
    "q_values": TWO,
    "log_probs_sampled": FLOATS,
    "q_values_sampled": TWO,
    "rewards": FLOATS,
    "terminals": BoolBox(add_batch_rank=True),
}
BATCH = {
    "alpha": 0.5,
    "log_probs_next_sampled": [-2.0, -9.0],
    "q_values_next_sampled": ([4.0, 9.0], [3.0, 9.0]),
    "q_values": ([1.0, 2.0], [3.0, 0.0]),
    "log_probs_sampled": [-1.0, 1.0],
    "q_values_sampled": ([2.0, 5.0], [1.0, 7.0]),
    "rewards": [1.0, -1.0],
    "terminals": [False, True],
}
# Soft value of the next state 3 + 0.5 * 2 = 4, targets 1 + 0.5 * 4 = 3 and -1.
CRITIC = np.array([0.5 * (2.0**2 + 0.0), 0.5 * (3.0**2 + 1.0)])
ACTOR = np.array([-0.5 - 1.0, 0.5 - 5.0])
#: Target entropy 2: -alpha (log pi + 2).
ALPHA = np.array([-0.5, -1.5])
ITEMS = {"loss": CRITIC, "critic_loss": CRITIC, "actor_loss": ACTOR, "entropy": [1.0, -1.0]}


def test_by_hand(backend):
    test = ComponentTest(SACLoss(target_entropy=2.0, discount=0.5), SPACES, backend=backend)
    items = {**ITEMS, "alpha_loss": ALPHA}
    means = {name: np.mean(values) for name, values in items.items()}
    test.test(("loss", BATCH), expected_outputs={**means, "loss_per_item": CRITIC}, decimals=5)
    test.test(("loss_per_item", BATCH), expected_outputs=items, decimals=5)


def test_a_fixed_temperature_has_no_loss(backend):
    test = ComponentTest(SACLoss(discount=0.5), SPACES, backend=backend)
    test.test(("loss_per_item", BATCH), expected_outputs=ITEMS, decimals=5)


def test_the_logarithm_of_the_temperature(backend):
    test = ComponentTest(SACLoss(target_entropy=2.0, temperature_loss="log_alpha"), SPACES, backend=backend)
    arguments = {name: BATCH[name] for name in ("alpha", "log_probs_sampled")}
    test.test(("alpha_loss_per_item", arguments), expected_outputs=2.0 * np.log(0.5) * ALPHA, decimals=5)


def test_the_target_entropy_of_possible_actions(backend):
    """Of 3, 1 and all 4 actions it is log(3) / log(4), 0 and 1 of the whole; impossible ones add nothing."""
    spaces = {
        "alpha": FloatBox(),
        "log_probs_sampled": FloatBox(shape=(4,), add_batch_rank=True),
        "action_mask": BoolBox(shape=(4,), add_batch_rank=True),
    }
    mask = np.array([[1, 1, 0, 1], [0, 0, 1, 0], [1, 1, 1, 1]], bool)
    logits = np.where(mask, np.random.default_rng(0).normal(size=(3, 4)), -1e30)
    expected = []
    for row, share in zip(logits, (np.log(3) / np.log(4), 0.0, 1.0), strict=True):
        p = np.exp(row) / np.exp(row).sum()
        entropy = -sum(q * np.log(q) for q in p if q > 0)
        expected.append(-0.3 * (share * 1.2 - entropy))
    test = ComponentTest(SACLoss(1.2, discrete=True), spaces, backend=backend)
    given = {"alpha": 0.3, "log_probs_sampled": logits, "action_mask": mask}
    test.test(("alpha_loss_per_item", given), expected_outputs=np.array(expected), decimals=5)


def test_weights_and_discounts(backend):
    spaces = {**SPACES, "weights": FLOATS, "discounts": FLOATS}
    test = ComponentTest(SACLoss(discount=0.9), spaces, backend=backend)
    batch = {**BATCH, "weights": [0.5, 1.0], "discounts": [0.5, 0.9]}
    critic, actor = (0.5 * CRITIC[0] + CRITIC[1]) / 2, (0.5 * ACTOR[0] + ACTOR[1]) / 2
    expected = {"loss": critic, "critic_loss": critic, "actor_loss": actor, "entropy": 0.0}
    test.test(("loss", batch), expected_outputs={**expected, "loss_per_item": CRITIC}, decimals=5)


def test_container_actions_have_joint_probabilities(backend):
    parts = Dict(a=FloatBox(), b=FloatBox(shape=(2,)), add_batch_rank=True)
    spaces = {**SPACES, "log_probs_next_sampled": parts, "log_probs_sampled": parts}
    test = ComponentTest(SACLoss(target_entropy=2.0, discount=0.5), spaces, backend=backend)
    batch = {
        **BATCH,
        "log_probs_next_sampled": {"a": [-1.0, 0.0], "b": [[-0.5, -0.5], [-4.0, -5.0]]},
        "log_probs_sampled": {"a": [-3.0, 0.0], "b": [[1.0, 1.0], [0.5, 0.5]]},
    }
    expected = {**ITEMS, "alpha_loss": ALPHA}
    test.test(("loss_per_item", batch), expected_outputs=expected, decimals=5)


def test_categorical_actions_against_a_loop(backend):
    """Expectations over all actions, each of which is one sample of the continuous loss."""
    all_actions = FloatBox(shape=(3,), add_batch_rank=True)
    both = Tuple(FloatBox(shape=(3,)), FloatBox(shape=(3,)), add_batch_rank=True)
    spaces = {**SPACES, "actions": IntBox(3, add_batch_rank=True)}
    spaces |= dict.fromkeys(("log_probs_next_sampled", "log_probs_sampled"), all_actions)
    spaces |= dict.fromkeys(("q_values_next_sampled", "q_values", "q_values_sampled"), both)
    rng = np.random.default_rng(0)
    policy, next_policy = rng.dirichlet(np.ones(3), (2, 4))
    q, q_next, q_sampled = rng.normal(size=(3, 2, 4, 3)).astype("float32")
    rewards, terminals, actions = rng.normal(size=4), np.array([0, 1, 0, 0], bool), np.array([2, 0, 1, 1])
    critic, actor, alpha = [], [], []
    entropy = -(policy * np.log(policy)).sum(axis=1)
    for b in range(4):
        value = sum(
            next_policy[b, a] * (min(q_next[0, b, a], q_next[1, b, a]) - 0.3 * np.log(next_policy[b, a]))
            for a in range(3)
        )
        target = rewards[b] + (0.0 if terminals[b] else 0.9 * value)
        critic.append(sum(0.5 * (q[i, b, actions[b]] - target) ** 2 for i in range(2)))
        actor.append(
            sum(
                policy[b, a] * (0.3 * np.log(policy[b, a]) - min(q_sampled[0, b, a], q_sampled[1, b, a]))
                for a in range(3)
            )
        )
        alpha.append(sum(policy[b, a] * -0.3 * (np.log(policy[b, a]) + 0.7) for a in range(3)))
    test = ComponentTest(SACLoss(0.7, 0.9, discrete=True), spaces, backend=backend)
    batch = {
        "alpha": 0.3,
        "log_probs_next_sampled": np.log(next_policy),
        "q_values_next_sampled": tuple(q_next),
        "q_values": tuple(q),
        "log_probs_sampled": np.log(policy) + 1.5,  # logits
        "q_values_sampled": tuple(q_sampled),
        "rewards": rewards,
        "terminals": terminals,
        "actions": actions,
    }
    test.test(
        ("loss_per_item", batch),
        expected_outputs={
            "loss": critic,
            "critic_loss": critic,
            "actor_loss": actor,
            "alpha_loss": alpha,
            "entropy": entropy,
        },
        decimals=5,
    )


def test_gradients_stay_with_their_part(derivative, trainer):
    loss = lambda: SACLoss(target_entropy=2.0, discount=0.5)  # noqa: E731
    given = (SPACES, BATCH)
    np.testing.assert_allclose(derivative(loss(), *given, "alpha", trainer, "alpha_loss"), -2.0, rtol=1e-5)
    by_log_probs = derivative(loss(), *given, "log_probs_sampled", trainer, "actor_loss")
    np.testing.assert_allclose(by_log_probs, [0.25, 0.25], rtol=1e-5)
    for name, part in (
        ("alpha", "critic"),
        ("alpha", "actor"),
        ("log_probs_sampled", "alpha"),
        ("log_probs_next_sampled", "critic"),
        ("rewards", "critic"),
    ):
        assert not derivative(loss(), *given, name, trainer, f"{part}_loss").any(), (name, part)
