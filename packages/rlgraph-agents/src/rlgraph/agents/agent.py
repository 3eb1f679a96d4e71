"""What all agents share: building, acting, weights, checkpoints, and the thin front of the worker."""

from __future__ import annotations

import threading
from abc import ABC, ABCMeta, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from contextvars import ContextVar
from inspect import isabstract
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from rlgraph.agents.nested_arrays import flatten_arrays, unflatten_arrays
from rlgraph.agents.other_names import IN_AN_AGENT
from rlgraph.agents.presets import Preset, use_preset
from rlgraph.agents.stored_spec import AGENT, stored_spec
from rlgraph.core import (
    CheckpointError,
    ExecutionSpec,
    GraphExecutor,
    SpecError,
    Specifiable,
    registry,
)
from rlgraph.core.checkpoint import find_checkpoint, read_beside
from rlgraph.core.errors import OtherNames
from rlgraph.core.execution_spec import ACT_ON
from rlgraph.core.specs.documents import is_spec_file, read_spec_file
from rlgraph.core.specs.imports import data_specs
from rlgraph.core.specs.specifiable import call_checked, check_arguments, plain_copy
from rlgraph.environments.factory import is_instance, make_environment
from rlgraph.environments.sequential_vector_env import release
from rlgraph.spaces import Space, SpaceError, from_spec

if TYPE_CHECKING:
    from rlgraph.agents.actor_spec import ActorSpec
    from rlgraph.agents.experience.step import VectorStep
    from rlgraph.environments.vector_env import VectorEnv
    from rlgraph.workers.callbacks import Callback
    from rlgraph.workers.evaluation import Evaluation
    from rlgraph.workers.results import TrainingResult

_only_checked: ContextVar[bool] = ContextVar("only_checked", default=False)


class _CheckedError(Exception):
    """Ends `Agent.check_spec` where the executor would be built: all arguments are right. It holds the actor's spec."""


class AgentMeta(ABCMeta):
    """Lets a class be called with a spec: ``DQNAgent("config.json", state_space=..., action_space=...)``."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        spec = args[0] if len(args) == 1 else None
        if isinstance(spec, str | Path | Mapping) and not isinstance(spec, Space):
            return cls.from_spec(spec, **kwargs)  # type: ignore[attr-defined]
        kwargs = {name: plain_copy(value) for name, value in kwargs.items()}
        check_arguments(cls, kwargs, cls.__name__)
        agent = super().__call__(*args, **kwargs)
        agent._arguments = {**dict(zip(("state_space", "action_space"), args, strict=False)), **kwargs}
        return agent


class Agent(Specifiable, ABC, metaclass=AgentMeta):
    """Acts, observes and learns. Subclasses give the root component and the learning rule.

    ``SomeAgent(spec, state_space=..., action_space=...)`` with a mapping or the name of a file is `from_spec`.

    Acting is safe in several threads, beside others that observe, update, save and load.
    """

    registry_group: ClassVar[str] = "rlgraph.agents"
    other_names: ClassVar[OtherNames] = IN_AN_AGENT
    #: The API method that `export_graph` writes by default: greedy acting.
    greedy_method: ClassVar[str]
    #: The preset that the agent was made from, if any.
    preset: Preset | None = None
    #: Arguments of the constructor, by name.
    _arguments: Mapping[str, Any]

    def __repr__(self) -> str:
        preset = "" if self.preset is None else f", preset {self.preset.name}"
        return f"<{type(self).__name__} on {self.executor.backend.name}{preset}>"

    def _check_execution(
        self, execution_spec: Mapping[str, Any] | None, seed: int | None, acting: str
    ) -> ExecutionSpec:
        """The execution spec of these arguments.

        Raises:
            SpecError: a key or value is wrong.
        """
        if acting not in ACT_ON:
            raise SpecError(f"expected 'auto', 'numpy' or 'backend', given {acting!r}", path="acting")
        if not isinstance(execution_spec, Mapping | None):
            raise SpecError(f"expected a mapping, given {execution_spec!r}", path="execution_spec")
        execution = dict(execution_spec or {})
        if seed is not None:
            execution["seed"] = seed
        checked = ExecutionSpec.from_spec(execution)
        if checked.acting_methods or checked.act_on != "auto":
            raise SpecError(
                "an agent names its acting_methods by itself; for act_on give acting=", path="execution_spec"
            )
        return checked

    @staticmethod
    def _end_check(spec: ActorSpec, experience: Any) -> None:
        """End `check_spec` once all parts could be made."""
        if _only_checked.get():
            with suppress(SpaceError):  # networks that do not fit the states are the build's to refuse
                spec.make_graph(experience)
            raise _CheckedError(spec)

    def _begin(self, state_space: Space, action_space: Space, executor: GraphExecutor, env: Any) -> None:
        """Set what every agent has, once its executor is built."""
        self.state_space, self.action_space, self.env_spec = state_space, action_space, env
        self.executor = executor
        self.seed = executor.execution.seed
        #: Who acts, ``"numpy"`` or ``"backend"``.
        self.acting = executor.acting
        #: Environment steps observed, updates done, episodes finished.
        self.timesteps = self.updates = 0
        #: Fraction of training done, 0 to 1; schedules follow it. Set by the worker.
        self._time_percentage = np.zeros((), executor.execution.dtype)
        #: Held while updating, and while observing; acquire both in this order.
        self._updating, self._observing = threading.RLock(), threading.RLock()

    @classmethod
    def from_spec(cls, spec: Any, *, path: str = "agent", env: Any = None, **kwargs: Any) -> Self:
        """An agent from a spec.

        Args:
            spec: a mapping with ``type`` and constructor arguments; the path of a JSON, YAML or TOML file with one; or
                a registered name, which stands for its preset for `env` if there is one (`rlgraph.agents.presets`).
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
                    f"an agent that exists takes no further arguments, given {', '.join(kwargs) or 'env'}",
                    path=path,
                )
            return spec
        if is_spec_file(spec):
            with data_specs():
                return cls.from_spec(read_spec_file(spec, path), path=path, env=env, **kwargs)
        preset = use_preset(spec, env) if isinstance(spec, str) else None
        if isinstance(spec, str | type):
            spec = {"type": spec} if preset is None else preset.agent
        if not isinstance(spec, Mapping):
            raise SpecError(f"expected a mapping with 'type', a name or a file, given {spec!r}", path=path)
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
        agent: Self = call_checked(target, (), arguments, path, handed=handed, name=name)
        agent.preset = preset
        return agent

    @classmethod
    def check_spec(cls, spec: Any, *, path: str = "agent", **kwargs: Any) -> ActorSpec:
        """Check a spec as `from_spec` does, without building an executor.

        Returns:
            What actors of the agent are built from.

        Raises:
            SpecError: see `from_spec`.
        """
        token = _only_checked.set(True)
        try:
            exists: Any = cls.from_spec(spec, path=path, **kwargs)
            found: ActorSpec = exists.learner.spec
        except _CheckedError as end:
            found = end.args[0]
        finally:
            _only_checked.reset(token)
        return found

    # Acting.

    @abstractmethod
    def get_actions(
        self,
        states: Any,
        use_exploration: bool = True,
        apply_preprocessing: bool = True,
        extra_returns: str | Sequence[str] | None = None,
    ) -> Any:
        """Actions for states, a batch ``[B, ...]`` or one.

        Args:
            states: as the state Space says.
            use_exploration: explore; else act greedily.
            apply_preprocessing: False: the states are preprocessed already.
            extra_returns: names of what else to return.

        Returns:
            The actions; ``(actions, extra)`` if `extra_returns` is one name, ``(actions, {name: extra})`` if it is a
            list of names.

        Raises:
            InputError: the states do not fit their Space, or there is no such extra.
        """

    @abstractmethod
    def make_sampler(self, environments: VectorEnv) -> Any:
        """What steps a vector environment with this agent, for workers."""

    @abstractmethod
    def playing(self, environments: VectorEnv) -> AbstractContextManager[Any]:
        """What steps a vector environment without disturbing training, for evaluations."""

    @abstractmethod
    def observe_step(self, step: VectorStep) -> None:
        """Take in a step of all environments, as a sampler gives it."""

    def set_progress(self, fraction: float) -> None:
        """Tell the schedules how much of training is done (0 to 1)."""
        self._time_percentage[()] = fraction

    # Learning.

    @abstractmethod
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
        """Take in experience: one step of one environment, or a batch of steps (``batched=True``).

        Args:
            states, actions: what was seen and done.
            rewards: what came of it.
            terminals: where the episode ended in a terminal state; a truncation is none. None: nowhere.
            next_states: the states that followed (the true last ones, not those after a reset), of the kind of the
                states given. None: each step waits for the next state observed of its environment; a terminal one
                needs none.
            truncations: where the episode was cut for a reason outside the task; this needs `next_states`. Where
                both are true, `terminals` decides.
            internals: internal states of recurrent policies; None, or an empty list, where there are none.
            env_id: the environment, a name or a number (``3`` is ``"env_3"``). Without `batched`: None is ``env_0``.
                With it: None: row i is a step of environment i; a list: of ``env_id[i]``; else the rows are
                consecutive steps of this one environment.
            batched: everything has a batch rank.
            preprocessed_states: in place of `states`, what `get_actions` or `preprocess_states` made of them. For a
                single step, `next_states` may be raw all the same: they are taken to be so if they fit the Space of
                raw states and not that of preprocessed ones.

        Raises:
            InputError: something does not fit, or is missing; nothing was taken in.
        """

    @abstractmethod
    def reset_env_buffers(self, env_id: Any = None) -> None:
        """Throw away what waits of an environment (or a list of them; None: all), e.g. because it crashed."""

    @abstractmethod
    def flush_buffers(self, env_id: Any = None) -> None:
        """Cut the running episodes of an environment (or a list; None: all) as a truncation does.

        What is complete but for rewards to come becomes records; a step whose next state is not known is thrown away.
        """

    @abstractmethod
    def import_observations(self, observations: Any) -> int:
        """Take in steps that were made elsewhere, whole episodes say; returns their number.

        They count neither as steps nor towards the next update.

        Args:
            observations: a list of steps, each a dict of the arguments of `observe`, or one dict of these with batch
                rank; ``sequence_indices`` marks the last rows of fragments (see `update`).

        Raises:
            InputError: as `observe`.
        """

    @abstractmethod
    def update(self, batch: Mapping[str, Any] | None = None, sequence_indices: Any = None) -> dict[str, Any]:
        """Learn from memory, or from an external batch; returns named results, among them ``loss``.

        Args:
            batch: fields with a batch rank, by name; None: from memory.
            sequence_indices: the rows are consecutive steps, in fragments of one or several environments: the last
                row of each fragment, as [B] bool or as integer indices. It may also stand in `batch`.

        Raises:
            InputError: the batch lacks a field, is empty, or its fields differ in length.
            NumericalError: the loss is not finite. The variables have been written by then.
        """

    def check_can_learn(self) -> None:
        """Find out whether the backend can do the updates that this agent is to do.

        Raises:
            CapabilityError: it cannot; names what it lacks.
        """

    @abstractmethod
    def update_if_due(self) -> dict[str, Any] | None:
        """Do the updates that the observed steps have made due; the last one's results, None if none was."""

    def learn(
        self,
        timesteps: int,
        *,
        env: Any = None,
        num_envs: int | None = None,
        callbacks: Callback | list[Callback] | None = None,
        stop: Callback | list[Callback] | None = None,
        progress_bar: bool = False,
        **worker_options: Any,
    ) -> TrainingResult:
        """Train in an environment; a thin front of `rlgraph.workers.SingleThreadedWorker`.

        Args:
            timesteps: environment steps, over all environments.
            env: environment spec; default: the one given to `from_spec`.
            num_envs: number of environments; default: that of the agent's preset, else 1.
            callbacks: told what happens; see `rlgraph.workers.Callback`.
            stop: conditions that end it earlier; see `rlgraph.workers.stopping`.
            progress_bar: show a live line (`rlgraph.workers.LiveProgress`).
            worker_options: further arguments of the worker; default: those of the agent's preset, in its environment.

        Raises:
            SpecError: an option is wrong.
        """
        from rlgraph.workers import LiveProgress, SingleThreadedWorker

        check_arguments(SingleThreadedWorker, worker_options, "learn")
        if num_envs is not None:
            worker_options["num_envs"] = num_envs
        if env is None and self.preset is not None:
            worker_options = {**self.preset.worker_options, **worker_options}
        told: list[Any] = list(callbacks) if isinstance(callbacks, list | tuple) else [callbacks]
        worker = SingleThreadedWorker(self, self._environment(env), **worker_options)
        try:
            with LiveProgress() if progress_bar else nullcontext() as progress:
                listening = [callback for callback in (progress, *told) if callback is not None]
                return worker.execute_timesteps(timesteps, callbacks=listening, stop=stop)
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

    def store_model(
        self, directory: str | Path, *, memory: bool = True, facts: Mapping[str, Any] | None = None
    ) -> Path:
        """Write a checkpoint (safetensors and JSON): variables, optimizer state, random streams, counters.

        Values are written as they are, NaN too; the checkpoints of a run are checked (`rlgraph.runs`).

        Args:
            directory: where; an existing checkpoint is replaced only by a complete new one.
            memory: the replay memory and all other experience as well.
            facts: further JSON-able facts to keep.

        Raises:
            CheckpointError: it cannot be written.
        """
        with self._updating, self._observing:  # counters, weights and memory of one moment
            return self.executor.save(
                directory,
                facts={
                    **self.progress_facts(),
                    AGENT: stored_spec(type(self), self._arguments),
                    **(facts or {}),
                },
                host=memory,
                beside=flatten_arrays(self.experience_state()) if memory else None,
            )

    @classmethod
    def load(cls, path: str | Path, backend: str | None = None) -> Self:
        """The agent of a run, or that of a checkpoint; both know their agent's spec.

        Args:
            path: a run folder, of which the policy that the run ended with is taken; or a checkpoint.
            backend: name of a backend; default: the one that was used.

        Raises:
            CheckpointError: `path` is neither, is damaged, or the checkpoint does not know its agent's spec.
            SpecError: it is another kind of agent, or it names a module that may not be imported.
        """
        from rlgraph.runs.loading import load

        return load(path, backend, cls)

    def load_model(self, directory: str | Path, *, scope: str | None = None) -> None:
        """Restore a checkpoint of the same kind of agent, from any backend.

        Args:
            directory: the checkpoint.
            scope: restore only the variables of this component, e.g. ``dqn/policy``, from an agent that may be
                another one otherwise; counters, memory and random streams stay as they are.

        Raises:
            CheckpointError: it is missing, damaged, or of another component graph; then nothing changes.
            InputError: there is no such component, or it has no variables.
        """
        with self._updating, self._observing:
            if scope is not None:
                self.executor.load(directory, scope=scope)
                return
            beside = read_beside(find_checkpoint(directory))
            try:
                facts = self.executor.load(directory, required_facts=self.progress_facts())
            except CheckpointError as error:
                if "lacks the facts learner" not in str(error):
                    raise
                raise CheckpointError(
                    f"{error}: agents of rlgraph-agents 0.2 and older kept other variables and counters; train anew, "
                    "or use that version"
                ) from None
            self.restore_progress(facts)
            self.reset_env_buffers()
            if beside:
                self.restore_experience(unflatten_arrays(beside))

    def progress_facts(self) -> dict[str, Any]:
        """The counters a checkpoint keeps; JSON-able."""
        return {
            "timesteps": self.timesteps,
            "updates": self.updates,
            "time_percentage": float(self._time_percentage),
        }

    def experience_state(self) -> Any:
        """What was observed and is not in variables, nested arrays; None: there is nothing."""
        return None

    def restore_experience(self, state: Any) -> None:
        """Take over what `experience_state` gave."""

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

    @abstractmethod
    def terminate(self) -> None:
        """Say that the agent is done with: what waits is dropped, and it refuses to act, observe and learn."""


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
            release(environment, "environment")
    for name in ("state_space", "action_space"):
        if name not in spaces:
            raise SpecError(f"{path}.{name} is missing: give state_space= and action_space=, or env=")
    return {"env": env, **{name: from_spec(space) for name, space in spaces.items()}}
