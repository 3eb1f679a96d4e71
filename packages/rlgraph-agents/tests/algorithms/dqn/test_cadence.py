"""When `update_if_due` updates and synchronises, step by step."""

import numpy as np
import pytest

# (update_spec, environments), how many updates follow which step, and after which steps the target changes.
EVERY_FOURTH = {4: 1, 8: 1, 12: 1, 16: 1, 20: 1, 24: 1}
CASES = {
    "every fourth step": ({"update_interval": 4, "sync_interval": 6}, 1, EVERY_FOURTH, [8, 12, 20, 24]),
    "every step": (
        {"update_interval": 1, "sync_interval": 5},
        1,
        dict.fromkeys(range(1, 25), 1),
        [5, 10, 15, 20],
    ),
    "not before step 10": (
        {"steps_before_update": 10, "update_interval": 4, "sync_interval": 8},
        1,
        {10: 1, 14: 1, 18: 1, 22: 1},
        [10, 18],
    ),
    "not before the first interval is over": (
        {"steps_before_update": 2, "update_interval": 8, "sync_interval": 100},
        1,
        {8: 1, 16: 1, 24: 1},
        [],
    ),
    "three at a time": (
        {"update_interval": 6, "update_steps": 3, "sync_interval": 12},
        1,
        {6: 3, 12: 3, 18: 3, 24: 3},
        [12, 24],
    ),
    "never synchronised without an update": (
        {"update_interval": 8, "sync_interval": 1},
        1,
        {8: 1, 16: 1, 24: 1},
        [8, 16, 24],
    ),
    "two environments": ({"update_interval": 4, "sync_interval": 8}, 2, EVERY_FOURTH, [8, 16, 24]),
    "more environments than steps between updates": (
        {"update_interval": 4, "sync_interval": 16},
        8,
        {8: 2, 16: 2, 24: 2},
        [16],
    ),
    "no updates": ({"do_updates": False}, 1, {}, []),
}


def part(agent, policy):
    return {name: value for name, value in agent.get_weights().items() if name.startswith(f"{policy}/")}


def target_of(name):
    """The target network's variable of one of the policy."""
    return name.replace("dqn/", "dqn/target-policy/", 1)


def same(first, second):
    return all(np.array_equal(a, b) for a, b in zip(first.values(), second.values(), strict=True))


@pytest.mark.parametrize("case", CASES)
def test_updates_and_synchronisations(make_agent, make_batch, backend, case):
    update_spec, environments, updates, synchronised = CASES[case]
    agent = make_agent(backend, update_spec={"batch_size": 4, **update_spec})
    done, changed = {}, []
    for step in range(environments, 25, environments):
        updates_before, target_before = agent.updates, part(agent, "dqn/target-policy/policy")
        agent.observe(**make_batch(environments, seed=step), batched=True)
        results = agent.update_if_due()
        assert agent.timesteps == step
        assert (results is None) == (agent.updates == updates_before)
        if results is not None:
            assert results["loss"] > 0
            done[step] = agent.updates - updates_before
        target = part(agent, "dqn/target-policy/policy")
        if not same(target, target_before):
            changed.append(step)
            if environments < 8:  # else a second update follows the synchronisation
                assert same(target, part(agent, "dqn/policy"))
    assert done == updates
    assert changed == synchronised


def test_steps_that_were_missed_are_made_up_for(make_agent, make_batch, backend):
    agent = make_agent(backend, update_spec={"update_interval": 4, "batch_size": 4})
    agent.observe(**make_batch(22), batched=True)
    agent.update_if_due()
    assert agent.updates == 5
    assert agent.update_if_due() is None
    agent.observe(**make_batch(2), batched=True)
    agent.update_if_due()
    assert agent.updates == 6


def test_a_soft_synchronisation_mixes(make_agent, make_batch, backend, reference):
    agent = make_agent(
        backend, update_spec={"update_interval": 2, "sync_interval": 2, "sync_tau": 0.25, "batch_size": 4}
    )
    agent.set_weights(reference.randomised(agent.get_weights(), seed=1))
    before = agent.get_weights()
    agent.observe(**make_batch(2), batched=True)
    agent.update_if_due()
    after = agent.get_weights()
    for name in [name for name in after if name.startswith("dqn/policy/")]:
        assert not np.array_equal(after[name], before[name])
        mixed = 0.25 * after[name] + 0.75 * before[target_of(name)]
        np.testing.assert_allclose(after[target_of(name)], mixed, rtol=0, atol=1e-6)


def test_the_loss_uses_the_target_of_the_last_synchronisation(make_agent, make_batch, backend, reference):
    agent, batch = make_agent(backend, optimizer_spec={"learning_rate": 0.1}), make_batch(16)
    old = {
        name: value for name, value in agent.get_weights().items() if name.startswith("dqn/target-policy/")
    }
    for _ in range(3):
        agent.update(batch)
    weights = {**agent.get_weights(), **old}
    expected, _ = reference.loss(weights, batch)
    assert agent.get_td_loss(batch)[0] == pytest.approx(expected, rel=1e-5)
    agent.call_api_method("sync_target")
    synchronised, _ = reference.loss(agent.get_weights(), batch)
    assert abs(synchronised - expected) > 1e-3
    assert agent.get_td_loss(batch)[0] == pytest.approx(synchronised, rel=1e-5)


@pytest.mark.parametrize("n_step", [1, 3])
def test_updates_wait_for_the_first_record(make_agent, backend, n_step):
    """Updates are due while all steps still wait to become records: these are left out, and not made up for."""
    agent = make_agent(backend, n_step=n_step, update_spec={"update_interval": 1, "batch_size": 2})
    for step in range(5):
        states = np.full((1, 3), step, np.float32)
        agent.observe(states, [0], [1.0], [False], batched=True)
        results = agent.update_if_due()
        # The record of step 0 is complete with the state that follows its last reward.
        assert (results is None) == (step < n_step)
    assert agent.updates == 5 - n_step


def test_without_its_memory_it_waits_again(make_agent, backend, tmp_path):
    options = {"n_step": 3, "update_spec": {"update_interval": 1, "batch_size": 2}}
    first, other = make_agent(backend, **options), make_agent(backend, **options)
    for _ in range(6):
        first.observe(np.zeros(3), 0, 1.0, False)
        first.update_if_due()
    other.load_model(first.store_model(tmp_path / "stored", memory=False))
    for step in range(6):
        other.observe(np.zeros(3), 0, 1.0, False)
        assert (other.update_if_due() is None) == (step < 3)
