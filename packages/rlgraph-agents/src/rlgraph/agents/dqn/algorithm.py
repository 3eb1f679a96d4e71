"""Deep Q-learning as a component: Mnih et al. (2015), https://www.nature.com/articles/nature14236.

Options: double Q-learning (van Hasselt et al., 2016, https://arxiv.org/abs/1509.06461), the dueling architecture (Wang
et al., 2016, https://arxiv.org/abs/1511.06581), prioritized replay (Schaul et al., 2016,
https://arxiv.org/abs/1511.05952), n-step returns (Sutton, 1988; Hessel et al., 2018,
https://arxiv.org/abs/1710.02298), container actions (Tavakoli et al., 2018, https://arxiv.org/abs/1711.08946).
"""

from __future__ import annotations

from typing import Any

from rlgraph.components import (
    Adam,
    DictPreprocessorStack,
    DQNLoss,
    DuelingPolicy,
    Exploration,
    PreprocessorStack,
    PrioritizedReplay,
    QPolicy,
    ReplayMemory,
    Synchronizer,
)
from rlgraph.core import Component, rlgraph_api
from rlgraph.spaces import BoolBox, FloatBox, IntBox, Space

#: What a transition consists of.
FIELDS = ("states", "actions", "rewards", "terminals", "next_states")


class DQN(Component):
    """Policy, target policy, replay memory, loss, optimizer and exploration of a DQN agent.

    Arguments with the default None are there if they have a Space: `importance_weights`, the `weights` of
    `DQNLoss.loss`, `discounts`, and `time_percentage` where the memory or the optimizer follows a schedule.

    Args:
        policy: the online policy; the target policy is its copy.
        memory: the replay memory; a prioritized one is told the errors of what was drawn from it.
        exploration: turns greedy actions, or action values, into explored actions.
        loss: the loss.
        optimizer: steps the policy's variables.
        sync_tau: share of the policy in the target policy's new value; 1 for a plain copy.
        preprocessor: a `PreprocessorStack` or the like, None for none. Policy, memory and loss see preprocessed
            states; so do API methods but `preprocess_states`, `get_greedy_actions` and `get_actions`. The latter two
            are missing if it keeps state.
        n_step: number of rewards in a record; above 1 records have a field ``discounts``.
    """

    def __init__(
        self,
        policy: QPolicy | DuelingPolicy,
        memory: ReplayMemory | PrioritizedReplay,
        exploration: Exploration,
        loss: DQNLoss,
        optimizer: Adam,
        sync_tau: float = 1.0,
        preprocessor: PreprocessorStack | DictPreprocessorStack | None = None,
        n_step: int = 1,
        scope: str = "dqn",
    ):
        self.policy = policy
        self.target_policy = policy.copy(scope="target-policy", trainable=False)
        self.memory, self.exploration, self.loss, self.optimizer = memory, exploration, loss, optimizer
        self.synchronizer = Synchronizer(tau=sync_tau)
        self.preprocessor = preprocessor
        self.is_prioritized = isinstance(memory, PrioritizedReplay)
        self.has_discounts = n_step > 1
        #: Whether the optimizer needs to know how much of training is done, and whether updates from memory do.
        self.step_follows_time = not optimizer.learning_rate.is_constant
        self.memory_follows_time = self.is_prioritized or self.step_follows_time
        parts = [policy, self.target_policy, memory, exploration, loss, optimizer, self.synchronizer]
        super().__init__(
            *parts,
            *([] if preprocessor is None else [preprocessor]),
            scope=scope,
            switched_off_apis=_unused_methods(preprocessor, exploration),
        )

    def get_input_spaces(self, state_space: Space, action_space: Space) -> dict[str, Any]:
        """Spaces of the arguments of all API methods; an optional one has a Space where an option needs it.

        Args:
            state_space: one raw state, without ranks.
            action_space: one action, without ranks.
        """
        states = state_space.with_batch_rank()
        floats, time = FloatBox(add_batch_rank=True), FloatBox(0.0, 1.0)
        spaces: dict[str, Any] = {
            "actions": action_space.with_batch_rank(),
            "rewards": floats,
            "terminals": BoolBox(add_batch_rank=True),
            "num_records": IntBox(1, None),
        }
        if self.preprocessor is not None:
            spaces["preprocess_states.states"] = states
            spaces["get_actions_from_preprocessed.time_percentage"] = time
            if self.preprocessor.has_state:
                spaces["env_indices"] = IntBox(add_batch_rank=True)
            else:
                spaces["get_greedy_actions.states"] = spaces["get_actions.states"] = states
            states = spaces["preprocessed_states"] = self.preprocessor.get_preprocessed_space(states)
        spaces["states"] = spaces["next_states"] = states
        if "reset_exploration" not in self.switched_off_apis:
            spaces["reset_exploration.env_indices"] = IntBox(add_batch_rank=True)
        if "get_actions" not in self.switched_off_apis:
            spaces["get_actions.time_percentage"] = time
        if self.has_discounts:
            spaces["discounts"] = floats
        if self.is_prioritized:
            spaces["importance_weights"] = floats
        if self.memory_follows_time:
            spaces["update_from_memory.time_percentage"] = time
        if self.step_follows_time:
            spaces["update_from_external_batch.time_percentage"] = time
        return spaces

    # Acting.

    @rlgraph_api
    def preprocess_states(self, states: Any, env_indices: Any = None) -> Any:
        """``states [B, ...]``, and which environments they are from ``[B]`` if the preprocessor keeps state."""
        return self.preprocessor.preprocess(states, env_indices)  # type: ignore[union-attr]

    @rlgraph_api
    def reset_preprocessor(self, env_indices: Any) -> Any:
        """The environments ``env_indices [N]`` begin new episodes."""
        return self.preprocessor.reset(env_indices)  # type: ignore[union-attr]

    @rlgraph_api
    def reset_exploration(self, env_indices: Any) -> Any:
        """The environments ``env_indices [N]`` begin new episodes."""
        return self.exploration.reset(env_indices)  # type: ignore[attr-defined]

    @rlgraph_api
    def get_greedy_actions(self, states: Any) -> Any:
        """``states [B, ...] -> actions [B]``."""
        return self._greedy(self._preprocessed(states))

    @rlgraph_api
    def get_actions(self, states: Any, time_percentage: Any) -> Any:
        """``states [B, ...], time_percentage [] -> actions [B]``, explored."""
        return self._explore(self._preprocessed(states), time_percentage)

    @rlgraph_api
    def get_greedy_actions_from_preprocessed(self, preprocessed_states: Any) -> Any:
        """As `get_greedy_actions`, for states that are preprocessed already."""
        return self._greedy(preprocessed_states)

    @rlgraph_api
    def get_actions_from_preprocessed(self, preprocessed_states: Any, time_percentage: Any) -> Any:
        """As `get_actions`, for states that are preprocessed already."""
        return self._explore(preprocessed_states, time_percentage)

    @rlgraph_api
    def get_q_values(self, states: Any) -> Any:
        """``states [B, ...]``, preprocessed, ``-> [B, A]``; of a container action a container of such."""
        return self._q_values(self.policy, states)

    def _q_values(self, policy: QPolicy, states: Any) -> Any:
        return policy.get_q_values({"states": states})["q_values"]

    def _greedy(self, states: Any) -> Any:
        return self.policy.get_deterministic_action({"states": states})["action"]

    def _preprocessed(self, states: Any) -> Any:
        return states if self.preprocessor is None else self.preprocessor.preprocess(states)

    def _explore(self, states: Any, time_percentage: Any) -> Any:
        if self.exploration.explores == "q_values":
            return self.exploration.get_action(self._q_values(self.policy, states), time_percentage)
        return self.exploration.get_action(self._greedy(states), time_percentage)

    # Learning.

    @rlgraph_api
    def insert_records(
        self,
        states: Any,
        actions: Any,
        rewards: Any,
        terminals: Any,
        next_states: Any,
        discounts: Any = None,
    ) -> Any:
        """Put transitions into the memory; every argument has batch rank."""
        records = {
            "states": states,
            "actions": actions,
            "rewards": rewards,
            "terminals": terminals,
            "next_states": next_states,
        }
        if discounts is not None:
            records["discounts"] = discounts
        return self.memory.insert_records(records)

    @rlgraph_api
    def get_memory_size(self) -> Any:
        """The number of transitions in the memory, []."""
        return self.memory.get_size()

    @rlgraph_api
    def get_td_loss(
        self,
        states: Any,
        actions: Any,
        rewards: Any,
        terminals: Any,
        next_states: Any,
        importance_weights: Any = None,
        discounts: Any = None,
    ) -> Any:
        """The loss of a batch without learning from it: ``{"loss": [], "loss_per_item": [B]}``."""
        values = self._values(states, actions, rewards, terminals, next_states)
        return self.loss.loss(*values, discounts=discounts, weights=importance_weights)

    @rlgraph_api
    def get_td_errors(
        self,
        states: Any,
        actions: Any,
        rewards: Any,
        terminals: Any,
        next_states: Any,
        discounts: Any = None,
    ) -> Any:
        """The sizes of the TD errors of a batch [B]: priorities."""
        values = self._values(states, actions, rewards, terminals, next_states)
        return self.loss.get_td_errors(*values, discounts)

    @rlgraph_api
    def update_from_external_batch(
        self,
        states: Any,
        actions: Any,
        rewards: Any,
        terminals: Any,
        next_states: Any,
        importance_weights: Any = None,
        discounts: Any = None,
        time_percentage: Any = None,
    ) -> Any:
        """One optimizer step on a batch; the loss before it, as `get_td_loss` gives it."""
        values = self._values(states, actions, rewards, terminals, next_states)
        losses = self.loss.loss(*values, discounts=discounts, weights=importance_weights)
        self._step(losses["loss"], time_percentage)
        return losses

    @rlgraph_api
    def update_from_memory(self, num_records: Any, time_percentage: Any = None) -> Any:
        """One optimizer step on ``num_records`` [] transitions from the memory; ``{"loss": []}``."""
        memory, indices, weights = self.memory, None, None
        if isinstance(memory, PrioritizedReplay):
            records, indices, weights = memory.get_records(num_records, time_percentage)
        else:
            records = memory.get_records(num_records)
        values = self._values(*(records[field] for field in FIELDS))
        discounts = records["discounts"] if self.has_discounts else None
        loss = self.loss.loss(*values, discounts=discounts, weights=weights)["loss"]
        self._step(loss, time_percentage)
        if isinstance(memory, PrioritizedReplay):
            memory.update_records(indices, self.loss.get_td_errors(*values, discounts))
        return {"loss": loss}

    def _values(
        self, states: Any, actions: Any, rewards: Any, terminals: Any, next_states: Any
    ) -> tuple[Any, ...]:
        """What the loss is made of."""
        q_values = self._q_values(self.policy, states)
        q_next_target = self._q_values(self.target_policy, next_states)
        # Without double Q-learning nobody asks the policy about next states.
        q_next = self._q_values(self.policy, next_states) if self.loss.double_q else q_next_target
        return q_values, actions, rewards, terminals, q_next, q_next_target

    def _step(self, loss: Any, time_percentage: Any) -> None:
        progress = [time_percentage] if self.step_follows_time else []
        self.optimizer.step(self.policy.variables(trainable_only=True), loss, *progress)

    @rlgraph_api
    def sync_target(self) -> Any:
        """Copy the policy into the target policy."""
        return self.synchronizer.sync(self.policy.variables(), self.target_policy.variables())


def _unused_methods(preprocessor: Any, exploration: Exploration) -> set[str]:
    """The API methods that there is no use for with this preprocessor and this exploration."""
    forgets = set() if "reset" in exploration.api_methods() else {"reset_exploration"}
    if preprocessor is None:
        return {
            *forgets,
            "preprocess_states",
            "reset_preprocessor",
            "get_greedy_actions_from_preprocessed",
            "get_actions_from_preprocessed",
        }
    unused = {"get_greedy_actions", "get_actions"} if preprocessor.has_state else {"reset_preprocessor"}
    return forgets | unused
