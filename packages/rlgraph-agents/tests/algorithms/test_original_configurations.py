"""The agent configurations of RLgraph 0.5: each key works, or is refused with what to write instead.

Each configuration is completed by every key that the old agent and its executor took, and is then brought here by
following the messages.
"""

from copy import deepcopy

import pytest

from rlgraph.agents import Agent
from rlgraph.core import SpecError
from rlgraph.runs.configuration import check


def layers(*units, activation):
    return [{"type": "dense", "units": number, "activation": activation} for number in units]


BASE = {
    "summary_spec": {"directory": "~/rlgraph_summaries/"},
    "saver_spec": {"max_checkpoints": 5},
    "observe_spec": {"buffer_enabled": True, "buffer_size": 100, "n_step": 1},
    "internal_states_space": None,
    "auto_build": True,
    "name": "agent",
}
UPDATES = {
    "update_mode": "time_steps",
    "do_updates": True,
    "steps_before_update": 0,
    "update_interval": 4,
    "update_steps": 1,
    "batch_size": 16,
    "sync_interval": 32,
    "max_timesteps": 1_000_000,
}
EXECUTION = {
    "seed": 15,
    "mode": "single",
    "distributed_spec": None,
    "ray_spec": {"worker_spec": {}},
    "disable_monitoring": True,
    "session_config": {"type": "monitored-training-session"},
    "gpu_spec": {"gpus_enabled": False},
    "device_strategy": "default",
    "default_device": None,
    "device_map": {},
    "enable_profiler": False,
    "profiler_frequency": 1000,
    "enable_timeline": False,
    "timeline_frequency": 1,
    "torch_num_threads": 1,
    "OMP_NUM_THREADS": 1,
}
DECAY = {"type": "linear_decay", "from": 1.0, "to": 0.05, "start_timestep": 0, "num_timesteps": 10_000}

#: Name -> environment and configuration.
ORIGINAL = {
    "dqn_cartpole": (
        "CartPole-v1",
        {
            **BASE,
            "type": "dqn",
            "double_q": True,
            "dueling_q": True,
            "memory_spec": {"type": "replay", "capacity": 128},
            "network_spec": layers(20, activation="tanh"),
            "policy_spec": {
                "units_state_value_stream": 3,
                "action_adapter_spec": {"pre_network_spec": layers(3, activation=None)},
            },
            "exploration_spec": {"epsilon_spec": {"decay_spec": DECAY}},
            "optimizer_spec": {"type": "adam", "learning_rate": 0.02},
            "update_spec": UPDATES,
            "execution_spec": EXECUTION,
        },
    ),
    "dqn_prioritized": (
        "CartPole-v1",
        {
            "type": "dqn",
            "discount": 0.99,
            "n_step": 3,
            "memory_spec": {"type": "mem_prioritized_replay", "capacity": 1000, "alpha": 1.0, "beta": 0.0},
            "optimizer_spec": {"type": "adam", "learning_rate": 0.0001, "clip_grad_norm": 40.0},
        },
    ),
    "ppo_cartpole": (
        "CartPole-v1",
        {
            **BASE,
            "type": "ppo",
            "clip_ratio": 0.2,
            "gae_lambda": 1.0,
            "clip_rewards": 0.0,
            "value_function_clipping": None,
            "standardize_advantages": False,
            "sample_episodes": False,
            "weight_entropy": 0.01,
            "memory_spec": {"type": "ring_buffer", "capacity": 1000},
            "network_spec": layers(32, 32, activation="tanh"),
            "policy_spec": {"deterministic": False},
            "value_function_spec": layers(32, 32, activation="tanh"),
            "value_function_optimizer_spec": {"type": "adam", "learning_rate": 0.0025},
            "exploration_spec": None,
            "optimizer_spec": {"type": "adam", "learning_rate": 0.0025},
            "update_spec": {**UPDATES, "num_iterations": 10, "sample_size": 50},
            "execution_spec": EXECUTION,
        },
    ),
    "sac_pendulum": (
        "Pendulum-v1",
        {
            **BASE,
            "type": "sac",
            "initial_alpha": 1.0,
            "target_entropy": -1.0,
            "double_q": True,
            "gumbel_softmax_temperature": 1.0,
            "memory_spec": {"type": "replay", "capacity": 1000},
            "network_spec": layers(16, 16, activation="relu"),
            "policy_spec": {"distributions_spec": {"bounded_distribution_type": "squashed"}},
            "value_function_spec": layers(16, 16, activation="relu"),
            "value_function_optimizer_spec": {"type": "adam", "learning_rate": 0.0003},
            "value_function_sync_spec": {"sync_tau": 0.005},
            "optimizer_spec": {"type": "adam", "learning_rate": 0.0003},
            "update_spec": {**UPDATES, "num_iterations": 1, "sample_size": 256},
        },
    ),
    "actor_critic_cartpole": (
        "CartPole-v1",
        {
            **BASE,
            "type": "a2c",  # "actor-critic"; see below
            "gae_lambda": 1.0,
            "weight_pg": 1.0,
            "weight_vf": 0.5,
            "weight_entropy": 0.01,
            "sample_episodes": True,
            "memory_spec": {"type": "ring_buffer", "capacity": 10_000},
            "network_spec": layers(32, 32, activation="tanh"),
            "value_function_spec": layers(32, 32, activation="tanh"),
            "update_spec": {**UPDATES, "update_mode": "episodes"},
        },
    ),
}
#: Key -> what it becomes, in the configurations above; all other keys that are refused are left out.
WRITTEN = {
    "value_function_clipping": "value_clipping",
    "value_function_spec": "value_network_spec",
    "torch_num_threads": "threads",
    "OMP_NUM_THREADS": "threads",
    "default_device": "device",
    "start_timestep": "start",
    "num_timesteps": "end",
    "memory_spec": "rollout_length",
    "value_function_sync_spec": "tau",
}


def refused(spec, environment):
    """The faults of a configuration, by path below the agent; empty if it makes an agent."""
    try:
        Agent.check_spec(spec, env=environment)
    except SpecError as error:
        return {fault.path.removeprefix("agent."): fault.text for fault in error.faults}
    return {}


@pytest.mark.parametrize("name", ORIGINAL)
def test_every_key_works_or_says_what_to_write(name):
    environment, spec = deepcopy(ORIGINAL[name])
    for _ in range(6):  # one mapping after the other reports its faults
        for path, text in refused(spec, environment).items():
            *above, key = path.split(".")
            holder = spec
            for part in above:
                holder = holder[part]
            del holder[key]
            assert "Did you mean" not in text and "Known:" not in text, (path, text)
            words = ("eave it out", "eave out", "ive ", "rap the", "scale ", "Call ")
            if key in WRITTEN:
                assert f"It is {WRITTEN[key]!r} here." in text
            else:
                assert any(word in text for word in words) and text.endswith("."), (path, text)
    assert refused(spec, environment) == {}
    Agent.from_spec({**spec, "execution_spec": {"seed": 15}}, env=environment, backend="numpy")


ROLLOUT = "Each rollout is one update: give 'rollout_length'"


@pytest.mark.parametrize(
    ("agent", "key", "hint"),
    [
        ("ppo", "update_spec", f"{ROLLOUT}, 'num_epochs' and 'num_minibatches'."),
        ("a2c", "update_spec", f"{ROLLOUT}."),
        ("sac", "observe_spec", "Buffers need no size: leave it out; its n_step is 'n_step' of the agent."),
        ("ppo", "observe_spec", "Buffers need no size: leave it out."),
        (
            "ppo",
            "batch_size",
            "Give a number of parts: 'num_minibatches' = 'rollout_length' x environments / batch_size.",
        ),
        ("a2c", "batch_size", "A batch is a rollout: give 'rollout_length' = batch_size / environments."),
        ("sac", "batch_size", "It is 'update_spec.batch_size' here."),
        ("ppo", "n_steps", "It is 'rollout_length' here."),
        (
            "dqfd",
            "demo_memory_spec",
            "One memory has demonstrations and own steps: give 'memory_spec' room for both.",
        ),
        ("dqfd", "demo_sample_ratio", "It is 'memory_spec.demonstration_epsilon' here."),
        (
            "ppo",
            "value_function_optimizer_spec",
            "Policy and value function share 'optimizer_spec': leave it out.",
        ),
    ],
)
def test_the_hint_suits_the_agent(agent, key, hint):
    said = f"{agent.upper()}Agent has no such key. {hint}"
    assert refused({"type": agent, key: 1}, "Pendulum-v1") == {key: said}


@pytest.mark.parametrize(("name", "here"), [("actor-critic", "a2c"), ("single-impala", "impala")])
def test_agents_of_other_names(name, here):
    said = f'unknown agent {name!r}. It is "{here}" here.'
    assert refused({"type": name}, "CartPole-v1") == {"type": said}


def test_keys_of_the_agent_at_the_top_of_a_run():
    run = {"agent": {"type": "dqn"}, "environment": "CartPole-v1", "steps": 1}
    with pytest.raises(SpecError) as caught:
        check({**run, "saver_spec": {}, "batch_size": 3})
    assert str(caught.value).splitlines() == [
        "saver_spec: there is no such key. Leave it out: the section checkpoints of a run says what is saved; "
        "agent.store_model saves.",
        "batch_size: there is no such key. It is 'agent.update_spec.batch_size' here.",
    ]
