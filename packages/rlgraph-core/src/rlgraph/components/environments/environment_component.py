"""The base class of environments that are components."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from rlgraph.components.common.argument_checks import check_number, check_whole
from rlgraph.core import Component, SpecError, graph_fn, rlgraph_api
from rlgraph.core.errors import nearest
from rlgraph.core.ops.dims import RankSize
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, Space, Tuple
from rlgraph.spaces.errors import mismatch

#: What `transition` gives of each copy besides `inner`.
COLUMNS = {"rewards": FloatBox(), "terminated": BoolBox()}


class EnvironmentComponent(Component):
    """N copies of a task. A subclass has Spaces and three graph functions; resets and limits of steps are done here.

    ```python
    class Corridor(EnvironmentComponent):
        state_space, action_space, max_episode_steps = FloatBox(shape=(1,)), IntBox(2), 100
        inner_space = IntBox(10)

        @graph_fn
        def begin(self, ops, count):
            return ops.zeros((count,), dtype="int64")

        @graph_fn
        def transition(self, ops, inner, actions):
            place = ops.maximum(inner + 2 * actions - 1, 0)
            return place, -ops.ones_like(ops.astype(place, "float")), place == 9

        @graph_fn
        def observe(self, ops, inner):
            return ops.expand_dims(ops.astype(inner, "float"), -1)
    ```

    What a task keeps of the running episodes is a value, not a variable: whoever loops carries it.

    Args:
        parameters: name -> number, for some of `default_parameters`.

    Attributes:
        num_envs: N, the number of copies; see `copies`.
        state_space, action_space: one state, one action. States that are a Dict with the part ``action_mask`` say with
            it which actions are legal.
        inner_space: what the task keeps of one episode; any container.
        max_episode_steps: steps after which an episode is truncated; None: `transition` terminates every episode.
        default_parameters: name -> value of the variables ``self.parameters[name]`` [], for ``ops.read``.

    Raises:
        SpecError: a subclass lacks one of the Spaces, the limit or one of the functions; an unknown parameter.
    """

    state_space: Space
    action_space: Space
    inner_space: Space
    max_episode_steps: int | None
    default_parameters: ClassVar[Mapping[str, float]] = {}

    def __init__(
        self,
        *,
        parameters: Mapping[str, float] | None = None,
        scope: str = "environment",
        **kwargs: Any,
    ):
        for name in ("state_space", "action_space", "inner_space", "max_episode_steps"):
            if not hasattr(self, name):
                hint = (
                    "; None, where transition terminates every episode" if name == "max_episode_steps" else ""
                )
                raise SpecError(
                    f"expected an attribute of the class{hint}", path=f"{type(self).__name__}.{name}"
                )
        for name in ("begin", "transition", "observe"):
            if getattr(type(self), name) is getattr(EnvironmentComponent, name):
                raise SpecError(
                    "expected a graph function of the class, given none", path=f"{type(self).__name__}.{name}"
                )
        self.num_envs = 1
        if self.max_episode_steps is not None:
            check_whole(self.max_episode_steps, f"{type(self).__name__}.max_episode_steps", least=1)
        for name, value in (given := dict(parameters or {})).items():
            if name not in self.default_parameters:
                raise SpecError(nearest(name, self.default_parameters), path=f"{scope}.parameters.{name}")
            check_number(value, f"{scope}.parameters.{name}")
        self._start = {**self.default_parameters, **given}
        super().__init__(scope=scope, **kwargs)

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        self.parameters = {
            name: self.get_variable(f"parameters/{name}", FloatBox(), initializer=value, trainable=False)
            for name, value in self._start.items()
        }

    def copies(self, number: int) -> Self:
        """The same environment in a number of copies, not built yet.

        Raises:
            SpecError: the number is below 1.
        """
        made = self.copy()
        made.num_envs = check_whole(number, f"{self.scope}.num_envs", least=1)
        return made

    @property
    def task_space(self) -> Dict:
        """The Space of a task, ``[N, ...]``."""
        task = {"inner": self.inner_space, "steps": IntBox(0, None), "returns": FloatBox()}
        return Dict(task).with_batch_rank(self.num_envs)

    # What a subclass writes.

    @abstractmethod
    def begin(self, count: int) -> Any:
        """``f(self, ops, count) -> inner [N, ...]``, a graph function: new episodes, N = `count` of them."""

    @abstractmethod
    def transition(self, inner: Any, actions: Any) -> Any:
        """``f(self, ops, inner, actions) -> (inner [N, ...], rewards [N], terminated [N])``, a graph function."""

    @abstractmethod
    def observe(self, inner: Any) -> Any:
        """``f(self, ops, inner) -> states [N, ...]``, a graph function: what an agent sees."""

    def draw(self, inner: Any) -> Any:
        """A picture ``[height, width, 3]`` (uint8) of one copy; None: there is none.

        Args:
            inner: what the task keeps of its episode, arrays without batch rank.
        """
        return None

    # What is the same for all.

    @rlgraph_api
    def reset(self) -> Any:
        """``{"task", "states"}``: new episodes in all copies, and the states to act on ``[N, ...]``."""
        inner = self._new()
        steps, returns = self._zeros(RankSize(self.num_envs))
        task = {"inner": inner, "steps": steps, "returns": returns}
        return {"task": task, "states": self.get_states(task)}

    @rlgraph_api
    def get_states(self, task: Any) -> Any:
        """The states of a task ``[N, ...]``."""
        return self._observed(task["inner"])

    @rlgraph_api
    def step(self, task: Any, actions: Any) -> Any:
        """Act in every copy. An episode that ends is followed by a new one within the step.

        Returns:
            ``task`` after the step; ``states`` to act on next ``[N, ...]``, and ``reached``, those that the step led
            to; ``rewards``, ``terminated`` and ``truncated`` ``[N]``; ``returns`` and ``lengths`` ``[N]`` of the
            episodes up to this step.
        """
        inner, rewards, terminated = self._moved(self.transition(task["inner"], actions))
        inner = self._fitting(inner, "inner_space", "transition")
        rewards = self._fitting(rewards, "rewards", "transition")
        terminated = self._fitting(terminated, "terminated", "transition")
        steps, returns, truncated = self._count(task["steps"], task["returns"], rewards, terminated)
        ends = self._either(terminated, truncated)
        after = {
            "inner": self._chosen(ends, self._new(), inner),
            "steps": self._chosen(ends, 0, steps),
            "returns": self._chosen(ends, 0.0, returns),
        }
        return {
            "task": after,
            "states": self.get_states(after),
            "reached": self._observed(inner),
            "rewards": rewards,
            "terminated": terminated,
            "truncated": truncated,
            "ends": ends,
            "returns": returns,
            "lengths": steps,
        }

    def _new(self) -> Any:
        return self._fitting(self.begin(RankSize(self.num_envs)), "inner_space", "begin")

    def _observed(self, inner: Any) -> Any:
        return self._states(self._fitting(self.observe(inner), "state_space", "observe"))

    @graph_fn(spaces=lambda self, states: self.state_space.with_batch_rank(self.num_envs))
    def _states(self, ops: Any, states: Any) -> Any:
        """The states, with the bounds of their Space: networks see how many categories there are."""
        return states

    @graph_fn(space_of="moved", returns=3)
    def _moved(self, ops: Any, space: Space, moved: Any) -> Any:
        if not isinstance(space, Tuple) or len(space) != 3:
            raise mismatch(
                f"{type(self).__name__}.transition", "a tuple of inner, rewards and terminated", repr(space)
            )
        return moved

    @graph_fn(space_of="values")
    def _fitting(self, ops: Any, space: Space, values: Any, name: str, function: str) -> Any:
        """The values, which have the Space of their name."""
        expected: Space = COLUMNS[name] if name in COLUMNS else getattr(self, name)
        expected = expected.with_batch_rank(self.num_envs)
        if not _is_alike(space.flatten(), expected.flatten()):
            where = f"{type(self).__name__}.{function}"
            hint = ""
            if space.has_batch_rank and _is_alike(
                space.with_batch_rank(self.num_envs).flatten(), expected.flatten()
            ):
                hint = (
                    "the number of copies is fixed: copies(N) makes them, and all Spaces have it, "
                    "with_batch_rank(environment.num_envs)"
                )
            raise mismatch(where, f"{name} of {self.num_envs} copies, {expected!r}", repr(space), hint)
        return values

    @graph_fn(returns=2)
    def _zeros(self, ops: Any, count: int) -> Any:
        return ops.zeros((count,), dtype="int64"), ops.zeros((count,))

    @graph_fn(returns=3)
    def _count(self, ops: Any, steps: Any, returns: Any, rewards: Any, terminated: Any) -> Any:
        """Steps and returns of the episodes up to now, and which are truncated, ``[N]`` each."""
        steps, returns = steps + 1, returns + rewards
        if self.max_episode_steps is None:
            return steps, returns, ops.logical_and(terminated, ops.logical_not(terminated))
        limit = steps >= self.max_episode_steps
        return steps, returns, ops.logical_and(limit, ops.logical_not(terminated))

    @graph_fn
    def _either(self, ops: Any, terminated: Any, truncated: Any) -> Any:
        return ops.logical_or(terminated, truncated)

    @graph_fn(flatten_ops={"fresh", "kept"}, split_ops=True)
    def _chosen(self, ops: Any, ends: Any, fresh: Any, kept: Any) -> Any:
        """`fresh` in copies whose episode ended, else `kept`, ``[N, ...]``."""
        for _ in range(len(kept.shape) - 1):
            ends = ops.expand_dims(ends, -1)
        if isinstance(fresh, int | float):
            fresh = ops.zeros_like(kept) + fresh
        return ops.where(ends, fresh, kept)


def _is_alike(leaves: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether the leaves of two Spaces have the same paths, shapes, ranks and dtypes, floats that of the execution."""
    return leaves.keys() == wanted.keys() and all(
        leaves[path].get_shape(True) == box.get_shape(True)
        and (leaves[path].dtype == box.dtype or leaves[path].dtype[:5] == box.dtype[:5] == "float")
        for path, box in wanted.items()
    )
