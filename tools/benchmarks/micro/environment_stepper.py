"""100 steps of CartPole-v1 in one call, by a policy of 64-64 that samples: `EnvironmentStepper` against a loop by hand.

The loops by hand call the same environment and write the same arrays: states, actions, rewards, ends. `execute("step")`
of an executor whose `acting_methods` name it runs the graph on NumPy, with kernels, on arrays borrowed from the
backend; without them the backend runs it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium
import numpy as np
from measure import arguments, compared, interleaved, report

from rlgraph.components import EnvironmentStepper, Policy
from rlgraph.core import GraphExecutor
from rlgraph.spaces import FloatBox, IntBox

TARGETS = {"numpy": 1.10, "torch": 1.25}
STEPS, ACTIONS = 100, 2


def main() -> None:
    options = arguments(__doc__, backends=("numpy", "torch", "tf")).parse_args()
    acting, own = make_executor(options.backend, ["step"]), make_executor(options.backend, [])
    weights = list(own.get_weights().values())
    subjects: dict[str, Callable[[], Any]] = {
        "by hand": BY_HAND[options.backend](weights),
        "rlgraph": partial(acting.execute, "step"),
        "rlgraph, acting_methods=[]": partial(own.execute, "step"),
    }
    figures = interleaved(subjects, blocks=30, clock=time.process_time)
    rows = compared(figures, "by hand", "us/step", 1e6 / STEPS, TARGETS.get(options.backend))
    report("environment_stepper", rows, options, ("gymnasium",))


class CartPole:
    """Gymnasium's, with the Spaces of ours and nothing in between."""

    def __init__(self) -> None:
        self.state_space, self.action_space = FloatBox(shape=(4,)), IntBox(ACTIONS)
        self.gym = gymnasium.make("CartPole-v1", disable_env_checker=True)
        self.step = self.gym.step

    def reset(self, seed: int | None = None) -> Any:
        return self.gym.reset(seed=seed)[0]


def make_executor(backend: str, acting_methods: list[str]) -> Any:
    layers = [{"type": "dense", "units": 64, "activation": "tanh"}] * 2
    policy = Policy(layers, IntBox(ACTIONS), deterministic=False)
    stepper = EnvironmentStepper(CartPole, policy, STEPS)
    execution = {"threads": 1, "seed": 1, "acting_methods": acting_methods}
    return GraphExecutor(stepper, {}, backend=backend, execution_spec=execution)


def rollout(act: Callable[[Any], int]) -> Callable[[], Any]:
    """The loop around ``act(states [1, 4]) -> action``."""
    env = CartPole()
    step, reset = env.step, env.reset
    state = reset(1)

    def run() -> Any:
        nonlocal state
        states = np.zeros((STEPS + 1, 1, 4), np.float32)
        actions, rewards = np.zeros((STEPS, 1), np.int64), np.zeros((STEPS, 1), np.float32)
        terminated, truncated = np.zeros((2, STEPS, 1), bool)
        final = {}
        states[0] = state
        for t in range(STEPS):
            action = act(states[t])
            actions[t] = action
            state, rewards[t], ends, is_cut, _ = step(action)
            if ends or is_cut:
                terminated[t], truncated[t], final[t] = ends, is_cut, state
                state = reset()
            states[t + 1] = state
        next_states = states[1:].copy()
        for t, last in final.items():
            next_states[t] = last
        return states, actions, rewards, terminated, truncated, next_states

    return run


def by_hand_numpy(weights: Any) -> Callable[[], Any]:
    b2, w2, b0, w0, b1, w1 = weights
    gumbel = np.random.default_rng(0).gumbel

    def act(states: Any) -> int:
        hidden = np.tanh(np.tanh(states @ w0 + b0) @ w1 + b1)
        return int((hidden @ w2 + b2 + gumbel(size=(1, ACTIONS))).argmax())

    return rollout(act)


def by_hand_torch(weights: Any) -> Callable[[], Any]:
    import torch

    torch.set_num_threads(1)
    b2, w2, b0, w0, b1, w1 = map(torch.from_numpy, weights)
    addmm, from_numpy = torch.addmm, torch.from_numpy
    generator = torch.Generator().manual_seed(0)
    noise = torch.empty(1, ACTIONS)

    def act(states: Any) -> int:
        hidden = addmm(b1, addmm(b0, from_numpy(states), w0).tanh_(), w1).tanh_()
        logits = addmm(b2, hidden, w2)
        return int((logits - noise.exponential_(generator=generator).log()).argmax())

    run = rollout(act)

    def without_gradients() -> Any:
        with torch.no_grad():
            return run()

    return without_gradients


def by_hand_tf(weights: Any) -> Callable[[], Any]:
    import tensorflow as tf

    b2, w2, b0, w0, b1, w1 = map(tf.constant, weights)

    @tf.function(input_signature=[tf.TensorSpec((1, 4)), tf.TensorSpec((2,), tf.int64)])
    def choose(states: Any, seed: Any) -> Any:
        hidden = tf.tanh(tf.tanh(states @ w0 + b0) @ w1 + b1)
        return tf.random.stateless_categorical(hidden @ w2 + b2, 1, seed)

    concrete, count = choose.get_concrete_function(), iter(range(1 << 62))
    return rollout(
        lambda states: concrete(tf.constant(states), tf.constant([0, next(count)], tf.int64)).numpy().item()
    )


BY_HAND: dict[str, Callable[[Any], Callable[[], Any]]] = {
    "numpy": by_hand_numpy,
    "torch": by_hand_torch,
    "tf": by_hand_tf,
}
