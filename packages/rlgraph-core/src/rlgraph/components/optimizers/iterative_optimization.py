"""Epochs over shuffled minibatches, in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rlgraph.components.common.argument_checks import check_whole
from rlgraph.core import AssemblyError, Component, InputError, SpecError, graph_fn, loop, rlgraph_api
from rlgraph.core.errors import nearest
from rlgraph.core.ops import leaves_of
from rlgraph.core.specs.spec_types import ComponentSpec
from rlgraph.spaces import IntBox, Space, SpaceError


def _order_space(*_: Any) -> Space:
    return IntBox(0, None, add_batch_rank="minibatch", add_time_rank=True, time_major=True)


class IterativeOptimization(Component):
    """Updates a component on shuffled minibatches of one batch, for several epochs.

    Schulman et al. (2017), Algorithm 1, https://arxiv.org/abs/1707.06347. It is one call of one program. Every epoch
    reshuffles the batch and splits it into equal minibatches; an epoch skips the remaining records.

    Args:
        sub_component: the component to update or its spec. Its API method takes ``records``, a dict of fields
            ``[M, ...]``, and returns a dict of numbers ``[]``.
        num_epochs: number of passes over the batch.
        num_minibatches: minibatches per epoch.
        results: names of the numbers whose means `update` returns.
        stop_if: ``(name, limit)``: stop after the first update whose number `name`, one of `results`, exceeds the limit
            (for example the divergence from the behaviour policy); None: never.
        api_method_name: the API method of `sub_component`.
        scope: name among its siblings.

    Raises:
        SpecError: a number below 1, an unknown API method, or an invalid `stop_if`.
        SpaceError: the records are not a container with a batch rank, or a result is not a single number.
    """

    def __init__(
        self,
        sub_component: ComponentSpec,
        num_epochs: int = 1,
        num_minibatches: int = 1,
        results: Sequence[str] = ("loss",),
        stop_if: tuple[str, float] | None = None,
        api_method_name: str = "update",
        scope: str = "iterative-optimization",
        **kwargs: Any,
    ):
        self.num_epochs = check_whole(num_epochs, f"{scope}.num_epochs", least=1)
        self.num_minibatches = check_whole(num_minibatches, f"{scope}.num_minibatches", least=1)
        self.updated = Component.from_spec(sub_component, path=f"{scope}.sub_component")
        methods = self.updated.api_methods()
        if api_method_name not in methods:
            raise SpecError(
                f"{self.updated.scope} has no API method {api_method_name!r}. "
                f"{nearest(str(api_method_name), methods)}",
                path=f"{scope}.api_method_name",
            )
        if isinstance(results, str) or not results:
            raise SpecError(f"expected names of numbers, given {results!r}", path=f"{scope}.results")
        self.results = list(results)
        self.stop_position, self.limit = _stop(stop_if, self.results, f"{scope}.stop_if")
        self.api_method_name = api_method_name
        super().__init__(self.updated, scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        space = input_spaces["records"]
        if not isinstance(space, Mapping) or not space.has_batch_rank:  # type: ignore[attr-defined]
            raise SpaceError(f"{self.scope_path}: records must be a Dict with batch rank, given {space!r}")

    @rlgraph_api
    def update(self, records: Any) -> Any:
        """All updates on ``records``, a dict of fields ``[B, ...]``.

        Returns:
            A dict of the means ``[]`` over the updates done, by the names in `results`, and
            ``num_updates [] (int64)``, their number.

        Raises:
            InputError: fewer records than minibatches.
        """
        order = self._order(records)

        def numbers_of(i: Any) -> Any:
            rows = self._rows(i, order, records)
            return self._numbers(getattr(self.updated, self.api_method_name)(rows))

        number = self.num_epochs * self.num_minibatches
        if self.stop_position is None:
            collected = loop(number, lambda i: (None, numbers_of(i)), collect=True)[1]
            return self._averages(collected)

        def minibatch(i: Any, sums: Any, count: Any, _: Any) -> Any:
            return self._added(sums, count, numbers_of(i))

        stop = lambda _sums, _count, stopped: stopped  # noqa: E731
        sums, count, _ = loop(number, minibatch, *self._start(), until=stop)
        means = self._means(sums, count)
        return {**{name: means[name] for name in self.results}, "num_updates": count}

    def _numbers(self, given: Any) -> tuple[Any, ...]:
        """The numbers in `results` from the outputs of an update."""
        if isinstance(given, tuple) or given is None:
            raise AssemblyError(
                f"{self.scope_path}.results: {self.api_method_name} of {self.updated.scope_path} returns "
                f"{'nothing' if given is None else f'a tuple of {len(given)}'}; expected a dict with "
                f"{', '.join(self.results)}"
            )
        for name in self.results:
            if isinstance(given, dict) and name not in given:
                raise AssemblyError(
                    f"{self.scope_path}.results: {self.api_method_name} of {self.updated.scope_path} returns no "
                    f"{name!r}. {nearest(name, given)}"
                )
        return tuple(given[name] for name in self.results)

    @graph_fn(host=True, spaces=_order_space, shares=())
    def _order(self, records: Any) -> np.ndarray:
        """The indices of the records of each minibatch, ``[updates, M]``."""
        number = len(leaves_of(records)[0])
        size = number // self.num_minibatches
        if size == 0:
            raise InputError(
                f"{self.scope_path}: expected at least {self.num_minibatches} records, given {number}"
            )
        rng: np.random.Generator = self.rng  # type: ignore[attr-defined]
        used = size * self.num_minibatches
        epochs = [rng.permutation(number)[:used] for _ in range(self.num_epochs)]
        return np.stack(epochs).reshape(-1, size)

    @graph_fn(flatten_ops={"records"})
    def _rows(self, ops: Any, i: Any, order: Any, records: Any) -> Any:
        rows = ops.take(order, i)
        return {path: ops.take(field, rows) for path, field in records.items()}

    @graph_fn(returns=3)
    def _start(self, ops: Any) -> Any:
        """Sums of the numbers, the number of updates, and whether to stop."""
        return ops.zeros((len(self.results),)), ops.zeros((), dtype="int64"), ops.zeros((), dtype="bool")

    @graph_fn(returns=3)
    def _added(self, ops: Any, sums: Any, count: Any, numbers: Any) -> Any:
        self._check_numbers(numbers, 0)
        return sums + ops.stack(list(numbers)), count + 1, numbers[self.stop_position] > self.limit

    @graph_fn
    def _averages(self, ops: Any, collected: Any) -> Any:
        """``[updates]`` of each number ``-> []``, and the number of updates."""
        self._check_numbers(collected, 1)
        means = {name: ops.mean(x) for name, x in zip(self.results, collected, strict=True)}
        return {**means, "num_updates": ops.full((), self.num_epochs * self.num_minibatches, dtype="int64")}

    def _check_numbers(self, numbers: Any, rank: int) -> None:
        for name, number in zip(self.results, numbers, strict=True):
            if len(number.shape) != rank:
                raise SpaceError(
                    f"results: expected {name!r} to be one number [], given a tensor with {len(number.shape) - rank} "
                    f"axes: {self.updated.scope_path}.{self.api_method_name} returns it"
                )

    @graph_fn
    def _means(self, ops: Any, sums: Any, count: Any) -> Any:
        means = sums / ops.astype(count, "float")
        return {name: means[position] for position, name in enumerate(self.results)}


def _stop(given: Any, results: list[str], where: str) -> tuple[int | None, float]:
    """The index of the number that decides, and its limit."""
    if given is None:
        return None, 0.0
    if not isinstance(given, Sequence) or len(given) != 2 or not isinstance(given[1], int | float):
        raise SpecError(f"expected a pair of a name and a limit, or None, given {given!r}", path=where)
    name, limit = given
    if name not in results:
        raise SpecError(f"{name!r} is not in results. {nearest(str(name), results)}", path=where)
    return results.index(name), float(limit)
