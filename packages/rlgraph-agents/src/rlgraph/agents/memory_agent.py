"""What agents share that learn from records in a memory: observing, when to learn, external batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np

from rlgraph.agents.acting_agent import ActingAgent
from rlgraph.agents.experience.step import VectorStep
from rlgraph.agents.nested_arrays import stack
from rlgraph.agents.reading import Reader
from rlgraph.agents.specs import UpdateSpec
from rlgraph.agents.transitions import TransitionBuffers, rows_of
from rlgraph.core import Component, InputError, NumericalError
from rlgraph.spaces import Space

#: The first observed steps are looked at closely: that actions lie in their Space, too.
CHECKED_STEPS = 1000


class MemoryAgent(ActingAgent):
    """An agent with a memory of records ``states, actions, rewards, terminals, next_states``.

    Args:
        state_space, action_space, root, input_spaces: see `Agent`. The root also has ``insert_records`` (the fields of
            a record, and ``discounts`` if `n_step` is above 1), ``get_memory_size()``,
            ``update_from_memory(num_records)``, ``update_from_external_batch`` and ``get_td_loss`` (fields by name;
            both return ``loss`` [] and ``loss_per_item`` [B]).
        update_spec: when to learn.
        discount: discount factor of one step.
        n_step: rewards summed into one record.
        options: of `Agent`.
    """

    def __init__(
        self,
        state_space: Space,
        action_space: Space,
        root: Component,
        input_spaces: Mapping[str, Any],
        *,
        update_spec: UpdateSpec,
        discount: float,
        n_step: int = 1,
        **options: Any,
    ):
        super().__init__(state_space, action_space, root, input_spaces, **options)
        self.update_spec, self.discount, self.n_step = update_spec, discount, n_step
        self._reader = Reader(self.executor, state_space, action_space, self.preprocessing)
        self._insert = self.executor.program("insert_records")
        self._buffers = TransitionBuffers(self._insert, n_step, discount, self.executor.execution.dtype)
        self._waiting = self._buffers.windows
        self._preprocesses = self.preprocessing is not None
        #: Steps to look at closely; then plain arrays need not be, nor a buffer where a record is one step.
        self._unchecked = CHECKED_STEPS
        self._batch_size = np.array(update_spec.batch_size)
        self._has_records = False
        self._next_update = max(update_spec.steps_before_update, update_spec.update_interval)

    # Observing.

    def observe(
        self,
        states: Any = None,
        actions: Any = None,
        rewards: Any = None,
        terminals: Any = None,
        next_states: Any = None,
        truncations: Any = None,
        internals: Any = None,
        env_id: Any = None,
        batched: bool = False,
        *,
        preprocessed_states: Any = None,
    ) -> None:
        """See `Agent.observe`.

        A truncated step is an ordinary transition: its next state is bootstrapped.
        """
        if (
            self._unchecked <= 0
            and internals is None
            and terminals is not None
            and (states is None) is self._preprocesses
            and (env_id is None if batched else preprocessed_states is None)
        ):
            seen = preprocessed_states if states is None else states
            columns: Any = (seen, actions, rewards, terminals, next_states)
            if not batched:
                columns = _one_row(*columns)
            if columns is not None and self._take_in(columns, truncations, env_id, batched):
                return
        self._observe(
            {
                "states": states,
                "preprocessed_states": preprocessed_states,
                "actions": actions,
                "rewards": rewards,
                "terminals": terminals,
                "truncations": truncations,
                "next_states": next_states,
            },
            internals,
            env_id,
            batched,
        )

    def observe_step(self, step: VectorStep) -> None:
        kept = None
        if step.valid is not None:
            kept = np.flatnonzero(step.valid)
            if not len(kept):
                return
            step = step.of_rows(kept)
        seen = {"preprocessed_states" if self._preprocesses else "states": step.states}
        self.observe(
            actions=step.actions,
            rewards=step.rewards,
            terminals=step.terminals,
            next_states=step.next_states,
            truncations=step.truncations,
            env_id=kept,
            batched=True,
            **seen,
        )

    def _take_in(self, columns: Any, truncations: Any, env_id: Any, batched: bool) -> bool:
        """Usual columns, into the memory at once if nothing has to wait, else into the buffers; whether they were."""
        if self.n_step > 1 or columns[4] is None:
            return self._buffer_at_once(columns, truncations, env_id, batched)
        with self._observing:
            if self._waiting:
                return False
            # At the least doubt False; a few Python numbers cost less than one call of NumPy's.
            try:
                numbers = columns[2].tolist()
                if not isfinite(sum(numbers)):
                    return False
            except (AttributeError, TypeError, ValueError):
                return False
            try:
                self._insert(*columns)
            except InputError as error:
                raise InputError(str(error).replace("insert_records", "observe", 1)) from None
            self.timesteps += len(numbers)
        return True

    def _buffer_at_once(self, columns: Any, truncations: Any, env_id: Any, batched: bool) -> bool:
        """Steps into the buffers, where they are arrays as the records have them; whether that was so."""
        columns = self._reader.as_recorded(columns, truncations)
        if columns is None:
            return False
        steps = rows_of(*columns)
        with self._observing:
            self._buffers.add(steps, self._env_ids(env_id, len(steps), not batched))
            self.timesteps += len(steps)
        return True

    def _observe(self, given: dict[str, Any], internals: Any, env_id: Any, batched: bool) -> None:
        """`observe` for all that has to be looked at closely, or to wait."""
        if internals is not None and internals != [] and internals != ():
            raise InputError("observe: internals: the policy has no internal states; give None or []")
        columns = self._reader.steps(given, batched)
        env_ids = self._env_ids(env_id, len(columns["rewards"]), not batched)
        with self._observing:
            steps = rows_of(**{"next_states": None, **self._reader.preprocessed(columns, env_ids, batched)})
            self._buffers.add(steps, env_ids)
            self._unchecked -= len(steps)
            self.timesteps += len(steps)

    def reset_env_buffers(self, env_id: Any = None) -> None:
        with self._observing:
            self._buffers.drop(None if env_id is None else self._ids(env_id))

    def flush_buffers(self, env_id: Any = None) -> None:
        with self._observing:
            self._buffers.flush(None if env_id is None else self._ids(env_id))

    def import_observations(self, observations: Any) -> int:
        if not isinstance(observations, Mapping):
            observations = _columns(list(observations))
        indices = observations.get("sequence_indices", [])
        fields = {name: value for name, value in observations.items() if name != "sequence_indices"}
        columns = self._reader.batch(
            "import_observations", "insert_records", fields, indices, self.n_step, self.discount
        )
        with self._observing:
            self._insert(**columns)
        return len(columns["rewards"])

    # Learning.

    def update(self, batch: Mapping[str, Any] | None = None, sequence_indices: Any = None) -> dict[str, Any]:
        """One update; see `Agent.update`.

        Args:
            batch: ``states, actions, rewards, terminals, next_states`` [B, ...], of preprocessed states (raw ones are
                preprocessed where they cannot be mistaken and the preprocessor keeps no state); None: drawn from the
                memory. Also ``importance_weights`` [B], and ``discounts`` [B], what the value of the next state is
                multiplied by (default: ``discount ** n_step``), where the agent knows them.
            sequence_indices: the rows are fragments; they become transitions of up to ``n_step`` steps. Without
                ``next_states`` these are the next rows, and the last row of a fragment that does not end in a terminal
                state is left out: nobody knows where it led.

        Returns:
            ``{"loss": float}``, and ``"loss_per_item"`` for an external batch, of the rows that were not left out.
        """
        with self._updating:
            if batch is not None:
                fields = self._external_batch("update", batch, sequence_indices)
                return self._updated(self._update_from_batch(self._completed(fields)))
            if sequence_indices is not None:
                raise InputError("update: sequence_indices without a batch")
            return self._updated(self._update_from_memory())

    def _updated(self, results: dict[str, Any]) -> dict[str, Any]:
        """What `update` returns for the results of one step, which is counted."""
        results["loss"] = loss = float(results["loss"])
        if not isfinite(loss):
            raise NumericalError(
                f"{self.executor.root.scope_path}/loss: the loss of update {self.updates + 1} (step "
                f"{self.timesteps}) is {loss}: lower optimizer_spec.learning_rate, set clip_grad_norm, or look for "
                "rewards and states that are very large"
            )
        self.updates += 1
        return results

    def _update_from_memory(self) -> dict[str, Any]:
        """One step on what the memory gives; ``{"loss": []}``."""
        results: dict[str, Any] = self.executor.program("update_from_memory")(self._batch_size)
        return results

    def _update_from_batch(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        """One step on checked fields; ``{"loss": [], "loss_per_item": [B]}``."""
        results: dict[str, Any] = self.executor.program("update_from_external_batch")(**batch)
        return results

    def _completed(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Checked fields, with defaults for those of the root's arguments that they lack."""
        return batch

    def _external_batch(self, method: str, batch: Any, sequence_indices: Any) -> dict[str, Any]:
        return self._reader.batch(
            method, "update_from_external_batch", batch, sequence_indices, self.n_step, self.discount
        )

    def post_process(self, batch: Mapping[str, Any], sequence_indices: Any = None) -> dict[str, Any]:
        """What `update` makes of an external batch before it learns from it: transitions, e.g. for another memory.

        Args:
            batch, sequence_indices: see `update`; a batch without both, this and ``next_states``, is one fragment.

        Raises:
            InputError: as `update`.
        """
        if isinstance(batch, Mapping) and "next_states" not in batch and "sequence_indices" not in batch:
            sequence_indices = [] if sequence_indices is None else sequence_indices
        return self._external_batch("post_process", batch, sequence_indices)

    def get_td_loss(self, batch: Mapping[str, Any], sequence_indices: Any = None) -> tuple[float, np.ndarray]:
        """The loss of an external batch without learning from it, and that of each item [B].

        Raises:
            InputError: as `update`.
        """
        fields = self._external_batch("get_td_loss", batch, sequence_indices)
        results = self.executor.program("get_td_loss")(**self._completed(fields))
        return float(results["loss"]), results["loss_per_item"]

    def update_if_due(self) -> dict[str, Any] | None:
        if self.timesteps < self._next_update:
            return None
        spec, results = self.update_spec, None
        while spec.do_updates and self.timesteps >= self._next_update:
            with self._updating:
                if self.timesteps < self._next_update:  # another thread was first
                    break
                self._next_update += spec.update_interval
                if not (self._has_records or self._can_learn()):
                    continue
                for _ in range(spec.update_steps):
                    results = self._updated(self._update_from_memory())
                self._after_updates()
        return results

    def check_can_learn(self) -> None:
        if self.update_spec.do_updates:
            self.executor.program("update_from_memory")

    def _can_learn(self) -> bool:
        """Whether the memory holds anything: the first steps may all still wait to become records."""
        self._has_records = int(self.executor.execute("get_memory_size")) > 0
        return self._has_records

    def _after_updates(self) -> None:
        """What belongs to the updates of one interval: a synchronisation, say."""

    def progress_facts(self) -> dict[str, Any]:
        return {**super().progress_facts(), "next_update": self._next_update}

    def restore_progress(self, facts: Mapping[str, Any]) -> None:
        super().restore_progress(facts)
        self._next_update = int(facts["next_update"])
        self._has_records = False  # a checkpoint may come without its memory


def _one_row(
    states: Any, actions: Any, rewards: Any, terminals: Any, next_states: Any
) -> tuple[Any, Any, Any, Any, Any] | None:
    """Columns of one row, of the usual arrays and numbers; None if they are anything else."""
    if type(states) is not np.ndarray or isinstance(actions, dict | tuple):
        return None
    if next_states is not None:
        if type(next_states) is not np.ndarray or states.shape != next_states.shape:
            return None
        next_states = next_states[None]
    return states[None], np.array([actions]), np.array([rewards]), np.array([terminals]), next_states


def _columns(steps: Sequence[Any]) -> dict[str, Any]:
    """Steps, dicts with the same keys, as one dict of columns.

    Raises:
        InputError: there are none, or their keys differ.
    """
    if not steps:
        raise InputError("import_observations: the list of steps is empty")
    for index, step in enumerate(steps):
        if not isinstance(step, Mapping) or step.keys() != steps[0].keys():
            given = ", ".join(map(str, step)) if isinstance(step, Mapping) else type(step).__name__
            raise InputError(
                f"import_observations: expected dicts with the same keys; step {index} has {given}, unlike step 0"
            )
    return {name: stack([step[name] for step in steps]) for name in steps[0]}
