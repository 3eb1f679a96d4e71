"""Training as one program: what a worker calls, and what connects it with an agent's learner."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from rlgraph.components.environments.environment_component import EnvironmentComponent
from rlgraph.core import SpecError, executor_class
from rlgraph.core.runtime.flat_weights import FlatWeights
from rlgraph.experience.nested_arrays import map_arrays, row
from rlgraph.experience.rollouts import Rollouts
from rlgraph.learning.base_agent import BaseAgent
from rlgraph.learning.training_graph import TrainingGraph
from rlgraph.spaces import FloatBox


def reasons_against(agent: BaseAgent) -> list[str]:
    """What an agent has that cannot be in a program with its environment; empty if all of it can."""
    graph, found = agent.learner.graph, []
    if not isinstance(graph.experience, Rollouts):
        found.append(f"{type(graph.experience).__name__}, what {type(agent).__name__} learns from")
    if agent.group.size > 1:
        found.append("a group of learners")
    if graph.preprocessor is not None:
        found.append("preprocessing_spec")
    if graph.previous is not None:
        found.append("previous_action_and_reward")
    if agent.learner.statistics is not None:
        found.append("normalize_states or scale_rewards")
    return found


class TrainingProgram:
    """An agent and its environment as one program; the agent's own variables take part before and after each call.

    Args:
        agent: the agent.
        environment: N copies of its environment, not built yet.
        seed: of the program's random numbers.

    Raises:
        SpecError: the agent has something that cannot be in the program.
    """

    def __init__(self, agent: BaseAgent, environment: EnvironmentComponent, seed: int):
        if reasons := reasons_against(agent):
            raise SpecError(
                f"{', '.join(reasons)}: cannot be in one program with the environment; give in_graph=False, "
                "which steps it from outside",
                path="worker.in_graph",
            )
        self._agent, self.environment, learner = agent, environment, agent.learner
        graph: Any = learner.spec.make_graph(learner.experience, partial(TrainingGraph, environment))
        self._is_timed = graph.takes("update", "progress") or graph.takes("act", "progress")
        spaces: dict[str, Any] = {"progress": FloatBox(0.0, 1.0)} if self._is_timed else {}
        methods = ["begin", "train"]
        if internal := graph.algorithm.internal_states_space:
            # Recurrent layers are made for the rollouts that an update gets: without it they would wait for the loop.
            spaces |= graph.experience.input_spaces(learner.state_space, agent.action_space, internal)
            methods.append("update")
        executor, execution = learner.executor, learner.executor.execution
        self.executor = executor_class(executor.backend.name)(
            graph,
            spaces,
            action_space=agent.action_space,
            backend=executor.backend.name,
            execution_spec=replace(
                execution, seed=seed, compile=bool(execution.compile), acting_methods=(), act_on="backend"
            ),
            api_methods=methods,
        )
        self.graph = graph
        own = {name for name, variable in executor.built.variables.items() if not variable.host}
        shared = own & self.executor.built.variables.keys()
        self._of_agent = FlatWeights(executor.guarded, shared)
        self._of_program = FlatWeights(self.executor.guarded, shared)
        self._train = self.executor.program("train")
        #: Steps of one call, of all copies.
        self.steps = graph.rollout_length * environment.num_envs

    def begin(self) -> None:
        """Begin new episodes in all copies."""
        self.executor.execute("begin")

    def run(self) -> tuple[dict[str, float], Mapping[str, np.ndarray]]:
        """A rollout and an update.

        Returns:
            The numbers of the update; and of each step ``ends``, ``returns`` and ``lengths`` ``[T, N]``.
        """
        learner = self._agent.learner
        self._of_program.set(self._of_agent.get())
        results = self._train(learner.progress) if self._is_timed else self._train()
        self._of_agent.set(self._of_program.get())
        return learner.count_update(self.steps, results["numbers"]), results["steps"]

    # Checkpoints.

    def get_states(self) -> list[Any]:
        """The task of each copy; see `set_states`."""
        task = self._running()["task"]
        return [{"task": map_arrays(np.array, row(task, i))} for i in range(self.environment.num_envs)]

    def get_state(self) -> dict[str, Any]:
        """What goes on from call to call, and the random numbers; nested arrays."""
        storage = self.executor.storage
        streams = json.dumps(storage.streams.get_state()).encode()
        return {
            "running": self._running(),
            "streams": np.frombuffer(streams, np.uint8).copy(),
            "tensor_streams": {
                name.replace("/", "."): state for name, state in storage.read_tensor_streams().items()
            },
        }

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go on from what `get_state` gave."""
        storage = self.executor.storage
        storage.streams.set_state(json.loads(bytes(np.asarray(state["streams"], np.uint8))))
        names = {name.replace("/", "."): name for name in storage.read_tensor_streams()}
        given = state.get("tensor_streams", {})
        storage.write_tensor_streams({names[name]: value for name, value in given.items()})
        self._set_running(state["running"])

    def _running(self) -> Any:
        values = self.executor.get_weights()
        return map_arrays(lambda variable: values[variable.name], self.graph.running)

    def _set_running(self, running: Any) -> None:
        named = self.graph.running_space.flatten_sample(self.graph.running)
        values = self.graph.running_space.flatten_sample(running)
        self.executor.set_weights({variable.name: values[path] for path, variable in named.items()})
