"""A sampler written by hand: CartPole-v1 stepped by a policy of 64-64 with tanh on NumPy, for `ppo_loop` and
`on_ray`.

Nothing is checked; sizes and options are fixed. Numeric libraries must be kept to one thread before this is imported.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

NUM_ENVIRONMENTS = 8
STATE_SIZE, NUM_ACTIONS, UNITS = 4, 2, 64
#: Shapes of a network, weights and biases of each layer.
POLICY_SHAPES = [
    (STATE_SIZE, UNITS),
    (UNITS,),
    (UNITS, UNITS),
    (UNITS,),
    (UNITS, NUM_ACTIONS),
    (NUM_ACTIONS,),
]


class Rollout(NamedTuple):
    """T steps of N environments.

    Attributes:
        states: [T + 1, N, 4].
        actions, rewards, terminals, ends, valid: [T, N].
        truncated: where episodes were truncated, as of ``np.nonzero``.
        reached: the states that were reached there, [E, 4].
        log_probs: of the actions, [T, N]; empty unless they are kept.
    """

    states: np.ndarray
    actions: np.ndarray
    rewards: np.ndarray
    terminals: np.ndarray
    ends: np.ndarray
    valid: np.ndarray
    truncated: tuple[np.ndarray, np.ndarray]
    reached: np.ndarray
    log_probs: np.ndarray


class Sampler:
    """Steps 8 environments.

    Args:
        steps: T of a rollout.
        vectorization: as of `make_vector_env`; rows that only reset an environment are not valid.
        keeps_log_probs: whether rollouts have the log-probabilities of actions.

    Attributes:
        returns: of the episodes that ended.
    """

    def __init__(self, steps: int, vectorization: str, seed: int, keeps_log_probs: bool = False):
        from rlgraph.environments import make_vector_env

        self.steps, self.rng = steps, np.random.default_rng(seed)
        self.env = make_vector_env("CartPole-v1", NUM_ENVIRONMENTS, vectorization)
        size = (steps, NUM_ENVIRONMENTS)
        self.states = np.empty((steps + 1, NUM_ENVIRONMENTS, STATE_SIZE), np.float32)
        self.actions = np.empty(size, np.int64)
        self.rewards = np.empty(size, np.float32)
        self.terminals, self.ends = np.zeros(size, np.bool_), np.zeros(size, np.bool_)
        self.valid = np.ones(size, np.bool_)
        self.logits = np.empty((*size, NUM_ACTIONS), np.float32) if keeps_log_probs else None
        self.hidden = [np.empty((NUM_ENVIRONMENTS, UNITS), np.float32) for _ in range(2)]
        self.states[steps] = self.env.reset(seed=seed)
        self.running = np.zeros(NUM_ENVIRONMENTS)
        self.returns: list[float] = []

    def collect(self, weights: Sequence[np.ndarray]) -> Rollout:
        """The next rollout, in the sampler's own arrays; `weights` are those of the policy, by layer."""
        states, rewards, env, steps = self.states, self.rewards, self.env, self.steps
        terminals, ends, valid = self.terminals, self.ends, self.valid
        terminals.fill(False)
        ends.fill(False)
        valid.fill(True)
        states[0] = states[steps]
        w0, b0, w1, b1, w2, b2 = weights
        first, second = self.hidden
        dot, tanh, exp = np.dot, np.tanh, np.exp
        largest, accumulate, count, step = np.maximum.reduce, np.add.accumulate, np.add.reduce, env.step
        uniforms = self.rng.random((steps, NUM_ENVIRONMENTS, 1), np.float32)
        finished: list[tuple[int, list[int]]] = []
        truncated_at: list[tuple[int, int]] = []
        reached_there: list[np.ndarray] = []
        kept = self.logits
        for t in range(steps):
            dot(states[t], w0, first)
            first += b0
            tanh(first, first)
            dot(first, w1, second)
            second += b1
            tanh(second, second)
            logits = dot(second, w2)
            logits += b2
            logits -= largest(logits, 1, None, None, True)
            if kept is not None:
                kept[t] = logits
            cumulated = accumulate(exp(logits, logits), 1)
            # The inverse of the cumulative distribution: how many categories the draw has passed.
            actions = count(cumulated[:, :-1] <= uniforms[t] * cumulated[:, -1:], 1, None, self.actions[t])
            reached, rewards[t], terminated, truncated, _ = step(actions)
            states[t + 1] = reached
            if env.finished:
                terminals[t], ends[t] = terminated, terminated | truncated
                finished.append((t, env.finished))
                if truncated.any():
                    final = env.final_states
                    truncated_at += [(t, i) for i in truncated.nonzero()[0]]
                    reached_there += [final[i].copy() for i in truncated.nonzero()[0]]
            if env.dropped:
                valid[t, env.dropped] = False
        self.count_returns(finished)
        log_probs = np.empty(0, np.float32) if kept is None else log_probs_of(kept, self.actions)
        at = np.array(truncated_at, np.int64).reshape(-1, 2)
        reached = np.array(reached_there, np.float32).reshape(-1, STATE_SIZE)
        places = (at[:, 0], at[:, 1])
        return Rollout(states, self.actions, rewards, terminals, ends, valid, places, reached, log_probs)

    def count_returns(self, finished: list[tuple[int, list[int]]]) -> None:
        cumulated = np.where(self.valid, self.rewards, 0.0).cumsum(0)
        running = self.running
        for t, indices in finished:
            for i in indices:
                self.returns.append(float(running[i] + cumulated[t, i]))
                running[i] = -cumulated[t, i]
        running += cumulated[-1]


def log_probs_of(logits: np.ndarray, actions: np.ndarray) -> np.ndarray:
    """Log-probabilities ``[...]`` of actions by logits ``[..., A]`` whose maximum is 0."""
    taken: np.ndarray = np.take_along_axis(logits, actions[..., None], -1)[..., 0]
    return taken - np.log(np.exp(logits).sum(-1))


def side_by_side(rollouts: Sequence[Rollout]) -> Rollout:
    """Rollouts of several samplers as one of all their environments."""
    if len(rollouts) == 1:
        return rollouts[0]
    fields: dict[str, Any] = {
        name: np.concatenate([getattr(rollout, name) for rollout in rollouts], 1)
        for name in ("states", "actions", "rewards", "terminals", "ends", "valid")
    }
    at = [
        (rollout.truncated[0], rollout.truncated[1] + i * NUM_ENVIRONMENTS)
        for i, rollout in enumerate(rollouts)
    ]
    axis = rollouts[0].log_probs.ndim - 1
    return Rollout(
        **fields,
        truncated=(np.concatenate([t for t, _ in at]), np.concatenate([slots for _, slots in at])),
        reached=np.concatenate([rollout.reached for rollout in rollouts]),
        log_probs=np.concatenate([rollout.log_probs for rollout in rollouts], axis),
    )


def network(weights: Sequence[np.ndarray], states: np.ndarray) -> np.ndarray:
    w0, b0, w1, b1, w2, b2 = weights
    hidden = np.dot(states, w0)
    hidden += b0
    hidden = np.dot(np.tanh(hidden, hidden), w1)
    hidden += b1
    result = np.dot(np.tanh(hidden, hidden), w2)
    result += b2
    return result


def starting_weights(names: Sequence[str], rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Glorot's; the last layer of the policy near zero."""
    weights = {}
    for name in names:
        layer = name.rpartition("/")[0].rpartition("/")[2]
        inputs = STATE_SIZE if layer == "dense-0" else UNITS
        outputs = {"action-layer": NUM_ACTIONS, "value-layer": 1}.get(layer, UNITS)
        limit = np.sqrt(6.0 / (inputs + outputs)) * (0.01 if layer == "action-layer" else 1.0)
        matrix = name.endswith("weights")
        values = rng.uniform(-limit, limit, (inputs, outputs)) if matrix else np.zeros(outputs)
        weights[name] = values.astype(np.float32)
    return weights
