"""The DQN agent: when to learn, when to synchronise; what is computed stands in `algorithm`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from rlgraph.agents.dqn.algorithm import DQN
from rlgraph.agents.memory_agent import MemoryAgent
from rlgraph.agents.specs import UpdateSpec, parse_spec
from rlgraph.components import Adam, DQNLoss, DuelingPolicy, EpsilonGreedy, QPolicy, ReplayMemory
from rlgraph.components.policies.q_policy import count_actions
from rlgraph.spaces import BoolBox, FloatBox, IntBox, Space

DEFAULT_NETWORK = (
    {"type": "dense", "units": 64, "activation": "relu"},
    {"type": "dense", "units": 64, "activation": "relu"},
)


class DQNAgent(MemoryAgent):
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

    extra_methods: ClassVar[Mapping[str, str]] = {"q_values": "get_q_values"}

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
        updates = parse_spec(UpdateSpec, update_spec, "update_spec")
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
            sync_tau=updates.sync_tau,
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
            update_spec=updates,
            discount=discount,
            backend=backend,
            execution_spec=execution_spec,
            seed=seed,
            acting=acting,
            env=env,
        )
        self._exploration = root.exploration
        self._next_sync = self.update_spec.sync_interval
        # The target starts as the policy, whatever their own starting values were.
        policy = self.executor.get_weights(trainable_only=True)
        self.executor.set_weights({f"target-{name}": value for name, value in policy.items()})

    def _after_updates(self) -> None:
        """Synchronise the target if it is due."""
        if self.timesteps >= self._next_sync:
            interval = self.update_spec.sync_interval
            # The next multiple, so that intervals that do not divide each other keep the rate.
            self._next_sync = (self.timesteps // interval + 1) * interval
            self.executor.program("sync_target")()

    def metrics(self) -> dict[str, float]:
        """``{"epsilon": probability of a random action}``."""
        return {"epsilon": self._exploration.epsilon.value(float(self._time_percentage))}

    def progress_facts(self) -> dict[str, Any]:
        return {**super().progress_facts(), "next_sync": self._next_sync}

    def restore_progress(self, facts: Mapping[str, Any]) -> None:
        super().restore_progress(facts)
        self._next_sync = int(facts["next_sync"])
