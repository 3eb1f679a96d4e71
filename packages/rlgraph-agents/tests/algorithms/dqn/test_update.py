"""One update against the formulas, written out in NumPy: losses, gradients, the optimizer's step."""

import numpy as np
import pytest

from rlgraph.core import CapabilityError, InputError, NumericalError, RLGraphError

VARIANTS = [
    {"double_q": True, "dueling_q": True, "huber_loss": True},
    {"double_q": True, "dueling_q": False, "huber_loss": False},
    {"double_q": False, "dueling_q": True, "huber_loss": False},
    {"double_q": False, "dueling_q": False, "huber_loss": True},
]


def formula(variant):
    return {"double_q": variant["double_q"], "huber": variant["huber_loss"]}


def is_of_the_policy(name):
    return name.startswith(("dqn/policy/", "dqn/target-policy/"))


# Losses.


@pytest.mark.parametrize("variant", VARIANTS)
def test_loss_of_a_batch(make_agent, make_batch, backend, variant, reference):
    agent, batch = make_agent(backend, discount=0.9, **variant), make_batch(16)
    agent.set_weights(reference.randomised(agent.get_weights(), seed=1))
    loss, per_item = reference.loss(agent.get_weights(), batch, 0.9, **formula(variant))
    without, _ = agent.get_td_loss(batch)
    assert without == pytest.approx(loss, rel=1e-5)
    results = agent.update(batch)
    assert isinstance(results["loss"], float)
    assert results["loss"] == pytest.approx(loss, rel=1e-5)
    np.testing.assert_allclose(results["loss_per_item"], per_item, rtol=1e-4, atol=1e-5)
    # The variants are told apart: with any other formula the number is another one.
    for other in VARIANTS:
        if formula(other) != formula(variant):
            assert abs(reference.loss(agent.get_weights(), batch, 0.9, **formula(other))[0] - loss) > 1e-3


@pytest.mark.parametrize("double_q", [True, False])
def test_the_policy_is_asked_about_next_states_for_double_q_only(make_agent, double_q):
    plan = make_agent("numpy", double_q=double_q).executor.plan("get_td_loss")
    calls = [node.id for node in plan.nodes if node.component == "dqn/policy/advantages"]
    assert len(calls) == 1 + double_q


def test_both_branches_of_huber_are_taken(make_agent, make_batch, backend, reference):
    agent, batch = make_agent(backend, huber_loss=True), make_batch(16)
    weights, targets = agent.get_weights(), reference.targets(agent.get_weights(), batch, 0.99, True)
    q_values = reference.q_values(weights, batch["states"])
    errors = np.abs(targets - q_values[np.arange(16), batch["actions"]])
    assert (errors < 1).any() and (errors > 1).any()
    expected = np.where(errors < 1, errors**2 / 2, errors - 0.5)
    np.testing.assert_allclose(agent.update(batch)["loss_per_item"], expected, rtol=1e-4, atol=1e-5)


def test_a_terminal_has_no_future(make_agent, make_batch, backend, reference):
    agent, batch = make_agent(backend), make_batch(6)
    agent.set_weights(reference.randomised(agent.get_weights(), seed=1))

    def per_item(terminals, next_states):
        changed = {**batch, "terminals": np.full(6, terminals), "next_states": next_states}
        return agent.get_td_loss(changed)[1]

    here, elsewhere = batch["next_states"], batch["next_states"] + 1.0
    np.testing.assert_array_equal(per_item(True, here), per_item(True, elsewhere))
    assert (per_item(False, here) != per_item(False, elsewhere)).all()


# Gradients and steps, in double precision.


@pytest.mark.parametrize("variant", VARIANTS)
def test_gradient_and_adam_step(make_agent, make_batch, backend, variant, reference):
    agent = make_agent(backend, units=3, dtype="float64", optimizer_spec={"learning_rate": 0.01}, **variant)
    agent.set_weights(reference.randomised(agent.get_weights(), seed=1))
    before, batch = agent.get_weights(), make_batch(8, dtype=np.float64)
    gradients = reference.gradient(before, batch, **formula(variant))
    agent.update(batch)
    after = agent.get_weights()
    for name, gradient in gradients.items():
        # The first moment after one step is 0.1 of the gradient, the second 0.001 of its square.
        np.testing.assert_allclose(
            10 * after[f"dqn/optimizer/first_moments/{name}"], gradient, rtol=0, atol=1e-8
        )
        np.testing.assert_allclose(
            1000 * after[f"dqn/optimizer/second_moments/{name}"], gradient**2, rtol=0, atol=1e-8
        )
        step = 0.01 * gradient / (np.abs(gradient) + 1e-8)
        changed = np.abs(gradient) > 1e-4
        np.testing.assert_allclose((before[name] - after[name])[changed], step[changed], rtol=1e-6)
        assert changed.any()
    for name in after:
        if name.startswith("dqn/target-policy/"):
            np.testing.assert_array_equal(after[name], before[name])
    assert after["dqn/optimizer/steps"] == 1


def test_gradients_are_clipped_by_their_norm_together(make_agent, make_batch, backend, reference):
    agent = make_agent(backend, units=3, dtype="float64", optimizer_spec={"clip_grad_norm": 0.5})
    agent.set_weights(reference.randomised(agent.get_weights(), seed=1))
    batch = make_batch(8, dtype=np.float64)
    gradients = reference.gradient(agent.get_weights(), batch)
    norm = np.sqrt(sum((gradient**2).sum() for gradient in gradients.values()))
    assert norm > 0.5
    agent.update(batch)
    after = agent.get_weights()
    for name, gradient in gradients.items():
        np.testing.assert_allclose(
            10 * after[f"dqn/optimizer/first_moments/{name}"], 0.5 * gradient / norm, rtol=0, atol=1e-6
        )


def test_updates_fit_a_batch(make_agent, make_batch, backend):
    agent, batch = make_agent(backend, discount=0.0, optimizer_spec={"learning_rate": 0.02}), make_batch(4)
    losses = [agent.update(batch)["loss"] for _ in range(300)]
    assert losses[-1] < 0.01 * losses[0]
    assert agent.updates == 300
    chosen = agent.call_api_method("get_q_values", batch["states"])[np.arange(4), batch["actions"]]
    np.testing.assert_allclose(chosen, batch["rewards"], atol=0.5)


# From memory.


def test_from_memory_is_the_same_step(make_agent, make_batch, backend):
    """A memory of one record gives batches of copies of it, never of the empty rows behind it."""
    first, second = (
        make_agent(backend, memory_spec={"capacity": 50}, update_spec={"batch_size": 12}) for _ in range(2)
    )
    record = {name: values[:1] for name, values in make_batch(1).items()}
    first.observe(**record, batched=True)
    for _ in range(3):
        from_memory = first.update()
        external = second.update({name: np.repeat(values, 12, axis=0) for name, values in record.items()})
        assert from_memory == {"loss": external["loss"]}
    for name, value in first.get_weights().items():
        np.testing.assert_allclose(value, second.get_weights()[name], rtol=0, atol=1e-6)
    assert first.updates == 3


def test_records_are_drawn_anew_from_all_of_the_memory(make_agent, make_batch, backend):
    agent = make_agent(backend, optimizer_spec={"learning_rate": 0.0}, update_spec={"batch_size": 2})
    batch = make_batch(4)
    agent.observe(**batch, batched=True)
    losses = {round(agent.update()["loss"], 4) for _ in range(60)}
    per_item = agent.get_td_loss(batch)[1]
    pairs = {round(float(a + b) / 2, 4) for i, a in enumerate(per_item) for b in per_item[: i + 1]}
    assert len(losses) > 6
    assert all(min(abs(loss - pair) for pair in pairs) < 2e-4 for loss in losses)


def test_an_empty_memory(make_agent, backend):
    with pytest.raises(RLGraphError, match="memory is empty: insert records before drawing from it"):
        make_agent(backend).update()


# What cannot be learned from.


def test_a_loss_that_is_not_finite(make_agent, make_batch, backend):
    agent, batch = make_agent(backend), make_batch(4)
    agent.update(batch)
    agent.observe(**batch, batched=True)
    batch["rewards"][1] = 1e38
    with pytest.raises(
        NumericalError, match=r"^dqn/loss: the loss of update 2 \(step 4\) is (nan|inf): lower"
    ):
        agent.update(batch)
    assert agent.updates == 1


@pytest.mark.parametrize("reward", [np.nan, np.inf])
def test_rewards_that_are_no_numbers_are_refused_before_anything_is_written(
    make_agent, make_batch, backend, reward
):
    agent, batch = make_agent(backend), make_batch(4)
    before = agent.get_weights()
    batch["rewards"][1] = reward
    with pytest.raises(InputError, match=f"update: the reward of row 1 is {reward}: rewards must be finite"):
        agent.update(batch)
    with pytest.raises(InputError, match=f"observe: the reward of row 1 is {reward}"):
        agent.observe(**batch, batched=True)
    np.testing.assert_equal(agent.get_weights(), before)
    assert (agent.updates, agent.timesteps) == (0, 0)


def test_a_loss_from_memory_that_is_not_finite(make_agent, backend):
    agent = make_agent(backend)
    agent.observe(np.zeros(3), 0, 1e38, False, np.zeros(3))
    with pytest.raises(NumericalError, match=r"^dqn/loss: the loss of update 1 \(step 1\) is inf"):
        agent.update()


@pytest.mark.parametrize("field", ["states", "actions", "rewards", "terminals", "next_states"])
def test_batches_of_different_length(make_agent, make_batch, backend, field):
    """One reward for many states would be broadcast, in silence."""
    agent, batch = make_agent(backend), make_batch(3)
    before = agent.get_weights()
    batch[field] = batch[field][:1]
    with pytest.raises(InputError, match=f"update: batches differ in length: .*1 {field}"):
        agent.update(batch)
    np.testing.assert_equal(agent.get_weights(), before)


def test_batches_that_are_no_transitions(make_agent, make_batch, backend):
    agent, batch = make_agent(backend), make_batch(3)
    expected = "update: expected a batch of states, actions, rewards, terminals, next_states, given "
    for given, said in (
        ({"states": batch["states"]}, "states"),
        ({**batch, "weights": batch["rewards"]}, "states, .*, weights"),
        ({}, "nothing"),
    ):
        with pytest.raises(InputError, match=expected + said):
            agent.update(given)
    with pytest.raises(InputError, match="update: the batch is empty"):
        agent.update({name: values[:0] for name, values in batch.items()})
    assert agent.updates == 0


def test_numpy_only_acts(make_agent, make_batch):
    agent = make_agent("numpy")
    for batch in (None, make_batch(3)):
        with pytest.raises(
            CapabilityError, match=r"needs gradients; the numpy backend is forward only.*rlgraph-torch"
        ):
            agent.update(batch)
    assert agent.get_actions(make_batch(3)["states"]).shape == (3,)


def test_a_truncated_row_ends_its_fragment(make_agent):
    """Rows 0 and 1 are of one episode, cut behind row 1; the sums of two steps stop there, bootstrapped."""
    agent = make_agent("numpy", n_step=2, discount=0.5)
    states = np.repeat(np.arange(5, dtype=np.float32)[:, None], 3, axis=1)
    batch = {
        "states": states[:4],
        "actions": [0, 1, 2, 3],
        "rewards": [1.0, 2.0, 4.0, 8.0],
        "terminals": [False] * 4,
        "truncations": [False, True, False, False],
        "next_states": states[1:],
    }
    rows = agent.post_process(batch, sequence_indices=[3])
    assert rows["rewards"].tolist() == [1 + 0.5 * 2, 2, 4 + 0.5 * 8, 8]
    assert rows["discounts"].tolist() == [0.25, 0.5, 0.25, 0.5]
    assert rows["next_states"][:, 0].tolist() == [2, 2, 4, 4]
    assert not rows["terminals"].any()
