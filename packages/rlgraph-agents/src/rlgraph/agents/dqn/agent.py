"""The DQN agent: when to learn, when to synchronise; what is computed stands in `algorithm`."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np

from rlgraph.agents.agent import Agent
from rlgraph.agents.dqn.algorithm import DQN
from rlgraph.agents.specs import UpdateSpec, parse_spec
from rlgraph.components import Adam, DQNLoss, DuelingPolicy, EpsilonGreedy, QPolicy, ReplayMemory
from rlgraph.components.policies.q_policy import count_actions
from rlgraph.core import InputError, NumericalError
from rlgraph.spaces import BoolBox, FloatBox, IntBox, Space

DEFAULT_NETWORK = (
    {"type": "dense", "units": 64, "activation": "relu"},
    {"type": "dense", "units": 64, "activation": "relu"},
)


#: What a transition consists of.
FIELDS = ("states", "actions", "rewards", "terminals", "next_states")


class DQNAgent(Agent):
    """Deep Q-learning with replay memory and target network (Mnih et al., 2015).

    Args:
        state_space, action_space: the task; actions are one `IntBox` with categories.
        discount: discount factor.
        network_spec: list of layer specs; default: two dense layers of 64 with ReLU.
        double_q: double Q-learning.
        dueling_q: dueling architecture.
        huber_loss: Huber loss instead of squared error.
        memory_spec: the replay memory, e.g. ``{"capacity": 50000}``.
        exploration_spec: e.g. ``{"epsilon_spec": [1.0, 0.05]}``.
        optimizer_spec: e.g. ``{"type": "adam", "learning_rate": 1e-3}``.
        update_spec: see `UpdateSpec`.
        backend, execution_spec, seed, acting, env: see `Agent`.

    Raises:
        SpecError: a key or value is wrong; names its path.
    """

    def __init__(
        self,
        state_space: Space,
        action_space: Space,
        *,
        discount: float = 0.99,
        network_spec: Any = None,
        double_q: bool = True,
        dueling_q: bool = True,
        huber_loss: bool = False,
        memory_spec: Any = None,
        exploration_spec: Any = None,
        optimizer_spec: Any = None,
        update_spec: UpdateSpec | Mapping[str, Any] | None = None,
        backend: str | None = None,
        execution_spec: Mapping[str, Any] | None = None,
        seed: int | None = None,
        acting: str = "auto",
        env: Any = None,
    ):
        self.update_spec = parse_spec(UpdateSpec, update_spec, "update_spec")
        policy_class = DuelingPolicy if dueling_q else QPolicy
        root = DQN(
            policy_class(list(DEFAULT_NETWORK) if network_spec is None else network_spec, action_space),
            ReplayMemory.from_spec(memory_spec or {"capacity": 10_000}, path="memory_spec"),
            EpsilonGreedy.from_spec(
                exploration_spec,
                path="exploration_spec",
                num_actions=count_actions(action_space, "action_space"),
            ),
            DQNLoss(discount=discount, double_q=double_q, huber_loss=huber_loss),
            Adam.from_spec(optimizer_spec, path="optimizer_spec"),
            sync_tau=self.update_spec.sync_tau,
        )
        states = state_space.with_batch_rank()
        super().__init__(
            state_space,
            action_space,
            root,
            {
                "states": states,
                "next_states": states,
                "actions": action_space.with_batch_rank(),
                "rewards": FloatBox(add_batch_rank=True),
                "terminals": BoolBox(add_batch_rank=True),
                "time_percentage": FloatBox(0.0, 1.0),
                "num_records": IntBox(1, None),
            },
            backend=backend,
            execution_spec=execution_spec,
            seed=seed,
            acting=acting,
            env=env,
        )
        self._exploration = root.exploration
        self._insert = self.executor.program("insert_records")
        self._batch_size = np.array(self.update_spec.batch_size)
        self._next_update = max(self.update_spec.steps_before_update, self.update_spec.update_interval)
        self._next_sync = self.update_spec.sync_interval
        # The target starts as the policy, whatever their own starting values were.
        policy = self.executor.get_weights(trainable_only=True)
        self.executor.set_weights({f"target-{name}": value for name, value in policy.items()})

    def observe(
        self,
        states: Any,
        actions: Any,
        rewards: Any,
        terminals: Any,
        next_states: Any,
        truncations: Any = None,
        batched: bool = False,
    ) -> None:
        """Put transitions into the memory; see `Agent.observe`.

        A truncated step is an ordinary transition: its next state is bootstrapped, so `truncations` needs no place in
        the memory.

        Raises:
            InputError: a value does not fit its Space, or the batches differ in length.
        """
        if not batched:
            states, _ = self._force_batch("observe", "states", states)
            next_states, _ = self._force_batch("observe", "next_states", next_states)
            actions = np.asarray(actions)[None]
            rewards, terminals = np.asarray(rewards, np.float32)[None], np.asarray(terminals, bool)[None]
        _check_lengths("observe", states, actions, rewards, terminals, next_states)
        self._insert(states, actions, rewards, terminals, next_states)
        self.timesteps += len(actions)

    def update(self, batch: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """One optimizer step.

        Args:
            batch: ``states, actions, rewards, terminals, next_states``; None: drawn from the memory.

        Returns:
            ``{"loss": float}``, and ``"loss_per_item" [B]`` for an external batch.

        Raises:
            InputError: the batch lacks a field, is empty, or its fields differ in length.
            NumericalError: the loss is not finite.
        """
        if batch is None:
            results = self.executor.program("update_from_memory")(self._batch_size)
        else:
            if set(batch) != set(FIELDS):
                raise InputError(
                    f"update: expected a batch of {', '.join(FIELDS)}, given {', '.join(batch) or 'nothing'}"
                )
            _check_lengths("update", *(batch[field] for field in FIELDS))
            if not len(batch["actions"]):
                raise InputError("update: the batch is empty")
            results = self.executor.execute("update_from_external_batch", **batch)
        loss = float(results["loss"])
        if not isfinite(loss):
            raise NumericalError(
                f"{self.executor.root.scope_path}/loss: the loss of update {self.updates + 1} (step {self.timesteps}) "
                f"is {loss}: lower optimizer_spec.learning_rate, set clip_grad_norm, or look for rewards and states "
                "that are very large"
            )
        self.updates += 1
        return {**results, "loss": loss}

    def update_if_due(self) -> dict[str, Any] | None:
        spec, results = self.update_spec, None
        while spec.do_updates and self.timesteps >= self._next_update:
            self._next_update += spec.update_interval
            for _ in range(spec.update_steps):
                results = self.update()
            if self.timesteps >= self._next_sync:
                # The next multiple, so that intervals that do not divide each other keep the rate.
                self._next_sync = (self.timesteps // spec.sync_interval + 1) * spec.sync_interval
                self.executor.program("sync_target")()
        return results

    def metrics(self) -> dict[str, float]:
        """``{"epsilon": probability of a random action}``."""
        return {"epsilon": self._exploration.epsilon.value(float(self._time_percentage))}

    def progress_facts(self) -> dict[str, Any]:
        return {**super().progress_facts(), "next_update": self._next_update, "next_sync": self._next_sync}

    def restore_progress(self, facts: Mapping[str, Any]) -> None:
        super().restore_progress(facts)
        self._next_update, self._next_sync = int(facts["next_update"]), int(facts["next_sync"])


def _check_lengths(
    method: str, states: Any, actions: Any, rewards: Any, terminals: Any, next_states: Any
) -> None:
    """Fields of different lengths would be paired wrongly, in silence."""
    if len(actions) == len(rewards) == len(terminals) == _length(states) == _length(next_states):
        return
    values = (states, actions, rewards, terminals, next_states)
    lengths = ", ".join(f"{_length(value)} {field}" for field, value in zip(FIELDS, values, strict=True))
    raise InputError(f"{method}: batches differ in length: {lengths}")


def _length(batch: Any) -> int:
    """Rows of a batch; of a container's first leaf."""
    while isinstance(batch, (dict, tuple)) and batch:
        batch = next(iter(batch.values() if isinstance(batch, dict) else batch))
    return len(batch)
