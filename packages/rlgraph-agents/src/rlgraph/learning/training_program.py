"""Training as one program: what a worker calls, and what connects it with an agent's learner."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from rlgraph.components import Exploration, IterativeOptimization, ReplayMemory
from rlgraph.components.environments.environment_component import EnvironmentComponent
from rlgraph.components.memories.tensor_replay import TensorReplay
from rlgraph.core import Component, SpecError, executor_class
from rlgraph.core.graph import variables
from rlgraph.core.graph.plan import BranchStep, HostStep, LoopStep, Plan, walk_steps
from rlgraph.environments.interrupts import uninterrupted
from rlgraph.experience.nested_arrays import map_arrays, row
from rlgraph.experience.replay import Replay
from rlgraph.experience.rollouts import Rollouts
from rlgraph.learning.base_agent import BaseAgent
from rlgraph.learning.environment_checks import EnvironmentChecks
from rlgraph.learning.replay_training_graph import ReplayTrainingGraph
from rlgraph.learning.training_graph import RolloutTrainingGraph, TrainingGraph
from rlgraph.spaces import BoolBox, Dict, FloatBox, from_spec

#: Steps of all copies in a call of a program with a memory, at most.
MOST_STEPS = 128
#: Floating-point operations of its updates, at most: a fraction of a second on one core.
MOST_OPERATIONS = 2.5e9
#: Operations of an update for each parameter and row: two forward, four for its derivatives.
OF_A_PARAMETER = 6


class HostFunctionError(SpecError):
    """A host function would cut a program.

    Attributes:
        function: its scoped name.
    """

    function = ""


def reasons_against(agent: BaseAgent, num_envs: int = 1) -> list[str]:
    """What an agent has that cannot be in a program with copies of its environment; empty if all of it can."""
    graph, found = agent.learner.graph, []
    if isinstance(graph.experience, Replay) and not graph.experience.is_recorded:
        found += _reasons_of_replay(graph.experience, num_envs)
        if type(graph.memory) is ReplayMemory:
            found += _reasons_of_size(graph.memory, num_envs)
        parts = graph.algorithm.sub_components.values()
        found += [
            f"{type(part).__name__}, which explores on the host"
            for part in parts
            if isinstance(part, Exploration) and part.draws_in_graph is None
        ]
        if getattr(graph.algorithm, "first_actions", None) is not None:
            found.append("random_before_update, whose actions are drawn on the host")
    elif isinstance(graph.experience, Rollouts):
        found += _reasons_of_minibatches(agent, graph.experience, num_envs)
    else:
        found.append(f"{type(graph.experience).__name__}, what {type(agent).__name__} learns from")
    if agent.group.size > 1:
        found.append("a group of learners")
    if graph.preprocessor is not None:
        found.append("preprocessing_spec")
    if graph.previous is not None:
        found.append("previous_action_and_reward")
    spec = agent.learner.spec
    if _has_components([spec.options, spec.preprocessing_spec]):
        found.append("options that are components, of which there is one; specs can be")
    return found


def _has_components(options: Any) -> bool:
    """Whether a component is in nested options."""
    if isinstance(options, Mapping | list | tuple):
        return any(map(_has_components, options.values() if isinstance(options, Mapping) else options))
    return isinstance(options, Component)


def _reasons_of_minibatches(agent: BaseAgent, rollouts: Rollouts, num_envs: int) -> list[str]:
    """Minibatches that leave something of a rollout out: sizes are fixed in a program."""
    found = []
    for part in agent.learner.graph.algorithm.sub_components.values():
        if isinstance(part, IterativeOptimization):
            number, what = rollouts.rollout_length * num_envs, "steps"
            if part.sequences:
                number, what = rollouts.sequences_of(num_envs), "sequences"
            if number % part.num_minibatches:
                found.append(
                    f"num_minibatches {part.num_minibatches}, no divisor of the {number} {what} of a rollout"
                )
    return found


def _reasons_of_replay(replay: Replay, num_envs: int) -> list[str]:
    found, interval = [], replay.updates.update_interval
    if not replay.learns:
        found.append("update_spec.do_updates false")
    if interval % num_envs and num_envs % interval:
        found.append(
            f"update_spec.update_interval {interval}, which {num_envs} environments do not divide, nor it them"
        )
    if type(replay.memory) is not ReplayMemory:
        found.append(f"a {type(replay.memory).__name__}; a replay_memory can be")
    elif replay.memory.frame_stack is not None:
        found.append("frame_stack of the memory")
    if replay.n_step > 1:
        found.append("n_step above 1")
    if replay.hindsight is not None:
        found.append("hindsight_spec")
    return found


def _reasons_of_size(memory: ReplayMemory, num_envs: int) -> list[str]:
    """A memory that a step of all copies fills more than once, or that this machine cannot hold twice."""
    found, capacity = [], memory.capacity
    if capacity < num_envs:
        found.append(f"memory_spec.capacity {capacity}, fewer records than {num_envs} environments")
    rows = memory.rows.values()
    size = sum(variable.size * np.dtype(variable.spec.dtype).itemsize for variable in rows)
    available = variables.machine_memory()
    if available is not None and 2 * size > available:  # `ReplayProgram.give_back` needs both on the host
        found.append(
            f"memory_spec.capacity {capacity}, {size / 2**30:,.1f} GiB of records, which a program needs twice: this "
            f"machine has {available / 2**30:,.1f} GiB of memory"
        )
    return found


class TrainingProgram(ABC):
    """An agent and its environment as one program, which works on the agent's own variables.

    Args:
        agent: the agent.
        environment: N copies of its environment, not built yet.

    Raises:
        HostFunctionError: a host function cuts the program; see also `reasons_against`.

    Attributes:
        has_memory: whether the records of the agent's memory are in the program's own.
    """

    has_memory = False

    def __init__(self, agent: BaseAgent, environment: EnvironmentComponent):
        self._learner, self.environment, learner = agent.learner, environment, agent.learner
        self.graph, spaces, methods = self._make_graph()
        executor, execution = learner.executor, learner.executor.execution
        self.executor = executor_class(executor.backend.name)(
            self.graph,
            spaces,
            action_space=agent.action_space,
            backend=executor.backend.name,
            execution_spec=replace(
                execution, compile=bool(execution.compile), acting_methods=(), act_on="backend"
            ),
            api_methods=methods,
            shares=executor,
        )
        _check_one_program(self.executor.plan("train"))
        self._checks = EnvironmentChecks(environment, self.graph.masked)

    @staticmethod
    def of(agent: BaseAgent, environment: EnvironmentComponent) -> TrainingProgram:
        """The program that suits what the agent learns from."""
        kind = ReplayProgram if isinstance(agent.learner.experience, Replay) else RolloutProgram
        return kind(agent, environment)

    @abstractmethod
    def _make_graph(self) -> tuple[TrainingGraph, dict[str, Any], list[str]]:
        """The root component, the Spaces of its arguments, and its API methods that are needed."""

    @property
    @abstractmethod
    def steps(self) -> int:
        """Environment steps of the next call, of all copies."""

    @abstractmethod
    def _call(self, first: float, last: float) -> tuple[int, Any]:
        """The number of updates, and what the program returned."""

    def begin(self, seed: int) -> None:
        """Begin new episodes in all copies, with random numbers of this seed."""
        self.executor.storage.restart_streams(seed)
        self.executor.execute("begin")

    def run(self, first: float, last: float) -> tuple[dict[str, float], Mapping[str, np.ndarray]]:
        """Steps and updates.

        Args:
            first, last: how much of training is done at the first and at the last step.

        Returns:
            The numbers of the updates, empty if there was none; and of each step ``ends``, ``returns`` and ``lengths``
            ``[T, N]``.

        Raises:
            EnvironmentFault: see `EnvironmentChecks`.
        """
        steps, learner, due = self.steps, self._learner, dict(self._learner._due)
        try:
            with uninterrupted():  # what is written in the call and what is counted after it belong together
                updates, results = self._call(first, last)
                seen = results["steps"]
                # Runs record and repeat the choices of the agent.
                for name, choice in self.executor.backend.choices.items():
                    learner.executor.backend.choices.setdefault(name, choice)
                self._checks.check(seen.pop("checked"), seen["lengths"])
                numbers = learner.count_program(steps, updates, results.get("numbers"), seen)
        except Exception:
            # The agent keeps the memory that it had, without what is wrong.
            learner._due, self.has_memory = due, False
            raise
        return numbers, seen

    # The memory, of which rollouts have none.

    def size(self) -> int:
        """The number of records."""
        return 0

    def give_back(self) -> None:  # noqa: B027
        """Copy the records into the agent's memory."""

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


class RolloutProgram(TrainingProgram):
    """A rollout and an update in each call."""

    def _make_graph(self) -> tuple[TrainingGraph, dict[str, Any], list[str]]:
        learner = self._learner
        graph: Any = learner.spec.make_graph(
            copy(learner.experience), partial(RolloutTrainingGraph, self.environment)
        )
        self._is_timed = graph.takes("update", "progress") or graph.takes("act", "progress")
        spaces: dict[str, Any] = {"progress": FloatBox(0.0, 1.0)} if self._is_timed else {}
        methods = ["begin", "train"]
        if internal := graph.algorithm.internal_states_space:
            # Recurrent layers are made for the rollouts that an update gets: without it they would wait for the loop.
            actions = from_spec(learner.spec.action_space)
            spaces |= graph.experience.input_spaces(learner.state_space, actions, internal)
            methods.append("update")
        self._rollout_length = graph.rollout_length
        return graph, spaces, methods

    @property
    def steps(self) -> int:
        return int(self._rollout_length * self.environment.num_envs)

    def _call(self, first: float, last: float) -> tuple[int, Any]:
        return 1, self.executor.execute("train", *([last] if self._is_timed else []))


class ReplayProgram(TrainingProgram):
    """Rounds of steps and updates in each call; a round without updates until there are enough records.

    The agent's memory is copied into the program's before a call, unless it is there, and back by `give_back`.
    """

    graph: ReplayTrainingGraph

    def _make_graph(self) -> tuple[TrainingGraph, dict[str, Any], list[str]]:
        learner = self._learner
        replay: Any = copy(learner.experience)
        replay.memory = TensorReplay(replay.memory.capacity)
        graph: Any = learner.spec.make_graph(
            replay, partial(ReplayTrainingGraph, self.environment, self._steps_of_a_call())
        )
        spaces: dict[str, Any] = {"progress": FloatBox(0.0, 1.0), "change": FloatBox()}
        if graph.algorithm.schedule:
            flags = BoolBox(shape=(graph.rounds * graph.updates_per_round,))
            spaces["due"] = Dict(dict.fromkeys(graph.algorithm.schedule, flags))
        return graph, spaces, ["begin", "fill", "train"]

    def _steps_of_a_call(self) -> int:
        """Few enough that a call is short: callbacks, reports and Ctrl-C come between two calls."""
        learner = self._learner
        parameters = learner.executor.built.statistics["trainable_parameters"]
        replay: Any = learner.experience
        updates = replay.updates.update_steps * self.environment.num_envs / replay.updates.update_interval
        operations = OF_A_PARAMETER * parameters * replay.batch_size * updates  # of a step of all copies
        return int(min(MOST_STEPS, MOST_OPERATIONS / max(operations, 1.0)))

    @property
    def _fills(self) -> bool:
        """Whether the next call makes no updates: the last step of a round makes the first one due."""
        updates, steps = self._learner.experience.updates, self._learner.steps  # type: ignore[attr-defined]
        first = max(updates.steps_before_update, updates.update_interval)
        return bool(steps + self._of_round < first)

    @property
    def _of_round(self) -> int:
        return self.graph.steps_per_round * self.environment.num_envs

    @property
    def steps(self) -> int:
        return self._of_round * (1 if self._fills else self.graph.rounds)

    def _call(self, first: float, last: float) -> tuple[int, Any]:
        if not self.has_memory:
            self._take_memory()
        if self._fills:
            return 0, self.executor.execute("fill", first, _change(first, last, self.graph.steps_per_round))
        rounds, graph = self.graph.rounds, self.graph
        change = _change(first, last, rounds * graph.steps_per_round)
        updates = rounds * graph.updates_per_round
        return updates, self.executor.execute("train", first, change, *self._due(updates))

    def _due(self, updates: int) -> list[dict[str, np.ndarray]]:
        """Which scheduled methods of the algorithm are due after each of the next updates; nothing if none ever is."""
        learner, of_round = self._learner, self.graph.updates_per_round
        due = {name: np.zeros(updates, np.bool_) for name in self.graph.algorithm.schedule}
        for number in range(1, updates + 1 if due else 1):
            rounds, further = divmod(number, of_round)
            counted = ("updates",) if further else ("updates", "steps")
            for name in learner.take_due(
                learner.version + number, learner.steps + rounds * self._of_round, counted
            ):
                due[name][number - 1] = True
        return [due] if due else []

    def _take_memory(self) -> None:
        memory, ring, host = self._memories()
        index, size = map(int, host[memory.cursor.name])
        values = {variable.name: host[memory.rows[path].name] for path, variable in ring.items()}
        values[self.graph.ring.inserted.name] = np.array(index + memory.capacity * (size == memory.capacity))
        self.executor.set_weights(values)
        self.has_memory = True

    def size(self) -> int:
        inserted = self.executor.storage.read(self.graph.ring.inserted.name)
        return min(int(inserted), self.graph.ring.capacity)

    def give_back(self) -> None:
        memory, ring, host = self._memories()
        values = self.executor.get_weights()
        inserted, capacity = int(values[self.graph.ring.inserted.name]), memory.capacity
        with self._learner.executor.guarded.everything():
            for path, variable in ring.items():
                host[memory.rows[path].name][...] = values[variable.name]
            host[memory.cursor.name][...] = inserted % capacity, min(inserted, capacity)

    def _memories(self) -> tuple[Any, dict[str, Any], dict[str, np.ndarray]]:
        """The agent's memory, the variables of the program's by path, and the agent's host variables."""
        memory: Any = self._learner.graph.memory
        ring = memory.record_space.flatten_sample(self.graph.ring.rows)
        return memory, ring, self._learner.executor.storage.host


def _change(first: float, last: float, steps: int) -> float:
    """By how much progress grows with each of these steps."""
    return (last - first) / max(steps - 1, 1)


def _check_one_program(plan: Plan) -> None:
    """Raise `HostFunctionError` if a host function cuts the program."""
    for step in plan.steps:
        if isinstance(step, LoopStep | BranchStep):
            inside = next(each for each in walk_steps([step]) if isinstance(each, HostStep))
            error = HostFunctionError(
                f"{inside.node.component}.{inside.node.function} is a host function, which the program cannot have; "
                "give in_graph=False, which steps the environment from outside",
                path="worker.in_graph",
            )
            error.function = f"{inside.node.component}.{inside.node.function}"
            raise error
