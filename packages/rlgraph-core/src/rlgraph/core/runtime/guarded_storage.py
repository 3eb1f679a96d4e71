"""Guarded storage: the variables of one graph executor, and the locks that keep threads apart.

There is one lock per group of variables, one per random stream, and one per component with host functions.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any

from rlgraph.core.graph import BuiltGraph
from rlgraph.core.graph.binding import bind
from rlgraph.core.graph.nodes import GraphFunctionCall
from rlgraph.core.graph.plan import CollectiveStep, DrawStep, FlatStep, HostStep
from rlgraph.core.random_streams import RandomStreams
from rlgraph.core.runtime.learner_group import LOCK
from rlgraph.core.runtime.locks import Locks
from rlgraph.core.storage import Storage


class GuardedStorage:
    """Variables and streams of a built graph, for programs that run in several threads.

    Args:
        built: the built graph.
        storage: its values; they are initialized here.
        use_kernels: whether host functions may use kernels.
        locks: of another graph executor that has variables in common with this one.
    """

    def __init__(self, built: BuiltGraph, storage: Storage, use_kernels: bool, locks: Locks | None = None):
        self.built, self.storage, self._use_kernels = built, storage, use_kernels
        self.locks = Locks() if locks is None else locks
        storage.initialize()
        # All of them now, so that every checkpoint has the streams from which nothing was drawn so far.
        for name in self._tensor_streams():
            storage.tensor_stream(name)
            storage.stream(name)  # of methods that act
        for node in built.graph.nodes.values():
            if isinstance(node, GraphFunctionCall) and node.host:
                storage.stream(node.component)

    def _tensor_streams(self) -> dict[str, None]:
        return {name: None for effects in self.built.effects.values() for name in effects.draws}

    @property
    def stream_names(self) -> frozenset[str]:
        """Names of all random streams that there may be."""
        return frozenset([*self.built.graph.components, *self._tensor_streams()])

    def host_view(self, scope: str, streams: RandomStreams | None = None) -> Any:
        """The view of a component on which its host functions run, drawing from `streams`, or from the graph's."""
        return bind(
            self.built.graph.components[scope],
            lambda variable: self.storage.host[variable.name] if variable.host else variable,
            lambda slots: slots,
            rng=(self.storage.streams if streams is None else streams)[scope],
            condition=self.locks.condition(_host_lock(scope)),
            use_kernels=self._use_kernels,
        )

    def host_functions(self, scope: str) -> AbstractContextManager[Any]:
        """Keeps other threads out of the host functions of a component."""
        return self.locks.holding([_host_lock(scope)])

    def groups(self) -> AbstractContextManager[Any]:
        """Keeps other threads from writing tensor variables."""
        return self.locks.holding(self.built.layout.groups)

    def writing(self, groups: Iterable[str]) -> AbstractContextManager[Any]:
        """Keeps other threads out of groups of tensor variables, and waits for the end of an update of learners."""
        return self.locks.holding([LOCK, *groups], self.storage.mark_written)

    def everything(self) -> AbstractContextManager[Any]:
        """Keeps other threads out of all variables: for looking at, or replacing, many values at once.

        It waits for the end of an update of a group of learners.
        """
        scopes = self.built.graph.components
        return self.locks.holding([LOCK, *self.built.layout.groups, *map(_host_lock, scopes)])

    def guard(self, step: FlatStep, storage: Storage) -> AbstractContextManager[Any] | None:
        """What a step of a plan runs in; None: beside all others, since it only reads.

        Args:
            step: a step of a plan.
            storage: the variables on which it runs: these, or those that borrow their memory.
        """
        if isinstance(step, CollectiveStep):
            return None  # its whole plan runs alone
        if isinstance(step, HostStep):
            return self.host_functions(step.node.component)
        if isinstance(step, DrawStep):
            return self.locks.holding(step.streams)
        if not step.writes:  # it only draws, if that
            return self.locks.holding(step.streams) if step.streams else None
        # Also after an error: it may have come after the first write.
        return self.locks.holding(step.reads | step.writes | step.streams, storage.mark_written)


def _host_lock(scope: str) -> str:
    return f"host:{scope}"
