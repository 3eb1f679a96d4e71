"""Agents: an algorithm with an actor, experience and a learner in one process."""

from __future__ import annotations

import inspect
from abc import ABC
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np

from rlgraph.agents.actor import Actor
from rlgraph.agents.actor_spec import ActorSpec
from rlgraph.agents.agent import Agent
from rlgraph.agents.algorithm import Algorithm
from rlgraph.agents.batch_checks import force_batch
from rlgraph.agents.experience.kind import ExperienceKind
from rlgraph.agents.experience.step import VectorStep
from rlgraph.agents.learner import Learner
from rlgraph.agents.nested_arrays import length, row
from rlgraph.agents.sampler import Sampler
from rlgraph.agents.step_reading import StepReader
from rlgraph.core import InputError, RandomStreams, SpecError
from rlgraph.core.component.decorators import ApiMethod
from rlgraph.core.errors import RLGraphError, nearest
from rlgraph.core.specs.parameters import descriptions_of, parameters_of, summary_of
from rlgraph.core.specs.spec_types import ComponentSpec
from rlgraph.environments.vector_env import VectorEnv
from rlgraph.spaces import Space


class AlgorithmAgent(Agent, ABC):
    """An agent of any algorithm: a subclass names its class, and takes the options of the algorithm and its experience.

    Args:
        state_space: one state, without ranks.
        action_space: one action, without ranks.
        preprocessing_spec: what states go through first: a list of layer specs (`rlgraph.components.preprocessing`).
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
    greedy_method = "act_greedily"

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
        experience = kind.kind(**{name: value for name, value in options.items() if name in experienced})
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
        self.learner = Learner(spec, experience, backend, execution, acting)
        self._begin(state_space, action_space, self.learner.executor, env)
        self._time_percentage = self.learner.progress
        self.actor = Actor(self.executor, self.learner.graph, state_space)
        self.actor.time_percentage = self.learner.progress
        self._actors = 0
        #: What acts in `get_actions`: never the actor of training.
        self._users_actor = self.new_actor()
        learner = self.learner
        self._reader = StepReader(state_space, learner.state_space, action_space, execution.dtype)
        #: Where the next rows of `observe` begin episodes.
        self._begins = np.ones(0, bool)
        self._sampler: Sampler | None = None
        #: State of the sampler that was loaded, for the next one.
        self._resumed: Any = None

    def __init_subclass__(cls, **options: Any):
        super().__init_subclass__(**options)
        if "algorithm_class" in vars(cls):
            _take_options(cls)

    # Acting.

    def new_actor(self, slots: int = 1) -> Actor:
        """An actor on this agent's weights with a table and random numbers of its own, for another thread or loop."""
        learner = self.learner
        self._actors += 1
        streams = RandomStreams([self.seed, self._actors])
        actor = Actor(self.executor, learner.graph, self.state_space, slots, streams)
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
                belongs to environment i, of which networks and preprocessors may remember the past; see `reset`.
            use_exploration: explore; else act greedily.
            apply_preprocessing: False: the states are preprocessed already.
            extra_returns: ``"preprocessed_states"`` or ``"internal_states"``, or a list of names of what else to
                return.

        Returns:
            The actions; ``(actions, extra)`` if `extra_returns` is one name, ``(actions, {name: extra})`` if it is a
            list of names.

        Raises:
            InputError: the states do not fit their Space, or there is no such extra.
        """
        names = [extra_returns] if isinstance(extra_returns, str) else list(extra_returns or ())
        for name in names:
            if name not in ("preprocessed_states", "internal_states"):
                known = ["preprocessed_states", "internal_states"]
                raise InputError(
                    f"get_actions: extra_returns: there is no {name!r}. {nearest(str(name), known)}"
                )
        space = self.state_space if apply_preprocessing else self.learner.state_space
        batch, was_added = force_batch("get_actions", "states", states, space)
        actor, number = self._users_actor, length(batch)
        if actor.slots != number:
            actor.resize(number)
        seen = actor.see(batch) if apply_preprocessing else batch
        actions = actor.act(seen, use_exploration)
        extras = {"preprocessed_states": seen, "internal_states": actor.internal_states}
        extras = {name: extras[name] for name in names}
        if was_added:
            actions, extras = row(actions, 0), {name: row(extra, 0) for name, extra in extras.items()}
        if extra_returns is None:
            return actions
        return (actions, extras[extra_returns]) if isinstance(extra_returns, str) else (actions, extras)

    get_action = get_actions

    def reset(self, env_id: Any = None) -> None:
        """Tell the agent that new episodes begin in the environments of `get_actions`.

        Args:
            env_id: the number of an environment, or a list of them; None: all.
        """
        self._users_actor.begin(None if env_id is None else np.atleast_1d(env_id))

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
        """Take in a step of one environment, or of several (``batched=True``).

        Args:
            states, actions, rewards, terminals, truncations: see `Agent.observe`.
            next_states: the states that were reached, of the kind of `states`; not needed where all rows are terminal.
            internals: the states of recurrent networks before the step, as ``get_actions(...,
                extra_returns="internal_states")`` gives them.
            env_id: None: row i is environment i. Others are not supported yet.
            batched: everything has a batch rank.
            preprocessed_states: instead of `states`, what the algorithm saw; `next_states` are preprocessed as well.

        Raises:
            InputError: something is missing, does not fit, or is not finite; nothing is taken in.
        """
        given = {
            "states": states,
            "preprocessed_states": preprocessed_states,
            "actions": actions,
            "rewards": rewards,
            "terminals": terminals,
            "next_states": next_states,
            "truncations": truncations,
        }
        columns = self._reader.columns(given, batched)
        if "states" in columns:
            for name in ("states", "next_states"):
                if name in columns:
                    columns[name] = self._seen(columns[name])
        else:
            columns["states"] = columns.pop("preprocessed_states")
        if env_id is not None:
            raise InputError(f"observe: env_id: expected None: row i is environment i; given {env_id!r}")
        if "next_states" not in columns:
            if not columns["terminals"].all():
                raise InputError("observe: next_states, the states that were reached, is missing")
            columns["next_states"] = columns["states"]
        recurrent = self.learner.graph.algorithm.internal_states_space
        if (recurrent is None) != (internals is None):
            raise InputError(f"observe: internals: expected {recurrent or 'None'}, given {internals!r}")
        ends = columns["terminals"] | columns["truncations"]
        if self._begins.shape != ends.shape:
            self._begins = np.ones_like(ends)
        step = VectorStep(begins=self._begins, internal_states=internals, **columns)
        self._begins = ends
        self.observe_step(step)

    def _seen(self, states: Any) -> Any:
        """What the algorithm sees of raw states; not with a preprocessor that keeps state."""
        if self._users_actor.remembers:
            raise InputError(
                "observe: the preprocessor keeps state and sees each state once: give preprocessed_states=, as "
                "get_actions(..., extra_returns='preprocessed_states') returns them"
            )
        return self._users_actor.see(states)

    def make_sampler(self, environments: VectorEnv) -> Sampler:
        self.flush_buffers()  # the episodes of the sampler before it end here
        self._sampler, self._resumed = Sampler(self.actor, environments, self.cut, self._resumed), None
        return self._sampler

    @contextmanager
    def playing(self, environments: VectorEnv) -> Iterator[Sampler]:
        yield Sampler(self.new_actor(), environments, lambda slots, states: None)

    def cut(self, slots: Any, states: Any) -> None:
        """The episodes of `slots` (None: all) were cut at their row of `states [N, ...]`."""
        with self._observing:
            self.learner.cut(slots, states)

    def observe_step(self, step: VectorStep) -> None:
        """Take in a step of all environments, as a sampler gives it."""
        with self._observing:
            self.learner.add(step)
            self.timesteps = self.learner.steps

    def reset_env_buffers(self, env_id: Any = None) -> None:
        """Nothing waits."""

    def flush_buffers(self, env_id: Any = None) -> None:
        if self._sampler is not None and self._sampler.states is not None:
            self.cut(None if env_id is None else np.atleast_1d(env_id).tolist(), self._sampler.states)

    def import_observations(self, observations: Any) -> int:
        raise InputError(f"import_observations: {type(self).__name__} does not take them")

    # Learning.

    def update(self, batch: Mapping[str, Any] | None = None, sequence_indices: Any = None) -> dict[str, Any]:
        """Learn from the experience, whether an update is due or not.

        Raises:
            InputError: a batch is given, or there is not enough experience.
        """
        if batch is not None or sequence_indices is not None:
            raise InputError(f"update: {type(self).__name__} learns from what it observed; give no batch")
        with self._updating:
            results = self.learner.update_now()
            self.updates = self.learner.version
        return results

    def update_if_due(self) -> dict[str, Any] | None:
        with self._updating:
            results = self.learner.update_if_due()
            self.updates = self.learner.version
        return results

    def progress_facts(self) -> dict[str, Any]:
        return {**super().progress_facts(), "learner": self.learner.counters()}

    def restore_progress(self, facts: Mapping[str, Any]) -> None:
        super().restore_progress(facts)
        self.learner.set_counters(facts["learner"])

    def experience_state(self) -> Any:
        sampler = None if self._sampler is None else self._sampler.get_state()
        return {"learner": self.learner.get_state(), "sampler": sampler}

    def restore_experience(self, state: Any) -> None:
        self.learner.set_state(state.get("learner", {}))
        self._resumed = state.get("sampler")

    def terminate(self) -> None:
        def refuse(*_: Any, **__: Any) -> Any:
            raise RLGraphError("the agent was terminated: make another one, and load what it has stored")

        with self._updating, self._observing:
            self.get_actions = self.observe_step = refuse  # type: ignore[method-assign]
            self.update = self.update_if_due = refuse  # type: ignore[method-assign]


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
    for method in ("update", *algorithm.schedule):
        if not isinstance(getattr(algorithm, method, None), ApiMethod):
            raise SpecError(f"{name} has no API method {method!r}: write it, with @rlgraph_api")
    own, experienced = _options_of(algorithm), _options_of(kind.kind)
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
    entries = [f"    {name}: {described[name]}" for name in options if name in described]
    summary = (inspect.getdoc(cls) if "__doc__" in vars(cls) and cls.__doc__ else None) or summary_of(
        algorithm
    )
    cls.__doc__ = "\n".join([summary, "", "Args:", *entries])
