"""What `build_large.py` builds: a dueling DQN with prioritized replay, 43 components.

Nine of the classes are stand-ins of the size of the real thing: what they compute is simplified, what they declare,
call and hand on is not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlgraph.components import Adam, Dense, DQNLoss, DuelingPolicy, EpsilonGreedy, Synchronizer
from rlgraph.components.memories.memory import stacked
from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.core.functional.q_learning import (
    action_values,
    double_q_next_values,
    huber,
    q_learning_target,
)
from rlgraph.spaces import BoolBox, FloatBox, IntBox, Space

STATE_SIZE, NUM_ACTIONS, CAPACITY, UNITS = 32, 6, 1024, 32
STATES = FloatBox(-10.0, 10.0, shape=(STATE_SIZE,), add_batch_rank=True)
INPUT_SPACES: dict[str, Any] = {
    "states": STATES,
    "next_states": STATES,
    "actions": IntBox(NUM_ACTIONS, add_batch_rank=True),
    "rewards": FloatBox(add_batch_rank=True),
    "terminals": BoolBox(add_batch_rank=True),
    "importance_weights": FloatBox(add_batch_rank=True),
    "progress": FloatBox(0.0, 1.0),
    "num_records": IntBox(1, None),
}

# Preprocessing.


class Divide(Component):
    """``states / divisor``."""

    def __init__(self, divisor: float, scope: str = "divide"):
        self.divisor = divisor
        super().__init__(scope=scope)

    @rlgraph_api
    def call(self, states: Any) -> Any:
        """``[B, ...] -> [B, ...]``."""
        return self._divide(states)

    @graph_fn(flatten_ops=True, split_ops=True)
    def _divide(self, ops: Any, states: Any) -> Any:
        return states / self.divisor


class Clip(Component):
    """``states`` within limits."""

    def __init__(self, low: float, high: float, scope: str = "clip"):
        self.low, self.high = low, high
        super().__init__(scope=scope)

    @rlgraph_api
    def call(self, states: Any) -> Any:
        """``[B, ...] -> [B, ...]``."""
        return self._clip(states)

    @graph_fn(flatten_ops=True, split_ops=True)
    def _clip(self, ops: Any, states: Any) -> Any:
        return ops.clip(states, self.low, self.high)


class Normalize(Component):
    """By learned scale and offset, with a fixed mean and deviation; in a network: normalisation of a layer."""

    def __init__(self, trainable: bool = True, scope: str = "normalize"):
        super().__init__(scope=scope, trainable=trainable)

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        space = FloatBox(shape=input_spaces["inputs"].shape)
        self.scale = self.get_variable("scale", space, initializer=1.0)
        self.offset = self.get_variable("offset", space)

    @rlgraph_api
    def call(self, inputs: Any) -> Any:
        """``[B, N] -> [B, N]``."""
        return self._normalize(inputs)

    @graph_fn
    def _normalize(self, ops: Any, inputs: Any) -> Any:
        centred = inputs - ops.mean(inputs, axis=-1, keepdims=True)
        deviation = ops.sqrt(ops.mean(ops.square(centred), axis=-1, keepdims=True) + 1e-6)
        return centred / deviation * self.scale + self.offset


class Stack(Component):
    """Components one after the other."""

    def __init__(self, *parts: Any, scope: str = "stack", **kwargs: Any):
        self.parts = parts
        super().__init__(*parts, scope=scope, **kwargs)

    @rlgraph_api
    def call(self, inputs: Any) -> Any:
        """The last one's output."""
        for part in self.parts:
            inputs = part.call(inputs)
        return inputs


# Policy.


class PredictingPolicy(DuelingPolicy):
    """With a third head that predicts the reward."""

    def make_heads(self) -> list[Component]:
        hidden, output = Dense(UNITS, "relu", scope="hidden"), Dense(1, scope="output")
        self.reward_head = Stack(hidden, output, scope="reward")
        return [*super().make_heads(), self.reward_head]

    @rlgraph_api
    def predict_rewards(self, states: Any) -> Any:
        """``states [B, ...] -> [B]``."""
        return self._squeezed(self.reward_head.call(self.network.call(states)))

    @graph_fn
    def _squeezed(self, ops: Any, rewards: Any) -> Any:
        return ops.squeeze(rewards, axis=1)


# Memory.


class SegmentTree(Component):
    """Partial sums, or minima, of priorities, on the host."""

    def __init__(self, capacity: int, start: float, scope: str):
        self.capacity, self.start = capacity, start
        super().__init__(scope=scope)

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        space = FloatBox(shape=(2 * self.capacity,))
        self.nodes = self.get_variable("nodes", space, initializer=self.start, host=True)

    # What is drawn is set again later: where to set does not decide what the variables are.
    @rlgraph_api(must_be_complete=False)
    def set(self, indices: Any, priorities: Any) -> Any:
        """Write the leaves ``indices [N]``."""
        return self._set(indices, priorities)

    @rlgraph_api
    def top(self) -> Any:
        """The value of the root, []."""
        return self._top()

    @rlgraph_api(must_be_complete=False)
    def draw(self, number: Any) -> Any:
        """``number []`` leaves, drawn in proportion to their values: indices and values, [N]."""
        return self._draw(number)

    @graph_fn(returns=0, host=True, spaces=())
    def _set(self, indices: np.ndarray, priorities: np.ndarray) -> None:
        self.nodes[self.capacity + indices] = priorities  # type: ignore[index]

    @graph_fn(host=True, spaces=FloatBox())
    def _top(self) -> np.ndarray:
        return np.array(self.nodes[1])  # type: ignore[index]

    @graph_fn(
        returns=2, host=True, spaces=(IntBox(CAPACITY, add_batch_rank=True), FloatBox(add_batch_rank=True))
    )
    def _draw(self, number: np.ndarray) -> Any:
        indices = self.rng.integers(0, self.capacity, int(number))
        return indices, self.nodes[self.capacity + indices]  # type: ignore[index]


class Ring(Component):
    """The records, on the host."""

    def __init__(self, capacity: int, scope: str = "ring"):
        self.capacity = capacity
        super().__init__(scope=scope)

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        self.record_space = input_spaces["records"]
        self.rows = {
            path: self.get_variable(f"rows/{path}", stacked(box, self.capacity), host=True)
            for path, box in self.record_space.flatten().items()
        }

    @rlgraph_api
    def insert(self, records: Any) -> Any:
        """Where ``records`` (fields [B, ...]) were put, and the priorities they start with, [B]."""
        return self._insert(records)

    @rlgraph_api(must_be_complete=False)
    def get(self, indices: Any, priorities: Any) -> Any:
        """The records at ``indices [N]``, with indices and priorities."""
        return self._get(indices, priorities)

    @graph_fn(
        returns=2, host=True, spaces=(IntBox(CAPACITY, add_batch_rank=True), FloatBox(add_batch_rank=True))
    )
    def _insert(self, records: Any) -> Any:
        number = len(next(iter(records.values())))
        for path, rows in self.rows.items():
            rows[:number] = records[path]  # type: ignore[index]
        return np.arange(number), np.ones(number, np.float32)

    @graph_fn(
        returns=3,
        host=True,
        spaces=lambda self, *_: (
            self.record_space,
            IntBox(CAPACITY, add_batch_rank=True),
            FloatBox(add_batch_rank=True),
        ),
    )
    def _get(self, indices: np.ndarray, priorities: np.ndarray) -> Any:
        return {path: rows[indices] for path, rows in self.rows.items()}, indices, priorities  # type: ignore[index]


class PrioritizedReplay(Component):
    """A ring of records and two segment trees of their priorities (Schaul et al., 2016)."""

    def __init__(self, capacity: int, alpha: float = 0.6, beta: float = 0.4, scope: str = "memory"):
        self.alpha, self.beta = alpha, beta
        self.ring = Ring(capacity)
        self.sums = SegmentTree(capacity, 0.0, scope="sums")
        self.minima = SegmentTree(capacity, 1.0, scope="minima")
        super().__init__(self.ring, self.sums, self.minima, scope=scope)

    @rlgraph_api
    def insert_records(self, records: Any) -> Any:
        """Put ``records`` (fields [B, ...]) into the ring."""
        indices, priorities = self.ring.insert(records)
        self.sums.set(indices, priorities)
        self.minima.set(indices, priorities)

    @rlgraph_api
    def get_records(self, num_records: Any) -> Any:
        """Records, their indices and their importance weights, [N, ...]."""
        records, indices, priorities = self.ring.get(*self.sums.draw(num_records))
        return records, indices, self._weights(priorities, self.sums.top(), self.minima.top())

    @rlgraph_api
    def update_records(self, indices: Any, errors: Any) -> Any:
        """New priorities of the records at ``indices [N]``, of their ``errors [N]``."""
        priorities = self._priorities(errors)
        self.sums.set(indices, priorities)
        self.minima.set(indices, priorities)

    @graph_fn
    def _weights(self, ops: Any, priorities: Any, total: Any, smallest: Any) -> Any:
        return (priorities / total) ** -self.beta / (smallest / total) ** -self.beta

    @graph_fn
    def _priorities(self, ops: Any, errors: Any) -> Any:
        return (ops.abs(errors) + 1e-6) ** self.alpha


# Loss and root.


class Huber(Component):
    """Huber's function of errors."""

    @rlgraph_api
    def call(self, errors: Any) -> Any:
        """``[B] -> [B]``."""
        return self._huber(errors)

    @graph_fn
    def _huber(self, ops: Any, errors: Any) -> Any:
        return huber(ops, errors)


class WeightedLoss(DQNLoss):
    """With importance weights, and the error of the predicted reward."""

    def __init__(self, scope: str = "loss"):
        super().__init__(scope=scope)
        self.huber = Huber(scope="huber")
        self.add_components(self.huber)

    @rlgraph_api
    def weighted_loss(
        self,
        q_values: Any,
        actions: Any,
        rewards: Any,
        terminals: Any,
        q_next: Any,
        q_next_target: Any,
        predicted: Any,
        weights: Any,
    ) -> Any:
        """The mean loss [] and the errors [B]."""
        errors = self._errors(q_values, actions, rewards, terminals, q_next, q_next_target)
        return self._mean(self.huber.call(errors), weights, predicted, rewards), errors

    @graph_fn
    def _errors(
        self,
        ops: Any,
        q_values: Any,
        actions: Any,
        rewards: Any,
        terminals: Any,
        q_next: Any,
        q_next_target: Any,
    ) -> Any:
        next_values = double_q_next_values(ops, q_next, q_next_target)
        targets = q_learning_target(ops, rewards, terminals, next_values, self.discount)
        return targets - action_values(ops, q_values, actions)

    @graph_fn
    def _mean(self, ops: Any, per_item: Any, weights: Any, predicted: Any, rewards: Any) -> Any:
        return ops.mean(weights * per_item + ops.square(predicted - rewards))


class LargeDQN(Component):
    """Online and target policy behind one preprocessor, memory, exploration, loss, optimizer."""

    def __init__(self) -> None:
        layers = [
            {"type": Dense, "units": UNITS, "activation": "relu"},
            {"type": Normalize},
            {"type": Dense, "units": UNITS, "activation": "relu"},
            {"type": Normalize},
            {"type": Dense, "units": UNITS, "activation": "relu"},
        ]
        self.preprocessor = Stack(
            Divide(10.0),
            Clip(-1.0, 1.0),
            Normalize(trainable=False),
            Clip(-5.0, 5.0, scope="limit"),
            scope="preprocessor",
        )
        self.policy = PredictingPolicy(layers, IntBox(NUM_ACTIONS), units_state_value_stream=UNITS)
        self.target_policy = self.policy.copy(scope="target-policy", trainable=False)
        self.memory = PrioritizedReplay(CAPACITY)
        self.exploration = EpsilonGreedy(IntBox(NUM_ACTIONS))
        self.loss, self.optimizer, self.synchronizer = (
            WeightedLoss(),
            Adam(clip_grad_norm=10.0),
            Synchronizer(),
        )
        super().__init__(
            self.preprocessor,
            self.policy,
            self.target_policy,
            self.memory,
            self.exploration,
            self.loss,
            self.optimizer,
            self.synchronizer,
            scope="dqn",
        )

    @rlgraph_api
    def preprocess_states(self, states: Any) -> Any:
        return self.preprocessor.call(states)

    @rlgraph_api
    def get_q_values(self, states: Any) -> Any:
        return self.policy.get_q_values(self.preprocessor.call(states))["q_values"]

    @rlgraph_api
    def get_greedy_actions(self, states: Any) -> Any:
        return self.policy.get_deterministic_action(self.preprocessor.call(states))["action"]

    @rlgraph_api
    def get_actions(self, states: Any, progress: Any) -> Any:
        return self.exploration.get_action(self.get_greedy_actions(states), progress)

    @rlgraph_api
    def predict_rewards(self, states: Any) -> Any:
        states = self.preprocessor.call(states)
        return self.policy.predict_rewards(states), self.target_policy.predict_rewards(states)

    @rlgraph_api
    def insert_records(
        self, states: Any, actions: Any, rewards: Any, terminals: Any, next_states: Any
    ) -> Any:
        records = {
            "states": states,
            "actions": actions,
            "rewards": rewards,
            "terminals": terminals,
            "next_states": next_states,
        }
        self.memory.insert_records(records)

    @rlgraph_api
    def get_td_loss(
        self,
        states: Any,
        actions: Any,
        rewards: Any,
        terminals: Any,
        next_states: Any,
        importance_weights: Any,
    ) -> Any:
        states, next_states = self.preprocessor.call(states), self.preprocessor.call(next_states)
        return self.loss.weighted_loss(
            self.policy.get_q_values(states)["q_values"],
            actions,
            rewards,
            terminals,
            self.policy.get_q_values(next_states)["q_values"],
            self.target_policy.get_q_values(next_states)["q_values"],
            self.policy.predict_rewards(states),
            importance_weights,
        )

    @rlgraph_api
    def update_from_external_batch(
        self,
        states: Any,
        actions: Any,
        rewards: Any,
        terminals: Any,
        next_states: Any,
        importance_weights: Any,
    ) -> Any:
        loss, errors = self.get_td_loss(states, actions, rewards, terminals, next_states, importance_weights)
        self.optimizer.step(self.policy.variables(), loss)
        return loss, errors

    @rlgraph_api
    def update_from_memory(self, num_records: Any) -> Any:
        records, indices, weights = self.memory.get_records(num_records)
        fields = ("states", "actions", "rewards", "terminals", "next_states")
        loss, errors = self.update_from_external_batch(*(records[field] for field in fields), weights)
        self.memory.update_records(indices, errors)
        return loss

    @rlgraph_api
    def sync_target(self) -> Any:
        return self.synchronizer.sync(self.policy.variables(), self.target_policy.variables())
