"""An update of proximal policy optimization (Schulman et al., 2017): epochs over minibatches in one call."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.components import Adam, Dense, NeuralNetwork
from rlgraph.core import Component, GraphExecutor, graph_fn, loop, rlgraph_api
from rlgraph.spaces import FloatBox, IntBox

STATE_SIZE, NUM_ACTIONS = 4, 2
EPOCHS, MINIBATCHES = 4, 4
UPDATES = EPOCHS * MINIBATCHES
CLIP, VALUE_WEIGHT, ENTROPY_WEIGHT = 0.2, 0.5, 0.01
LEARNING_RATE, EPSILON, CLIP_NORM = 3e-4, 1e-5, 0.5


class ActorCritic(Component):
    """Logits and values of states, by two networks of 64-64."""

    def __init__(self) -> None:
        layers = [{"type": "dense", "units": 64, "activation": "tanh"}] * 2
        self.actor = NeuralNetwork([*layers, Dense(NUM_ACTIONS, scope="head")], scope="actor")
        self.critic = NeuralNetwork([*layers, Dense(1, scope="head")], scope="critic")
        super().__init__(self.actor, self.critic, scope="actor-critic")

    @rlgraph_api
    def evaluate(self, states: Any) -> Any:
        return self.actor.call(states), self.critic.call(states)


class PPO(Component):
    def __init__(self) -> None:
        self.networks = ActorCritic()
        self.optimizer = Adam(LEARNING_RATE, epsilon=EPSILON, clip_grad_norm=CLIP_NORM)
        super().__init__(self.networks, self.optimizer, scope="ppo")

    @rlgraph_api
    def update(
        self, states: Any, actions: Any, log_probs: Any, advantages: Any, returns: Any, order: Any
    ) -> Any:
        """The losses [updates] of one step per row of `order`, the records of a minibatch."""
        records = (states, actions, log_probs, advantages, returns)

        def minibatch(i: Any) -> Any:
            rows, *rest = self._minibatch(i, order, records)
            loss = self._loss(*self.networks.evaluate(rows), *rest)
            self.optimizer.step(self.networks.variables(), loss)
            return None, loss

        return loop(UPDATES, minibatch, collect=True)[1]

    @graph_fn(returns=5)
    def _minibatch(self, ops: Any, i: Any, order: Any, records: Any) -> Any:
        rows = ops.take(order, i)
        return tuple(ops.take(record, rows) for record in records)

    @graph_fn
    def _loss(
        self,
        ops: Any,
        logits: Any,
        values: Any,
        actions: Any,
        old_log_probs: Any,
        advantages: Any,
        returns: Any,
    ) -> Any:
        log_probs = ops.log_softmax(logits)
        negative_entropy = ops.mean(ops.sum(ops.exp(log_probs) * log_probs, axis=1))
        taken = ops.squeeze(ops.take_along_axis(log_probs, ops.expand_dims(actions, 1), axis=1), axis=1)
        centred = advantages - ops.mean(advantages)
        advantages = centred / (ops.std(advantages, correction=1) + 1e-8)
        ratio = ops.exp(taken - old_log_probs)
        clipped = ops.clip(ratio, 1.0 - CLIP, 1.0 + CLIP)
        gain = ops.mean(ops.minimum(ratio * advantages, clipped * advantages))
        value_loss = ops.mean(ops.square(returns - ops.squeeze(values, axis=1)))
        return VALUE_WEIGHT * value_loss - gain + ENTROPY_WEIGHT * negative_entropy

    @_loss.kernel("torch")
    def _torch_loss(
        self,
        ops: Any,
        logits: Any,
        values: Any,
        actions: Any,
        old_log_probs: Any,
        advantages: Any,
        returns: Any,
    ) -> Any:
        """As the losses of the library have one: fewer operations, each of which has a derivative."""
        import torch

        log_probs = torch.log_softmax(logits, 1)
        negative_entropy = torch.sum(torch.exp(log_probs) * log_probs)
        taken = torch.gather(log_probs, 1, actions.unsqueeze(1)).squeeze(1)
        deviation, mean = torch.std_mean(advantages)
        advantages = (advantages - mean).div_(deviation + 1e-8)
        ratio = torch.exp(taken - old_log_probs)
        clipped = torch.clamp(ratio, 1.0 - CLIP, 1.0 + CLIP)
        gain = torch.mean(torch.minimum(ratio * advantages, clipped * advantages))
        value_loss = torch._C._nn.mse_loss(values.squeeze(1), returns, 1)
        return VALUE_WEIGHT * value_loss - gain + (ENTROPY_WEIGHT / len(values)) * negative_entropy


def make_executor(backend: str, **execution: Any) -> GraphExecutor:
    spaces = {
        "states": FloatBox(shape=(STATE_SIZE,), add_batch_rank=True),
        "actions": IntBox(NUM_ACTIONS, add_batch_rank=True),
        "order": IntBox(0, None, add_batch_rank="M", add_time_rank=True, time_major=True),
        **{name: FloatBox(add_batch_rank=True) for name in ("log_probs", "advantages", "returns")},
    }
    return GraphExecutor(
        PPO(), spaces, backend=backend, execution_spec={"threads": 1, "seed": 1, **execution}
    )


def random_batch(size: int, seed: int = 0) -> dict[str, np.ndarray]:
    """A rollout of `MINIBATCHES` minibatches of `size`, and which records each of them has in each epoch."""
    rng = np.random.default_rng(seed)
    number = MINIBATCHES * size
    floats = {name: rng.normal(size=number).astype(np.float32) for name in ("advantages", "returns")}
    return {
        "states": rng.normal(size=(number, STATE_SIZE)).astype(np.float32),
        "actions": rng.integers(0, NUM_ACTIONS, number),
        "log_probs": np.log(rng.uniform(0.3, 0.7, number)).astype(np.float32),
        **floats,
        "order": np.concatenate([rng.permutation(number).reshape(MINIBATCHES, size) for _ in range(EPOCHS)]),
    }
