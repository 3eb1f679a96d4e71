"""Agents: an algorithm with an actor, experience and a learner in one process."""

from __future__ import annotations

import inspect
import threading
from abc import ABC
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np

from rlgraph.agents.actor import Actor
from rlgraph.agents.actor_spec import ActorSpec
from rlgraph.agents.agent import Agent
from rlgraph.agents.algorithm import Algorithm
from rlgraph.agents.experience.kind import ExperienceKind
from rlgraph.agents.experience.nothing import Nothing
from rlgraph.agents.experience.step import VectorStep
from rlgraph.agents.experience.waiting_steps import rounds
from rlgraph.agents.external_batches import BatchReader, columns_of
from rlgraph.agents.learner import Learner
from rlgraph.agents.nested_arrays import length, map_arrays, row
from rlgraph.agents.observer import Observer
from rlgraph.agents.sampler import Sampler
from rlgraph.agents.step_reader import StepReader, force_batch
from rlgraph.components import Exploration
from rlgraph.core import InputError, RandomStreams, SpecError
from rlgraph.core.component.decorators import ApiMethod
from rlgraph.core.errors import RLGraphError, nearest
from rlgraph.core.specs.parameters import descriptions_of, parameters_of, summary_of
from rlgraph.core.specs.spec_types import ComponentSpec
from rlgraph.environments.vector_env import VectorEnv
from rlgraph.spaces import BoxSpace, Space

#: Options of algorithms with targets that RLgraph 0.5 had in ``update_spec``.
SYNCHRONIZATION = ("sync_interval", "sync_tau")


class AlgorithmAgent(Agent, ABC):
    """An agent of any algorithm: a subclass names its class, and takes the options of the algorithm and its experience.

    Args:
        state_space: one state, without ranks.
        action_space: one action, without ranks.
        preprocessing_spec: what states go through first: a list of layer specs, or by path of a container state (see
            `rlgraph.components.preprocessing`).
        backend: name of a backend; default: `rlgraph.core.default_backend`.
        execution_spec: see `rlgraph.core.ExecutionSpec`.
        seed: root of all random numbers; overrides the execution spec's.
        acting: ``"numpy"``, ``"backend"``, or ``"auto"``: see ``act_on`` of `rlgraph.core.ExecutionSpec`.
        env: the environment spec that `learn` and `evaluate` use.

    Attributes:
        algorithm_class: the class of the algorithm.
        actor: what acts in training.
        learner: what learns.
    """

    algorithm_class: ClassVar[type[Algorithm]]
    greedy_method = "get_greedy_actions"

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
        **options: Any,
    ):
        kind = self.algorithm_class.experience
        own, experienced = _options_of(self.algorithm_class), _options_of(kind.kind)
        options = _from_update_spec(options, own)
        experience = kind.make({name: value for name, value in options.items() if name in experienced})
        execution = self._check_execution(execution_spec, seed, acting)
        spec = ActorSpec(
            self.algorithm_class,
            state_space.to_spec(),
            action_space.to_spec(),
            {name: value for name, value in options.items() if name in own},
            preprocessing_spec,
            execution.seed,
            execution.dtype,
        )
        self._end_check(spec, experience)
        self.learner = Learner(spec, experience, backend, execution, acting)
        self._begin(state_space, action_space, self.learner.executor, env)
        self._time_percentage = self.learner.progress
        self.actor = Actor(self.executor, self.learner.graph, state_space, learns=True)
        self.actor.time_percentage = self.learner.progress
        self._actors = 0
        #: What acts in `get_actions`: never the actor of training. Where it keeps state, one thread at a time.
        self._users_actor = self.new_actor(learns=True)
        self._acting = threading.RLock()
        learner = self.learner
        reader = StepReader(state_space, learner.state_space, action_space, execution.dtype)
        self._observer = Observer(learner, self._users_actor, reader)
        self._batches = BatchReader(reader, experience, execution.dtype)
        #: Rank of a batch of states that `get_actions` may act on at once; -1: none.
        self._plain_rank = -1
        if isinstance(state_space, BoxSpace) and not self._users_actor.has_table:
            self._plain_rank = len(state_space.shape) + 1
        self._sampler: Sampler | None = None
        #: State of the sampler that was loaded, for the next one.
        self._resumed: Any = None

    def __init_subclass__(cls, **options: Any):
        super().__init_subclass__(**options)
        if "algorithm_class" in vars(cls):
            _take_options(cls)

    # Acting.

    def new_actor(self, slots: int = 1, learns: bool = False) -> Actor:
        """An actor on this agent's weights with a table and random numbers of its own, for another thread or loop.

        Args:
            slots: number of environments.
            learns: whether layers of the preprocessor learn from the states that it sees.
        """
        learner = self.learner
        self._actors += 1
        streams = RandomStreams([self.seed, self._actors])
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
                belongs to environment i (``"env_i"``), of which networks and preprocessors may remember the past; see
                `reset`.
            use_exploration: explore; else act greedily.
            apply_preprocessing: False: the states are preprocessed already.
            extra_returns: names of what else to return: ``"preprocessed_states"``, ``"internal_states"`` before the
                step, or what the algorithm's ``act`` returns.

        Returns:
            The actions; ``(actions, extra)`` if `extra_returns` is one name, ``(actions, {name: extra})`` if it is a
            list of names.

        Raises:
            InputError: the states do not fit their Space, or there is no such extra.
        """
        if (
            extra_returns is None
            and apply_preprocessing
            and getattr(states, "ndim", None) == self._plain_rank
        ):
            actor = self._users_actor
            try:
                return actor.act(actor.see(states, learns=use_exploration), use_exploration)
            except InputError as error:  # of the API method that it calls
                raise InputError(f"get_actions:{str(error).partition(':')[2]}") from None
        return self._get_actions(states, use_exploration, apply_preprocessing, extra_returns)

    get_action = get_actions

    def _get_actions(
        self, states: Any, use_exploration: bool, apply_preprocessing: bool, extra_returns: Any
    ) -> Any:
        """`get_actions` for all that is no plain batch, keeps state, or wants more."""
        names = [extra_returns] if isinstance(extra_returns, str) else list(extra_returns or ())
        space = self.state_space if apply_preprocessing else self.learner.state_space
        batch, was_added = force_batch("get_actions", "states", states, space)
        actor = self._users_actor
        with self._acting:
            slots = self._slots(None, length(batch), was_added)
            seen = actor.see(batch, slots, learns=use_exploration) if apply_preprocessing else batch
            extras = {"preprocessed_states": seen, "internal_states": actor.internal_states_of(slots)}
            if set(names) <= extras.keys():
                actions = actor.act(seen, use_exploration, slots)
            else:
                actions, more = actor.act_with_extras(seen, use_exploration, slots)
                extras |= more
        for name in names:
            if name not in extras:
                raise InputError(
                    f"get_actions: extra_returns: there is no {name!r}. {nearest(str(name), list(extras))}"
                )
        extras = {name: extras[name] for name in names}
        if was_added:
            actions, extras = row(actions, 0), {name: row(extra, 0) for name, extra in extras.items()}
        if extra_returns is None:
            return actions
        return (actions, extras[extra_returns]) if isinstance(extra_returns, str) else (actions, extras)

    def _slots(self, env_id: Any, rows: int, single: bool) -> np.ndarray | None:
        """The slots of the user's actor; None where it keeps no state."""
        if not self._users_actor.has_table:
            return None
        slots = self._observer.slots_of(env_id, rows, single)
        self._users_actor.have_room(int(slots.max()) + 1)
        return slots

    def preprocess_states(self, states: Any, env_id: Any = None) -> Any:
        """What the algorithm sees of states; they are returned as they are where there is no preprocessor.

        Where the preprocessor keeps state, each state of an environment must come here, or to `get_actions`, once.

        Args:
            states: a batch ``[B, ...]``, or one state.
            env_id: of which environments. None: row i is of environment i; a list: of ``env_id[i]``; else the rows are
                consecutive states of this one environment.

        Raises:
            InputError: the states do not fit the state Space.
        """
        batch, was_added = force_batch("preprocess_states", "states", states, self.state_space)
        actor = self._users_actor
        with self._acting:
            slots = self._slots(env_id, length(batch), was_added)
            if slots is None:
                seen = actor.see(batch)
            else:
                parts = [actor.see(row(batch, chosen), slots[chosen]) for chosen in rounds(slots)]
                seen = parts[0] if len(parts) == 1 else map_arrays(lambda *x: np.concatenate(x), *parts)
        return row(seen, 0) if was_added else seen

    def reset(self, env_id: Any = None) -> None:
        """Tell the agent that new episodes begin in environments of `get_actions`: what acting remembers is forgotten.

        What waits in the buffers of `observe` stays: the last steps may not have been observed yet. An episode that is
        given up without a terminal or truncated step is ended by `flush_buffers` or `reset_env_buffers`.

        Args:
            env_id: the environment, or a list of them; None: all.
        """
        with self._acting:
            self._users_actor.begin(self._observer.known_slots(env_id))

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
    ) -> None:
        """See `Agent.observe`.

        A truncated step is an ordinary one: its next state is bootstrapped. `internals` are the states of recurrent
        networks before the step, as ``get_actions(..., extra_returns="internal_states")`` gives them.
        """
        with self._observing:
            if self._sampler is not None:
                self._sampler = None
                self.flush_buffers()  # the episodes of the sampler end here
            if batched and env_id is None and internals is None and terminals is not None:
                seen = states if preprocessed_states is None else preprocessed_states
                is_seen = states is None or not self._users_actor.preprocesses
                if is_seen and self._observer.observe_plain(
                    seen, actions, rewards, terminals, truncations, next_states
                ):
                    self.timesteps = self.learner.steps
                    return
            given = {
                "states": states,
                "preprocessed_states": preprocessed_states,
                "actions": actions,
                "rewards": rewards,
                "terminals": terminals,
                "next_states": next_states,
                "truncations": truncations,
            }
            self._observer.observe(given, internals, env_id, batched)
            self.timesteps = self.learner.steps

    def make_sampler(self, environments: VectorEnv) -> Sampler:
        if self._resumed is None:
            self.flush_buffers()  # the episodes of the sampler before it end here
        self._sampler, self._resumed = Sampler(self.actor, environments, self.cut, self._resumed), None
        return self._sampler

    @contextmanager
    def playing(self, environments: VectorEnv) -> Iterator[Sampler]:
        yield Sampler(self.new_actor(), environments, lambda slots: None)

    def cut(self, slots: Any) -> None:
        """The episodes of `slots` (None: all) of training were cut after their last step."""
        with self._observing:
            self.learner.cut(slots)

    def observe_step(self, step: VectorStep) -> None:
        """Take in a step of all environments, as a sampler gives it."""
        with self._observing:
            self.learner.add(step)
            self.timesteps = self.learner.steps

    def reset_env_buffers(self, env_id: Any = None) -> None:
        with self._observing:
            self._observer.drop(env_id)

    def flush_buffers(self, env_id: Any = None) -> None:
        with self._observing:
            self._observer.flush(env_id)

    def import_observations(self, observations: Any) -> int:
        if self.learner.graph.memory is None:
            raise InputError(
                f"import_observations: expected an agent with a memory; {type(self).__name__} learns from its own "
                "newest steps only: give update(batch) a rollout"
            )
        if not isinstance(observations, Mapping):
            observations = columns_of(list(observations))
        indices = observations.get("sequence_indices", [])
        fields = {name: value for name, value in observations.items() if name != "sequence_indices"}
        records = self._records("import_observations", fields, indices)
        with self._observing:
            self.executor.program("insert_records")(records)
        return length(records["rewards"])

    # Learning.

    def update(self, batch: Mapping[str, Any] | None = None, sequence_indices: Any = None) -> dict[str, Any]:
        """One update, whether one is due or not; see `Agent.update`.

        Args:
            batch: None: learn from the experience. Agents with a memory: transitions ``states, actions, rewards,
                terminals, next_states`` [B, ...], of preprocessed states (raw ones are preprocessed where they cannot
                be mistaken and the preprocessor keeps no state); also ``importance_weights`` [B] with a prioritized
                memory, and ``discounts`` [B], what the value of the next state is multiplied by, with several rewards
                in a transition (default: ``discount ** n_step``). Others: a rollout, these fields and
                ``truncations``, [T, N, ...], or [T, ...] of one environment.
            sequence_indices: the rows are fragments; they become transitions of up to ``n_step`` steps. Without
                ``next_states`` these are the next rows, and the last row of a fragment that does not end in a terminal
                state is left out: nobody knows where it led.

        Returns:
            The algorithm's metrics, and ``"loss_per_item"`` for a batch of an algorithm that has it, of the rows that
            were not left out.

        Raises:
            InputError: see `Agent.update`; or there is not enough experience.
        """
        with self._updating:
            if batch is not None:
                results = self.learner.update_on(self._records("update", batch, sequence_indices))
            elif sequence_indices is not None:
                raise InputError("update: sequence_indices without a batch")
            else:
                results = self.learner.update_now()
            self.updates = self.learner.version
        return results

    def post_process(self, batch: Mapping[str, Any], sequence_indices: Any = None) -> dict[str, Any]:
        """What `update` makes of an external batch before it learns from it, e.g. for another memory.

        Args:
            batch, sequence_indices: see `update`; a batch without both, this and ``next_states``, is one fragment.

        Raises:
            InputError: as `update`.
        """
        if isinstance(batch, Mapping) and "next_states" not in batch and "sequence_indices" not in batch:
            sequence_indices = [] if sequence_indices is None else sequence_indices
        return self._records("post_process", batch, sequence_indices)

    def _records(self, method: str, batch: Any, sequence_indices: Any) -> dict[str, Any]:
        actor = self._users_actor
        preprocess = actor.see if actor.preprocesses and not actor.remembers else None
        return self._batches.records(method, batch, sequence_indices, preprocess)

    def check_can_learn(self) -> None:
        self.learner.check_can_learn()

    def update_if_due(self) -> dict[str, Any] | None:
        with self._updating:
            results = self.learner.update_if_due()
            self.updates = self.learner.version
        return results

    def metrics(self) -> dict[str, float]:
        """Numbers of the algorithm's parts, such as ``{"epsilon": probability of a random action}``."""
        found: dict[str, float] = {}
        for part in self.learner.graph.algorithm.sub_components.values():
            if isinstance(part, Exploration):
                found |= part.metrics(float(self._time_percentage))
        return found

    def progress_facts(self) -> dict[str, Any]:
        return {
            **super().progress_facts(),
            "learner": self.learner.counters(),
            "observer": self._observer.facts(),
        }

    def restore_progress(self, facts: Mapping[str, Any]) -> None:
        super().restore_progress(facts)
        self.learner.set_counters(facts["learner"])
        self._observer.set_facts(facts["observer"])

    def experience_state(self) -> Any:
        sampler = None if self._sampler is None else self._sampler.get_state()
        return {
            "learner": self.learner.get_state(),
            "observer": self._observer.get_state(),
            "sampler": sampler,
        }

    def restore_experience(self, state: Any) -> None:
        self.learner.set_state(state.get("learner", {}))
        self._observer.set_state(state.get("observer", {}))
        self._resumed = state.get("sampler")

    def terminate(self) -> None:
        def refuse(*_: Any, **__: Any) -> Any:
            raise RLGraphError("the agent was terminated: make another one, and load what it has stored")

        with self._updating, self._observing:
            self.get_actions = self.observe = self.observe_step = refuse  # type: ignore[method-assign]
            self.update = self.update_if_due = refuse  # type: ignore[method-assign]


def _from_update_spec(options: dict[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """`options` with those of the algorithm that stand in ``update_spec``, where RLgraph 0.5 had them, in their place.

    Raises:
        SpecError: one is given twice.
    """
    updates = options.get("update_spec")
    if not isinstance(updates, Mapping):
        return options
    moved = {name: updates[name] for name in SYNCHRONIZATION if name in updates and name in own}
    for name in moved.keys() & options.keys():
        raise SpecError(f"given twice, here and as update_spec.{name}", path=name)
    left = {name: value for name, value in updates.items() if name not in moved}
    return {**options, **moved, "update_spec": left}


def _options_of(kind: type) -> dict[str, inspect.Parameter]:
    """The options of an algorithm or a kind of experience, by name."""
    return {
        name: parameter
        for name, parameter in parameters_of(kind).named.items()
        if name not in ("state_space", "action_space")
    }


def _take_options(cls: type[AlgorithmAgent]) -> None:
    """Give a class the signature and the documentation of its algorithm, its experience, and all agents.

    Raises:
        SpecError: the algorithm names no experience, lacks an API method, or has an option that
            its experience (and does not share it) or every agent has.
    """
    algorithm, kind = cls.algorithm_class, getattr(cls.algorithm_class, "experience", None)
    name = algorithm.__name__
    if not isinstance(kind, ExperienceKind):
        raise SpecError(
            f"{name}.experience: expected a kind of experience, such as Rollouts.of(), given {kind!r}"
        )
    for method in (*(("update",) if kind.kind is not Nothing else ()), *algorithm.schedule):
        if not isinstance(getattr(algorithm, method, None), ApiMethod):
            raise SpecError(f"{name} has no API method {method!r}: write it, with @rlgraph_api")
    own, experienced = _options_of(algorithm), _options_of(kind.kind)
    for option, default in kind.defaults.items():
        experienced[option] = experienced[option].replace(default=dict(default))
    general = parameters_of(AlgorithmAgent).named
    for option in own:
        if option in general:
            raise SpecError(
                f"{name}: every agent has an option {option!r}: give the algorithm's another name"
            )
        if option in experienced and option not in kind.shared:
            raise SpecError(
                f"{name} and {kind.kind.__name__} both have an option {option!r}: share it, "
                f"experience = {kind.kind.__name__}.of({option!r}), or rename it"
            )

    def __init__(self: Any, state_space: Space, action_space: Space, **options: Any) -> None:
        AlgorithmAgent.__init__(self, state_space, action_space, **options)

    spaces = [general[name] for name in ("state_space", "action_space")]
    options = {**experienced, **own, **{n: p for n, p in general.items() if p not in spaces}}
    self_parameter = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    named = [parameter.replace(kind=parameter.KEYWORD_ONLY) for parameter in options.values()]
    __init__.__signature__ = inspect.Signature([self_parameter, *spaces, *named])  # type: ignore[attr-defined]
    cls.__init__ = __init__  # type: ignore[method-assign]
    described = {**descriptions_of(kind.kind), **descriptions_of(algorithm)}
    for name, default in kind.defaults.items():
        described[name] = f"{described[name].rstrip('.')}; default of {algorithm.__name__}: {dict(default)}."
    entries = [f"    {name}: {described[name]}" for name in options if name in described]
    summary = (inspect.getdoc(cls) if "__doc__" in vars(cls) and cls.__doc__ else None) or summary_of(
        algorithm
    )
    cls.__doc__ = "\n".join([summary, "", "Args:", *entries])
