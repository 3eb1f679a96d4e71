"""Agents: an algorithm with an actor, experience and a learner in one process."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from rlgraph.learning.acting_arguments import answers_old_calls, as_flag, as_fraction
from rlgraph.learning.actor import Actor
from rlgraph.learning.actor_spec import ActorSpec
from rlgraph.learning.agent_checkpoint import load_agent, store_agent
from rlgraph.learning.agent_description import describe
from rlgraph.learning.agent_options import make_parts, take_options
from rlgraph.learning.agent_spec import AgentMeta, make_agent, refuse_positional
from rlgraph.algorithms.algorithm import Algorithm
from rlgraph.algorithms.default_network import network_in_words
from rlgraph.experience.step import VectorStep
from rlgraph.learning.exporting import export_agent
from rlgraph.experience.external_batches import BatchReader
from rlgraph.learning.group import group_of
from rlgraph.learning.learner import Learner
from rlgraph.learning.observer import Observer
from rlgraph.learning.offline import import_steps
from rlgraph.experience.other_names import IN_AN_AGENT, IN_EVALUATE, IN_LEARN, AnswersToOtherNames, answers_to
from rlgraph.algorithms.presets import Preset, refuse_preset
from rlgraph.learning.sampler import Sampler
from rlgraph.experience.step_reader import StepReader
from rlgraph.learning.user_actor import UserActor
from rlgraph.learning.weights import load_weights
from rlgraph.components import Exploration, NeuralNetwork
from rlgraph.components.common.argument_checks import check_whole
from rlgraph.core import InputError, RandomStreams, SpecError, Specifiable
from rlgraph.core.errors import OtherNames, RLGraphError
from rlgraph.core.specs.parameters import parameters_of
from rlgraph.core.specs.spec_types import ComponentSpec
from rlgraph.environments.vector_env import VectorEnv
from rlgraph.spaces import Space, from_spec

if TYPE_CHECKING:
    from rlgraph.workers.callbacks import Callback
    from rlgraph.workers.evaluation import Evaluation
    from rlgraph.workers.results import TrainingResult

_log = logging.getLogger(__name__)


def _worker_options() -> set[str]:
    """The arguments of the worker that `Agent.learn` takes."""
    from rlgraph.workers import SingleThreadedWorker

    return parameters_of(SingleThreadedWorker).named.keys() - {"agent", "env_spec"}


class Agent(AnswersToOtherNames, Specifiable, metaclass=AgentMeta):
    """Acts, observes and learns. A subclass names an algorithm, and has its options and those of its experience.

    ``SomeAgent(spec, state_space=..., action_space=...)`` with a mapping or a file's name is `from_spec`, and so is
    ``SomeAgent(env=..., ...)`` without Spaces.

    Acting is safe in several threads, beside others that observe, update, save and load.

    Args:
        state_space: one state, without ranks: a Space, one of gymnasium's, or a spec (`rlgraph.spaces.from_spec`).
        action_space: one action, likewise.
        preprocessing_spec: what states go through first: a list of layer specs, or by path of a container state (see
            `rlgraph.components.preprocessing`).
        backend: name of a backend; default: `rlgraph.core.default_backend`.
        execution_spec: see `rlgraph.core.ExecutionSpec`.
        seed: root of all random numbers; overrides the execution spec's.
        acting: ``"numpy"``, ``"backend"``, or ``"auto"``: see ``act_on`` of `rlgraph.core.ExecutionSpec`.
        env: the environment spec, environment or vector environment that `learn` and `evaluate` use.
        action_mask: the part of states that are a Dict which says which actions are legal; None: no part does.
        normalize_states: subtract the mean of the states observed so far and divide by their deviation; a list of parts
            of a container state normalizes these. The learner has the statistics, and changes them after updates, each
            time that the states have doubled.
        scale_rewards: divide rewards by the deviation of the returns observed so far.
        previous_action_and_reward: the network sees those of the step before as well, zeros where an episode begins:
            after the states where these are a vector, else as a part of a Dict. Categories are one-hot.

    Attributes:
        algorithm_class: the class of the algorithm.
        actor: what acts in training.
        learner: what learns.
        preset: the preset that the agent was made from, if any.
    """

    registry_group: ClassVar[str] = "rlgraph.agents"
    other_names: ClassVar[OtherNames] = IN_AN_AGENT
    algorithm_class: ClassVar[type[Algorithm]]
    #: The API method that `export_graph` writes by default.
    greedy_method: ClassVar[str] = "get_greedy_actions"
    preset: Preset | None = None
    #: Arguments of the constructor, by name.
    _arguments: Mapping[str, Any]

    def __init__(
        self,
        state_space: Space,
        action_space: Space,
        *,
        preprocessing_spec: ComponentSpec = None,
        backend: str | None = None,
        execution_spec: Mapping[str, Any] | None = None,
        seed: int | None = None,
        acting: str = "auto",
        env: Any = None,
        action_mask: str | None = "action_mask",
        normalize_states: bool | Sequence[str] = False,
        scale_rewards: bool = False,
        previous_action_and_reward: bool = False,
        **options: Any,
    ):
        state_space, action_space = from_spec(state_space), from_spec(action_space)
        spec, experience, execution = make_parts(
            self.algorithm_class,
            state_space,
            action_space,
            preprocessing_spec=preprocessing_spec,
            execution_spec=execution_spec,
            seed=seed,
            acting=acting,
            action_mask=action_mask,
            normalize_states=normalize_states,
            scale_rewards=scale_rewards,
            previous_action_and_reward=previous_action_and_reward,
            env=env,
            **options,
        )
        #: The group of learners that this agent is one of; None: it is alone.
        self.group = group_of(execution, self)
        self.learner = learner = Learner(spec, experience, backend, execution, acting, self.group)
        if options.get("network_spec") is None and self.network:
            _log.info("default network: %s", self.network)
        self.state_space, self.action_space, self.env_spec = state_space, action_space, env
        self.executor = learner.executor
        self.seed = self.executor.execution.seed
        #: Who acts, ``"numpy"`` or ``"backend"``.
        self.acting = self.executor.acting
        #: Held while updating, and while observing; acquire both in this order.
        self._updating, self._observing = threading.RLock(), threading.RLock()
        self.actor = Actor(self.executor, learner.graph, state_space, learns=True)
        self.actor.time_percentage = learner.progress
        self._actors = 0
        masked = (learner.graph.masked, learner.graph.seen_masked)
        reader = StepReader(state_space, learner.state_space, action_space, execution.dtype, *masked)
        self._user = UserActor(self.new_actor(learns=True), reader)
        self._observer = Observer(learner, self._user, reader)
        actor = self._user.actor
        preprocess = actor.see if actor.preprocesses and not actor.remembers else None
        self._batches = BatchReader(reader, learner.experience, execution.dtype, preprocess)
        self._sampler: Sampler | None = None
        #: The environment spec that a worker trains in at the moment.
        self.trains_in: Any = None
        #: State of the sampler that was loaded, for the next one.
        self._resumed: Any = None

    def __init_subclass__(cls, **options: Any):
        super().__init_subclass__(**options)
        if "algorithm_class" in vars(cls):
            take_options(cls, Agent)

    @property
    def network(self) -> str:
        """The layers of the policy's network in one line; empty if there is no network."""
        network = getattr(getattr(self.learner.graph.algorithm, "policy", None), "network", None)
        return network_in_words(network) if isinstance(network, NeuralNetwork) else ""

    def __repr__(self) -> str:
        return describe(self)

    @classmethod
    def from_spec(cls, spec: Any, *other: Any, path: str = "agent", env: Any = None, **kwargs: Any) -> Self:
        """An agent from a spec.

        Args:
            spec: a mapping with ``type`` and constructor arguments; the path of a JSON, YAML or TOML file with one; or
                a registered name, which stands for its preset for `env` if there is one (`rlgraph.algorithms.presets`).
            path: where the spec stands; named in errors.
            env: an environment spec, environment or vector environment; gives the Spaces, and `learn` and `evaluate`
                use it.
            kwargs: constructor arguments that override the spec's, e.g. ``state_space=``, ``backend=``, ``seed=``.

        Raises:
            SpecError: unknown agent or key (nearest name offered), or neither Spaces nor an environment.
        """
        refuse_positional(cls, spec, other)
        agent: Self = make_agent(cls, spec, path, env, kwargs)
        return agent

    @classmethod
    def check_spec(cls, spec: Any, *, path: str = "agent", env: Any = None, **kwargs: Any) -> ActorSpec:
        """Check a spec as `from_spec` does, without building an executor.

        Returns:
            What actors of the agent are built from.

        Raises:
            SpecError: see `from_spec`.
        """
        checked: ActorSpec = make_agent(cls, spec, path, env, kwargs, only_check=True)
        return checked

    # Progress.

    @property
    def timesteps(self) -> int:
        """Environment steps observed."""
        return self.learner.steps

    @property
    def updates(self) -> int:
        """Updates done."""
        return self.learner.version

    def set_progress(self, fraction: float) -> None:
        """Tell the schedules how much of training is done (0 to 1)."""
        self.learner.progress[()] = as_fraction("set_progress", fraction)

    def metrics(self) -> dict[str, float]:
        """Numbers of the algorithm's parts, such as ``{"epsilon": probability of a random action}``."""
        found: dict[str, float] = {} if self.group is None else self.group.metrics()
        for part in self.learner.graph.algorithm.sub_components.values():
            if isinstance(part, Exploration):
                found |= part.metrics(float(self.learner.progress))
        return found

    # Acting.

    def new_actor(self, slots: int = 1, learns: bool = False, seed: int | None = None) -> Actor:
        """An actor on this agent's weights with a table and random numbers of its own, for another thread or loop.

        Args:
            slots: number of environments.
            learns: whether layers of the preprocessor learn from the states that it sees.
            seed: of its random numbers; None: every actor has others.
        """
        learner, slots = self.learner, check_whole(slots, "new_actor.slots", least=1)
        self._actors += 1
        streams = RandomStreams([self.seed, self._actors] if seed is None else seed)
        actor = Actor(self.executor, learner.graph, self.state_space, slots, streams, learns)
        actor.time_percentage = learner.progress
        return actor

    def get_actions(
        self,
        states: Any,
        use_exploration: bool = True,
        apply_preprocessing: bool = True,
        extra_returns: str | Sequence[str] | None = None,
    ) -> Any:
        """Actions for states.

        Args:
            states: a batch ``[B, ...]`` as the state Space says, or one state (then one action is returned). Row i
                belongs to environment i (``"env_i"``), whose past networks and preprocessors may remember; see `reset`.
            use_exploration: explore; else act greedily.
            apply_preprocessing: False: the states are preprocessed already.
            extra_returns: names of what else to return: ``"preprocessed_states"``, ``"internal_states"`` before the
                step, ``"remembered"`` for `observe`, or what the algorithm's ``act`` returns.

        Returns:
            The actions; ``(actions, extra)`` if `extra_returns` is one name, ``(actions, {name: extra})`` if it is a
            list of names.

        Raises:
            InputError: the states do not fit their Space or are not finite, a flag is no bool, or no such extra exists.
        """
        return self._user.get_actions(states, use_exploration, apply_preprocessing, extra_returns)

    get_action = answers_old_calls(get_actions)

    def preprocess_states(self, states: Any, env_id: Any = None) -> Any:
        """What the algorithm sees of states; they are returned as they are where there is no preprocessor.

        Where the preprocessor keeps state, each state of an environment must come here, or to `get_actions`, once.

        Args:
            states: a batch ``[B, ...]``, or one state.
            env_id: of which environments. None: row i is of environment i; a list: of ``env_id[i]``; else the rows are
                consecutive states of this one environment.

        Raises:
            InputError: the states do not fit the state Space, or are not finite.
        """
        return self._user.preprocess_states(states, env_id)

    def reset(self, env_id: Any = None) -> None:
        """Tell the agent that new episodes begin in environments of `get_actions`: what acting remembers is forgotten.

        What waits in the buffers of `observe` stays: the last steps may not have been observed yet. An episode that is
        given up without a terminal or truncated step is ended by `flush_buffers` or `reset_env_buffers`.

        Args:
            env_id: the environment, or a list of them; None: all.
        """
        self._user.reset(env_id)

    # Observing.

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
        remembered: Any = None,
    ) -> None:
        """Take in experience: one step of one environment, or a batch of steps (``batched=True``).

        Args:
            states, actions: what was seen and done.
            rewards: what came of it.
            terminals: where the episode ended in a terminal state; a truncation is none. None: nowhere.
            next_states: the states that followed (the true last ones, not those after a reset), of the kind of the
                states given. None: each step waits for the next state observed of its environment; a terminal one
                needs none.
            truncations: where the episode was cut for a reason outside the task; this needs `next_states`, which are
                bootstrapped. Where both are true, `terminals` decides.
            internals: the states of recurrent networks before the step, as ``get_actions(...,
                extra_returns="internal_states")`` gives them; None, or an empty list, where there are none.
            env_id: the environment, a name or a number (``3`` is ``"env_3"``). Without `batched`: None is ``env_0``.
                With it: None: row i is a step of environment i; a list: of ``env_id[i]``; else the rows are
                consecutive steps of this one environment.
            batched: everything has a batch rank.
            remembered: what ``get_actions(..., extra_returns="remembered")`` gave, of agents that learn from it.
            preprocessed_states: in place of `states`, what `get_actions` or `preprocess_states` made of them. For a
                single step, `next_states` may be raw all the same: they are taken to be so if they fit the Space of
                raw states and not that of preprocessed ones.

        Raises:
            InputError: something does not fit, or is missing; nothing was taken in.
        """
        with self._observing:
            if self._sampler is not None or self._resumed is not None:
                self._sampler = self._resumed = None
                self.flush_buffers()  # the episodes of the sampler end here
            given = (states, preprocessed_states, actions, rewards, terminals, next_states, truncations)
            self._observer.observe(*given, internals, remembered, env_id, batched)

    def make_sampler(self, environments: VectorEnv) -> Sampler:
        """What steps a vector environment with this agent, for workers."""
        if self._resumed is None:
            self.flush_buffers()  # the episodes of the sampler before it end here
        self._sampler, self._resumed = Sampler(self.actor, environments, self.cut, self._resumed), None
        return self._sampler

    def cut(self, slots: Any) -> None:
        """The episodes of `slots` (None: all) of training were cut after their last step."""
        with self._observing:
            self.learner.cut(slots)

    def observe_step(self, step: VectorStep) -> None:
        """Take in a step of all environments, as a sampler gives it."""
        with self._observing:
            self.learner.add(step)

    def reset_env_buffers(self, env_id: Any = None) -> None:
        """Throw away what waits of an environment (or a list of them; None: all), e.g. because it crashed."""
        with self._observing:
            self._observer.drop(env_id)

    def flush_buffers(self, env_id: Any = None) -> None:
        """Cut the running episodes of an environment (or a list; None: all) as a truncation does.

        What is complete but for rewards to come becomes records; a step whose next state is not known is thrown away.
        """
        with self._observing:
            self._observer.flush(env_id)

    def import_observations(self, observations: Any) -> int:
        """Take in steps that were made elsewhere, whole episodes say; returns their number.

        They count neither as steps nor towards the next update.

        Args:
            observations: the file or folder of a data set (`rlgraph.experience.data_sets`); a list of steps, each a dict of
                the arguments of `observe`, or one dict of these with batch rank; ``sequence_indices`` marks the last
                rows of fragments (see `update`).

        Raises:
            InputError: as `observe`; of a data set it names file, episode and step.
        """
        return import_steps(self, observations)

    # Learning.

    def update(self, batch: Mapping[str, Any] | None = None, sequence_indices: Any = None) -> dict[str, Any]:
        """One update, whether one is due or not; returns named results, among them ``loss``.

        Args:
            batch: None: learn from the experience. Agents with a memory: transitions ``states, actions, rewards,
                terminals, next_states`` [B, ...], of preprocessed states (raw ones are preprocessed where they cannot
                be mistaken and the preprocessor keeps no state); also ``importance_weights`` [B] with a prioritized
                memory, and ``discounts`` [B], what the value of the next state is multiplied by, with several rewards
                in a transition (default: ``discount ** n_step``). Others: a rollout, these fields and
                ``truncations``, [T, N, ...], or [T, ...] of one environment.
            sequence_indices: the rows are fragments, of up to ``n_step`` steps in a transition: the last row of each,
                as [B] bool or as integer indices; it may also stand in `batch`. Without ``next_states`` these are the
                next rows, and the last row of a fragment that does not end in a terminal state is left out: nobody
                knows where it led.

        Returns:
            The algorithm's metrics, and ``"loss_per_item"`` for a batch of an algorithm that has it, of the rows that
            were not left out.

        Raises:
            InputError: the batch lacks a field, is empty, or its fields differ in length; or there is not enough
                experience.
            NumericalError: the loss is not finite. The variables have been written by then.
        """
        with self._updating:
            if batch is not None:
                return self.learner.update_on(self._batches.records("update", batch, sequence_indices))
            if sequence_indices is not None:
                raise InputError("update: sequence_indices without a batch")
            return self.learner.update_now()

    def post_process(self, batch: Mapping[str, Any], sequence_indices: Any = None) -> dict[str, Any]:
        """What `update` makes of an external batch before it learns from it, e.g. for another memory.

        Args:
            batch, sequence_indices: see `update`; a batch without both, this and ``next_states``, is one fragment.

        Raises:
            InputError: as `update`.
        """
        if isinstance(batch, Mapping) and "next_states" not in batch and "sequence_indices" not in batch:
            sequence_indices = [] if sequence_indices is None else sequence_indices
        return self._batches.records("post_process", batch, sequence_indices)

    def update_if_due(self) -> dict[str, Any] | None:
        """Do the updates that the observed steps have made due; the last one's results, None if none was."""
        with self._updating:
            return self.learner.update_if_due()

    @answers_to(IN_LEARN, _worker_options)
    def learn(
        self,
        timesteps: int | None = None,
        *,
        updates: int | None = None,
        data: str | Path | None = None,
        env: Any = None,
        num_envs: int | None = None,
        callbacks: Callback | Callable[..., Any] | list[Any] | None = None,
        stop: Callback | list[Callback] | None = None,
        progress_bar: bool = False,
        folder: str | Path | None = None,
        wandb: Mapping[str, Any] | None = None,
        **worker_options: Any,
    ) -> TrainingResult:
        """Train in an environment, or offline; a thin front of `rlgraph.workers`.

        Args:
            timesteps: environment steps, over all environments, of which N step together: up to N - 1 more are done.
            updates: in place of `timesteps`: updates from the memory, without an environment.
            data: with `updates`, a data set that is put into the memory first: see `import_observations`.
            env: environment spec, environment or vector environment; default: the one given to `from_spec`.
            num_envs: number of environments; default: that of the vector environment or the agent's preset, else 1.
            callbacks: objects whose methods are called at events (`rlgraph.workers.Callback`). A function of ``(worker,
                metrics)`` is called at every report, and stops training by returning False.
            stop: conditions that end it earlier; see `rlgraph.workers.stopping`.
            progress_bar: show a live line (`rlgraph.workers.LiveProgress`).
            folder: a run folder to write, as ``rlgraph train`` does: metrics, episodes, evaluations, checkpoints. An
                earlier run there is moved aside. Options of the worker then have the defaults of a run.
            wandb: with `folder`, log to Weights & Biases as well: ``{"project": ...}`` (`rlgraph.runs.WandbSpec`).
            worker_options: further arguments of the worker; default: those of the agent's preset, in its environment.

        Raises:
            SpecError: an option is wrong; or with `folder`, the agent or the environment has no JSON form.
        """
        from rlgraph.workers import LiveProgress, SingleThreadedWorker, learn_offline
        from rlgraph.workers.listeners import as_list

        shown = as_flag("learn", "progress_bar", progress_bar)
        if timesteps is None or updates is not None or data is not None:
            run = {"num_envs": num_envs, "callbacks": callbacks, "stop": stop, "progress_bar": shown or None}
            other = {"timesteps": timesteps, "env": env, **run, "folder": folder, "wandb": wandb}
            return learn_offline(self, updates, data, {**other, **worker_options})
        if num_envs is not None:
            worker_options["num_envs"] = num_envs
        if env is None and self.preset is not None:
            worker_options = {**self.preset.worker_options, **worker_options}
        if wandb is not None and folder is None:
            raise SpecError("expected folder= beside it, the folder of the run", path="learn.wandb")
        told, environment = [*as_list(callbacks), *as_list(stop, "stop")], self._environment(env)
        with LiveProgress() if shown else nullcontext() as progress:
            listening = [*as_list(progress), *told]
            if folder is not None:
                from rlgraph.runs.training import record

                options = {**worker_options, "wandb": wandb}
                return record(self, environment, timesteps, folder, options, listening).training
            worker = SingleThreadedWorker(self, environment, **worker_options)
            try:
                return worker.execute_timesteps(timesteps, callbacks=listening)
            finally:
                worker.terminate()

    @answers_to(IN_EVALUATE)
    def evaluate(
        self,
        episodes: int = 10,
        *,
        env: Any = None,
        num_envs: int | None = None,
        seed: int | None = None,
        stochastic: bool = False,
        video: str | Path | None = None,
    ) -> Evaluation:
        """Play whole episodes, greedily by default; nothing is observed or learned.

        Args:
            episodes: how many.
            env: environment spec, of which fresh environments are made, or an environment or vector environment, which
                is reset; default: the one given to `from_spec`.
            num_envs: environments that are stepped together; default: 10. Each plays its share of the episodes.
            seed: root seed of the environments and of drawn actions; default: derived from the agent's.
            stochastic: draw actions as in training: from the policy, or with the present exploration.
            video: a ``.gif`` or ``.mp4`` (extra ``video``) to record the first episode in.
        """
        from rlgraph.workers import evaluate

        seed = self.seed + 1_000_003 if seed is None else seed
        env = self._environment(env)
        return evaluate(self, env, episodes, seed, num_envs=num_envs, stochastic=stochastic, video=video)

    def _environment(self, env: Any) -> Any:
        spec = self.env_spec if env is None else env
        if spec is None:
            raise SpecError("the agent has no environment: give env= here or to Agent.from_spec")
        return spec

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

    get_policy_weights, set_policy_weights = get_weights, set_weights

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
            return store_agent(self, directory, memory, facts or {})

    @classmethod
    def _lookup(cls, name: Any, where: str) -> Callable[..., Any]:
        refuse_preset(name, f"{where}.type")
        return super()._lookup(name, where)

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
            scope: restore only the variables of this component, e.g. ``dqn/policy``, of any agent; the rest stays.

        Raises:
            CheckpointError: it is missing, damaged, or of another component graph; then nothing changes.
            InputError: there is no such component, or it has no variables.
        """
        with self._updating, self._observing:
            if scope is None:
                with nullcontext() if self.group is None else self.group.own_draws(self.executor):
                    load_agent(self, directory)
            else:
                self.executor.load(directory, scope=scope)

    def load_weights(self, path: str | Path, *, only: str | Sequence[str] | None = None) -> list[str]:
        """Take over weights of another agent, to train on from them with a fresh optimizer (fine-tuning).

        Targets become copies of what they follow, and statistics continue from those of the other agent. Counters,
        memory and optimizers do not change.

        Args:
            path: a run folder, of which the policy that the run ended with is taken; or a checkpoint.
            only: scoped names of weights or components, ``"ppo/policy/network"``, or patterns, ``"*/network/*"``: one,
                or a list of them. Default: all weights.

        Returns:
            The names of the weights that were taken over.

        Raises:
            CheckpointError: `path` is neither, or is damaged.
            InputError: weights are missing there or have another shape, or no weight matches; nothing is changed.
        """
        from rlgraph.runs.loading import policy_checkpoint

        source = policy_checkpoint(Path(path))
        with self._updating, self._observing:
            return load_weights(self, source, only)

    def progress_facts(self) -> dict[str, Any]:
        """The counters a checkpoint keeps; JSON-able."""
        return {
            "timesteps": self.timesteps,
            "updates": self.updates,
            "time_percentage": float(self.learner.progress),
            "learner": self.learner.counters(),
            "observer": self._user.facts(),
        }

    def experience_state(self) -> dict[str, Any]:
        """What a checkpoint keeps of what was observed, in nested arrays, besides variables and the memory."""
        return {
            "learner": self.learner.get_state(),
            "observer": {**self._observer.get_state(), "actor": self._user.get_state()},
            "sampler": self._resumed if self._sampler is None else self._sampler.get_state(),
        }

    export_model, import_model = store_model, load_model

    def export_graph(
        self, directory: str | Path, methods: Sequence[str] | None = None, *, format: str | None = None
    ) -> Path:
        """Write API methods for use without RLgraph; see `rlgraph.core.GraphExecutor.export_graph`.

        ``get_greedy_actions`` and ``get_sampled_actions`` act on raw states. Random numbers, and what acting remembers
        (frame stacks, states of recurrent networks), are inputs and outputs.

        Args:
            directory: where; an earlier export is replaced.
            methods: names of API methods; default: greedy acting.
            format: ``"onnx"``, which PyTorch writes; default: that of the backend.

        Raises:
            CapabilityError: the backend cannot export one of them; names the function.
            InputError: an unknown format.
        """
        return export_agent(self, directory, methods, format)

    def call_api_method(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """Run an API method of the root component."""
        return self.executor.execute(method, *args, **kwargs)

    def terminate(self) -> None:
        """Say that the agent is done with: what waits is dropped, and it refuses to act, observe and learn."""

        def refuse(*_: Any, **__: Any) -> Any:
            raise RLGraphError("the agent was terminated: make another one, and load what it has stored")

        if self.group is not None:
            self.group.close()
        with self._updating, self._observing:
            self.get_actions = self.observe = self.observe_step = refuse  # type: ignore[method-assign]
            self.update = self.update_if_due = refuse  # type: ignore[method-assign]
