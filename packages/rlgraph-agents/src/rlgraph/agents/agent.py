"""What all agents share: building, acting, weights, checkpoints, and the thin front of the worker."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from inspect import isabstract
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from rlgraph.core import (
    CapabilityError,
    Component,
    ExecutionSpec,
    GraphExecutor,
    InputError,
    SpecError,
    Specifiable,
    default_backend,
    executor_class,
    registry,
)
from rlgraph.core.component.all_faults import Stop, every_fault, is_collecting
from rlgraph.core.component.spec_files import is_spec_file, read_spec_file
from rlgraph.core.component.specifiable import call_checked, plain_copy
from rlgraph.environments.factory import is_instance, make_environment
from rlgraph.spaces import Space, SpaceError, from_spec

if TYPE_CHECKING:
    from rlgraph.workers.callbacks import Callback
    from rlgraph.workers.evaluation import Evaluation
    from rlgraph.workers.single_threaded_worker import TrainingResult

#: Networks of at most so many parameters act on NumPy: one call costs less than a framework's overhead. Larger ones
#: stay on the backend. Override with ``acting``.
NUMPY_ACTING_LIMIT = 200_000


class Agent(Specifiable, ABC):
    """Acts, observes and learns. Subclasses give the root component and the learning rule.

    Args:
        state_space: one state, without ranks.
        action_space: one action, without ranks.
        root: the unbuilt root component.
        input_spaces: Spaces of the root's API arguments.
        backend: name of a backend; default: `rlgraph.core.default_backend`.
        execution_spec: see `rlgraph.core.ExecutionSpec`.
        seed: root of all random numbers; overrides the execution spec's.
        acting: ``"numpy"``, ``"backend"``, or ``"auto"`` (NumPy up to 200,000 parameters, if it can).
        env: the environment spec that `learn` and `evaluate` use.
    """

    registry_group: ClassVar[str] = "rlgraph.agents"
    #: API method that computes greedy actions, and the one that explores.
    greedy_method: ClassVar[str] = "get_greedy_actions"
    exploring_method: ClassVar[str] = "get_actions"

    def __init__(
        self,
        state_space: Space,
        action_space: Space,
        root: Component,
        input_spaces: Mapping[str, Any],
        *,
        backend: str | None = None,
        execution_spec: Mapping[str, Any] | None = None,
        seed: int | None = None,
        acting: str = "auto",
        env: Any = None,
    ):
        if acting not in ("auto", "numpy", "backend"):
            raise SpecError(f"acting: expected 'auto', 'numpy' or 'backend', given {acting!r}")
        self.state_space, self.action_space = state_space, action_space
        self.env_spec = env
        if not isinstance(execution_spec, Mapping | None):
            raise SpecError(f"execution_spec: expected a mapping, given {execution_spec!r}")
        execution = dict(execution_spec or {})
        if seed is not None:
            execution["seed"] = seed
        ExecutionSpec.from_spec(execution)
        if is_collecting():
            raise Stop
        backend = backend or default_backend()
        self.executor: GraphExecutor = executor_class(backend)(
            root, input_spaces, action_space=action_space, backend=backend, execution_spec=execution
        )
        self.seed = self.executor.execution.seed
        self.acting, (self._greedy, self._explore) = self._acting_programs(acting)
        #: Environment steps observed, updates done, episodes finished.
        self.timesteps = self.updates = 0
        #: Fraction of training done, 0 to 1; schedules follow it. Set by the worker.
        self._time_percentage = np.zeros((), self.executor.execution.dtype)
        self._batch_rank = len(self.state_space.shape) + 1 if hasattr(self.state_space, "shape") else -1

    def _acting_programs(self, acting: str) -> tuple[str, list[Callable[..., Any]]]:
        """How it acts, as `acting` says, and the programs of the greedy and the exploring method."""
        methods = (self.greedy_method, self.exploring_method)
        small = self.executor.statistics["trainable_parameters"] <= NUMPY_ACTING_LIMIT
        if acting == "numpy" or (acting == "auto" and small):
            try:
                return "numpy", [self.executor.numpy_program(method) for method in methods]
            except CapabilityError:  # a part of it has native kernels only
                if acting == "numpy":
                    raise
        return "backend", [self.executor.program(method) for method in methods]

    @classmethod
    def from_spec(cls, spec: Any, *, path: str = "agent", env: Any = None, **kwargs: Any) -> Self:
        """An agent from a spec.

        Args:
            spec: a mapping with ``type`` and constructor arguments, a registered name, or the path of a JSON file.
            path: where the spec stands; named in errors.
            env: an environment spec; gives the Spaces, and `learn` and `evaluate` use it.
            kwargs: constructor arguments that override the spec's, e.g. ``state_space=``, ``backend=``, ``seed=``.

        Raises:
            SpecError: unknown agent or key (nearest name offered), or neither Spaces nor an environment.
        """
        kwargs = {key: value for key, value in kwargs.items() if value is not None}
        if isinstance(spec, cls):
            if env is not None or kwargs:
                raise SpecError(
                    f"{path}: an agent that exists takes no further arguments, given {', '.join(kwargs) or 'env'}"
                )
            return spec
        if is_spec_file(spec):
            spec = read_spec_file(spec, path)
        if isinstance(spec, str | type):
            spec = {"type": spec}
        if not isinstance(spec, Mapping):
            raise SpecError(f"{path}: expected a mapping with 'type', a name or a file, given {spec!r}")
        arguments = {key: plain_copy(value) for key, value in spec.items() if key != "type"}
        handed = {**kwargs, **_spaces(arguments, kwargs, env, path)}
        arguments = {key: value for key, value in arguments.items() if key not in handed}
        kind = spec.get("type")
        target = cls._lookup(kind, path)
        if isabstract(target):
            raise SpecError(
                f"{path}.type is missing. Known: {', '.join(registry(cls.registry_group).names())}."
            )
        name = kind if isinstance(kind, str) else None

        def make(arguments: Any) -> Any:
            return call_checked(target, (), arguments, path, handed=handed, name=name)

        with every_fault(make, arguments, path):
            agent: Self = make(arguments)
        return agent

    # Acting.

    def get_actions(self, states: Any, use_exploration: bool = True) -> Any:
        """Actions for states.

        Args:
            states: a batch ``[B, ...]`` as the state Space says, or one state (then one action is returned).
            use_exploration: explore; else act greedily.

        Raises:
            InputError: the states do not fit the state Space.
        """
        if getattr(states, "ndim", None) == self._batch_rank:
            return self._explore(states, self._time_percentage) if use_exploration else self._greedy(states)
        batch, was_added = self._force_batch("get_actions", "states", states)
        actions = self._explore(batch, self._time_percentage) if use_exploration else self._greedy(batch)
        return actions[0] if was_added else actions

    get_action = get_actions

    def _force_batch(self, method: str, argument: str, states: Any) -> tuple[Any, bool]:
        """States with a batch rank, and whether it had to be added."""
        try:
            return self.state_space.force_batch(states)
        except SpaceError as error:
            raise InputError(f"{method}: argument {argument}: {error}") from None

    def set_progress(self, fraction: float) -> None:
        """Tell the schedules how much of training is done (0 to 1)."""
        self._time_percentage[()] = fraction

    # Learning.

    @abstractmethod
    def observe(
        self,
        states: Any,
        actions: Any,
        rewards: Any,
        terminals: Any,
        next_states: Any,
        truncations: Any = None,
        batched: bool = False,
    ) -> None:
        """Take in experience: one step, or a batch of steps of different environments (``batched=True``).

        Args:
            states, actions: what was seen and done.
            rewards: what came of it.
            terminals: where the episode ended in a terminal state; a truncation is none.
            next_states: the states that followed (the true last ones, not those after a reset).
            truncations: where the episode was cut for a reason outside the task.
            batched: everything has a batch rank.
        """

    @abstractmethod
    def update(self, batch: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Learn from memory, or from an external batch; returns named results, among them ``loss``."""

    @abstractmethod
    def update_if_due(self) -> dict[str, Any] | None:
        """Do the updates that the observed steps have made due; the last one's results, None if none was."""

    def learn(
        self,
        timesteps: int,
        *,
        env: Any = None,
        num_envs: int = 1,
        callbacks: Callback | list[Callback] | None = None,
        **worker_options: Any,
    ) -> TrainingResult:
        """Train in an environment; a thin front of `rlgraph.workers.SingleThreadedWorker`.

        Args:
            timesteps: environment steps, over all environments.
            env: environment spec; default: the one given to `from_spec`.
            num_envs: environments stepped in turn.
            callbacks: told what happens; see `rlgraph.workers.Callback`.
            worker_options: further arguments of the worker.
        """
        from rlgraph.workers import SingleThreadedWorker

        worker = SingleThreadedWorker(self, self._environment(env), num_envs=num_envs, **worker_options)
        try:
            return worker.execute_timesteps(timesteps, callbacks=callbacks)
        finally:
            worker.terminate()

    def evaluate(self, episodes: int = 10, *, env: Any = None, seed: int | None = None) -> Evaluation:
        """Play whole episodes greedily in fresh environments; nothing is observed or learned.

        Args:
            episodes: how many.
            env: environment spec; default: the one given to `from_spec`.
            seed: root seed of the environments; default: derived from the agent's.
        """
        from rlgraph.workers import evaluate

        return evaluate(
            self, self._environment(env), episodes, self.seed + 1_000_003 if seed is None else seed
        )

    def _environment(self, env: Any) -> Any:
        spec = self.env_spec if env is None else env
        if spec is None:
            raise SpecError("the agent has no environment: give env= here or to Agent.from_spec")
        return spec

    def metrics(self) -> dict[str, float]:
        """Numbers of the agent's own for a report, e.g. ``{"epsilon": 0.1}``."""
        return {}

    # Weights and checkpoints.

    def get_weights(self) -> dict[str, np.ndarray]:
        """Copies of all variables by scoped name; the same names on every backend."""
        return self.executor.get_weights()

    def set_weights(self, weights: Mapping[str, Any]) -> None:
        """Write the named variables.

        Raises:
            InputError: an unknown name or a wrong shape; then nothing is written.
        """
        self.executor.set_weights(weights)

    get_policy_weights = get_weights
    set_policy_weights = set_weights

    def store_model(self, directory: str | Path, *, memory: bool = True) -> Path:
        """Write a checkpoint (safetensors and JSON): variables, optimizer state, random streams, counters.

        Args:
            directory: where; an existing checkpoint is replaced only by a complete new one.
            memory: the replay memory as well.

        Raises:
            CheckpointError: it cannot be written.
        """
        return self.executor.save(directory, facts=self.progress_facts(), host=memory)

    def load_model(self, directory: str | Path, *, scope: str | None = None) -> None:
        """Restore a checkpoint of the same kind of agent, from any backend.

        Args:
            directory: the checkpoint.
            scope: restore only the variables of this component, e.g. ``policy``, from an agent that may be another one
                otherwise; counters, memory and random streams stay as they are.

        Raises:
            CheckpointError: it is missing, damaged, or of another component graph; then nothing changes.
            InputError: there is no such component, or it has no variables.
        """
        if scope is not None:
            self.executor.load(directory, scope=scope)
        else:
            self.restore_progress(self.executor.load(directory, required_facts=self.progress_facts()))

    def progress_facts(self) -> dict[str, Any]:
        """The counters a checkpoint keeps; JSON-able."""
        return {
            "timesteps": self.timesteps,
            "updates": self.updates,
            "time_percentage": float(self._time_percentage),
        }

    def restore_progress(self, facts: Mapping[str, Any]) -> None:
        """Take over what `progress_facts` gave."""
        self.timesteps, self.updates = int(facts["timesteps"]), int(facts["updates"])
        self.set_progress(facts["time_percentage"])

    export_model, import_model = store_model, load_model

    def export_graph(self, directory: str | Path, methods: Sequence[str] | None = None) -> Path:
        """Write API methods for use without RLgraph; see `rlgraph.core.GraphExecutor.export_graph`.

        Args:
            directory: where; an earlier export is replaced.
            methods: names of API methods; default: greedy acting.

        Raises:
            CapabilityError: the backend cannot export one of them; names the function.
        """
        return self.executor.export_graph(directory, [self.greedy_method] if methods is None else methods)

    def call_api_method(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """Run an API method of the root component."""
        return self.executor.execute(method, *args, **kwargs)


def _spaces(arguments: Mapping[str, Any], kwargs: Mapping[str, Any], env: Any, path: str) -> dict[str, Any]:
    """``env``, ``state_space`` and ``action_space`` of an agent, from what is given of them.

    Raises:
        SpecError: a Space is missing.
    """
    env = arguments.get("env") if env is None else env
    given = {**arguments, **kwargs}
    spaces = {name: given[name] for name in ("state_space", "action_space") if name in given}
    if env is not None:
        environment = make_environment(env)
        spaces = {"state_space": environment.state_space, "action_space": environment.action_space, **spaces}
        if not is_instance(env):
            environment.terminate()
    for name in ("state_space", "action_space"):
        if name not in spaces:
            raise SpecError(f"{path}.{name} is missing: give state_space= and action_space=, or env=")
    return {"env": env, **{name: from_spec(space) for name, space in spaces.items()}}
