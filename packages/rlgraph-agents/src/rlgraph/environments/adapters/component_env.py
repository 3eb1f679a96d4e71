"""Environments that are components, stepped from outside like all others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rlgraph.components.environments.environment_component import EnvironmentComponent
from rlgraph.core import GraphExecutor, RandomStreams, SpecError, registry
from rlgraph.core.specs.imports import import_class, is_import_path
from rlgraph.core.specs.specifiable import call_checked
from rlgraph.environments.adapter import EnvironmentAdapter
from rlgraph.environments.environment import Environment, StepResult
from rlgraph.environments.errors import EnvironmentFault, not_running
from rlgraph.environments.rows import Rows, map_rows
from rlgraph.environments.vector_env import VectorEnv, VectorStepResult

GROUP = "rlgraph.environment_components"
"""The group of entry points of their names."""


class ComponentAdapter(EnvironmentAdapter):
    """Names in ``rlgraph.environment_components``, `EnvironmentComponent` classes and objects, and their import paths.

    A mapping with ``type`` may have ``backend``, which steps it; default: NumPy.
    """

    order = 5

    def understands(self, spec: Any) -> bool:
        return _class_of(spec) is not None

    def is_instance(self, spec: Any) -> bool:
        return False  # an object is copied, not used

    def make(self, spec: Any, path: str) -> Environment:
        return ComponentEnv(*_parts(spec, 1, path))

    def prefers_vector(self, spec: Any, num_envs: int) -> bool:
        return True

    def make_vector(self, spec: Any, num_envs: int = 1) -> VectorEnv:
        return ComponentVectorEnv(*_parts(spec, num_envs, "environment"))


def environment_component(spec: Any, num_envs: int = 1) -> EnvironmentComponent | None:
    """N copies of the environment component that a spec means, not built yet; None if it means something else."""
    return None if _class_of(spec) is None else _parts(spec, num_envs, "environment")[0]


def _class_of(spec: Any) -> type[EnvironmentComponent] | None:
    kind = spec.get("type") if isinstance(spec, Mapping) else spec
    if isinstance(kind, EnvironmentComponent):
        return type(kind)
    if isinstance(kind, str):
        if kind in registry(GROUP):
            kind = registry(GROUP).load(kind)
        elif is_import_path(kind) and kind.partition(":")[2].isidentifier():
            try:
                kind = import_class(kind, lambda found: True, "a class", where="environment")
            except SpecError:  # said by whoever makes it
                return None
    return kind if isinstance(kind, type) and issubclass(kind, EnvironmentComponent) else None


def _parts(spec: Any, num_envs: int, path: str) -> tuple[EnvironmentComponent, str]:
    """N copies, not built yet, and the backend that steps them."""
    if isinstance(spec, EnvironmentComponent):
        return spec.copies(num_envs), "numpy"
    options = dict(spec) if isinstance(spec, Mapping) else {}
    backend, name = options.pop("backend", "numpy"), options.pop("type", spec)
    kind = _class_of(spec)
    assert kind is not None
    shown = name if isinstance(name, str) else kind.__name__
    return call_checked(kind, (), options, path, name=shown).copies(num_envs), backend


class ComponentVectorEnv(VectorEnv):
    """An environment component as a vector environment; see `VectorEnv`. All copies share their random numbers.

    Args:
        component: the environment, not built yet.
        backend: name of the backend that steps it.
    """

    def __init__(self, component: EnvironmentComponent, backend: str = "numpy"):
        self.component, self.num_environments = component, component.num_envs
        self.state_space, self.action_space = component.state_space, component.action_space
        spaces = {
            "task": component.task_space,
            "actions": component.action_space.with_batch_rank(component.num_envs),
        }
        methods = ("reset", "get_states", "step")
        self.executor = GraphExecutor(component, spaces, backend=backend, api_methods=methods)
        self._streams = RandomStreams(self.executor.execution.seed)
        self._reset, self._step = (self.executor.program(name, self._streams) for name in ("reset", "step"))
        self._infos: Sequence[dict[str, Any]] = [{} for _ in range(self.num_environments)]
        self.finished = []
        self.final_states: Rows = None
        self._task: Any = None

    def describe(self, index: int) -> str:
        return f"{type(self.component).__name__}, environment {index}"

    def reset(self, seed: int | None = None) -> Rows:
        if seed is not None:
            self._streams.restart(seed)
        begun = self._reset()
        self._task, self.finished = begun["task"], []
        self.final_states = begun["states"]
        return begun["states"]

    def step(self, actions: Any) -> VectorStepResult:
        if self._task is None:
            raise EnvironmentFault(f"{type(self).__name__}: call reset() before step().")
        moved = self._step(self._task, actions)
        self._task, rewards = moved["task"], moved["rewards"]
        if not np.isfinite(rewards).all():
            index = int(np.flatnonzero(~np.isfinite(rewards))[0])
            raise EnvironmentFault(f"{self.describe(index)}: the reward is {rewards[index]}.")
        self.finished = np.flatnonzero(moved["ends"]).tolist()
        self.final_states = moved["reached"] if self.finished else moved["states"]
        rewards = rewards.astype(np.float32)
        return moved["states"], rewards, moved["terminated"], moved["truncated"], self._infos

    def get_states(self) -> list[Any] | None:
        """The task of each copy, the random numbers of all in the first."""
        if self._task is None:
            return None
        states = [{"task": _row(self._task, i)} for i in range(self.num_environments)]
        states[0]["random"] = self._streams.get_state()
        return states

    def set_states(self, states: Sequence[Any]) -> Rows:
        if len(states) != self.num_environments:
            raise ValueError(
                f"expected the states of {self.num_environments} environments, given {len(states)}"
            )
        tasks = [self.component.task_space.without_ranks().flatten_sample(state["task"]) for state in states]
        rows = {path: np.stack([task[path] for task in tasks]) for path in tasks[0]}
        self._task, self.finished = self.component.task_space.unflatten_sample(rows), []
        if "random" in states[0]:
            self._streams.set_state(states[0]["random"])
        self.final_states = self.executor.execute("get_states", self._task)
        return self.final_states

    def set_parameters(self, **values: float) -> None:
        """Set parameters of the task, such as ``gravity=9.8``.

        Raises:
            InputError: an unknown parameter.
        """
        scope = self.component.scope_path
        self.executor.set_weights({f"{scope}/parameters/{name}": value for name, value in values.items()})

    def render(self, index: int = 0) -> Any:
        task = None if self._task is None else self._task["inner"]
        return None if task is None else self.component.draw(_row(task, index))

    def terminate(self) -> None:
        self._task = None


class ComponentEnv(Environment):
    """One copy of an environment component; see `ComponentVectorEnv`."""

    def __init__(self, component: EnvironmentComponent, backend: str = "numpy"):
        super().__init__(component.state_space, component.action_space)
        self.vector_env = ComponentVectorEnv(component, backend)
        self._running = False

    @property
    def name(self) -> str:
        return type(self.vector_env.component).__name__

    def reset(self, seed: int | None = None) -> Any:
        self._running = True
        return _row(self.vector_env.reset(seed), 0)

    def step(self, action: Any) -> StepResult:
        if not self._running:
            raise not_running(self.name)
        actions = map_rows(lambda x: np.asarray(x)[None], action)
        _, rewards, terminated, truncated, _ = self.vector_env.step(actions)
        terminates, truncates = bool(terminated[0]), bool(truncated[0])
        self._running = not (terminates or truncates)
        return _row(self.vector_env.final_states, 0), float(rewards[0]), terminates, truncates, {}

    def render(self) -> Any:
        return self.vector_env.render()

    def get_state(self) -> Any:
        states = self.vector_env.get_states()
        return None if states is None else {**states[0], "running": self._running}

    def set_state(self, state: Any) -> Any:
        self._running = bool(state["running"])
        return _row(self.vector_env.set_states([state]), 0)

    def terminate(self) -> None:
        self.vector_env.terminate()


def _row(rows: Rows, index: int) -> Any:
    """A copy of one row."""
    return map_rows(lambda x: np.array(x[index]), rows)
