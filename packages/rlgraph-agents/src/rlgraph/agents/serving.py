"""Acting for many clients with one trained policy, on NumPy, in programs with a loop of their own."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from rlgraph.core import InputError, RandomStreams, SpecError, data_specs
from rlgraph.environments.masked_states import check_legal
from rlgraph.experience.nested_arrays import length, map_arrays, row
from rlgraph.experience.step_reader import StepReader, force_batch
from rlgraph.learning.acting_arguments import as_flag
from rlgraph.learning.actor import Actor
from rlgraph.learning.actor_spec import ActorSpec
from rlgraph.spaces import from_spec

if TYPE_CHECKING:
    from rlgraph.agents.agent import Agent


class ActorHandle:
    """Acts for many clients, from any number of threads; it does not learn, and imports no framework.

    Args:
        spec: what the actor is built from, with starting values as weights. See also `load` and `of`.
        clients: maximum number of clients at a time.
    """

    def __init__(self, spec: ActorSpec, clients: int = 256):
        if spec.previous_action_and_reward:
            raise SpecError(
                "expected false: clients do not tell rewards, which the policy sees",
                path="previous_action_and_reward",
            )
        self.spec, self.clients = spec, clients
        self._graph, self._space = spec.make_graph(), spec.raw_space
        self._executor = spec.make_executor(self._graph)
        #: Acts for several clients in one call; its table is a copy of theirs.
        self._group = Actor(self._executor, self._graph, self._space)
        seen, actions = self._graph.policy_input.space(self._space), from_spec(spec.action_space)
        self._reader = StepReader(self._space, seen, actions, spec.dtype)
        #: Held while anyone acts: weights change between two calls.
        self._lock = threading.Lock()
        #: The actors of free slots, and the number of all slots that there are so far.
        self._free: list[Actor] = []
        self._slots = 0

    @classmethod
    def load(cls, path: str | Path, clients: int = 256) -> Self:
        """The handle of a run or a checkpoint; of its variables only those that acting reads are read.

        Args:
            path: a run folder, of which the policy that the run ended with is taken; or a checkpoint.
            clients: maximum number of clients at a time.

        Raises:
            CheckpointError: `path` is neither, is damaged, or the checkpoint does not know its agent's spec.
            SpecError: the spec names a module that may not be imported.
            CapabilityError: NumPy cannot run the policy.
        """
        from rlgraph.runs.loading import read_policy, stored_policy

        with data_specs():
            source, spec = stored_policy(Path(path))
            handle = cls(spec, clients)
        read_policy(source, handle._executor, handle._group)
        return handle

    @classmethod
    def of(cls, agent: Agent, clients: int = 256) -> Self:
        """A handle with a copy of an agent's present weights; `set_weights` brings newer ones.

        Raises:
            AssemblyError: the agent was made from a component, which is built already, instead of its spec.
            CapabilityError: NumPy cannot run the policy.
        """
        handle = cls(agent.learner.spec, clients)
        handle.set_weights(agent.learner.weights_message())
        return handle

    @property
    def version(self) -> int:
        """Number of updates behind the weights."""
        return self._group.version

    def set_weights(self, message: bytes) -> None:
        """Take over all weights of a learner's message (`Learner.weights_message`) between two calls of `act`.

        Raises:
            InputError: it is not such a message, or of another algorithm; nothing is changed.
        """
        with self._lock:
            self._group.set_weights(message)

    def begin(self) -> Client:
        """A new client in a free slot, at the beginning of an episode.

        Raises:
            InputError: all slots are taken.
        """
        with self._lock:
            if not self._free and self._slots >= self.clients:
                raise InputError(
                    f"begin: all {self.clients} slots are taken: end clients, or make the handle with more clients="
                )
            if not self._free:
                self._slots += 1
                streams = RandomStreams([self.spec.seed, self._slots])
                self._free.append(Actor(self._executor, self._graph, self._space, 1, streams))
                self._free[-1].progress = self._group.progress
            actor = self._free.pop()
        actor.reset()
        return Client(self, actor)

    def act(self, states: Any, clients: Sequence[Client], use_exploration: bool = False) -> Any:
        """Actions ``[B, ...]`` of several clients in one call.

        Args:
            states: their newest states ``[B, ...]``.
            clients: the client of each row, each at most once.
            use_exploration: draw or explore, with random numbers of the handle; else act greedily.

        Raises:
            InputError: the states do not fit, or a client has ended, is in use or of another handle; no client changes.
        """
        use_exploration = as_flag("act", "use_exploration", use_exploration)
        with ExitStack() as stack:
            actors = [stack.enter_context(client._used(self)) for client in clients]
            batch = self._batch(states, one=False)
            if not actors or length(batch) != len(actors):
                raise InputError(f"act: expected {len(actors)} states, one per client, given {length(batch)}")
            with self._lock:
                if not self._group.has_table:
                    return self._group.act(self._group.preprocess(batch), use_exploration)
                tables = [actor.get_state() for actor in actors]
                self._group.set_state(map_arrays(lambda *parts: np.concatenate(parts), *tables))
                actions = self._group.act(self._group.preprocess(batch), use_exploration)
                table = self._group.get_state()
            for i, actor in enumerate(actors):
                actor.set_state(row(table, slice(i, i + 1)))
        return actions

    def _batch(self, given: Any, one: bool) -> Any:
        """One state, or several, as a batch."""
        batch, was_one = force_batch("act", "states", given, self._space)
        if was_one != one:
            raise InputError(
                "act: argument states: a client takes one state, the handle a batch of them: act(states, clients)"
            )
        states = self._reader.convert("act", "states", batch, self._space)
        check_legal("act", self._graph.masked, states)
        return states


class Client:
    """A client of an `ActorHandle`, made by its `begin`; a context manager that ends it.

    It has frame stacks, states of recurrent networks, noise and random numbers of its own.
    """

    def __init__(self, handle: ActorHandle, actor: Actor):
        self._handle = handle
        #: None: it has ended.
        self._actor: Actor | None = actor
        self._in_use = threading.Lock()

    def act(self, state: Any, use_exploration: bool = False) -> Any:
        """The action for its newest state.

        Args:
            state: one state, as the state Space says.
            use_exploration: draw or explore; else act greedily.

        Raises:
            InputError: the state does not fit, or the client has ended or is in use.
        """
        handle, use_exploration = self._handle, as_flag("act", "use_exploration", use_exploration)
        with self._used(handle) as actor:
            batch = handle._batch(state, one=True)
            with handle._lock:
                return row(actor.act(actor.preprocess(batch), use_exploration), 0)

    def end(self) -> None:
        """Free the slot; a second call does nothing.

        Raises:
            InputError: the client is in use.
        """
        if self._actor is not None:
            with self._used(self._handle) as actor:
                self._actor = None
                self._handle._free.append(actor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    @contextmanager
    def _used(self, handle: ActorHandle) -> Iterator[Actor]:
        """Its actor, for one call at a time."""
        if not self._in_use.acquire(blocking=False):
            raise InputError(
                "client: it is in use: each thread and each row of a batch needs a client of its own"
            )
        try:
            if self._actor is None or self._handle is not handle:
                raise InputError(
                    "client: it has ended, or is of another handle: call handle.begin() for a new one"
                )
            yield self._actor
        finally:
            self._in_use.release()
