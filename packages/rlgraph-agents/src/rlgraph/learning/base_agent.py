"""What workers train: an algorithm with an actor, experience and a learner in one process."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from textwrap import shorten
from typing import Any, ClassVar

from rlgraph.algorithms.default_network import network_in_words
from rlgraph.components import Exploration, NeuralNetwork
from rlgraph.components.common.argument_checks import check_whole
from rlgraph.core import InputError, RandomStreams
from rlgraph.core.errors import RLGraphError
from rlgraph.core.specs.spec_types import ComponentSpec
from rlgraph.environments.vector_env import VectorEnv
from rlgraph.experience.data_sets import DataSetReader
from rlgraph.experience.external_batches import BatchReader
from rlgraph.experience.step import VectorStep
from rlgraph.experience.step_reader import StepReader
from rlgraph.learning.acting_arguments import answers_old_calls, as_fraction
from rlgraph.learning.actor import Actor
from rlgraph.learning.agent_class import AgentOfAlgorithm
from rlgraph.learning.agent_options import split_options
from rlgraph.learning.agent_storage import AgentStorage, TrainingSampler
from rlgraph.learning.external_actor import ExternalActor
from rlgraph.learning.group import group_of
from rlgraph.learning.learner import Learner
from rlgraph.learning.observer import Observer
from rlgraph.learning.offline import import_data_set, import_steps
from rlgraph.learning.sampler import Sampler
from rlgraph.spaces import Space, from_spec

_log = logging.getLogger(__name__)


class BaseAgent(AgentStorage, AgentOfAlgorithm):
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
        actor: what acts in training.
        learner: what learns.
        is_terminated: whether `terminate` was called.
    """

    is_terminated = False
    #: The methods that raise after `terminate`.
    refused_when_terminated: ClassVar[tuple[str, ...]] = (
        *("get_action", "get_actions", "preprocess_states", "new_actor", "reset"),
        *("observe", "observe_step", "make_sampler", "import_observations", "set_progress"),
        *("update", "update_if_due", "update_offline", "post_process", "call_api_method"),
        *("set_weights", "set_policy_weights", "load_weights", "load_model", "import_model"),
    )

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
        spec, experience, execution = split_options(
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
        group = group_of(execution, type(self), self._arguments)
        self.learner = learner = Learner(spec, experience, backend, execution, acting, group)
        #: The learners that this agent's is one of.
        self.group = learner.group
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
        self.actor.progress = learner.progress
        self._actors = 0
        masked = (learner.graph.masked, learner.graph.policy_input.mask)
        reader = StepReader(state_space, learner.state_space, action_space, execution.dtype, *masked)
        self._user = ExternalActor(self.new_actor(learns=True), reader)
        self._observer = Observer(learner, self._user, reader)
        actor = self._user.actor
        preprocess = actor.preprocess if actor.preprocesses and not actor.is_stateful else None
        self._batches = BatchReader(reader, learner.experience, execution.dtype, preprocess)
        self._sampler: TrainingSampler | None = None
        #: The program of the last training, with its environment and the number of copies.
        self.kept_program: tuple[Any, Any] | None = None
        #: The environment spec that a worker trains in at the moment.
        self.training_env: Any = None
        #: State of the sampler that was loaded, for the next one.
        self._sampler_state: Any = None

    @property
    def network(self) -> str:
        """The layers of the policy's network in one line; empty if there is no network."""
        network = getattr(getattr(self.learner.graph.algorithm, "policy", None), "network", None)
        return network_in_words(network) if isinstance(network, NeuralNetwork) else ""

    def __repr__(self) -> str:
        preset = "" if self.preset is None else f", preset {self.preset.name}"
        lines = [
            f"{type(self).__name__} on {self.executor.backend.name}{preset}",
            f"states {_short(self.state_space)}",
            f"actions {_short(self.action_space)}",
            *([f"network {self.network}"] if self.network else []),
            f"trained for {self.timesteps:,} steps, {self.updates:,} updates",
        ]
        return "<" + "\n  ".join(lines) + ">"

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
        if type(fraction) is not float or not 0.0 <= fraction <= 1.0:  # at every step: quickly
            fraction = as_fraction("set_progress", fraction)
        self.learner.progress[()] = fraction

    def metrics(self) -> dict[str, float]:
        """Numbers of the algorithm's parts, such as ``{"epsilon": probability of a random action}``."""
        found = self.group.metrics()
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
        actor.progress = learner.progress
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
            if self._sampler is not None or self._sampler_state is not None:
                self._sampler = self._sampler_state = None
                self.flush_buffers()  # the episodes of the sampler end here
            given = (states, preprocessed_states, actions, rewards, terminals, next_states, truncations)
            self._observer.observe(*given, internals, remembered, env_id, batched)

    def make_sampler(self, environments: VectorEnv) -> Sampler:
        """What steps a vector environment with this agent, for workers."""
        if self._sampler_state is None:
            self.flush_buffers()  # the episodes of the sampler before it end here
        state, self._sampler_state = self._sampler_state, None
        if state is not None and "states" not in state:  # that of a program
            state = None
        self._sampler = sampler = Sampler(self.actor, environments, self.cut, state)
        return sampler

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """No other thread updates, observes, stores or loads inside; others may act."""
        with self._updating, self._observing:
            yield

    def continue_with(self, program: TrainingSampler) -> Any:
        """Let a program make the steps of training from now on; the state that one was in, where that was loaded."""
        state, self._sampler_state = self._sampler_state, None
        if state is None or "running" not in state:
            self.flush_buffers()  # the episodes of the sampler before it end here
            state = None
        self._sampler = program
        return state

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
            observations: the file or folder of a data set (`rlgraph.experience.data_sets`); a list of steps, each a
                dict of the arguments of `observe`, or one dict of these with batch rank; ``sequence_indices`` marks the
                last rows of fragments (see `update`).

        Raises:
            InputError: as `observe`; of a data set it names file, episode and step.
        """
        learner = self.learner
        if learner.graph.memory is None:
            raise InputError(
                f"import_observations: expected an agent with a memory; {type(self).__name__} learns from its own "
                "newest steps only: give update(batch) a rollout"
            )
        with self._updating, self._observing:
            if not isinstance(observations, str | Path):
                return import_steps(learner, self._batches, observations)
            dtype, masked = learner.spec.dtype, learner.graph.masked
            reader = DataSetReader(self.state_space, self.action_space, dtype, masked)
            return import_data_set(learner, reader, partial(self.new_actor, learns=True), observations)

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
                records = self._batches.records("update", batch, sequence_indices)
                numbers, items = self.learner.update_from_batch(records)
                items.pop("priorities", None)
                return {**numbers, **items}
            if sequence_indices is not None:
                raise InputError("update: sequence_indices without a batch")
            return self.learner.update()

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

    def update_offline(self) -> dict[str, float]:
        """One update from the memory, which no steps of the agent's own made due; its results."""
        with self._updating:
            return self.learner.update(offline=True)

    def update_if_due(self) -> dict[str, Any] | None:
        """Do the updates that the observed steps have made due; the last one's results, None if none was."""
        with self._updating:
            return self.learner.update_if_due()

    def call_api_method(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """Run an API method of the root component; in training in one program, between two of its calls."""
        if self.learner.program is None:
            return self.executor.execute(method, *args, **kwargs)
        with self.exclusive():  # the program has the memory between its calls, too
            self.learner.copy_memory_back(to_write=True)
            return self.executor.execute(method, *args, **kwargs)

    # The end.

    def terminate(self) -> None:
        """End the agent: it refuses to act, observe, learn and load, and leaves its group of learners.

        What it has learned can still be read, stored and exported (`get_weights`, `store_model`, `export_graph`).
        Actors that `new_actor` made before still act. A second call does nothing.
        """
        self.group.close()
        with self._updating, self._observing:
            self.is_terminated = True
            for method in self.refused_when_terminated:  # an agent in use pays for no check
                setattr(self, method, partial(self.check_not_terminated, method))

    def check_not_terminated(self, method: str, *_: Any, **__: Any) -> None:
        """Raise `RLGraphError` if the agent was terminated; `method` is what was called."""
        if self.is_terminated:
            raise RLGraphError(
                f"{type(self).__name__}.{method}: the agent was terminated, and can only be read, stored and exported. "
                "To go on, store_model it and make another one with Agent.load; or call terminate later"
            )


def _short(space: Space) -> str:
    return shorten(repr(space), 100, placeholder=" ...")  # bounds may have hundreds of numbers
