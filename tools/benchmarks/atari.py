#!/usr/bin/env python3
"""Acting in ALE Pong: the share of the time that is spent neither in the emulator nor in the network.

One environment, states [84, 84, 4], the dueling network of three convolutions. A step of acting is the agent's choice,
the environment's step, and observing it. The emulator's part is four frames and two grey screens, taken from ale-py
directly; the network's part is the backend's program for a state that is ready. What is left is ours: resizing,
stacking, exploring, checking, storing. Processor time, one thread.
"""

from __future__ import annotations

import time
from typing import Any

from measure import Row, arguments, interleaved, report, use_one_thread

TARGET = 0.10
STEPS = 50  # per block

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


def main() -> None:
    options = arguments(__doc__).parse_args()
    use_one_thread()
    if options.backend == "torch":
        import torch

        torch.set_num_threads(1)
    subjects = {
        "acting": acting(options.backend),
        "emulator": emulator(),
        "network": network(options.backend),
    }
    figures = {
        name: figure.times(1e6 / STEPS)
        for name, figure in interleaved(subjects, blocks=10, single=True, clock=time.process_time).items()
    }
    rest = figures["acting"].beyond(figures["emulator"]).beyond(figures["network"])
    rows = [Row(name, figure, "us per step") for name, figure in figures.items()]
    rows.append(Row("the rest", rest, "us per step", rest.over(figures["acting"]), TARGET))
    framework = {"torch": "torch", "tf": "tensorflow"}[options.backend]
    report(f"atari, Pong, {options.backend}", rows, ("ale-py", framework, "numpy"), options.json)


def make_agent(backend: str) -> Any:
    from rlgraph.agents import Agent

    return Agent.from_spec(
        SPEC, env={"type": "atari", "game": "Pong"}, backend=backend, seed=1, execution_spec={"threads": 1}
    )


def acting(backend: str) -> Any:
    """Fifty steps as a worker does them."""
    from rlgraph.environments import make_vector_env

    agent = make_agent(backend)
    vector = make_vector_env({"type": "atari", "game": "Pong"})
    states = vector.reset(seed=1)

    def run() -> None:
        nonlocal states
        for _ in range(STEPS):
            actions = agent.get_actions(states)
            next_states, rewards, terminated, truncated, _ = vector.step(actions)
            agent.observe(states, actions, rewards, terminated, vector.final_states, truncated, batched=True)
            states = next_states

    for _ in range(20):  # past the steps whose states are held against their Space
        run()
    return run


def emulator() -> Any:
    """The frames and screens of fifty steps, asked of ale-py itself."""
    import ale_py
    import ale_py.roms
    import numpy as np

    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    ale = ale_py.ALEInterface()
    ale.setInt("random_seed", 1)
    ale.loadROM(ale_py.roms.get_rom_path("pong"))
    actions = [int(action.value) for action in ale.getMinimalActionSet()]
    screen = np.zeros(ale.getScreenDims(), np.uint8)
    rng = np.random.default_rng(1)

    def run() -> None:
        for action in rng.choice(actions, STEPS).tolist():
            for frame in range(4):
                ale.act(action)
                if frame >= 2:
                    ale.getScreenGrayscale(screen)
            if ale.game_over():
                ale.reset_game()

    return run


def network(backend: str) -> Any:
    """Fifty greedy actions for a state that is ready."""
    import numpy as np

    agent = make_agent(backend)
    program = agent.executor.program("get_greedy_actions")
    states = np.random.default_rng(0).integers(0, 256, (1, 84, 84, 4)).astype(np.uint8)

    def run() -> None:
        for _ in range(STEPS):
            program(states)

    return run


if __name__ == "__main__":
    main()
