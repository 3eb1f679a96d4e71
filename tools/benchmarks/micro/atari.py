"""Acting in ALE Pong: the share of the time that is spent neither in the emulator nor in the network.

One environment, states [84, 84, 4], the dueling network of three convolutions. A step of acting is the agent's choice,
the environment's step, and observing it. The emulator's calls and the network's program are timed where they are
called, since both are slower behind each other than alone. What is left is ours: resizing, stacking, exploring,
checking, storing. Processor time, one thread.
"""

from __future__ import annotations

from functools import partial
from time import process_time
from typing import Any

from measure import ROUNDS, Figure, Row, arguments, interleaved, report

from rlgraph.agents import Agent
from rlgraph.environments import make_vector_env
from rlgraph.environments.adapters.atari import AtariEnv

TARGET = 0.10
STEPS, WARM_UP = 1000, 1100  # per round; past the steps whose states are held against their Space

SPEC = {
    "type": "dqn",
    "network_spec": [
        {"type": "divide", "divisor": 255},
        {"type": "conv2d", "filters": 32, "kernel_size": 8, "strides": 4, "activation": "relu"},
        {"type": "conv2d", "filters": 64, "kernel_size": 4, "strides": 2, "activation": "relu"},
        {"type": "conv2d", "filters": 64, "kernel_size": 3, "strides": 1, "activation": "relu"},
        {"type": "reshape", "flatten": True},
        {"type": "dense", "units": 512, "activation": "relu"},
    ],
    "memory_spec": {"type": "replay_memory", "capacity": 5000},
    "exploration_spec": {"epsilon_spec": 0.0},
    "update_spec": {"do_updates": False},
}


class Timed:
    """A function, the processor time that was spent in it, and how often it was called."""

    def __init__(self, function: Any):
        self.function, self.seconds, self.calls = function, 0.0, 0

    def __call__(self, *arguments: Any) -> Any:
        self.calls += 1
        started = process_time()
        try:
            return self.function(*arguments)
        finally:
            self.seconds += process_time() - started


class TimedEmulator:
    """ale-py's interface with the calls of a step timed."""

    def __init__(self, ale: Any):
        self._ale = ale
        self.timed = self.act, self.getScreenGrayscale = Timed(ale.act), Timed(ale.getScreenGrayscale)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ale, name)


def main() -> None:
    options = arguments(__doc__).parse_args()
    if options.backend == "torch":
        import torch

        torch.set_num_threads(1)
    environment = AtariEnv("Pong")
    emulator = environment._ale = TimedEmulator(environment._ale)  # type: ignore[assignment]
    agent = Agent.from_spec(
        SPEC,
        state_space=environment.state_space,
        action_space=environment.action_space,
        backend=options.backend,
        seed=1,
        execution_spec={"threads": 1},
    )
    vector = make_vector_env(environment)
    # Epsilon is 0: greedy acting is all there is to the network.
    network = Timed(agent.executor.program("get_greedy_actions"))
    states = vector.reset(seed=1)

    def act(steps: int) -> None:
        nonlocal states
        for _ in range(steps):
            actions = network(states)
            next_states, rewards, terminated, truncated, _ = vector.step(actions)
            agent.observe(states, actions, rewards, terminated, vector.final_states, truncated, batched=True)
            states = next_states

    own_acting = cost_of_get_actions(agent, network, states)
    act(WARM_UP)
    found: dict[str, list[float]] = {"acting": [], "emulator": [], "network": []}
    watch = cost_of_timing()
    for _ in range(ROUNDS):
        for timed in (*emulator.timed, network):
            timed.seconds, timed.calls = 0.0, 0
        started = process_time()
        act(STEPS)
        watched = watch * sum(timed.calls for timed in (*emulator.timed, network))
        found["acting"].append(process_time() - started - watched + own_acting * STEPS)
        found["emulator"].append(sum(timed.seconds for timed in emulator.timed))
        found["network"].append(network.seconds)
    figures = {name: Figure(tuple(values)).times(1e6 / STEPS) for name, values in found.items()}
    rest = figures["acting"].beyond(figures["emulator"]).beyond(figures["network"])
    rows = [Row(name, figure, "us per step") for name, figure in figures.items()]
    rows.append(Row("the rest", rest, "us per step", rest.over(figures["acting"]), TARGET))
    report("atari, Pong", rows, options, ("ale-py",))


def cost_of_timing(calls: int = 20_000) -> float:
    """Seconds that `Timed` adds to a call without counting them."""
    nothing = Timed(lambda: None)
    started = process_time()
    for _ in range(calls):
        nothing()
    return (process_time() - started - nothing.seconds) / calls


def cost_of_get_actions(agent: Any, network: Timed, states: Any) -> float:
    """Seconds by which `get_actions` is slower than the program, exploration included."""
    subjects = {"own": partial(agent.get_actions, states), "program": partial(network.function, states)}
    figures = interleaved(subjects, rounds=ROUNDS, clock=process_time)
    return max(figures["own"].beyond(figures["program"]).median, 0.0)
