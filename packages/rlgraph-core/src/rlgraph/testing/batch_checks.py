"""Whether the items of a batch are independent of each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlgraph.core import GraphExecutor, RLGraphError
from rlgraph.core.graph.nodes import Input, Path
from rlgraph.core.graph.values import leaves
from rlgraph.core.ops.dims import SymbolicDim
from rlgraph.core.ops.tensor_spec import TensorSpec
from rlgraph.testing.assertions import assert_arrays_close

#: The size of the batch rank, as the build names it.
BATCH = SymbolicDim.symbol("B")


def check_items(
    executor: GraphExecutor, method: str, arguments: Mapping[str, Any], tolerance: float = 1.5e-5
) -> None:
    """Check that an API method returns for each item of a batch what it returns for the item alone.

    Args:
        executor: has the method.
        method: its name; it neither draws random numbers nor depends on earlier calls.
        arguments: a batch of at least two items, by name.
        tolerance: floats may differ by this much, and by this part of their size.

    Raises:
        AssertionError: names the first item, the result and the difference.
        RLGraphError: there is no batch to check, or the method returns something else at each call.
    """
    built = executor.built
    axes = _batch_axes({name: built.values.get(Input(method, name)) for name in arguments})
    result_axes = _batch_axes(built.value_of(built.graph.results_of(method)))
    given = dict(leaves(arguments))
    sizes = {np.shape(given[path])[axis] for path, axis in axes.items()}
    if not result_axes or len(sizes) != 1 or min(sizes) < 2:
        raise RLGraphError(
            f"{method}: expected at least two items, and arguments and results with a batch rank of any size "
            f"(add_batch_rank=True), given {built.value_of(built.graph.results_of(method))!r}"
        )

    def run(values: Any) -> dict[Path, np.ndarray]:
        # Copies: a later call may use the same memory.
        results = dict(leaves(executor.execute(method, **values)))
        return {path: np.array(results[path]) for path in result_axes}

    (size,) = sizes
    together = run(arguments)
    try:
        for number in range(size):
            alone = run(_with_one_item(arguments, axes, number))
            for path, axis in result_axes.items():
                given_item, expected = together[path].take([number], axis), alone[path]
                place = "".join(f".{key}" if isinstance(key, str) else f"[{key}]" for key in path)
                assert_arrays_close(
                    given_item, expected, f"output{place}", absolute=tolerance, relative=tolerance
                )
    except AssertionError as error:
        again = run(arguments)
        if any(not np.array_equal(again[path], together[path], equal_nan=True) for path in again):
            raise RLGraphError(
                f"{method} returns something else at each call, so its items cannot be compared: check a method that "
                "draws no random numbers and changes no variables"
            ) from error
        raise AssertionError(
            f"{method}: item {number} depends on the other items of the batch; expected is what it gets alone: {error}"
        ) from error


def _batch_axes(value: Any) -> dict[Path, int]:
    """The axis of the batch in each tensor that has one, by path."""
    return {
        path: leaf.shape.index(BATCH)
        for path, leaf in leaves(value)
        if isinstance(leaf, TensorSpec) and BATCH in leaf.shape
    }


def _with_one_item(value: Any, axes: Mapping[Path, int], number: int, path: Path = ()) -> Any:
    """`value` with only one item of every tensor that has a batch."""
    if isinstance(value, Mapping):
        return {key: _with_one_item(part, axes, number, (*path, key)) for key, part in value.items()}
    if isinstance(value, tuple):
        return tuple(_with_one_item(part, axes, number, (*path, i)) for i, part in enumerate(value))
    return np.take(value, [number], axis=axes[path]) if path in axes else value
