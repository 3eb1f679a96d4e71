"""Updates against the same updates written by hand: first that they compute the same, then what they take."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from typing import Any

from measure import Row, interleaved

#: Calls after which all must have the same weights.
COMPARED = 10

Update = Callable[[Mapping[str, Any]], Any]


def compare(executor: Any, subjects: Mapping[str, Update], batches: Sequence[Mapping[str, Any]]) -> None:
    """All must give the same losses, and the same weights after some updates.

    Raises:
        AssertionError: they do not.
    """
    import numpy as np

    for batch in batches[:COMPARED]:
        losses = [update(batch) for update in subjects.values()]
        for loss in losses:
            np.testing.assert_allclose(loss, losses[-1], rtol=1e-4, atol=1e-6)
    weights = executor.get_weights()
    for update in subjects.values():
        for name, value in update.weights().items() if hasattr(update, "weights") else ():
            np.testing.assert_allclose(value, weights[name], rtol=1e-4, atol=1e-5, err_msg=name)


def rows(
    executor: Any,
    subjects: Mapping[str, Update],
    batches: Sequence[Mapping[str, Any]],
    target: float,
    prefix: str = "",
    **options: Any,
) -> list[Row]:
    """What every subject takes for an update, RLgraph's held against the one called ``by hand``.

    Many batches in turn, and every round from the same weights: in a network that has learned what there is to learn
    derivatives and moments sink to denormal numbers, which are slow.
    """
    start = executor.get_weights()
    compare(executor, subjects, batches)

    def restart() -> None:
        executor.set_weights(start)
        for update in subjects.values():
            if hasattr(update, "restart"):
                update.restart()

    calls = {name: _in_turn(update, batches) for name, update in subjects.items()}
    figures = interleaved(calls, before_round=restart, **options)
    yardstick = figures["by hand"]
    return [
        Row(
            prefix + name,
            figure.times(1e6),
            "us",
            None if figure is yardstick else figure.over(yardstick),
            target if name == "rlgraph" else None,
        )
        for name, figure in figures.items()
    ]


def _in_turn(update: Update, batches: Sequence[Any]) -> Callable[[], Any]:
    """`update` on the next of the batches at every call."""
    following = cycle(batches).__next__
    return lambda: update(following())
