"""What `build_large.py` builds: a dueling DQN with prioritized replay, 39 components of the library."""

from __future__ import annotations

from typing import Any

from rlgraph.components import (
    Adam,
    Dense,
    DQNLoss,
    DuelingPolicy,
    EpsilonGreedy,
    NeuralNetwork,
    PreprocessorStack,
    PrioritizedReplay,
    Synchronizer,
)
from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.spaces import BoolBox, FloatBox, IntBox

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
DENSE = {"type": "dense", "units": UNITS, "activation": "relu"}


class PredictingPolicy(DuelingPolicy):
    """With a third head that predicts the reward."""

    def make_heads(self) -> list[Component]:
        self.reward_head = NeuralNetwork([DENSE, Dense(1, scope="output")], scope="reward")
        return [*super().make_heads(), self.reward_head]

    @rlgraph_api
    def predict_rewards(self, states: Any) -> Any:
        """``states [B, ...] -> [B]``."""
        return self._squeezed(self.reward_head.call(self.network.call(states)))

    @graph_fn
    def _squeezed(self, ops: Any, rewards: Any) -> Any:
        return ops.squeeze(rewards, axis=1)


class LargeDQN(Component):
    """Online and target policy behind one preprocessor, memory, exploration, loss, optimizer."""

    def __init__(self) -> None:
        self.preprocessor = PreprocessorStack(
            [
                {"type": "divide", "divisor": 10.0},
                {"type": "clip", "min": -1.0, "max": 1.0},
                {"type": "normalize"},
                {"type": "clip", "min": -5.0, "max": 5.0},
            ]
        )
        layers = [DENSE, {"type": "layer_norm"}, DENSE, {"type": "layer_norm"}, DENSE]
        self.policy = PredictingPolicy(layers, IntBox(NUM_ACTIONS), units_state_value_stream=UNITS)
        self.target_policy = self.policy.copy(scope="target-policy", trainable=False)
        self.memory = PrioritizedReplay(CAPACITY, max_weight_of="memory")
        self.exploration = EpsilonGreedy(IntBox(NUM_ACTIONS))
        self.loss, self.synchronizer = DQNLoss(huber_loss=True), Synchronizer()
        self.optimizer = Adam(clip_grad_norm=10.0)
        super().__init__(
            *(self.preprocessor, self.policy, self.target_policy, self.memory),
            *(self.exploration, self.loss, self.optimizer, self.synchronizer),
            scope="dqn",
        )

    @rlgraph_api
    def preprocess_states(self, states: Any) -> Any:
        return self.preprocessor.preprocess(states)

    @rlgraph_api
    def get_q_values(self, states: Any) -> Any:
        return self.policy.get_q_values(self.preprocess_states(states))["q_values"]

    @rlgraph_api
    def get_greedy_actions(self, states: Any) -> Any:
        return self.policy.get_deterministic_action(self.preprocess_states(states))["action"]

    @rlgraph_api
    def get_actions(self, states: Any, progress: Any) -> Any:
        return self.exploration.get_action(self.get_greedy_actions(states), progress)

    @rlgraph_api
    def predict_rewards(self, states: Any) -> Any:
        states = self.preprocess_states(states)
        return self.policy.predict_rewards(states), self.target_policy.predict_rewards(states)

    @rlgraph_api
    def insert_records(
        self, states: Any, actions: Any, rewards: Any, terminals: Any, next_states: Any
    ) -> Any:
        records = {"states": states, "actions": actions, "rewards": rewards}
        self.memory.insert_records({**records, "terminals": terminals, "next_states": next_states})

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
        """The loss [], with the error of the predicted rewards, and the sizes of the TD errors [B]."""
        states, next_states = self.preprocess_states(states), self.preprocess_states(next_states)
        values = {
            "q_values": self.policy.get_q_values(states)["q_values"],
            "actions": actions,
            "rewards": rewards,
            "terminals": terminals,
            "q_next": self.policy.get_q_values(next_states)["q_values"],
            "q_next_target": self.target_policy.get_q_values(next_states)["q_values"],
        }
        loss = self.loss.loss(**values, weights=importance_weights)["loss"]
        return self._sum(loss, self.policy.predict_rewards(states), rewards), self.loss.get_td_errors(
            **values
        )

    @graph_fn
    def _sum(self, ops: Any, loss: Any, predicted: Any, rewards: Any) -> Any:
        return loss + ops.mean(ops.square(predicted - rewards))

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
    def update_from_memory(self, num_records: Any, progress: Any) -> Any:
        records, indices, weights = self.memory.get_records(num_records, progress)
        fields = ("states", "actions", "rewards", "terminals", "next_states")
        loss, errors = self.update_from_external_batch(*(records[field] for field in fields), weights)
        self.memory.update_records(indices, errors)
        return loss

    @rlgraph_api
    def sync_target(self) -> Any:
        return self.synchronizer.sync(self.policy.variables(), self.target_policy.variables())
