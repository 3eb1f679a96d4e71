"""The adapter for EnvPool, which runs many environments in threads of C++."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.core import SpecError
from rlgraph.environments.errors import EnvironmentFault
from rlgraph.environments.gym_values import space_of
from rlgraph.environments.native_vector_env import batch_from_gym, batch_to_gym, each_info
from rlgraph.environments.rows import Rows, row_splitter
from rlgraph.environments.vector_env import VectorEnv, VectorStepResult


class EnvPoolVectorEnv(VectorEnv):
    """A pool of EnvPool's; see `VectorEnv` for the contract.

    An environment that ended is reset by the next step, which ignores its action; see `idle` of `VectorEnv`.

    Args:
        task_id: as EnvPool knows it ("Pong-v5").
        num_environments: how many.
        force_float32: float64 in observations and actions becomes float32.
        seed: the seed of the pool; EnvPool takes one when it is made only: `reset(seed)` makes a new pool.
        options: further arguments of `envpool.make_gymnasium`.

    Raises:
        SpecError: EnvPool is not installed, or cannot be imported.
    """

    def __init__(
        self,
        task_id: str,
        num_environments: int = 1,
        force_float32: bool = True,
        seed: int | None = None,
        **options: Any,
    ) -> None:
        self.task_id, self.num_environments, self.options = task_id, num_environments, options
        self._pool = self._make(seed)
        gym_states, gym_actions = self._pool.observation_space, self._pool.action_space
        self.state_space = space_of(gym_states, force_float32)
        self.action_space = space_of(gym_actions, force_float32)
        self._to_states = batch_from_gym(gym_states, self.state_space)
        self._to_actions = batch_to_gym(gym_actions, self.action_space)
        self._check_actions = row_splitter(self.action_space, num_environments, "actions")
        self.finished, self.dropped, self.idle = [], (), ()
        self._final_states: Rows = None
        self._running = False

    def reset(self, seed: int | None = None) -> Rows:
        """Begins an episode in every environment, also where one is under way."""
        if seed is not None:
            self._pool.close()
            self._pool = self._make(seed)
        observations, _ = self._pool.reset()
        self.finished, self.dropped, self.idle = [], (), ()
        self._final_states = self._to_states(observations)
        self._running = True
        return self._final_states

    def step(self, actions: Any) -> VectorStepResult:
        """Acts once in every environment; see `VectorEnv.step`.

        Raises:
            EnvironmentFault: no reset before, actions of the wrong shape or kind.
        """
        if not self._running:
            raise EnvironmentFault("EnvPoolVectorEnv: call reset() before step().")
        self._check_actions(actions)
        observations, rewards, terminated, truncated, infos = self._pool.step(self._to_actions(actions))
        self.idle = self.dropped = self.finished
        terminated, truncated = np.array(terminated, np.bool_), np.array(truncated, np.bool_)
        self.finished = np.flatnonzero(terminated | truncated).tolist()
        self._final_states = self._to_states(observations)
        infos = each_info(infos, self.num_environments)
        return self._final_states, np.array(rewards, np.float32), terminated, truncated, infos

    @property
    def final_states(self) -> Rows:
        """The states the last step led to, `[N, ...]`."""
        return self._final_states

    def describe(self, index: int) -> str:
        """What messages call environment `index`."""
        return f"{self.task_id}, environment {index}"

    def terminate(self) -> None:
        """Closes the pool."""
        self._running = False
        self._pool.close()

    def _make(self, seed: int | None) -> Any:
        try:
            import envpool
        except ImportError as error:
            raise SpecError(
                f"envpool: cannot be imported ({error}); `pip install rlgraph-agents[envpool]`"
            ) from error
        options = self.options if seed is None else {**self.options, "seed": seed % 2**31}
        return envpool.make_gymnasium(self.task_id, num_envs=self.num_environments, **options)
