"""The adapter for EnvPool, which runs many environments in C++ threads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.core import SpecError
from rlgraph.environments.adapter import EnvironmentAdapter
from rlgraph.environments.adapters.gym_batch_env import GymBatchEnv
from rlgraph.environments.closing import release
from rlgraph.environments.environment import Environment
from rlgraph.environments.extras import import_extra
from rlgraph.environments.vector_env import VectorEnv


class EnvPoolVectorEnv(GymBatchEnv):
    """A pool of EnvPool; see `VectorEnv` for the contract.

    The step after an end resets the environment and ignores its action; see `idle` of `VectorEnv`.

    Args:
        task_id: EnvPool's name of the task ("Pong-v5").
        num_environments: number of environments.
        force_float32: float64 in observations and actions becomes float32.
        seed: the seed of the pool. EnvPool takes a seed only when a pool is made, so `reset(seed)` makes a new pool.
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
        super().__init__(
            self._pool.observation_space, self._pool.action_space, num_environments, force_float32
        )

    @property
    def name(self) -> str:
        """The task."""
        return self.task_id

    def _reset(self, seed: int | None) -> tuple[Any, Any]:
        if seed is not None:
            self._pool.close()
            self._pool = self._make(seed)
        observations, infos = self._pool.reset()
        return observations, infos

    def _step(self, actions: Any) -> Any:
        return self._pool.step(actions)

    def terminate(self) -> None:
        """Closes the pool."""
        self._running = False
        release(self._pool.close, self.task_id)

    def _make(self, seed: int | None) -> Any:
        envpool = import_extra("envpool", f"the task {self.task_id}", "envpool")
        options = self.options if seed is None else {**self.options, "seed": seed % 2**31}
        return envpool.make_gymnasium(self.task_id, num_envs=self.num_environments, **options)


class EnvPoolAdapter(EnvironmentAdapter):
    """``{"type": "envpool", "task_id": ...}``; with ``vectorization="envpool"`` a task, too."""

    order = 30
    vectorization = "envpool"

    def understands(self, spec: Any) -> bool:
        return isinstance(spec, Mapping) and spec.get("type") == "envpool"

    def is_vector(self, spec: Any) -> bool:
        return True

    def make(self, spec: Any, path: str) -> Environment:
        raise SpecError(
            "EnvPool makes several environments at once, and here single ones are needed; give the "
            "gymnasium id of the game",
            path=path,
        )

    def make_vector(self, spec: Any, num_envs: int = 1) -> VectorEnv:
        if isinstance(spec, str):
            return EnvPoolVectorEnv(spec, num_envs)
        if not isinstance(spec, Mapping) or "task_id" not in spec:
            raise SpecError(
                f"expected {{'type': 'envpool', 'task_id': ...}} or a task, given {spec!r}", path="envpool"
            )
        arguments = {key: value for key, value in spec.items() if key != "type"}
        return EnvPoolVectorEnv(num_environments=num_envs, **arguments)
