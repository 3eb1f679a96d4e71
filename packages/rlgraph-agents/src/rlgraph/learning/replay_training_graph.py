"""The root component of training as one program, of algorithms that learn from a replay memory."""

from __future__ import annotations

from typing import Any

from rlgraph.components.environments.environment_component import EnvironmentComponent
from rlgraph.components.explorations.exploration import Exploration
from rlgraph.components.memories.tensor_replay import TensorReplay
from rlgraph.core import branch, graph_fn, loop, rlgraph_api
from rlgraph.experience.replay import Replay
from rlgraph.learning.agent_graph import PER_ITEM
from rlgraph.learning.training_graph import TrainingGraph


class ReplayTrainingGraph(TrainingGraph):
    """A root that makes steps and updates in turns, with its own memory.

    Args:
        environment, options: see `TrainingGraph`; the experience is a `Replay`.
        steps: steps of all copies in a call, at most; there is one round at least.
    """

    def __init__(self, environment: EnvironmentComponent, steps: int, *options: Any, **named: Any):
        super().__init__(environment, *options, **named)
        replay, number = self.experience, environment.num_envs
        assert isinstance(replay, Replay)
        for part in self.algorithm.sub_components.values():
            if isinstance(part, Exploration):
                part.draws_in_graph = True
        interval, updates = replay.updates.update_interval, replay.updates.update_steps
        #: Steps of all copies between two rounds of updates, and updates in a round.
        self.steps_per_round = max(interval // number, 1)
        self.updates_per_round = updates * max(number // interval, 1)
        self.rounds = max(steps // self.steps_per_round, 1)
        assert isinstance(self.memory, TensorReplay)
        self.ring = self.memory

    @rlgraph_api
    def fill(self, progress: Any, change: Any) -> Any:
        """As `train` without updates: the steps of one round."""

        def step(j: Any, running: Any, states: Any) -> Any:
            return self._step_into_memory(running, states, self._progress(progress, change, 0, j))

        start = self._read()
        first = (start, self.environment.get_states(start["task"]))
        (running, _), steps = loop(self.steps_per_round, step, *first, collect=True)
        self._keep(running)
        return {"steps": steps}

    @rlgraph_api
    def train(self, progress: Any, change: Any, due: Any = None) -> Any:
        """Rounds of steps of all copies, each followed by its updates.

        Args:
            progress: how much of training is done at the first step, [].
            change: by how much it grows with each step of all copies, [].
            due: scheduled method of the algorithm -> whether it runs after each update, bools [number of updates].

        Returns:
            ``numbers``, the means over all updates; and of each step ``ends``, ``returns`` and ``lengths`` ``[T, N]``.
        """

        def one_round(i: Any, running: Any, states: Any) -> Any:
            def step(j: Any, running: Any, states: Any) -> Any:
                return self._step_into_memory(running, states, self._progress(progress, change, i, j))

            def update(j: Any) -> Any:
                records = self.ring.get_records(self.experience.batch_size)
                numbers = self._learned("update", records, None, None, last)
                for name in self.algorithm.schedule if due is not None else ():
                    branch(self._at_update(due[name], i, j), getattr(self.algorithm, name), lambda: None)
                return None, {name: number for name, number in numbers.items() if name not in PER_ITEM}

            (running, states), steps = loop(self.steps_per_round, step, running, states, collect=True)
            last = self._progress(progress, change, i, self.steps_per_round - 1)
            _, numbers = loop(self.updates_per_round, update, collect=True)
            return (running, states), (steps, numbers)

        start = self._read()
        first = (start, self.environment.get_states(start["task"]))
        (running, _), (steps, numbers) = loop(self.rounds, one_round, *first, collect=True)
        self._keep(running)
        return {
            "numbers": {name: self._mean(number) for name, number in numbers.items()},
            "steps": self._in_a_row(steps),
        }

    def _step_into_memory(self, running: Any, states: Any, progress: Any) -> Any:
        after, states, steps, record, _ = self._step(running, states, progress)
        names = ("states", "next_states", "actions", "rewards", "terminals")
        self.ring.insert_records({name: record[name] for name in names})
        return (after, states), steps

    @graph_fn
    def _progress(self, ops: Any, progress: Any, change: Any, i: Any, j: Any) -> Any:
        done = ops.astype(i * self.steps_per_round + j, "float")
        return ops.minimum(progress + change * done, 1.0)

    @graph_fn
    def _at_update(self, ops: Any, due: Any, i: Any, j: Any) -> Any:
        return ops.take(due, i * self.updates_per_round + j)

    @graph_fn
    def _mean(self, ops: Any, numbers: Any) -> Any:
        return ops.mean(ops.astype(numbers, "float"))

    @graph_fn(flatten_ops=True, split_ops=True)
    def _in_a_row(self, ops: Any, values: Any) -> Any:
        """``[rounds, steps, ...] -> [T, ...]``."""
        return ops.reshape(values, (-1, *values.shape[2:]))
