"""The root components of training as one program with the environment; those of replay have a module of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.environments.environment_component import EnvironmentComponent
from rlgraph.core import graph_fn, loop, rlgraph_api
from rlgraph.core.ops import map_nested
from rlgraph.core.ops.dims import RankSize
from rlgraph.experience.rollouts import Rollouts
from rlgraph.learning.agent_graph import AgentGraph
from rlgraph.learning.environment_checks import bounded_leaves, key_of
from rlgraph.spaces import BoolBox, Dict, FloatBox, Space


class TrainingGraph(AgentGraph):
    """An agent's root that also has its environment; a subclass has the API method `train`.

    What goes on from call to call, ``{"task", "begins", "internal_states"}``, lies in variables between two calls: the
    running episodes, where the next step begins one, and what acting remembers. A call reads and writes it once.

    Args:
        environment: the environment.
        options: see `AgentGraph`.
    """

    def __init__(self, environment: EnvironmentComponent, *options: Any, **named: Any):
        super().__init__(*options, **named)
        self.environment = environment
        #: The Space of what acting remembers from step to step; None: nothing.
        self._table_space = self.table_space(environment.state_space)
        self.add_components(environment)

    @property
    def running_space(self) -> Dict:
        """The Space of what goes on from call to call, ``[N, ...]``."""
        spaces: dict[str, Any] = {"task": self.environment.task_space, "begins": BoolBox()}
        if self._table_space:
            spaces["internal_states"] = self._table_space.without_ranks()
        return Dict(spaces).with_batch_rank(self.environment.num_envs)

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        self.running = self.get_variables("running", self.running_space, trainable=False)

    @rlgraph_api
    def begin(self) -> Any:
        """Begin new episodes in all copies; returns their states ``[N, ...]``."""
        begun = self.environment.reset()
        running = {"task": begun["task"], "begins": self._all_begin()}
        if self._table_space:
            running["internal_states"] = self._nothing_remembered()
        self._keep(running)
        return begun["states"]

    def _step(self, running: Any, states: Any, progress: Any) -> tuple[Any, Any, Any, dict[str, Any], Any]:
        """One step of all copies.

        Returns:
            What goes on, the states to act on next, of the episodes ``ends``, ``returns`` and ``lengths`` ``[N]``, with
            what running statistics are of, the record, and the internal states before the step, None where acting
            remembers nothing.
        """
        internal = running["internal_states"] if self._table_space else None
        acted, _ = self._acted("act", states, internal, progress)
        stepped = self.environment.step(running["task"], acted["actions"])
        record = {
            "states": states,
            "next_states": stepped["reached"],
            "actions": acted["actions"],
            "rewards": stepped["rewards"],
            "terminals": stepped["terminated"],
            "ends": stepped["ends"],
        }
        if "remembered" in acted:
            record["remembered"] = acted["remembered"]
        steps = {name: stepped[name] for name in ("ends", "returns", "lengths")}
        steps["checked"] = self._checked(states, stepped["reached"], stepped["rewards"])
        if self.masked is not None:
            steps["checked"]["masks"] = states[self.masked.name]
        if self.normalize is not None or self.scale_rewards is not None:
            steps |= {"states": states, "rewards": stepped["rewards"], "begins": running["begins"]}
        after = {"task": stepped["task"], "begins": stepped["ends"]}
        if self._table_space:
            record["begins"] = running["begins"]
            after["internal_states"] = self._cleared(stepped["ends"], acted["internal_states"])
        return after, stepped["states"], steps, record, internal

    def _checked(self, states: Any, reached: Any, rewards: Any) -> dict[str, Any]:
        """What `EnvironmentChecks` looks at: the states that were acted on, new ones among them, and those reached."""
        checked = {"finite": self._finite(states, reached, rewards)}
        if bounded_leaves(self.environment):
            checked["lowest"], checked["highest"] = self._extremes(states, reached)
        return checked

    @graph_fn
    def _finite(self, ops: Any, states: Any, reached: Any, rewards: Any) -> Any:
        finite, space = ops.isfinite(rewards), self.environment.state_space
        for path, box in space.flatten().items():
            for given in (states, reached) if isinstance(box, FloatBox) else ():
                each = ops.isfinite(space.flatten_sample(given)[path])
                axes = tuple(range(1, len(each.shape)))
                finite = ops.logical_and(finite, ops.all(each, axis=axes) if axes else each)
        return finite

    @graph_fn(returns=2)
    def _extremes(self, ops: Any, states: Any, reached: Any) -> Any:
        lowest, highest = {}, {}
        one, other = map(self.environment.state_space.flatten_sample, (states, reached))
        for path in bounded_leaves(self.environment):
            values = ops.concat([one[path], other[path]])
            lowest[key_of(path)], highest[key_of(path)] = ops.min(values, axis=0), ops.max(values, axis=0)
        return lowest, highest

    @graph_fn
    def _all_begin(self, ops: Any) -> Any:
        return ops.ones((RankSize(self.environment.num_envs),), dtype="bool")

    @graph_fn
    def _nothing_remembered(self, ops: Any) -> Any:
        number = RankSize(self.environment.num_envs)
        assert self._table_space is not None
        return self._table_space.map_leaves(lambda path, box: ops.zeros((number, *box.shape)))

    @graph_fn(flatten_ops={"internal_states"}, split_ops=True)
    def _cleared(self, ops: Any, ends: Any, internal_states: Any) -> Any:
        for _ in range(len(internal_states.shape) - 1):
            ends = ops.expand_dims(ends, -1)
        return ops.where(ends, ops.zeros_like(internal_states), internal_states)

    @graph_fn
    def _read(self, ops: Any) -> Any:
        return map_nested(ops.read, self.running)

    @graph_fn(returns=0)
    def _keep(self, ops: Any, running: Any) -> None:
        map_nested(ops.assign, self.running, running)


class RolloutTrainingGraph(TrainingGraph):
    """A root that makes rollouts, each followed by an update.

    Args:
        environment, options: see `TrainingGraph`; the experience is one of rollouts.
    """

    def __init__(self, environment: EnvironmentComponent, *options: Any, **named: Any):
        super().__init__(environment, *options, **named)
        assert isinstance(self.experience, Rollouts)
        self.rollout_length = self.experience.rollout_length

    @rlgraph_api
    def train(self, progress: Any = None) -> Any:
        """A rollout of all copies, and an update on it.

        Returns:
            ``numbers`` of the update, and ``steps``: ``ends``, ``returns`` and ``lengths`` ``[T, N]`` of the episodes
            up to each step.
        """
        start = self._read()
        running, steps, records, internal = self._rollout(start, progress)
        self._keep(running)
        numbers = self._learned("update", records, self._beginnings(start, internal), None, progress)
        return {"numbers": numbers, "steps": steps}

    def _rollout(self, start: Any, progress: Any) -> tuple[Any, Any, Any, Any]:
        def body(i: Any, running: Any, states: Any) -> Any:
            after, states, steps, record, internal = self._step(running, states, progress)
            record["weights"] = self._ones(record["rewards"])
            return (after, states), (steps, record, *([] if internal is None else [internal]))

        states = self.environment.get_states(start["task"])
        (running, _), collected = loop(self.rollout_length, body, start, states, collect=True)
        internal = self._as_data(collected[2]) if self._table_space else None
        return running, collected[0], self._as_data(collected[1]), internal

    def _beginnings(self, start: Any, internal: Any) -> Any:
        """The internal states before the first step of sequences; None: the algorithm has none."""
        wanted, interval = self.algorithm.internal_states_space, self.experience.internal_state_interval
        if not wanted:
            return None
        if interval is None:
            return {name: start["internal_states"][name] for name in wanted}
        return {name: self._every(internal[name], interval) for name in wanted}

    @graph_fn(flatten_ops={"internal_states"}, split_ops=True)
    def _every(self, ops: Any, internal_states: Any, interval: int) -> Any:
        return internal_states[::interval]

    @graph_fn(flatten_ops=True, split_ops=True)
    def _as_data(self, ops: Any, values: Any) -> Any:
        """The values, through which no derivative goes back into acting, as through records from outside."""
        return ops.stop_gradient(values)

    @graph_fn
    def _ones(self, ops: Any, rewards: Any) -> Any:
        return ops.ones_like(rewards)
