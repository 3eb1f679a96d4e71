"""Training: environment steps per second of an agent, RLgraph against other libraries.

One thread, equal hyper-parameters (`settings.py`), equal networks. Every measurement is a process of its own; the
processes alternate. Processor time is counted, not the clock, so that a busy machine disturbs less. ``--peer`` names
libraries out of `peers/`, whose modules have what differs; ratios and targets are over the first of them, by default
Stable-Baselines3.

dqn     CartPole-v1, one environment, an update of 64 transitions at every fourth step, two layers of 64; neither
        dueling nor double, which Stable-Baselines3 has not.
ppo     CartPole-v1, eight environments, rollouts of 128 steps, 4 epochs of 4 minibatches of 256, networks of 64-64 with
        tanh. ``by hand``: the same loop by `by_hand/ppo_loop.py`, over the same
        environments. ``envpool``: EnvPool's CartPole.
a2c     CartPole-v1, eight environments, rollouts of 5 steps, networks of 64-64 with tanh.
sac     Pendulum-v1, one environment, an update of 256 transitions at every step, networks of 256-256.
td3     As sac; the noise on actions has a standard deviation of 0.1 of half their range.
qr_dqn  As dqn, with 50 quantiles; the other is sb3-contrib's.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from micro.settings import AGENTS, Q_LEARNING, SEED, task_of
from micro.training import Comparison, Training, agent_training, compare


def dqn(backend: str, compiled: bool) -> Training:
    from subject import make_agent

    agent = make_agent(
        backend,
        double_q=False,
        dueling_q=False,
        execution_spec={"threads": 1, "compile": ["update_from_memory"] if compiled else False},
        seed=SEED,
        **Q_LEARNING,
    )
    return agent_training(agent, backend, "CartPole-v1")


def ppo_by_hand(backend: str, compiled: bool) -> Training:
    from by_hand.ppo_loop import ByHand

    loop = ByHand(backend, compiled, "auto", SEED)
    framework = {"torch": "torch", "tf": "tensorflow"}[backend]
    return Training(loop.learn, lambda: loop.returns, ("rlgraph-agents", framework, "gymnasium"))


def ours(kind: str, backend: str, compiled: bool, vectorization: str = "auto") -> Training:
    from rlgraph.agents import Agent

    env, num_envs = task_of(kind)
    execution, spec = {"threads": 1, "compile": compiled}, {"type": kind, **AGENTS[kind]}
    agent = Agent.from_spec(spec, env=env, backend=backend, execution_spec=execution, seed=SEED)
    return agent_training(agent, backend, env, num_envs=num_envs, vectorization=vectorization)


def of(kind: str, targets: tuple[float | None, ...], steps: int, warm_up: int, **others: Any) -> Comparison:
    """The comparison of an agent, with further subjects of ours."""
    return Comparison({"rlgraph": partial(ours, kind), **others}, targets, steps, warm_up)


# Every program is compiled, and the memory filled, before the clock starts. Some have a target for the best way only.
PPO_OTHERS = {"by hand": ppo_by_hand, "envpool": partial(ours, "ppo", vectorization="envpool")}
COMPARISONS = {
    "dqn": of("dqn", (3.5, 9.0, None, 5.5), 20_000, 1_500, rlgraph=dqn),
    "ppo": of("ppo", (3.2, None, 3.2, 5.5), 51_200, 4_096, **PPO_OTHERS),
    "a2c": of("a2c", (None, 6.0, None, None), 51_200, 4_096),
    "sac": of("sac", (None, None, 2.4, None), 1_000, 200),
    "td3": of("td3", (None, None, 2.4, None), 1_000, 200),
    "qr_dqn": of("qr_dqn", (None, 9.0, None, None), 10_000, 1_500),
}


def main() -> None:
    compare(__doc__, COMPARISONS)
