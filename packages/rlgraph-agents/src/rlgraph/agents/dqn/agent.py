"""The DQN agent: when to learn, when to synchronise; what is computed stands in `algorithm`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from rlgraph.agents.default_network import default_network
from rlgraph.agents.dqn.algorithm import DQN
from rlgraph.agents.memory_agent import MemoryAgent
from rlgraph.agents.specs import UpdateSpec, parse_spec
from rlgraph.components import (
    Adam,
    DictPreprocessorStack,
    DQNLoss,
    DuelingPolicy,
    Exploration,
    Memory,
    PreprocessorStack,
    PrioritizedReplay,
    QPolicy,
    ReplayMemory,
)
from rlgraph.core import SpecError
from rlgraph.core.specs.spec_types import ComponentSpec, NetworkSpec
from rlgraph.spaces import Space


class DQNAgent(MemoryAgent):
    """Deep Q-learning with replay memory and target network (Mnih et al., 2015).

    Args:
        state_space, action_space: the task. Actions are an `IntBox` with categories or a `BoolBox`, of any shape, or
            a `Dict` or `Tuple` of them.
        discount: discount factor.
        preprocessing_spec: what states go through first: a list of layer specs, or by path of a container state
            (see `rlgraph.components.preprocessing`).
        network_spec: list of layer specs; default: what suits the states (two dense layers of 64 with ReLU, behind a
            one-hot layer for a category; for pictures the convolutions of Mnih et al.), see `default_network`.
        policy_spec: further arguments of the policy, e.g. ``{"units_state_value_stream": 128}``, or another ``type``;
            it must not contradict `dueling_q`.
        double_q: double Q-learning.
        dueling_q: dueling architecture.
        n_step: number of rewards before the value of the next state is taken.
        huber_loss: Huber loss instead of squared error.
        shared_container_action_target: the parts of a container action share one target; see `DQNLoss`.
        td_aggregation: how the errors of the parts of a container action become one loss; see `DQNLoss`.
        memory_spec: the replay memory, e.g. ``{"type": "prioritized_replay", "capacity": 50000, "beta": [0.4, 1.0]}``;
            default: `replay_memory` of 10,000.
        exploration_spec: ``{"epsilon_spec": [1.0, 0.05]}``, or ``{"noise_spec": {"type": "gumbel", "scale": 0.1}}``.
        optimizer_spec: e.g. ``{"type": "adam", "learning_rate": [1e-3, 1e-4]}``.
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
        preprocessing_spec: ComponentSpec = None,
        network_spec: NetworkSpec = None,
        policy_spec: Mapping[str, Any] | None = None,
        double_q: bool = True,
        dueling_q: bool = True,
        n_step: int = 1,
        huber_loss: bool = False,
        shared_container_action_target: bool = False,
        td_aggregation: str = "mean_loss",
        memory_spec: ComponentSpec = None,
        exploration_spec: ComponentSpec = None,
        optimizer_spec: ComponentSpec = None,
        update_spec: UpdateSpec | Mapping[str, Any] | None = None,
        backend: str | None = None,
        execution_spec: Mapping[str, Any] | None = None,
        seed: int | None = None,
        acting: str = "auto",
        env: Any = None,
    ):
        if isinstance(n_step, bool) or not isinstance(n_step, int) or n_step < 1:
            raise SpecError(f"expected an integer >= 1, given {n_step!r}", path="n_step")
        updates = parse_spec(UpdateSpec, update_spec, "update_spec")
        preprocessor = make_preprocessor(preprocessing_spec)
        root = DQN(
            _policy(
                policy_spec, network_spec, _preprocessed(preprocessor, state_space), action_space, dueling_q
            ),
            _memory(memory_spec),
            Exploration.from_spec(exploration_spec, path="exploration_spec", action_space=action_space),
            DQNLoss(
                discount=discount,
                double_q=double_q,
                huber_loss=huber_loss,
                action_space=action_space,
                shared_container_action_target=shared_container_action_target,
                td_aggregation=td_aggregation,
            ),
            Adam.from_spec(optimizer_spec, path="optimizer_spec"),
            sync_tau=updates.sync_tau,
            preprocessor=preprocessor,
            n_step=n_step,
        )
        super().__init__(
            state_space,
            action_space,
            root,
            root.get_input_spaces(state_space, action_space),
            preprocessor=preprocessor,
            exploration=root.exploration,
            update_spec=updates,
            discount=discount,
            n_step=n_step,
            backend=backend,
            execution_spec=execution_spec,
            seed=seed,
            acting=acting,
            env=env,
        )
        self._exploration = root.exploration
        #: What updates from the memory are given: the batch size, and how much of training is done if that matters.
        self._update_arguments = (self._batch_size, *[self._time_percentage] * root.memory_follows_time)
        #: What external batches are given unless they bring it: of one row.
        self._batch_defaults = {
            **({"discounts": discount**n_step} if root.has_discounts else {}),
            **({"importance_weights": 1.0} if root.is_prioritized else {}),
        }
        self._step_follows_time = root.step_follows_time
        self._next_sync = self.update_spec.sync_interval
        # The target starts as the policy, whatever their own starting values were.
        policy = self.executor.get_weights(trainable_only=True)
        self.executor.set_weights({f"target-{name}": value for name, value in policy.items()})

    def _update_from_memory(self) -> dict[str, Any]:
        results: dict[str, Any] = self.executor.program("update_from_memory")(*self._update_arguments)
        return results

    def _update_from_batch(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        if self._step_follows_time:
            batch = {**batch, "time_percentage": self._time_percentage}
        return super()._update_from_batch(batch)

    def _completed(self, batch: dict[str, Any]) -> dict[str, Any]:
        rows, dtype = len(batch["rewards"]), self.executor.execution.dtype
        missing = {name: value for name, value in self._batch_defaults.items() if name not in batch}
        return {**batch, **{name: np.full(rows, value, dtype) for name, value in missing.items()}}

    def post_process(self, batch: Mapping[str, Any], sequence_indices: Any = None) -> dict[str, Any]:
        """See `MemoryAgent.post_process`; also ``priorities`` [B], the sizes of the TD errors (Horgan et al., 2018)."""
        fields = super().post_process(batch, sequence_indices)
        given = {
            name: values for name, values in self._completed(fields).items() if name != "importance_weights"
        }
        return {**fields, "priorities": self.executor.program("get_td_errors")(**given)}

    def _after_updates(self) -> None:
        """Synchronise the target if it is due."""
        if self.timesteps >= self._next_sync:
            interval = self.update_spec.sync_interval
            # The next multiple, so that intervals that do not divide each other keep the rate.
            self._next_sync = (self.timesteps // interval + 1) * interval
            self.executor.program("sync_target")()

    def metrics(self) -> dict[str, float]:
        """``{"epsilon": probability of a random action}``, or ``{"noise_scale": scale of the noise}``."""
        return self._exploration.metrics(float(self._time_percentage))

    def progress_facts(self) -> dict[str, Any]:
        return {**super().progress_facts(), "next_sync": self._next_sync}

    def restore_progress(self, facts: Mapping[str, Any]) -> None:
        super().restore_progress(facts)
        self._next_sync = int(facts["next_sync"])


def make_preprocessor(spec: Any) -> PreprocessorStack | DictPreprocessorStack | None:
    """What ``preprocessing_spec`` says: a stack for a list, one per part of the state for a mapping of paths."""
    if spec is None or isinstance(spec, DictPreprocessorStack):
        return spec
    if isinstance(spec, Mapping) and "type" not in spec and "layers" not in spec:
        return DictPreprocessorStack.from_spec(spec, path="preprocessing_spec")
    return PreprocessorStack.from_spec(spec, path="preprocessing_spec")


def _memory(spec: Any) -> ReplayMemory | PrioritizedReplay:
    if spec is None or (isinstance(spec, Mapping) and "type" not in spec):
        spec = {"type": "replay_memory", **(spec or {"capacity": 10_000})}
    memory = Memory.from_spec(spec, path="memory_spec")
    if not isinstance(memory, ReplayMemory | PrioritizedReplay):
        raise SpecError(
            "expected 'replay_memory' or 'prioritized_replay', which give records one by one, given "
            f"a {type(memory).__name__}",
            path="memory_spec.type",
        )
    return memory


def _preprocessed(
    preprocessor: PreprocessorStack | DictPreprocessorStack | None, state_space: Space
) -> Space:
    """What the policy sees of one state."""
    if preprocessor is None:
        return state_space
    return preprocessor.get_preprocessed_space(state_space.with_batch_rank()).without_ranks()


def _policy(
    spec: Mapping[str, Any] | None,
    network_spec: Any,
    state_space: Space,
    action_space: Space,
    dueling_q: bool,
) -> QPolicy:
    if not isinstance(spec, Mapping | None):
        raise SpecError(f"expected a mapping of the policy's arguments, given {spec!r}", path="policy_spec")
    if network_spec is not None and "network_spec" in (spec or {}):
        raise SpecError("given twice, here and as policy_spec.network_spec", path="network_spec")
    kind = DuelingPolicy if dueling_q else QPolicy
    network = {}
    if "network_spec" not in (spec or {}):
        network = {"network_spec": default_network(state_space) if network_spec is None else network_spec}
    policy = kind.from_spec(spec, path="policy_spec", action_space=action_space, **network)
    if not dueling_q and isinstance(policy, DuelingPolicy):
        raise SpecError(
            f"false contradicts policy_spec.type, a {type(policy).__name__}; change both, or leave out "
            "policy_spec (null)",
            path="dueling_q",
        )
    return policy
