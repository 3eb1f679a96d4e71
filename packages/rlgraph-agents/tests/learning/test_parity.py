"""One algorithm on all backends: the same numbers from the same weights and batches."""

import numpy as np
import pytest


def test_forward_passes(make_agent, make_batch, backend, reference):
    agent, oracle = make_agent(backend), make_agent("numpy")
    weights = reference.randomised(agent.get_weights(), seed=6, scale=0.4)
    states = make_batch(200)["states"]
    for one in (agent, oracle):
        one.set_weights(weights)
    q_values = [one.call_api_method("get_q_values", states) for one in (agent, oracle)]
    assert q_values[0].dtype == q_values[1].dtype == np.float32
    np.testing.assert_allclose(q_values[0], q_values[1], rtol=0, atol=1e-6)
    losses = [one.get_td_loss(make_batch(50)) for one in (agent, oracle)]
    np.testing.assert_allclose(losses[0][1], losses[1][1], rtol=1e-6, atol=1e-6)


def test_the_same_seed_starts_with_the_same_weights(make_agent, backend):
    np.testing.assert_equal(make_agent(backend).get_weights(), make_agent("numpy").get_weights())


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-5), ("float64", 1e-10)])
def test_a_hundred_updates(make_agent, make_batch, backends, dtype, tolerance):
    if not {"torch", "tf"} <= set(backends):
        pytest.skip(f"compares the backends torch and tf, installed: {', '.join(backends) or 'none'}")
    options = {
        "dtype": dtype,
        "huber_loss": True,
        "optimizer_spec": {"learning_rate": 1e-3, "clip_grad_norm": 1.0},
        "update_spec": {"batch_size": 32},
    }
    agents = [make_agent(name, **options) for name in ("torch", "tf")]
    agents[1].set_weights(agents[0].get_weights())
    start = agents[0].get_weights()
    for seed in range(100):
        batch = make_batch(32, seed=seed, dtype=dtype)
        losses = [agent.update(batch)["loss"] for agent in agents]
        assert abs(losses[0] - losses[1]) < tolerance * max(1.0, losses[0])
        if seed % 10 == 9:
            for agent in agents:
                agent.call_api_method("sync_target")
    weights = [agent.get_weights() for agent in agents]
    for name, value in weights[0].items():
        assert value.dtype == dtype
        np.testing.assert_allclose(value, weights[1][name], rtol=0, atol=tolerance, err_msg=name)
    moved = max(
        np.abs(weights[0][name] - start[name]).max() for name in start if name.startswith("dqn/policy/")
    )
    assert moved > 0.02
    assert weights[0]["dqn/optimizer/steps"] == weights[1]["dqn/optimizer/steps"] == 100
