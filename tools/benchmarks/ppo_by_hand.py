"""PPO on CartPole-v1 as one loop written by hand, over the environments of `rlgraph.environments`.

NumPy acts and estimates advantages; the update is `ppo_by_hand_torch` or `ppo_by_hand_tf`, eager or compiled.
Nothing is checked; sizes and options are fixed. Numeric libraries must be kept to one thread before this is imported.
"""

from __future__ import annotations

import importlib
import time

import numpy as np

NUM_ENVIRONMENTS, STEPS = 8, 128
ROLLOUT = NUM_ENVIRONMENTS * STEPS
STATE_SIZE, NUM_ACTIONS, UNITS = 4, 2, 64
DISCOUNT, GAE_LAMBDA = 0.99, 0.95


class ByHand:
    """Rollouts of 8 environments by 128 steps; 4 epochs of 4 minibatches of 256.

    Args:
        backend: of the update, ``"torch"`` or ``"tf"``.
        compile: by AOTInductor or XLA.
        vectorization: as of `make_vector_env`; rows that only reset an environment are left out.

    Attributes:
        returns: of the episodes that ended.
        seconds: that each part of `learn` took.
    """

    def __init__(
        self, backend: str = "torch", compile: bool = False, vectorization: str = "sequential", seed: int = 1
    ):
        from rlgraph.environments import make_vector_env

        module = importlib.import_module(f"ppo_by_hand_{backend}")
        rng = self.rng = np.random.default_rng(seed)
        self.env = make_vector_env("CartPole-v1", NUM_ENVIRONMENTS, vectorization)
        self.names = module.NAMES
        size = (STEPS, NUM_ENVIRONMENTS)
        examples: dict[str, np.ndarray] = {
            name: np.zeros(ROLLOUT, np.float32) for name in ("log_probs", "advantages", "values")
        }
        examples |= {
            "states": np.zeros((ROLLOUT, STATE_SIZE), np.float32),
            "actions": np.zeros(ROLLOUT, np.int64),
        }
        how = (module.COMPILED if compile else module.YARDSTICKS)["by hand"]
        self.update = module.Update(starting_weights(self.names, rng), examples, rng, **how)
        # torch shares its memory with NumPy; tf's weights are read after every update.
        self.views = [view.numpy() for view in getattr(self.update.parameters, "views", ())]
        self.weights = self.read_weights()
        self.states = np.empty((STEPS + 1, NUM_ENVIRONMENTS, STATE_SIZE), np.float32)
        self.actions = np.empty(size, np.int64)
        self.rewards = np.empty(size, np.float32)
        self.terminals, self.ends = np.zeros(size, np.bool_), np.zeros(size, np.bool_)
        self.valid = np.ones(size, np.bool_)
        self.hidden = [np.empty((NUM_ENVIRONMENTS, UNITS), np.float32) for _ in range(2)]
        self.states[STEPS] = self.env.reset(seed=seed)
        self.running = np.zeros(NUM_ENVIRONMENTS)
        self.returns: list[float] = []
        self.seconds = {"collecting": 0.0, "records": 0.0, "update": 0.0}

    def read_weights(self) -> list[np.ndarray]:
        """Weights of the policy, then of the value function."""
        return self.views or list(self.update.weights().values())

    def learn(self, steps: int) -> None:
        """Rollouts with an update each, until `steps` steps were made at least."""
        clock, seconds = time.process_time, self.seconds
        for _ in range(-(-steps // ROLLOUT)):
            times = [clock()]
            truncated_at = self.collect()
            times.append(clock())
            records = self.records(truncated_at)
            times.append(clock())
            self.update(records)
            self.weights = self.read_weights()
            times.append(clock())
            for name, before, after in zip(seconds, times, times[1:], strict=False):
                seconds[name] += after - before

    def collect(self) -> list[tuple[int, int, np.ndarray]]:
        """Fills the rollout; returns step, environment and reached state of each episode that was truncated."""
        states, rewards, env = self.states, self.rewards, self.env
        terminals, ends, valid = self.terminals, self.ends, self.valid
        terminals.fill(False)
        ends.fill(False)
        valid.fill(True)
        states[0] = states[STEPS]
        w0, b0, w1, b1, w2, b2 = self.weights[:6]
        first, second = self.hidden
        dot, tanh, exp = np.dot, np.tanh, np.exp
        largest, accumulate, count, step = np.maximum.reduce, np.add.accumulate, np.add.reduce, env.step
        uniforms = self.rng.random((STEPS, NUM_ENVIRONMENTS, 1), np.float32)
        finished: list[tuple[int, list[int]]] = []
        truncated_at: list[tuple[int, int, np.ndarray]] = []
        for t in range(STEPS):
            dot(states[t], w0, first)
            first += b0
            tanh(first, first)
            dot(first, w1, second)
            second += b1
            tanh(second, second)
            logits = dot(second, w2)
            logits += b2
            logits -= largest(logits, 1, None, None, True)
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
                    truncated_at += [(t, i, final[i].copy()) for i in truncated.nonzero()[0]]
            if env.dropped:
                valid[t, env.dropped] = False
        self.count_returns(finished)
        return truncated_at

    def count_returns(self, finished: list[tuple[int, list[int]]]) -> None:
        cumulated = np.where(self.valid, self.rewards, 0.0).cumsum(0)
        running = self.running
        for t, indices in finished:
            for i in indices:
                self.returns.append(float(running[i] + cumulated[t, i]))
                running[i] = -cumulated[t, i]
        running += cumulated[-1]

    def records(self, truncated_at: list[tuple[int, int, np.ndarray]]) -> dict[str, np.ndarray]:
        """The rollout with log-probabilities, values and advantages (generalized advantage estimation)."""
        rows = self.states.reshape(-1, STATE_SIZE)
        if truncated_at:
            rows = np.concatenate([rows, np.stack([state for _, _, state in truncated_at])])
        values = network(self.weights[6:], rows)[:, 0]
        per_step = values[: ROLLOUT + NUM_ENVIRONMENTS].reshape(STEPS + 1, NUM_ENVIRONMENTS)
        following = per_step[1:]
        if truncated_at:
            following = following.copy()
            for (t, i, _), value in zip(truncated_at, values[ROLLOUT + NUM_ENVIRONMENTS :], strict=True):
                following[t, i] = value
        errors = self.rewards + DISCOUNT * following * ~self.terminals - per_step[:-1]
        decays = np.where(self.ends, np.float32(0), np.float32(DISCOUNT * GAE_LAMBDA))
        advantages = errors
        product = np.empty(NUM_ENVIRONMENTS, np.float32)
        for t in range(STEPS - 2, -1, -1):
            advantages[t] += np.multiply(decays[t], advantages[t + 1], product)
        states, actions = rows[:ROLLOUT], self.actions.ravel()
        logits = network(self.weights[:6], states)
        logits -= logits.max(1, keepdims=True)
        taken = logits[np.arange(ROLLOUT), actions]
        records = {
            "states": states,
            "actions": actions,
            "log_probs": taken - np.log(np.exp(logits).sum(1)),
            "advantages": advantages.ravel(),
            "values": values[:ROLLOUT],
        }
        if self.valid.all():
            return records
        # In place of rows that are no steps some of the others twice: the size of a minibatch never changes.
        kept = self.valid.ravel().nonzero()[0]
        kept = np.concatenate([kept, self.rng.choice(kept, ROLLOUT - len(kept))])
        return {name: rows[kept] for name, rows in records.items()}


def network(weights: list[np.ndarray], states: np.ndarray) -> np.ndarray:
    w0, b0, w1, b1, w2, b2 = weights
    hidden = np.dot(states, w0)
    hidden += b0
    hidden = np.dot(np.tanh(hidden, hidden), w1)
    hidden += b1
    result = np.dot(np.tanh(hidden, hidden), w2)
    result += b2
    return result


def starting_weights(names: list[str], rng: np.random.Generator) -> dict[str, np.ndarray]:
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
